"""XML of text data sets: ICDAR 2003 to 2011 (also of Wolf's DetEval and of Street View Text), and
CTW1500.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import attributes, box, numbers, polygon, with_lines
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
            type=_type(element),
        )

    root = file.xml("tagset")
    for element in root.findall("image"):
        objects = file.each(with_lines(element.iter("taggedRectangle")), read)
        file.notes[_MIXED] += len({one.type == ANY_TYPE for one in objects}) == 2
        name = (element.findtext("imageName") or "").strip()
        if not name:
            file.log(FormatError("an image without imageName", "one"), element.sourceline)
            continue
        yield Image(name, objects, *_size(file, element))
    outside = [one for one in root.iter("taggedRectangle") if one.getparent().tag == "tagset"]
    for one in outside:
        file.log(FormatError("a taggedRectangle", "it inside an image"), one.sourceline)


def _size(file: File, image: Any) -> tuple[float, float]:
    """Return height and width; Street View Text writes Resolution."""
    for element in [*image.findall("resolution"), *image.findall("Resolution")]:
        try:
            width, height = attributes(element, "x", "y")
            return height, width
        except FormatError as error:
            file.log(error, element.sourceline)
    return 0, 0


def _type(element: Any) -> int:
    names = [name for name in ("modelType", "typeModel") if element.get(name) is not None]
    types = [int(value) for value in attributes(element, *names)]
    return next((value for value in types if value != ANY_TYPE), ANY_TYPE)


ICDAR_XML = Format(
    "icdar-xml",
    "ICDAR 2003 to 2011, DetEval: XML of taggedRectangle",
    _read_tagset,
    lambda head: "root tagset" if head.root == "tagset" else "",
    (".xml",),
    layout="tagset / image / taggedRectangles / taggedRectangle x y width height",
    one_document=True,
)


def _read_ctw1500(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """``segs`` are the vertices of a polygon; a box without is the rectangle of its attributes."""
    pictures = file.xml("Annotations").findall("image")
    if len(pictures) != 1:
        at = pictures[1].sourceline if pictures else 1
        raise FormatError(f"{len(pictures)} image elements", "one image in each file", at=at)

    def read(element: Any) -> TextObject:
        text, vertices = (element.findtext("label") or "").strip(), element.findtext("segs")
        dont_care = side == "gt" and text == DONT_CARE
        if vertices is not None:
            return TextObject(polygon(numbers(vertices), dont_care=dont_care), text, dont_care)
        points = box(*attributes(element, "left", "top", "width", "height"))
        return TextObject(points, text, dont_care)

    yield Image(file.stem, file.each(with_lines(pictures[0].findall("box")), read))


CTW1500_XML = Format(
    "ctw1500-xml",
    "CTW1500, training set: XML, one per image",
    _read_ctw1500,
    lambda head: "root Annotations" if head.root == "Annotations" else "",
    (".xml",),
    layout="Annotations / image / box / label, segs",
)
