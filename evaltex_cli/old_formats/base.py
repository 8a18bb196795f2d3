"""What a reader is: an index of an input, which reads any of its images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, Steps
from evaltex_cli.records import Bools, Floats, GeometryCounts, Ints, Objects

if TYPE_CHECKING:
    from evaltex_cli.geometry.picture_runs import PictureRuns

Side = Literal["gt", "det"]
DONT_CARE = "###"
"""The transcription of text that does not count, in many formats."""
IN_FRACTIONS = (
    "coordinates that are fractions of the page, whose size in pixels is not known",
    "the size of its picture: give the pictures by --images FOLDER",
)
"""What is found, and expected, if `ReadImages.in_fractions` is left at the end."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadImages:
    """What a reader returns for a list of images."""

    sizes: Floats
    """(images, 2) float64. Heights and widths, 0 if not known."""
    objects: Objects
    repairs: GeometryCounts = field(default_factory=GeometryCounts)
    """How many polygons were repaired."""
    unconfident: int = 0
    """How many objects were left out for their confidence."""
    faults: FaultLog = field(default_factory=FaultLog)
    """What could not be read; the objects are then not complete."""
    in_fractions: Bools | None = None
    """(images,) bool. The images with coordinates that are fractions of the page's width and
    height; None if all are in pixels."""
    pictures: Sequence[PictureRuns | None] | None = None
    """The pixels of the objects of each image, labelled by their IDs, of objects that are masks in
    memory."""


class ImageText(NamedTuple):
    """The text of one image."""

    file: str
    """As messages name it."""
    first: int
    """Number of its first line in the file."""
    text: bytes
    fault: tuple[int, str, str] | None = None
    """Why it cannot be read: the index of a line, what is there and what is expected."""


class Place(NamedTuple):
    """Where an image is in an input."""

    file: str
    """As messages name it."""
    at: int | Steps
    """Where its name is in the file, or what leads to it in JSON; empty where no place has it."""
    objects: Sequence[int | Steps]
    """The same for its objects, where `Objects` do not know their lines."""


class Content(Protocol):
    """The images of an indexed input, all that is needed to read them: it can
    be sent to another process.
    """

    def part(self, positions: Ints) -> Content:
        """Return the images at these positions, in this order."""

    def read(self) -> ReadImages:
        """Read all images, with what is wrong with them."""

    def places(self) -> Iterator[Place]:
        """Yield where each image is."""


class Filter(Protocol):
    """What is done with images after they are read."""

    def part(self, positions: Ints) -> Filter:
        """Return what is done with the images at these positions."""

    def apply(self, images: ReadImages) -> ReadImages:
        """Return images as they are wanted."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """An indexed input: its images are known, their objects not yet read."""

    path: str
    """As the user wrote it; messages begin with it."""
    format: str
    """Name of the format in `FORMATS`."""
    sha256: str
    """Of the file's bytes; of the sorted listing of entries and their hashes for a folder."""
    names: Sequence[str]
    """Image names, unique, in the order of the input."""
    weights: Ints
    """(images,) integers. Bytes of each image's text: what batches are bounded by."""
    content: Content
    warnings: tuple[str, ...] = ()
    """What the user should know about the input."""
    min_confidence: float | None = None
    """The least confidence of the objects that it gives (`filters.only_confident`); None where it
    gives all."""
    filters: tuple[Filter, ...] = ()
    polygons: Bools | None = None
    """(images,) bool. Which images may have objects of other than four vertices; None where the
    index does not say."""
    ids: Sequence[str] | None = None
    """The images' numbers in COCO, as text. None of other formats."""
    has_file_names: bool = True
    """Whether it names the images' files; if not, `names` are the `ids`."""

    def part(self, positions: Ints) -> SourcePart:
        """Return the images at these positions of `names`, to be read here or
        in another process.
        """
        return SourcePart(self.content, self.filters).part(positions)

    def read(self, positions: Ints) -> ReadImages:
        """Read the images at these positions, in their order, with what is wrong with them."""
        return self.part(positions).read()


