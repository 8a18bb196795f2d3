"""XML of text data sets: ICDAR 2003 to 2011 (also of Wolf's DetEval and of Street View Text), and
CTW1500.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import (
    DONT_CARE,
    File,
    Format,
    Image,
    ReadOptions,
    Side,
    TextObject,
    has_root,
)
from evaltex_cli.formats.parsing import attribute, attributes, box, numbers, polygon, with_lines
from evaltex_cli.records import ANY_TYPE

_ZEROS = (
    "{count} rectangle[s] of four zeros [is an object|are objects] without area;"
    " zero_rectangles=ignored of deteval and icdar2003 leaves [it|them] out"
)
_MIXED = (
    "{count} image[s] [has|have] rectangles with and without a modelType; those without match any"
    " (evaldetection needs its option -m for that)"
)


def _read_tagset(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Read one image after the other.

    A rectangle's x, y, width, height are pixels, so its last column is x + width - 1. Wolf's
    program cuts the four numbers to integers before it adds them, keeps a rectangle of four zeros
    as an object without area unless it is run with ``-z``, and reads a type from ``modelType``,
    else ``typeModel``.
    """

    def read(element: Any) -> TextObject:
        x, y, width, height = attributes(element, "x", "y", "width", "height")
        is_zero = not any((x, y, width, height))
        if (width < 1 or height < 1) and not is_zero:
            raise FormatError(f"width {width:g}, height {height:g}", "both at least 1")
        file.notes[_ZEROS] += is_zero
        points = (x, y, x + max(width - 1, 0), y + max(height - 1, 0))
        left, top = float(int(x)), float(int(y))
        pixels = (left, top, left + int(width) - 1, top + int(height) - 1)
        return TextObject(
            points,
            element.findtext("tag") or "",
            pixels=None if pixels == points else pixels,
            type=int(attribute(element, "modelType", attribute(element, "typeModel", ANY_TYPE))),
        )

    for element in file.xml("tagset").findall("image"):
        objects = file.each(with_lines(element.iter("taggedRectangle")), read)
        file.notes[_MIXED] += len({one.type == ANY_TYPE for one in objects}) == 2
        with file.catching(element.sourceline):
            # Street View Text has a capital letter.
            size = next(element.iter("resolution", "Resolution"), None)
            width, height = (0.0, 0.0) if size is None else attributes(size, "x", "y")
            yield Image((element.findtext("imageName") or "").strip(), objects, height, width)


ICDAR_XML = Format(
    "icdar-xml",
    "ICDAR 2003 to 2011, DetEval: XML of taggedRectangle",
    _read_tagset,
    has_root("tagset"),
    (".xml",),
    layout="tagset / image / taggedRectangles / taggedRectangle x y width height",
    one_document=True,
)


def _read_ctw1500(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """``segs`` are the vertices of a polygon; a box without is the rectangle of its attributes."""

    def read(element: Any) -> TextObject:
        text, vertices = (element.findtext("label") or "").strip(), element.findtext("segs")
        dont_care = side == "gt" and text == DONT_CARE
        if vertices is not None:
            return TextObject(polygon(numbers(vertices), dont_care=dont_care), text, dont_care)
        points = box(*attributes(element, "left", "top", "width", "height"))
        return TextObject(points, text, dont_care)

    boxes = file.xml("Annotations").iter("box")
    yield Image(file.stem, file.each(with_lines(boxes), read))


CTW1500_XML = Format(
    "ctw1500-xml",
    "CTW1500, training set: XML, one per image",
    _read_ctw1500,
    has_root("Annotations"),
    (".xml",),
    layout="Annotations / image / box / label, segs",
)
