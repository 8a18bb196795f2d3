"""Detections as they would be, were some kinds of mistakes repaired, and nothing else changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.diagnosis.error_types import Mistakes
from evaltex_cli.diagnosis.selection import Repaired
from evaltex_cli.geometry import outlines, rings, shapes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    Geometries,
    ImageBatch,
    Ints,
    Objects,
    concatenate_texts,
    offsets_of,
)
from evaltex_cli.records.rows import concatenate, take

SURE = 1.0
"""Confidence of an added detection."""
SAME_AREA = 1e-9
"""An overlay that differs from an outline by less than this share of its area is that outline."""


@dataclass(slots=True)
class _NewDetections:
    """Detections made by repairs, each in the place of another, with an
    outline that is a box or a ring of vertices.
    """

    image: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    outlines: list[Floats] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)

    def add(self, image: int, place: int, outline: Floats, text: str, confidence: float) -> None:
        self.image.append(image)
        self.place.append(place)
        self.outlines.append(outline)
        self.texts.append(text)
        self.confidences.append(confidence)


class _Outlines:
    """Outlines of one side: (4,) boxes or (k, 2) vertices, and what they enclose."""

    def __init__(self, objects: Objects, as_boxes: bool) -> None:
        self.boxes = objects.boxes
        self.shapes = shapes.from_objects(objects, Convention(as_boxes=as_boxes))
        self.is_polygon = self.shapes.is_polygon
        self.rings = rings.of(objects.outlines) if self.is_polygon.any() else None

    def __getitem__(self, index: int) -> Floats:
        if self.rings is None or not self.is_polygon[index]:
            box: Floats = self.boxes[index]
            return box
        points, offsets = self.rings
        ring: Floats = points[offsets[index] : offsets[index + 1]]
        return ring

    def geometries(self, index: Ints) -> Geometries:
        return shapes.geometries(self.shapes, index)


def repaired(
    batch: ImageBatch, mistakes: Mistakes, kinds: Collection[str], as_boxes: bool = False
) -> Repaired:
    """Repair some kinds of mistakes.

    Parameters
    ----------
    batch : ImageBatch
        Boxes and polygons.
    mistakes : Mistakes
    kinds : collection of str
        Of `error_types.ERROR_TYPES`.
    as_boxes : bool
        Whether polygons are repaired as their bounding boxes, for a protocol that takes them so.

    Notes
    -----
    - missed: a detection with the object's outline and transcription is added.
    - split: the pieces become one: boxes their bounding box; polygons their union and what of the
      object lies in the union's convex hull. Pieces of several objects that hang together become
      one, still merged, unless merged is repaired too.
    - merged: the detection becomes one for each of its objects: its intersection with the object.
    - loose: the detection is cut to its intersection with the object.
    - tight: the detection is joined with the object: boxes the bounding box of both; polygons the
      union.
    - false and duplicate: the detection is removed.

    Where loose and tight are both repaired, a detection that is both becomes its object. Pieces of
    a cut detection have one word each, in reading order, where it has as many words; else its whole
    text. United pieces have their texts in reading order, with blanks between where the object's
    own text has any.
    """
    gt, det = _Outlines(batch.gt, as_boxes), _Outlines(batch.det, as_boxes)
    made = _NewDetections()
    gone = np.zeros(batch.det.count, dtype=bool)
    for kind in {"false", "duplicate"} & set(kinds):
        gone |= getattr(mistakes, kind)
    gone |= _repair_relations(batch, mistakes, kinds, gt, det, made)
    gone |= _repair_outlines(batch, mistakes, kinds, gt, det, made)
    if "missed" in kinds:
        for i in np.flatnonzero(mistakes.missed).tolist():
            made.add(int(batch.gt.image[i]), batch.det.count + i, gt[i], batch.gt.texts[i], SURE)
    changed = np.zeros(len(batch.names), dtype=bool)
    changed[batch.det.image[gone]] = True
    changed[made.image] = True
    in_detections = None if batch.in_detections is None else batch.in_detections | changed
    detections, rows = _assembled(batch.det, np.flatnonzero(~gone), made)
    return Repaired(replace(batch, det=detections, in_detections=in_detections), changed, rows)


def _repair_relations(
    batch: ImageBatch,
    mistakes: Mistakes,
    kinds: Collection[str],
    gt: _Outlines,
    det: _Outlines,
    made: _NewDetections,
) -> Bools:
    """Repair split and merged; return which detections gave way."""
    none = np.zeros(len(mistakes.gt), dtype=bool)
    is_cut = mistakes.merged[mistakes.det] if "merged" in kinds else none
    is_united = mistakes.split[mistakes.gt] if "split" in kinds else none
    texts = [batch.det.texts[j] for j in mistakes.det.tolist()]
    outlines = [det[j] for j in mistakes.det.tolist()]
    cut = np.flatnonzero(is_cut).tolist()
    pieces = _cut(det, mistakes.det[is_cut], gt, mistakes.gt[is_cut])
    words = _words(batch, mistakes.gt[is_cut], mistakes.det[is_cut])
    for k, outline, text in zip(cut, pieces, words, strict=True):
        outlines[k], texts[k] = outline, text
    image, confidences = batch.det.image, _confidences(batch.det)
    for k in np.flatnonzero(is_cut & ~is_united).tolist():
        j = mistakes.det[k]
        made.add(int(image[j]), int(j), outlines[k], texts[k], float(confidences[j]))
    for group in _groups(mistakes, is_united, by_object="merged" in kinds):
        objects = np.unique(mistakes.gt[group])
        detections, first = np.unique(mistakes.det[group], return_index=True)
        parts = [outlines[group[k]] for k in first.tolist()]
        outline = _united(parts, [gt[i] for i in objects.tolist()])
        text = _joined(parts, [texts[group[k]] for k in first.tolist()], batch.gt, objects)
        place = int(detections[0])
        made.add(int(image[place]), place, outline, text, float(np.max(confidences[detections])))
    gone = np.zeros(batch.det.count, dtype=bool)
    gone[mistakes.det[is_cut | is_united]] = True
    return gone


def _repair_outlines(
    batch: ImageBatch,
    mistakes: Mistakes,
    kinds: Collection[str],
    gt: _Outlines,
    det: _Outlines,
    made: _NewDetections,
) -> Bools:
    """Repair loose and tight; return which detections gave way."""
    none = np.zeros(len(mistakes.gt), dtype=bool)
    cut = mistakes.loose[mistakes.det] if "loose" in kinds else none
    grown = mistakes.tight[mistakes.gt] if "tight" in kinds else none
    image, confidences = batch.det.image, _confidences(batch.det)
    for which, reshaped in ((cut & ~grown, _cut), (grown & ~cut, _grown), (cut & grown, _replaced)):
        i, j = mistakes.gt[which], mistakes.det[which]
        for detection, outline in zip(j.tolist(), reshaped(det, j, gt, i), strict=True):
            text, confidence = batch.det.texts[detection], float(confidences[detection])
            made.add(int(image[detection]), detection, outline, text, confidence)
    gone = np.zeros(batch.det.count, dtype=bool)
    gone[mistakes.det[cut | grown]] = True
    return gone


def _confidences(det: Objects) -> Floats:
    return np.full(det.count, np.nan) if det.confidences is None else det.confidences


def _cut(det: _Outlines, j: Ints, gt: _Outlines, i: Ints) -> list[Floats]:
    """Outlines of the intersections of detections and objects."""
    low, high = (
        np.maximum(det.boxes[j, :2], gt.boxes[i, :2]),
        np.minimum(det.boxes[j, 2:], gt.boxes[i, 2:]),
    )
    return _overlaid("intersection", np.concatenate([low, high], axis=1), det, j, gt, i)


def _grown(det: _Outlines, j: Ints, gt: _Outlines, i: Ints) -> list[Floats]:
    """Outlines of detections joined with objects."""
    low, high = (
        np.minimum(det.boxes[j, :2], gt.boxes[i, :2]),
        np.maximum(det.boxes[j, 2:], gt.boxes[i, 2:]),
    )
    return _overlaid("union", np.concatenate([low, high], axis=1), det, j, gt, i)


def _replaced(det: _Outlines, j: Ints, gt: _Outlines, i: Ints) -> list[Floats]:
    return [gt[k] for k in i.tolist()]


def _overlaid(
    how: Literal["intersection", "union"],
    boxes: Floats,
    det: _Outlines,
    j: Ints,
    gt: _Outlines,
    i: Ints,
) -> list[Floats]:
    """Boxes, and the outlines of overlays for them where a side is a polygon.

    Where an overlay is the object or the detection, its outline is as it was.
    """
    result = list(boxes)
    which = np.flatnonzero(det.is_polygon[j] | gt.is_polygon[i])
    if not len(which):
        return result
    detections, objects = det.geometries(j[which]), gt.geometries(i[which])
    overlay: Any = getattr(geometry.geos, how)(detections, objects)
    area, det_area, gt_area = (
        geometry.shapely.area(side) for side in (overlay, detections, objects)
    )
    for k, (at, shape) in enumerate(zip(which.tolist(), overlay, strict=True)):
        if abs(area[k] - gt_area[k]) <= SAME_AREA * gt_area[k]:
            result[at] = gt[int(i[at])]
        elif abs(area[k] - det_area[k]) <= SAME_AREA * det_area[k]:
            result[at] = det[int(j[at])]
        else:
            result[at] = _ring(shape)
    return result


def _ring(shape: Any) -> Floats:
    """The outer vertices of a polygon; of its convex hull where it falls in parts."""
    parts = geometry.shapely.get_parts(shape)
    parts = parts[geometry.shapely.area(parts) > 0]
    outline: Any = parts[0] if len(parts) == 1 else geometry.geos.convex_hull(shape)
    return np.asarray(geometry.shapely.get_coordinates(outline.exterior)[:-1], dtype=np.float64)


def _united(parts: Sequence[Floats], objects: Sequence[Floats]) -> Floats:
    """Outline of what the pieces of some objects are together."""
    if all(outline.ndim == 1 for outline in parts):
        boxes = np.array(parts)
        return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
    pieces: Any = geometry.geos.union_all([_geometry(outline) for outline in parts])
    text: Any = geometry.geos.union_all([_geometry(outline) for outline in objects])
    between = geometry.geos.intersection(geometry.geos.convex_hull(pieces), text)
    return _ring(geometry.geos.union(pieces, between))


def _geometry(outline: Floats) -> Any:
    if outline.ndim == 1:
        return geometry.shapely.box(*outline)
    return geometry.polygons.from_vertices(outline, np.array([0, len(outline)]))[0][0]


def _groups(mistakes: Mistakes, united: Bools, by_object: bool) -> Iterator[Ints]:
    """Links to unite: those of one object, or those that hang together by split objects."""
    key = mistakes.gt if by_object else _components(mistakes, united)
    links = np.flatnonzero(united)
    links = links[np.argsort(key[links], kind="stable")]
    if len(links):
        yield from np.split(links, np.flatnonzero(np.diff(key[links])) + 1)


def _components(mistakes: Mistakes, united: Bools) -> Ints:
    """(p,) a number for each link, the same for links that hang together by split objects."""
    gt, det = mistakes.gt[united], mistakes.det[united]
    label = np.arange(len(mistakes.split), dtype=np.int64)
    lowest = np.full(len(mistakes.merged), len(label), np.int64)
    while True:
        before = label.copy()
        # The lowest label spreads along links, from objects to detections and back, until nothing
        # changes.
        np.minimum.at(lowest, det, label[gt])
        np.minimum.at(label, gt, lowest[det])
        if (label == before).all():
            return label[mistakes.gt]


def _words(batch: ImageBatch, gt: Ints, det: Ints) -> list[str]:
    """The text of each piece of a cut detection: one word in reading order if
    there are as many, else all of it.
    """
    result = [batch.det.texts[j] for j in det.tolist()]
    groups: dict[int, list[int]] = {}
    for k, j in enumerate(det.tolist()):
        groups.setdefault(j, []).append(k)
    for j, members in groups.items():
        words = result[members[0]].split()
        if len(words) == len(members):
            boxes = batch.gt.boxes[gt[members]]
            for word, at in zip(words, _reading_order(boxes, batch.det.boxes[[j]]), strict=True):
                result[members[at]] = word
    return result


def _joined(parts: Sequence[Floats], texts: Sequence[str], gt: Objects, objects: Ints) -> str:
    """The texts of pieces in reading order."""
    boxes = np.array([_bounds(outline) for outline in parts])
    several_words = len(objects) > 1 or len(gt.texts[objects[0]].split()) > 1
    order = _reading_order(boxes, gt.boxes[objects])
    return (" " if several_words else "").join(texts[k] for k in order)


def _bounds(outline: Floats) -> Floats:
    return (
        outline if outline.ndim == 1 else np.concatenate([outline.min(axis=0), outline.max(axis=0)])
    )


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the
    left, or from the top.
    """
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    order: list[int] = np.lexsort(
        (boxes[:, 1 - axis], boxes[:, axis] + boxes[:, axis + 2])
    ).tolist()
    return order


