"""The JSON of ArT and LSVT (ICDAR 2019): ``{"gt_1": [{"points": [[x, y], ...], "transcription":
...}, ...], ...}``.

Keys name the images, ``gt_`` or ``res_`` before the name; the same name pairs both sides, and with
``res_1.txt``. Don't care in ground truth: ``illegibility`` true, or the transcription ``###``.
Results have ``confidence``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.formats.base import DONT_CARE, Format, Side
from evaltex_cli.formats.collected import Images
from evaltex_cli.formats.coordinates import polygon
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.document_files import Collected, Document
from evaltex_cli.formats.documents.safe_json import AnyConfidence, Vertices
from evaltex_cli.formats.files.image_names import without_prefix
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject


class _Word(msgspec.Struct, gc=False):
    points: Vertices
    transcription: str | None = None
    illegibility: Any = None
    confidence: AnyConfidence = None


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    images, place = Images(), document.place
    for key, item in safe_json.record(document.value).items():
        image = CollectedImage(without_prefix(key), place, (key,))
        try:
            words = safe_json.bounded(item)
            if not isinstance(words, list):
                raise FormatError(safe_json.shown(words), "a list [...] of words")
        except FormatError as error:
            error.log(faults, place, key)
            words = []
        for k, word in enumerate(words):
            try:
                image.add(_object(safe_json.take(word, _Word), side, (key, k)))
            except FormatError as error:
                error.log(faults, place, key, k)
        images.append(image)
    return images, ()


def _object(word: _Word, side: Side, at: Steps) -> CollectedObject:
    text = word.transcription or ""
    dont_care = side == "gt" and (
        safe_json.flag(word.illegibility, "illegibility") or text == DONT_CARE
    )
    coordinates = polygon(safe_json.flat(word.points), dont_care, ("points",))
    return CollectedObject(coordinates, text, dont_care, confidence=word.confidence, at=at)


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object whose values are lists of words; an
    empty one is taken for this format.
    """
    value = document_files.json_value(path)
    if not isinstance(value, dict) or any(
        key in value for key in ("annotations", "images", "shapes")
    ):
        return False
    if not value:
        return path.is_file()
    if not isinstance(safe_json.opened(next(iter(value.values()))), list):
        return False
    if all(key.startswith(("gt_", "res_")) for key in value):
        return True
    lists = (safe_json.opened(words) for words in value.values())
    word = next((words[0] for words in lists if isinstance(words, list) and words), None)
    return (
        word is None
        or safe_json.has_key(word, "points")
        or safe_json.has_key(word, "transcription")
    )


FORMAT = Format(
    "art",
    "ArT and LSVT: JSON of polygons, ground truth and results",
    recognises,
    document_files.index_json("art", _collect),
    recognised_by="a JSON object whose values are lists of words, with points or transcription",
    layout='{"gt_1": [{"points": [[x, y], ...], "transcription": "...", "illegibility": false}]}',
    sample='{"gt_1": [{"points": [[10, 10], [60, 10], [60, 30], [10, 30]], "transcription": "word",'
    ' "illegibility":'
    " false}]}",
    ending=".json",
)
