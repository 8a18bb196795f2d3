"""Parameters and matches of EvaLTex: the filter of candidates (Eq. 5),
coverage and accuracy of objects (Eq. 6-20).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.boxes import around
from evaltex_cli.geometry.intervals import sorted_in_groups
from evaltex_cli.geometry.offsets import of_ground_truth
from evaltex_cli.geometry.overlaps import shapes_of, touching_parts
from evaltex_cli.protocols.base import parameter
from evaltex_cli.protocols.ratios import (
    MOST,
    PAIRS_AT_ONCE,
    divide,
    natural_log,
    quotient,
    ratio_error,
)
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Overlaps,
    blocks,
    distinct,
    offsets_of,
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of EvaLTex, named as in the tool's evaltex.ini; the last three are ours."""

    region: bool = parameter(True, "text area of a merge: the regions of its objects (Eq. 20)")
    print_level: int = parameter(0, "detail of the result .txt", min=0, max=2)
    min_area: float = parameter(
        0.0, "an overlap counts above this many square pixels (Eq. 3, 4)", min=0.0
    )
    hist_bin_nb: int = parameter(
        0, "histogram bins, for printing and EMD; 0 = 10 printed, 100 for EMD", min=0, max=10_000
    )
    split: bool = parameter(True, "coverage is multiplied by the split penalty (Eq. 11)")
    det_border: float = parameter(
        0.01, "margin, as a share of an object's thickness (Eq. 6)", min=0.0, below=0.5
    )
    split_function: str = parameter(
        "tool", "split penalty: tool 0.6/(1+ln²s)+0.4, paper 1/(1+ln s)", choices=("tool", "paper")
    )
    overlap_filter: float = parameter(0.1, "t of the candidate filter (Eq. 5)", min=0.0, max=1.0)
    shape: str = parameter(
        "polygon", "polygons as they are, or as their bounding boxes", choices=("polygon", "box")
    )


def convention(parameters: Parameters) -> Convention:
    """Continuous coordinates; polygons as they are, or as their bounding boxes."""
    return Convention(as_boxes=parameters.shape == "box")


class Scene(NamedTuple):
    """The shapes of a batch, and the module that measures them: `shapes`
    (boxes, polygons) or `label_runs` (masks).
    """

    measure: ModuleType
    gt: Any
    det: Any
    gt_area: Floats
    det_area: Floats
    grown: Any
    shrunk: Any


class SelectedPairs(NamedTuple):
    """The pairs that the filter keeps, and how many partners they give."""

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64."""
    area: Floats
    """(p,) float64. Of the pairs' intersections."""
    splits: Ints
    merges: Ints
    """`splits` and `merges`: (G,), (D,) int64. Detections of each object, and objects of each
    detection."""


class Local(NamedTuple):
    """Local scores of the objects."""

    coverage: Floats
    coverage_no_split: Floats
    """`coverage` and `coverage_no_split`: (G,) float64. With the split penalty, if the parameters
    ask for it, and without."""
    accuracy: Floats
    split: Floats
    """`accuracy` and `split`: (G,) float64. Accuracy is NaN for a missed object."""


