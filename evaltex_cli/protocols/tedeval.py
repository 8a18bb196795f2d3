"""TedEval (Lee, Baek, Lee, arXiv:1907.01227): matches by area, scored by the characters that
detections contain.

Task: text localisation by boxes or quadrilaterals, ground truth with transcriptions. A word of n
characters is given n pseudo character centres. One-to-one, one-to-many and many-to-one matches are
all collected, none excluding another; a split or merge over several lines is dropped. A matched
object is worth its share of characters that exactly one of its detections contains, a matched
detection its share of characters contained.

Areas are those of coordinates cut to integers, without the + 1 of the DetEval scripts. An object
without transcription has no characters: it counts, with a credit of 0. Polygons of more vertices,
which the published script does not take, have their characters on the line midway between their
upper and their lower side.

Empty cases: a ratio 0/0 is 0 in the dataset; an image without objects that count has recall 1, and
precision 0 if it has detections that count, else 1, as in the published script.

Examples
--------
The detection contains two of the word's four pseudo character centres:

>>> from evaltex_cli import Accumulator, image_objects
>>> accumulator = Accumulator("tedeval")
>>> accumulator.update(image_objects([[0, 0, 100, 20]], texts=["exit"]), [[0, 0, 50, 20]])
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap

import numpy as np

from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.detection_order import in_order, needs_confidences, order_field
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.object_tally import CreditTally
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.ratios import divide, image_scores_by, scores_of
from evaltex_cli.protocols.tedeval_matching import TRUNCATED, match, scene_of
from evaltex_cli.protocols.tedeval_outlines import (
    contains,
    edges,
    members,
    outlines_of,
    pseudo_centres,
)
from evaltex_cli.records import (
    Convention,
    ImageBatch,
    Overlaps,
    blocks,
    distinct,
    offsets_of,
    text_lengths,
)

CENTRES_AT_ONCE = 1 << 15
"""Pairs of a character centre and a detection that are looked at at once."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of TedEval; the defaults are the paper's."""

    t_r: float = parameter(
        0.4, "least area recall of a match; of a split, of the sum", min=0.0, max=1.0
    )
    t_p: float = parameter(
        0.4, "least area precision of a match; of a merge, of the sum", min=0.0, max=1.0
    )
    center: float = parameter(
        1.0, "one-to-one: centres nearer than this share of the mean diagonal", min=0.0
    )
    normalisation: str = normalisation_field("none")
    order: str = order_field()


def convention(parameters: Parameters) -> Convention:
    """Coordinates cut to integers."""
    return TRUNCATED


@in_order
def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch and sum what its images contribute."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    t_r, t_p, center = parameters.t_r, parameters.t_p, parameters.center
    scene = scene_of(batch, overlaps, t_r, t_p)
    gt_outlines, det_outlines = outlines_of(batch.gt), outlines_of(batch.det)
    matched = match(scene, gt_outlines, det_outlines, t_r, t_p, center)
    gt, det, ignored, cut = scene.gt[matched], scene.det[matched], scene.ignored, scene.cut
    del scene, matched
    characters = np.where(batch.gt.dont_care, 0, text_lengths(batch.gt.texts))
    gt_found, det_found = np.zeros(batch.gt.count, np.int64), np.zeros(batch.det.count, np.int64)
    objects = distinct(gt)
    partners = np.bincount(gt, minlength=batch.gt.count)[objects]
    first = offsets_of(partners)
    for start, stop in blocks(np.maximum(characters[objects], 1) * partners, CENTRES_AT_ONCE):
        some = objects[start:stop]
        owner, centres = pseudo_centres(gt_outlines, characters, some)
        # In how many of its object's detections each centre is: exactly one is what counts.
        seen = np.zeros(len(centres), np.int64)
        own, partner = gt[first[start] : first[stop]], det[first[start] : first[stop]]
        within = distinct(partner)
        drawn = edges(det_outlines, cut, within)
        own, partner = np.searchsorted(some, own), np.searchsorted(within, partner)
        for pairs in starmap(slice, blocks(characters[some[own]], CENTRES_AT_ONCE)):
            pair, centre = members(own[pairs], characters[some])
            of_pair = partner[pairs][pair]
            contained = contains(drawn, of_pair, centres[centre])
            seen += np.bincount(centre[contained], minlength=len(seen))
            det_found[within] += np.bincount(of_pair[contained], minlength=len(within))
        gt_found[some] = np.bincount(owner[seen == 1], minlength=len(some))
    del gt_outlines, det_outlines
    expected = np.bincount(det, characters[gt], batch.det.count).astype(np.int64)
    recall, precision = (
        divide(some.astype(np.float64), every.astype(np.float64))
        for some, every in ((gt_found, characters), (det_found, expected))
    )
    gt_counts, det_counts = ~batch.gt.dont_care, ~ignored
    images = len(batch.names)
    tally = CreditTally(
        *object_counts(batch, gt_counts, det_counts),
        recall_credit=per_image(recall, batch.gt.image, images),
        precision_credit=per_image(precision, batch.det.image, images),
    )
    text = (
        "tedeval: {count} object[s] without transcription [has|have] no characters, so no credit"
        " (in {images})"
    )
    warnings = object_warning(text, batch, gt_counts & (characters == 0))
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    found_by = matches(
        gt,
        det,
        gt_counts,
        det_counts,
        {"characters": characters, "characters_found": gt_found, "recall": recall},
        {"characters": expected, "characters_found": det_found, "precision": precision},
    )
    return Evidence(tally, found_by, warnings)


def scores(tally: CreditTally, parameters: Parameters) -> Scores:
    """Recall, precision and their harmonic mean: credits over the numbers of
    objects that count; 0/0 is 0.
    """
    return scores_of(tally, tally.recall_credit, tally.precision_credit)


PROTOCOL = Protocol(
    name="tedeval",
    title="TedEval: matches by area, scored by pseudo character centres",
    version=1,
    parameters=Parameters,
    tally=CreditTally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    needs=needs_confidences,
    takes_masks=False,
    object_credit=mean_of("recall"),
)
