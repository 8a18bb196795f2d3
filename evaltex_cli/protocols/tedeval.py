"""TedEval (Lee, Baek, Lee, arXiv:1907.01227): matches by area, scored by the characters that detections contain.

Task: text localisation by boxes or quadrilaterals, ground truth with transcriptions. A word of n characters is given n
pseudo character centres. One-to-one, one-to-many and many-to-one matches are all collected, none excluding
another; a split or merge over several lines is dropped. A matched object is worth its share of characters that exactly
one of its detections contains, a matched detection its share of characters contained.

Areas are those of coordinates cut to integers, without the + 1 of the DetEval scripts. An object without
transcription has no characters: it counts, with a credit of 0. Polygons of more vertices, which the published script
does not take, have their characters on the line midway between their upper and their lower side.

Empty cases: a ratio 0/0 is 0 in the dataset; an image without objects that count has recall 1, and precision 0 if it
has detections that count, else 1, as in the published script.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.chains import along, chains, rings
from evaltex_cli.overlaps import touching_boxes
from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    Totals,
    divide,
    harmonic_mean,
    mean_of,
    per_image,
    quotient,
    remark,
)
from evaltex_cli.protocols.relations import matches
from evaltex_cli.protocols.rrc import recall_precision
from evaltex_cli.records import Bools, Convention, Floats, Geometries, ImageBatch, Ints, Objects, Overlaps, expanded

VERTICAL = 1.5
"""A word whose bounding box is more than this many times as high as wide is read from top to bottom."""
SEVERAL_LINES = 45.0
"""Angle in degrees between the direction of reading and that to a neighbour, from which both are on several lines."""
ROUNDING = 1e-9
BLOCK_PAIRS = 1 << 20
MAX_NEIGHBOURS = 200_000_000
"""Most pairs of members in the splits and merges of a batch; they take half a minute."""

TRUNCATED = Convention(truncated=True)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of TedEval; the defaults are the paper's."""

    t_r: float = field(
        default=0.4, metadata={"help": "least area recall of a match; of a split, of the sum", "min": 0.0, "max": 1.0}
    )
    t_p: float = field(
        default=0.4,
        metadata={"help": "least area precision of a match; of a merge, of the sum", "min": 0.0, "max": 1.0},
    )
    center: float = field(
        default=1.0, metadata={"help": "one-to-one: centres nearer than this share of the mean diagonal", "min": 0.0}
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
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


@dataclass(frozen=True, slots=True, eq=False)
class _Outlines:
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
        return np.asarray(_length(self.corners[:, :2] - self.corners[:, 2:]).mean(axis=1))


def convention(parameters: Parameters) -> Convention:
    """Coordinates cut to integers."""
    return TRUNCATED


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Match a batch and sum what its images contribute.

    Parameters
    ----------
    batch : ImageBatch
    overlaps : Overlaps
    parameters : Parameters
    with_matches : bool
        Whether to return each object's match too.
    """
    scene = _scene(batch, overlaps, parameters)
    gt_outlines, det_outlines = _outlines(batch.gt), _outlines(batch.det)
    matched = _matched(scene, gt_outlines, det_outlines, parameters)
    gt, det = scene.gt[matched], scene.det[matched]
    lengths = np.fromiter(map(len, batch.gt.texts), np.int64, batch.gt.count)
    characters = np.where(batch.gt.dont_care, 0, lengths)
    centres = _centres(gt_outlines, characters, np.unique(gt))
    pair, centre = _members(gt, characters)
    contained = _contains(*_edges(det_outlines, scene.cut), det[pair], centres[centre])
    seen = np.bincount(centre[contained], minlength=len(centres))
    owner = np.repeat(np.arange(batch.gt.count), characters)
    found = np.bincount(owner[seen == 1], minlength=batch.gt.count)
    expected = np.bincount(det[pair], minlength=batch.det.count)
    held = np.bincount(det[pair][contained], minlength=batch.det.count)
    recall, precision = (
        divide(some.astype(np.float64), every.astype(np.float64))
        for some, every in ((found, characters), (held, expected))
    )
    gt_counts, det_counts = ~batch.gt.dont_care, ~scene.ignored
    images = len(batch.names)
    columns: dict[str, NDArray[Any]] = {
        "gt_objects": np.diff(batch.gt.offsets),
        "counted_gt_objects": per_image(gt_counts, batch.gt.image, images),
        "detections": np.diff(batch.det.offsets),
        "counted_detections": per_image(det_counts, batch.det.image, images),
        "recall_credit": per_image(recall, batch.gt.image, images),
        "precision_credit": per_image(precision, batch.det.image, images),
    }
    text = "tedeval: {count} objects without transcription have no characters, so no credit (in {images})"
    warnings = remark(text, batch, gt_counts & (lengths == 0))
    if not with_matches:
        return Evidence(columns, warnings=warnings)
    found_by = matches(
        gt,
        det,
        gt_counts,
        det_counts,
        {"characters": characters, "characters_found": found, "recall": recall},
        {"characters": expected, "characters_found": held, "precision": precision},
    )
    return Evidence(columns, found_by, warnings)


# Don't care ----------------------------------------------------------------------------------------------------------


def _scene(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> _Scene:
    """Tell the detections of don't care, and cut don't care off all detections.

    A don't-care object first loses what it shares with any object that counts. A detection is of don't care when those
    of which it covers more than t_r are t_p of its area or more, or a single one is more than t_p. Every detection
    loses what it shares with don't care.
    """
    gt, det, area, det_area = overlaps.gt, overlaps.det, overlaps.area, overlaps.det_area
    ignored = np.zeros(batch.det.count, dtype=bool)
    cut: Geometries = np.full(batch.det.count, None, dtype=object)
    on_dont_care = batch.gt.dont_care[gt]
    if on_dont_care.any():
        from evaltex_cli.geometry.polygons import area as polygon_area
        from evaltex_cli.geometry.polygons import intersection_area

        gt_shapes, det_shapes = (shapes.of(side, TRUNCATED) for side in (batch.gt, batch.det))
        remains, own_area = _uncovered_dont_care(batch.gt, gt_shapes, np.unique(gt[on_dont_care]))
        dc = np.searchsorted(np.unique(gt[on_dont_care]), gt[on_dont_care])
        dc_det = det[on_dont_care]
        shared = intersection_area(remains[dc], shapes.geometries(det_shapes, dc_det))
        recall, precision = divide(shared, own_area[dc]), divide(shared, det_area[dc_det])
        covered = recall > parameters.t_r
        covered_det, count = dc_det[covered], batch.det.count
        total = np.bincount(covered_det, weights=precision[covered], minlength=count)
        ignored = (total >= parameters.t_p) & (np.bincount(covered_det, minlength=count) > 0)
        ignored[dc_det[precision > parameters.t_p]] = True

        meets = shared > 0
        touched, target = np.unique(dc_det[meets], return_inverse=True)
        cut[touched] = _subtracted(shapes.geometries(det_shapes, touched), target, remains[dc[meets]])
        det_area = det_area.copy()
        det_area[touched] = polygon_area(cut[touched])
        gt, det, area = gt[~on_dont_care], det[~on_dont_care], area[~on_dont_care]
        again = np.flatnonzero(shapes.has_geometry(cut)[det])
        area[again] = intersection_area(shapes.geometries(gt_shapes, gt[again]), cut[det[again]])
        gt, det, area = gt[area > 0], det[area > 0], area[area > 0]
    return _Scene(gt, det, divide(area, overlaps.gt_area[gt]), divide(area, det_area[det]), ignored, cut)


def _uncovered_dont_care(objects: Objects, gt_shapes: shapes.Shapes, dont_care: Ints) -> tuple[Geometries, Floats]:
    """Return what these don't-care objects have to themselves, objects that count being cut out of them; and areas."""
    from evaltex_cli.geometry.polygons import area

    counting = np.flatnonzero(~objects.dont_care)
    offsets = [np.searchsorted(side, objects.offsets) for side in (dont_care, counting)]
    target, other = touching_boxes(gt_shapes.boxes[dont_care], offsets[0], gt_shapes.boxes[counting], offsets[1])
    remains = shapes.geometries(gt_shapes, dont_care)
    remains = _subtracted(remains, target, shapes.geometries(gt_shapes, counting[other]))
    return remains, area(remains)


def _subtracted(geometries: Geometries, target: Ints, others: Geometries) -> Geometries:
    """Subtract ``others[k]`` from ``geometries[target[k]]`` for all k, one after another."""
    import shapely

    result = geometries.copy()
    order = np.argsort(target, kind="stable")
    turn = expanded(np.bincount(target, minlength=len(result)))[1]
    for k in range(int(turn.max(initial=-1)) + 1):
        chosen = order[turn == k]
        result[target[chosen]] = shapely.difference(result[target[chosen]], others[chosen])
    return result


# Matches -------------------------------------------------------------------------------------------------------------


def _matched(scene: _Scene, gt_outlines: _Outlines, det_outlines: _Outlines, parameters: Parameters) -> Bools:
    """(p,) whether a pair is of any match."""
    gt, det = scene.gt, scene.det
    enough_recall, enough_precision = scene.recall >= parameters.t_r, scene.precision >= parameters.t_p
    both, counts = enough_recall & enough_precision, ~scene.ignored[det]
    alone = (np.bincount(gt[both], minlength=len(gt_outlines.centre))[gt] == 1) & (
        np.bincount(det[both], minlength=len(det_outlines.centre))[det] == 1
    )
    one_to_one = both & alone & counts
    one_to_one[one_to_one] = _near(gt[one_to_one], det[one_to_one], scene, gt_outlines, det_outlines, parameters)
    merged = _grouped(enough_recall & counts, det, scene.precision, parameters.t_p, gt, gt_outlines)
    split = _grouped(enough_precision & counts, gt, scene.recall, parameters.t_r, det, det_outlines)
    return np.asarray(one_to_one | merged | split)


def _near(
    gt: Ints, det: Ints, scene: _Scene, gt_outlines: _Outlines, det_outlines: _Outlines, parameters: Parameters
) -> Bools:
    centre = det_outlines.centre[det]
    cut = np.flatnonzero(shapes.has_geometry(scene.cut)[det])
    if len(cut):
        import shapely

        centre[cut] = shapely.get_coordinates(shapely.centroid(scene.cut[det[cut]]))
    distance = _length(gt_outlines.centre[gt] - centre)
    return np.asarray(distance / (gt_outlines.diagonal[gt] + det_outlines.diagonal[det]) * 2 < parameters.center)


def _grouped(candidate: Bools, one: Ints, share: Floats, threshold: float, many: Ints, outlines: _Outlines) -> Bools:
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


# Characters ----------------------------------------------------------------------------------------------------------


def _outlines(objects: Objects) -> _Outlines:
    points, offsets = rings(objects.boxes, objects.vertices, objects.vertex_offsets, truncated=True)
    first, count = offsets[:-1], np.diff(offsets)
    top_end = np.maximum(count // 2, 1) - 1
    at = np.stack([first, first + top_end, first + np.minimum(top_end + 1, count - 1), offsets[1:] - 1], axis=1)
    following = points[_following(offsets)]
    cross = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    moments = np.stack([cross, *((points + following) * cross[:, None]).T], axis=1)
    sums = np.add.reduceat(moments, first, axis=0) if len(first) else np.zeros((0, 3))
    centre = np.full((len(first), 2), np.nan)
    np.divide(sums[:, 1:], 3 * sums[:, :1], out=centre, where=sums[:, :1] != 0)
    return _Outlines(points, offsets, points[at], centre)


def _following(offsets: Ints) -> Ints:
    """(v,) index of the vertex that comes next in its ring."""
    result = np.arange(1, offsets[-1] + 1)
    result[offsets[1:] - 1] = offsets[:-1]
    return result


def _centres(outlines: _Outlines, characters: Ints, needed: Ints) -> Floats:
    """(c, 2) pseudo character centres of all objects; those of polygons only where needed, else on a straight line."""
    corners, offsets = outlines.corners, outlines.offsets
    count = np.diff(offsets)
    width, height = _extent(outlines.points, offsets).T
    ratio = quotient(height, width)
    downwards = ((count == 4) & (ratio > VERTICAL))[:, None, None]
    corners = np.where(downwards, corners[:, [3, 0, 1, 2]], corners)
    start, stop = (corners[:, 0] + corners[:, 3]) / 2, (corners[:, 1] + corners[:, 2]) / 2
    step = (stop - start) / np.maximum(characters, 1)[:, None]
    owner, k = expanded(characters)
    result = start[owner] + step[owner] / 2 + step[owner] * k[:, None]
    first = np.cumsum(characters) - characters
    for i in needed[count[needed] != 4].tolist():
        shares = (np.arange(characters[i]) + 0.5) / max(characters[i], 1)
        top, bottom = chains(outlines.points[offsets[i] : offsets[i + 1]])
        result[first[i] : first[i] + characters[i]] = (along(top, shares) + along(bottom, shares)) / 2
    return np.asarray(result)


def _extent(points: Floats, offsets: Ints) -> Floats:
    if len(offsets) == 1:
        return np.zeros((0, 2))
    low, high = (extreme.reduceat(points, offsets[:-1], axis=0) for extreme in (np.minimum, np.maximum))
    return np.asarray(high - low)


def _edges(outlines: _Outlines, cut: Geometries) -> tuple[Floats, Ints]:
    """Return the edges (e, 4) of all detections, from x, y to x, y, and offsets (D + 1,); of what remains where cut."""
    edges = np.concatenate([outlines.points, outlines.points[_following(outlines.offsets)]], axis=1)
    owner = np.repeat(np.arange(len(cut)), np.diff(outlines.offsets))
    is_cut = shapes.has_geometry(cut)
    if is_cut.any():
        import shapely

        parts, part_owner = shapely.get_parts(cut[is_cut], return_index=True)
        loops, loop_owner = shapely.get_rings(parts, return_index=True)
        points, loop = shapely.get_coordinates(loops, return_index=True)
        same = loop[1:] == loop[:-1]
        whole = ~is_cut[owner]
        edges = np.concatenate([edges[whole], np.concatenate([points[:-1], points[1:]], axis=1)[same]])
        cut_owner = np.flatnonzero(is_cut)[part_owner[loop_owner[loop[1:][same]]]]
        owner = np.concatenate([owner[whole], cut_owner])
        order = np.argsort(owner, kind="stable")
        edges, owner = edges[order], owner[order]
    return edges, np.searchsorted(owner, np.arange(len(cut) + 1))


def _contains(edges: Floats, offsets: Ints, det: Ints, points: Floats) -> Bools:
    """(n,) whether the outline of detection ``det[k]`` contains ``points[k]``: left and top edges do, others do not."""
    point, k = expanded(np.diff(offsets)[det])
    x0, y0, x1, y1 = edges[offsets[det[point]] + k].T
    x, y = points[point].T
    spans = (y0 <= y) != (y1 <= y)
    x, y, x0, y0, x1, y1 = (values[spans] for values in (x, y, x0, y0, x1, y1))
    crossed = point[spans][x < (x0 - x1) * (y - y1) / (y0 - y1) + x1]
    return np.asarray(np.bincount(crossed, minlength=len(det)) % 2 == 1)


# Small things --------------------------------------------------------------------------------------------------------


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def _members(objects: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Expand each of `objects` to its members, of which all objects have `counts`: place in `objects`, and member."""
    place, k = expanded(counts[objects])
    return place, (np.cumsum(counts) - counts)[objects[place]] + k


# Scores --------------------------------------------------------------------------------------------------------------


def scores(totals: Totals, parameters: Parameters) -> Scores:
    """Recall, precision and their harmonic mean: credits over the numbers of objects that count; 0/0 is 0."""
    return recall_precision(
        totals["recall_credit"],
        totals["counted_gt_objects"],
        totals["precision_credit"],
        totals["counted_detections"],
    )


def image_scores(totals: Totals, parameters: Parameters) -> Scores:
    """As `scores`; without objects that count recall is 1, and precision 0 if there are detections, else 1."""
    if totals["counted_gt_objects"]:
        return scores(totals, parameters)
    precision = 0.0 if totals["counted_detections"] else 1.0
    return {"recall": 1.0, "precision": precision, "hmean": harmonic_mean(1.0, precision)}


PROTOCOL = Protocol(
    name="tedeval",
    title="TedEval: matches by area, scored by pseudo character centres",
    version=1,
    parameters=Parameters,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "hmean"),
    convention=convention,
    image_scores=image_scores,
    takes_masks=False,
    object_credit=mean_of("recall"),
)
