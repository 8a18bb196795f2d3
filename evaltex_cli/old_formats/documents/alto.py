"""ALTO: ``alto / Layout / Page / ... / TextLine / String``, in any namespace; images are named
after the files.

Words (``String``) or lines (``TextLine``) are the objects; a word's region is its line. If no file
of an input has words, its lines are read. The shape is ``Shape / Polygon``, else ``HPOS, VPOS,
WIDTH, HEIGHT``; the transcription ``CONTENT``, the confidence ``WC``. Writers that make ALTO of
lines without words give each line a ``String`` without any place, which is left out.

`MeasurementUnit` is pixel, also if it is missing, or 1/10 mm (mm10) or 1/1200 inch (inch1200),
which are made pixels by the scan's resolution. ALTO has no field for that; it is taken from a
``processingStepSettings`` that states it (``300 dpi``, ``resolution: 300``). If none does, the
coordinates are fractions of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.old_formats.base import Indexer, Side
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import levels, safe_xml
from evaltex_cli.old_formats.documents.annotation_tools import ellipse
from evaltex_cli.old_formats.documents.document_files import index_each, indexed_xml
from evaltex_cli.old_formats.documents.each_file import Pages
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_SIDES = ("WIDTH", "HEIGHT")
_BOX = ("HPOS", "VPOS", *_SIDES)
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}
_NUMBER = r"([0-9]{2,5}(?:\.[0-9]{1,3})?)(?![0-9.])"
_RESOLUTION = re.compile(
    rf"\b{_NUMBER}\s?(?:dpi|ppi)\b|(?:\b|[xy])(?:dpi|ppi|[xy]?["
    rf" _-]?resolution)\"?\s?[:=]?\s?\"?{_NUMBER}",
    re.IGNORECASE,
)
_PAGE = re.compile(rb"<(?:[\w.-]+:)?Page[\s/>]")
_BLANK = re.compile(rb"<(?:[\w.-]+:)?String\b[^>]*\bCONTENT\s*=\s*(?:\"[ \t\r\n]+\"|'[ \t\r\n]+')")
_ROUND = re.compile(
    rb"<(?:[\w.-]+:)?String\b[^>]*>\s*<(?:[\w.-]+:)?Shape\b[^>]*>\s*<(?:[\w.-]+:)?(?:Ellipse|Circle)\b"
)
_MAY_BE_NOWHERE = re.compile(rb"<(?:[\w.-]+:)?String\b(?![^>]*\bHPOS\s*=\s*[\"'])")


class _Page(NamedTuple):
    """A page, and what its coordinates are multiplied by."""

    element: Element
    scale: tuple[float, float]
    in_fractions: bool = False


def _parse(opened: _Page, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    page, scale = opened.element, opened.scale
    image.in_fractions = opened.in_fractions
    if not opened.in_fractions:
        image.width, image.height = (
            _size(page, name) * by for name, by in zip(_SIDES, scale, strict=True)
        )
    for k, line_element in enumerate(page.all("TextLine"), 1):
        for element in line_element.all("String") if image.variant == "words" else [line_element]:
            if image.variant == "words" and (_is_nowhere(element) or _is_blank(element)):
                continue
            with faults.catching(image.place):
                collected = _object(element, scale)
                if image.variant == "words" and side == "gt":
                    collected.region = k
                image.add(collected)


def _is_nowhere(string: Element) -> bool:
    """Whether a String has no attribute and no Shape that says where it is."""
    return not any(name in string.attributes for name in _BOX) and string.child("Shape") is None


def _is_blank(string: Element) -> bool:
    """Whether a String is of blanks alone, as Tesseract has for pictures and
    rules; its table leaves them out.
    """
    return string.attributes.get("CONTENT", "").isspace()


def _size(page: Element, attribute: str) -> float:
    """Width or height of a page; some writers leave them empty."""
    return page.number(attribute) if page.attributes.get(attribute) else 0.0


def _open(data: bytes) -> list[_Page]:
    root = safe_xml.tree(data, "alto")
    pages = list(root.all("Page"))
    if not pages:
        raise FormatError("no Page element", "one or more", at=root.at)
    scale = _pixels_per_unit(root)
    return [_Page(page, (scale, scale)) if scale else _in_fractions(page) for page in pages]


def _in_fractions(page: Element) -> _Page:
    width, height = (_size(page, name) for name in _SIDES)
    if width <= 0 or height <= 0:
        found = (
            "a MeasurementUnit other than pixel, no resolution of the scan, and a Page without"
            " WIDTH and HEIGHT"
        )
        raise FormatError(
            found, "one resolution in a processingStepSettings (300 dpi, say)", at=page.at
        )
    return _Page(page, (1 / width, 1 / height), in_fractions=True)


def _pixels_per_unit(root: Element) -> float | None:
    """Return how many pixels the document's unit has; None if it does not say so."""
    element = next(root.all("MeasurementUnit"), None)
    unit = element.text.strip() if element else "pixel"
    if unit == "pixel":
        return 1.0
    if unit not in _PER_INCH:
        raise FormatError(
            f"MeasurementUnit {quote(unit)}", "pixel, mm10 or inch1200", at=(element or root).at
        )
    settings = " ".join(step.text for step in root.all("processingStepSettings"))
    stated = {float(first or second) for first, second in _RESOLUTION.findall(settings)}
    return stated.pop() / _PER_INCH[unit] if len(stated) == 1 else None


