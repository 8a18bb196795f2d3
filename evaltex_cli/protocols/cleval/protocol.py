"""CLEval (Baek, Nam, Park, Lee, Shin, Baek, Lee, Lee, CVPR workshops 2020): evaluation by characters.

Task: text detection, and end-to-end recognition where detections bear transcriptions. The characters of a ground-truth
object are taken to stand evenly along it; a detection is matched with the objects whose characters it includes, and
what counts are characters found, lost and found twice, less a penalty for every object in pieces and every detection
of several objects. Equation and algorithm numbers are the paper's.

`reference=official` (default) gives what the authors' program prints (its state of 2023), `reference=paper` the paper's
figures. Where the official program departs from the paper, and which way that moves the score:

1. A false positive counts as height over width characters, not width over height: precision rises with wide ones and
   falls with narrow ones (vertex order decides which side is which; a polygon always counts as one).
2. A detection dropped as don't care still stands in the way of one-to-one matches: recall and precision fall.
3. Objects higher than twice their width are read from the bottom to the top.
4. The threshold of area precision is 0.3, and each object has to reach it by itself: Eq. 3 takes the union, and 0.5.
5. Numerators are clipped at 0 once, for the data set, not for every image.

Unlike the official program: coordinates may be fractions; a polygon without transcription has no characters (it
crashes); objects are visited in the ground truth's order (it takes that of a Python set).

Empty cases: 0/0 is 0. An image without objects, or with don't-care objects only, adds its false positives and nothing
else. End-to-end scores are None where no detection bears a transcription.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.protocols.base import (
    Evidence,
    Matches,
    Protocol,
    Remark,
    Scores,
    Totals,
    defined,
    harmonic_mean,
    image_named,
    per_image,
    quotient,
    ratio,
    remark,
)
from evaltex_cli.protocols.cleval.counts import Counts, counts_of
from evaltex_cli.protocols.cleval.parameters import Parameters, convention, decided
from evaltex_cli.protocols.cleval.scene import Scene, scene_of
from evaltex_cli.protocols.cleval.shapes import shorter_sides
from evaltex_cli.protocols.relations import matches
from evaltex_cli.records import Bools, Floats, ImageBatch, Overlaps


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Match a batch and sum what its images contribute.

    Parameters
    ----------
    batch : ImageBatch
    overlaps : Overlaps
    parameters : Parameters
    with_matches : bool
        Whether to return each object's match too.

    Raises
    ------
    ConfigError
        When characters are to be grapheme clusters and the package for it is not installed.
    InputError
        When scale-wise results are asked for and an image's size is not known.
    """
    dont_care = batch.gt.dont_care
    scene = scene_of(batch, overlaps, parameters)
    counts = counts_of(scene, dont_care, parameters)
    columns = _columns(scene, counts, dont_care, parameters)
    if parameters.scale_bins:
        columns |= _scale_columns(batch, scene, parameters)
    found = _matches(scene, counts, dont_care, parameters) if with_matches else None
    return Evidence(columns, found, _warnings(batch, scene))


