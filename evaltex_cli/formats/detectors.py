"""What libraries and services for object detection write: one JSON file for each image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import Bounds, confidence, converted, within
from evaltex_cli.formats.word_records import follow, has, listed

# Hugging Face's pipelines and Ultralytics ---------------------------------------------------------
# Boxes are objects of corners: xmin, ymin, xmax, ymax; or x1, y1, x2, y2, with x3, y3, x4, y4 if
# they are turned. Ultralytics writes fractions of the page with `normalize=True`.

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_VERTICES = [f"{axis}{k}" for k in (1, 2, 3, 4) for axis in "xy"]


def _points(box: Any) -> Any:
    sides = converted(box, dict[str, Any])
    if "xmin" in sides:
        return converted([sides.get(key) for key in _CORNERS], Bounds)
    keys = _VERTICES if "x3" in sides else _VERTICES[:4]
    return parsing.polygon(numbers) if len(numbers := _numbers(sides, keys)) > 4 else numbers


def _numbers(sides: dict[str, Any], keys: list[str]) -> list[float]:
    if missing := [key for key in keys if key not in sides]:
        raise FormatError(
            f"no {missing[0]} in a box", f"{', '.join(keys)}, or xmin, ymin, xmax, ymax"
        )
    return [converted(sides[key], parsing.Number) for key in keys]


def _read_boxes(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        label = converted(within(item, "name") or within(item, "label"), str | None) or ""
        score = confidence(within(item, "confidence") or within(item, "score"))
        return TextObject(_points(within(item, "box")), confidence=score, label=label)

    items = file.json(list[Any])
    image = Image(file.stem, file.each(enumerate(items), read, "[{}]"))
    values = [value for one in image.objects for value in one.points]
    if values and max(values) <= 1 and any(value % 1 for value in values):
        image.fractions = True
        file.notes["all coordinates are in [0, 1]: they are read as fractions of the page"] = 1
    yield image


DETECTIONS = Format(
    "detections",
    "Ultralytics to_json, Hugging Face's detection pipelines",
    _read_boxes,
    has("0.box.x1", "0.box.xmin"),
    layout='[{"name", "confidence", "box": {"x1", "y1", "x2", "y2"}}] or [{"label", "score",'
    ' "box": {"xmin", "ymin", "xmax", "ymax"}}]',
)


# Roboflow -----------------------------------------------------------------------------------------
# x and y are the centre of a box.


def _read_roboflow(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        if within(item, "points"):
            points = parsing.outline(item["points"])
        else:
            keys = ("x", "y", "width", "height")
            x, y, width, height = converted([within(item, key) for key in keys], Bounds)
            points = parsing.box(x - width / 2, y - height / 2, width, height)
        label = converted(within(item, "class"), str | None) or ""
        return TextObject(points, confidence=confidence(within(item, "confidence")), label=label)

    objects = file.each(listed(file, "predictions"), read)
    document = file.json(dict[str, Any])
    height, width = (confidence(follow(document, f"image.{k}")) or 0 for k in ("height", "width"))
    yield Image(file.stem, objects, height, width)


ROBOFLOW = Format(
    "roboflow",
    "Roboflow inference: answers, one file per image",
    _read_roboflow,
    has("predictions image.width", "predictions.0.detection_id"),
    layout='{"image": {"width", "height"}, "predictions": [{"x", "y" of the centre, "width",'
    ' "height", "confidence", "class"}]}',
)
