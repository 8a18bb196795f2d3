"""EvaLTex (Calarasanu, Fabrizio, Dubuisson, Image and Vision Computing 2016): coverage and accuracy of every object.

Task: text localisation by boxes, regions, polygons or labelled masks. Every ground-truth object gets a coverage (what
of it was found) and an accuracy (what of its detections is text), by the kind of its match; scores pool them.
Equation numbers are the paper's. Where the paper is silent or contradicts the published tool:

1. The filter (Eq. 5) takes a detection's candidates by decreasing IoU; the paper states no order.
2. Accuracy of a merge is TextArea / Area(D) for each of its objects: Eq. 19 as printed lacks the text's own share.
3. The split penalty is the tool's, 0.6 / (1 + ln² s) + 0.4; `split_function=paper` takes Eq. 13.
4. EMD scores use 100 bins while 10 are printed, as the tool's sample does, unless `hist_bin_nb` is set.
5. Rejected objects match like others and count as text, but enter no mean; a detection on them alone is neither right
   nor wrong.

Empty cases: a ratio 0/0 is 0, in the dataset and in an image without objects alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.geometry import shapes
from evaltex_cli.protocols import relations
from evaltex_cli.protocols.base import (
    IGNORED,
    MANY_TO_MANY,
    MANY_TO_ONE,
    MATCH_TYPES,
    MISSED,
    ONE_TO_MANY,
    ONE_TO_ONE,
    Evidence,
    Protocol,
    Scores,
    Totals,
    divide,
    harmonic_mean,
    mean_of,
    per_image,
    quotient,
    ratio,
)
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps, distinct

PRINTED_BINS, EMD_BINS = 10, 100
BIN_TOLERANCE = 1e-12
"""A value this little below a bin's edge belongs to the bin above: it is the edge, but for rounding."""
TIE_DECIMALS = 12
"""IoUs that agree to so many decimals are ties."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of EvaLTex, named as in the tool's evaltex.ini; the last three are ours."""

    region: bool = field(default=True, metadata={"help": "text area of a merge: the regions of its objects (Eq. 20)"})
    print_level: int = field(default=0, metadata={"help": "detail of the result .txt", "min": 0, "max": 2})
    min_area: float = field(
        default=0.0, metadata={"help": "an overlap counts above this many square pixels (Eq. 3, 4)", "min": 0.0}
    )
    hist_bin_nb: int = field(
        default=0,
        metadata={"help": "histogram bins, for printing and EMD; 0 = 10 printed, 100 for EMD", "min": 0, "max": 10_000},
    )
    split: bool = field(default=True, metadata={"help": "coverage is multiplied by the split penalty (Eq. 11)"})
    det_border: float = field(
        default=0.01, metadata={"help": "margin, as a share of an object's thickness (Eq. 6)", "min": 0.0, "below": 0.5}
    )
    split_function: str = field(
        default="tool",
        metadata={"help": "split penalty: tool 0.6/(1+ln²s)+0.4, paper 1/(1+ln s)", "choices": ("tool", "paper")},
    )
    overlap_filter: float = field(
        default=0.1, metadata={"help": "t of the candidate filter (Eq. 5)", "min": 0.0, "max": 1.0}
    )
    shape: str = field(
        default="polygon",
        metadata={"help": "polygons as they are, or as their bounding boxes", "choices": ("polygon", "box")},
    )


class _Scene(NamedTuple):
    """The shapes of a batch, and the module that measures them: `shapes` (boxes, polygons) or `label_runs` (masks)."""

    measure: ModuleType
    gt: Any
    det: Any
    gt_area: Floats
    det_area: Floats
    grown: Any
    shrunk: Any


class _Local(NamedTuple):
    """Local scores: (G,) coverage without split, accuracy, split; accuracy is NaN for a missed object."""

    coverage: Floats
    accuracy: Floats
    split: Floats


