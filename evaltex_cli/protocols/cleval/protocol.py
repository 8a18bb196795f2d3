"""CLEval (Baek, Nam, Park, Lee, Shin, Baek, Lee, Lee, CVPR workshops 2020): evaluation by
characters.

Task: text detection, and end-to-end recognition if detections have transcriptions. The characters
of a ground-truth object are assumed to be spread evenly along it; a detection is matched with the
objects whose characters it includes. Characters found, missed and found twice count, less a penalty
for every object in pieces and every detection of several objects. Equation and algorithm numbers
are the paper's.

`reference=official` (default) gives what the authors' program prints (its state of 2023),
`reference=paper` the paper's figures. Where the official program departs from the paper, and which
way that moves the score:

1. A false positive counts as height over width characters, not width over height: precision rises
   with wide ones and falls with narrow ones (vertex order decides which side is which; a polygon
   always counts as one).
2. A detection dropped as don't care still prevents one-to-one matches: recall and precision fall.
3. Objects higher than twice their width are read from the bottom to the top.
4. The threshold of area precision is 0.3, and each object has to reach it by itself: Eq. 3 takes
   the union, and 0.5.
5. Numerators are clipped at 0 once, for the data set, not for every image.

Unlike the official program: coordinates may be fractions; a polygon without transcription has no
characters (it crashes); objects are visited in the ground truth's order (it takes that of a Python
set).

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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError, quote
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, per_image
from evaltex_cli.protocols.cleval.counts import Counts, counts_of
from evaltex_cli.protocols.cleval.matching import Scene, scene_of
from evaltex_cli.protocols.cleval.parameters import Parameters, convention, resolve
from evaltex_cli.protocols.cleval.shapes import shorter_sides
from evaltex_cli.protocols.matches import Matches, defined, matches
from evaltex_cli.protocols.object_tally import ObjectTally
from evaltex_cli.protocols.object_warnings import ObjectWarning, object_warning
from evaltex_cli.protocols.ratios import quotient, ratio, recall_precision, where
from evaltex_cli.protocols.tally import Count, Sum, at_most, require
from evaltex_cli.records import Bools, Floats, ImageBatch, Overlaps


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch and sum what its images contribute.

    Raises
    ------
    InputError
        When scale-wise results are asked for and an image's size is not known.
    """
    dont_care = batch.gt.dont_care
    scene = scene_of(batch, overlaps, parameters)
    counts = counts_of(scene, dont_care, parameters)
    tally = _tally(scene, counts, dont_care, parameters)
    if parameters.scale_bins:
        tally = replace(tally, **_by_scale(batch, scene, parameters))
    matches = _matches(scene, counts, dont_care, parameters) if with_matches else None
    return Evidence(tally, matches, _warnings(batch, scene))


class Characters(NamedTuple):
    """The part of the evidence that recall and precision are made of."""

    gt_characters: Count
    detected_characters: Count
    recall_credit: Sum
    precision_credit: Sum
    recognised_characters: Count
    e2e_recall_credit: Sum
    e2e_precision_credit: Sum


@dataclass(frozen=True, eq=False)
class Tally(ObjectTally):
    """Evidence of CLEval: characters by what happened to them; credits are less the penalties, so
    may be below 0.

    The fields ``scale_...`` are `Characters` by bin, (images, bins).
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
        require(
            self.correct_characters <= self.gt_characters, "more correct characters than there are"
        )
        require(at_most(self.recall_credit, found), "a penalty raises recall")
        require(at_most(self.precision_credit, found), "a penalty raises precision")


def _tally(scene: Scene, counts: Counts, dont_care: Bools, parameters: Parameters) -> Tally:
    """Sum the evidence of each image."""
    cared, counted = ~dont_care, ~counts.matching.dropped

    def by_gt(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[cared], scene.gt_image[cared], len(scene.names))

    def by_det(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[counted], scene.det_image[counted], len(scene.names))

    false_positive = counts.merges == 0
    lengths = scene.det_length
    characters, found, included = (
        by_gt(scene.gt_length),
        by_gt(counts.gt_found),
        by_gt(counts.gt_included),
    )
    false_characters = by_det(np.where(false_positive, scene.false_positive_length, 0))
    split_penalty = by_gt(np.maximum(counts.splits - 1, 0)) * parameters.recall_granularity_penalty
    merge_penalty = (
        by_det(np.maximum(counts.merges - 1, 0)) * parameters.precision_granularity_penalty
    )
    correct = by_gt(counts.gt_credit)
    least = -np.inf if parameters.official else 0.0
    return Tally(
        np.diff(scene.gt.offsets),
        counted_gt_objects=by_gt(cared),
        detections=np.diff(scene.det.offsets),
        counted_detections=by_det(counted),
        gt_characters=characters,
        detected_characters=included + false_characters,
        found_characters=found,
        missed_characters=characters - found,
        overlapped_characters=included - found,
        false_positive_characters=false_characters,
        splits=by_gt(counts.splits > 1),
        merges=by_det(counts.merges > 1),
        recall_credit=np.maximum(found - split_penalty, least),
        precision_credit=np.maximum(found - merge_penalty, least),
        transcribed_detections=per_image(lengths > 0, scene.det_image, len(scene.names)),
        recognised_characters=by_det(lengths),
        correct_characters=correct,
        e2e_recall_credit=np.maximum(correct - split_penalty, least),
        e2e_precision_credit=np.maximum(correct - merge_penalty, least),
        matched_characters=by_det(
            np.where(false_positive, 0, np.maximum(lengths, counts.det_included))
        ),
    )


def _by_scale(batch: ImageBatch, scene: Scene, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """The fields ``scale_...`` of a `Tally`, objects of other scales being don't care."""
    needs_sizes(batch, parameters)
    longer = batch.sizes.max(axis=1, initial=0.0)
    scale = shorter_sides(scene.gt) / longer[scene.gt_image]
    bins = []
    for low, high in parameters.bins():
        dont_care = batch.gt.dont_care | (scale < low) | (scale > high)
        bins.append(_tally(scene, counts_of(scene, dont_care, parameters), dont_care, parameters))
    return {
        f"scale_{name}": np.stack([getattr(tally, name) for tally in bins], axis=1)
        for name in Characters._fields
    }