def scene_of(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Scene:
    """Take the shapes of a batch, and the objects grown and shrunk by the margin (Eq. 6-8)."""
    gt_area, det_area = overlaps.gt_area, overlaps.det_area
    if batch.gt_runs is not None and batch.det_runs is not None:
        from evaltex_cli.geometry import label_runs

        runs = batch.gt_runs
        height, width = label_runs.extent(runs)
        margin = parameters.det_border * quotient(gt_area, np.maximum(height, width))
        radius = np.floor(margin + 0.5).astype(np.int64)
        grown, shrunk = label_runs.grown(runs, radius), label_runs.shrunk_or_same(runs, radius)
        return Scene(label_runs, runs, batch.det_runs, gt_area, det_area, grown, shrunk)
    gt, det = shapes_of(batch, convention(parameters))
    width, height = (batch.gt.boxes[:, 2:] - batch.gt.boxes[:, :2]).T
    longer, shorter = np.maximum(width, height), np.minimum(width, height)
    # A polygon that no detection touches is never measured, and costs two buffers.
    touched = np.bincount(overlaps.gt, minlength=batch.gt.count) > 0
    thickness = np.where(gt.is_polygon, quotient(gt_area, longer) * touched, shorter)
    margin = parameters.det_border * thickness
    moved = of_ground_truth(batch, convention(parameters), margin)
    return Scene(shapes, gt, det, gt_area, det_area, *moved)


def select_candidates(candidates: Overlaps, scene: Scene, threshold: float) -> Bools:
    """Filter the candidates of each detection (Eq. 5).

    Candidates are taken by decreasing IoU, ties by the ground truth's order; G' is dropped when
    some G kept before has ``Area(G' ∩ D) - Area(G ∩ G') <= threshold * Area(G')``. What rounding
    may make of a tie is one.

    Parameters
    ----------
    candidates : Overlaps
    scene : Scene
        Shapes and areas of the batch.
    threshold : float
        t of Eq. 5.

    Returns
    -------
    (p,) bool
        Which pairs stay. Every detection with a candidate keeps at least one.

    Notes
    -----
    A candidate shares something only with those whose boxes it touches. Each round looks for these
    with the best undecided candidates of every detection, twice as many as the round before: so a
    detection with many takes few rounds, and those that a good candidate drops are not compared
    with each other.
    """
    gt, det, area = candidates.gt, candidates.det, candidates.area
    is_selected = np.ones(len(det), dtype=bool)
    queue = _best_first(candidates, scene)
    best = (
        np.diff(det[queue], prepend=-1) != 0
    )  # the queue is sorted by detection: its first candidate is its best

    def enough(which: Ints, shared: Floats) -> Bools:
        own_area = scene.gt_area[gt[which]]
        share = quotient(area[which], own_area)
        surplus = share - quotient(shared, own_area) - threshold
        close = np.flatnonzero(np.abs(surplus) <= MOST)
        surplus[close] -= ratio_error(share[close], candidates, which[close])
        return np.asarray(surplus > 0)

    # What D covers of G' is too little even where no kept object shares it: any kept G drops it.
    for start in range(0, len(queue), PAIRS_AT_ONCE):
        block = slice(start, start + PAIRS_AT_ONCE)
        some = queue[block]
        is_selected[some] = best[block] | enough(some, np.zeros(len(some)))
    if scene.measure is not shapes:
        return is_selected  # objects of a label picture share nothing
    queue, leaders = queue[is_selected[queue]], 1
    while len(queue):
        for better, other in _touching(scene.gt.boxes.take(gt[queue], axis=0), det[queue], leaders):
            one, two = queue[better], queue[other]
            drops = ~enough(two, shapes.pair_area(scene.gt, gt[two], scene.gt, gt[one]))
            for k, dropped in zip(one[drops].tolist(), two[drops].tolist(), strict=True):
                is_selected[dropped] &= ~is_selected[k]
        is_undecided = _rank(det[queue]) >= leaders
        queue = queue[is_undecided & is_selected[queue]]
        leaders *= 2
    return is_selected


def _touching(boxes: Floats, det: Ints, leaders: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of boxes, in order of the detections that they belong to, of which one is
    among the first of its detection, and the other one comes after it; in order of the first ones.
    """
    rank = _rank(det)
    leading = np.flatnonzero(rank < leaders)
    counts = np.diff(np.flatnonzero(rank == 0), append=len(det))
    offsets = offsets_of(np.minimum(counts, leaders)), offsets_of(counts)
    del rank
    for i, other in touching_parts(boxes[leading], offsets[0], boxes, offsets[1]):
        better = leading[i]
        later = np.flatnonzero(better < other)
        yield better[later], other[later]


def _rank(det: Ints) -> Ints:
    """The place of each of some candidates, which are sorted by detection, in its detection."""
    place = np.arange(len(det))
    return place - np.maximum.accumulate(np.where(np.diff(det, prepend=-1) != 0, place, 0))


def _best_first(candidates: Overlaps, scene: Scene) -> Ints:
    """Candidates of detections that have several, by detection, decreasing
    IoU and the ground truth's order.
    """
    # Only detections with several candidates have anything to decide; some at a time.
    det, counts = candidates.det, np.bincount(candidates.det)
    crowded = np.flatnonzero(counts[det] > 1)
    crowded = crowded[np.argsort(det[crowded], kind="stable")]
    offsets = offsets_of(counts[counts > 1])
    parts = [
        _sorted_by_iou(candidates, scene, crowded[offsets[start] : offsets[stop]])
        for start, stop in blocks(np.diff(offsets), PAIRS_AT_ONCE)
    ]
    return np.concatenate([crowded[:0], *parts])


def _sorted_by_iou(candidates: Overlaps, scene: Scene, crowded: Ints) -> Ints:
    """Sort candidates, which are in order of their detections, as of `_best_first`."""
    gt, det, area = candidates.gt, candidates.det, candidates.area
    iou = area[crowded] / (
        scene.gt_area[gt[crowded]] + scene.det_area[det[crowded]] - area[crowded]
    )
    order = sorted_in_groups(det[crowded], -iou)
    crowded, iou = crowded[order], iou[order]
    # How far the IoU falls from the candidate before, and where the candidates of another detection
    # begin.
    drop, other = -np.diff(iou, prepend=np.inf), np.diff(det[crowded], prepend=-1) != 0
    close = np.flatnonzero((drop <= 2 * MOST) & ~other)
    lower = np.ones(len(crowded), dtype=bool)
    lower[close] = drop[close] > sum(
        ratio_error(iou[k], candidates, crowded[k]) for k in (close, close - 1)
    )
    # Candidates whose IoU only rounding separates are one tier, in which the ground truth's order
    # decides.
    tier = np.cumsum(lower | other)
    return crowded[sorted_in_groups(tier, gt[crowded])]


def split_penalty(splits: Ints, function: str) -> Floats:
    """Penalty of being found in s pieces: 1 for one, 0 for none (Eq. 13, or the tool's page)."""
    log = natural_log(np.maximum(splits, 1))
    penalty = 1 / (1 + log) if function == "paper" else 0.6 / (1 + log**2) + 0.4
    return np.where(splits > 0, np.where(splits == 1, 1.0, penalty), 0.0)


def local_scores(
    batch: ImageBatch, scene: Scene, pairs: SelectedPairs, parameters: Parameters
) -> Local:
    """Coverage (Eq. 10, 12, 15) and accuracy (Eq. 9, 14, 16-20) of every ground-truth object.

    The areas of the kept pairs' intersections are those of grown and shrunk objects too where there
    is no margin.
    """
    gt, det, area, splits, merges = pairs
    measure, objects = scene.measure, batch.gt.count
    in_shrunk = _known_areas(scene, scene.shrunk, gt, det, area)
    covered = measure.union_area(
        gt, shapes.Pairs(scene.shrunk, gt, scene.det, det, in_shrunk), objects
    )
    coverage = divide(covered, measure.area(scene.shrunk))
    own = (splits[gt] > 1) | (merges[det] == 1)
    own_gt, own_det = gt[own], det[own]
    in_grown = _known_areas(scene, scene.grown, own_gt, own_det, area[own])
    text = measure.union_area(
        own_gt, shapes.Pairs(scene.grown, own_gt, scene.det, own_det, in_grown), objects
    )
    det_area = scene.det_area[own_det]
    detected = measure.union_area(
        own_gt, shapes.Pairs(scene.det, own_det, scene.det, own_det, det_area), objects
    )
    accuracy = np.where(splits > 0, divide(text, detected), np.nan)
    shared = ~own
    merged_accuracy = divide(_text_area(batch, scene, gt, det, merges, parameters), scene.det_area)
    accuracy[gt[shared]] = merged_accuracy[det[shared]]
    split = split_penalty(splits, parameters.split_function)
    return Local(coverage * split if parameters.split else coverage, coverage, accuracy, split)


def _known_areas(scene: Scene, objects: Any, gt: Ints, det: Ints, area: Floats) -> Floats | None:
    """Areas of pairs whose ground truth has grown or shrunk to `objects`, from those before; None
    for moved shapes.

    Most masks are too thin to grow: only those that do are measured again.
    """
    if objects is scene.gt:
        return area
    if scene.measure is shapes:
        return None
    moved = objects.moved[gt]
    area = area.copy()
    area[moved] = scene.measure.pair_area(objects, gt[moved], scene.det, det[moved])
    return area


def _text_area(
    batch: ImageBatch, scene: Scene, gt: Ints, det: Ints, merges: Ints, parameters: Parameters
) -> Floats:
    """(D,) text area of the detections that keep several objects: their
    regions' (Eq. 20) or their own (Eq. 16).
    """
    merged = merges[det] > 1
    gt, det = gt[merged], det[merged]
    if not len(gt):
        return np.zeros(batch.det.count)
    by_region = _takes_regions(batch, scene, parameters)[gt]
    own, own_det = gt[~by_region], det[~by_region]
    result: Floats = scene.measure.union_area(
        own_det, shapes.Pairs(scene.grown, own, scene.det, own_det), batch.det.count
    )
    if by_region.any():
        region_of, regions = _regions(batch, scene.grown)
        count = len(regions.boxes)
        # Pairs as single numbers, each once: a region counts once, however many of its objects a
        # detection has.
        det, region = np.divmod(distinct(det[by_region] * count + region_of[gt[by_region]]), count)
        result += scene.measure.union_area(
            det, shapes.Pairs(regions, region, scene.det, det), batch.det.count
        )
    return result


def _takes_regions(batch: ImageBatch, scene: Scene, parameters: Parameters) -> Bools:
    """(G,) whether an object's region is text: not for masks, and not in an
    image with a polygon object.
    """
    if not parameters.region or batch.has_masks:
        return np.zeros(batch.gt.count, dtype=bool)
    is_polygon = scene.gt.is_polygon
    image = batch.gt.image
    return np.asarray(np.bincount(image[is_polygon], minlength=len(batch.names))[image] == 0)


def _regions(batch: ImageBatch, grown: shapes.Shapes) -> tuple[Ints, shapes.Shapes]:
    """Return each object's region and the regions' boxes: each bounds the
    grown objects of one image and region ID.
    """
    image, region = batch.gt.image, batch.gt.regions
    order = np.lexsort((region, image))
    first = np.concatenate(
        [np.ones(1, dtype=bool), (np.diff(region[order]) != 0) | (np.diff(image[order]) != 0)]
    )
    region_of = np.empty(len(order), np.int64)
    # cumsum numbers the groups in sorted order; the assignment undoes the sorting.
    region_of[order] = np.cumsum(first) - 1
    boxes = grown.boxes.take(order, axis=0)
    return region_of, shapes.Shapes(around(boxes[:, :2], boxes[:, 2:], np.flatnonzero(first)))
