"""The XML of SCUT-CTW1500's training images: ``Annotations / image / box / label, segs``, one image
a file.

``segs`` are the vertices x1,y1,...,xn,yn of a polygon (14 vertices), ``label`` is the
transcription; the label ``###`` is don't care. A box without ``segs`` is the rectangle of its
``left, top, width, height``.
"""

from __future__ import annotations

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import DONT_CARE, Side
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import safe_xml
from evaltex_cli.old_formats.documents.document_files import xml_format
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    root = safe_xml.tree(data, "Annotations")
    pictures = [child for child in root if child.name == "image"]
    if len(pictures) != 1:
        at = pictures[1].at if pictures else root.at
        raise FormatError(f"{len(pictures)} image elements", "one image in each file", at=at)
    for element in pictures[0]:
        if element.name == "box":
            with faults.catching(image.place):
                image.add(_object(element, side))


def _object(element: Element, side: Side) -> CollectedObject:
    label, outline = element.child("label"), element.child("segs")
    text = label.text.strip() if label else ""
    dont_care = side == "gt" and text == DONT_CARE
    with safe_xml.about(outline or element):
        if outline:
            coordinates = polygon(safe_xml.numbers(outline.text, "segs", outline), dont_care)
        else:
            coordinates = box(
                *(element.number(name) for name in ("left", "top", "width", "height"))
            )
    return CollectedObject(coordinates, text, dont_care, at=element.at)


FORMAT = xml_format(
    "ctw1500-xml",
    "CTW1500, training set: XML, one per image",
    "Annotations",
    _parse,
    layout="Annotations / image / box / label, segs",
    sample="<Annotations><image><box><label>word</label><segs>10,10,60,10,60,30,10,30</segs></box></image></Annotations>",
)
