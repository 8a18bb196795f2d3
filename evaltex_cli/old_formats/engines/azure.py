"""Azure's Read and Document Intelligence: the JSON of a result; words or lines.

Read 2.0 to 3.2: ``{"analyzeResult": {"readResults": [{"width", "height", "unit", "lines":
[{"boundingBox": [x1, y1, ..., x4, y4], "text", "words": [{"boundingBox", "text",
"confidence"}]}]}]}}`` (``recognitionResults`` in the first). Document Intelligence:
``{"analyzeResult": {"pages": [{"width", "height", "unit", "words": [{"polygon", "content",
"confidence"}], "lines": [{"polygon", "content"}]}]}}``; a polygon is a flat list, or one of x and y
as its clients write it, which leave ``analyzeResult`` out. With the unit ``inch`` (PDF) coordinates
are fractions of the page; else they are pixels. Each page is an image. Image Analysis 4:
``{"metadata": {"width", "height"}, "readResult": {"blocks": [{"lines": [{"boundingPolygon": [{"x",
"y"}, ...], "text", "words": [...]}]}]}}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FormatError, Steps, quote
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number, Record
from evaltex_cli.old_formats.engines import clouds
from evaltex_cli.old_formats.engines.clouds import Page, items, spelled
from evaltex_cli.old_formats.parsed import CollectedObject

_SHAPES = ("polygon", "boundingPolygon", "boundingBox", "bounding_polygon", "bounding_box")
_PAGE = ("words", "width", "unit", "angle", "spans")
_READ_RESULTS = ("readResults", "recognitionResults")


def _open(document: Item, level: str) -> list[Page]:
    root = safe_json.record(document)
    at: tuple[str, ...] = ()
    key = spelled(root, "analyzeResult")
    if key in root:
        at, root = (key,), safe_json.records(root, key)
    if "readResult" in root:
        return [_image(root, level)]
    of_pages = next((key for key in _READ_RESULTS if key in root), "pages")
    if of_pages not in root:
        with safe_json.under(*at):
            raise safe_json.no_key(root, "pages")
    return [
        _page(item, where, level, of_pages != "pages") for where, item in items(root, of_pages, *at)
    ]


def _image(root: Record, level: str) -> Page:
    """Return the picture of Image Analysis."""
    size = safe_json.records(root, "metadata") if clouds.has(root, "metadata") else {}
    objects: list[tuple[Steps, Item]] = []
    for at, item in items(safe_json.records(root, "readResult"), "blocks", "readResult"):
        with safe_json.under(*at):
            block = safe_json.record(item)
        objects += _words(block, at) if level == "words" else items(block, "lines", *at)
    return Page(objects, clouds.number(size, "width"), clouds.number(size, "height"))


def _page(item: Item, at: Steps, level: str, words_in_lines: bool) -> Page:
    with safe_json.under(*at):
        page = safe_json.record(item)
        if not words_in_lines:
            clouds.refuse_other(page, _PAGE)
        unit = safe_json.field(page, "unit", str | None, "pixel")
        if unit not in ("pixel", "inch"):
            raise FormatError(quote(unit), "pixel or inch", ("unit",))
        width, height = (clouds.number(page, side) for side in ("width", "height"))
        if unit == "inch" and min(width, height) <= 0:
            raise FormatError("a page in inches of unknown width or height", "both above 0")
    objects = _words(page, at) if words_in_lines and level == "words" else items(page, level, *at)
    return Page(list(objects), width, height, in_pixels=unit == "pixel")


def _words(page: Record, at: Steps) -> Iterator[tuple[Steps, Item]]:
    for where, item in items(page, "lines", *at):
        with safe_json.under(*where):
            line = safe_json.record(item)
        yield from items(line, "words", *where)


def _object(record: Record, page: Page) -> tuple[CollectedObject, bool]:
    shape = next((key for key in _SHAPES if key in record), "polygon")
    text = safe_json.field(record, "content" if "content" in record else "text", str | None, "")
    confidence = safe_json.field(record, "confidence", Confidence)
    coordinates = polygon(_numbers(record, shape), dont_care=False, where=(shape,))
    if not page.in_pixels:
        coordinates = [
            value / (page.height if k % 2 else page.width) for k, value in enumerate(coordinates)
        ]
    return CollectedObject(coordinates, text, confidence=confidence), not page.in_pixels


def _numbers(record: Record, key: str) -> list[float]:
    value = safe_json.opened(safe_json.needed(record, key))
    if safe_json.is_list(value) and value and safe_json.has_key(value[0], "x"):
        return clouds.vertices(record, key)
    numbers: list[float] = safe_json.take(record[key], list[Number], key)
    return numbers


def _recognises(path: Path) -> bool:
    document: Any = document_files.json_value(path)
    if not safe_json.is_object(document):
        return False
    key = spelled(document, "analyzeResult")
    result = safe_json.opened(document.get(key, document))
    if not safe_json.is_object(result):
        return False
    if any(name in result for name in (*_READ_RESULTS, "readResult")):
        return True
    pages = safe_json.opened(result.get("pages"))
    if key in document:
        return safe_json.is_list(pages)
    return (
        safe_json.is_list(pages)
        and bool(pages)
        and "content" in result
        and safe_json.has_key(pages[0], "words")
    )


_BOX = "[10, 10, 60, 10, 60, 30, 10, 30]"


WORDS = Format(
    "azure",
    "Azure's Read and Document Intelligence, words",
    _recognises,
    clouds.index("azure", _open, _object, "words"),
    recognised_by="analyzeResult with readResults or pages, or readResult",
    layout='{"analyzeResult": {"pages": [{"width", "height", "unit", "words": [{"polygon",'
    ' "content", "confidence"}], "lines": [...]}]}} or readResults with lines of words',
    sample='{"analyzeResult": {"pages": [{"pageNumber": 1, "width": 640, "height": 480, "unit":'
    ' "pixel", "words":'
    f' [{{"polygon": {_BOX}, "content": "word", "confidence": 0.9}}], "lines": [{{"polygon":'
    f' {_BOX}, "content":'
    ' "word"}]}]}}',
    ending=".json",
    fractions=True,
)
LINES = WORDS.variant(
    *("azure-line", "Azure's Read and Document Intelligence, lines"),
    clouds.index("azure-line", _open, _object, "lines"),
)
