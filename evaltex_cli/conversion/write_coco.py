"""COCO JSON: annotations of ground truth, a results list of detections.

An image's ``id`` is that of the source, or else its name (a number where all are), as results pair
with annotations by ``image_id``. A box is a ``bbox`` with an empty ``segmentation``; a polygon is
both. Don't care is ``iscrowd`` and ``ignore``; the transcription is ``utf8_string``, as in
COCO-Text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.conversion.base import (
    Block,
    Job,
    Writer,
    extent,
    known_or_smallest_size,
    plain,
    renumbered,
    target_file,
    vertices_of,
    write_list,
)
from evaltex_cli.geometry import shapes
from evaltex_cli.marks import DATA_MARK
from evaltex_cli.records import Convention, Floats, Objects

REGIONS_LOST = "{count} object[s] lost [its|their] region: COCO JSON holds none"
IDS_LOST = (
    "{count} object[s] [is|are] numbered again: COCO JSON numbers [it|them] through all images"
)
RESULT_IDS_LOST = "{count} object[s] [is|are] numbered again: COCO results hold no IDs"
SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
SIZES_LOST = "{count} image size[s] left out: COCO results hold none"
EMPTY_LOST = "{count} image[s] without objects left out: COCO results hold none"
NO_CONFIDENCE = "{count} object[s] without confidence got none; COCO's tools ask for one"
NAMES_LOST = "{count} file name[s] left out: COCO results hold only IDs"
NAMES_AS_IDS = (
    "{count} image[s] [has|have] [its|their] name as image_id: convert the ground truth too, so"
    " that it has the same IDs"
)
CONFIDENCES_LOST = "{count} confidence[s] of ground truth left out"
SHORT = "{count} object[s] of fewer than three vertices left out"
ROUNDED = "{count} box[es] moved by rounding: COCO JSON holds width and height"
_CATEGORY = {"id": 1, "name": "text"}
_Record: TypeAlias = dict[str, Any]
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,17})")


def _write(job: Job, blocks: Iterable[Block]) -> None:
    by_number = all(_NUMBER.fullmatch(job.ids.get(name, name)) for name in job.names)
    with target_file(job) as file:
        if job.side == "det":
            write_list(file, _results(job, blocks, by_number))
            file.write("\n")
            return
        images: list[_Record] = []
        file.write(f'{{{json.dumps(DATA_MARK)[1:-1]},\n"annotations": ')
        write_list(file, _annotations(job, blocks, by_number, images))
        file.write(',\n"images": ')
        write_list(file, images)
        file.write(f',\n"categories": [{json.dumps(_CATEGORY)}]}}\n')


def _annotations(
    job: Job, blocks: Iterable[Block], by_number: bool, images: list[_Record]
) -> Iterator[_Record]:
    """Yield the records of the objects; `images` gets those of the images."""
    last_id = 0
    for block in blocks:
        objects = block.images.objects
        _count_lost(job, objects)
        areas = _areas(objects)
        for k, name in enumerate(block.names):
            height, width, known = known_or_smallest_size(block.images, k)
            job.lost[SIZE_GUESSED] += not known
            key = _image_id(job, name, by_number)
            images.append(
                {"id": key, "file_name": name, "height": plain(height), "width": plain(width)}
            )
            for i, shape in _shapes(job, objects, k):
                if shape["segmentation"]:
                    area = areas[i].item()
                else:
                    area = shape["bbox"][2] * shape["bbox"][3]
                last_id += 1
                job.lost[IDS_LOST] += last_id != objects.ids[i]
                flag = int(objects.dont_care[i])
                yield {
                    "id": last_id,
                    "image_id": key,
                    "category_id": _CATEGORY["id"],
                    **shape,
                    "area": plain(area),
                    "iscrowd": flag,
                    "ignore": flag,
                    "utf8_string": objects.texts[i],
                }


def _image_id(job: Job, name: str, by_number: bool) -> str | int:
    image_id = job.ids.get(name, name)
    return int(image_id) if by_number else image_id


def _areas(objects: Objects) -> Floats:
    """(n,) areas."""
    return shapes.area(shapes.from_objects(objects, Convention()))


def _count_lost(job: Job, objects: Objects) -> None:
    job.lost[REGIONS_LOST] += int((objects.regions != objects.ids).sum())
    if objects.confidences is not None:
        job.lost[CONFIDENCES_LOST] += int((~np.isnan(objects.confidences)).sum())


def _results(job: Job, blocks: Iterable[Block], by_number: bool) -> Iterator[_Record]:
    job.lost[NAMES_LOST] += sum(job.ids.get(name, name) != name for name in job.names)
    job.lost[NAMES_AS_IDS] += sum(name not in job.ids for name in job.names)
    for block in blocks:
        objects = block.images.objects
        job.lost[SIZES_LOST] += int((block.images.sizes > 0).all(axis=1).sum())
        job.lost[EMPTY_LOST] += int((np.diff(objects.offsets) == 0).sum())
        job.lost[RESULT_IDS_LOST] += renumbered(objects)
        for k, name in enumerate(block.names):
            for i, shape in _shapes(job, objects, k):
                record = {
                    "image_id": _image_id(job, name, by_number),
                    "category_id": _CATEGORY["id"],
                    **shape,
                }
                if objects.confidences is not None and not np.isnan(objects.confidences[i]):
                    record["score"] = float(objects.confidences[i])
                else:
                    job.lost[NO_CONFIDENCE] += 1
                if objects.texts[i]:
                    record["utf8_string"] = objects.texts[i]
                yield record


def _shapes(job: Job, objects: Objects, image: int) -> Iterator[tuple[int, _Record]]:
    """Yield an image's objects with their ``bbox`` and ``segmentation``."""
    for i in range(int(objects.offsets[image]), int(objects.offsets[image + 1])):
        vertices = vertices_of(objects, i)
        if vertices and len(vertices) < 6:
            job.lost[SHORT] += 1
            continue
        job.written += 1
        x0, y0, x1, y1 = objects.boxes[i].tolist()
        width, height = extent(x0, x1), extent(y0, y1)
        job.lost[ROUNDED] += vertices is None and (x0 + width, y0 + height) != (x1, y1)
        polygons = [] if vertices is None else [list(map(plain, vertices))]
        yield i, {"bbox": list(map(plain, (x0, y0, width, height))), "segmentation": polygons}


WRITER = Writer("coco", "COCO JSON: annotations, or a results list of detections", _write, ".json")