def convention(parameters: Parameters) -> Convention:
    """Continuous coordinates; polygons as they are, or as their bounding boxes."""
    return Convention(as_boxes=parameters.shape == "box")


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
    enough = overlaps.area > parameters.min_area
    gt, det, area = overlaps.gt[enough], overlaps.det[enough], overlaps.area[enough]
    scene = _scene(batch, overlaps, parameters)
    kept = keep_candidates(gt, det, area, scene, parameters.overlap_filter)
    gt, det, area = gt[kept], det[kept], area[kept]
    splits = np.bincount(gt, minlength=batch.gt.count)
    merges = np.bincount(det, minlength=batch.det.count)
    local = _local_scores(batch, scene, gt, det, area, splits, merges, parameters)
    gt_counts = ~batch.gt.dont_care
    det_counts = merges == 0
    det_counts[det[gt_counts[gt]]] = True
    gt_type, _ = relations.types(gt, det, gt_counts, det_counts)
    coverage = local.coverage * local.split if parameters.split else local.coverage
    columns = _columns(batch, local, coverage, splits, merges, gt_type, parameters)
    if not with_matches:
        return Evidence(columns)
    local_values = {
        "coverage": coverage,
        "coverage_no_split": local.coverage,
        "accuracy": local.accuracy,
        "split": local.split,
    }
    return Evidence(columns, relations.matches(gt, det, gt_counts, det_counts, local_values, {}))


def keep_candidates(gt: Ints, det: Ints, area: Floats, scene: _Scene, threshold: float) -> Bools:
    """Filter the candidates of each detection (Eq. 5).

    Candidates are taken by decreasing IoU, ties by the ground truth's order; G' is dropped when some G kept before
    has ``Area(G' ∩ D) - Area(G ∩ G') <= threshold * Area(G')``.

    Parameters
    ----------
    gt, det, area : (p,)
        Candidate pairs sorted by (gt, det), and their intersections in square pixels.
    scene : _Scene
        Shapes and areas of the batch.
    threshold : float
        t of Eq. 5.

    Returns
    -------
    (p,) bool
        Which pairs stay. Every detection with a candidate keeps at least one.

    Notes
    -----
    One round settles, in every detection at once, its best undecided candidate: it is kept, and drops those it
    disagrees with.
    """
    crowded = np.flatnonzero(np.bincount(det)[det] > 1) if len(det) else np.zeros(0, np.int64)
    kept = np.ones(len(det), dtype=bool)
    iou = area[crowded] / (scene.gt_area[gt[crowded]] + scene.det_area[det[crowded]] - area[crowded])
    queue = crowded[np.lexsort((gt[crowded], -np.round(iou, TIE_DECIMALS), det[crowded]))]
    best = np.diff(det[queue], prepend=-1) != 0
    surplus = area - threshold * scene.gt_area[gt]
    # What D covers of G' is too little even where no kept object shares it: any kept G drops it.
    kept[queue] = best | (surplus[queue] > 0)
    queue = queue[kept[queue]]
    while True:
        best = np.diff(det[queue], prepend=-1) != 0
        leader = queue[best][np.cumsum(best) - 1][~best]
        queue = queue[~best]
        if not len(queue):
            return kept
        kept[queue] = surplus[queue] > scene.measure.pair_area(scene.gt, gt[queue], scene.gt, gt[leader])
        queue = queue[kept[queue]]


def split_penalty(splits: Ints, function: str) -> Floats:
    """Penalty of being found in s pieces: 1 for one, 0 for none (Eq. 13, or the tool's page)."""
    log = np.log(np.maximum(splits, 1))
    penalty = 1 / (1 + log) if function == "paper" else 0.6 / (1 + log**2) + 0.4
    return np.where(splits > 0, np.where(splits == 1, 1.0, penalty), 0.0)


