"""Label Studio's JSON and JSON-MIN: a list of tasks, each of one image.

Coordinates are percent of the picture; ``rotation`` is in degrees, clockwise, about the upper left
corner. Results of the same ``id`` are one object: its shape, its classes, its transcription. In
JSON-MIN a task has a list of shapes for each control, so that the OCR template has each shape
twice, and a list ``transcription``. Detections are the ``predictions``, if a task has any. Images
are named after their files, without the eight digits that an upload gets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import box, converted, ellipse, nested, polygon, turned, within
from evaltex_cli.formats.tools import BOXED, LEFT_OUT, named_after_pictures
from evaltex_cli.formats.word_records import has

_HOST_OR_FOLDER = re.compile(r"\A(?:[a-z0-9+.-]+://|.*[?&]d=)", re.IGNORECASE)
_UPLOADED = re.compile(r"(?<=upload/)(?:\d+/)?[0-9a-f]{8}-(?=.)")
_SEVERAL = "{count} task[s] [has|have] several annotations, of which one not cancelled is read"
_LOST = "{count} task[s] of JSON-MIN lost texts, which fit no list of shapes: export JSON"
_Record = dict[str, Any]


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    tasks = file.json(list[_Record])
    keys = ["annotations", "predictions"]
    if side == "det" and any(task.get("predictions") for task in tasks):
        keys = ["predictions"]
    images = []
    for k, task in enumerate(tasks):
        with file.catching(f"[{k}]"):
            key, at = next((key for key in keys if key in task), ""), f"[{k}]"
            results = _results(file, task, key, at) if key else _shapes(file, task, at)
            objects: dict[str, _Record] = {}
            for region, result in results:
                values = {key: value for key, value in result.items() if value not in (None, "")}
                objects[region] = values | objects.get(region, {})
            places = [(one["place"], one) for one in objects.values()]
            sizes = ([one.get("original_width"), one.get("original_height")] for _, one in places)
            width, height = converted(next(filter(all, sizes), [0, 0]), parsing.Point)
            found = file.each(places, partial(_object, file, side, (width, height)))
            images.append(Image(_picture(task), found, height, width, fractions=not width))
    named = [replace(image, name=_UPLOADED.sub("", image.name)) for image in images]
    is_unique = len({image.name for image in named}) == len(named)
    yield from named_after_pictures(named if is_unique else images)


def _picture(task: _Record) -> str:
    """Return the path of a task's picture; its ID if it has no URL."""
    data = converted(task.get("data", task), _Record)
    usual = (data.get(key) for key in ("image", "ocr", "img", "picture", "url"))
    url = next((url for url in (*usual, *data.values()) if isinstance(url, str)), "data:")
    path = unquote(_HOST_OR_FOLDER.sub("", url).partition("?")[0])
    return str(task.get("id", "")) if url.startswith("data:") else path


def _results(file: File, task: _Record, key: str, place: str) -> Iterator[tuple[str, _Record]]:
    """Yield the results of the first annotation that was not cancelled, each with its ID."""
    sets = [one for one in nested(file, task, place, key) if not within(one[1], "was_cancelled")]
    file.notes[_SEVERAL] += len(sets) > 1
    for first, annotation in sets[:1]:
        for at, item in nested(file, annotation, first, "result"):
            with file.catching(at):
                result = converted(item, _Record)
                value = converted(result.get("value") or {}, _Record)
                yield str(result.get("id") or at), result | value | {"place": at}


def _shapes(file: File, task: _Record, place: str) -> Iterator[tuple[str, _Record]]:
    """Yield the shapes of a task of JSON-MIN, each with its outline, which is the same in lists."""
    texts = task.pop("transcription", None) or []
    texts = texts if isinstance(texts, list) else [texts]
    lists = {key: value for key, value in task.items() if within(value, 0, "original_width")}
    file.notes[_LOST] += bool(texts) and len(texts) not in map(len, lists.values())
    for key, shapes in lists.items():
        times = Counter[str]()
        fitting = texts if len(texts) == len(shapes) else [""] * len(shapes)
        for (at, item), text in zip(nested(file, task, place, key), fitting, strict=True):
            with file.catching(at):
                shape = converted(item, _Record)
                outline = str([shape[key] for key in sorted(shape) if not key.endswith("labels")])
                times[outline] += 1
                whole = text if isinstance(text, str) else within(text, "text")
                yield f"{outline} {times[outline]}", shape | {"text": whole, "place": at}


def _object(file: File, side: Side, size: Sequence[float], record: _Record) -> TextObject | None:
    """Return the object of a record, in a picture of this size; None if it has no area."""
    by_x, by_y = ((length or 1) / 100 for length in size)
    is_ellipse = "radiusX" in record
    keys = ("x", "y", "radiusX", "radiusY") if is_ellipse else ("x", "y", "width", "height")
    numbers = [converted(record.get(key), parsing.Number | None) for key in keys]
    angle = math.radians(converted(record.get("rotation", 0.0), parsing.Number))
    if record.get("image_rotation"):
        raise FormatError("a picture that was turned", "annotations of the file as it is")
    if angle and not all(size):
        raise FormatError("a turned shape without size", "original_width and original_height")
    if record.get("points"):
        vertices = converted(record["points"], list[parsing.Point])
        points = polygon([value for x, y in vertices for value in (x * by_x, y * by_y)])
    elif None in numbers:  # a mask, a point, or the choices of an image
        file.notes[LEFT_OUT] += "rle" in record or "x" in record
        return None
    else:
        x, y, across, down = (a * b for a, b in zip(numbers, (by_x, by_y) * 2, strict=True))
        points = ellipse(x, y, across, down, angle) if is_ellipse else box(x, y, across, down)
        if angle and not is_ellipse:
            points = turned(points, angle, (x, y))
        file.notes[BOXED] += is_ellipse
    text = converted(record.get("text", ""), str | list[str])
    text = text if isinstance(text, str) else " ".join(text)
    lists = (value for key, value in record.items() if key.endswith("labels"))
    labels = converted(next(lists, []), list[str])
    dont_care = side == "gt" and DONT_CARE in (text, *labels)
    score = parsing.confidence(record.get("score"))
    return TextObject(points, text, dont_care, score, label="".join(labels[:1]))


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio: JSON or JSON-MIN of tasks",
    _read,
    has("0.data 0.annotations", "0.data 0.predictions", "0.annotator 0.annotation_id"),
    layout='[{"data": {"image"}, "annotations": [{"result": [{"id", "value": {"x", "y", ...}}]}]}]',
    one_document=True,
)
