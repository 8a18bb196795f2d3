"""Detections as they would be, were some kinds of mistakes repaired, and nothing else changed.

docs/diagnose.md, section 1, says what becomes of each kind, and of its texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import shapely

from evaltex_cli import records
from evaltex_cli.diagnosis.error_types import MISREAD, Mistakes
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Outlines

Outline: TypeAlias = Floats
"""(k, 2) vertices of a polygon; or the two corners of a box."""
SAME_AREA = 1e-9
"""An overlay that differs from an outline by less than this share of its area is that outline."""


class Repaired(NamedTuple):
    """A detection that a repair makes."""

    place: int
    """The detection in whose place it comes; D + i for the missed object i."""
    outline: Outline
    text: str
    confidence: float


class Repairs:
    """The repairs of a batch; `as_boxes` is for a protocol that takes polygons so."""

    def __init__(self, measured: Measured, mistakes: Mistakes, as_boxes: bool = False) -> None:
        overlaps = measured.overlaps(Convention(as_boxes=as_boxes))
        self.batch, self.mistakes = measured.batch, mistakes
        self.gt = _outlines(self.batch.gt, overlaps.gt_shapes)
        self.det = _outlines(self.batch.det, overlaps.det_shapes)
        self.gt_shapes = overlaps.gt_shapes.geometries(np.arange(len(self.gt)))
        self.det_shapes = overlaps.det_shapes.geometries(np.arange(len(self.det)))
        self.links = list(zip(mistakes.gt.tolist(), mistakes.det.tolist(), strict=True))
        self.words = words_of_pieces(self.batch, mistakes)
        confidences = self.batch.det.confidences
        self.confidences = np.full(len(self.det), np.nan) if confidences is None else confidences

    def after(self, kinds: Collection[str]) -> tuple[Ints, Measured]:
        """Repair some kinds of mistakes; return the images that change, sorted, and these after."""
        batch, det = self.batch, self.batch.det
        new, gone = self._detections(kinds)
        # By image; in it, a new detection is in the place of what it was made from.
        stays = np.flatnonzero(~gone)
        place = np.concatenate([stays, np.array([one.place for one in new], np.int64)])
        image = np.concatenate([det.image, batch.gt.image])[place]
        rows = np.concatenate([stays, det.count + np.arange(len(new))])
        order = np.lexsort((place, image))
        offsets = records.offsets_of(np.bincount(image, minlength=len(batch.names)))
        after = records.take(records.concatenate([det, _objects(det, new)]), rows[order], offsets)
        changed = np.unique(np.concatenate([det.image[gone], image[len(stays) :]]))
        repaired = replace(batch, det=after, in_detections=None)
        return changed, Measured(records.some_images(repaired, changed))

    def _detections(self, kinds: Collection[str]) -> tuple[list[Repaired], Bools]:
        """Return the detections that repairs make, and (D,) which of the batch give way."""
        mistakes, batch = self.mistakes, self.batch
        gone = np.zeros(batch.det.count, dtype=bool)
        for kind in {"false", "duplicate"} & set(kinds):
            gone |= getattr(mistakes, kind)
        merged, split, loose, tight, misread = (
            mistakes.links(kind) if kind in kinds else set()
            for kind in ("merged", "split", "loose", "tight", MISREAD)
        )
        misread -= mistakes.links("merged") - merged  # one text of several objects stays
        pieces: dict[int, Repaired] = {}
        for k in sorted(merged | split | loose | tight | misread):
            i, j = self.links[k]
            gone[j] = True
            outline, text = self.det[j], batch.det.texts[j]
            if k in tight:
                outline = self.gt[i] if k in loose else self._overlay(shapely.union, i, j)
            elif k in merged or k in loose:
                outline = self._overlay(shapely.intersection, i, j)
            if k in misread:
                text = batch.gt.texts[i]
            elif k in merged:
                text = self.words[k]
            pieces[k] = Repaired(j, outline, text, float(self.confidences[j]))
        new = [piece for k, piece in pieces.items() if k not in split]
        groups = self._groups(sorted(split), is_merged="merged" not in kinds)
        new += [self._united(group, pieces) for group in groups]
        if "missed" in kinds:
            new += [
                Repaired(batch.det.count + i, self.gt[i], batch.gt.texts[i], 1.0)
                for i in np.flatnonzero(mistakes.missed).tolist()
            ]
        return new, gone

    def _overlay(self, how: Callable[..., Any], i: int, j: int) -> Outline:
        """Return the intersection or union of a pair; if it is one of both, as that was read."""
        # Of the first, GEOS takes the direction and the first vertex, which some protocols heed.
        overlay = how(self.det_shapes[j], self.gt_shapes[i])
        if len(self.gt[i]) == len(self.det[j]) == 2:
            return _corners(overlay)
        for outline, side in ((self.gt[i], self.gt_shapes[i]), (self.det[j], self.det_shapes[j])):
            if abs(overlay.area - side.area) <= SAME_AREA * overlay.area:
                return outline
        return _ring(overlay)

    def _groups(self, links: Collection[int], is_merged: bool) -> list[set[int]]:
        """Return the links of each object; or of all that hang together by merged detections."""
        group_of: dict[int, set[int]] = {}  # by object; and by detection j at -1 - j
        keys = [(i, -1 - j) if is_merged else (i,) for i, j in self.links]
        for k in links:
            group = {k}.union(*(group_of.get(key, ()) for key in keys[k]))
            group_of.update((key, group) for m in group for key in keys[m])
        return list({id(group): group for group in group_of.values()}.values())

    def _united(self, links: Collection[int], all_pieces: Mapping[int, Repaired]) -> Repaired:
        """Unite the pieces of some links; a detection that stays merged is one piece of several."""
        objects = sorted({self.links[k][0] for k in links})
        of_detection = {all_pieces[k].place: all_pieces[k] for k in links}
        pieces = [of_detection[j] for j in sorted(of_detection)]
        parts = _drawn([piece.outline for piece in pieces])
        shapes = Shapes(parts.boxes, outlines.valid_polygons(parts))
        union = shapely.union_all(shapes.geometries(np.arange(len(pieces))))
        if not parts.all_boxes:  # text between the pieces belongs to them
            text = shapely.union_all(self.gt_shapes[objects])
            between = shapely.intersection(shapely.convex_hull(union), text)
            union = shapely.union(union, between)
        has_words = len(objects) > 1 or len(self.batch.gt.texts[objects[0]].split()) > 1
        order = _reading_order(parts.boxes, self.batch.gt.boxes[objects])
        return Repaired(
            pieces[0].place,
            _corners(union) if parts.all_boxes else _ring(union),
            (" " if has_words else "").join(pieces[k].text for k in order),
            float(np.max([piece.confidence for piece in pieces])),
        )


def words_of_pieces(batch: ImageBatch, mistakes: Mistakes) -> dict[int, str]:
    """Return the text of each piece of merged detections, by link: its word, if there are as many
    words as pieces, else the whole text.
    """
    pieces = defaultdict(list)
    for k in np.flatnonzero(mistakes.merged[mistakes.det]).tolist():
        pieces[int(mistakes.det[k])].append(k)
    result = {}
    for j, links in pieces.items():
        text = batch.det.texts[j]
        words = text.split()
        boxes = batch.gt.boxes[mistakes.gt[links]]
        for k, at in enumerate(_reading_order(boxes, batch.det.boxes[[j]])):
            result[links[at]] = words[k] if len(words) == len(links) else text
    return result


def _outlines(objects: Objects, shapes: Shapes) -> list[Outline]:
    """Return the outline of each object, as it was read."""
    result: list[Outline] = list(objects.boxes.reshape(-1, 2, 2))
    for k in np.flatnonzero(shapes.is_polygon).tolist():
        result[k] = objects.outlines.ring(k)
    return result


def _corners(geometry: shapely.Geometry) -> Outline:
    return np.asarray(shapely.bounds(geometry)).reshape(2, 2)


def _drawn(drawn: Sequence[Outline]) -> Outlines:
    counts = np.array([outline.size for outline in drawn], np.int64)
    numbers = np.concatenate([np.zeros(0), *(outline.ravel() for outline in drawn)])
    return outlines.drawn(numbers, counts, counts == 4)


def _ring(geometry: shapely.Geometry) -> Outline:
    """Return the outer vertices of a shape; of its convex hull, if it has several parts."""
    parts = [part for part in shapely.get_parts(geometry) if part.area > 0]
    whole = parts[0] if len(parts) == 1 else shapely.convex_hull(geometry)
    return np.asarray(shapely.get_coordinates(shapely.get_exterior_ring(whole))[:-1])


def _objects(det: Objects, new: Sequence[Repaired]) -> Objects:
    """Return new detections as objects of one image."""
    ids = int(det.ids.max(initial=0)) + 1 + np.arange(len(new))
    has_confidences = det.confidences is not None or not det.count
    return Objects(
        offsets=np.array([0, len(new)]),
        ids=ids,
        outlines=_drawn([one.outline for one in new]),
        regions=ids,
        dont_care=np.zeros(len(new), dtype=bool),
        texts=records.Texts.of([one.text for one in new]),
        confidences=np.array([one.confidence for one in new]) if has_confidences else None,
    )


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the left, or the top."""
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    middle = boxes[:, axis] + boxes[:, axis + 2]
    return list(np.lexsort((boxes[:, 1 - axis], middle)).tolist())
