"""Detections as they would be, were some kinds of mistakes repaired, and nothing else changed.

docs/diagnose.md, section 1, says what becomes of each kind, and of its texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import shapely

from evaltex_cli.diagnosis.error_types import MISREAD, OF_OBJECTS, Mistakes
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Texts,
    concatenate,
    offsets_of,
    some_images,
    take,
)

Outline: TypeAlias = Floats
"""(k, 2) vertices of a polygon; or the two corners of a box."""
SAME_AREA = 1e-9
"""An overlay that differs from an outline by less than this share of its area is that outline."""


class Made(NamedTuple):
    """A detection that a repair makes."""

    place: int
    """The detection in whose place it comes; D + i for the missed object i."""
    outline: Outline
    text: str
    confidence: float


class Repairs:
    """The repairs of a batch; `as_boxes` is for a protocol that takes polygons so, `misread`, (G,)
    bool, for one that compares texts.
    """

    def __init__(
        self,
        measured: Measured,
        mistakes: Mistakes,
        as_boxes: bool = False,
        misread: Bools | None = None,
    ) -> None:
        overlaps = measured.overlaps(Convention(as_boxes=as_boxes))
        self.batch, self.mistakes = measured.batch, mistakes
        self.misread = np.zeros(self.batch.gt.count, dtype=bool) if misread is None else misread
        self.gt = _outlines(self.batch.gt, overlaps.gt_shapes)
        self.det = _outlines(self.batch.det, overlaps.det_shapes)
        self.gt_shapes = overlaps.gt_shapes.geometries(np.arange(len(self.gt)))
        self.det_shapes = overlaps.det_shapes.geometries(np.arange(len(self.det)))
        self.links = list(zip(mistakes.gt.tolist(), mistakes.det.tolist(), strict=True))
        is_cut = self._links("merged") | self._links("loose")
        self.cut = {k: self._overlay(shapely.intersection, k) for k in is_cut}
        self.grown = {k: self._overlay(shapely.union, k) for k in self._links("tight")}
        self.words = words_of_pieces(measured.batch, mistakes)
        confidences = self.batch.det.confidences
        self.confidences = np.full(len(self.det), np.nan) if confidences is None else confidences

    def _overlay(self, how: Callable[..., Any], link: int) -> Outline:
        """Return the intersection or union of a pair; if it is one of both, as that was read."""
        i, j = self.links[link]
        # Of the first, GEOS takes the direction and the first vertex, which some protocols heed.
        overlay = how(self.det_shapes[j], self.gt_shapes[i])
        if len(self.gt[i]) == len(self.det[j]) == 2:
            return _corners(overlay)
        for outline, side in ((self.gt[i], self.gt_shapes[i]), (self.det[j], self.det_shapes[j])):
            if abs(overlay.area - side.area) <= SAME_AREA * overlay.area:
                return np.asarray(outline)
        return _ring(overlay)

    def after(self, kinds: Collection[str]) -> tuple[Ints, Measured]:
        """Repair some of `ERROR_TYPES`; return the images that change, sorted, and these after."""
        batch, det = self.batch, self.batch.det
        made, gone = self._made(kinds)
        # By image; in it, what was made is in the place of what it was made of.
        stays = np.flatnonzero(~gone)
        place = np.concatenate([stays, np.array([one.place for one in made], np.int64)])
        image = np.concatenate([det.image, batch.gt.image])[place]
        rows = np.concatenate([stays, det.count + np.arange(len(made))])
        order = np.lexsort((place, image))
        offsets = offsets_of(np.bincount(image, minlength=len(batch.names)))
        after = take(concatenate([det, _objects(det, made)]), rows[order], offsets)
        changed = np.unique(np.concatenate([det.image[gone], image[len(stays) :]]))
        repaired = replace(batch, det=after, in_detections=None)
        return changed, Measured(some_images(repaired, changed))

    def _made(self, kinds: Collection[str]) -> tuple[list[Made], Bools]:
        """Return the detections that repairs make, and (D,) which of the batch give way."""
        mistakes, batch = self.mistakes, self.batch
        made, gone = [], np.zeros(batch.det.count, dtype=bool)
        for kind in {"false", "duplicate"} & set(kinds):
            gone |= getattr(mistakes, kind)
        merged, split, loose, tight, misread = (
            self._links(kind) if kind in kinds else set()
            for kind in ("merged", "split", "loose", "tight", MISREAD)
        )
        misread -= self._links("merged") - merged  # one text of several objects stays
        pieces: dict[int, Made] = {}
        for k in sorted(merged | split | loose | tight | misread):
            i, j = self.links[k]
            gone[j] = True
            if k in tight:
                outline = self.gt[i] if k in loose else self.grown[k]
            else:
                outline = self.cut[k] if k in merged or k in loose else self.det[j]
            text = self.words[k] if k in merged else batch.det.texts[j]
            text = batch.gt.texts[i] if k in misread else text
            piece = Made(j, outline, text, float(self.confidences[j]))
            if k in split:
                pieces[k] = piece
            else:
                made.append(piece)
        groups = self._groups(pieces, is_merged="merged" not in kinds)
        made += [self._united(group, pieces) for group in groups]
        for i in np.flatnonzero(mistakes.missed).tolist() if "missed" in kinds else []:
            made.append(Made(batch.det.count + i, self.gt[i], batch.gt.texts[i], 1.0))
        return made, gone

    def _links(self, kind: str) -> set[int]:
        """Return the links of objects or detections of a kind."""
        of_link = self.mistakes.gt if kind in OF_OBJECTS else self.mistakes.det
        is_wrong = self.misread if kind == MISREAD else getattr(self.mistakes, kind)
        return set(np.flatnonzero(is_wrong[of_link]).tolist())

    def _groups(self, links: Collection[int], is_merged: bool) -> list[list[int]]:
        """Return the links of each object; or of all that hang together by merged detections."""
        group_of: dict[int, list[int]] = {}  # of an object; of a detection j at -1 - j
        for k in links:
            i, j = self.links[k]
            own = group_of.setdefault(i, [])
            own.append(k)
            other = group_of.setdefault(-1 - j, own) if is_merged else own
            if other is not own:
                own += other
                for gt, det in (self.links[m] for m in other):
                    group_of[gt] = group_of[-1 - det] = own
        return list({id(group): group for group in group_of.values()}.values())

    def _united(self, links: list[int], all_pieces: dict[int, Made]) -> Made:
        """Unite the pieces of some links; a detection that stays merged is one piece of several."""
        objects = sorted({self.links[k][0] for k in links})
        of_detection = {all_pieces[k].place: all_pieces[k] for k in links}
        pieces = [of_detection[j] for j in sorted(of_detection)]
        parts = _drawn([piece.outline for piece in pieces])
        has_words = len(objects) > 1 or len(self.batch.gt.texts[objects[0]].split()) > 1
        order = _reading_order(parts.boxes, self.batch.gt.boxes[objects])
        return Made(
            pieces[0].place,
            self._union(parts, objects),
            (" " if has_words else "").join(pieces[k].text for k in order),
            float(np.max([piece.confidence for piece in pieces])),
        )

    def _union(self, parts: Outlines, objects: list[int]) -> Outline:
        shapes = Shapes(parts.boxes, outlines.valid_polygons(parts))
        pieces = shapely.union_all(shapes.geometries(np.arange(len(parts.boxes))))
        if parts.all_boxes:
            return _corners(pieces)
        text = shapely.union_all(self.gt_shapes[objects])
        return _ring(shapely.union(pieces, shapely.intersection(shapely.convex_hull(pieces), text)))


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


def _objects(det: Objects, made: Sequence[Made]) -> Objects:
    """Return detections that were made as objects of one image."""
    ids = int(det.ids.max(initial=0)) + 1 + np.arange(len(made))
    has_confidences = det.confidences is not None or not det.count
    return Objects(
        offsets=np.array([0, len(made)]),
        ids=ids,
        outlines=_drawn([one.outline for one in made]),
        regions=ids,
        dont_care=np.zeros(len(made), dtype=bool),
        texts=Texts.of([one.text for one in made]),
        confidences=np.array([one.confidence for one in made]) if has_confidences else None,
    )


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the left, or the top."""
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    middle = boxes[:, axis] + boxes[:, axis + 2]
    return list(np.lexsort((boxes[:, 1 - axis], middle)).tolist())
