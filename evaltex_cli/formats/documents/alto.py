"""ALTO: one page a file, named after it; ``alto / Layout / Page / ... / TextLine / String``, in any namespace.

Words (``String``) or lines (``TextLine``) are the objects; a word's region is its line. The shape is ``Shape /
Polygon``, else ``HPOS, VPOS, WIDTH, HEIGHT``; the transcription ``CONTENT``, the confidence ``WC``.

`MeasurementUnit` is pixel, or 1/10 mm (mm10) or 1/1200 inch (inch1200), which are made pixels by the scan's
resolution. ALTO has no field for that; it is taken from a ``processingStepSettings`` that states it (``300 dpi``,
``resolution: 300``), and where none does, that is a fault.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.documents import safe_xml
from evaltex_cli.formats.documents.document_files import xml_format
from evaltex_cli.formats.documents.safe_xml import Element
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, box, polygon

Level = Literal["word", "line"]
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}
_NUMBER = r"([0-9]{2,5}(?:\.[0-9]{1,3})?)"
_RESOLUTION = re.compile(
    rf"\b{_NUMBER}\s?(?:dpi|ppi)\b|\b(?:dpi|ppi|[xy]?[ _-]?resolution)\s?[:=]?\s?{_NUMBER}\b", re.IGNORECASE
)


def _parse(level: Level, data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    root = safe_xml.tree(data)
    pages = list(root.all("Page"))
    if len(pages) != 1:
        at = pages[1].at if pages else root.at
        raise FormatError(f"{len(pages)} Page elements", "one page in each file", at=at)
    scale = _pixels_per_unit(root)
    image.width, image.height = (_size(pages[0], side_of) * scale for side_of in ("WIDTH", "HEIGHT"))
    for k, line_element in enumerate(pages[0].all("TextLine"), 1):
        for element in [line_element] if level == "line" else line_element.all("String"):
            try:
                one = _object(element, scale)
            except FormatError as error:
                error.log(faults, image.place)
                continue
            if level == "word" and side == "gt":
                one.region = k
            image.add(one)


def _size(page: Element, attribute: str) -> float:
    """Width or height of a page; some writers leave them empty."""
    return page.number(attribute) if page.attributes.get(attribute) else 0.0


def _pixels_per_unit(root: Element) -> float:
    element = next(root.all("MeasurementUnit"), None)
    unit = element.text.strip() if element else ""
    if unit == "pixel":
        return 1.0
    at = (element or root).at
    if unit not in _PER_INCH:
        found = f"MeasurementUnit {quote(unit)}" if element else "no MeasurementUnit"
        raise FormatError(found, "pixel, mm10 or inch1200", at=at)
    settings = " ".join(step.text for step in root.all("processingStepSettings"))
    stated = {float(first or second) for first, second in _RESOLUTION.findall(settings)}
    if len(stated) != 1:
        found = f"MeasurementUnit {unit} and " + ("more than one resolution" if stated else "no resolution of the scan")
        expected = "coordinates in pixels, or one resolution in a processingStepSettings (300 dpi, say)"
        raise FormatError(found, expected, at=at)
    return stated.pop() / _PER_INCH[unit]


def _object(element: Element, scale: float) -> CollectedObject:
    text = element.attributes.get("CONTENT")
    if text is None:
        text = " ".join(string.attributes.get("CONTENT", "") for string in element.all("String"))
    shape = element.child("Shape")
    outline = shape.child("Polygon") if shape else None
    with safe_xml.about(element):
        if outline:
            coordinates = polygon(safe_xml.points(outline, "POINTS"), dont_care=False)
        else:
            coordinates = box(*(element.number(name) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")))
    confidence = element.confidence("WC") if "WC" in element.attributes else float("nan")
    return CollectedObject([value * scale for value in coordinates], text, confidence=confidence, at=element.at)


_PLACE = 'HPOS="10" VPOS="10" WIDTH="50" HEIGHT="20"'
_LAYOUT = "TextLine / String HPOS VPOS WIDTH HEIGHT CONTENT WC / Shape / Polygon POINTS"
_SAMPLE = (
    "<alto><Description><MeasurementUnit>pixel</MeasurementUnit></Description><Layout>"
    '<Page WIDTH="640" HEIGHT="480"><PrintSpace><TextBlock>'
    f'<TextLine {_PLACE}><String {_PLACE} CONTENT="word"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>'
)
WORDS = xml_format("alto", "ALTO, words", "alto", partial(_parse, "word"), _LAYOUT, _SAMPLE)
LINES = xml_format("alto-line", "ALTO, lines", None, partial(_parse, "line"), _LAYOUT, _SAMPLE)