def _columns(scene: Scene, counts: Counts, dont_care: Bools, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Evidence of each image."""
    cared, kept = ~dont_care, ~counts.matching.dropped

    def by_gt(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[cared], scene.gt_image[cared], scene.images)

    def by_det(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[kept], scene.det_image[kept], scene.images)

    false_positive = counts.merges == 0
    lengths = scene.det_length
    characters, found, included = by_gt(scene.gt_length), by_gt(counts.gt_found), by_gt(counts.gt_included)
    false_characters = by_det(np.where(false_positive, scene.false_positive_length, 0))
    split_penalty = by_gt(np.maximum(counts.splits - 1, 0)) * parameters.recall_granularity_penalty
    merge_penalty = by_det(np.maximum(counts.merges - 1, 0)) * parameters.precision_granularity_penalty
    correct = by_gt(counts.gt_credit)
    least = -np.inf if parameters.official else 0.0
    return {
        "gt_objects": np.diff(scene.gt.offsets),
        "counted_gt_objects": by_gt(cared),
        "detections": np.diff(scene.det.offsets),
        "counted_detections": by_det(kept),
        "gt_characters": characters,
        "detected_characters": included + false_characters,
        "found_characters": found,
        "missed_characters": characters - found,
        "overlapped_characters": included - found,
        "false_positive_characters": false_characters,
        "splits": by_gt(counts.splits > 1),
        "merges": by_det(counts.merges > 1),
        "recall_credit": np.maximum(found - split_penalty, least),
        "precision_credit": np.maximum(found - merge_penalty, least),
        "transcribed_detections": per_image(lengths > 0, scene.det_image, scene.images),
        "recognised_characters": by_det(lengths),
        "correct_characters": correct,
        "e2e_recall_credit": np.maximum(correct - split_penalty, least),
        "e2e_precision_credit": np.maximum(correct - merge_penalty, least),
        "matched_characters": by_det(np.where(false_positive, 0, np.maximum(lengths, counts.det_included))),
    }


SCALE_COLUMNS = (
    "gt_characters",
    "detected_characters",
    "recall_credit",
    "precision_credit",
    "recognised_characters",
    "e2e_recall_credit",
    "e2e_precision_credit",
)


def _scale_columns(batch: ImageBatch, scene: Scene, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Evidence of each image and bin, objects of other scales being don't care."""
    needs_sizes(batch, parameters)
    longer = batch.sizes.max(axis=1, initial=0.0)
    scale = shorter_sides(scene.gt) / longer[scene.gt_image]
    bins = []
    for low, high in parameters.bins():
        dont_care = batch.gt.dont_care | (scale < low) | (scale > high)
        bins.append(_columns(scene, counts_of(scene, dont_care, parameters), dont_care, parameters))
    return {f"scale_{name}": np.stack([columns[name] for columns in bins], axis=1) for name in SCALE_COLUMNS}


def needs_sizes(batch: ImageBatch, parameters: Parameters) -> None:
    """Refuse an image with objects whose size is not known where scale-wise results are asked for.

    Raises
    ------
    InputError
    """
    unknown = np.flatnonzero((batch.sizes.max(axis=1, initial=0.0) <= 0) & (np.diff(batch.gt.offsets) > 0))
    if parameters.scale_bins and len(unknown):
        raise InputError(
            f"{image_named(batch.names[int(unknown[0])])} has no height and width, which scale_bins needs; give the"
            " pictures by --images, a ground truth that states sizes (EvaLTex .txt), in Python size=(height, width),"
            " or leave out scale_bins"
        )


def _matches(scene: Scene, counts: Counts, dont_care: Bools, parameters: Parameters) -> Matches:
    """Per-object results; end-to-end values are undefined in images where no detection bears a transcription."""
    matched = counts.matching.matched
    end_to_end = per_image(scene.det_length > 0, scene.det_image, scene.images) > 0
    gt_read, det_read = end_to_end[scene.gt_image], end_to_end[scene.det_image]
    gt_values = {
        "characters": scene.gt_length,
        "found_characters": counts.gt_found,
        "missed_characters": scene.gt_length - counts.gt_found,
        "overlapped_characters": counts.gt_included - counts.gt_found,
        "granularity_penalty": np.maximum(counts.splits - 1, 0) * parameters.recall_granularity_penalty,
        "credited_characters": np.where(gt_read, counts.gt_credit, np.nan),
    }
    det_values = {
        "included_characters": counts.det_included,
        "correct_characters": counts.det_correct,
        "false_positive_characters": np.where(counts.merges == 0, scene.false_positive_length, 0),
        "granularity_penalty": np.maximum(counts.merges - 1, 0) * parameters.precision_granularity_penalty,
        "recognised_characters": np.where(det_read, scene.det_length, np.nan),
        "credited_characters": np.where(det_read, counts.det_credit, np.nan),
    }
    gt, det = scene.found.pair_gt[matched], scene.found.pair_det[matched]
    return matches(gt, det, ~dont_care, ~counts.matching.dropped, gt_values, det_values)


def _warnings(batch: ImageBatch, scene: Scene) -> tuple[Remark, ...]:
    """Name the images where objects bear no transcription; the official program crashes if these are polygons."""
    what = "cleval: {count} ground-truth object[s] bear[s|] no transcription"
    text = f"{what}; [it has no characters and matches|they have no characters and match] nothing (in {{images}})"
    return remark(text, batch, scene.gt_length == 0)


def scores(totals: Totals, parameters: Parameters) -> Scores:
    """Scores (Eq. 9, 10, 11) and attributes of summed evidence; 0/0 is 0.

    Parameters
    ----------
    totals : mapping
        The sums of the columns of `evidence`, over a dataset or of one image.
    parameters : Parameters
    """
    end_to_end = totals["transcribed_detections"] > 0
    result: Scores = _recall_precision(totals, end_to_end)
    result["recognition_score"] = (
        ratio(totals["correct_characters"], totals["matched_characters"]) if end_to_end else None
    )
    for name in (
        "splits",
        "merges",
        "missed_characters",
        "overlapped_characters",
        "false_positive_characters",
    ):
        result[name] = totals[name]
    if parameters.scale_bins:
        result["scale_wise"] = [
            {"lowest_scale": low, "highest_scale": high}
            | _recall_precision({name: totals[f"scale_{name}"][k] for name in SCALE_COLUMNS}, end_to_end)
            for k, (low, high) in enumerate(parameters.bins())
        ]
    return result


def _recall_precision(totals: Totals, end_to_end: bool) -> Scores:
    result: Scores = {}
    for prefix, answers in (("", "detected_characters"), ("e2e_", "recognised_characters")):
        recall = ratio(totals[f"{prefix}recall_credit"], totals["gt_characters"])
        precision = ratio(totals[f"{prefix}precision_credit"], totals[answers])
        result[f"{prefix}recall"] = recall
        result[f"{prefix}precision"] = precision
        result[f"{prefix}hmean"] = harmonic_mean(recall, precision)
    return result if end_to_end else {name: None if name.startswith("e2e") else value for name, value in result.items()}


def object_credit(types: NDArray[np.uint8], values: Mapping[str, Floats]) -> Floats:
    """Share of each object's characters that were found, less its granularity penalty."""
    found = defined(values["found_characters"]) - defined(values["granularity_penalty"])
    return np.maximum(0.0, quotient(found, defined(values["characters"])))


PROTOCOL = Protocol(
    name="cleval",
    title="CLEval: detection and end-to-end recognition by characters",
    version=1,
    parameters=Parameters,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "hmean"),
    convention=convention,
    takes_masks=False,
    needs=needs_sizes,
    decided=decided,
    object_credit=object_credit,
)
