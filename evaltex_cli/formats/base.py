"""What readers make: text objects, images of them, and a whole input in columns; and formats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, not_utf8, quote
from evaltex_cli.formats import parsing
from evaltex_cli.formats.options import COORDINATE_LIMIT, FINITE, MAX_VERTICES, Coordinates, Reading
from evaltex_cli.formats.options import Side as Side  # noqa: PLC0414 (all formats need it)
from evaltex_cli.records import ANY_TYPE, NOTHING, Bools, Floats, Ints, Objects, take_images

if TYPE_CHECKING:
    from evaltex_cli.geometry.masks import PictureRuns

Item = TypeVar("Item")
DONT_CARE = "###"
"""The text of what does not count, in many formats."""
_ROOT = re.compile(
    r"\s*+(?:(?:<!--.*?-->|<[?!][^>]*+>)[^<]*+)*+<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)", re.DOTALL
)
HEAD_BYTES = 1 << 16
"""What `Head` has of a file."""


@dataclass(slots=True)
class TextObject:
    """One object as its file has it."""

    points: Sequence[float]
    """Four numbers are a box x0, y0, x1, y1; more are a polygon x1, y1, x2, y2, ..."""
    text: str = ""
    dont_care: bool = False
    confidence: float | None = None
    id: int | None = None
    """None for its number in the image, from 1."""
    region: int | None = None
    """None for its ID."""
    label: str = ""
    place: int | str = 0
    """Its line, or where it is in a document (``annotations[3]``); `File.each` sets it."""
    pixels: tuple[float, float, float, float] | None = None
    """First and last column and row, in formats that count pixels."""
    type: int = ANY_TYPE


@dataclass(slots=True)
class Image:
    """One image and its objects; height and width are 0 where the file does not say."""

    name: str
    objects: list[TextObject] = field(default_factory=list)
    height: float = 0.0
    width: float = 0.0
    fractions: bool = False
    """Whether the coordinates are fractions of the page's width and height."""
    id: str = ""
    """Its number in COCO, where `name` is the name of a file."""
    file: str = ""
    """Its file, as messages name it; set by what calls the reader."""


