"""EvaLTex (Calarasanu, Fabrizio, Dubuisson, Image and Vision Computing 2016): coverage and accuracy
of every object.

Task: text localisation by boxes, regions, polygons or labelled masks. Every ground-truth object
gets a coverage (what of it was found) and an accuracy (what of its detections is text), by the kind
of its match; scores pool them. Equation numbers are the paper's. Where the paper is silent or
contradicts the published tool:

1. The filter (Eq. 5) takes a detection's candidates by decreasing IoU; the paper states no order.
2. Accuracy of a merge is TextArea / Area(D) for each of its objects: Eq. 19 as printed leaves out
   the text's own share.
3. The split penalty is the tool's, 0.6 / (1 + ln² s) + 0.4; `split_function=paper` takes Eq. 13.
4. The margin is the tool's, `det_border` = 0.01; the paper's experiments took 0.1 (Eq. 6).
5. EMD scores use 100 bins while 10 are printed, as in the tool's sample (`hist_bin_nb`: for both).
6. Rejected objects match like others and count as text, but enter no mean; a detection on them
   alone is neither right nor wrong.

Empty cases: a ratio 0/0 is 0, in the dataset and in an image without objects alike.

Examples
--------
A word is found in two halves. They cover it, and contain nothing else, but the split costs 0.6 -
0.6 / (1 + ln² 2):

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("evaltex")
>>> accumulator.update([[0, 0, 100, 20]], [[0, 0, 50, 20], [50, 0, 100, 20]])
>>> scores = accumulator.compute().scores
>>> round(scores["recall_no_split"], 3), round(scores["recall"], 3), round(scores["precision"], 3)
(1.0, 0.805, 1.0)
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import FALSE_POSITIVE, TIE, Matches, Pair, per_image
from evaltex_cli.protocols.scores import Number, harmonic_mean, quotient, ratio
from evaltex_cli.protocols.tally import Count, Sum, Tally
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps

PRINTED_BINS, EMD_BINS = 10, 100


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of EvaLTex, named as in the tool's evaltex.ini; the last three are ours."""

    region: bool = parameter(True, "text area of a merge: the regions of its objects (Eq. 20)")
    print_level: int = parameter(0, "detail of the result .txt", min=0, max=2)
    min_area: float = parameter(0.0, "square pixels that an overlap exceeds (Eq. 3, 4)", min=0.0)
    hist_bin_nb: int = parameter(
        0, "histogram bins, for printing and EMD; 0 = 10 printed, 100 for EMD", min=0, max=10_000
    )
    split: bool = parameter(True, "coverage is multiplied by the split penalty (Eq. 11)")
    det_border: float = parameter(0.01, "margin, a share of thickness (Eq. 6)", min=0.0, below=0.5)
    split_function: str = parameter(
        "tool", "split penalty: tool 0.6/(1+ln²s)+0.4, paper 1/(1+ln s)", choices=("tool", "paper")
    )
    overlap_filter: float = parameter(0.1, "t of the candidate filter (Eq. 5)", min=0.0, max=1.0)
    shape: str = parameter("polygon", "polygons as they are, or boxes", choices=("polygon", "box"))


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch, and sum what its images contribute."""
    pairs = overlaps.some(filtered(batch, overlaps, parameters))
    local = local_scores(batch, pairs, parameters)
    # A detection that matches only rejected objects is neither right nor wrong.
    gt_counts = ~batch.gt.dont_care
    det_counts = np.bincount(pairs.det, minlength=batch.det.count) == 0
    det_counts[pairs.det[gt_counts[pairs.gt]]] = True
    matched = matching.matches(pairs.gt, pairs.det, gt_counts, det_counts, local, {})
    return Evidence(tally_of(batch, local, matched, parameters), matched)


# Matching (section 3.2.1) -------------------------------------------------------------------------


def filtered(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Bools:
    """(p,) the overlaps that are large enough (Eq. 3, 4) and that the filter keeps (Eq. 5).

    A detection takes its candidates G' by decreasing IoU, ties by the ground truth's order, and
    drops G' if it has a G with Area(G' ∩ D) - Area(G ∩ G') <= t * Area(G').
    """
    is_match = overlaps.area > parameters.min_area * (1 + TIE)
    counts = np.bincount(overlaps.det[is_match], minlength=batch.det.count)
    rows = np.flatnonzero(is_match & (counts[overlaps.det] > 1))  # a single one is never dropped
    pairs = overlaps.some(rows)
    common = common_shares(batch, overlaps, np.flatnonzero(np.bincount(pairs.gt)))
    best_first = np.lexsort((pairs.gt, -pairs.iou().round(9), pairs.det))
    columns = rows, pairs.gt, pairs.det, pairs.recall()
    matched_by = defaultdict[int, list[int]](list)
    for row, i, j, detected in zip(*(c[best_first].tolist() for c in columns), strict=True):
        in_others = (common.get((i, g), 0.0) for g in matched_by[j])
        if all(matching.above(detected - part, parameters.overlap_filter) for part in in_others):
            matched_by[j].append(i)
        else:
            is_match[row] = False
    return is_match


def common_shares(batch: ImageBatch, overlaps: Overlaps, objects: Ints) -> dict[Pair, float]:
    """Return Area(G ∩ G') / Area(G') by (G', G), of some objects that overlap."""
    if batch.has_masks:  # a pixel has one label
        return {}
    side, offsets = overlaps.gt_shapes, np.searchsorted(objects, batch.gt.offsets)
    i, j = touching_boxes(side.boxes[objects], offsets, side.boxes[objects], offsets)
    i, j = objects[i[i != j]], objects[j[i != j]]
    parts = (side.pair_area(i, side, j) / overlaps.gt_area[i]).tolist()
    return dict(zip(zip(i.tolist(), j.tolist(), strict=True), parts, strict=True))


# Local scores (sections 3.2.2 to 3.2.5) -----------------------------------------------------------


def local_scores(batch: ImageBatch, pairs: Overlaps, parameters: Parameters) -> dict[str, Floats]:
    """(G,) each: coverage, with the split penalty if the parameters ask for it, and without it;
    accuracy, NaN for a missed object; and the penalty.
    """
    gt, det, objects, detections = pairs.gt, pairs.det, batch.gt.count, pairs.det_shapes
    splits = np.bincount(gt, minlength=objects)  # s_i, the detections of each object
    merges = np.bincount(det, minlength=batch.det.count)  # m_j, the objects of each detection

    # Ge and Gr, the objects with a margin (Eq. 6-8); a polygon without a pair is never measured.
    margin = parameters.det_border * quotient(pairs.gt_area, pairs.gt_shapes.longer_side())
    margin[pairs.gt_shapes.is_polygon & (splits == 0)] = 0
    grown, shrunk = pairs.gt_shapes.moved(margin), pairs.gt_shapes.moved(-margin)

    # Coverage: Eq. 12, which is Eq. 10 and 15 where there is one detection; Eq. 11 has the penalty.
    covered = shrunk.union_area(gt, objects, gt, detections, det)
    coverage = ratio(covered, shrunk.area())
    split = split_penalty(splits, parameters.split_function)

    # Accuracy of all but many-to-one: Eq. 14, which is Eq. 9 where there is one detection.
    is_many_to_one = (splits[gt] == 1) & (merges[det] > 1)
    own, own_det = gt[~is_many_to_one], det[~is_many_to_one]
    text = grown.union_area(own, objects, own, detections, own_det)
    detected = np.bincount(own, pairs.det_area[own_det], objects)
    own, own_det = own[splits[own] > 1], own_det[splits[own] > 1]  # detections that may overlap
    united = detections.union_area(own, objects, own_det, detections, own_det)
    detected = np.where(splits > 1, united, detected)
    accuracy = np.where(splits > 0, ratio(text, detected), np.nan)

    # Accuracy of many-to-one: the object shares its only detection with others (Eq. 16-20).
    merge = pairs.some(merges[det] > 1)
    of_merge = ratio(text_area(batch, merge, grown, parameters), pairs.det_area)
    accuracy[gt[is_many_to_one]] = of_merge[det[is_many_to_one]]
    return {
        "coverage": coverage * split if parameters.split else coverage,
        "coverage_no_split": coverage,
        "accuracy": accuracy,
        "split": split,
    }


def split_penalty(splits: Ints, function: str) -> Floats:
    """(G,) factor F of s pieces: 1 for one, 0 for none (Eq. 13, or the tool's page)."""
    log = np.log(np.maximum(splits, 1))
    penalty = 1 / (1 + log) if function == "paper" else 0.6 / (1 + log**2) + 0.4
    return np.where(splits > 0, penalty, 0.0)


def text_area(batch: ImageBatch, pairs: Overlaps, grown: Any, parameters: Parameters) -> Floats:
    """(D,) TextArea of the detections of several objects, in pairs: what they contain of the
    objects' regions (Eq. 20), or of the objects themselves (Eq. 16).

    Masks and images with a polygon object have no regions.
    """
    count, detections, images = batch.det.count, pairs.det_shapes, len(batch.names)
    has_regions = per_image(grown.is_polygon, batch.gt.image, images) == 0
    of_region = has_regions[batch.gt.image[pairs.gt]] & parameters.region & (not batch.has_masks)
    own = pairs.some(~of_region)
    text: Floats = grown.union_area(own.det, count, own.gt, detections, own.det)
    if of_region.any():
        # A region counts once, however many of its objects the detection has.
        region = matching.unique_pairs(batch.gt.image, batch.gt.regions)[1]
        regions = Shapes(box_geometry.around_groups(grown.boxes, region))
        det, part = np.unique([pairs.det[of_region], region[pairs.gt[of_region]]], axis=1)
        text += regions.union_area(det, count, part, detections, det)
    return text


# Evidence and global scores (section 3.3) ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EvaltexTally(Tally):
    """Evidence: sums over objects that count, histograms of their values, objects by match type."""

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    true_positives: Count
    false_positives: Count
    """`true_positives` and `false_positives`: tp and fp (Eq. 21, 22)."""
    coverage: Sum
    coverage_no_split: Sum
    accuracy: Sum
    split: Sum
    coverage_bins: Count
    accuracy_bins: Count
    coverage_emd_steps: Count
    coverage_no_split_emd_steps: Count
    accuracy_emd_steps: Count
    one_to_one: Count
    one_to_many: Count
    many_to_one: Count
    many_to_many: Count
    missed: Count
    ignored: Count


def tally_of(
    batch: ImageBatch, local: dict[str, Floats], matched: Matches, parameters: Parameters
) -> EvaltexTally:
    """Sum what each image contributes."""
    images, counts = len(batch.names), ~batch.gt.dont_care
    printed, emd = parameters.hist_bin_nb or PRINTED_BINS, parameters.hist_bin_nb or EMD_BINS
    image = batch.gt.image[counts]
    wrong_image = batch.det.image[matched.det.types == FALSE_POSITIVE]
    coverage, coverage_no_split, accuracy, split = (values[counts] for values in local.values())
    # Accuracies are those of found objects, and 0 for each false positive.
    found = ~np.isnan(accuracy)
    entry_image = np.concatenate([image[found], wrong_image])
    entries = np.concatenate([accuracy[found], np.zeros(len(wrong_image))])

    def histogram(values: Floats, image: Ints) -> Ints:
        cell = image * printed + bin_of(values, printed)
        return np.bincount(cell, minlength=images * printed).reshape(images, printed)

    def emd_steps(values: Floats, image: Ints) -> Ints:
        """Earth mover's distance to all mass in the last bin, in bins times objects."""
        return per_image(emd - 1 - bin_of(values, emd), image, images)

    return EvaltexTally(
        gt_objects=np.diff(batch.gt.offsets),
        counted_gt_objects=per_image(counts, batch.gt.image, images),
        detections=np.diff(batch.det.offsets),
        true_positives=per_image(found, image, images),
        false_positives=np.bincount(wrong_image, minlength=images),
        coverage=per_image(coverage, image, images),
        coverage_no_split=per_image(coverage_no_split, image, images),
        accuracy=per_image(entries, entry_image, images),
        split=per_image(split, image, images),
        coverage_bins=histogram(coverage, image),
        accuracy_bins=histogram(entries, entry_image),
        coverage_emd_steps=emd_steps(coverage, image),
        coverage_no_split_emd_steps=emd_steps(coverage_no_split, image),
        accuracy_emd_steps=emd_steps(entries, entry_image),
        **{
            name.replace("-", "_"): per_image(matched.gt.types == code, batch.gt.image, images)
            for code, name in enumerate(matching.MATCH_TYPES)
            if code != FALSE_POSITIVE
        },
    )


def bin_of(values: Floats, count: int) -> Ints:
    """(n,) bin b of each value: b/count <= value < (b+1)/count, the last bin including 1; a value
    just below an edge is at the edge.
    """
    edges = np.arange(1, count) / count - TIE
    return np.searchsorted(edges, values, side="right")


def scores(tally: EvaltexTally, parameters: Parameters) -> Scores:
    """Quantity (Eq. 23, 24), quality (Eq. 25, 26) and both (Eq. 27-31), histograms and EMD scores;
    0/0 is 0.
    """
    counted, tp = tally.counted_gt_objects, tally.true_positives
    answers, emd = tp + tally.false_positives, parameters.hist_bin_nb or EMD_BINS
    recall = ratio(tally.coverage, counted)
    recall_no_split = ratio(tally.coverage_no_split, counted)
    precision = ratio(tally.accuracy, answers)

    def emd_score(steps: Number, entries: Number) -> Number:
        """1 - EMD between a histogram and all mass in the last bin; 0 for an empty histogram."""
        return ratio(entries * emd - steps, entries * emd)

    emd_recall = emd_score(tally.coverage_emd_steps, counted)
    emd_recall_no_split = emd_score(tally.coverage_no_split_emd_steps, counted)
    emd_precision = emd_score(tally.accuracy_emd_steps, answers)
    return {
        "recall": recall,
        "recall_no_split": recall_no_split,
        "precision": precision,
        "split": ratio(tally.split, counted),
        "fscore": harmonic_mean(recall, precision),
        "fscore_no_split": harmonic_mean(recall_no_split, precision),
        "quantity_recall": ratio(tp, counted),
        "quantity_precision": ratio(tp, answers),
        "quality_recall": ratio(tally.coverage, tp),
        "quality_recall_no_split": ratio(tally.coverage_no_split, tp),
        "quality_precision": ratio(tally.accuracy, tp),
        "coverage_histogram": [ratio(count, counted) for count in tally.coverage_bins],
        "accuracy_histogram": [ratio(count, answers) for count in tally.accuracy_bins],
        "emd_recall": emd_recall,
        "emd_recall_no_split": emd_recall_no_split,
        "emd_precision": emd_precision,
        "emd_fscore": harmonic_mean(emd_recall, emd_precision),
        "emd_fscore_no_split": harmonic_mean(emd_recall_no_split, emd_precision),
    }


PROTOCOL = Protocol(
    name="evaltex",
    title="EvaLTex: coverage and accuracy of objects, all kinds of matches",
    parameters=Parameters,
    tally=EvaltexTally,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "fscore"),
    convention=lambda parameters: Convention(as_boxes=parameters.shape == "box"),
    object_credit=matching.mean_of("coverage", "accuracy"),
)
