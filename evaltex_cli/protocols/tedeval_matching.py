"""Matches of TedEval: don't care cut off, and groups of objects and detections by area."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.differences import cuts
from evaltex_cli.geometry.overlaps import shapes_of
from evaltex_cli.protocols.ratios import divide, settled, settled_sums
from evaltex_cli.protocols.tedeval_outlines import Outlines, length
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    Geometries,
    ImageBatch,
    Ints,
    Overlaps,
    blocks,
    distinct,
    expanded,
)

SEVERAL_LINES = 45.0
"""Angle in degrees between the direction of reading and that to a neighbour,
from which both are on several lines.
"""
ROUNDING = 1e-9
BLOCK_PAIRS = 1 << 16
CUT_VERTICES_AT_ONCE = 1 << 15
"""Vertices of shapes that are cut off detections at once."""

TRUNCATED = Convention(truncated=True)


class Scene(NamedTuple):
    """A batch after don't care was cut off."""

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64. Overlapping pairs of an object that counts and a detection,
    sorted by (gt, det)."""
    recall: Floats
    precision: Floats
    """`recall` and `precision`: (p,) float64. Common area as a share of the object's, and of what
    remains of the detection's."""
    slanted: Bools
    """(p,) bool. Pairs of which a polygon is one side."""
    ignored: Bools
    """(D,) bool. Detections of don't care."""
    cut: Geometries
    """(D,) array of geometries. What remains of a detection; None where nothing was cut off, or
    nothing that counts is overlapped."""


# Don't care ---------------------------------------------------------------------------------------


def scene_of(batch: ImageBatch, overlaps: Overlaps, t_r: float, t_p: float) -> Scene:
    """Find the detections of don't care, and cut don't care off all detections.

    A don't-care object first loses what it shares with any object that counts. A detection is of
    don't care when those of which it covers more than t_r are t_p of its area or more, or a single
    one is more than t_p. Every detection loses what it shares with don't care.
    """
    gt, det, area, det_area = overlaps.gt, overlaps.det, overlaps.area, overlaps.det_area
    ignored = np.zeros(batch.det.count, dtype=bool)
    left: Geometries = np.full(batch.det.count, None, dtype=object)
    gt_slanted, det_slanted = batch.gt.outlines.counts > 0, batch.det.outlines.counts > 0
    on_dont_care = batch.gt.dont_care[gt]
    if on_dont_care.any():
        gt_shapes, det_shapes = shapes_of(batch, TRUNCATED)
        dc, dc_det, shared = gt[on_dont_care], det[on_dont_care], area[on_dont_care]
        gt, det, area = gt[~on_dont_care], det[~on_dont_care], area[~on_dont_care]
        counts = (np.bincount(det, minlength=batch.det.count) > 0)[dc_det]
        words = cuts(gt_shapes, batch.gt.offsets, batch.gt.dont_care, distinct(dc))
        cut = _CutDetections(det_shapes, left)
        own_area, parts = overlaps.gt_area, words.parts() or [(0, 0)]
        # Don't-care objects of which nothing is cut are between the others, in the same order.
        ends = np.searchsorted(dc, words.rows[[stop for _, stop in parts[:-1]]]).tolist()
        for part, (first, last) in zip(parts, pairwise([0, *ends, len(dc)]), strict=True):
            remains: Geometries = np.full(batch.gt.count, None, dtype=object)
            remains[words.rows[slice(*part)]] = words.remains(*part)
            own_area = _areas(remains, own_area)
            some = first + np.flatnonzero(shapes.has_geometry(remains[dc[first:last]]))
            drawn = shapes.from_geometries(gt_shapes.boxes, remains)
            shared[some] = shapes.pair_area(drawn, dc[some], det_shapes, dc_det[some])
            # Of detections that overlap nothing else, what remains is not asked for.
            meets = first + np.flatnonzero((shared[first:last] > 0) & counts[first:last])
            cut.subtract(dc_det[meets], _drawn(remains, gt_shapes, dc[meets]))
        pairs = overlaps._replace(gt=dc, det=dc_det, area=shared)
        recall = settled(divide(shared, own_area[dc]), t_r, pairs)
        precision = settled(divide(shared, det_area[dc_det]), t_p, pairs)
        covered = recall > t_r
        covered_det, count = dc_det[covered], batch.det.count
        slanted = (gt_slanted[dc] | det_slanted[dc_det])[covered]
        total = _sums(covered_det, precision[covered], slanted, count, t_p)
        ignored = (total >= t_p) & (np.bincount(covered_det, minlength=count) > 0)
        ignored[dc_det[precision > t_p]] = True

        det_area = _areas(left, det_area)
        some = np.flatnonzero(shapes.has_geometry(left[det]))
        drawn = shapes.from_geometries(det_shapes.boxes, left)
        area[some] = shapes.pair_area(gt_shapes, gt[some], drawn, det[some])
        gt, det, area = gt[area > 0], det[area > 0], area[area > 0]
    pairs = overlaps._replace(gt=gt, det=det, area=area)
    recall = settled(divide(area, overlaps.gt_area[gt]), t_r, pairs)
    precision = settled(divide(area, det_area[det]), t_p, pairs)
    return Scene(gt, det, recall, precision, gt_slanted[gt] | det_slanted[det], ignored, left)


