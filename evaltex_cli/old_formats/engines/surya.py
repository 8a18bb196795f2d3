"""Surya: ``results.json`` of all images, ``{"image": [{"text_lines": [...], "image_bbox",
"page"}]}``; lines or words.

Lines are under ``text_lines``, after detection alone under ``bboxes``. A line has ``polygon`` or
``bbox`` (two corners), ``text``, ``confidence``, and in some versions ``words``. Keys name the
images; of several pages, each is an image, with its number after the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.each_file import page_names
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_LINES = ("text_lines", "bboxes")


class _Text(msgspec.Struct, gc=False):
    """A line or a word."""

    polygon: list[Any] | None = None
    bbox: list[Any] | None = None
    text: str | None = None
    confidence: Confidence = None


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    images = Images()
    record, place = safe_json.record(document.value), document.place
    for key, name in zip(record, names_of_pictures(list(record)), strict=True):
        try:
            pages = safe_json.items(record, key)
        except FormatError as error:
            error.log(faults, place)
            continue
        for k, (page, page_name) in enumerate(
            zip(pages, page_names(name, len(pages)), strict=False)
        ):
            image = CollectedImage(page_name, place, (key, k), variant=document.variant)
            with faults.catching(place, key, k):
                _add_page(image, page, side, faults)
                images.append(image)
    return images, ()


def _add_page(image: CollectedImage, page: Item, side: Side, faults: FaultLog) -> None:
    record = safe_json.record(page)
    corners = safe_json.field(record, "image_bbox", tuple[Number, Number, Number, Number] | None)
    if corners is not None:
        image.width, image.height = corners[2] - corners[0], corners[3] - corners[1]
    key = _LINES[0] if _LINES[0] in record else _LINES[1]
    assert isinstance(image.at, tuple)
    for k, item in enumerate(safe_json.items(record, key)):
        where = (*image.at, key, k)
        for at, area in (
            _words(where, item, image.place, faults)
            if image.variant == "words"
            else [(where, item)]
        ):
            with faults.catching(image.place, *at):
                collected = _object(area, at)
                collected.region = k + 1 if image.variant == "words" and side == "gt" else None
                image.add(collected)


def _words(where: Steps, line: Item, place: str, faults: FaultLog) -> Iterator[tuple[Steps, Item]]:
    try:
        words = safe_json.items(safe_json.record(line), "words")
    except FormatError as error:
        error.log(faults, place, *where)
        return
    yield from (((*where, "words", k), word) for k, word in enumerate(words))


def _object(item: Item, at: Steps) -> CollectedObject:
    text = safe_json.take(item, _Text)
    if not text.polygon and not text.bbox:
        raise FormatError("no polygon and no bbox", "one of them")
    key = "polygon" if text.polygon else "bbox"
    coordinates = values.polygon_or_box(getattr(text, key), key)
    return CollectedObject(coordinates, text.text or "", confidence=text.confidence, at=at)


def _first_lines(path: Path) -> Sequence[Item] | None:
    """Return the lines of the first image that has any; an empty list if none
    has, None in other documents.
    """
    value = document_files.json_value(path)
    if not safe_json.is_object(value):
        return None
    first = None
    for item in value.values():
        pages = safe_json.opened(item)
        page = safe_json.opened(pages[0]) if safe_json.is_list(pages) and pages else None
        if not safe_json.is_object(page) or not any(key in page for key in _LINES):
            return None
        lines = safe_json.opened(page.get(_LINES[0], page.get(_LINES[1])))
        first = lines if safe_json.is_list(lines) else []
        if first:
            break
    return first


def _level(path: Path) -> str | None:
    """Return whether lines have words; None of other documents."""
    lines = _first_lines(path)
    if lines is None:
        return None
    first = safe_json.opened(lines[0]) if lines else None
    words = safe_json.opened(first.get("words")) if safe_json.is_object(first) else None
    return "words" if words else "lines"


_OUTLINE = (
    '"polygon": [[10, 10], [60, 10], [60, 30], [10, 30]], "bbox": [10, 10, 60, 30], "text":'
    ' "word", "confidence": 0.9'
)


def _format(name: str, level: str, more: str, sample: str) -> Format:
    return Format(
        name,
        f"Surya: results.json, {level}",
        lambda path: _level(path) == level,
        document_files.index_json(name, _collect, level),
        recognised_by=f"lists of pages with text_lines or bboxes, {more} words",
        layout='{"img_1": [{"text_lines": [{"polygon", "bbox", "text", "confidence", "words"}],'
        ' "image_bbox"}]}',
        sample=f'{{"img_1": [{{"text_lines": [{{{sample}}}], "image_bbox": [0, 0, 640, 480],'
        f' "page": 1}}]}}',
        ending=".json",
    )


WORDS = _format("surya", "words", "with", f'{_OUTLINE}, "words": [{{{_OUTLINE}}}]')
LINES = _format("surya-line", "lines", "without", _OUTLINE)
