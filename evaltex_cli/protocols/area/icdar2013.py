"""ICDAR 2013 (Karatzas et al.): the competition's adaptation of DetEval for focused scene text.

Task: text localisation by boxes (or polygons, masks). As `deteval` with `variant=rrc`, but
one-to-one matches may overlap other objects that do not pass the thresholds, and a split or merge
of one partner is a split or merge: a one-to-one match whose centres are too far apart comes back as
a split, with 0.8 in place of 1, and of two words merged into one detection that both pass the
thresholds the first takes the detection for a split, 0.8 of 2.

Where we differ from the script: pairs have to overlap, splits and merges need a partner. With
thresholds of 0 the script does without and scores above 1.

Empty cases: 0/0 is 0 in the dataset. An image without an object that counts has recall 1, and
precision 1 without detections, else 0; both are 0 where the detections do not name the image.

Examples
--------
One detection of two words: the first word takes it for a split of one part, so the other is missed:

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("icdar2013")
>>> accumulator.update([[0, 0, 99, 19], [100, 0, 199, 19]], [[0, 0, 199, 19]])
>>> scores = accumulator.compute().scores
>>> scores["recall"], scores["precision"]
(0.4, 0.8)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.area import matching, pairs
from evaltex_cli.protocols.area.matching import (
    AreaTally,
    Weights,
    described,
    empty_image_scores,
    tally_of,
)
from evaltex_cli.protocols.area.pairs import Rules, Thresholds
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matches import mean_of
from evaltex_cli.protocols.ratios import harmonic_mean, scores_of, where
from evaltex_cli.records import Convention, ImageBatch, Overlaps

RULES = Rules(
    single_overlap=False,
    several_overlaps=False,
    dont_care_competes=True,
    single=pairs.SINGLE_IS_MANY,
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of ICDAR 2013, with the script's defaults."""

    t_r: float = parameter(0.8, "area recall, at least", min=0.0, max=1.0)
    t_p: float = parameter(0.4, "area precision, at least", min=0.0, max=1.0)
    center: float = parameter(
        1.0, "one-to-one: distance of centres below so many mean diagonals", min=0.0
    )
    split_weight: float = parameter(
        0.8, "credit of a split's object and detections", min=0.0, max=1.0
    )
    merge_weight: float = parameter(
        1.0, "credit of a merge's objects and detection", min=0.0, max=1.0
    )
    dont_care_overlap: float = parameter(
        -1.0,
        "a detection with more than this share on a don't-care object is ignored; below 0: t_p",
        min=-1.0,
        max=1.0,
    )
    shape: str = parameter(
        "box", "polygons as bounding boxes, or as they are", choices=("box", "polygon")
    )


def convention(parameters: Parameters) -> Convention:
    """Bounding boxes whose corners are pixels, or continuous polygons."""
    return Convention(inclusive=parameters.shape == "box")


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch and sum what its images contribute."""
    nothing = np.zeros(batch.gt.count, dtype=bool)
    dont_care_overlap = (
        parameters.t_p if parameters.dont_care_overlap < 0 else parameters.dont_care_overlap
    )
    rules = RULES._replace(dont_care_overlap=dont_care_overlap, center=parameters.center)
    rules = pairs.exact_sums(rules) if parameters.shape == "polygon" else rules
    t_r, t_p = parameters.t_r, parameters.t_p
    thresholds = Thresholds(t_r, t_p, t_r, t_p, t_p, t_r)
    scene = pairs.scene(
        batch,
        overlaps,
        convention(parameters),
        rules,
        nothing,
        np.array(thresholds),
    )
    weights = Weights(parameters.split_weight, parameters.merge_weight)
    credits = matching.credit(scene, rules, thresholds, weights)
    return Evidence(
        tally_of(batch, scene, credits), described(scene, credits) if with_matches else None
    )


def scores(tally: AreaTally, parameters: Parameters) -> Scores:
    """Recall, precision and their harmonic mean."""
    return scores_of(tally, tally.recall_credit, tally.precision_credit)


def image_scores(tally: AreaTally, parameters: Parameters) -> Scores:
    """As `scores`, or what the script prints for an image without an object that counts."""
    recall, precision = empty_image_scores(tally)
    empty = {"recall": recall, "precision": precision, "hmean": harmonic_mean(recall, precision)}
    has_objects = tally.counted_gt_objects > 0
    return {
        name: where(has_objects, value, empty[name])
        for name, value in scores(tally, parameters).items()
    }


PROTOCOL = Protocol(
    name="icdar2013",
    title="ICDAR 2013",
    measures="DetEval's matches by the rules of the competitions",
    version=1,
    parameters=Parameters,
    tally=AreaTally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores,
    object_credit=mean_of("credit"),
)
