"""JSON: COCO, labelme, PaddleOCR, MMOCR, HierText and Label Studio."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np

from evaltex_cli.conversion.writer import (
    Job,
    bounds,
    class_numbers,
    corners,
    extent,
    lines,
    picture_file,
)
from evaltex_cli.formats.base import DONT_CARE, Image, TextObject
from evaltex_cli.geometry import shapes
from evaltex_cli.marks import DATA_MARK
from evaltex_cli.records import Convention

Record: TypeAlias = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1).encode


def plain(value: float) -> float | int:
    """Return a number as JSON has it: a whole one without a point."""
    return int(value) if value == int(value) else value


def vertices(points: Sequence[float]) -> list[list[float | int]]:
    """Return the vertices [x, y] of an object, a box by its corners."""
    return [[plain(x), plain(y)] for x, y in corners(points)]


def flat(points: Sequence[float]) -> list[float | int]:
    """Return x1, y1, x2, y2, ... of an object, a box by its corners."""
    return [value for corner in vertices(points) for value in corner]


def with_score(word: TextObject, record: Record, key: str = "score") -> Record:
    """Return the record of an object with its confidence, if it has one."""
    return record if word.confidence is None else record | {key: word.confidence}


def list_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a JSON list, one item in each line."""
    items = ",\n".join(map(_encode, records))
    return f"[\n{items}\n]" if items else "[]"


def _object(**members: str | Iterable[Record]) -> Iterator[str]:
    """Yield a JSON object with the mark of converted data; its members are JSON, or records of a
    list.
    """
    yield "{" + _encode(DATA_MARK)[1:-1]
    for key, value in members.items():
        yield f',\n"{key}": {value if isinstance(value, str) else list_text(value)}'
    yield "}\n"


# COCO ---------------------------------------------------------------------------------------------

NUMBERED_THROUGH = (
    "{count} object[s] [is|are] numbered again: COCO JSON numbers [it|them] through all images"
)
EMPTY_LOST = "{count} image[s] without objects left out: COCO results hold none"
NO_CONFIDENCE = "{count} object[s] without confidence got none; COCO's tools ask for one"
NAMES_LOST = "{count} file name[s] left out: COCO results hold only IDs"
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
    ids = job.source.ids or job.names
    keys: Sequence[Any] = list(map(int, ids)) if all(map(_NUMBER.fullmatch, ids)) else ids
    categories = class_numbers(job, 1, has_names=job.side == "gt")
    if job.side == "det":
        job.lost[NAMES_LOST] += sum(a != b for a, b in zip(ids, job.names, strict=True))
        job.lost[NAMES_AS_IDS] += 0 if job.source.ids else len(ids)
        job.lost[EMPTY_LOST] += int((np.diff(job.objects.offsets) == 0).sum())
        yield f"{list_text(_results(job, images, keys, categories))}\n"
        return
    job.lost[NUMBERED_THROUGH] += int((job.objects.ids != np.arange(job.objects.count) + 1).sum())
    about: list[Record] = []
    named = [{"id": k, "name": name or "text"} for name, k in categories.items()]
    annotations = _annotations(job, images, keys, categories, about)
    yield from _object(annotations=annotations, images=about, categories=_encode(named))


def _annotations(
    job: Job,
    images: Iterator[Image],
    keys: Sequence[Any],
    categories: Mapping[str, int],
    about: list[Record],
) -> Iterator[Record]:
    """Yield the records of the objects; `about` gets those of the images."""
    areas = shapes.area(shapes.from_objects(job.objects, Convention())).tolist()
    number = 0
    for key, image in zip(keys, images, strict=True):
        size = {"height": plain(image.height), "width": plain(image.width)}
        about.append({"id": key, "file_name": image.name, **size})
        for word in image.objects:
            shape = _coco_shape(word)
            area = areas[number] if shape["segmentation"] else shape["bbox"][2] * shape["bbox"][3]
            number += 1
            yield {
                "id": number,
                "image_id": key,
                "category_id": categories[word.label],
                **shape,
                "area": plain(area),
                "iscrowd": int(word.dont_care),
                "ignore": int(word.dont_care),
                "utf8_string": word.text,
            }


def _results(
    job: Job, images: Iterator[Image], keys: Sequence[Any], categories: Mapping[str, int]
) -> Iterator[Record]:
    for key, image in zip(keys, images, strict=True):
        for word in image.objects:
            job.lost[NO_CONFIDENCE] += word.confidence is None
            record = {"image_id": key, "category_id": categories[word.label], **_coco_shape(word)}
            record = with_score(word, record)
            yield record | {"utf8_string": word.text} if word.text else record


