"""PAGE XML: one page a file, named after it; ``PcGts / Page / TextRegion / TextLine / Word``, in any namespace year.

Words, lines or text regions are the objects; a word's region is its line. If no file of an input has words, its lines
are read, and if none has lines, its regions. Coordinates are pixels, in ``Coords
points="x,y x,y ..."`` or, in old files, in ``Point`` elements. Transcriptions are the first ``TextEquiv / Unicode``, by
``index``; confidences ``conf`` of Coords, or else of that TextEquiv.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.documents import levels, safe_xml
from evaltex_cli.formats.documents.document_files import index_each, indexed_xml
from evaltex_cli.formats.documents.safe_xml import Element
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, polygon

Level = Literal["word", "line", "region"]
_ELEMENT = {"word": "Word", "line": "TextLine", "region": "TextRegion"}


def _parse(level: Level, data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    page = safe_xml.tree(data, "PcGts").needed("Page")
    image.width, image.height = page.number("imageWidth", 0.0), page.number("imageHeight", 0.0)
    regions = {word: k for k, line in enumerate(page.all("TextLine"), 1) for word in line.all("Word")}
    for element in page.all(_ELEMENT[level]):
        try:
            one = _object(element)
        except FormatError as error:
            error.log(faults, image.place)
            continue
        if level == "word" and side == "gt":
            one.region = regions.get(element)
        image.add(one)


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
_LEVELS = [
    levels.Level("page", levels.element("Word"), "words", partial(_parse, "word")),
    levels.Level("page-line", levels.element("TextLine"), "lines", partial(_parse, "line")),
    levels.Level("page-region", levels.element("TextRegion"), "regions", partial(_parse, "region")),
]


def _format(wanted: int, root: str | None = None) -> Format:
    name, _, objects, parse = _LEVELS[wanted]
    index = index_each(name, ".xml", parse, survey=levels.survey(_LEVELS, wanted))
    form = indexed_xml(name, f"PAGE XML, {objects}", root, index, _LAYOUT, _SAMPLE)
    return form if root else replace(form, why=levels.why(_LEVELS, wanted, "PcGts"))


WORDS = _format(0, "PcGts")
LINES = _format(1)
REGIONS = _format(2)