def _assembled(det: Objects, unchanged: Ints, made: _NewDetections) -> tuple[Objects, Ints]:
    """Join detections that stay and those made, each in its place; return
    their rows too (`Repaired`).
    """
    count = len(made.image)
    if not count and len(unchanged) == det.count:
        return det, unchanged
    image = np.concatenate([det.image[unchanged], np.array(made.image, np.int64)])
    place = np.concatenate([unchanged, np.array(made.place, np.int64)])
    numbers = np.concatenate([np.zeros(0), *(outline.ravel() for outline in made.outlines)])
    sizes = np.array([outline.size for outline in made.outlines], np.int64)
    drawn, _ = outlines.from_numbers(
        numbers, sizes, np.array([outline.ndim == 1 for outline in made.outlines], bool)
    )
    highest = int(det.ids.max(initial=0))
    ids = np.arange(highest + 1, highest + 1 + count)
    new = Objects(
        offsets=np.array([0, count]),
        ids=ids,
        outlines=drawn,
        regions=ids,
        dont_care=np.zeros(count, dtype=bool),
        texts=concatenate_texts(made.texts),
        confidences=np.array(made.confidences)
        if det.confidences is not None or not det.count
        else None,
    )
    # By image; in it, what was made takes the place of what it was made of.
    order = np.lexsort((place, image))
    rows = np.concatenate([unchanged, det.count + np.arange(count)])[order]
    return take(
        concatenate([det, new]),
        rows,
        offsets_of(np.bincount(image, minlength=len(det.offsets) - 1)),
    ), rows
