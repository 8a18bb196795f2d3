"""JSON: COCO, labelme, PaddleOCR, MMOCR, HierText and Label Studio."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np

from evaltex_cli.conversion.writer import (
    Job,
    bounds,
    class_numbers,
    corners,
    flat,
    lines,
    picture_file,
    with_extents,
)
from evaltex_cli.formats.base import DONT_CARE, Image, TextObject
from evaltex_cli.geometry import shapes
from evaltex_cli.records import Convention
from evaltex_cli.runtime.marks import DATA_MARK

Record: TypeAlias = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1).encode


def _plain(value: float) -> float | int:
    """Return a number as JSON has it: a whole one without a point."""
    return int(value) if value == int(value) else value


def _vertices(points: Sequence[float]) -> list[list[float | int]]:
    """Return the vertices [x, y] of an object, a box by its corners."""
    return [[_plain(x), _plain(y)] for x, y in corners(points)]


def _with_score(word: TextObject, record: Record, key: str = "score") -> Record:
    """Return the record of an object with its confidence, if it has one."""
    return record if word.confidence is None else record | {key: word.confidence}


def _list(records: Sequence[str]) -> str:
    """Return a JSON list of records in JSON, one in each line."""
    items = ",\n".join(records)
    return f"[\n{items}\n]" if items else "[]"


def _object(**members: str) -> str:
    """Return a JSON object with the mark of converted data; its members are JSON."""
    listed = [f'"{key}": {value}' for key, value in members.items()]
    return ",\n".join(["{" + _encode(DATA_MARK)[1:-1], *listed]) + "}\n"


EMPTY_LOST = "{count} image[s] without objects left out: COCO results hold none"
NAMES_AS_IDS = (
    "{count} image[s] [has|have] [its|their] name as image_id: convert the ground truth too, so"
    " that it has the same IDs"
)
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,17})")


def coco(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield annotations of ground truth, a results list of detections.

    An image's ``id`` is that of the source, or else its name (a number where all are), as results
    pair with annotations by ``image_id``. A box is a ``bbox`` with an empty ``segmentation``; a
    polygon is both. Don't care is ``iscrowd`` and ``ignore``; the transcription is ``utf8_string``,
    as in COCO-Text.
    """
    ids, is_gt = job.source.ids or job.source.names, job.side == "gt"
    keys: Sequence[Any] = list(map(int, ids)) if all(map(_NUMBER.fullmatch, ids)) else ids
    categories = class_numbers(job, 1, has_names=is_gt)
    areas = shapes.from_objects(job.objects, Convention()).area().tolist()
    about: list[str] = []
    objects: list[str] = []
    for key, image in zip(keys, images, strict=True):
        size = {"height": _plain(image.height), "width": _plain(image.width)}
        about.append(_encode({"id": key, "file_name": image.name, **size}))
        for word in image.objects:
            box = list(map(_plain, with_extents(bounds([word]))))
            outline = [list(map(_plain, word.points))] if len(word.points) > 4 else []
            record = {"image_id": key, "category_id": categories[word.label]}
            record |= {"bbox": box, "segmentation": outline}
            if is_gt:
                area = areas[len(objects)] if outline else box[2] * box[3]
                flag = int(word.dont_care)
                record = {"id": len(objects) + 1, **record, "area": _plain(area)}
                record |= {"iscrowd": flag, "ignore": flag, "utf8_string": word.text}
            else:
                text = {"utf8_string": word.text} if word.text else {}
                record = _with_score(word, record) | text
            objects.append(_encode(record))
    if is_gt:
        named = [{"id": k, "name": name or "text"} for name, k in categories.items()]
        yield _object(annotations=_list(objects), images=_list(about), categories=_encode(named))
        return
    job.lost[NAMES_AS_IDS] += 0 if job.source.ids else len(ids)
    job.lost[EMPTY_LOST] += int((np.diff(job.objects.offsets) == 0).sum())
    yield f"{_list(objects)}\n"