def _areas(cut: Geometries, whole: Floats) -> Floats:
    """(n,) areas of what remains of shapes, of these areas as a whole where nothing was cut out."""
    some = np.flatnonzero(shapes.has_geometry(cut))
    result = whole.copy()
    result[some] = geometry.polygons.area(cut[some])
    return result


def _drawn(cut: Geometries, of: shapes.Shapes, rows: Ints) -> Geometries:
    """(p,) geometries of what remains of some shapes, whole where nothing was cut out."""
    result = cut[rows]
    whole = np.flatnonzero(~shapes.has_geometry(result))
    result[whole] = shapes.geometries(of, rows[whole])
    return result


class _CutDetections(NamedTuple):
    """The detections of a batch, of which don't care is cut off."""

    whole: shapes.Shapes
    left: Geometries
    """(D,) geometries of what remains; None where nothing was cut off."""

    def subtract(self, target: Ints, others: Geometries) -> None:
        """Subtract ``others[k]`` from detection ``target[k]`` for all k, one after another."""
        left, touched = self.left, distinct(target)
        new = touched[~shapes.has_geometry(left[touched])]
        left[new] = shapes.geometries(self.whole, new)
        order = np.argsort(target, kind="stable")
        # The position of each pair among those of its target: each turn subtracts one from every
        # target.
        turn = expanded(np.bincount(target, minlength=len(left)))[1]
        vertices = geometry.shapely.get_num_coordinates(others).astype(np.int64)
        for k in range(int(turn.max(initial=-1)) + 1):
            chosen = order[turn == k]
            for start, stop in blocks(vertices[chosen], CUT_VERTICES_AT_ONCE):
                some = chosen[start:stop]
                left[target[some]] = geometry.geos.difference(left[target[some]], others[some])


# Matches ------------------------------------------------------------------------------------------


def match(
    scene: Scene,
    gt_outlines: Outlines,
    det_outlines: Outlines,
    t_r: float,
    t_p: float,
    center: float,
) -> Bools:
    """(p,) whether a pair is of any match.

    Parameters
    ----------
    scene : Scene
    gt_outlines, det_outlines : Outlines
    t_r, t_p : float
        Least area recall and precision; of a split and of a merge, of the sum.
    center : float
        One-to-one: centres are nearer than this share of the mean diagonal.
    """
    gt, det = scene.gt, scene.det
    enough_recall, enough_precision = scene.recall >= t_r, scene.precision >= t_p
    both, counts = enough_recall & enough_precision, ~scene.ignored[det]
    alone = (np.bincount(gt[both], minlength=len(gt_outlines.corners))[gt] == 1) & (
        np.bincount(det[both], minlength=len(det_outlines.corners))[det] == 1
    )
    one_to_one = both & alone & counts
    pairs = np.flatnonzero(one_to_one)
    for first in range(0, len(pairs), BLOCK_PAIRS):
        some = pairs[first : first + BLOCK_PAIRS]
        one_to_one[some] = _near(gt[some], det[some], scene, gt_outlines, det_outlines, center)
    merges = _large_enough(enough_recall & counts, det, scene.precision, t_p, scene.slanted)
    splits = _large_enough(enough_precision & counts, gt, scene.recall, t_r, scene.slanted)
    merged = _on_one_line(merges, det, gt, gt_outlines)
    split = _on_one_line(splits, gt, det, det_outlines)
    return np.asarray(one_to_one | merged | split)


def _near(
    gt: Ints, det: Ints, scene: Scene, gt_outlines: Outlines, det_outlines: Outlines, center: float
) -> Bools:
    centre = det_outlines.centres(det)
    cut = np.flatnonzero(shapes.has_geometry(scene.cut[det]))
    if len(cut):
        centre[cut] = geometry.shapely.get_coordinates(geometry.geos.centroid(scene.cut[det[cut]]))
    distance = length(gt_outlines.centres(gt) - centre)
    diagonals = gt_outlines.diagonals(gt) + det_outlines.diagonals(det)
    apart = np.divide(distance, diagonals, out=np.full(len(distance), np.inf), where=diagonals > 0)
    return np.asarray(apart * 2 < center)