def _scene(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> _Scene:
    gt_area, det_area = overlaps.gt_area, overlaps.det_area
    if batch.gt_runs is not None and batch.det_runs is not None:
        from evaltex_cli.geometry import label_runs

        runs = batch.gt_runs
        height, width = label_runs.extent(runs)
        margin = parameters.det_border * quotient(gt_area, np.maximum(height, width))
        radius = np.floor(margin + 0.5).astype(np.int64)
        grown, shrunk = label_runs.grown(runs, radius), label_runs.shrunk_or_same(runs, radius)
        return _Scene(label_runs, runs, batch.det_runs, gt_area, det_area, grown, shrunk)
    gt, det = (shapes.of(side, convention(parameters)) for side in (batch.gt, batch.det))
    sides = batch.gt.boxes[:, 2:] - batch.gt.boxes[:, :2]
    longer, shorter = sides.max(axis=1, initial=0.0), sides.min(axis=1, initial=np.inf)
    # A polygon that no detection touches is never measured, and costs two buffers.
    touched = np.bincount(overlaps.gt, minlength=batch.gt.count) > 0
    thickness = np.where(gt.is_polygon, quotient(gt_area, longer) * touched, shorter)
    margin = parameters.det_border * thickness
    return _Scene(shapes, gt, det, gt_area, det_area, shapes.offset(gt, margin), shapes.offset(gt, -margin))


def _local_scores(
    batch: ImageBatch,
    scene: _Scene,
    gt: Ints,
    det: Ints,
    area: Floats,
    splits: Ints,
    merges: Ints,
    parameters: Parameters,
) -> _Local:
    """Coverage (Eq. 10, 12, 15) and accuracy (Eq. 9, 14, 16-20) of every ground-truth object.

    `area` are those of the pairs' intersections, which hold for grown and shrunk objects too where there is no margin.
    """
    measure, objects = scene.measure, batch.gt.count
    in_shrunk = area if scene.shrunk is scene.gt else None
    covered = measure.union_area(gt, scene.shrunk, gt, scene.det, det, objects, in_shrunk)
    coverage = divide(covered, measure.area(scene.shrunk))
    own = (splits[gt] > 1) | (merges[det] == 1)
    own_gt, own_det = gt[own], det[own]
    in_grown = area[own] if scene.grown is scene.gt else None
    text = measure.union_area(own_gt, scene.grown, own_gt, scene.det, own_det, objects, in_grown)
    det_area = scene.det_area[own_det]
    detected = measure.union_area(own_gt, scene.det, own_det, scene.det, own_det, objects, det_area)
    accuracy = np.where(splits > 0, divide(text, detected), np.nan)
    shared = ~own
    merged_accuracy = divide(_text_area(batch, scene, gt, det, merges, parameters), scene.det_area)
    accuracy[gt[shared]] = merged_accuracy[det[shared]]
    return _Local(coverage, accuracy, split_penalty(splits, parameters.split_function))


def _text_area(batch: ImageBatch, scene: _Scene, gt: Ints, det: Ints, merges: Ints, parameters: Parameters) -> Floats:
    """(D,) text area of the detections that keep several objects: their regions' (Eq. 20) or their own (Eq. 16)."""
    merged = merges[det] > 1
    gt, det = gt[merged], det[merged]
    if not len(gt):
        return np.zeros(batch.det.count)
    by_region = _takes_regions(batch, parameters)[gt]
    own, own_det = gt[~by_region], det[~by_region]
    result: Floats = scene.measure.union_area(own_det, scene.grown, own, scene.det, own_det, batch.det.count)
    if by_region.any():
        region_of, regions = _regions(batch, scene.grown)
        count = len(regions.boxes)
        det, region = np.divmod(distinct(det[by_region] * count + region_of[gt[by_region]]), count)
        result += scene.measure.union_area(det, regions, region, scene.det, det, batch.det.count)
    return result


def _takes_regions(batch: ImageBatch, parameters: Parameters) -> Bools:
    """(G,) whether an object's region is text: not for masks, nor in an image with a polygon object."""
    if not parameters.region or batch.has_masks:
        return np.zeros(batch.gt.count, dtype=bool)
    is_polygon = shapes.of(batch.gt, convention(parameters)).is_polygon
    image = batch.gt.image
    return np.asarray(np.bincount(image[is_polygon], minlength=len(batch.names))[image] == 0)


def _regions(batch: ImageBatch, grown: shapes.Shapes) -> tuple[Ints, shapes.Shapes]:
    """Return each object's region and the regions' boxes: each bounds the grown objects of one image and region ID."""
    image, region = batch.gt.image, batch.gt.regions
    order = np.lexsort((region, image))
    first = np.concatenate([np.ones(1, dtype=bool), (np.diff(region[order]) != 0) | (np.diff(image[order]) != 0)])
    region_of = np.empty(len(order), np.int64)
    region_of[order] = np.cumsum(first) - 1
    boxes, starts = grown.boxes[order], np.flatnonzero(first)
    low, high = np.minimum.reduceat(boxes[:, :2], starts), np.maximum.reduceat(boxes[:, 2:], starts)
    return region_of, shapes.Shapes(np.concatenate([low, high], axis=1))


def _columns(
    batch: ImageBatch,
    local: _Local,
    coverage: Floats,
    splits: Ints,
    merges: Ints,
    gt_type: NDArray[np.uint8],
    parameters: Parameters,
) -> dict[str, NDArray[Any]]:
    images = len(batch.names)
    cared = ~batch.gt.dont_care
    image, det_image = batch.gt.image[cared], batch.det.image
    found = splits[cared] > 0
    accuracy, found_image = local.accuracy[cared][found], image[found]
    false_positive = merges == 0
    entries = np.concatenate([accuracy, np.zeros(int(false_positive.sum()))])
    entry_image = np.concatenate([found_image, det_image[false_positive]])
    printed, emd = bins(parameters)
    columns: dict[str, NDArray[Any]] = {
        "gt_objects": np.diff(batch.gt.offsets),
        "counted_gt_objects": per_image(cared, batch.gt.image, images),
        "detections": np.diff(batch.det.offsets),
        "true_positives": per_image(found, image, images),
        "false_positives": per_image(false_positive, det_image, images),
        "coverage": per_image(coverage[cared], image, images),
        "coverage_no_split": per_image(local.coverage[cared], image, images),
        "accuracy": per_image(accuracy, found_image, images),
        "split": per_image(local.split[cared], image, images),
        "coverage_bins": _histogram(coverage[cared], image, images, printed),
        "accuracy_bins": _histogram(entries, entry_image, images, printed),
        "coverage_emd_steps": _emd_steps(coverage[cared], image, images, emd),
        "coverage_no_split_emd_steps": _emd_steps(local.coverage[cared], image, images, emd),
        "accuracy_emd_steps": _emd_steps(entries, entry_image, images, emd),
    }
    for code in (ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, IGNORED):
        columns[MATCH_TYPES[code].replace("-", "_")] = per_image(gt_type == code, batch.gt.image, images)
    return columns


def bins(parameters: Parameters) -> tuple[int, int]:
    """Number of histogram bins printed, and used for the EMD scores."""
    return (parameters.hist_bin_nb,) * 2 if parameters.hist_bin_nb else (PRINTED_BINS, EMD_BINS)


def bin_of(values: Floats, count: int) -> Ints:
    """(n,) bin b of each value in [0, 1]: b/count <= value < (b+1)/count, the last bin including 1."""
    edges = np.arange(1, count) / count - BIN_TOLERANCE
    return np.searchsorted(edges, values, side="right")


def _histogram(values: Floats, image: Ints, images: int, count: int) -> Ints:
    return np.bincount(image * count + bin_of(values, count), minlength=images * count).reshape(images, count)


def _emd_steps(values: Floats, image: Ints, images: int, count: int) -> Ints:
    """Earth mover's distance of each image's histogram to the last bin, in bins times objects."""
    return per_image(count - 1 - bin_of(values, count), image, images)


def scores(totals: Totals, parameters: Parameters) -> Scores:
    """Global scores (Eq. 23-31), histograms and EMD scores of summed evidence; 0/0 is 0.

    Parameters
    ----------
    totals : mapping
        The sums of the columns of `evidence`, over a dataset or of one image.
    parameters : Parameters
    """
    counted, tp, answers = (
        totals["counted_gt_objects"],
        totals["true_positives"],
        totals["true_positives"] + totals["false_positives"],
    )
    recall, recall_no_split = ratio(totals["coverage"], counted), ratio(totals["coverage_no_split"], counted)
    precision = ratio(totals["accuracy"], answers)
    emd_recall, emd_no_split = (
        _emd_score(totals[name], counted, parameters) for name in ("coverage_emd_steps", "coverage_no_split_emd_steps")
    )
    emd_precision = _emd_score(totals["accuracy_emd_steps"], answers, parameters)
    return {
        "recall": recall,
        "recall_no_split": recall_no_split,
        "precision": precision,
        "split": ratio(totals["split"], counted),
        "fscore": harmonic_mean(recall, precision),
        "fscore_no_split": harmonic_mean(recall_no_split, precision),
        "quantity_recall": ratio(tp, counted),
        "quantity_precision": ratio(tp, answers),
        "quality_recall": ratio(totals["coverage"], tp),
        "quality_recall_no_split": ratio(totals["coverage_no_split"], tp),
        "quality_precision": ratio(totals["accuracy"], tp),
        "coverage_histogram": [ratio(count, counted) for count in totals["coverage_bins"]],
        "accuracy_histogram": [ratio(count, answers) for count in totals["accuracy_bins"]],
        "emd_recall": emd_recall,
        "emd_recall_no_split": emd_no_split,
        "emd_precision": emd_precision,
        "emd_fscore": harmonic_mean(emd_recall, emd_precision),
        "emd_fscore_no_split": harmonic_mean(emd_no_split, emd_precision),
    }


def _emd_score(steps: int, entries: int, parameters: Parameters) -> float:
    """1 - EMD between a histogram and all mass in the last bin; 0 for an empty histogram."""
    count = bins(parameters)[1]
    return ratio(entries * count - steps, entries * count)


PROTOCOL = Protocol(
    name="evaltex",
    title="EvaLTex: coverage and accuracy of every object, all kinds of matches",
    version=1,
    parameters=Parameters,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "fscore"),
    convention=convention,
    object_credit=mean_of("coverage", "accuracy"),
)
