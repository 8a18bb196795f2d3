"""ICDAR 2013 (Karatzas et al.): the competition's adaptation of DetEval for focused scene text.

Task: text localisation by boxes (or polygons, masks). As `deteval` with `variant=rrc`, but
one-to-one matches may overlap other objects that do not pass the thresholds, and a split or merge
of one part is a split or merge: a one-to-one match whose centres are too far apart comes back as a
split, with 0.8 in place of 1, and of two words merged into one detection that both pass the
thresholds the first takes the detection for a split, 0.8 of 2.

Where we differ: docs/protocols/icdar2013.md.

Empty cases: 0/0 is 0 in the dataset; an image without an object that counts has the scores that the
script prints (`area_matches.as_competition`).

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
from typing import ClassVar

from evaltex_cli.protocols import area_matches
from evaltex_cli.protocols.area_matches import AreaTally, Thresholds, as_competition, or_default
from evaltex_cli.protocols.base import Evidence, Protocol, parameter
from evaltex_cli.protocols.matching import in_dont_care, mean_of
from evaltex_cli.protocols.scores import credit_scores
from evaltex_cli.records import ImageBatch, Overlaps


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of ICDAR 2013, with the script's defaults."""

    t_r: float = parameter(0.8, "area recall, at least", min=0.0, max=1.0)
    t_p: float = parameter(0.4, "area precision, at least", min=0.0, max=1.0)
    center: float = parameter(1.0, "one-to-one: centres' distance / mean diagonal", min=0.0)
    split_weight: float = parameter(0.8, "credit of each part of a split", min=0.0, max=1.0)
    merge_weight: float = parameter(1.0, "credit of each part of a merge", min=0.0, max=1.0)
    dont_care_overlap: float = area_matches.optional(
        "t_p; share on a don't-care object above which a detection is ignored"
    )
    shape: str = parameter("box", "polygons as boxes, or as they are", choices=("box", "polygon"))
    variant: ClassVar[str] = "icdar2013"
    scatter: ClassVar[str] = "constant"
    border: ClassVar[bool] = False


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch, and sum what its images contribute."""
    t_r, t_p = parameters.t_r, parameters.t_p
    ignored = in_dont_care(batch, overlaps, or_default(parameters.dont_care_overlap, t_p))
    counts, t = (~batch.gt.dont_care, ~ignored), Thresholds(t_r, t_p, t_r, t_p, t_p, t_r)
    pairs = area_matches.area_pairs(batch, counts, overlaps, parameters)
    return area_matches.evidence_of(batch, counts, area_matches.match_pairs(pairs, t, parameters))


PROTOCOL = Protocol(
    name="icdar2013",
    title="ICDAR 2013: DetEval's matches by the rules of the competitions",
    parameters=Parameters,
    tally=AreaTally,
    evidence=evidence,
    scores=credit_scores,
    convention=area_matches.convention,
    image_scores=lambda tally, parameters: as_competition(tally, credit_scores(tally, parameters)),
    object_credit=mean_of("credit"),
)
