"""The XML of ICDAR 2003 to 2011 and of Wolf's DetEval tools: ``tagset / image / taggedRectangles / taggedRectangle``.

A rectangle's x, y, width, height are pixels, so its last column is x + width - 1; the words of ICDAR 2003 stand in
``tag`` elements. A rectangle of four zeros stands for none. Document type declarations, and with them all entities,
are refused: no document of these sets needs one, and every attack by XML does.
"""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any
from xml.parsers import expat

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.collected import CollectedImage, CollectedObject, refuse_bad_names, source

MAX_BYTES = 1 << 30
LARGEST_COORDINATE = 1e12
_HEAD_BYTES = 4096


class _Tagset:
    """Collects the images of a document while it is parsed."""

    def __init__(self, path: str, faults: FaultLog) -> None:
        self.path, self.faults = path, faults
        self.images: list[CollectedImage] = []
        self.text: list[str] | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters

    def refuse_doctype(self, *_: Any) -> None:
        raise InputError(
            f"{self.path}:{self.line}: a document type declaration; expected none (entities are not read): remove it"
        )

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element == "image":
            self.images.append(CollectedImage("", self.line))
        elif element in ("imageName", "tag"):
            self.text = []
        elif element == "resolution" and self.images:
            self.images[-1].width, self.images[-1].height = self.numbers(attributes, ("x", "y")) or (0.0, 0.0)
        elif element == "taggedRectangle":
            self.rectangle(attributes)

    def end(self, element: str) -> None:
        if element not in ("imageName", "tag") or self.text is None or not self.images:
            return
        text = "".join(self.text)
        self.text = None
        if element == "imageName":
            self.images[-1].name = text.strip()
        elif self.images[-1].objects:
            self.images[-1].objects[-1].text = text

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def rectangle(self, attributes: dict[str, str]) -> None:
        numbers = self.numbers(attributes, ("x", "y", "width", "height"))
        if numbers is None or not any(numbers):
            return
        x, y, width, height = numbers
        if not self.images:
            self.faults.add(self.path, self.line, "a taggedRectangle", "it inside an image")
        elif width < 1 or height < 1:
            self.faults.add(self.path, self.line, f"width {width:g}, height {height:g}", "both at least 1")
        else:
            self.images[-1].objects.append(CollectedObject((x, y, x + width - 1, y + height - 1)))

    def numbers(self, attributes: dict[str, str], names: tuple[str, ...]) -> list[float] | None:
        values = []
        for name in names:
            try:
                values.append(float(attributes[name]))
            except (KeyError, ValueError):
                values.append(math.nan)
            if not abs(values[-1]) <= LARGEST_COORDINATE:
                found = f"{name} = {quote(attributes[name])}" if name in attributes else f"no attribute {name}"
                self.faults.add(self.path, self.line, found, f"numbers {', '.join(names)}")
                return None
        return values


def index(path: Path, side: Side, faults: FaultLog) -> Source:
    """Read the whole document.

    Raises
    ------
    InputError
        When it cannot be read, is larger than 1 GiB, is no well-formed XML, or declares a document type.
    """
    data = _bytes(path)
    tagset = _Tagset(str(path), faults)
    try:
        tagset.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(f"{path}:{error.lineno}: {reason}; expected well-formed XML") from error
    if side == "gt" and not tagset.images:
        faults.add(str(path), None, "no image element", "at least one, inside tagset")
    refuse_bad_names(str(path), tagset.images, faults)
    return source(str(path), "icdar-xml", hashlib.sha256(data).hexdigest(), tagset.images)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: larger than {MAX_BYTES} bytes; divide it")
    return data


def recognises(path: Path) -> bool:
    """Whether a file is XML whose first element is ``tagset``, or declares a document type before it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"<") and (b"<tagset" in head or b"<!DOCTYPE" in head)


FORMAT = Format("icdar-xml", "ICDAR 2003 to 2011 and DetEval: XML of taggedRectangle elements", recognises, index)