def _coco_shape(word: TextObject) -> Record:
    x0, y0, x1, y1 = bounds([word])
    box = [plain(x0), plain(y0), plain(extent(x0, x1)), plain(extent(y0, y1))]
    return {"bbox": box, "segmentation": [flat(word.points)] if len(word.points) > 4 else []}


# labelme ------------------------------------------------------------------------------------------


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
            "imageHeight": plain(image.height),
            "imageWidth": plain(image.width),
        }
        yield _encode_indented(document) + "\n"


def _labelme_shape(word: TextObject) -> Record:
    is_box, points = len(word.points) == 4, vertices(word.points)
    record = {
        "label": word.text,
        "points": points[::2] if is_box else points,
        "group_id": None,
        "description": word.text,
        "shape_type": "rectangle" if is_box else "polygon",
        "flags": {"difficult": True} if word.dont_care else {},
    }
    return with_score(word, record)


# PaddleOCR ----------------------------------------------------------------------------------------


def paddleocr(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield ``image TAB JSON``, one image in each line; ``difficult`` is don't care."""
    job.refuse_names(
        lambda name: name != name.strip() or name.startswith("["),
        "a name without outer blanks that does not begin with a bracket",
    )
    for image in images:
        records = _encode([_paddleocr_object(job, word) for word in image.objects])
        yield f"{picture_file(image)}\t{records}\n"


def _paddleocr_object(job: Job, word: TextObject) -> Record:
    record: Record = {"transcription": word.text, "points": vertices(word.points)}
    if job.side == "gt":
        record["difficult"] = word.dont_care
    return with_score(word, record)


# MMOCR --------------------------------------------------------------------------------------------

_MMOCR_ABOUT = {
    "dataset_type": "TextSpottingDataset",
    "task_name": "textspotting",
    "category": [{"id": 0, "name": "text"}],
}


def mmocr(_: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield MMOCR 1.x; ``ignore`` is don't care."""
    records = (
        {
            "img_path": picture_file(image),
            "height": plain(image.height),
            "width": plain(image.width),
            "instances": list(map(_mmocr_instance, image.objects)),
        }
        for image in images
    )
    yield from _object(metainfo=_encode(_MMOCR_ABOUT), data_list=records)


def _mmocr_instance(word: TextObject) -> Record:
    record = {
        "polygon": flat(word.points),
        "bbox": list(map(plain, bounds([word]))),
        "bbox_label": 0,
        "text": word.text,
        "ignore": word.dont_care,
    }
    return with_score(word, record)


# HierText -----------------------------------------------------------------------------------------


def hiertext(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Regions are lines, of one paragraph; don't care is not legible."""
    records = (
        {
            "image_id": image.name,
            "image_width": plain(image.width),
            "image_height": plain(image.height),
            "paragraphs": [_around(image.objects, lines=list(_hiertext_lines(job, image)))]
            if image.objects
            else [],
        }
        for image in images
    )
    yield from _object(annotations=records)


def _hiertext_lines(job: Job, image: Image) -> Iterator[Record]:
    for line in lines(job, image):
        words = []
        for word in line:
            shape = {"vertices": vertices(word.points), "text": word.text}
            words.append(
                with_score(word, shape | {"legible": not word.dont_care}, key="confidence")
            )
        yield _around(line, words=words, text=" ".join(word.text for word in line))


def _around(objects: Sequence[TextObject], **more: Any) -> Record:
    """A line or a paragraph: the bounding box of its words, legible if any of them is."""
    legible = not all(word.dont_care for word in objects)
    return {"vertices": vertices(bounds(objects)), "legible": legible, **more}


# Label Studio -------------------------------------------------------------------------------------

SIZES_LOST = "{count} image size[s] left out: Label Studio has sizes of images with objects only"
CLASSES_LOST = "{count} don't-care object[s] lost [its|their] class: the label ### replaces it"


def label_studio(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield tasks, with annotations of ground truth and predictions of detections. Coordinates are
    percent of the picture. The label ``###`` is don't care.
    """
    set_name = {"gt": "annotations", "det": "predictions"}[job.side]
    tasks = (
        {
            "id": k,
            "data": {"image": quote(picture_file(image), "/ ")},
            set_name: [{"result": list(_label_studio_results(job, image))}],
        }
        for k, image in enumerate(images, 1)
    )
    yield f"{list_text(tasks)}\n"
    job.lost[SIZES_LOST] += int((np.diff(job.objects.offsets) == 0).sum())


def _label_studio_results(job: Job, image: Image) -> Iterator[Record]:
    """Yield the shape of each object with its label, and its transcription."""
    across, down = 100 / image.width, 100 / image.height
    for i, word in enumerate(image.objects, 1):
        common = {
            "id": str(i),
            "to_name": "image",
            "original_width": plain(image.width),
            "original_height": plain(image.height),
            "image_rotation": 0,
        }
        common = with_score(word, common)
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
