"""CLEval (Baek, Nam, Park, Lee, Shin, Baek, Lee, Lee, CVPRW 2020): evaluation by characters.

Task: text detection, and end-to-end recognition if detections have transcriptions. The characters
of an object are assumed to be spread evenly along it; a detection is matched with the objects whose
characters it includes. Characters found, missed and found twice count, less a penalty for every
object in pieces and every detection of several objects. Equation numbers are the paper's; Eq. 1
and 2 are in `cleval_characters`, Algorithm 1 in `cleval_text`.

`reference=official` (default) gives what the authors' program prints (its state of 2023),
`reference=paper` the paper's figures. Where the program departs from the paper:

1. A false positive counts as height over width characters, not width over height.
2. A detection dropped as don't care still prevents one-to-one matches.
3. Objects higher than twice their width are read from the bottom to the top.
4. Each object has to reach an area precision of 0.3 by itself: Eq. 3 takes the union, and 0.5.
5. Numerators are clipped at 0 once, for the data set, not for every image.

`reference=paper` keeps 2, 3 and, at 0.5, the test of each object by itself of 4.

Empty cases: 0/0 is 0. An image without objects, or with don't-care objects only, adds its false
positives and nothing else. End-to-end scores are None if no detection has a transcription.

Examples
--------
A word of four characters is found in two halves: the second half costs one character of recall:

>>> from evaltex_cli import Accumulator, image_objects
>>> accumulator = Accumulator("cleval")
>>> halves = [[0, 0, 50, 20], [50, 0, 100, 20]]
>>> accumulator.update(image_objects([[0, 0, 100, 20]], texts=["exit"]), halves)
>>> scores = accumulator.compute().scores
>>> scores["recall"], scores["precision"], scores["splits"]
(0.75, 1.0, 1)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.cleval_characters import Side, centres, contains, shorter_sides, side_of
from evaltex_cli.protocols.cleval_text import credited_characters
from evaltex_cli.protocols.matching import Pair, above, at_least, matches, per_image
from evaltex_cli.protocols.measured import order_field
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.scores import quotient, ratio, recall_precision, where
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum
from evaltex_cli.protocols.texts import normalisation_field
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, offsets_of, ranges


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of CLEval."""

    reference: str = parameter(
        "official", "score as the authors' program, or as the paper", choices=("official", "paper")
    )
    area_precision: float = parameter(
        0.0, "least area precision (Eq. 4); 0 = 0.3 (official) or 0.5 (paper)", min=0.0, max=1.0
    )
    recall_granularity_penalty: float = parameter(
        1.0, "characters lost with each further detection of an object (Eq. 7)", min=0.0
    )
    precision_granularity_penalty: float = parameter(
        1.0, "characters lost with each further object of a detection (Eq. 7)", min=0.0
    )
    vertical_aspect: float = parameter(
        0.0,
        "vertical: width/height below (official; 0 = 0.5), height/width from (paper; 0 = 1.5)",
        min=0.0,
    )
    annotation: str = parameter(
        "auto",
        "four vertices are a quadrilateral or a polygon; auto: a polygon if any object has others",
        choices=("auto", "quad", "polygon"),
    )
    case_sensitive: bool = parameter(True, "upper and lower case letters are different")
    normalisation: str = normalisation_field("none")
    scale_bins: str = parameter(
        "", "edges of scale-wise results: shorter side / longer side of the image, 0,0.01,0.1,1 say"
    )
    order: str = order_field("confidence")

    def __post_init__(self) -> None:
        self.bins()

    @property
    def official(self) -> bool:
        """Whether the reference is the authors' program."""
        return self.reference == "official"

    def bins(self) -> list[tuple[float, float]]:
        """Lowest and highest scale of each bin, both inclusive.

        Raises `ConfigError` when the edges are not numbers that rise.
        """
        if not self.scale_bins:
            return []
        try:
            bins = list(pairwise(map(float, self.scale_bins.split(","))))
        except ValueError:
            bins = []
        if not bins or not all(low < high for low, high in bins):
            raise ConfigError(
                f"scale_bins is {quote(self.scale_bins)}; expected two or more rising numbers with"
                " commas between them, 0,0.01,0.1,1 say"
            )
        return bins


def resolve(parameters: Parameters, has_polygons: Callable[[], bool]) -> Parameters:
    """Let the data set say what four vertices are, if nobody else does."""
    if parameters.annotation != "auto":
        return parameters
    return replace(parameters, annotation="polygon" if has_polygons() else "quad")


