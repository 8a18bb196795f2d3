"""Matches of TedEval: pseudo character centres, don't care cut off, groups of objects and detections by area."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError
from evaltex_cli.geometry import rings, shapes
from evaltex_cli.geometry.boxes import around
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.protocols.ratios import divide, quotient, settled, settled_sums
from evaltex_cli.records import Bools, Convention, Floats, Geometries, ImageBatch, Ints, Objects, Overlaps, expanded

VERTICAL = 1.5
"""A word whose bounding box is more than this many times as high as wide is read from top to bottom."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """Vertices of one side's objects, cut to integers, and what follows from them.

    Attributes
    ----------
    points, offsets : (v, 2) float64, (n + 1,) int64
        Object i's vertices are ``points[offsets[i]:offsets[i + 1]]``.
    corners : (n, 4, 2)
        Both ends of the upper side in reading direction, then of the lower side against it.
    centre : (n, 2)
        Centroid; NaN without area.
    """

    points: Floats
    offsets: Ints
    corners: Floats
    centre: Floats

    @property
    def start_of_line(self) -> Floats:
        """(n, 2) middle of the side where reading begins."""
        return np.asarray((self.corners[:, 0] + self.corners[:, 3]) / 2)

    @property
    def diagonal(self) -> Floats:
        """(n,) mean of both diagonals."""
        return np.asarray(length(self.corners[:, :2] - self.corners[:, 2:]).mean(axis=1))


def outlines_of(objects: Objects) -> Outlines:
    """Cut the vertices of objects to integers, and find their corners and centroids."""
    points, offsets = rings.of(objects.outlines, truncated=True)
    first, count = offsets[:-1], np.diff(offsets)
    top_end = np.maximum(count // 2, 1) - 1
    at = np.stack([first, first + top_end, first + np.minimum(top_end + 1, count - 1), offsets[1:] - 1], axis=1)
    following = points[_following(offsets)]
    cross = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    moments = np.stack([cross, *((points + following) * cross[:, None]).T], axis=1)
    sums = np.add.reduceat(moments, first, axis=0) if len(first) else np.zeros((0, 3))
    centre = np.full((len(first), 2), np.nan)
    np.divide(sums[:, 1:], 3 * sums[:, :1], out=centre, where=sums[:, :1] != 0)
    return Outlines(points, offsets, points[at], centre)


def _following(offsets: Ints) -> Ints:
    """(v,) index of the vertex that comes next in its ring."""
    result = np.arange(1, offsets[-1] + 1)
    result[offsets[1:] - 1] = offsets[:-1]  # after the last vertex comes the first
    return result


def pseudo_centres(outlines: Outlines, characters: Ints, needed: Ints) -> Floats:
    """(c, 2) pseudo character centres of all objects; those of polygons only where needed, else on a straight line."""
    corners, offsets = outlines.corners, outlines.offsets
    count = np.diff(offsets)
    x0, y0, x1, y1 = around(outlines.points, outlines.points, offsets[:-1]).T
    ratio = quotient(y1 - y0, x1 - x0)
    downwards = ((count == 4) & (ratio > VERTICAL))[:, None, None]
    corners = np.where(downwards, corners[:, [3, 0, 1, 2]], corners)
    start, stop = (corners[:, 0] + corners[:, 3]) / 2, (corners[:, 1] + corners[:, 2]) / 2
    step = (stop - start) / np.maximum(characters, 1)[:, None]
    owner, k = expanded(characters)
    result = start[owner] + step[owner] / 2 + step[owner] * k[:, None]
    first = np.cumsum(characters) - characters
    curved = needed[(count[needed] != 4) & (characters[needed] > 0)]
    for vertices in np.unique(count[curved]).tolist():
        # Polygons of as many vertices at once.
        i = curved[count[curved] == vertices]
        polygon, k = expanded(characters[i])
        shares = (k + 0.5) / characters[i][polygon]
        loops = outlines.points[offsets[i][:, None] + np.arange(vertices)]
        top, bottom = (rings.along_each(chain, polygon, shares) for chain in rings.chains(loops))
        result[first[i][polygon] + k] = (top + bottom) / 2
    return np.asarray(result)


def edges(outlines: Outlines, cut: Geometries) -> tuple[Floats, Ints]:
    """Return the edges (e, 4) of all detections, from x, y to x, y, and offsets (D + 1,); of what remains where cut."""
    edges = np.concatenate([outlines.points, outlines.points[_following(outlines.offsets)]], axis=1)
    owner = np.repeat(np.arange(len(cut)), np.diff(outlines.offsets))
    is_cut = shapes.has_geometry(cut)
    if is_cut.any():
        parts, part_owner = geometry.shapely.get_parts(cut[is_cut], return_index=True)
        loops, loop_owner = geometry.shapely.get_rings(parts, return_index=True)
        points, loop = geometry.shapely.get_coordinates(loops, return_index=True)
        same = loop[1:] == loop[:-1]
        whole = ~is_cut[owner]
        edges = np.concatenate([edges[whole], np.concatenate([points[:-1], points[1:]], axis=1)[same]])
        cut_owner = np.flatnonzero(is_cut)[part_owner[loop_owner[loop[1:][same]]]]
        owner = np.concatenate([owner[whole], cut_owner])
        order = np.argsort(owner, kind="stable")
        edges, owner = edges[order], owner[order]
    return edges, np.searchsorted(owner, np.arange(len(cut) + 1))


def contains(edges: Floats, offsets: Ints, det: Ints, points: Floats) -> Bools:
    """(n,) whether detection ``det[k]`` contains ``points[k]``, which it does on its left and top edges."""
    point, k = expanded(np.diff(offsets)[det])
    x0, y0, x1, y1 = edges[offsets[det[point]] + k].T
    x, y = points[point].T
    spans = (y0 <= y) != (y1 <= y)
    x, y, x0, y0, x1, y1 = (values[spans] for values in (x, y, x0, y0, x1, y1))
    crossed = point[spans][x < (x0 - x1) * (y - y1) / (y0 - y1) + x1]
    return np.asarray(np.bincount(crossed, minlength=len(det)) % 2 == 1)


def members(objects: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Expand each of `objects` to its members, of which all objects have `counts`: place in `objects`, and member."""
    place, k = expanded(counts[objects])
    return place, (np.cumsum(counts) - counts)[objects[place]] + k


