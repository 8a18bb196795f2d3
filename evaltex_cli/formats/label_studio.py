"""Label Studio's JSON and JSON-MIN: a list of tasks, each of one image.

Coordinates are percent of the picture; ``rotation`` is in degrees, clockwise, about the upper left
corner. Results of the same ``id`` are one object: its shape, its classes, its transcription. In
JSON-MIN a task has a list of shapes for each control, and a list ``transcription``. Detections are
the ``predictions``, if a task has any. Images are named after their files, without the eight digits
that an upload gets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import Number, box, converted, ellipse, polygon, turned, within
from evaltex_cli.formats.tools import BOXED, LEFT_OUT, named_after_pictures

_DONE = ("annotations", "completions")
_IMAGE_KEYS = ("image", "ocr", "img", "picture", "url")
_OUTLINE_KEYS = ("x", "y", "width", "height", "rotation", "radiusX", "radiusY", "points")
_HOST_OR_FOLDER = re.compile(r"\A(?:[a-z0-9+.-]+://|.*[?&]d=)", re.IGNORECASE)
_UPLOADED = re.compile(r"(?<=upload/)(?:\d+/)?[0-9a-f]{8}-(?=.)")
_SEVERAL = "{count} task[s] [has|have] several annotations, of which one not cancelled is read"
_LOST = (
    "{count} task[s] of JSON-MIN lost [its|their] texts, which fit no list of shapes: export JSON"
)
_Record = dict[str, Any]
"""A result with the keys of its value, its place, and its region: one object has the same."""


class _Object(msgspec.Struct, gc=False, rename={"radius_x": "radiusX", "radius_y": "radiusY"}):
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    rotation: Number = 0.0
    points: list[tuple[Number, Number]] = []
    radius_x: Number | None = None
    radius_y: Number | None = None
    rle: Any = None
    text: str | list[str] = ""
    image_rotation: Number = 0.0
    score: Number | None = None


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    document = file.json(Any)
    tasks = document if isinstance(document, list) else [document]
    has_predictions = any(within(task, "predictions") for task in tasks)
    keys = ["predictions"] if side == "det" and has_predictions else [*_DONE, "predictions"]
    images = []
    for k, item in enumerate(tasks):
        with file.catching(f"[{k}]"):
            task = converted(item, _Record)
            key = next((key for key in keys if key in task), "")
            if key:
                parts = _parts(file, task[key], f"[{k}].{key}")
            else:
                parts = _minimal_parts(file, task, f"[{k}]")
            images.append(_image(file, _picture(task), parts, side))
    names = [_UPLOADED.sub("", image.name) for image in images]
    if len(set(names)) == len(names):
        for image, name in zip(images, names, strict=True):
            image.name = name
    yield from named_after_pictures(images)


def _picture(task: _Record) -> str:
    """Return the path of a task's picture; its ID if it has no URL."""
    data = converted(task.get("data", task), _Record)
    keys = (key for key in (*_IMAGE_KEYS, *data) if isinstance(data.get(key), str))
    url = data.get(next(keys, ""), "")
    if url and not url.startswith("data:"):
        return unquote(_HOST_OR_FOLDER.sub("", url).partition("?")[0])
    return str(task.get("id", ""))


def _parts(file: File, sets: Any, place: str) -> Iterator[_Record]:
    """Yield the results of the first annotation that was not cancelled."""
    annotations = converted(sets or [], list[_Record])
    valid = [k for k, one in enumerate(annotations) if not one.get("was_cancelled")]
    file.notes[_SEVERAL] += len(valid) > 1
    for k in valid[:1]:
        for j, item in enumerate(converted(annotations[k].get("result") or [], list[Any])):
            at = f"{place}[{k}].result[{j}]"
            with file.catching(at):
                result = converted(item, _Record)
                value = converted(result.get("value") or {}, _Record)
                yield result | value | {"place": at, "region": str(result.get("id") or at)}


