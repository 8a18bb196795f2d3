"""The characters that the matches of CLEval count (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaltex_cli.protocols.cleval.matching import Matching, Scene, match, without_words
from evaltex_cli.protocols.cleval.parameters import Parameters
from evaltex_cli.protocols.cleval.text import MatchedPairs, credited_characters
from evaltex_cli.records import Bools, Floats, Ints, Overlaps


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What matching gives: of each object (G,) and detection (D,)."""

    matching: Matching
    splits: Ints
    merges: Ints
    """`splits` and `merges`: (G,), (D,) int64. Partners."""
    gt_found: Ints
    gt_included: Ints
    """`gt_found` and `gt_included`: (G,) int64. Characters found, and how often they were."""
    det_correct: Floats
    """(D,) float64. Characters right; of one found twice the first detection has it (official), or
    all have a share (paper)."""
    det_included: Ints
    """(D,) int64. Characters included."""
    gt_credit: Ints
    det_credit: Ints
    """`gt_credit` and `det_credit`: (G,), (D,) int64. Characters credited end-to-end."""


def counts_of(scene: Scene, dont_care: Bools, parameters: Parameters) -> Counts:
    """Match objects and detections and count characters, `dont_care` being left out."""
    found, objects, detections = scene.found, len(scene.gt_length), len(scene.det_length)
    area = without_words(scene, dont_care)
    boxes = scene.gt.shapes.boxes, scene.det.shapes.boxes
    overlaps = Overlaps(*scene.overlap[:2], area, scene.gt.area, scene.det.area, *boxes)
    matching = match(found, overlaps, dont_care, parameters.threshold, parameters.official)
    matched = matching.matched
    splits = np.bincount(found.pair_gt[matched], minlength=objects)
    merges = np.bincount(found.pair_det[matched], minlength=detections)

    gt_found, gt_included = np.zeros((2, objects), np.int64)
    det_correct, det_included = np.zeros(detections), np.zeros(detections, np.int64)
    for start, stop in pairwise(found.ends):
        centre, pair = found.characters(start, stop, matched)
        gt, det = found.pair_gt[pair], found.pair_det[pair]
        first = np.diff(centre, prepend=-1) > 0  # the first detection that includes it
        share = first if parameters.official else 1 / np.bincount(centre)[centre]
        gt_found += np.bincount(gt[first], minlength=objects)
        gt_included += np.bincount(gt, minlength=objects)
        # One after another, so that blocks change no bit.
        np.add.at(det_correct, det, share)
        det_included += np.bincount(det, minlength=detections)
    gt_credit, det_credit = np.zeros(objects, np.int64), np.zeros(detections, np.int64)
    if scene.det_length.any():
        gt_credit, det_credit = credited_characters(
            MatchedPairs(found, matched, merges),
            scene.gt_texts,
            scene.det_texts,
            parameters.official,
        )
    return Counts(
        matching=matching,
        splits=splits,
        merges=merges,
        gt_found=gt_found,
        gt_included=gt_included,
        det_correct=det_correct,
        det_included=det_included,
        gt_credit=gt_credit,
        det_credit=det_credit,
    )
