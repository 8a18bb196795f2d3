"""What libraries and services for object detection write: one JSON file for each image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import Bounds, confidence, converted, nested, within
from evaltex_cli.formats.word_records import Keys, expect, follow, has

# Hugging Face's pipelines and Ultralytics ---------------------------------------------------------
# Ultralytics writes fractions of the page with `normalize=True`; YOLOv5's data frame has the sides
# of a box among its other members.

_DETECTION = Keys("box", "text", "confidence score", label="name label")


def _read_boxes(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        members = converted(item, dict[str, Any])
        return _DETECTION.read({"box": members, **members})

    items = file.json(list[Any])
    items = items[0] if len(items) == 1 and isinstance(items[0], list) else items  # a batch of one
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
    has("0.box.x1", "0.box.xmin", "0.0.box.xmin", "0.x1 0.y2", "0.xmin 0.ymax"),
    layout='[{"label" or "name", "score", "box": {"xmin" or "x1", "ymin" or "y1", ...}}]',
)


# Roboflow -----------------------------------------------------------------------------------------
# x and y are the centre of a box. A workflow has the answer inside its outputs.


def _answer(value: Any) -> Any:
    """Return the object in plain JSON that has a list of predictions; None if not one has."""
    if isinstance(within(value, "predictions"), list):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [one for one in map(_answer, inner) if one is not None]
    return found[0] if len(found) == 1 else None


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

    document = _answer(file.json(Any))
    expect(document, "predictions")
    objects = file.each(nested(file, document, "", "predictions"), read)
    height, width = (confidence(follow(document, f"image.{k}")) or 0 for k in ("height", "width"))
    yield Image(file.stem, objects, height, width)


ROBOFLOW = Format(
    "roboflow",
    "Roboflow inference: answers, one file per image",
    _read_roboflow,
    has(
        *("predictions image.width", "predictions.0.detection_id", "0.predictions 0.image.width"),
        *(f"{at}.predictions {at}.image.width" for at in ("0.*", "outputs.0.*", "0.predictions")),
    ),
    layout='{"image": {"width"}, "predictions": [{"x", "y" of the centre, "width", "height"}]}',
)
