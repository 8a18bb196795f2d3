"""Google Document AI: a ``Document`` as JSON, bare or in the ``document`` of a response; words
(tokens) or lines.

``{"text": "...", "pages": [{"dimension": {"width", "height"}, "tokens": [{"layout": {"textAnchor":
{"textSegments": [{"startIndex", "endIndex"}]}, "boundingPoly", "confidence"}}], "lines":
[...]}]}``. A shape has ``vertices`` in pixels or ``normalizedVertices``, which are multiplied by
the dimension of the page, if it is known. A transcription is what the segments say of the text,
without blanks around it. Keys may be in snake_case. Each page is an image.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Record
from evaltex_cli.old_formats.engines import clouds
from evaltex_cli.old_formats.engines.clouds import Page, items, spelled
from evaltex_cli.old_formats.parsed import CollectedObject

_DOCUMENT = ("pages", "text", "uri", "content", "mimeType", "entities", "shardInfo")
_PAGE = ("tokens", "lines", "dimension", "pageNumber", "image", "layout")


def _open(document: Item, level: str) -> list[Page]:
    root = safe_json.record(document)
    at: tuple[str, ...] = ()
    if "document" in root:
        at, root = ("document",), safe_json.records(root, "document")
    with safe_json.under(*at):
        clouds.refuse_other(root, _DOCUMENT)
    text = safe_json.field(root, "text", str | None, "")
    pages = []
    for where, item in items(root, "pages", *at):
        with safe_json.under(*where):
            page = safe_json.record(item)
            clouds.refuse_other(page, _PAGE)
            size = safe_json.records(page, "dimension") if clouds.has(page, "dimension") else {}
            width, height = (clouds.number(size, side) for side in ("width", "height"))
        pages.append(Page(list(items(page, level, *where)), width, height, text=text))
    return pages


def _object(record: Record, page: Page) -> tuple[CollectedObject, bool]:
    layout = safe_json.records(record, "layout")
    with safe_json.under("layout"):
        text = "".join(_segments(layout, page.text)).strip()
        confidence = safe_json.field(layout, "confidence", Confidence)
        coordinates, in_fractions = clouds.outline(layout, "boundingPoly", page)
    return CollectedObject(coordinates, text, confidence=confidence), in_fractions


def _segments(layout: Record, text: str) -> Iterator[str]:
    key = spelled(layout, "textAnchor")
    if not clouds.has(layout, key):
        return
    with safe_json.under(key):
        for at, item in items(safe_json.record(layout[key]), "textSegments"):
            with safe_json.under(*at):
                segment = safe_json.record(item)
                start, stop = (
                    _index(segment, spelled(segment, name)) for name in ("startIndex", "endIndex")
                )
                if not 0 <= start <= stop <= len(text):
                    expected = f"indices in the text of {len(text)} characters"
                    raise FormatError(f"characters {start} to {stop}", expected)
            yield text[start:stop]


def _index(segment: Record, key: str) -> int:
    """Return an index of the text, which is a string in JSON; 0 if it is missing."""
    value = safe_json.plain(segment.get(key, 0))
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FormatError(safe_json.shown(value), "a whole number", (key,))


def _recognises(path: Path) -> bool:
    document = document_files.json_value(path)
    if safe_json.is_object(document) and "document" in document:
        document = safe_json.opened(document["document"])
    pages = safe_json.opened(document.get("pages")) if safe_json.is_object(document) else None
    if not safe_json.is_list(pages) or not pages:
        return False
    if any(key in document for key in ("mimeType", "mime_type")):
        return True
    ours = ("tokens", "lines", "dimension", "pageNumber", "page_number")
    named = any(key in document for key in ("text", "entities", "shardInfo", "shard_info"))
    return named and any(safe_json.has_key(pages[0], key) for key in ours)


_VERTICES = '[{"x": 10, "y": 10}, {"x": 60, "y": 10}, {"x": 60, "y": 30}, {"x": 10, "y": 30}]'
_LAYOUT = (
    '[{"layout": {"textAnchor": {"textSegments": [{"endIndex": "5"}]}, "confidence": 0.9,'
    f' "boundingPoly": {{"vertices": {_VERTICES}}}}}}}]'
)


WORDS = Format(
    "document-ai",
    "Google Document AI, words",
    _recognises,
    clouds.index("document-ai", _open, _object, "tokens"),
    recognised_by="a JSON object with text and pages, bare or in document",
    layout='{"text", "pages": [{"dimension": {"width", "height"}, "tokens": [{"layout":'
    ' {"textAnchor", "boundingPoly", "confidence"}}], "lines": [...]}]}',
    sample='{"text": "word\\n", "pages": [{"pageNumber": 1, "dimension": {"width": 640, "height":'
    ' 480, "unit":'
    f' "pixels"}}, "lines": {_LAYOUT}, "tokens": {_LAYOUT}}}]}}',
    ending=".json",
    fractions=True,
)
LINES = WORDS.variant(
    *("document-ai-line", "Google Document AI, lines"),
    clouds.index("document-ai-line", _open, _object, "lines"),
)
