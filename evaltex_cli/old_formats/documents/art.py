"""The JSON of ArT and LSVT (ICDAR 2019): ``{"gt_1": [{"points": [[x, y], ...], "transcription":
...}, ...], ...}``.

Keys name the images, ``gt_`` or ``res_`` before the name; the same name pairs both sides, and with
``res_1.txt``. Don't care in ground truth: ``illegibility`` true, or the transcription ``###``.
Results have ``confidence``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, json_windows, safe_json
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.gathered import Columns, Log, add_all, plain_vertices
from evaltex_cli.old_formats.documents.safe_json import AnyConfidence, Item, Vertices
from evaltex_cli.old_formats.files.image_names import without_prefix
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


class _Word(msgspec.Struct, gc=False):
    points: Vertices
    transcription: str | None = None
    illegibility: Any = None
    confidence: AnyConfidence = None


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    record, images, log = safe_json.record(document.value), Images(), Log(document.place, faults)
    for names, some, decoded in json_windows.keyed_windows(record, list[_Word]):
        columns = _columns([*chain.from_iterable(decoded)], side) if decoded else None
        if decoded and columns:
            counts = [*map(len, decoded)]
            owners = len(images) + np.repeat(np.arange(len(counts)), counts)
            for key in names:
                images.append(CollectedImage(without_prefix(key), log.place, (key,)))
            add_all(images, owners, columns, [f",{k}]" for n in counts for k in range(n)])
            continue
        for key, item in zip(names, some, strict=True):
            images.append(_image(key, item, side, log))
    return images, ()


def _image(key: str, item: Item, side: Side, log: Log) -> CollectedImage:
    """Return an image with its words, taken one by one."""
    image = CollectedImage(without_prefix(key), log.place, (key,))
    try:
        words = safe_json.opened(item)
        if not safe_json.is_list(words):
            raise FormatError(safe_json.shown(words), "a list [...] of words")
    except FormatError as error:
        error.log(log.faults, log.place, key)
        words = []
    for k, word in enumerate(words):
        with log.faults.catching(log.place, key, k):
            image.add(_object(safe_json.take(word, _Word), side, (key, k)))
    return image


def _columns(words: Sequence[_Word], side: Side) -> Columns | None:
    """Return words as columns; None if they have to be taken one by one."""
    flags = [one.illegibility for one in words]
    coordinates = plain_vertices(one.points for one in words)
    if coordinates is None or (side == "gt" and not safe_json.are_flags(flags)):
        return None
    texts = [one.transcription or "" for one in words]
    dont_care = [
        side == "gt" and (bool(flag) or text == DONT_CARE)
        for flag, text in zip(flags, texts, strict=True)
    ]
    return Columns(coordinates, texts, dont_care, [one.confidence for one in words])


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
    if not safe_json.is_object(value) or any(
        key in value for key in ("annotations", "images", "shapes")
    ):
        return False
    if not value:
        return path.is_file()
    if not safe_json.is_list(safe_json.opened(next(iter(value.values())))):
        return False
    if all(key.startswith(("gt_", "res_")) for key in value):
        return True
    lists = (safe_json.opened(words) for words in value.values())
    word = next((words[0] for words in lists if safe_json.is_list(words) and words), None)
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
