"""PaddleOCR: lines of an image and its objects, ``image TAB JSON``, and the JSON of version 3, one
file per image.

Lines are ground truth (``Label.txt`` of PPOCRLabel, label files of data sets) or results
(``det_results.txt``, ``system_results.txt``, ``predicts_db.txt``). An object is ``{"transcription",
"points", "difficult"}``, or its points alone. Don't care in ground truth: ``difficult`` or
``illegibility`` true, or the transcription ``###`` or ``*``, as PaddleOCR trains. Version 3 writes
``dt_polys``, and after recognition ``rec_polys``, ``rec_texts`` and ``rec_scores``.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps, counted, quote
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side, Source
from evaltex_cli.old_formats.collected import Images, source
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, recognition, safe_json
from evaltex_cli.old_formats.documents.recognition import BOM
from evaltex_cli.old_formats.documents.safe_json import Item, Record
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.fingerprint import Fingerprint
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.files.row_files import FEW_FILES
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_ENDINGS = (".txt", ".jsonl")
_NOT_READ = (DONT_CARE, "*")
_BEGINNING = re.compile(rb"\s*[^\t\n]+\t(?:\[\s*(?:[\[{\]]|$)|\{\s*\")")
_SCORES = ("score", "confidence", "rec_score", "recscore")
_RESULTS = ("dt_polys", "rec_polys")
_NESTED = ("res", "overall_ocr_res")
"""Keys under which versions 3.x and pipelines of documents have the result."""


class _Word(msgspec.Struct, gc=False):
    points: list[Any]
    transcription: str | None = None
    difficult: Any = None
    illegibility: Any = None
    score: Any = None
    confidence: Any = None
    rec_score: Any = None
    recscore: Any = None


# Lines --------------------------------------------------------------------------------------------


def _begins(data: bytes) -> bool:
    return _BEGINNING.match(data.removeprefix(BOM)[: 1 << 14]) is not None


def _ending(path: Path) -> str | None:
    """Return the ending of lines of a folder or archive; None where it has no such file."""
    return next((ending for ending in _ENDINGS if recognition.endings(path)[ending]), None)


def _recognises(path: Path) -> bool:
    """Whether a file is of such lines, or one of those of a folder or archive of few text files."""
    if not archive.is_archive(path):
        return _begins(recognition.head(path))
    ending = _ending(path)
    if ending is None or recognition.endings(path)[ending] > FEW_FILES:
        return False
    entries = archive.open_entries(path, ending)
    return any(map(_begins, entries.read_many(entries.entries)))


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    """Index one file, or those of a folder or archive; those that do not begin as the format does
    are left out with a warning.
    """
    texts, sha256, warnings = _texts(path)
    images = Images(image for place, data in texts for image in _images(data, place, side, faults))
    if side == "gt" and not images and not faults.count:
        faults.add(str(path), None, "no image", "at least one in ground truth")
    images.rename(names_of_pictures(images.names))
    images.refuse_bad_names(faults)
    return source(str(path), "paddleocr", sha256, images, warnings)


def _texts(path: Path) -> tuple[list[tuple[str, bytes]], str, tuple[str, ...]]:
    """Return the places and contents of an input's files, its SHA-256, and warnings."""
    if not archive.is_archive(path):
        packed = document_files.read_file(path)
        texts = [(str(path), document_files.unpacked(path, packed))]
        return texts, hashlib.sha256(packed).hexdigest(), ()
    ending = _ending(path) or _ENDINGS[0]
    entries = archive.open_entries(path, ending)
    fingerprint = Fingerprint(entries)
    texts, others = [], 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        if _begins(data):
            texts.append((entries.place(entry), data))
        else:
            others += 1
    left_out = counted(
        others, f"{path}: {{count}} {ending} file[s] of another format [was|were] left out"
    )
    return texts, fingerprint.hexdigest(), (*entries.warnings, *([left_out] if others else []))


def _images(data: bytes, place: str, side: Side, faults: FaultLog) -> Iterator[CollectedImage]:
    for number, line in enumerate(io.BytesIO(data.removeprefix(BOM)), 1):
        if not line.strip():
            continue
        image = CollectedImage("", place, number)
        try:
            items, where = _open_line(line.rstrip(), image)
        except FormatError as error:
            faults.add(place, number, error.found, error.expected, error.where)
            continue
        for k, item in enumerate(items):
            try:
                image.add(_object(item, side, number))
            except FormatError as error:
                at = (*where, k, *error.where)
                faults.add(place, number, error.found, error.expected, at)
        yield image


