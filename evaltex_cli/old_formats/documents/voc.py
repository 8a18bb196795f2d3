"""The XML of Pascal VOC: one image a file, named after it; ``annotation / object / bndbox / xmin,
ymin, xmax, ymax``.

Corners stand as they are, without VOC's + 1; ``name`` is a class, not a transcription.
``difficult`` 1 is don't care. roLabelImg also has turned boxes, ``robndbox / cx, cy, w, h,
angle``, with the angle in radians, clockwise as seen.
"""

from __future__ import annotations

from dataclasses import replace

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.coordinates import box, turned
from evaltex_cli.old_formats.documents import safe_xml
from evaltex_cli.old_formats.documents.document_files import xml_format
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    root = safe_xml.tree(data, "annotation")
    size = root.child("size")
    if size:
        image.width, image.height = _number(size.needed("width")), _number(size.needed("height"))
    for element in root:
        if element.name == "object":
            with faults.catching(image.place):
                image.add(_object(element, side))


def _object(element: Element, side: Side) -> CollectedObject:
    corners, turned_box = element.child("bndbox"), element.child("robndbox")
    coordinates = (
        _turned(turned_box) if turned_box and not corners else _box(element.needed("bndbox"))
    )
    difficult = element.child("difficult")
    flag = (difficult.text.strip() if difficult else "") or "0"
    if difficult and flag not in ("0", "1"):
        raise FormatError(f"difficult {quote(flag)}", "0 or 1", at=difficult.at)
    return CollectedObject(coordinates, dont_care=side == "gt" and flag == "1", at=element.at)


def _box(corners: Element) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (_number(corners.needed(name)) for name in _CORNERS)
    if x1 < x0 or y1 < y0:
        found = f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})"
        raise FormatError(found, "xmin <= xmax and ymin <= ymax", at=corners.at)
    return x0, y0, x1, y1


def _turned(element: Element) -> list[float]:
    x, y, width, height, angle = (
        _number(element.needed(name)) for name in ("cx", "cy", "w", "h", "angle")
    )
    with safe_xml.about(element):
        return turned(box(x - width / 2, y - height / 2, width, height), angle)


def _number(element: Element) -> float:
    return safe_xml.number(element.text, element.name, element)


FORMAT = replace(
    xml_format(
        "voc",
        "Pascal VOC and roLabelImg: XML, one per image",
        "annotation",
        _parse,
        layout="annotation / object / bndbox / xmin ymin xmax ymax, or robndbox / cx cy w h angle",
        sample="<annotation><object><name>text</name><bndbox><xmin>10</xmin><ymin>10</ymin><xmax>60</xmax><ymax>30</ymax></bndbox></object></annotation>",
    ),
    four_corners=True,
)
