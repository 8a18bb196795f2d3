"""labelme: one JSON an image, ``{"shapes": [{"label", "points": [[x, y], ...], "shape_type"}],
"imageHeight", ...}``.

A shape is a polygon, or a rectangle given by two opposite corners; X-AnyLabeling also has
``rotation`` and ``quadrilateral``, which are polygons. Of circles and masks the bounding box is
taken, points and lines are left out, with a warning. The transcription is ``description``, or else
``label``. Don't care: the label or transcription ``###``, or a flag ``difficult`` or ``ignore``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps, quote
from evaltex_cli.old_formats.base import DONT_CARE, Format, Side
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.annotation_tools import Others, ellipse
from evaltex_cli.old_formats.documents.each_file import Reading, Survey
from evaltex_cli.old_formats.documents.safe_json import Confidence, Number, Vertices
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_FLAGS = ("difficult", "ignore")
_POLYGONS = ("polygon", "rotation", "quadrilateral")
_WITHOUT_AREA = ("point", "points", "line", "linestrip")
_OTHER_SHAPES = re.compile(rb'"shape_type"\s*:\s*"(?:(circle|mask)|(points?|line(?:strip)?))"')


class _Shape(msgspec.Struct, gc=False):
    points: Vertices
    label: str | None = None
    description: str | None = None
    shape_type: str | None = None
    score: Confidence = None
    difficult: Any = None
    ignore: Any = None
    flags: dict[str, Any] | None = None


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    root = safe_json.record(safe_json.parse(data))
    image.height = safe_json.field(root, "imageHeight", Number | None, 0.0)
    image.width = safe_json.field(root, "imageWidth", Number | None, 0.0)
    for k, item in enumerate(safe_json.items(root, "shapes")):
        with faults.catching(image.place, "shapes", k):
            shape: _Shape = safe_json.take(item, _Shape)
            if shape.shape_type not in _WITHOUT_AREA:
                image.add(_object(shape, side, ("shapes", k)))


def _object(shape: _Shape, side: Side, at: Steps) -> CollectedObject:
    label, text = shape.label or "", shape.description or ""
    flags = shape.flags or {}
    listed = (shape.difficult, shape.ignore, flags.get("difficult"), flags.get("ignore"))
    flagged = any(safe_json.flag(flag, name) for flag, name in zip(listed, _FLAGS * 2, strict=True))
    dont_care = side == "gt" and (flagged or DONT_CARE in (label, text))
    coordinates = _coordinates(shape, dont_care)
    return CollectedObject(coordinates, text or label, dont_care, confidence=shape.score, at=at)


def _coordinates(shape: _Shape, dont_care: bool) -> Sequence[float]:
    kind = shape.shape_type or "polygon"
    vertices = safe_json.flat(shape.points)
    if kind in _POLYGONS:
        return polygon(vertices, dont_care, ("points",))
    if kind == "circle":
        if len(vertices) != 4:
            raise FormatError(
                f"{len(vertices) // 2} points",
                "the centre of a circle and a point on it",
                ("points",),
            )
        radius = math.dist(vertices[:2], vertices[2:])
        return ellipse((vertices[0], vertices[1]), (radius, radius))
    if kind not in ("rectangle", "mask"):
        raise FormatError(f"shape_type {quote(kind)}", "polygon or rectangle", ("shape_type",))
    if len(vertices) not in (4, 8):
        raise FormatError(
            f"{len(vertices) // 2} points", "two opposite corners of a rectangle", ("points",)
        )
    xs, ys = vertices[::2], vertices[1::2]
    if len(set(xs)) > 2 or len(set(ys)) > 2:  # four corners of one that is turned
        return polygon(vertices, dont_care, ("points",))
    return min(xs), min(ys), max(xs), max(ys)


def _settle(looks: Sequence[Others]) -> Reading:
    total = Others(sum(one.boxed for one in looks), sum(one.left_out for one in looks))
    return Reading(total.sentences)


def _look(data: bytes) -> Others:
    shapes = _OTHER_SHAPES.findall(data)
    boxed = sum(bool(box) for box, _ in shapes)
    return Others(boxed, len(shapes) - boxed)


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object with ``shapes``."""
    value = document_files.json_value(path)
    return safe_json.is_object(value) and "shapes" in value


FORMAT = Format(
    "labelme",
    "labelme: JSON, one per image",
    recognises,
    document_files.index_each("labelme", ".json", _parse, survey=Survey(_look, _settle)),
    recognised_by="a JSON object with the key shapes",
    layout='{"shapes": [{"label", "points", "shape_type"}], "imageHeight", "imageWidth"}',
    sample='{"shapes": [{"label": "word", "points": [[10, 10], [60, 30]], "shape_type":'
    ' "rectangle"}], "imageHeight": 480, "imageWidth": 640}',
    ending=".json",
)
