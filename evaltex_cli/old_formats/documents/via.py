"""The JSON of the VGG Image Annotator (VIA), versions 1 and 2: annotations alone, or a
project.

``{key: {"filename", "regions": [{"shape_attributes": {"name", ...}, "region_attributes":
{...}}]}}``, in a project under ``_via_img_metadata``; ``regions`` may be an object, too.

A region attribute is the transcription, or a flag of don't care, by its name
(`annotation_tools.TEXTS`, `annotation_tools.FLAGS`). Of circles and ellipses the bounding box is
taken; points and lines are left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.annotation_tools import (
    Others,
    ellipse,
    is_dont_care,
    text_of,
)
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.safe_json import Item, Number, Record
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


class _Shape(msgspec.Struct, gc=False):
    """The shape attributes of a region."""

    name: str
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    all_points_x: list[Number] | None = None
    all_points_y: list[Number] | None = None
    cx: Number | None = None
    cy: Number | None = None
    r: Number | None = None
    rx: Number | None = None
    ry: Number | None = None
    theta: Number | None = None


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    root, place, others = safe_json.record(document.value), document.place, Others()
    under = ("_via_img_metadata",) if "_via_img_metadata" in root else ()
    records = safe_json.records(root, under[0]) if under else root
    images = Images()
    for key, item in records.items():
        with faults.catching(place, *under, key):
            record = safe_json.record(item)
            name: str = safe_json.take(safe_json.needed(record, "filename"), str, "filename")
            image = CollectedImage(name, place, (*under, key))
            with faults.catching(place, *under, key):
                _add_regions(image, record, side, others, faults)
            images.append(image)
    images.rename(names_of_pictures(images.names))
    return images, others.warnings(place)


def _add_regions(
    image: CollectedImage, record: Record, side: Side, others: Others, faults: FaultLog
) -> None:
    regions = safe_json.opened(safe_json.needed(record, "regions"))
    assert isinstance(image.at, tuple)
    listed: Iterator[tuple[str | int, Item]]
    if safe_json.is_object(regions):
        listed = iter(regions.items())
    elif safe_json.is_list(regions):
        listed = iter(enumerate(regions))
    else:
        raise FormatError(safe_json.shown(regions), "a list [...] of regions", ("regions",))
    for key, item in listed:
        at = (*image.at, "regions", key)
        with faults.catching(image.place, *at):
            region = safe_json.record(item)
            with safe_json.under("shape_attributes"):
                shape: _Shape = safe_json.take(safe_json.needed(region, "shape_attributes"), _Shape)
            attributes = safe_json.plain(region.get("region_attributes"))
            if not safe_json.is_object(attributes):
                attributes = {}
            text = text_of(attributes)
            dont_care = side == "gt" and is_dont_care(attributes, text)
            coordinates = _coordinates(shape, dont_care, others)
            if coordinates is not None:
                image.add(CollectedObject(coordinates, text, dont_care, at=at))


def _coordinates(shape: _Shape, dont_care: bool, others: Others) -> Sequence[float] | None:
    where = ("shape_attributes",)
    if shape.name in ("point", "line", "polyline"):
        others.left_out += 1
        return None
    if shape.name == "rect":
        x, y, width, height = (_needed(shape, name) for name in ("x", "y", "width", "height"))
        return box(x, y, width, height, where=where)
    if shape.name == "polygon":
        xs, ys = shape.all_points_x or [], shape.all_points_y or []
        if len(xs) != len(ys):
            raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many x as y", where)
        return polygon(
            [value for vertex in zip(xs, ys, strict=True) for value in vertex], dont_care, where
        )
    if shape.name not in ("circle", "ellipse"):
        raise FormatError(f"shape {quote(shape.name)}", "rect, polygon, circle or ellipse", where)
    others.boxed += 1
    radii = ("r", "r") if shape.name == "circle" else ("rx", "ry")
    across, down = (_needed(shape, name) for name in radii)
    return ellipse((_needed(shape, "cx"), _needed(shape, "cy")), (across, down), shape.theta or 0.0)


def _needed(shape: _Shape, name: str) -> float:
    value: float | None = getattr(shape, name)
    if value is None:
        raise FormatError(f"no {name} in a {shape.name}", "a number", ("shape_attributes", name))
    return value


def recognises(path: Path) -> bool:
    """Whether a path holds annotations or a project of VIA."""
    value = document_files.json_value(path)
    if not safe_json.is_object(value):
        return False
    if "_via_img_metadata" in value:
        return True
    first = next(iter(value.values()), None)
    return safe_json.has_key(first, "filename") and safe_json.has_key(first, "regions")


FORMAT = Format(
    "via",
    "VGG Image Annotator (VIA) 1 and 2: JSON",
    recognises,
    document_files.index_json("via", _collect),
    recognised_by="_via_img_metadata, or a JSON object of objects with filename and regions",
    layout='{key: {"filename", "regions": [{"shape_attributes": {"name", "x", "y", "width",'
    ' "height", "all_points_x", ...}, "region_attributes": {"text"}}]}}',
    sample='{"img_1.jpg1234": {"filename": "img_1.jpg", "size": 1234, "regions":'
    ' [{"shape_attributes": {"name": "rect", "x": 10, "y": 10, "width": 50, "height": 20},'
    ' "region_attributes": {"text": "word"}}], "file_attributes": {}}}',
    ending=".json",
)
