"""Matches of TedEval: don't care cut off, then groups of objects and detections by area."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.protocols.ratios import divide
from evaltex_cli.protocols.tedeval.characters import Outlines, length
from evaltex_cli.records import Bools, Convention, Floats, Geometries, ImageBatch, Ints, Objects, Overlaps, expanded

SEVERAL_LINES = 45.0
"""Angle in degrees between the direction of reading and that to a neighbour, from which both are on several lines."""
ROUNDING = 1e-9
BLOCK_PAIRS = 1 << 20
MAX_NEIGHBOURS = 200_000_000
"""Most pairs of members in the splits and merges of a batch; they take half a minute."""

TRUNCATED = Convention(truncated=True)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A batch after don't care was cut off.

    Attributes
    ----------
    gt, det : (p,) int64
        Overlapping pairs of an object that counts and a detection, sorted by (gt, det).
    recall, precision : (p,) float64
        Common area as a share of the object's, and of what remains of the detection's.
    ignored : (D,) bool
        Detections of don't care.
    cut : (D,) array of geometries
        What remains of a detection; None where nothing was cut off.
    """

    gt: Ints
    det: Ints
    recall: Floats
    precision: Floats
    ignored: Bools
    cut: Geometries


# Don't care ----------------------------------------------------------------------------------------------------------


def scene_of(batch: ImageBatch, overlaps: Overlaps, t_r: float, t_p: float) -> Scene:
    """Find the detections of don't care, and cut don't care off all detections.

    A don't-care object first loses what it shares with any object that counts. A detection is of don't care when those
    of which it covers more than t_r are t_p of its area or more, or a single one is more than t_p. Every detection
    loses what it shares with don't care.
    """
    gt, det, area, det_area = overlaps.gt, overlaps.det, overlaps.area, overlaps.det_area
    ignored = np.zeros(batch.det.count, dtype=bool)
    cut: Geometries = np.full(batch.det.count, None, dtype=object)
    on_dont_care = batch.gt.dont_care[gt]
    if on_dont_care.any():
        gt_shapes, det_shapes = (shapes.of(side, TRUNCATED) for side in (batch.gt, batch.det))
        remains, own_area = _uncovered_dont_care(batch.gt, gt_shapes, np.unique(gt[on_dont_care]))
        dc = np.searchsorted(np.unique(gt[on_dont_care]), gt[on_dont_care])
        dc_det = det[on_dont_care]
        shared = geometry.polygons.intersection_area(remains[dc], shapes.geometries(det_shapes, dc_det))
        recall, precision = divide(shared, own_area[dc]), divide(shared, det_area[dc_det])
        covered = recall > t_r
        covered_det, count = dc_det[covered], batch.det.count
        total = np.bincount(covered_det, weights=precision[covered], minlength=count)
        ignored = (total >= t_p) & (np.bincount(covered_det, minlength=count) > 0)
        ignored[dc_det[precision > t_p]] = True

        meets = shared > 0
        touched, target = np.unique(dc_det[meets], return_inverse=True)
        cut[touched] = _subtracted(shapes.geometries(det_shapes, touched), target, remains[dc[meets]])
        det_area = det_area.copy()
        det_area[touched] = geometry.polygons.area(cut[touched])
        gt, det, area = gt[~on_dont_care], det[~on_dont_care], area[~on_dont_care]
        again = np.flatnonzero(shapes.has_geometry(cut)[det])
        area[again] = geometry.polygons.intersection_area(shapes.geometries(gt_shapes, gt[again]), cut[det[again]])
        gt, det, area = gt[area > 0], det[area > 0], area[area > 0]
    return Scene(gt, det, divide(area, overlaps.gt_area[gt]), divide(area, det_area[det]), ignored, cut)


def _uncovered_dont_care(objects: Objects, gt_shapes: shapes.Shapes, dont_care: Ints) -> tuple[Geometries, Floats]:
    """Return what these don't-care objects have to themselves, objects that count being cut out of them; and areas."""
    counting = np.flatnonzero(~objects.dont_care)
    offsets = [np.searchsorted(side, objects.offsets) for side in (dont_care, counting)]
    target, other = touching_boxes(gt_shapes.boxes[dont_care], offsets[0], gt_shapes.boxes[counting], offsets[1])
    remains = shapes.geometries(gt_shapes, dont_care)
    remains = _subtracted(remains, target, shapes.geometries(gt_shapes, counting[other]))
    return remains, geometry.polygons.area(remains)


