"""ReCTS (ICDAR 2019): one JSON an image, ``{"chars": [{"points", "transcription", "ignore"}],
"lines": [...]}``.

Lines or characters are the objects. ``points`` are x1, y1, ..., x4, y4. Don't care: ``ignore`` 1,
or the transcription ``###``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import DONT_CARE, Format, Indexer, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.each_file import read_as
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


class _Text(msgspec.Struct, gc=False):
    points: list[Number]
    transcription: str | None = None
    ignore: Any = None
    confidence: Confidence = None


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    for k, item in enumerate(
        safe_json.items(safe_json.record(safe_json.parse(data)), image.variant)
    ):
        with faults.catching(image.place, image.variant, k):
            collected = _object(item, side)
            collected.at = (image.variant, k)
            image.add(collected)


def _object(item: Item, side: Side) -> CollectedObject:
    found: _Text = safe_json.take(item, _Text)
    text = found.transcription or ""
    dont_care = side == "gt" and (safe_json.flag(found.ignore, "ignore") or text == DONT_CARE)
    coordinates = polygon(found.points, dont_care, ("points",))
    return CollectedObject(coordinates, text, dont_care, confidence=found.confidence)


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object with ``chars`` and ``lines``."""
    value = document_files.json_value(path)
    return safe_json.is_object(value) and "chars" in value and "lines" in value


def _index(name: str, key: str) -> Indexer:
    return document_files.index_each(name, ".json", _parse, survey=read_as(key))


LINES = Format(
    "rects",
    "ReCTS: JSON, one per image; lines",
    recognises,
    _index("rects", "lines"),
    recognised_by="a JSON object with the keys chars and lines",
    layout='{"chars": [{"points": [x1, y1, ...], "transcription", "ignore"}], "lines": [...]}',
    sample='{"chars": [{"points": [10, 10, 60, 10, 60, 30, 10, 30], "transcription": "w", "ignore":'
    ' 0}], "lines":'
    ' [{"points": [10, 10, 60, 10, 60, 30, 10, 30], "transcription": "w", "ignore": 0}]}',
    ending=".json",
)
CHARACTERS = LINES.variant(
    "rects-chars", "ReCTS: JSON, one per image; characters", _index("rects-chars", "chars")
)
