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
4. EMD scores use 100 bins while 10 are printed, as the tool's sample does, unless `hist_bin_nb` is
   set.
5. Rejected objects match like others and count as text, but enter no mean; a detection on them
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

from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.base import Evidence, Protocol, Scores, per_image
from evaltex_cli.protocols.evaltex_matching import (
    Local,
    Parameters,
    SelectedPairs,
    convention,
    local_scores,
    scene_of,
    select_candidates,
)
from evaltex_cli.protocols.matches import (
    IGNORED,
    MANY_TO_MANY,
    MANY_TO_ONE,
    MATCH_TYPES,
    MISSED,
    ONE_TO_MANY,
    ONE_TO_ONE,
    Matched,
    matches,
    mean_of,
    types,
)
from evaltex_cli.protocols.ratios import Number, harmonic_mean, ratio, settled
from evaltex_cli.protocols.tally import Count, Sum, at_most, require
from evaltex_cli.protocols.tally import Tally as BaseTally
from evaltex_cli.records import Floats, ImageBatch, Ints, Overlaps

PRINTED_BINS, EMD_BINS = 10, 100
BIN_TOLERANCE = 1e-9
"""A value this little below a bin's edge belongs to the bin above: it is the
edge, but for rounding.
"""


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch and sum what its images contribute."""
    enough = settled(overlaps.area, parameters.min_area, overlaps) > parameters.min_area
    candidates = overlaps
    if not enough.all():
        candidates = overlaps._replace(
            gt=overlaps.gt[enough], det=overlaps.det[enough], area=overlaps.area[enough]
        )
    scene = scene_of(batch, overlaps, parameters)
    selected = select_candidates(candidates, scene, parameters.overlap_filter)
    gt, det = candidates.gt[selected], candidates.det[selected]
    splits, merges = (
        np.bincount(gt, minlength=batch.gt.count),
        np.bincount(det, minlength=batch.det.count),
    )
    pairs = SelectedPairs(gt, det, candidates.area[selected], splits, merges)
    local = local_scores(batch, scene, pairs, parameters)
    gt_counts = ~batch.gt.dont_care
    # A detection without a match counts, as a false positive; one that matches only don't-care
    # objects does not.
    det_counts = merges == 0
    det_counts[det[gt_counts[gt]]] = True
    gt_type, det_type = types(gt, det, gt_counts, det_counts)
    tally = _tally(
        Matched(batch.gt.offsets, batch.gt.dont_care, gt_type, splits, local._asdict()),
        Matched(batch.det.offsets, batch.det.dont_care, det_type, merges, {}),
        parameters,
    )
    if not with_matches:
        return Evidence(tally)
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, local._asdict(), {}))


def recount(gt: Matched, det: Matched, parameters: Parameters) -> Tally:
    """Tally matches after some objects were made don't-care: these match like
    all others, and only do not count.
    """
    types = np.where(gt.dont_care, np.uint8(IGNORED), gt.types)
    return _tally(gt._replace(types=types), det, parameters)


@dataclass(frozen=True, eq=False)
class Tally(BaseTally):
    """Evidence of EvaLTex: sums over objects that count, histograms of their
    values, and objects by match type.
    """

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    true_positives: Count
    false_positives: Count
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

    def check(self) -> None:
        super().check()
        matched = self.one_to_one + self.one_to_many + self.many_to_one + self.many_to_many
        require(matched == self.true_positives, "match types and true positives differ")
        require(
            matched + self.missed == self.counted_gt_objects,
            "match types and objects that count differ",
        )
        require(
            matched + self.missed + self.ignored == self.gt_objects,
            "match types and objects differ",
        )
        require(self.false_positives <= self.detections, "more false positives than detections")
        require(
            at_most(self.coverage_no_split, self.true_positives),
            "more coverage than true positives",
        )
        require(at_most(self.coverage, self.coverage_no_split), "the split penalty raises coverage")
        require(at_most(self.accuracy, self.true_positives), "more accuracy than true positives")


def _tally(gt: Matched, det: Matched, parameters: Parameters) -> Tally:
    images, local = len(gt.offsets) - 1, Local(*(gt.values[name] for name in Local._fields))
    cared, gt_image, det_image = ~gt.dont_care, gt.image, det.image
    image = gt_image[cared]
    found = gt.partners[cared] > 0
    accuracy, found_image = local.accuracy[cared][found], image[found]
    false_positive = det.partners == 0
    entries = np.concatenate([accuracy, np.zeros(int(false_positive.sum()))])
    entry_image = np.concatenate([found_image, det_image[false_positive]])
    printed, emd = bins(parameters)
    by_type = {
        MATCH_TYPES[code].replace("-", "_"): per_image(gt.types == code, gt_image, images)
        for code in (ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, IGNORED)
    }
    return Tally(
        gt_objects=np.diff(gt.offsets),
        counted_gt_objects=per_image(cared, gt_image, images),
        detections=np.diff(det.offsets),
        true_positives=per_image(found, image, images),
        false_positives=per_image(false_positive, det_image, images),
        coverage=per_image(local.coverage[cared], image, images),
        coverage_no_split=per_image(local.coverage_no_split[cared], image, images),
        accuracy=per_image(accuracy, found_image, images),
        split=per_image(local.split[cared], image, images),
        coverage_bins=_histogram(local.coverage[cared], image, images, printed),
        accuracy_bins=_histogram(entries, entry_image, images, printed),
        coverage_emd_steps=_emd_steps(local.coverage[cared], image, images, emd),
        coverage_no_split_emd_steps=_emd_steps(local.coverage_no_split[cared], image, images, emd),
        accuracy_emd_steps=_emd_steps(entries, entry_image, images, emd),
        **by_type,
    )


def bins(parameters: Parameters) -> tuple[int, int]:
    """Number of histogram bins printed, and used for the EMD scores."""
    return (parameters.hist_bin_nb,) * 2 if parameters.hist_bin_nb else (PRINTED_BINS, EMD_BINS)


def bin_of(values: Floats, count: int) -> Ints:
    """(n,) bin b of each value in [0, 1]: b/count <= value < (b+1)/count, the last with 1."""
    edges = np.arange(1, count) / count - BIN_TOLERANCE
    return np.searchsorted(edges, values, side="right")


def _histogram(values: Floats, image: Ints, images: int, count: int) -> Ints:
    # Image and bin as one number: one bincount makes the histograms of all images.
    return np.bincount(image * count + bin_of(values, count), minlength=images * count).reshape(
        images, count
    )


def _emd_steps(values: Floats, image: Ints, images: int, count: int) -> Ints:
    """Earth mover's distance of each image's histogram to the last bin, in bins times objects."""
    return per_image(count - 1 - bin_of(values, count), image, images)


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Global scores (Eq. 23-31), histograms and EMD scores; 0/0 is 0."""
    counted, tp = tally.counted_gt_objects, tally.true_positives
    answers = tp + tally.false_positives
    recall, recall_no_split = (
        ratio(tally.coverage, counted),
        ratio(tally.coverage_no_split, counted),
    )
    precision = ratio(tally.accuracy, answers)
    emd_recall, emd_no_split = (
        _emd_score(steps, counted, parameters)
        for steps in (tally.coverage_emd_steps, tally.coverage_no_split_emd_steps)
    )
    emd_precision = _emd_score(tally.accuracy_emd_steps, answers, parameters)
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
        "emd_recall_no_split": emd_no_split,
        "emd_precision": emd_precision,
        "emd_fscore": harmonic_mean(emd_recall, emd_precision),
        "emd_fscore_no_split": harmonic_mean(emd_no_split, emd_precision),
    }


def _emd_score(steps: Number, entries: Number, parameters: Parameters) -> Number:
    """1 - EMD between a histogram and all mass in the last bin; 0 for an empty histogram."""
    count = bins(parameters)[1]
    return ratio(entries * count - steps, entries * count)


PROTOCOL = Protocol(
    name="evaltex",
    title="EvaLTex: coverage and accuracy of objects, all kinds of matches",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "fscore"),
    main_score="fscore",
    convention=convention,
    object_credit=mean_of("coverage", "accuracy"),
    recount=recount,
)
