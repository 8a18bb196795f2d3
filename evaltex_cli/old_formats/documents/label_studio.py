"""Label Studio's JSON and JSON-MIN: a list of tasks, each of one image.

``[{"data": {"image": url}, "annotations": [{"result": [{"id", "original_width", "original_height",
"value": {"x", "y", "width", "height", "rotation", "text"}}]}]}]``. Coordinates are percent of the
picture; ``rotation`` is in degrees, clockwise, about the upper left corner; polygons have
``points``. Results of the same ``id`` are one object: its shape, its labels, its transcription
(``text``). In JSON-MIN the task itself has a list of shapes, and ``transcription``.

Of several annotations of a task the first that was not cancelled is read. Detections are the
``predictions``, with ``score``, if any task has some. Images are named after their files, without
the eight digits that an upload gets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps, counted
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import box, polygon, turned
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.annotation_tools import Others, ellipse
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.safe_json import (
    AnyConfidence,
    Item,
    Number,
    Record,
    Vertices,
)
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_DONE = ("annotations", "completions")
_IMAGE_KEYS = ("image", "ocr", "img", "picture", "url")
_UPLOADED = re.compile(r"\A[0-9a-f]{8}-(?=.)")
_HOST_OR_FOLDER = re.compile(r"\A(?:[a-z0-9+.-]+://|.*[?&]d=)", re.IGNORECASE)


class _Value(msgspec.Struct, gc=False, rename={"radius_x": "radiusX", "radius_y": "radiusY"}):
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    rotation: Number | None = None
    points: Vertices | None = None
    radius_x: Number | None = None
    radius_y: Number | None = None
    rle: object = None
    text: str | list[str] | None = None
    rectanglelabels: list[str] | None = None
    polygonlabels: list[str] | None = None
    labels: list[str] | None = None
    original_width: Number | None = None
    original_height: Number | None = None

    @property
    def has_shape(self) -> bool:
        """Whether it says where an object is."""
        return self.x is not None or self.points is not None or self.rle is not None


class _Result(msgspec.Struct, gc=False):
    value: _Value = msgspec.field(default_factory=_Value)
    id: str | int | None = None
    original_width: Number | None = None
    original_height: Number | None = None
    image_rotation: Number | None = None
    score: AnyConfidence = None


@dataclass(slots=True)
class _Region:
    """The results of one ID."""

    at: Steps
    shape: _Result | None = None
    text: str = ""
    labels: list[str] = field(default_factory=list)
    score: float | None = None

    def take(self, result: _Result, at: Steps) -> None:
        """Add a result, which is at this place."""
        value = result.value
        if value.has_shape and self.shape is None:
            self.shape, self.at = result, at
        self.text = self.text or (
            " ".join(value.text) if isinstance(value.text, list) else value.text or ""
        )
        self.labels += [
            *(value.rectanglelabels or ()),
            *(value.polygonlabels or ()),
            *(value.labels or ()),
        ]
        self.score = result.score if self.score is None else self.score


class _Job(NamedTuple):
    """What goes for all tasks of a document."""

    place: str
    side: Side
    faults: FaultLog
    others: Others


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    value, place = document.value, document.place
    tasks = value if safe_json.is_list(value) else [value]
    predicted = side == "det" and any(_listed(task, "predictions") for task in tasks)
    images = Images()
    job, several = _Job(place, side, faults, Others()), 0
    for k, task in enumerate(tasks):
        at: Steps = (k,) if safe_json.is_list(value) else ()
        try:
            record = safe_json.record(task)
            image = CollectedImage(_file_of(record), place, at)
        except FormatError as error:
            error.log(faults, place, *at)
            continue
        with faults.catching(place, *at):
            results, has_more = _chosen(record, predicted)
            several += has_more
            _add_objects(image, _regions(results), job)
        images.append(image)
    names = names_of_pictures(images.names)
    short = [_UPLOADED.sub("", name) for name in names]
    images.rename(names if len(set(short)) < len(short) else short)
    sentence = (
        "{count} task[s] [has|have] several annotations, of which the first that was not"
        " cancelled is read"
    )
    more = (f"{place}: {counted(several, sentence)}",) if several else ()
    return images, job.others.warnings(place) + more


def _listed(task: Item, key: str) -> bool:
    """Whether a task has something in a list."""
    record = safe_json.opened(task)
    return safe_json.is_object(record) and bool(safe_json.opened(record.get(key)))


def _file_of(task: Record) -> str:
    """Return the path of a task's picture; its ID if it has no URL."""
    data = safe_json.records(task, "data") if "data" in task else task
    strings = {key: value for key in data if isinstance(value := safe_json.plain(data[key]), str)}
    keys = [*_IMAGE_KEYS, *(strings if "data" in task else ())]
    url = next((strings[key] for key in keys if key in strings), "")
    if not url or url.startswith("data:"):
        return safe_json.identifier(task, "id")
    return unquote(_HOST_OR_FOLDER.sub("", url).partition("?")[0])


def _sets(task: Record, key: str) -> list[tuple[Steps, Record]]:
    """Return the annotations of a task that were not cancelled, and where they are."""
    sets: list[tuple[Steps, Record]] = []
    for k, item in enumerate(safe_json.items(task, key) if key in task else ()):
        with safe_json.under(key, k):
            record = safe_json.record(item)
            cancelled = record.get("was_cancelled")
            if not safe_json.flag(
                None if cancelled is None else safe_json.plain(cancelled), "was_cancelled"
            ):
                sets.append(((key, k), record))
    return sets