def length(vectors: Floats) -> Floats:
    """(...) lengths of vectors (..., 2)."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


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
    slanted : (p,) bool
        Pairs of which a polygon is one side.
    ignored : (D,) bool
        Detections of don't care.
    cut : (D,) array of geometries
        What remains of a detection; None where nothing was cut off.
    """

    gt: Ints
    det: Ints
    recall: Floats
    precision: Floats
    slanted: Bools
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
    gt_slanted, det_slanted = batch.gt.outlines.counts > 0, batch.det.outlines.counts > 0
    on_dont_care = batch.gt.dont_care[gt]
    if on_dont_care.any():
        gt_shapes, det_shapes = (shapes.from_objects(side, TRUNCATED) for side in (batch.gt, batch.det))
        remains, own_area = _uncovered_dont_care(batch.gt, gt_shapes, np.unique(gt[on_dont_care]))
        # The row of each pair's object in `remains`, which has the don't-care objects in order.
        dc = np.searchsorted(np.unique(gt[on_dont_care]), gt[on_dont_care])
        dc_det = det[on_dont_care]
        shared = geometry.polygons.intersection_area(remains[dc], shapes.geometries(det_shapes, dc_det))
        pairs = overlaps._replace(gt=gt[on_dont_care], det=dc_det, area=shared)
        recall = settled(divide(shared, own_area[dc]), t_r, pairs)
        precision = settled(divide(shared, det_area[dc_det]), t_p, pairs)
        covered = recall > t_r
        covered_det, count = dc_det[covered], batch.det.count
        slanted = (gt_slanted[pairs.gt] | det_slanted[dc_det])[covered]
        total = _sums(covered_det, precision[covered], slanted, count, t_p)
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
    pairs = overlaps._replace(gt=gt, det=det, area=area)
    recall = settled(divide(area, overlaps.gt_area[gt]), t_r, pairs)
    precision = settled(divide(area, det_area[det]), t_p, pairs)
    return Scene(gt, det, recall, precision, gt_slanted[gt] | det_slanted[det], ignored, cut)


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
    # The position of each pair among those of its target: each turn subtracts one from every target.
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
    merges = _large_enough(enough_recall & counts, det, scene.precision, t_p, scene.slanted)
    splits = _large_enough(enough_precision & counts, gt, scene.recall, t_r, scene.slanted)
    merged = _on_one_line(merges, det, gt, gt_outlines)
    split = _on_one_line(splits, gt, det, det_outlines)
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


