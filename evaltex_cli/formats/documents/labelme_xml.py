"""The XML of MIT's LabelMe: one image a file, named after it; ``annotation / object / polygon / pt
/ x, y``.

The transcription is ``name``, as it is in labelme's JSON; ``###`` is don't care. Objects whose
``deleted`` is 1 are no longer there. Of an object that has a mask alone (``segm``) its ``box`` is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.base import DONT_CARE, Side
from evaltex_cli.formats.coordinates import polygon
from evaltex_cli.formats.documents import document_files, recognition, safe_xml
from evaltex_cli.formats.documents.safe_xml import Element
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    root = safe_xml.tree(data, "annotation")
    size = root.child("imagesize")
    if size:
        image.height, image.width = (_size(size.child(name)) for name in ("nrows", "ncols"))
    for element in root:
        if element.name != "object" or _text(element.child("deleted")) == "1":
            continue
        with faults.catching(image.place):
            image.add(_object(element, side))


def _size(element: Element | None) -> float:
    return _number(element) if element and element.text.strip() else 0.0


def _text(element: Element | None) -> str:
    return element.text.strip() if element else ""


def _object(element: Element, side: Side) -> CollectedObject:
    text = _text(element.child("name"))
    dont_care = side == "gt" and text == DONT_CARE
    with safe_xml.about(element):
        return CollectedObject(_coordinates(element, dont_care), text, dont_care, at=element.at)


def _coordinates(element: Element, dont_care: bool) -> Sequence[float]:
    mask = element.child("segm")
    if mask and not element.child("polygon"):
        corners = mask.needed("box")
        return tuple(_number(corners.needed(name)) for name in _CORNERS)
    points = [point for point in element.needed("polygon") if point.name == "pt"]
    vertices = [_number(point.needed(axis)) for point in points for axis in ("x", "y")]
    return polygon(vertices, dont_care)


def _number(element: Element) -> float:
    return safe_xml.number(element.text, element.name, element)


def recognises(path: Path) -> bool:
    """Whether a path holds XML whose first element is ``annotation``, with
    what VOC's XML has not.
    """
    start = recognition.first_bytes(path, ".xml")
    return recognition.has_root(path, "annotation") and (b"<imagesize" in start or b"<pt>" in start)


FORMAT = replace(
    document_files.xml_format(
        "labelme-xml",
        "LabelMe of MIT: XML, one per image",
        "annotation",
        _parse,
        layout="annotation / object / name, deleted, polygon / pt / x y",
        sample="<annotation><imagesize><nrows>480</nrows><ncols>640</ncols></imagesize><object><name>word</name><deleted>0</deleted><polygon><pt><x>10</x><y>10</y></pt><pt><x>60</x><y>10</y></pt><pt><x>60</x><y>30</y></pt><pt><x>10</x><y>30</y></pt></polygon></object></annotation>",
    ),
    recognises=recognises,
    recognised_by="root annotation, with imagesize or pt",
)
