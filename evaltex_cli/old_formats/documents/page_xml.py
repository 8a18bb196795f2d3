"""PAGE XML: one page a file, named after it; ``PcGts / Page / TextRegion / TextLine / Word``, in
any namespace year.

Words, lines or text regions are the objects; a word's region is its line. If no file of an input
has words, its lines are read, and if none has lines, its regions. Coordinates are pixels, in
``Coords points="x,y x,y ..."`` or, in old files, in ``Point`` elements. Transcriptions are the
first ``TextEquiv / Unicode``, by ``index``; confidences ``conf`` of Coords, or else of that
TextEquiv.
"""

from __future__ import annotations

from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import Indexer, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import levels, safe_xml
from evaltex_cli.old_formats.documents.document_files import index_each, indexed_xml
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_ELEMENT = {"words": "Word", "lines": "TextLine", "regions": "TextRegion"}


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    page = safe_xml.tree(data, "PcGts").needed("Page")
    image.width, image.height = page.number("imageWidth", 0.0), page.number("imageHeight", 0.0)
    regions = {
        word: k for k, line in enumerate(page.all("TextLine"), 1) for word in line.all("Word")
    }
    for element in page.all(_ELEMENT[image.variant]):
        with faults.catching(image.place):
            collected = _object(element)
            if image.variant == "words" and side == "gt":
                collected.region = regions.get(element)
            image.add(collected)


def _object(element: Element) -> CollectedObject:
    coordinates = element.needed("Coords")
    equivalents = [child for child in element if child.name == "TextEquiv"]
    equivalent = min(equivalents, key=lambda one: one.number("index", 0.0), default=None)
    text = equivalent.child("Unicode") if equivalent else None
    vertices = _vertices(coordinates)
    with safe_xml.about(coordinates):
        ring = polygon(vertices, dont_care=False)
    return CollectedObject(
        ring,
        text.text if text else "",
        confidence=_confidence(coordinates, equivalent),
        at=element.at,
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
    f'<TextRegion id="r">{_COORDS}<TextLine id="l">{_COORDS}<Word'
    f' id="w">{_COORDS}</Word></TextLine></TextRegion>'
    "</Page></PcGts>"
)
_NAMES = {"words": "page", "lines": "page-line", "regions": "page-region"}
_LEVELS = [levels.Level(_NAMES[level], levels.element(_ELEMENT[level]), level) for level in _NAMES]


def _index(wanted: int) -> Indexer:
    return index_each(_LEVELS[wanted].format, ".xml", _parse, survey=levels.survey(_LEVELS, wanted))


WORDS = indexed_xml("page", "PAGE XML, words", "PcGts", _index(0), _LAYOUT, _SAMPLE)
LINES = WORDS.variant(
    "page-line", "PAGE XML, lines", _index(1), levels.why(_LEVELS, 1, "root PcGts")
)
REGIONS = WORDS.variant(
    "page-region", "PAGE XML, regions", _index(2), levels.why(_LEVELS, 2, "root PcGts")
)
