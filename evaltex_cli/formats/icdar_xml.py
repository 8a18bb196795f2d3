"""XML of ICDAR 2003 to 2011 (also of Wolf's DetEval and of Street View Text), and of CTW1500.

A taggedRectangle's x, y, width, height are pixels, so its last column is x + width - 1. Wolf's
program cuts the four numbers to integers before it adds them, and keeps a rectangle of four zeros
as an object without area unless it is run with ``-z``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.formats import base
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import attribute, attributes, numbers, polygon, with_lines
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
    def read(element: Any) -> TextObject:
        x, y, width, height = attributes(element, "x", "y", "width", "height")
        is_zero = not any((x, y, width, height))
        file.notes[_ZEROS] += is_zero
        points = (0, 0, 0, 0) if is_zero else (x, y, x + width - 1, y + height - 1)
        left, top, columns, rows = (float(int(side)) for side in (x, y, width, height))
        pixels = (left, top, left + columns - 1, top + rows - 1)
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
            size = next(element.iter("resolution", "Resolution"), element)
            width, height = (attribute(size, axis, 0.0) for axis in "xy")
            yield Image((element.findtext("imageName") or "").strip(), objects, height, width)


def _read_ctw1500(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(element: Any) -> TextObject:
        text = (element.findtext("label") or "").strip()
        dont_care = side == "gt" and text == base.DONT_CARE
        points = polygon(numbers(element.findtext("segs") or ""), dont_care=dont_care)
        return TextObject(points, text, dont_care)

    boxes = file.xml("Annotations").iter("box")
    yield Image(file.stem, file.each(with_lines(boxes), read))


ICDAR_XML = Format(
    "icdar-xml",
    "ICDAR 2003 to 2011, DetEval: XML of taggedRectangle",
    _read_tagset,
    base.has_root("tagset"),
    (".xml",),
    layout="tagset / image / taggedRectangles / taggedRectangle x y width height",
    one_document=True,
)
CTW1500_XML = Format(
    "ctw1500-xml",
    "CTW1500, training set: XML, one per image",
    _read_ctw1500,
    base.has_root("Annotations"),
    (".xml",),
    layout="Annotations / image / box / label, segs",
)
