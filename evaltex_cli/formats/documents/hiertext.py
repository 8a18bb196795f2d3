"""HierText: ``{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices", "text"}]}]}]}]}``.

One JSON document, though it is named ``.jsonl``, bare or packed by gzip. Words, lines or paragraphs are the objects;
``legible`` false is don't care. A word's region is its line. The data set's own evaluation takes a line for the union
of its words; here it is the polygon under its own ``vertices``, which results must have too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, polygon

Level = Literal["word", "line", "paragraph"]
_BELOW = {"word": ("paragraphs", "lines", "words"), "line": ("paragraphs", "lines"), "paragraph": ("paragraphs",)}
_IMAGE_ENDINGS = (".jpg", ".jpeg", ".png")


def _collect(
    level: Level, document: Any, place: str, side: Side, faults: FaultLog
) -> tuple[list[CollectedImage], tuple[str, ...]]:
    images = []
    for i, value in enumerate(safe_json.items(safe_json.record(document), "annotations")):
        try:
            record = safe_json.record(value)
            images.append(_image(record, place, i))
        except FormatError as error:
            error.log(faults, place, "annotations", i)
            continue
        _add_objects(images[-1], record, level, side, faults, place, i)
    return images, ()


def _image(record: safe_json.Record, place: str, i: int) -> CollectedImage:
    name = safe_json.identifier(record, "image_id")
    ending = next((ending for ending in _IMAGE_ENDINGS if name.lower().endswith(ending)), "")
    height, width = safe_json.number(record, "image_height", 0.0), safe_json.number(record, "image_width", 0.0)
    return CollectedImage(name[: len(name) - len(ending)], place, ("annotations", i), height, width)


def _add_objects(
    image: CollectedImage, record: safe_json.Record, level: Level, side: Side, faults: FaultLog, place: str, i: int
) -> None:
    lines: dict[Steps, int] = {}
    for where, value in _below(record, _BELOW[level], ("annotations", i), place, faults):
        try:
            found = _object(safe_json.record(value), side)
        except FormatError as error:
            error.log(faults, place, *where)
            continue
        found.at = where
        if level == "word" and side == "gt":
            found.region = lines.setdefault(where[:-2], len(lines) + 1)
        image.objects.append(found)


def _below(
    value: Any, keys: tuple[str, ...], where: Steps, place: str, faults: FaultLog
) -> Iterator[tuple[Steps, Any]]:
    """Yield what stands in the innermost of these nested lists, and the way there."""
    try:
        listed = safe_json.items(safe_json.record(value), keys[0])
    except FormatError as error:
        error.log(faults, place, *where)
        return
    for k, item in enumerate(listed):
        here = (*where, keys[0], k)
        if len(keys) == 1:
            yield here, item
        else:
            yield from _below(item, keys[1:], here, place, faults)


def _object(record: safe_json.Record, side: Side) -> CollectedObject:
    dont_care = side == "gt" and not safe_json.flag(record, "legible", True)
    vertices = safe_json.vertices(record, "vertices")
    with safe_json.under("vertices"):
        coordinates = polygon(vertices, dont_care)
    confidence = safe_json.confidence(record, "confidence", "score")
    return CollectedObject(coordinates, safe_json.text(record, "text"), dont_care, confidence=confidence)


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object with ``annotations``, without ``images``, of images with ``paragraphs``."""
    value = document_files.json_value(path)
    listed = value.get("annotations") if isinstance(value, dict) and "images" not in value else None
    if not isinstance(listed, list):
        return False
    return not listed or (isinstance(listed[0], dict) and "paragraphs" in listed[0])


_OUTLINE = '"vertices": [[10, 10], [60, 10], [60, 30], [10, 30]], "legible": true'


def _format(name: str, level: Level) -> Format:
    index = partial(document_files.index_json, name, partial(_collect, level))
    return Format(
        name,
        f"HierText, {level}s",
        recognises if level == "word" else (lambda _: False),
        index,
        recognised_by="annotations with paragraphs, without the key images" if level == "word" else "",
        layout='{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices", "text",'
        ' "legible"}]}]}]}]}',
        sample=f'{{"annotations": [{{"image_id": "img_1", "paragraphs": [{{{_OUTLINE}, "lines": [{{{_OUTLINE},'
        f' "text": "word", "words": [{{{_OUTLINE}, "text": "word"}}]}}]}}]}}]}}',
        ending=".json",
    )


WORDS = _format("hiertext", "word")
LINES = _format("hiertext-line", "line")
PARAGRAPHS = _format("hiertext-para", "paragraph")