def _sums(one: Ints, share: Floats, slanted: Bools, objects: int, threshold: float) -> Floats:
    """(objects,) sums of the shares of pairs; those with a polygon are at the
    threshold if only rounding is between.
    """
    has_polygon = np.bincount(one[slanted], minlength=objects) > 0
    return settled_sums(np.bincount(one, weights=share, minlength=objects), threshold, has_polygon)


def _large_enough(
    candidate: Bools, one: Ints, share: Floats, threshold: float, slanted: Bools
) -> Bools:
    """(p,) whether a pair is one of two or more candidates of one object or
    detection that reach the threshold.
    """
    objects = int(one.max(initial=-1)) + 1
    total = _sums(one[candidate], share[candidate], slanted[candidate], objects, threshold)
    is_group = (np.bincount(one[candidate], minlength=objects) >= 2) & (total >= threshold)
    return np.asarray(candidate & is_group[one])


def _on_one_line(chosen: Bools, one: Ints, many: Ints, outlines: Outlines) -> Bools:
    """(p,) the chosen pairs of those groups whose members, of which these are
    the outlines, are on one line.
    """
    members = np.flatnonzero(chosen)
    group = np.unique(one[members], return_inverse=True)[1]
    several = _on_several_lines(group, many[members], outlines)
    result = np.zeros(len(one), dtype=bool)
    result[members] = ~several[group]
    return result


def _on_several_lines(group: Ints, member: Ints, outlines: Outlines) -> Bools:
    """(groups,) whether any two members of a group are on different lines.

    Of members in the same place, two are enough.

    For members x and y, x's direction of reading is that from the middle of its first side to its
    centre. Seen from y's centre, both make an angle; folded to [0, 90] degrees it is below
    `SEVERAL_LINES` for all of one line.

    Parameters
    ----------
    group : (m,) int64
        Group of each member, in ``range(groups)``, none of them empty.
    member : (m,) int64
        Which of the outlines it is.
    outlines : Outlines
    """
    named = distinct(member)
    member = np.searchsorted(named, member)
    starts, centres = outlines.starts_of_line(named), outlines.centres(named)
    places = np.concatenate([starts, centres], axis=1)
    by_place = np.lexsort(places.T)
    is_new = (places[by_place[1:]] != places[by_place[:-1]]).any(axis=1)
    place = np.empty_like(by_place)
    place[by_place] = np.cumsum(np.concatenate([np.zeros(min(len(places), 1), bool), is_new]))
    place = place[member]
    order = np.lexsort((place, group))
    group, member, place = group[order], member[order], place[order]
    # Of equal members next to each other two stay: a pair of them is still compared.
    again = (group[1:] == group[:-1]) & (place[1:] == place[:-1])
    stays = np.concatenate([np.ones(min(len(order), 2), dtype=bool), ~(again[1:] & again[:-1])])
    group, member = group[stays], member[stays]
    size = np.bincount(group)
    # Before the cumulative sum counts a group itself, it is where the group begins.
    first = np.cumsum(size) - size
    several = np.zeros(len(size), dtype=bool)
    # One member of each group comes first: of a crowd it nearly always shows that lines differ.
    rows = np.concatenate([first, np.delete(np.arange(len(group)), first)])
    for block in _blocks(size[group[rows]]):
        unknown = rows[block][~several[group[rows[block]]]]
        x, k = expanded(size[group[unknown]])
        x = unknown[x]
        y = first[group[x]] + k
        x, y = x[x != y], y[x != y]
        to_centre = centres[member[x]] - centres[member[y]]
        to_start = starts[member[x]] - centres[member[y]]
        turn = np.degrees(
            np.arctan2(to_centre[:, 1], to_centre[:, 0])
            - np.arctan2(to_start[:, 1], to_start[:, 0])
        )
        angle = _folded(turn)
        for tie in np.flatnonzero(np.abs(angle - SEVERAL_LINES) < ROUNDING).tolist():
            (ax, ay), (bx, by) = to_centre[tie].tolist(), to_start[tie].tolist()
            angle[tie] = _folded(np.array(math.degrees(math.atan2(ay, ax) - math.atan2(by, bx))))
        several[group[x[angle >= SEVERAL_LINES]]] = True
    return several


def _folded(turn: Floats) -> Floats:
    turn = np.where(turn < 0, turn + 360, turn)
    turn = np.where(turn > 180, 360 - turn, turn)
    return np.minimum(turn, 180 - turn)


def _blocks(sizes: Ints) -> Iterator[slice]:
    """Cut rows into stretches whose sizes sum to `BLOCK_PAIRS` or little more."""
    if len(sizes):
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // BLOCK_PAIRS)) + 1
        for start, stop in pairwise([0, *cuts.tolist(), len(sizes)]):
            yield slice(start, stop)