class Scene(NamedTuple):
    """A batch as CLEval takes it: what does not depend on which objects are don't care."""

    batch: ImageBatch
    gt: Side
    det: Side
    near: list[Pair]
    """The pairs that may share characters or area, sorted."""
    included: dict[Pair, list[int]]
    """Which characters of an object lie in a detection, ascending, for the pairs that have any."""


def scene_of(batch: ImageBatch, parameters: Parameters) -> Scene:
    """Take a batch as CLEval does, and find which characters lie in which detections."""
    gt = side_of(batch.gt, batch.gt.dont_care, parameters)
    # A detection with the text of a don't-care object is as long as such an object.
    hidden = np.array([text == "###" for text in batch.det.texts], bool)
    det = side_of(batch.det, hidden, parameters)
    # Cutting coordinates to integers moves points by less than a pixel.
    around = batch.gt.boxes + np.array([-1.0, -1.0, 1.0, 1.0])
    i, j = touching_boxes(around, batch.gt.offsets, det.shapes.boxes, batch.det.offsets)
    lengths, near = gt.lengths[i], list(zip(i.tolist(), j.tolist(), strict=True))
    pair, character = np.repeat(np.arange(len(i)), lengths), ranges(0, lengths)
    points = centres(gt)[ranges(offsets_of(gt.lengths)[i], lengths)]
    inside = contains(det, j[pair], points)
    included = defaultdict(list)
    for p, k in zip(pair[inside].tolist(), character[inside].tolist(), strict=True):
        included[near[p]].append(k)
    return Scene(batch, gt, det, near, dict(included))


# Matching (section 3.1) ---------------------------------------------------------------------------


def area_precision(scene: Scene, dont_care: Bools, official: bool) -> dict[Pair, float]:
    """Return which share of each detection lies in each object (Eq. 3), of the pairs that are near;
    officially in single precision.
    """
    gt, offsets = scene.gt.shapes, scene.batch.gt.offsets
    # Don't-care objects are taken without what they share with objects that count.
    ignored, word = touching_boxes(gt.boxes, offsets, gt.boxes, offsets)
    mixed = dont_care[ignored] & ~dont_care[word]
    gt = gt.without(ignored[mixed], gt, word[mixed])
    i, j = matching.columns_of(scene.near)
    share = ratio(gt.pair_area(i, scene.det.shapes, j), scene.det.area[j])
    single = share.astype(np.float32 if official else np.float64)
    return dict(zip(scene.near, single.tolist(), strict=True))


def match(scene: Scene, dont_care: Bools, parameters: Parameters) -> tuple[list[Pair], Bools]:
    """Match objects and detections (Eq. 4).

    Return the pairs, sorted, and (D,) bool which detections are dropped, those of don't care.
    """
    included, official, ignored = scene.included, parameters.official, dont_care.tolist()
    threshold = parameters.area_precision or (0.3 if official else 0.5)
    precision = area_precision(scene, dont_care, official)
    # The program compares in single precision. At the threshold a pair is strong by both, and a
    # detection is dropped by the program alone.
    single: Any = np.float32 if official else float
    limit, exceeds = float(single(threshold)), at_least if official else above

    dropped = np.zeros(scene.batch.det.count, bool)
    for j, pairs in matching.by_det(pair for pair in precision if ignored[pair[0]]).items():
        total = sum((single(precision[pair]) for pair in pairs if pair in included), single(0))
        dropped[j] = exceeds(max(total, *(precision[pair] for pair in pairs)), limit)

    # Don't-care objects and dropped detections are rivals too.
    strong = [pair for pair in included if at_least(precision[pair], limit)]
    counting = {(i, j) for i, j in included if not ignored[i] and not dropped[j]}
    matched = set(matching.alone(strong)) & counting  # one-to-one
    for pairs in matching.by_gt(pair for pair in strong if pair in counting).values():
        if len(pairs) > 1:  # one-to-many
            matched.update(pairs)
    for pairs in matching.by_det(sorted(counting)).values():
        if len(pairs) > 1 and at_least(sum(precision[pair] for pair in pairs), threshold):
            matched.update(pairs)  # many-to-one
    return sorted(matched), dropped


