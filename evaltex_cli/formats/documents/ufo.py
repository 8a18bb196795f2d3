"""UFO, the Upstage format for OCR: ``{"images": {file: {"words": {id: {"points",
"transcription"}}}}}``.

Images are named after their files; ``img_w`` and ``img_h`` are their size. Don't care in ground
truth: ``illegibility`` true, or the transcription ``###``. Objects without ``points`` (null or
empty) have been annotated without a place and are left out, with a warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, counted
from evaltex_cli.formats.base import DONT_CARE, Format, Side
from evaltex_cli.formats.collected import Images
from evaltex_cli.formats.coordinates import polygon
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.document_files import Collected, Document
from evaltex_cli.formats.documents.safe_json import AnyConfidence, Number, Record, Vertices
from evaltex_cli.formats.files.image_names import names_of_pictures
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject


class _Word(msgspec.Struct, gc=False):
    points: Vertices | None = None
    transcription: str | None = None
    illegibility: Any = None
    confidence: AnyConfidence = None


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    images, placeless, place = Images(), 0, document.place
    for name, item in safe_json.records(safe_json.record(document.value), "images").items():
        image = CollectedImage(name, place, ("images", name), take=images.take)
        try:
            record = safe_json.record(item)
            image.width = safe_json.field(record, "img_w", Number | None, 0.0)
            image.height = safe_json.field(record, "img_h", Number | None, 0.0)
            words = safe_json.records(record, "words")
        except FormatError as error:
            error.log(faults, place, "images", name)
            words = {}
        placeless += _add_words(image, words, side, faults)
        images.append(image)
    images.rename(names_of_pictures(images.names))
    sentence = "{count} word[s] without points [was|were] left out"
    return images, (f"{place}: {counted(placeless, sentence)}",) if placeless else ()


def _add_words(image: CollectedImage, words: Record, side: Side, faults: FaultLog) -> int:
    """Add the words of an image, and return how many have no place."""
    placeless = 0
    for key, item in words.items():
        at = ("images", image.name, "words", key)
        with faults.catching(image.place, *at):
            word: _Word = safe_json.take(item, _Word)
            if word.points:
                image.add(_object(word, side, at))
            else:
                placeless += 1
    return placeless


def _object(word: _Word, side: Side, at: tuple[str, ...]) -> CollectedObject:
    text = word.transcription or ""
    dont_care = side == "gt" and (
        safe_json.flag(word.illegibility, "illegibility") or text == DONT_CARE
    )
    coordinates = polygon(safe_json.flat(word.points or []), dont_care, ("points",))
    return CollectedObject(coordinates, text, dont_care, confidence=word.confidence, at=at)


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object whose ``images`` are an object, not
    a list, with ``words``.
    """
    value = document_files.json_value(path)
    images = safe_json.opened(value.get("images")) if safe_json.is_object(value) else None
    return safe_json.is_object(images) and safe_json.has_key(
        next(iter(images.values()), None), "words"
    )


FORMAT = Format(
    "ufo",
    "UFO, the Upstage format for OCR",
    recognises,
    document_files.index_json("ufo", _collect),
    recognised_by="a JSON object whose images are an object, with words",
    layout='{"images": {file: {"img_w", "img_h", "words": {id: {"points": [[x, y], ...],'
    ' "transcription", "illegibility"}}}}}',
    sample='{"images": {"img_1.jpg": {"img_w": 640, "img_h": 480, "words": {"0001":'
    ' {"transcription": "word", "points":'
    ' [[10, 10], [60, 10], [60, 30], [10, 30]], "illegibility": false}}}}}',
    ending=".json",
)