def labelme(_: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image. A box is a rectangle; don't care is ``difficult``."""
    for image in images:
        document: Record = {
            **DATA_MARK,
            "version": "5.4.1",
            "flags": {},
            "shapes": list(map(_labelme_shape, image.objects)),
            "imagePath": picture_file(image),
            "imageData": None,
            "imageHeight": _plain(image.height),
            "imageWidth": _plain(image.width),
        }
        yield _encode_indented(document) + "\n"


def _labelme_shape(word: TextObject) -> Record:
    is_box, points = len(word.points) == 4, _vertices(word.points)
    record = {
        "label": word.text,
        "points": points[::2] if is_box else points,
        "group_id": None,
        "description": word.text,
        "shape_type": "rectangle" if is_box else "polygon",
        "flags": {"difficult": True} if word.dont_care else {},
    }
    return _with_score(word, record)


def paddleocr(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield ``image TAB JSON``, one image in each line; ``difficult`` is don't care."""
    for image in images:
        records = []
        for word in image.objects:
            record: Record = {"transcription": word.text, "points": _vertices(word.points)}
            record |= {"difficult": word.dont_care} if job.side == "gt" else {}
            records.append(_with_score(word, record))
        yield f"{picture_file(image)}\t{_encode(records)}\n"


_MMOCR_ABOUT = {
    "dataset_type": "TextSpottingDataset",
    "task_name": "textspotting",
    "category": [{"id": 0, "name": "text"}],
}


def mmocr(_: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield MMOCR 1.x; ``ignore`` is don't care."""
    records = []
    for image in images:
        size = {"height": _plain(image.height), "width": _plain(image.width)}
        instances = list(map(_mmocr_instance, image.objects))
        record = {"img_path": picture_file(image), **size, "instances": instances}
        records.append(_encode(record))
    yield _object(metainfo=_encode(_MMOCR_ABOUT), data_list=_list(records))


def _mmocr_instance(word: TextObject) -> Record:
    record = {
        "polygon": list(map(_plain, flat(word.points))),
        "bbox": list(map(_plain, bounds([word]))),
        "bbox_label": 0,
        "text": word.text,
        "ignore": word.dont_care,
    }
    return _with_score(word, record)


def hiertext(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Regions are lines, of one paragraph; don't care is not legible."""
    records = []
    for image in images:
        written = [_hiertext_line(line) for line in lines(job, image)]
        paragraphs = [_around(image.objects, lines=written)] if written else []
        size = {"image_width": _plain(image.width), "image_height": _plain(image.height)}
        records.append(_encode({"image_id": image.name, **size, "paragraphs": paragraphs}))
    yield _object(annotations=_list(records))


def _hiertext_line(line: Sequence[TextObject]) -> Record:
    words = []
    for word in line:
        record = {"vertices": _vertices(word.points), "text": word.text}
        words.append(_with_score(word, record | {"legible": not word.dont_care}, "confidence"))
    return _around(line, words=words, text=" ".join(word.text for word in line))


def _around(objects: Sequence[TextObject], **more: Any) -> Record:
    """A line or a paragraph: the bounding box of its words, legible if any of them is."""
    legible = not all(word.dont_care for word in objects)
    return {"vertices": _vertices(bounds(objects)), "legible": legible, **more}


CLASSES_LOST = "{count} don't-care object[s] lost [its|their] class: the label ### replaces it"


def label_studio(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield tasks, with annotations of ground truth and predictions of detections. Coordinates are
    percent of the picture. The label ``###`` is don't care.
    """
    set_name = {"gt": "annotations", "det": "predictions"}[job.side]
    tasks = []
    for k, image in enumerate(images, 1):
        task = {"id": k, "data": {"image": quote(picture_file(image), "/ ")}}
        task[set_name] = [{"result": list(_label_studio_results(job, image))}]
        tasks.append(_encode(task))
    yield f"{_list(tasks)}\n"


def _label_studio_results(job: Job, image: Image) -> Iterator[Record]:
    """Yield the shape of each object with its label, and its transcription."""
    across, down = 100 / image.width, 100 / image.height
    size = {"original_width": _plain(image.width), "original_height": _plain(image.height)}
    for i, word in enumerate(image.objects, 1):
        common: Record = {"id": str(i), "to_name": "image", **size, "image_rotation": 0}
        common = _with_score(word, common)
        place: Record
        if len(word.points) == 4:
            x0, y0, x1, y1 = word.points
            kind, place = "rectanglelabels", {"x": x0 * across, "y": y0 * down}
            place |= {"width": (x1 - x0) * across, "height": (y1 - y0) * down, "rotation": 0}
        else:
            kind = "polygonlabels"
            place = {"points": [[x * across, y * down] for x, y in corners(word.points)]}
        job.lost[CLASSES_LOST] += word.dont_care and word.label not in ("", DONT_CARE)
        label = {kind: [DONT_CARE if word.dont_care else word.label or "Text"]}
        yield {**common, "type": kind, "from_name": "label", "value": place | label}
        if word.text:
            text = {"type": "textarea", "from_name": "transcription"}
            yield {**common, **text, "value": place | {"text": [word.text]}}
