"""PAGE XML: one page a file, named after it; ``PcGts / Page / TextRegion / TextLine / Word``, in any namespace year.

Words, lines or text regions are the objects; a word's region is its line. Coordinates are pixels, in ``Coords
points="x,y x,y ..."`` or, in old files, in ``Point`` elements. Transcriptions are the first ``TextEquiv / Unicode``, by
``index``; confidences ``conf`` of Coords, or else of that TextEquiv.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.documents import safe_xml
from evaltex_cli.formats.documents.document_files import xml_format
from evaltex_cli.formats.documents.safe_xml import Element
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, polygon

Level = Literal["word", "line", "region"]
_ELEMENT = {"word": "Word", "line": "TextLine", "region": "TextRegion"}
_OTHER_LEVELS = {"Word": "page", "TextLine": "page-line", "TextRegion": "page-region"}


def _parse(level: Level, data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    page = safe_xml.tree(data).needed("Page")
    image.width, image.height = page.number("imageWidth", 0.0), page.number("imageHeight", 0.0)
    wanted = _ELEMENT[level]
    found = list(page.all(wanted))
    if not found:
        _refuse_other_levels(page, wanted)
    regions = {id(word): k for k, line in enumerate(page.all("TextLine"), 1) for word in line.all("Word")}
    for element in found:
        try:
            one = _object(element)
        except FormatError as error:
            error.log(faults, image.place)
            continue
        if level == "word" and side == "gt":
            one.region = regions.get(id(element))
        image.add(one)


def _refuse_other_levels(page: Element, wanted: str) -> None:
    """A page annotated on another level only would else pass for an empty one."""
    for other, format_name in _OTHER_LEVELS.items():
        count = sum(1 for _ in page.all(other))
        if count:
            raise FormatError(
                f"no {wanted}, but {count} {other}", f"{wanted} elements, or the format {format_name}", at=page.at
            )


def _object(element: Element) -> CollectedObject:
    coordinates = element.needed("Coords")
    equivalents = [child for child in element if child.name == "TextEquiv"]
    equivalent = min(equivalents, key=lambda one: one.number("index", 0.0), default=None)
    text = equivalent.child("Unicode") if equivalent else None
    vertices = _vertices(coordinates)
    with safe_xml.about(coordinates):
        ring = polygon(vertices, dont_care=False)
    return CollectedObject(
        ring, text.text if text else "", confidence=_confidence(coordinates, equivalent), at=element.at
    )


def _vertices(coordinates: Element) -> list[float]:
    if "points" not in coordinates.attributes:
        points = [child for child in coordinates if child.name == "Point"]
        return [point.number(axis) for point in points for axis in ("x", "y")]
    return safe_xml.points(coordinates, "points")


def _confidence(*elements: Element | None) -> float:
    for element in elements:
        if element and "conf" in element.attributes:
            return element.confidence("conf")
    return float("nan")


_COORDS = '<Coords points="10,10 60,10 60,30 10,30"/>'
_LAYOUT = "Page / TextRegion / TextLine / Word / Coords points"
_SAMPLE = (
    '<PcGts><Page imageFilename="img_1.jpg" imageWidth="640" imageHeight="480">'
    f'<TextRegion id="r">{_COORDS}<TextLine id="l">{_COORDS}<Word id="w">{_COORDS}</Word></TextLine></TextRegion>'
    "</Page></PcGts>"
)
WORDS = xml_format("page", "PAGE XML, words", "PcGts", partial(_parse, "word"), _LAYOUT, _SAMPLE)
LINES = xml_format("page-line", "PAGE XML, lines", None, partial(_parse, "line"), _LAYOUT, _SAMPLE)
REGIONS = xml_format("page-region", "PAGE XML, regions", None, partial(_parse, "region"), _LAYOUT, _SAMPLE)
