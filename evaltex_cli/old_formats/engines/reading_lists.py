"""Lists of what was read in an image, one JSON file per image: EasyOCR, RapidOCR and PaddleOCR 2.x.

EasyOCR and RapidOCR 1.x return ``[[box, text, confidence], ...]``, PaddleOCR 2.x the same as
``[[[box, [text, confidence]], ...]]``: a list of pages. RapidOCR 2 and later, and its web API,
write objects ``{"box", "txt", "score"}`` and ``{"dt_boxes", "rec_txt", "score"}``; EasyOCR can
write ``{"boxes", "text", "confident"}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.each_file import Pages
from evaltex_cli.old_formats.documents.safe_json import Item, Record
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_KEYS = (("box", "txt", "score"), ("dt_boxes", "rec_txt", "score"), ("boxes", "text", "confident"))
"""What programs call the shape, the transcription and the confidence of an object."""


def _open(data: bytes) -> list[tuple[Steps, Item]]:
    """Return the pages, each a list of objects, with what leads to them; a
    list of objects is one page.
    """
    value = safe_json.parse(data)
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list [[box, text, confidence], ...]")
    if not value or _is_reading(value[0]):
        return [((), value)]
    return [((k,), page) for k, page in enumerate(value)]


def _parse_lists(opened: Any, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    where, item = opened
    page = safe_json.opened(item)
    if not safe_json.is_list(page):
        if safe_json.plain(page) is None:
            return  # PaddleOCR has null for a page without text
        raise FormatError(safe_json.shown(page), "a list [box, text, confidence]", where)
    for k, one in enumerate(page):
        with faults.catching(image.place, *where, k):
            image.add(_reading(one, (*where, k)))


def _is_reading(item: Item) -> bool:
    """Whether an item is ``[box, text, ...]``, ``[box, [text, confidence]]``
    or a box, and no list of these.
    """
    depth = _depth(item)
    return depth == 2 or (depth == 3 and _has_text(safe_json.opened(item)))


def _has_text(value: Sequence[Item]) -> bool:
    """Whether what comes after a box is a string, or a list that begins with one."""
    if len(value) < 2:
        return False
    second = safe_json.opened(value[1])
    return values.is_string(second) or (
        safe_json.is_list(second) and bool(second) and values.is_string(second[0])
    )


def _depth(item: Item) -> int:
    """How many lists begin with one another: 2 for a box [[x, y], ...], 3 for
    a list that begins with a box.
    """
    depth, value = 0, safe_json.opened(item)
    while safe_json.is_list(value):
        depth, value = depth + 1, safe_json.opened(value[0]) if value else None
    return depth


def _reading(item: Item, where: Steps) -> CollectedObject:
    depth, value = _depth(item), safe_json.opened(item)
    if depth == 2:
        return CollectedObject(polygon(values.shape(item), False), at=where)
    if depth != 3 or not _has_text(value):
        raise FormatError(safe_json.shown(item), "a list [box, text, confidence]")
    shape, *read = value
    coordinates = polygon(values.shape(shape, 0), False, (0,))
    inside = safe_json.opened(read[0])
    if safe_json.is_list(inside):
        text, *scores = inside
    else:
        text, *scores = read
    where_score: Steps = (1, 1) if safe_json.is_list(inside) else (2,)
    confidence = values.confidence(scores[0], *where_score) if scores else None
    return CollectedObject(coordinates, values.text(text, 1), confidence=confidence, at=where)


def _recognises_lists(path: Path) -> bool:
    value = document_files.json_value(path)
    if not safe_json.is_list(value) or not value:
        return False
    first = safe_json.opened(value[0])
    if safe_json.is_list(first) and first:
        return _is_reading(first) or _is_reading(first[0])
    return len(value) == 1 and safe_json.plain(value[0]) in (None, [])


def _parse_objects(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    value = safe_json.parse(data)
    if not (safe_json.is_list(value) or safe_json.is_object(value)):
        raise FormatError(safe_json.shown(value), "a list [...] of objects")
    for key, item in value.items() if safe_json.is_object(value) else enumerate(value):
        with faults.catching(image.place, key):
            image.add(_object(safe_json.record(item), (key,)))


def _object(record: Record, at: Steps) -> CollectedObject:
    keys = next((keys for keys in _KEYS if keys[0] in record), _KEYS[0])
    shape, text, score = keys
    coordinates = polygon(values.shape(safe_json.needed(record, shape), shape), False, (shape,))
    confidence = values.confidence(record[score], score) if score in record else None
    return CollectedObject(
        coordinates, values.text(record.get(text), text), confidence=confidence, at=at
    )


def _recognises_objects(path: Path) -> bool:
    value = document_files.json_value(path)
    items = (
        list(value.values())[:1]
        if safe_json.is_object(value)
        else value[:1]
        if safe_json.is_list(value)
        else []
    )
    first = safe_json.opened(items[0]) if items else None
    if not safe_json.is_object(first) or (
        safe_json.is_object(value) and not next(iter(value)).isdigit()
    ):
        return False
    return any(all(key in first for key in keys[:2]) for keys in _KEYS)


LISTS = Format(
    "easyocr",
    "EasyOCR, RapidOCR 1.x and PaddleOCR 2.x: JSON lists",
    _recognises_lists,
    document_files.index_each(
        "easyocr", ".json", _parse_lists, pages=Pages(values.count_of(_open), _open)
    ),
    recognised_by="a JSON list of lists [box, text, confidence]",
    layout='[[[[x, y], ...], "text", confidence], ...] or [[[[[x, y], ...], ["text", confidence]],'
    " ...]]",
    sample='[[[[10, 10], [60, 10], [60, 30], [10, 30]], "word", 0.9]]',
    ending=".json",
)
OBJECTS = Format(
    "rapidocr",
    "RapidOCR 2 and later, EasyOCR's dictionaries: JSON",
    _recognises_objects,
    document_files.index_each("rapidocr", ".json", _parse_objects),
    recognised_by="JSON objects with the keys box and txt (dt_boxes and rec_txt, boxes and text)",
    layout='[{"box": [[x, y], ...], "txt", "score"}] or {"0": {"dt_boxes", "rec_txt", "score"}}',
    sample='[{"box": [[10, 10], [60, 10], [60, 30], [10, 30]], "txt": "word", "score": 0.9}]',
    ending=".json",
)