def needs_sizes(batch: ImageBatch, parameters: Parameters) -> None:
    """Refuse an image with objects whose size is not known where scale-wise results are asked for.

    Raises
    ------
    InputError
    """
    unknown = np.flatnonzero(
        (batch.sizes.max(axis=1, initial=0.0) <= 0) & (np.diff(batch.gt.offsets) > 0)
    )
    if parameters.scale_bins and len(unknown):
        raise InputError(
            f"image {quote(batch.names[int(unknown[0])])} has no height and width, which scale_bins"
            " needs; give the pictures by --images, a ground truth that states sizes (EvaLTex"
            " .txt), in Python size=(height, width), or leave out scale_bins"
        )


def _matches(scene: Scene, counts: Counts, dont_care: Bools, parameters: Parameters) -> Matches:
    """Per-object results; end-to-end values are undefined in images in which
    no detection has a transcription.
    """
    matched = counts.matching.matched
    end_to_end = per_image(scene.det_length > 0, scene.det_image, len(scene.names)) > 0
    gt_read, det_read = end_to_end[scene.gt_image], end_to_end[scene.det_image]
    gt_values = {
        "characters": scene.gt_length,
        "found_characters": counts.gt_found,
        "missed_characters": scene.gt_length - counts.gt_found,
        "overlapped_characters": counts.gt_included - counts.gt_found,
        "granularity_penalty": np.maximum(counts.splits - 1, 0)
        * parameters.recall_granularity_penalty,
        "credited_characters": np.where(gt_read, counts.gt_credit, np.nan),
    }
    det_values = {
        "included_characters": counts.det_included,
        "correct_characters": counts.det_correct,
        "false_positive_characters": np.where(counts.merges == 0, scene.false_positive_length, 0),
        "granularity_penalty": np.maximum(counts.merges - 1, 0)
        * parameters.precision_granularity_penalty,
        "recognised_characters": np.where(det_read, scene.det_length, np.nan),
        "credited_characters": np.where(det_read, counts.det_credit, np.nan),
    }
    gt, det = scene.found.pair_gt[matched], scene.found.pair_det[matched]
    return matches(gt, det, ~dont_care, ~counts.matching.dropped, gt_values, det_values)


def _warnings(batch: ImageBatch, scene: Scene) -> tuple[ObjectWarning, ...]:
    """Name the images in which objects have no transcription; the official
    program crashes if these are polygons.
    """
    what = "cleval: {count} ground-truth object[s] [has|have] no transcription"
    text = (
        f"{what}; [it has no characters and matches|they have no characters and match] nothing"
        f" (in {{images}})"
    )
    return object_warning(text, batch, scene.gt_length == 0)


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Scores (Eq. 9, 10, 11) and attributes of summed evidence; 0/0 is 0."""
    end_to_end = tally.transcribed_detections > 0
    characters = Characters(*(getattr(tally, name) for name in Characters._fields))
    result: Scores = _recall_precision(characters, end_to_end)
    recognition = ratio(tally.correct_characters, tally.matched_characters)
    result["recognition_score"] = where(end_to_end, recognition, None)
    result |= {
        "splits": tally.splits,
        "merges": tally.merges,
        "missed_characters": tally.missed_characters,
        "overlapped_characters": tally.overlapped_characters,
        "false_positive_characters": tally.false_positive_characters,
    }
    if parameters.scale_bins:
        by_scale = [getattr(tally, f"scale_{name}") for name in Characters._fields]
        result["scale_wise"] = [
            {"lowest_scale": low, "highest_scale": high}
            | _recall_precision(Characters(*(values[k] for values in by_scale)), end_to_end)
            for k, (low, high) in enumerate(parameters.bins())
        ]
    return result


def _recall_precision(c: Characters, end_to_end: Any) -> Scores:
    result: Scores = {}
    for prefix, recall_credit, precision_credit, answers in (
        ("", c.recall_credit, c.precision_credit, c.detected_characters),
        ("e2e_", c.e2e_recall_credit, c.e2e_precision_credit, c.recognised_characters),
    ):
        scores = recall_precision(recall_credit, c.gt_characters, precision_credit, answers)
        result |= {
            f"{prefix}{name}": where(end_to_end, value, None) if prefix else value
            for name, value in scores.items()
        }
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
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    takes_masks=False,
    needs=needs_sizes,
    resolve=resolve,
    object_credit=object_credit,
    unbounded=(
        "splits",
        "merges",
        "missed_characters",
        "overlapped_characters",
        "false_positive_characters",
    ),
)
