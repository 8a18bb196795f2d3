"""CLEval (Baek, Nam, Park, Lee, Shin, Baek, Lee, Lee, CVPRW 2020): evaluation by characters.

Task: text detection, and end-to-end recognition if detections have transcriptions. The characters
of an object are assumed to be spread evenly along it; a detection is matched with the objects whose
characters it includes. Characters found, missed and found twice count, less a penalty for every
object in pieces and every detection of several objects. Equation numbers are the paper's; what is
compared (Eq. 1 to 3) is in `cleval_characters`, Algorithm 1 in `cleval_text`.

`reference=official` (default) gives what the authors' program prints (its state of 2023),
`reference=paper` the paper's figures. Where the program departs from the paper, and which way that
moves the score:

1. A false positive counts as height over width characters (by vertex order; a polygon as one), not
   width over height: precision rises with wide ones and falls with narrow ones.
2. A detection dropped as don't care still prevents one-to-one matches: recall and precision fall.
3. Objects higher than twice their width are read from the bottom to the top.
4. Each object has to reach an area precision of 0.3 by itself: Eq. 3 takes the union, and 0.5.
5. Numerators are clipped at 0 once, for the data set, not for every image.

`reference=paper` keeps 2, 3 and, at 0.5, the test of each object by itself of 4, as the program
behind the paper's tables had them.

Unlike the program: coordinates may be fractions; a polygon without transcription has no characters
(it crashes); objects are visited in the ground truth's order (it takes that of a Python set).

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

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.cleval_characters import Scene, area_precision, scene_of, shorter_side
from evaltex_cli.protocols.cleval_text import credited_characters
from evaltex_cli.protocols.matching import (
    Pair,
    above,
    alone,
    at_least,
    by_det,
    by_gt,
    columns_of,
    defined,
    matches,
    object_counts,
    per_image,
)
from evaltex_cli.protocols.measured import order_field
from evaltex_cli.protocols.normalisation import normalisation_field
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.scores import quotient, ratio, recall_precision, where
from evaltex_cli.protocols.tally import Count, ObjectTally, Sum, at_most, require
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints


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

    @property
    def threshold(self) -> float:
        """Least area precision."""
        return self.area_precision or (0.3 if self.official else 0.5)

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


# Matching (section 3.1) ---------------------------------------------------------------------------


def match(scene: Scene, dont_care: Bools, parameters: Parameters) -> tuple[list[Pair], Bools]:
    """Match objects and detections (Eq. 4).

    Return the pairs, sorted, and (D,) bool which detections are dropped, those of don't care.
    """
    official, threshold, included = parameters.official, parameters.threshold, scene.included
    # The program compares in single precision. At the threshold a pair is strong by both, and a
    # detection is dropped by the program alone.
    single: Any = np.float32 if official else float
    limit, exceeds = float(single(threshold)), at_least if official else above
    precision, ignored = area_precision(scene, dont_care, official), dont_care.tolist()

    dropped = [False] * scene.batch.det.count
    for j, pairs in by_det(pair for pair in precision if ignored[pair[0]]).items():
        total = sum((single(precision[p]) for p in pairs if p in included), single(0))
        dropped[j] = exceeds(max(total, *(precision[p] for p in pairs)), limit)

    # Don't-care objects and dropped detections are rivals too.
    strong = [pair for pair in included if at_least(precision[pair], limit)]
    counting = [(i, j) for i, j in included if not ignored[i] and not dropped[j]]
    matched = set(alone(strong)).intersection(counting)  # one-to-one
    for pairs in by_gt(pair for pair in counting if at_least(precision[pair], limit)).values():
        if len(pairs) > 1:  # one-to-many
            matched.update(pairs)
    for pairs in by_det(counting).values():
        if len(pairs) > 1 and at_least(sum(precision[p] for p in pairs), threshold):  # many-to-one
            matched.update(pairs)
    return sorted(matched), np.array(dropped, bool)


# Characters (section 3.2) -------------------------------------------------------------------------


def included_characters(
    scene: Scene, matched: list[Pair], official: bool
) -> tuple[Ints, Ints, Ints, Floats]:
    """Count characters for the detection scores (Table 2): (G,) how many of each object are found,
    and how often in all; (D,) how many each detection includes (d_j), and how many of these are
    correct (Eq. 6).

    Several detections share a character that all include; officially the first of them has it.
    """
    gt_found, gt_times = np.zeros((2, scene.batch.gt.count), np.int64)
    det_included, det_correct = np.zeros((2, scene.batch.det.count))
    for i, pairs in by_gt(matched).items():
        g = Counter(k for pair in pairs for k in scene.included[pair])  # g_i^k
        first = {k: j for _, j in reversed(pairs) for k in scene.included[i, j]}
        gt_found[i], gt_times[i] = len(g), g.total()
        for _, j in pairs:
            characters = scene.included[i, j]
            det_included[j] += len(characters)
            det_correct[j] += sum(first[k] == j if official else 1 / g[k] for k in characters)
    return gt_found, gt_times, det_included.astype(np.int64), det_correct


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

    def check(self) -> None:
        super().check()
        found, missed = self.found_characters, self.missed_characters
        require(found + missed == self.gt_characters, "characters found and missed differ from all")
        require(found <= self.detected_characters, "more characters found than detected")
        require(self.correct_characters <= self.gt_characters, "more characters right than exist")
        for credit in (self.recall_credit, self.precision_credit):
            require(at_most(credit, found), "a penalty raises a score")


# The numerators and denominators of Eq. 9.
DETECTION = "recall_credit", "gt_characters", "precision_credit", "detected_characters"
END_TO_END = "e2e_recall_credit", "gt_characters", "e2e_precision_credit", "recognised_characters"


def evaluated(scene: Scene, dont_care: Bools, parameters: Parameters) -> Evidence:
    """Match a scene and count its characters, `dont_care` being left out."""
    batch, official, images = scene.batch, parameters.official, len(scene.batch.names)
    gt_sum = partial(per_image, image=batch.gt.image, images=images)
    det_sum = partial(per_image, image=batch.det.image, images=images)
    matched, dropped = match(scene, dont_care, parameters)
    gt, det = columns_of(matched)
    splits = np.bincount(gt, minlength=batch.gt.count)  # Table 2: detections of each object
    merges = np.bincount(det, minlength=batch.det.count)  # and objects of each detection

    characters = np.where(dont_care, 0, scene.gt.lengths)
    recognised = np.where(dropped, 0, scene.det.lengths)
    found, times, included, correct = included_characters(scene, matched, official)
    gt_credit, det_credit = credited_characters(  # Algorithm 1
        matched, scene.included, scene.gt.texts, scene.det.texts, official
    )
    false_positive = np.where((merges > 0) | dropped, 0, scene.det.false_positive_lengths)  # Eq. 8
    gt_penalty = parameters.recall_granularity_penalty * np.maximum(splits - 1, 0)  # Eq. 7
    det_penalty = parameters.precision_granularity_penalty * np.maximum(merges - 1, 0)
    least = -np.inf if official else 0.0  # of an image's numerators (5 above)
    penalties = {"recall": gt_sum(gt_penalty), "precision": det_sum(det_penalty)}
    credits = {
        f"{prefix}{score}_credit": np.maximum(gt_sum(right) - penalty, least)
        for prefix, right in (("", found), ("e2e_", gt_credit))
        for score, penalty in penalties.items()
    }
    tally = CLEvalTally(
        *object_counts(batch, ~dont_care, ~dropped),
        gt_characters=gt_sum(characters),
        detected_characters=det_sum(included + false_positive),
        found_characters=gt_sum(found),
        missed_characters=gt_sum(characters - found),
        overlapped_characters=gt_sum(times - found),
        false_positive_characters=det_sum(false_positive),
        splits=gt_sum(splits > 1),
        merges=det_sum(merges > 1),
        transcribed_detections=det_sum(scene.det.lengths > 0),
        recognised_characters=det_sum(recognised),
        correct_characters=gt_sum(gt_credit),
        matched_characters=det_sum(np.where(merges > 0, np.maximum(recognised, included), 0)),
        **credits,
    )
    # End-to-end values are undefined in images in which no detection has a transcription.
    end_to_end = tally.transcribed_detections > 0
    gt_read, det_read = end_to_end[batch.gt.image], end_to_end[batch.det.image]
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
    scale = np.array([shorter_side(scene.gt.ring(k)) for k in range(gt.count)]) / longer[gt.image]
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

    def recall_and_precision(values: Mapping[str, Any]) -> Scores:
        e2e = recall_precision(*(values[name] for name in END_TO_END))
        return recall_precision(*(values[name] for name in DETECTION)) | {
            f"e2e_{name}": where(end_to_end, value, None) for name, value in e2e.items()
        }

    result = recall_and_precision(values)
    recognition = ratio(values["correct_characters"], values["matched_characters"])
    result["recognition_score"] = where(end_to_end, recognition, None)
    result |= {name: values[name] for name in ("splits", "merges")}
    for what in ("missed", "overlapped", "false_positive"):
        result[f"{what}_characters"] = values[f"{what}_characters"]
    if parameters.scale_bins:
        scaled = {name: values[f"scale_{name}"] for name in {*DETECTION, *END_TO_END}}
        result["scale_wise"] = [
            {"lowest_scale": low, "highest_scale": high}
            | recall_and_precision({name: bins[k] for name, bins in scaled.items()})
            for k, (low, high) in enumerate(parameters.bins())
        ]
    return result


def object_credit(types: NDArray[np.uint8], values: Mapping[str, Floats]) -> Floats:
    """Share of each object's characters that were found, less its granularity penalty."""
    found = defined(values["found_characters"]) - defined(values["granularity_penalty"])
    return np.maximum(0.0, quotient(found, defined(values["characters"])))


PROTOCOL = Protocol(
    name="cleval",
    title="CLEval: detection and end-to-end recognition by characters",
    version=1,
    parameters=Parameters,
    tally=CLEvalTally,
    evidence=evidence,
    scores=scores,
    convention=lambda parameters: None,
    needs=frozenset({"outlines"}),
    resolve=resolve,
    object_credit=object_credit,
)