def _subtracted(geometries: Geometries, target: Ints, others: Geometries) -> Geometries:
    """Subtract ``others[k]`` from ``geometries[target[k]]`` for all k, one after another."""
    result = geometries.copy()
    order = np.argsort(target, kind="stable")
    turn = expanded(np.bincount(target, minlength=len(result)))[1]
    for k in range(int(turn.max(initial=-1)) + 1):
        chosen = order[turn == k]
        result[target[chosen]] = geometry.geos.difference(result[target[chosen]], others[chosen])
    return result


# Matches -------------------------------------------------------------------------------------------------------------


def match(scene: Scene, gt_outlines: Outlines, det_outlines: Outlines, t_r: float, t_p: float, center: float) -> Bools:
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
    alone = (np.bincount(gt[both], minlength=len(gt_outlines.centre))[gt] == 1) & (
        np.bincount(det[both], minlength=len(det_outlines.centre))[det] == 1
    )
    one_to_one = both & alone & counts
    one_to_one[one_to_one] = _near(gt[one_to_one], det[one_to_one], scene, gt_outlines, det_outlines, center)
    merged = _grouped(enough_recall & counts, det, scene.precision, t_p, gt, gt_outlines)
    split = _grouped(enough_precision & counts, gt, scene.recall, t_r, det, det_outlines)
    return np.asarray(one_to_one | merged | split)


def _near(gt: Ints, det: Ints, scene: Scene, gt_outlines: Outlines, det_outlines: Outlines, center: float) -> Bools:
    centre = det_outlines.centre[det]
    cut = np.flatnonzero(shapes.has_geometry(scene.cut)[det])
    if len(cut):
        centre[cut] = geometry.shapely.get_coordinates(geometry.geos.centroid(scene.cut[det[cut]]))
    distance = length(gt_outlines.centre[gt] - centre)
    diagonals = gt_outlines.diagonal[gt] + det_outlines.diagonal[det]
    apart = np.divide(distance, diagonals, out=np.full(len(distance), np.inf), where=diagonals > 0)
    return np.asarray(apart * 2 < center)


def _grouped(candidate: Bools, one: Ints, share: Floats, threshold: float, many: Ints, outlines: Outlines) -> Bools:
    """(p,) whether a pair is of a group: candidates of one object or detection, two or more, together large enough."""
    objects = int(one.max(initial=-1)) + 1
    total = np.bincount(one[candidate], weights=share[candidate], minlength=objects)
    is_group = (np.bincount(one[candidate], minlength=objects) >= 2) & (total >= threshold)
    members = np.flatnonzero(candidate & is_group[one])
    group = np.unique(one[members], return_inverse=True)[1]
    several = _on_several_lines(group, outlines.start_of_line[many[members]], outlines.centre[many[members]])
    result = np.zeros(len(one), dtype=bool)
    result[members] = ~several[group]
    return result


def _on_several_lines(group: Ints, start: Floats, centre: Floats) -> Bools:
    """(groups,) whether any two members of a group are on different lines.

    Of members in the same place, two stand for all.

    For members x and y, x's direction of reading is that from the middle of its first side to its centre. Seen from y's
    centre, both make an angle; folded to [0, 90] degrees it is below `SEVERAL_LINES` for all of one line.

    Parameters
    ----------
    group : (m,) int64
        Group of each member, in ``range(groups)``, none of them empty.
    start, centre : (m, 2) float64
    """
    members = np.concatenate([group[:, None], start, centre], axis=1)
    order = np.lexsort(members.T[::-1])
    again = (members[order[1:]] == members[order[:-1]]).all(axis=1)
    order = order[np.concatenate([np.ones(min(len(order), 2), dtype=bool), ~(again[1:] & again[:-1])])]
    group, start, centre = group[order], start[order], centre[order]
    size = np.bincount(group)
    if int((size * size).sum()) > MAX_NEIGHBOURS:
        raise InputError(
            f"tedeval: splits and merges of up to {size.max()} members; expected fewer in one place: remove duplicates"
            " (non-maximum suppression)"
        )
    first = np.cumsum(size) - size
    several = np.zeros(len(size), dtype=bool)
    for block in _blocks(size[group]):
        x, k = expanded(size[group[block]])
        x += block.start
        y = first[group[x]] + k
        x, y = x[x != y], y[x != y]
        to_centre, to_start = centre[x] - centre[y], start[x] - centre[y]
        turn = np.degrees(np.arctan2(to_centre[:, 1], to_centre[:, 0]) - np.arctan2(to_start[:, 1], to_start[:, 0]))
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
