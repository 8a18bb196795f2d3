"""The XML of ICDAR 2003 to 2011 and of Wolf's DetEval tools: ``tagset / image / taggedRectangles /
taggedRectangle``.

A rectangle's x, y, width, height are pixels, so its last column is x + width - 1; the words of
ICDAR 2003 are in ``tag`` elements. Wolf's program cuts the four numbers to integers before it adds
them, keeps a rectangle of four zeros as an object without area unless it is run with ``-z``, and
reads a type from ``modelType``, else ``typeModel``.
"""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, InputError, counted, quote
from evaltex_cli.old_formats.base import Format, Side, Source
from evaltex_cli.old_formats.collected import Images, source
from evaltex_cli.old_formats.documents import safe_xml
from evaltex_cli.old_formats.documents.document_files import read_file, unpacked
from evaltex_cli.old_formats.documents.recognition import head
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT, NUMBER
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import ANY_TYPE

_HTML = re.compile(rb"<!doctype\s+html", re.IGNORECASE)


class _Tagset:
    """Collects the images of a document while it is parsed."""

    def __init__(self, path: str, faults: FaultLog) -> None:
        self.path, self.faults = path, faults
        self.images = Images()
        self.image: CollectedImage | None = None  # the last one, which is not complete
        self.zeros = self.mixed = 0
        self.text: list[str] | None = None
        self.rectangle: CollectedObject | None = None  # the last one, whose tag may follow
        self.typed: set[bool] = set()
        self.parser = safe_xml.new_parser()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters

    @property
    def at(self) -> int:
        return self.parser.CurrentLineNumber

    def refuse(self, found: str, expected: str) -> None:
        self.faults.add(self.path, self.at, found, expected)

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element == "image":
            self.finish_image()
            self.image = CollectedImage("", self.path, self.at)
        elif element in ("imageName", "tag"):
            self.text = []
        elif element in ("resolution", "Resolution") and self.image:  # of ICDAR, of SVT
            self.image.width, self.image.height = self.numbers(attributes, ("x", "y")) or (0.0, 0.0)
        elif element == "taggedRectangle":
            self.start_rectangle(attributes)

    def end(self, element: str) -> None:
        if element not in ("imageName", "tag") or self.text is None or not self.image:
            return
        text = "".join(self.text)
        self.text = None
        if element == "imageName":
            self.image.name = text.strip()
        elif self.rectangle:
            self.rectangle.text = text

    def finish_rectangle(self) -> None:
        if self.rectangle and self.image:
            self.image.add(self.rectangle)
        self.rectangle = None

    def finish_image(self) -> None:
        self.finish_rectangle()
        self.mixed += len(self.typed) == 2
        self.typed.clear()
        if self.image:
            self.images.append(self.image)
        self.image = None

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def start_rectangle(self, attributes: dict[str, str]) -> None:
        numbers, kind = (
            self.numbers(attributes, ("x", "y", "width", "height")),
            self.type_of(attributes),
        )
        if numbers is None or kind is None:
            return
        x, y, width, height = numbers
        is_zero = not any(numbers)
        if not self.image:
            self.refuse("a taggedRectangle", "it inside an image")
        elif (width < 1 or height < 1) and not is_zero:
            self.refuse(f"width {width:g}, height {height:g}", "both at least 1")
        else:
            self.zeros += is_zero
            found = (x, y, x + max(width - 1, 0), y + max(height - 1, 0))
            left, top = float(int(x)), float(int(y))
            pixels = (left, top, left + int(width) - 1, top + int(height) - 1)
            own = None if pixels == found else pixels
            self.finish_rectangle()
            self.rectangle = CollectedObject(found, pixels=own, type=kind, at=self.at)
            self.typed.add(kind == ANY_TYPE)

    def type_of(self, attributes: dict[str, str]) -> int | None:
        """Return a rectangle's type, `ANY_TYPE` without one; None where it is no number."""
        for name in ("modelType", "typeModel"):
            found = self.numbers(attributes, (name,)) if name in attributes else [ANY_TYPE]
            if found is None or found[0] != ANY_TYPE:
                return None if found is None else int(found[0])
        return ANY_TYPE

    def warnings(self, name: str) -> tuple[str, ...]:
        """What the user should know of the rectangles."""
        zeros = (
            "{count} rectangle[s] of four zeros [is an object|are objects] without area;"
            " zero_rectangles=ignored of deteval and icdar2003 leaves [it|them] out"
        )
        types = (
            "{count} image[s] [has|have] rectangles with and without a modelType; those without"
            " match any (evaldetection needs its option -m for that)"
        )
        counts = ((self.zeros, zeros), (self.mixed, types))
        return tuple(f"{name}: {counted(count, text)}" for count, text in counts if count)

    def numbers(self, attributes: dict[str, str], names: tuple[str, ...]) -> list[float] | None:
        values = []
        for name in names:
            text = attributes.get(name, "").strip()
            is_number = len(text) <= safe_xml.LONGEST_NUMBER and NUMBER.fullmatch(text)
            values.append(float(text) if is_number else math.nan)
            if not abs(values[-1]) <= COORDINATE_LIMIT:
                found = (
                    f"{name} = {quote(attributes[name])}"
                    if name in attributes
                    else f"no attribute {name}"
                )
                self.refuse(found, f"number{'s'[: len(names) - 1]} {', '.join(names)}")
                return None
        return values


def index(path: Path, side: Side, faults: FaultLog) -> Source:
    """Read the whole document.

    Raises
    ------
    InputError
        When it cannot be read, is larger than 1 GiB, is no well-formed XML, or declares a document
        type.
    """
    data = read_file(path)
    tagset = _Tagset(str(path), faults)
    try:
        safe_xml.parse(tagset.parser, unpacked(path, data))
        tagset.finish_image()
    except FormatError as error:
        raise InputError(str(error.fault(str(path)))) from error
    if side == "gt" and not tagset.images:
        faults.add(str(path), None, "no image element", "at least one, inside tagset")
    tagset.images.refuse_bad_names(faults)
    digest = hashlib.sha256(data).hexdigest()
    return source(str(path), "icdar-xml", digest, tagset.images, tagset.warnings(path.name))


def recognises(path: Path) -> bool:
    """Whether a file is XML whose first element is ``tagset``, or declares a
    document type before it.
    """
    start = head(path).lstrip()
    if not start.startswith(b"<") or _HTML.match(start):
        return False
    return b"<!DOCTYPE" in start or safe_xml.root_name(start) == "tagset"


FORMAT = Format(
    "icdar-xml",
    "ICDAR 2003 to 2011, DetEval: XML of taggedRectangle",
    recognises,
    index,
    four_corners=True,
    recognised_by="root tagset",
    layout="tagset / image / taggedRectangles / taggedRectangle x y width height",
    sample='<tagset><image><imageName>img_1.jpg</imageName><resolution x="640"'
    ' y="480"/><taggedRectangles><taggedRectangle x="10" y="10" width="51"'
    ' height="21"><tag>word</tag></taggedRectangle></taggedRectangles></image>'
    "</tagset>",
    ending=".xml",
)