# Tally --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CLEvalTally(ObjectTally):
    """Characters by what happened to them; credits are less the penalties, so may be below 0.

    The fields ``scale_...`` are those of the same name for each bin, (images, bins).
    """

    gt_characters: Count
    detected_characters: Count
    found_characters: Count
    missed_characters: Count
    overlapped_characters: Count
    false_positive_characters: Count
    splits: Count
    merges: Count
    recall_credit: Sum
    precision_credit: Sum
    transcribed_detections: Count
    recognised_characters: Count
    correct_characters: Count
    e2e_recall_credit: Sum
    e2e_precision_credit: Sum
    matched_characters: Count
    scale_gt_characters: Count | None = None
    scale_detected_characters: Count | None = None
    scale_recall_credit: Sum | None = None
    scale_precision_credit: Sum | None = None
    scale_recognised_characters: Count | None = None
    scale_e2e_recall_credit: Sum | None = None
    scale_e2e_precision_credit: Sum | None = None


# The numerators and denominators of Eq. 9.
DETECTION = "recall_credit", "gt_characters", "precision_credit", "detected_characters"
END_TO_END = "e2e_recall_credit", "gt_characters", "e2e_precision_credit", "recognised_characters"


def evaluated(scene: Scene, dont_care: Bools, parameters: Parameters) -> Evidence:
    """Match a scene and count its characters, `dont_care` being left out."""
    batch, gt_side, det_side, official = scene.batch, scene.gt, scene.det, parameters.official
    gt_sum = partial(per_image, image=batch.gt.image, images=len(batch.names))
    det_sum = partial(per_image, image=batch.det.image, images=len(batch.names))
    gt_count = partial(np.bincount, minlength=batch.gt.count)
    det_count = partial(np.bincount, minlength=batch.det.count)

    matched, dropped = match(scene, dont_care, parameters)
    gt, det = matching.columns_of(matched)
    splits, merges = gt_count(gt), det_count(det)
    gt_penalty = parameters.recall_granularity_penalty * np.maximum(splits - 1, 0)  # Eq. 7
    det_penalty = parameters.precision_granularity_penalty * np.maximum(merges - 1, 0)

    # Table 2: the characters of objects that lie in their detections.
    inside = [(i, j, k) for i, j in matched for k in scene.included[i, j]]
    owner, holder, character = np.array(inside, np.int64).reshape(-1, 3).T
    first, which = matching.unique_pairs(owner, character)
    found, times, included = gt_count(owner[first]), gt_count(owner), det_count(holder)
    # Eq. 6: officially a character found twice is that of the first detection.
    if official:
        correct = det_count(holder[first])
    else:
        correct = det_count(holder, 1 / np.bincount(which)[which])
    characters = np.where(dont_care, 0, gt_side.lengths)
    recognised = np.where(dropped, 0, det_side.lengths)
    false_positive = np.where((merges > 0) | dropped, 0, det_side.false_positive_lengths)  # Eq. 8
    gt_credit, det_credit = credited_characters(  # Algorithm 1
        matched, scene.included, gt_side.texts, det_side.texts, official
    )

    def credit(right: Ints, penalty: Floats) -> Floats:
        """The numerators of images; only the paper clips each (5 above)."""
        return np.maximum(gt_sum(right) - penalty, -np.inf if official else 0.0)

    transcribed = det_sum(det_side.lengths > 0)
    tally = CLEvalTally(
        *matching.object_counts(batch, ~dont_care, ~dropped),
        gt_characters=gt_sum(characters),
        detected_characters=det_sum(included + false_positive),
        found_characters=gt_sum(found),
        missed_characters=gt_sum(characters - found),
        overlapped_characters=gt_sum(times - found),
        false_positive_characters=det_sum(false_positive),
        splits=gt_sum(splits > 1),
        merges=det_sum(merges > 1),
        recall_credit=credit(found, gt_sum(gt_penalty)),
        precision_credit=credit(found, det_sum(det_penalty)),
        transcribed_detections=transcribed,
        recognised_characters=det_sum(recognised),
        correct_characters=gt_sum(gt_credit),
        e2e_recall_credit=credit(gt_credit, gt_sum(gt_penalty)),
        e2e_precision_credit=credit(gt_credit, det_sum(det_penalty)),
        matched_characters=det_sum(np.where(merges > 0, np.maximum(recognised, included), 0)),
    )
    # End-to-end values are undefined in images in which no detection has a transcription.
    gt_read, det_read = ((transcribed > 0)[side.image] for side in (batch.gt, batch.det))
    gt_values = {
        "characters": characters,
        "found_characters": found,
        "missed_characters": characters - found,
        "overlapped_characters": times - found,
        "granularity_penalty": gt_penalty,
        "credited_characters": np.where(gt_read, gt_credit, np.nan),
    }
    det_values = {
        "included_characters": included,
        "correct_characters": correct,
        "false_positive_characters": false_positive,
        "granularity_penalty": det_penalty,
        "recognised_characters": np.where(det_read, recognised, np.nan),
        "credited_characters": np.where(det_read, det_credit, np.nan),
    }
    return Evidence(tally, matches(gt, det, ~dont_care, ~dropped, gt_values, det_values))


