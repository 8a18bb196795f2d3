"""Label Studio's JSON and JSON-MIN: a list of tasks, each of one image.

Coordinates are percent of the picture; ``rotation`` is in degrees, clockwise, about the upper left
corner. Results of the same ``id`` are one object: its shape, its classes, its transcription. In
JSON-MIN a task has a list of shapes for each control, and a list ``transcription``.

Detections are the ``predictions``, if a task has any. Images are named after their files, without
the eight digits that an upload gets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import (
    DONT_CARE,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.names import UPLOADED, names_of_pictures
from evaltex_cli.formats.parsing import (
    Number,
    Point,
    box,
    converted,
    ellipse,
    flat,
    polygon,
    turned,
    within,
)
from evaltex_cli.formats.tools import BOXED, LEFT_OUT

_DONE = ("annotations", "completions")
_IMAGE_KEYS = ("image", "ocr", "img", "picture", "url")
_HOST_OR_FOLDER = re.compile(r"\A(?:[a-z0-9+.-]+://|.*[?&]d=)", re.IGNORECASE)
_SEVERAL = (
    "{count} task[s] [has|have] several annotations, of which the first that was not cancelled is"
    " read"
)
_TEXTS_LOST = (
    "{count} task[s] of JSON-MIN [has|have] another number of transcriptions than of shapes, and"
    " [is|are] read without; export JSON instead"
)


class _Value(msgspec.Struct, gc=False):
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    rotation: Number | None = None
    points: list[Point] | None = None
    radius_x: Number | None = msgspec.field(default=None, name="radiusX")
    radius_y: Number | None = msgspec.field(default=None, name="radiusY")
    rle: Any = None
    text: str | list[str] | None = None
    rectanglelabels: list[str] = []
    polygonlabels: list[str] = []
    ellipselabels: list[str] = []
    labels: list[str] = []
    original_width: Number | None = None
    original_height: Number | None = None

    def has_shape(self) -> bool:
        return self.x is not None or self.points is not None or self.rle is not None

    def outline(self) -> tuple[Any, ...]:
        """Return what says where an object is."""
        box_and_turn = (self.x, self.y, self.width, self.height, self.rotation)
        return (box_and_turn, self.radius_x, self.radius_y, tuple(self.points or ()))


class _Result(msgspec.Struct, gc=False):
    value: _Value = msgspec.field(default_factory=_Value)
    id: str | int | None = None
    original_width: Number | None = None
    original_height: Number | None = None
    image_rotation: Number | None = None
    score: Number | None = None
    place: str = ""
    region: Any = None
    """Results with the same are one object."""


class _Annotation(msgspec.Struct, gc=False):
    result: list[Any] = []
    was_cancelled: bool | int | None = None


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    document = file.json(Any)
    tasks = document if isinstance(document, list) else [document]
    predicted = side == "det" and any(within(task, "predictions") for task in tasks)
    images = []
    for k, item in enumerate(tasks):
        place = f"[{k}]" if document is tasks else ""
        try:
            task = converted(item, dict[str, Any])
            done = next((key for key in _DONE if key in task), "")
            if "data" not in task and not done:
                results = _minimal_results(file, task, place)
            else:
                key = "predictions" if predicted or not done else done
                results = _results(file, task.get(key), f"{place}.{key}")
            images.append(_image(file, _picture(task), results, side))
        except FormatError as error:
            file.log(error, place)
    names = names_of_pictures([image.name for image in images])
    short = [
        UPLOADED.sub("", name) if "upload" in image.name.split("/") else name
        for image, name in zip(images, names, strict=True)
    ]
    are_unique = len(set(short)) == len(short)
    for image, name in zip(images, short if are_unique else names, strict=True):
        image.name = name
    yield from images


def _picture(task: Mapping[str, Any]) -> str:
    """Return the path of a task's picture; its ID if it has no URL."""
    data = converted(task["data"], dict[str, Any]) if "data" in task else task
    texts = {key: value for key, value in data.items() if isinstance(value, str)}
    keys = [*_IMAGE_KEYS, *(texts if "data" in task else ())]
    url = next((texts[key] for key in keys if key in texts), "")
    if not url or url.startswith("data:"):
        if "id" not in task:
            raise FormatError("a task without a picture and id", "one of them")
        return str(task["id"])
    return unquote(_HOST_OR_FOLDER.sub("", url).partition("?")[0])


def _results(file: File, sets: Any, place: str) -> list[_Result]:
    """Return the results of the first annotation that was not cancelled."""
    annotations = converted(sets or [], list[_Annotation])
    valid = [(k, one) for k, one in enumerate(annotations) if not one.was_cancelled]
    file.notes[_SEVERAL] += len(valid) > 1
    results = []
    for k, annotation in valid[:1]:
        for j, item in enumerate(annotation.result):
            at = f"{place}[{k}].result[{j}]"
            try:
                result = converted(item, _Result)
            except FormatError as error:
                file.log(error, at)
                continue
            result.place, result.region = at, at if result.id is None else result.id
            results.append(result)
    return results