@dataclass
class File:
    """One file of an input, unpacked, with what a reader has to say about it."""

    place: str
    """As messages name it: ``gt.zip/gt_img_1.txt``."""
    stem: str
    """The name of its image, if it has one image."""
    data: bytes
    faults: FaultLog
    notes: Counter[str] = field(default_factory=Counter)
    """A sentence for `errors.counted`, ``{count} line[s] ... left out`` -> how many; each becomes
    one warning about all files of an input."""
    is_alone: bool = True
    """Whether it is the only file of its input."""

    @cached_property
    def text(self) -> str:
        """The text, in UTF-8, with bare newlines."""
        try:
            return self.data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            raise not_utf8(error) from error

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line that is not blank, with its number from 1."""
        # Joined files have marks of UTF-8 in the middle.
        for number, line in enumerate(self.text.replace("\n\ufeff", "\n").split("\n"), 1):
            if line and not line.isspace():
                yield number, line

    def json(self, kind: Any) -> Any:
        """Return the JSON document as a type that msgspec knows; raises `FormatError`. Lists of
        objects are ``list[Any]``: what `each` calls converts an item, so a wrong one does not hide
        the others.
        """
        return parsing.converted(parsing.plain_json(self.data), kind)

    def xml(self, root: str = "") -> Any:
        """Return the first element (lxml), without namespaces; raises `FormatError` for what is not
        XML, or has a root of another name.
        """
        first = parsing.parse_xml(self.data)
        if root and first.tag != root:
            raise FormatError(f"root {quote(first.tag)}", f"root {root}", at=first.sourceline)
        return first

    def each(
        self,
        items: Iterable[tuple[int | str, Item]],
        read: Callable[[Item], TextObject | None],
        at: str = "",
    ) -> list[TextObject]:
        """Read items, each given with its line or where it is in a document, or with its index in
        `at` (``annotations[{}]``). `read` returns None for what is not an object; a `FormatError`
        is logged, and the other items are read.
        """
        objects = []
        for k, item in items:
            place = at.replace("{}", str(k)) if at else k
            try:
                one = read(item)
                if one is not None:
                    _check(one.points)
                    one.place = place
                    objects.append(one)
            except FormatError as error:
                self.log(error, place)
        return objects

    @contextmanager
    def catching(self, place: int | str) -> Iterator[None]:
        """Log the `FormatError` that ends the block."""
        try:
            yield
        except FormatError as error:
            self.log(error, place)

    def log(self, error: FormatError, place: int | str = "") -> None:
        """Log what is wrong at a place: a line, or where it is in a document."""
        line, inside = (place, ()) if isinstance(place, int) else (None, (place,) * bool(place))
        where = (*inside, *error.where)
        self.faults.add(self.place, error.at or line, error.found, error.expected, where)

    def page_names(self, pages: int) -> list[str]:
        """Return the names of the images of a document of several pages: NAME-1, NAME-2, ..."""
        return [self.stem] if pages == 1 else [f"{self.stem}-{k + 1}" for k in range(pages)]


def _check(points: Sequence[float]) -> None:
    if len(points) == 4 and (points[2] < points[0] or points[3] < points[1]):
        x0, y0, x1, y1 = points
        raise FormatError(f"a box from {x0:g}, {y0:g} to {x1:g}, {y1:g}", "x0 <= x1, y0 <= y1")
    if (count := len(points) // 2) > MAX_VERTICES:
        raise FormatError(f"a polygon of {count} vertices", f"at most {MAX_VERTICES}")
    if not sum(map(abs, points)) <= COORDINATE_LIMIT:  # else none of them is too large
        for value in points:
            if not -COORDINATE_LIMIT <= value <= COORDINATE_LIMIT:
                raise FormatError(f"'{value:g}'", FINITE)


def without_finer(side: Side, level: str = "word", coarser: str = "line") -> str:
    """Return the note (`File.notes`) about lines without words, or other levels."""
    return (
        f"{{count}} {coarser}[s] without {level}s [was|were] left out"
        f" (--{side}-level {coarser} reads {coarser}s)"
    )


class ReadOptions(NamedTuple):
    """What a reader is told besides the file."""

    level: str = ""
    """One of `Format.levels`; empty for formats without."""
    coordinates: Coordinates | None = None
    """What the user declared about the four numbers of a box."""
    columns: Mapping[str, str] = {}
    """What the user declared about a table: what columns hold -> their names."""
    surveyed: Any = None
    """What `Format.survey` returned."""


@dataclass
class Head:
    """The beginning of a file, for formats to recognise it by."""

    name: str
    data: bytes
    is_whole: bool = True
    """Whether this is all of the file."""

    @cached_property
    def text(self) -> str:
        """The text, with bare newlines."""
        encoding = "utf-16" if self.data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return self.data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def json(self) -> Any:
        """The JSON value as far as it is in this head; None if there is none."""
        return parsing.partial_json(self.text.encode())

    @cached_property
    def root(self) -> str:
        """The name of the first element, without its namespace; empty if this is no XML."""
        found = _ROOT.match(self.text)
        return found[1] if found else ""


def has_root(name: str) -> Callable[[Head], str]:
    """Return what recognises XML by the name of its first element."""
    return lambda head: f"root {name}" if head.root == name else ""


@dataclass(frozen=True)
class Format:
    """A file format: a line of the registry, and this, add one."""

    name: str
    title: str
    """One line about it."""
    read: Callable[[File, Side, ReadOptions], Iterator[Image | Source]]
    """Raises `FormatError` for a file that cannot be read at all."""
    recognised_by: Callable[[Head], str]
    """Says by what a file is recognised, in words (``root PcGts``); empty if it is not."""
    endings: tuple[str, ...] = (".json",)
    """Of its files in folders and archives, in lower case."""
    levels: tuple[str, ...] = ()
    """What it can be read at, of `options.LEVELS`; the default is the first that a file has."""
    layout: str = ""
    """One object, or the elements around it, as the documentation shows them."""
    one_document: bool = False
    """Whether one file has all images of a data set."""
    survey: Callable[[Iterable[File], Side], Any] | None = None
    """Looks at all files before any is read, and returns `ReadOptions.surveyed`."""
    empty_file: str = ""
    """The note about files of detections without content, if that is worth one."""
    option: str = ""
    """The attribute of `ReadOptions` that, if declared, replaces the survey."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """Images in columns: a whole input, or those that a reader yields together."""

    names: Sequence[str]
    """Unique, in the order of the input."""
    sizes: Floats
    """(images, 2). Heights and widths, 0 if not known."""
    objects: Objects = NOTHING
    files: Sequence[str] = ()
    """The file of each image, as messages name it."""
    fractions: Bools | None = None
    """(images,). The images whose coordinates are fractions of the page; None if none."""
    ids: Sequence[str] | None = None
    """The images' numbers in COCO, as text; None in other formats."""
    has_file_names: bool = True
    """Whether `names` are of files; if not, they are the `ids`."""
    place: str = ""
    """Where in a document an object is: ``annotations[{}]``, if `objects.places` are indices."""
    path: str = ""
    """The input as the user wrote it; messages begin with it."""
    format: str = ""
    sha256: str = ""
    """See `files.Listing.sha256`."""
    warnings: tuple[str, ...] = ()
    level: str = ""
    """The level it was read at, in formats with levels."""
    why: str = ""
    """By what its format was recognised, in words."""
    unconfident: int = 0
    """How many objects were left out for their confidence."""
    reading: Reading | None = None
    """How the numbers of a model's boxes may be read; they are `objects.boxes` as the answers have
    them, until `coordinates.decided` reads them. None of everything else."""
    coordinates: str = ""
    """How it read them."""
    pictures: Sequence[PictureRuns | None] | None = None
    """The pixels of the objects of each image, labelled by their IDs, of masks in memory."""

    def part(self, positions: Ints) -> Source:
        """Return the images at these positions of `names`, in this order."""
        rows = positions.tolist()
        return replace(
            self,
            names=[self.names[k] for k in rows],
            sizes=self.sizes[positions],
            objects=take_images(self.objects, positions),
            files=[self.files[k] for k in rows] if self.files else (),
            fractions=None if self.fractions is None else self.fractions[positions],
            pictures=None if self.pictures is None else [self.pictures[k] for k in rows],
            ids=None if self.ids is None else [self.ids[k] for k in rows],
        )

    def file_of(self, image: int) -> str:
        """Return the file of an image, as messages name it."""
        return self.files[image] if self.files else self.path

    def location(self, row: int) -> tuple[str, int | None, str]:
        """Return the file of an object, with its line, or what leads to it in a document."""
        file = self.file_of(int(np.searchsorted(self.objects.offsets, row, side="right")) - 1)
        place = "" if self.objects.places is None else str(self.objects.places[row])
        if self.place or not place.isdigit():
            return file, None, self.place.replace("{}", place) or place
        return file, int(place), ""