def _object(element: Element, scale: tuple[float, float]) -> CollectedObject:
    text = element.attributes.get("CONTENT")
    if text is None:
        text = " ".join(string.attributes.get("CONTENT", "") for string in element.all("String"))
    shape = element.child("Shape")
    with safe_xml.about(element):
        coordinates = _shape(shape) if shape else None
        if coordinates is None:
            coordinates = box(*(element.number(name) for name in _BOX))
    confidence = element.confidence("WC") if "WC" in element.attributes else float("nan")
    scaled = [value * scale[k % 2] for k, value in enumerate(coordinates)]
    return CollectedObject(scaled, text, confidence=confidence, at=element.at)


def _shape(shape: Element) -> Sequence[float] | None:
    """Return the polygon of a Shape, or the bounding box of its ellipse or
    circle; None if it has none of them.
    """
    outline = shape.child("Polygon")
    if outline:
        return polygon(safe_xml.points(outline, "POINTS"), dont_care=False)
    for name, across, down in (("Ellipse", "HLENGTH", "VLENGTH"), ("Circle", "RADIUS", "RADIUS")):
        drawn = shape.child(name)
        if drawn:
            radii = drawn.number(across), drawn.number(down)
            turn = math.radians(drawn.number("ROTATION", 0.0))
            return ellipse((drawn.number("HPOS"), drawn.number("VPOS")), radii, turn)
    return None


def _notes(data: bytes) -> tuple[int, int, int, int]:
    """Count, in a document without comments, a missing MeasurementUnit and
    what is left out or taken for boxes.
    """
    nowhere = 0
    if _MAY_BE_NOWHERE.search(data):
        with suppress(FormatError):
            nowhere = sum(map(_is_nowhere, safe_xml.tree(data).all("String")))
    blank, round_ones = len(_BLANK.findall(data)), len(_ROUND.findall(data))
    return not levels.element("MeasurementUnit").search(data), nowhere, blank, round_ones


_PLACE = 'HPOS="10" VPOS="10" WIDTH="50" HEIGHT="20"'
_LAYOUT = "TextLine / String HPOS VPOS WIDTH HEIGHT CONTENT WC / Shape / Polygon POINTS"
_SAMPLE = (
    "<alto><Description><MeasurementUnit>pixel</MeasurementUnit></Description><Layout>"
    '<Page WIDTH="640" HEIGHT="480"><PrintSpace><TextBlock>'
    f"<TextLine {_PLACE}><String {_PLACE}"
    ' CONTENT="word"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>'
)
_LEVELS = [
    levels.Level("alto", levels.element("String"), "words"),
    levels.Level("alto-line", levels.element("TextLine"), "lines"),
]
_SENTENCES = (
    "{count} file[s] without MeasurementUnit[ is| are] taken for pixels",
    "{count} String element[s] without a place [was|were] left out",
    "{count} String element[s] of blanks alone [was|were] left out",
    "{count} ellipse[s] or circle[s] [is|are] taken for [its|their] bounding box[es]",
)


def _count(data: bytes) -> int:
    return len(_PAGE.findall(levels.without_comments(data)))


def _index(wanted: int) -> Indexer:
    survey = levels.survey(_LEVELS, wanted, _notes, *_SENTENCES)
    return index_each(
        _LEVELS[wanted].format, ".xml", _parse, survey=survey, pages=Pages(_count, _open)
    )


WORDS = replace(
    indexed_xml("alto", "ALTO, words", "alto", _index(0), _LAYOUT, _SAMPLE), fractions=True
)
LINES = WORDS.variant("alto-line", "ALTO, lines", _index(1), levels.why(_LEVELS, 1, "root alto"))