def _minimal_results(file: File, task: Mapping[str, Any], place: str) -> list[_Result]:
    """Return the shapes of a task of JSON-MIN. The OCR template has each twice, in the list of its
    boxes or polygons and in that of its labels: what has the same outline is one object.
    """
    results = []
    texts = task.get("transcription") or []
    texts = texts if isinstance(texts, list) else [texts]
    has_texts = not texts
    for key, shapes in task.items():
        is_list = isinstance(shapes, list) and shapes and isinstance(shapes[0], dict)
        # Among the transcriptions there are shapes without one.
        if not is_list or "original_width" not in shapes[0] or key == "transcription":
            continue
        times = Counter[Any]()
        for k, shape in enumerate(shapes):
            at = f"{place}.{key}[{k}]"
            try:
                value = converted(shape, _Value)
            except FormatError as error:
                file.log(error, at)
                continue
            if len(texts) == len(shapes) and isinstance(texts[k], str):
                value.text, has_texts = texts[k], True
            times[value.outline()] += 1
            result = _Result(value, None, value.original_width, value.original_height)
            result.place, result.region = at, (value.outline(), times[value.outline()])
            results.append(result)
    file.notes[_TEXTS_LOST] += not has_texts
    return results


def _image(file: File, name: str, results: Sequence[_Result], side: Side) -> Image:
    sizes = ((result.original_width or 0, result.original_height or 0) for result in results)
    width, height = next((size for size in sizes if all(size)), (0, 0))
    regions: dict[Any, list[_Result]] = {}
    for result in results:
        regions.setdefault(result.region, []).append(result)

    def read(parts: Sequence[_Result]) -> TextObject | None:
        shape = next((part for part in parts if part.value.has_shape()), None)
        points = shape and _points(file, shape, width, height)
        if not points:
            return None
        values = [part.value for part in parts]
        texts = [" ".join(v.text) if isinstance(v.text, list) else v.text or "" for v in values]
        text = next(filter(None, texts), "")
        labels = [
            label
            for v in values
            for label in (*v.rectanglelabels, *v.polygonlabels, *v.ellipselabels, *v.labels)
        ]
        return TextObject(
            points,
            text,
            side == "gt" and DONT_CARE in (text, *labels),
            confidence=next((part.score for part in parts if part.score is not None), None),
            label=next(iter(labels), ""),
        )

    objects = file.each(((parts[0].place, parts) for parts in regions.values()), read)
    return Image(name, objects, height, width, fractions=bool(objects) and not width)


def _points(file: File, shape: _Result, width: float, height: float) -> Sequence[float] | None:
    """Return a shape's points; None if it has no area."""
    value, by_x, by_y = shape.value, (width or 1) / 100, (height or 1) / 100
    if shape.image_rotation:
        found = f"a picture that was turned by {shape.image_rotation:g} degrees"
        raise FormatError(found, "0: annotate the picture as its file has it", ("image_rotation",))
    if value.points is not None:
        return polygon(flat((x * by_x, y * by_y) for x, y in value.points))
    angle = math.radians(value.rotation or 0)
    if angle and not width:
        expected = "original_width and original_height"
        raise FormatError("a turned shape, and no size of the picture", expected)
    if value.rle is None and (value.x is None or value.y is None):
        raise FormatError("a shape without x and y", "both, in percent of the picture", ("value",))
    x, y = (value.x or 0) * by_x, (value.y or 0) * by_y
    if value.radius_x is not None and value.radius_y is not None:
        file.notes[BOXED] += 1
        return ellipse(x, y, value.radius_x * by_x, value.radius_y * by_y, angle)
    if value.rle is not None or value.width is None or value.height is None:
        file.notes[LEFT_OUT] += 1
        return None
    straight = box(x, y, value.width * by_x, value.height * by_y)
    return turned(straight, angle, (x, y)) if angle else straight


def _recognise(head: Head) -> str:
    task = head.json[0] if isinstance(head.json, list) and head.json else head.json
    if not isinstance(task, dict):
        return ""
    if "data" in task and any(isinstance(task.get(key), list) for key in (*_DONE, "predictions")):
        return "tasks with the keys data and annotations (or predictions)"
    is_minimal = task is not head.json and "annotator" in task and "annotation_id" in task
    return "tasks with the keys annotator and annotation_id" if is_minimal else ""


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio: JSON or JSON-MIN of tasks",
    _read,
    _recognise,
    (".json",),
    layout='[{"data": {"image"}, "annotations": [{"result": [{"id", "original_width",'
    ' "original_height", "value": {"x", "y", "width", "height", "rotation", "text"}}]}]}]',
    one_document=True,
)