def _sums(one: Ints, share: Floats, slanted: Bools, objects: int, threshold: float) -> Floats:
    """(objects,) sums of the shares of pairs; those with a polygon are at the threshold if only rounding is between."""
    has_polygon = np.bincount(one[slanted], minlength=objects) > 0
    return settled_sums(np.bincount(one, weights=share, minlength=objects), threshold, has_polygon)


def _large_enough(candidate: Bools, one: Ints, share: Floats, threshold: float, slanted: Bools) -> Bools:
    """(p,) whether a pair is one of two or more candidates of one object or detection that reach the threshold."""
    objects = int(one.max(initial=-1)) + 1
    total = _sums(one[candidate], share[candidate], slanted[candidate], objects, threshold)
    is_group = (np.bincount(one[candidate], minlength=objects) >= 2) & (total >= threshold)
    return np.asarray(candidate & is_group[one])


def _on_one_line(chosen: Bools, one: Ints, many: Ints, outlines: Outlines) -> Bools:
    """(p,) the chosen pairs of those groups whose members, of which these are the outlines, are on one line."""
    members = np.flatnonzero(chosen)
    group = np.unique(one[members], return_inverse=True)[1]
    several = _on_several_lines(group, outlines.start_of_line[many[members]], outlines.centre[many[members]])
    result = np.zeros(len(one), dtype=bool)
    result[members] = ~several[group]
    return result


def _on_several_lines(group: Ints, start: Floats, centre: Floats) -> Bools:
    """(groups,) whether any two members of a group are on different lines.

    Of members in the same place, two are enough.

    For members x and y, x's direction of reading is that from the middle of its first side to its centre. Seen from y's
    centre, both make an angle; folded to [0, 90] degrees it is below `SEVERAL_LINES` for all of one line.

    Parameters
    ----------
    group : (m,) int64
        Group of each member, in ``range(groups)``, none of them empty.
    start, centre : (m, 2) float64
    """
    members = np.concatenate([group[:, None], start, centre], axis=1)
    # lexsort compares its last key first, so the columns are reversed.
    order = np.lexsort(members.T[::-1])
    # Of equal members next to each other two stay: a pair of them is still compared.
    again = (members[order[1:]] == members[order[:-1]]).all(axis=1)
    order = order[np.concatenate([np.ones(min(len(order), 2), dtype=bool), ~(again[1:] & again[:-1])])]
    group, start, centre = group[order], start[order], centre[order]
    size = np.bincount(group)
    if int((size * size).sum()) > MAX_NEIGHBOURS:
        raise InputError(
            f"tedeval: splits and merges of up to {size.max()} members; expected fewer in one place: remove duplicates"
            " (non-maximum suppression)"
        )
    # Before the cumulative sum counts a group itself, it is where the group begins.
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
