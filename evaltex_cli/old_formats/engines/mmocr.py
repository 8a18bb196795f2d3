"""MMOCR 1.x: annotations, and results of its inferencers (one file per image).

``{"metainfo", "data_list": [{"img_path", "height", "width", "instances": [{"polygon" or "bbox",
"text", "ignore"}]}]}``; ``bbox`` has two corners. ``ignore`` and ``iscrowd`` are don't care.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number, Record
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


class _Instance(msgspec.Struct, gc=False):
    polygon: list[Any] | None = None
    segmentation: list[Any] | None = None
    box: list[Any] | None = None
    bbox: list[Any] | None = None
    text: str | None = None
    ignore: Any = None
    iscrowd: Any = None
    score: Confidence = None


class _Columns(NamedTuple):
    """The keys of a result's shapes, confidences and transcriptions, which
    are lists of equal length.
    """

    shapes: str
    scores: str
    texts: str


_RESULTS = (
    _Columns("det_polygons", "det_scores", "rec_texts"),
    _Columns("polygons", "scores", "texts"),
    _Columns("bboxes", "scores", "texts"),
)


def _size(image: CollectedImage, record: Record) -> None:
    image.height = safe_json.field(record, "height", Number | None, 0.0)
    image.width = safe_json.field(record, "width", Number | None, 0.0)


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    images, place = Images(), document.place
    for i, item in enumerate(safe_json.items(safe_json.record(document.value), "data_list")):
        where = ("data_list", i)
        try:
            record = safe_json.record(item)
            image = CollectedImage(
                safe_json.take(safe_json.needed(record, "img_path"), str, "img_path"), place, where
            )
            _size(image, record)
        except FormatError as error:
            error.log(faults, place, *where)
            continue
        instances: Sequence[Item] = []
        with faults.catching(place, *where):
            instances = safe_json.items(record, "instances")
        for k, instance in enumerate(instances):
            at = (*where, "instances", k)
            with faults.catching(place, *at):
                image.add(_object(instance, side, at))
        images.append(image)
    images.rename(names_of_pictures(images.names))
    return images, ()


def _object(item: Item, side: Side, at: int | Steps) -> CollectedObject:
    instance = safe_json.take(item, _Instance)
    text = instance.text or ""
    flagged = safe_json.flag(instance.ignore, "ignore") or safe_json.flag(
        instance.iscrowd, "iscrowd"
    )
    dont_care = side == "gt" and (flagged or text == DONT_CARE)
    return CollectedObject(
        _coordinates(instance), text, dont_care, confidence=instance.score, at=at
    )


def _coordinates(instance: _Instance) -> list[float]:
    for key in ("polygon", "segmentation", "box"):
        points = getattr(instance, key)
        if points:
            return values.polygon_or_box(points, key)
    if instance.bbox is None:
        raise FormatError(
            "no polygon and no bbox", "one of them: this may be an annotation of recognition only"
        )
    numbers = values.shape(instance.bbox, "bbox")
    if len(numbers) != 4:
        return values.polygon_or_box(instance.bbox, "bbox")
    return values.polygon_or_box(numbers, "bbox")


def _parse_result(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    record = safe_json.record(safe_json.parse(data))
    keys = _columns(record)
    if keys is None:
        raise safe_json.no_key(record, _RESULTS[0].shapes)
    shapes = safe_json.items(record, keys.shapes)
    scores, texts = (values.column(record, key, len(shapes)) for key in (keys.scores, keys.texts))
    for k, (item, score, text) in enumerate(zip(shapes, scores, texts, strict=True)):
        with faults.catching(image.place):
            coordinates = values.polygon_or_box(item, keys.shapes, k)
            confidence = values.confidence(score, keys.scores, k)
            read = values.text(text, keys.texts, k)
            image.add(
                CollectedObject(coordinates, read, confidence=confidence, at=(keys.shapes, k))
            )


def _columns(record: Any) -> _Columns | None:
    return next((keys for keys in _RESULTS if keys.shapes in record), None)


def _recognises_result(path: Path) -> bool:
    value = document_files.json_value(path)
    if not safe_json.is_object(value):
        return False
    keys = _columns(value)
    return keys is not None and keys.scores in value


ANNOTATION = Format(
    "mmocr",
    "MMOCR 1.x: annotations for detection and spotting",
    lambda path: safe_json.has_key(document_files.json_value(path), "data_list"),
    document_files.index_json("mmocr", _collect),
    recognised_by="a JSON object with the key data_list",
    layout='{"data_list": [{"img_path", "height", "width", "instances": [{"polygon", "bbox",'
    ' "text", "ignore"}]}]}',
    sample='{"metainfo": {"task_name": "textspotting"}, "data_list": [{"img_path": "img_1.jpg",'
    ' "height": 480, "width": 640, "instances": [{"polygon": [10, 10, 60, 10, 60, 30, 10, 30],'
    ' "bbox": [10, 10, 60, 30], "text": "word", "ignore": false}]}]}',
    ending=".json",
)
RESULT = Format(
    "mmocr-result",
    "MMOCR 1.x: results of the inferencers, one file per image",
    _recognises_result,
    document_files.index_each("mmocr-result", ".json", _parse_result),
    recognised_by="a JSON object with det_polygons and det_scores, or polygons and scores",
    layout='{"det_polygons": [[x1, y1, ...]], "det_scores": [...], "rec_texts": [...],'
    ' "rec_scores": [...]}',
    sample='{"rec_texts": ["word"], "rec_scores": [0.9], "det_polygons": [[10, 10, 60, 10, 60, 30,'
    " 10, 30]],"
    ' "det_scores": [0.9]}',
    ending=".json",
)
