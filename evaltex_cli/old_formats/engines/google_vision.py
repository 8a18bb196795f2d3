"""Google Cloud Vision: a response of ``images:annotate`` or ``files:annotate``, or several in
``responses``; words.

``{"responses": [{"fullTextAnnotation": {"pages": [{"width", "height", "blocks": [{"paragraphs":
[{"words": [{"boundingBox", "symbols": [{"text"}], "confidence"}]}]}]}]}}]}``. A shape has
``vertices`` in pixels or ``normalizedVertices``, which are multiplied by the size of the page, if
it is known; a coordinate that is missing is 0. If a response has no ``fullTextAnnotation``, its
words are those of ``textAnnotations``, whose first item is the whole text. Keys may be in
snake_case. Each page is an image; a response without text is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FormatError, Steps
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Record
from evaltex_cli.old_formats.engines import clouds
from evaltex_cli.old_formats.engines.clouds import Page, items, spelled
from evaltex_cli.old_formats.parsed import CollectedObject

_KEYS = ("fullTextAnnotation", "full_text_annotation", "textAnnotations", "text_annotations")


_RESPONSE = (
    *("fullTextAnnotation", "textAnnotations", "error", "context", "labelAnnotations"),
    *("faceAnnotations", "landmarkAnnotations", "logoAnnotations", "localizedObjectAnnotations"),
    *("safeSearchAnnotation", "webDetection", "imagePropertiesAnnotation", "cropHintsAnnotation"),
    *("productSearchResults",),
)
"""What the service says of a picture."""


def _open(document: Item, _: str) -> list[Page]:
    root = safe_json.record(document)
    if "responses" in root:
        return [page for at, item in items(root, "responses") for page in _pages(item, at)]
    return list(_pages(root, ()))


def _pages(item: Item, at: Steps) -> Iterator[Page]:
    with safe_json.under(*at):
        response = safe_json.record(item)
        clouds.refuse_other(response, _RESPONSE)
        if clouds.has(response, "error"):
            error = safe_json.record(response["error"])
            raise FormatError(
                f"an error in the place of a result: {safe_json.shown(error.get('message'))}",
                "a result",
            )
        key = spelled(response, "fullTextAnnotation")
        annotation = safe_json.records(response, key) if clouds.has(response, key) else {}
    pages = list(items(annotation, "pages", *at, key))
    for where, page in pages:
        with safe_json.under(*where):
            record = safe_json.record(page)
            width, height = (clouds.number(record, side) for side in ("width", "height"))
        yield Page(list(_words(record, where)), width, height)
    if not pages:
        yield Page(list(items(response, "textAnnotations", *at))[1:])


def _words(page: Record, at: Steps) -> Iterator[tuple[Steps, Item]]:
    for block_at, block in items(page, "blocks", *at):
        for paragraph_at, paragraph in items(_record(block, block_at), "paragraphs", *block_at):
            yield from items(_record(paragraph, paragraph_at), "words", *paragraph_at)


def _record(item: Item, at: Steps) -> Record:
    with safe_json.under(*at):
        return safe_json.record(item)


def _object(record: Record, page: Page) -> tuple[CollectedObject, bool]:
    if "description" in record:
        text = safe_json.take(record["description"], str, "description")
        confidence, shape = None, "boundingPoly"
    else:
        symbols = (_record(symbol, at) for at, symbol in items(record, "symbols"))
        text = "".join(safe_json.field(symbol, "text", str | None, "") for symbol in symbols)
        confidence, shape = safe_json.field(record, "confidence", Confidence), "boundingBox"
    coordinates, in_fractions = clouds.outline(record, shape, page)
    return CollectedObject(coordinates, text, confidence=confidence), in_fractions


def _recognises(path: Path) -> bool:
    document: Any = document_files.json_value(path)
    if safe_json.is_object(document) and "responses" in document:
        responses = safe_json.opened(document["responses"])
        document = (
            safe_json.opened(responses[0]) if safe_json.is_list(responses) and responses else None
        )
    return safe_json.is_object(document) and any(key in document for key in _KEYS)


_BOX = (
    '{"vertices": [{"x": 10, "y": 10}, {"x": 60, "y": 10}, {"x": 60, "y": 30}, {"x": 10, "y": 30}]}'
)
FORMAT = Format(
    "google-vision",
    "Google Cloud Vision, words",
    _recognises,
    clouds.index("google-vision", _open, _object, "words"),
    recognised_by="a JSON object with the key fullTextAnnotation or textAnnotations, or a list of"
    " such in responses",
    layout='{"responses": [{"fullTextAnnotation": {"pages": [{"width", "height", "blocks":'
    ' [{"paragraphs": [{"words": [{"boundingBox", "symbols": [{"text"}], "confidence"}]}]}]}]}}]}',
    sample='{"responses": [{"fullTextAnnotation": {"pages": [{"width": 640, "height": 480,'
    ' "blocks": [{"paragraphs":'
    f' [{{"words": [{{"boundingBox": {_BOX}, "symbols": [{{"text": "word"}}], "confidence":'
    f" 0.9}}]}}]}}]}}]}}}}]}}",
    ending=".json",
    fractions=True,
)