def by_scale(scene: Scene, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Return the fields ``scale_...``: in each bin, objects of other scales are don't care.

    Raises `InputError` when an image's size is not known.
    """
    gt, longer = scene.batch.gt, scene.batch.sizes.max(axis=1, initial=0.0)
    for k in np.flatnonzero((longer <= 0) & (np.diff(gt.offsets) > 0))[:1].tolist():
        raise InputError(
            f"image {quote(scene.batch.names[k])} has no height and width, which scale_bins needs;"
            " give the pictures by --images, a ground truth that states sizes (EvaLTex .txt), in"
            " Python size=(height, width), or leave out scale_bins"
        )
    scale = shorter_sides(scene.gt.rings) / longer[gt.image]
    tallies = [
        evaluated(scene, gt.dont_care | (scale < low) | (scale > high), parameters).tally
        for low, high in parameters.bins()
    ]
    return {
        f"scale_{name}": np.stack([getattr(tally, name) for tally in tallies], axis=1)
        for name in {*DETECTION, *END_TO_END}
    }


def evidence(batch: ImageBatch, overlaps: None, parameters: Parameters) -> Evidence:
    """Match a batch and sum what its images contribute; raises as `by_scale` does."""
    scene = scene_of(batch, parameters)
    result = evaluated(scene, batch.gt.dont_care, parameters)
    if parameters.scale_bins:
        result = result._replace(tally=replace(result.tally, **by_scale(scene, parameters)))
    text = (
        "cleval: {count} ground-truth object[s] [has|have] no transcription; [it has no characters"
        " and matches|they have no characters and match] nothing (in {images})"
    )
    return result._replace(warnings=object_warning(text, batch, scene.gt.lengths == 0))


# Scores (section 3.2.5) ---------------------------------------------------------------------------


def scores(tally: CLEvalTally, parameters: Parameters) -> Scores:
    """Scores (Eq. 9, 10, 11) and attributes of summed evidence; 0/0 is 0."""
    values = tally.as_dict()
    end_to_end = values["transcribed_detections"] > 0

    def ratios(values: Mapping[str, Any]) -> Scores:
        e2e = recall_precision(*(values[name] for name in END_TO_END))
        return recall_precision(*(values[name] for name in DETECTION)) | {
            f"e2e_{name}": where(end_to_end, value, None) for name, value in e2e.items()
        }

    recognition = ratio(values["correct_characters"], values["matched_characters"])
    result = ratios(values) | {"recognition_score": where(end_to_end, recognition, None)}
    result |= {name: values[name] for name in ("splits", "merges")}
    for what in ("missed", "overlapped", "false_positive"):
        result[f"{what}_characters"] = values[f"{what}_characters"]
    if parameters.scale_bins:
        result["scale_wise"] = [
            {"lowest_scale": low, "highest_scale": high}
            | ratios({name: values[f"scale_{name}"][k] for name in (*DETECTION, *END_TO_END)})
            for k, (low, high) in enumerate(parameters.bins())
        ]
    return result


def object_credit(types: NDArray[np.uint8], values: Mapping[str, Floats]) -> Floats:
    """Share of each object's characters that were found, less its granularity penalty."""
    names = "found_characters", "granularity_penalty", "characters"
    found, penalty, characters = (np.nan_to_num(values[name]) for name in names)
    credit: Floats = quotient(found - penalty, characters)
    return np.maximum(0.0, credit)


PROTOCOL = Protocol(
    name="cleval",
    title="CLEval: detection and end-to-end recognition by characters",
    parameters=Parameters,
    tally=CLEvalTally,
    evidence=evidence,
    scores=scores,
    convention=lambda parameters: None,
    needs=frozenset({"outlines"}),
    resolve=resolve,
    object_credit=object_credit,
)