class SourcePart(NamedTuple):
    """Some images of an input."""

    content: Content
    filters: tuple[Filter, ...] = ()

    def part(self, positions: Ints) -> SourcePart:
        """Return the images at these positions of this part."""
        return SourcePart(
            self.content.part(positions), tuple(one.part(positions) for one in self.filters)
        )

    def read(self) -> ReadImages:
        """Read them; see `Source.read`. Coordinates that are not in pixels are a fault."""
        images = self.read_in_any_unit()
        remain = _with_fractions(images)
        if len(remain):
            place = next(self.content.part(remain[:1]).places())
            line, where = (place.at, ()) if isinstance(place.at, int) else (None, place.at)
            images.faults.add(place.file, line, *IN_FRACTIONS, where)
        return images

    def read_in_any_unit(self) -> ReadImages:
        """Read them as `read` does, but leave coordinates that are fractions of the page."""
        images = self.content.read()
        for one in self.filters:
            images = one.apply(images)
        return images


def _with_fractions(images: ReadImages) -> Ints:
    """Return which images have objects whose coordinates are fractions of the page."""
    if images.in_fractions is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(images.in_fractions & (np.diff(images.objects.offsets) > 0))


Sample: TypeAlias = "str | bytes | Mapping[str, str | bytes]"
"""Content of a file, or the files of a folder by name."""


Indexer: TypeAlias = Callable[[Path, Side, FaultLog], Source]
"""``index(path, side, faults)`` finds the images of an input. Raises
`InputError` when nothing can be read.
"""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Format:
    """A file format: all that is known of it, so that one file and one line of the registry add
    one.
    """

    name: str
    title: str
    """`name` and `title`: what the user types, and one line about it."""
    recognises: Callable[[Path], bool]
    """``recognises(path)`` says by content whether a file or folder is of this format."""
    index: Indexer
    four_corners: bool = False
    """Whether every object is a box or has four vertices, whatever the file holds."""
    recognised_by: str = ""
    """What `recognises` looks for, as a phrase; empty where a user must name the format."""
    layout: str = ""
    """One object, or the elements around it, as the documentation shows them."""
    sample: Sample | Callable[[], Sample] = ""
    """A str, bytes, a mapping of these by file name, or a function that returns one. A small ground
    truth of this format, with one object or more: of one file, or of the files of a folder."""
    ending: str = ""
    """Of documents, with the dot: a folder or archive is of this format only if it has at least as
    many files of this ending as of any other format's, and more than .txt. Empty where `recognises`
    decides alone."""
    why: Callable[[Path], str] | None = None
    """``why(path)`` says what a recognised input has, where `recognised_by` does not say all."""
    fractions: bool = False
    """Whether coordinates may be fractions of the page (`ReadImages.in_fractions`)."""
    more_endings: tuple[str, ...] = ()
    """Other endings that its documents may have."""
    option: str = ""
    """Name of an attribute of `InputOptions` that says how the format is read; empty if there is
    none."""
    index_by: Callable[[Any], Indexer] | None = None
    """``index_by(value)`` returns the indexer by that option's value; `index` is used if it is
    None."""

    @property
    def endings(self) -> tuple[str, ...]:
        """All endings that its documents may have."""
        return (self.ending, *self.more_endings)

    def variant(
        self, name: str, title: str, index: Indexer, why: Callable[[Path], str] | None = None
    ) -> Format:
        """Return another way to read the same files; nothing is recognised as
        of it, so users must name it.
        """
        return replace(
            self, name=name, title=title, recognises=_never, index=index, recognised_by="", why=why
        )

    def reason(self, path: Path) -> str:
        """Return why an input was recognised, as a phrase."""
        return self.why(path) if self.why else f"recognised by {self.recognised_by}"

    def sample_content(self) -> Sample:
        """Return the sample; a function that makes it is called."""
        return self.sample() if callable(self.sample) else self.sample

    def write_sample(self, folder: Path) -> Path:
        """Write the sample into a folder, and return the path to read: the
        folder, or the one file in it.
        """
        sample = self.sample_content()
        files = sample if isinstance(sample, Mapping) else {f"img_1{self.ending}": sample}
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder if isinstance(sample, Mapping) else folder / next(iter(files))


def _never(_: Path) -> bool:
    return False
