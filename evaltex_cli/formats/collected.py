"""Objects collected one by one from a document that is parsed as a whole (XML, JSON), as an indexed source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaltex_cli.errors import FaultLog, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.records import Floats, GeometryCounts, Ints, Objects, ReadImages, concatenate_texts

BYTES_PER_OBJECT = 64
"""What an object weighs in a batch, about as much as its line in a text file."""


@dataclass(slots=True)
class CollectedObject:
    """One object; four coordinates are x0, y0, x1, y1, more are vertices. `id` 0 stands for its number in the image."""

    coordinates: Sequence[float]
    text: str = ""
    dont_care: bool = False
    id: int = 0
    region: int = 0
    confidence: float = float("nan")


@dataclass(slots=True)
class CollectedImage:
    """One image and its objects; height and width are 0 where unknown."""

    name: str
    line: int | None
    height: float = 0.0
    width: float = 0.0
    objects: list[CollectedObject] = field(default_factory=list)


def refuse_bad_names(path: str, images: Sequence[CollectedImage], faults: FaultLog) -> None:
    """Add a fault for each image name that repeats, is empty, or would leave the result folder."""
    first: dict[str, CollectedImage] = {}
    for image in images:
        if not image.name or leaves_result_folder(image.name):
            expected = (
                "a name that stays in the result folder: no absolute path, drive letter, '..' or control character"
            )
            faults.add(path, image.line, f"image name {quote(image.name)}", expected)
        if first.setdefault(image.name, image) is not image:
            faults.add(path, image.line, f"image name {quote(image.name)} again", "image names used once")


def source(path: str, format_name: str, sha256: str, images: Sequence[CollectedImage]) -> Source:
    """Return the collected images as a source.

    Parameters
    ----------
    images : sequence of CollectedImage
        Names are unique and safe (`refuse_bad_names`); coordinates are finite.
    """

    def read(positions: Ints, faults: FaultLog) -> ReadImages:
        return _columns([images[k] for k in positions.tolist()])

    return Source(
        path=path,
        format=format_name,
        sha256=sha256,
        names=[image.name for image in images],
        weights=np.array([BYTES_PER_OBJECT * len(image.objects) for image in images], np.int64),
        read=read,
    )


def _columns(images: Sequence[CollectedImage]) -> ReadImages:
    objects = [one for image in images for one in image.objects]
    ids = np.array([one.id or k for image in images for k, one in enumerate(image.objects, start=1)], np.int64)
    regions = np.array([one.region for one in objects], np.int64)
    confidences = np.array([one.confidence for one in objects], np.float64)
    boxes, shapes, mended = _shapes(objects)
    columns = Objects(
        offsets=_offsets([len(image.objects) for image in images]),
        ids=ids,
        boxes=boxes,
        regions=np.where(regions == 0, ids, regions),
        dont_care=np.array([one.dont_care for one in objects], dtype=bool),
        texts=concatenate_texts([one.text for one in objects]),
        confidences=None if np.isnan(confidences).all() else confidences,
        **shapes,
    )
    sizes = np.array([(image.height, image.width) for image in images], np.float64).reshape(-1, 2)
    return ReadImages(sizes, columns, mended)


def _shapes(objects: Sequence[CollectedObject]) -> tuple[Floats, dict[str, Any], GeometryCounts]:
    """Bounding boxes; polygons, vertices and their offsets where any object has them; what was mended."""
    is_box = np.array([len(one.coordinates) == 4 for one in objects], dtype=bool)
    boxes = np.zeros((len(objects), 4))
    boxes[is_box] = np.array([one.coordinates for one in objects if len(one.coordinates) == 4]).reshape(-1, 4)
    flat_boxes = GeometryCounts(zero_area=int((boxes[is_box, 2:] <= boxes[is_box, :2]).any(axis=1).sum()))
    if is_box.all():
        return boxes, {}, flat_boxes
    from evaltex_cli.geometry import polygons

    rings = [one.coordinates for one in objects if len(one.coordinates) != 4]
    vertices = np.array([value for ring in rings for value in ring], np.float64).reshape(-1, 2)
    offsets = _offsets([0 if len(one.coordinates) == 4 else len(one.coordinates) // 2 for one in objects])
    geometries, mended = polygons.from_vertices(vertices, offsets)
    first = offsets[:-1][~is_box]
    boxes[~is_box, :2] = np.minimum.reduceat(vertices, first)
    boxes[~is_box, 2:] = np.maximum.reduceat(vertices, first)
    return boxes, {"polygons": geometries, "vertices": vertices, "vertex_offsets": offsets}, mended + flat_boxes


def _offsets(counts: Sequence[int]) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