def _open_line(line: bytes, image: CollectedImage) -> tuple[Sequence[Item], Steps]:
    name, tab, document = line.partition(b"\t")
    try:
        image.name = name.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            "a name that is not UTF-8", "text in UTF-8 (save the file in that encoding)"
        ) from error
    if not tab:
        raise FormatError(
            f"{quote(image.name)} without a tab", "image, tab, and a JSON list of its objects"
        )
    value = safe_json.opened(safe_json.parse(document))
    if safe_json.is_object(value):
        return safe_json.items(value, "ocr_info"), ("ocr_info",)
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list [...] of the image's objects")
    return value, ()


def _object(item: Item, side: Side, at: int) -> CollectedObject:
    if not safe_json.is_object(safe_json.opened(item)):
        return CollectedObject(polygon(values.shape(item), False), at=at)
    word = safe_json.take(item, _Word)
    text = word.transcription or ""
    flagged = safe_json.flag(word.difficult, "difficult") or safe_json.flag(
        word.illegibility, "illegibility"
    )
    dont_care = side == "gt" and (flagged or text in _NOT_READ)
    score = next((key for key in _SCORES if getattr(word, key) is not None), _SCORES[0])
    confidence = values.confidence(getattr(word, score), score)
    coordinates = polygon(values.shape(word.points, "points"), dont_care, ("points",))
    return CollectedObject(coordinates, text, dont_care, confidence=confidence, at=at)


# JSON of version 3 --------------------------------------------------------------------------------


def _parse_json(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    record, where = _result(safe_json.record(safe_json.parse(data)))
    with safe_json.under(*where):
        key = "rec_polys" if "rec_polys" in record else "dt_polys"
        shapes = safe_json.items(record, key)
        is_read = key == "rec_polys"
        texts = values.column(record, "rec_texts" if is_read else "dt_texts", len(shapes))
        scores = values.column(record, "rec_scores" if is_read else "dt_scores", len(shapes))
    for k, (item, text, score) in enumerate(zip(shapes, texts, scores, strict=True)):
        with faults.catching(image.place, *where):
            coordinates = polygon(values.shape(item, key, k), False, (key, k))
            confidence = values.confidence(score, key.replace("polys", "scores"), k)
            at: Steps = (*where, key, k)
            image.add(
                CollectedObject(
                    coordinates, values.text(text, "rec_texts", k), confidence=confidence, at=at
                )
            )


def _result(record: Record) -> tuple[Record, tuple[str, ...]]:
    """Return the object that has the polygons, and the keys that lead to it."""
    where: tuple[str, ...] = ()
    while not any(key in record for key in _RESULTS):
        inner = next((key for key in _NESTED if key in record), None)
        if inner is None:
            raise safe_json.no_key(record, _RESULTS[0])
        record, where = safe_json.records(record, inner), (*where, inner)
    return record, where


def _recognises_json(path: Path) -> bool:
    value = document_files.json_value(path)
    for _ in _NESTED:
        if not safe_json.is_object(value) or any(key in value for key in _RESULTS):
            break
        value = safe_json.opened(next((value[key] for key in _NESTED if key in value), None))
    return safe_json.is_object(value) and any(key in value for key in _RESULTS)


LINES = Format(
    "paddleocr",
    "PaddleOCR: Label.txt, det_results.txt, system_results.txt",
    _recognises,
    _index,
    recognised_by="lines of an image, a tab and a JSON list",
    layout='img_1.jpg TAB [{"transcription", "points": [[x, y], ...], "difficult"}] or [[[x, y],'
    " ...], ...]",
    sample='img_1.jpg\t[{"transcription": "word", "points": [[10, 10], [60, 10], [60, 30], [10,'
    ' 30]], "difficult":'
    " false}]\n",
    ending=".txt",
)
JSON = Format(
    "paddleocr-json",
    "PaddleOCR 3: save_to_json, one file per image",
    _recognises_json,
    document_files.index_each("paddleocr-json", ".json", _parse_json),
    recognised_by="a JSON object with the key dt_polys or rec_polys",
    layout='{"dt_polys": [[[x, y], ...]], "rec_polys": [[[x, y], ...]], "rec_texts": [...],'
    ' "rec_scores": [...]}',
    sample='{"input_path": "img_1.jpg", "rec_polys": [[[10, 10], [60, 10], [60, 30], [10, 30]]],'
    ' "rec_texts": ["word"], "rec_scores": [0.9]}',
    ending=".json",
)
