"""labelme: one JSON an image, ``{"shapes": [{"label", "points": [[x, y], ...], "shape_type"}], "imageHeight", ...}``.

A shape is a polygon, or a rectangle given by two opposite corners. Its transcription is ``description``, or else
``label``. Don't care: the label or transcription ``###``, or a flag ``difficult`` or ``ignore``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps, quote
from evaltex_cli.formats.base import DONT_CARE, Format, Side
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.safe_json import Confidence, Number, Vertices
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, polygon

_FLAGS = ("difficult", "ignore")


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
        try:
            image.add(_object(safe_json.take(item, _Shape), side, ("shapes", k)))
        except FormatError as error:
            error.log(faults, image.place, "shapes", k)


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
    if kind in ("polygon", "rotation"):
        return polygon(vertices, dont_care, ("points",))
    if kind == "rectangle" and len(vertices) in (4, 8):
        xs, ys = vertices[::2], vertices[1::2]
        return min(xs), min(ys), max(xs), max(ys)
    if kind == "rectangle":
        raise FormatError(f"{len(vertices) // 2} points", "two opposite corners of a rectangle", ("points",))
    raise FormatError(f"shape_type {quote(kind)}", "polygon or rectangle", ("shape_type",))


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object with ``shapes``."""
    value = document_files.json_value(path)
    return isinstance(value, dict) and "shapes" in value


FORMAT = Format(
    "labelme",
    "labelme: JSON, one an image",
    recognises,
    document_files.index_each("labelme", ".json", _parse),
    recognised_by="a JSON object with the key shapes",
    layout='{"shapes": [{"label", "points", "shape_type"}], "imageHeight", "imageWidth"}',
    sample='{"shapes": [{"label": "word", "points": [[10, 10], [60, 30]], "shape_type": "rectangle"}],'
    ' "imageHeight": 480, "imageWidth": 640}',
    ending=".json",
)