def _minimal(task: Record) -> Iterator[tuple[Steps, _Result]]:
    """Yield the shapes of a task of JSON-MIN, each with its transcription."""
    texts = safe_json.plain(task["transcription"]) if "transcription" in task else None
    listed = texts if safe_json.is_list(texts) else [texts]
    for key in task:
        shapes = safe_json.opened(task[key])
        if (
            not safe_json.is_list(shapes)
            or not shapes
            or not safe_json.has_key(shapes[0], "original_width")
        ):
            continue
        for k, item in enumerate(shapes):
            value: _Value = safe_json.take(item, _Value, key, k)
            if len(listed) == len(shapes) and isinstance(listed[k], str):
                value.text = listed[k]
            yield (key, k), _Result(value, None, value.original_width, value.original_height)


def _chosen(task: Record, predicted: bool) -> tuple[Iterator[tuple[Steps, _Result]], bool]:
    """Return the results of a task and their places in it, and whether it has
    other annotations too.
    """
    done = next((key for key in _DONE if key in task), None)
    if "data" not in task and done is None:
        return _minimal(task), False
    sets = _sets(task, "predictions" if predicted or done is None else done)
    if not sets:
        return iter(()), False
    steps, annotation = sets[0]
    with safe_json.under(*steps):
        listed = safe_json.items(annotation, "result")
    where = [(*steps, "result", k) for k in range(len(listed))]
    return (
        (at, safe_json.take(item, _Result, *at)) for at, item in zip(where, listed, strict=True)
    ), len(sets) > 1


def _regions(results: Iterator[tuple[Steps, _Result]]) -> list[_Region]:
    """Bring the results of a task together by their IDs."""
    regions: dict[object, _Region] = {}
    for at, result in results:
        regions.setdefault(at if result.id is None else result.id, _Region(at)).take(result, at)
    return [region for region in regions.values() if region.shape is not None]


def _add_objects(image: CollectedImage, regions: Sequence[_Region], job: _Job) -> None:
    assert isinstance(image.at, tuple)
    sizes = [(one.shape.original_width, one.shape.original_height) for one in regions if one.shape]
    width, height = next((size for size in sizes if size[0] and size[1]), (None, None))
    if width and height:
        image.width, image.height = width, height
    else:
        image.in_fractions = bool(regions)
    for region in regions:
        with job.faults.catching(job.place, *image.at, *region.at):
            coordinates = _coordinates(
                region.shape, (width or 1.0, height or 1.0), bool(width), job.others
            )
            if coordinates is not None:
                dont_care = job.side == "gt" and DONT_CARE in (region.text, *region.labels)
                at = (*image.at, *region.at)
                image.add(
                    CollectedObject(
                        coordinates, region.text, dont_care, confidence=region.score, at=at
                    )
                )


def _coordinates(
    result: _Result | None, size: tuple[float, float], in_pixels: bool, others: Others
) -> Sequence[float] | None:
    """Return the coordinates of a shape in a picture of this size; None of one without area."""
    assert result is not None
    if result.image_rotation:
        found = f"a picture that was turned by {result.image_rotation:g} degrees"
        raise FormatError(found, "0: annotate the picture as its file has it", ("image_rotation",))
    value = result.value
    by = (size[0] / 100, size[1] / 100)
    if value.points is not None:
        return [
            coordinate * by[k % 2]
            for k, coordinate in enumerate(polygon(safe_json.flat(value.points), False))
        ]
    if value.rle is not None:
        others.left_out += 1
        return None
    if value.x is None or value.y is None:
        raise FormatError("a shape without x and y", "both, in percent of the picture", ("value",))
    corner, angle = (value.x * by[0], value.y * by[1]), math.radians(value.rotation or 0)
    if angle and not in_pixels:
        raise FormatError(
            "a turned shape, and no size of the picture", "original_width and original_height"
        )
    if value.radius_x is not None and value.radius_y is not None:
        others.boxed += 1
        return ellipse(corner, (value.radius_x * by[0], value.radius_y * by[1]), angle)
    if value.width is None or value.height is None:
        others.left_out += 1
        return None
    straight = box(*corner, value.width * by[0], value.height * by[1], where=("value",))
    return turned(straight, angle, corner) if angle else straight


def recognises(path: Path) -> bool:
    """Whether a path holds tasks of Label Studio."""
    value = document_files.json_value(path)
    first = safe_json.opened(value[0]) if safe_json.is_list(value) and value else value
    if not safe_json.is_object(first):
        return False
    if "data" in first:
        return any(
            safe_json.is_list(safe_json.opened(first.get(key))) for key in (*_DONE, "predictions")
        )
    return safe_json.is_list(value) and "annotator" in first and "annotation_id" in first


FORMAT = Format(
    "label-studio",
    "Label Studio: JSON or JSON-MIN of tasks",
    recognises,
    document_files.index_json("label-studio", _collect),
    recognised_by="JSON of tasks with the keys data and annotations (or predictions)",
    layout='[{"data": {"image"}, "annotations": [{"result": [{"id", "original_width",'
    ' "original_height", "value": {"x", "y", "width", "height", "rotation", "text"}}]}]}]',
    sample='[{"id": 1, "data": {"image": "/data/upload/1/0a1b2c3d-img_1.jpg"}, "annotations":'
    ' [{"result": [{"id": "a", "type": "rectangle", "original_width": 1000, "original_height": 500,'
    ' "value": {"x": 1, "y": 2, "width": 5, "height": 4, "rotation": 0}}, {"id": "a", "type":'
    ' "textarea", "original_width": 1000, "original_height": 500, "value": {"x": 1, "y": 2,'
    ' "width": 5, "height": 4, "rotation": 0, "text": ["word"]}}]}]}]',
    ending=".json",
    fractions=True,
)