def _minimal_parts(file: File, task: _Record, place: str) -> Iterator[_Record]:
    """Yield the shapes of a task of JSON-MIN. The OCR template has each twice, in the list of its
    boxes or polygons and in that of its labels: what has the same outline is one object.
    """
    texts = task.get("transcription") or []
    texts = texts if isinstance(texts, list) else [texts]
    lists = {key: value for key, value in task.items() if within(value, 0, "original_width")}
    lists.pop("transcription", None)
    file.notes[_LOST] += bool(texts) and len(texts) not in map(len, lists.values())
    for key, shapes in lists.items():
        times = Counter[str]()
        for k, shape in enumerate(shapes):
            text = texts[k] if len(texts) == len(shapes) else ""
            if not isinstance(text, str):  # a shape with none, or with several parts
                text = within(text, "text") or ""
            outline = str([within(shape, name) for name in _OUTLINE_KEYS])
            times[outline] += 1
            at, region = f"{place}.{key}[{k}]", f"{outline} {times[outline]}"
            with file.catching(at):
                yield converted(shape, _Record) | {"text": text, "place": at, "region": region}


def _image(file: File, name: str, parts: Iterator[_Record], side: Side) -> Image:
    objects: dict[Any, _Record] = {}
    for part in parts:
        values = {key: value for key, value in part.items() if value not in (None, "")}
        objects[part["region"]] = values | objects.get(part["region"], {})
    sizes = ([one.get("original_width"), one.get("original_height")] for one in objects.values())
    width, height = converted(next(filter(all, sizes), [0, 0]), tuple[Number, Number])

    def read(record: _Record) -> TextObject | None:
        one = converted(record, _Object)
        points = _points(file, one, width, height)
        if points is None:
            return None
        text = one.text if isinstance(one.text, str) else " ".join(one.text)
        lists = (value for key, value in record.items() if key.endswith("labels"))
        labels = converted(next(lists, []), list[str])
        dont_care = side == "gt" and DONT_CARE in (text, *labels)
        return TextObject(points, text, dont_care, one.score, label="".join(labels[:1]))

    found = file.each(((one["place"], one) for one in objects.values()), read)
    return Image(name, found, height, width, fractions=not width)


def _points(file: File, one: _Object, width: float, height: float) -> Sequence[float] | None:
    """Return an object's points; None if it has no area."""
    by_x, by_y = (width or 1) / 100, (height or 1) / 100
    if one.image_rotation:
        raise FormatError("a picture that was turned", "annotations of the file as it is")
    if one.points:
        return polygon([value for x, y in one.points for value in (x * by_x, y * by_y)])
    if one.rotation and not width:
        raise FormatError("a turned shape without size", "original_width and original_height")
    if one.x is None or one.y is None:  # a mask, or the choices of an image
        file.notes[LEFT_OUT] += one.rle is not None
        return None
    x, y, angle = one.x * by_x, one.y * by_y, math.radians(one.rotation)
    if one.radius_x and one.radius_y:
        file.notes[BOXED] += 1
        return ellipse(x, y, one.radius_x * by_x, one.radius_y * by_y, angle)
    if one.width is None or one.height is None:
        file.notes[LEFT_OUT] += 1
        return None
    straight = box(x, y, one.width * by_x, one.height * by_y)
    return turned(straight, angle, (x, y)) if angle else straight


def _is_task(task: Any) -> bool:
    keys = task.keys() if isinstance(task, dict) else set()
    has_results = "data" in keys and not keys.isdisjoint((*_DONE, "predictions"))
    return has_results or keys >= {"annotator", "annotation_id"}


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio: JSON or JSON-MIN of tasks",
    _read,
    lambda head: "tasks with annotations" if _is_task(within(head.json, 0) or head.json) else "",
    layout='[{"data": {"image"}, "annotations": [{"result": [{"id", "original_width",'
    ' "original_height", "value": {"x", "y", "width", "height", "rotation", "text"}}]}]}]',
    one_document=True,
)
