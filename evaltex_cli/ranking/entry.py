"""One detector's evidence on one data set under one protocol, and its scores of subsets of the
images.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.results import significance
from evaltex_cli.results.significance import Replicates


@dataclass(frozen=True, slots=True)
class Subsets:
    """How many random subsets of the images are scored, and by which seed."""

    resamples: int = significance.RESAMPLES
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What a ranking needs of an evaluation."""

    protocol: Protocol
    parameters: Any
    """The protocol's parameters record, resolved (`Protocol.resolve`)."""
    signature: str
    scores: dict[str, float | None]
    """Every score that is a number, or None where it is undefined."""
    rows: EvidenceRows
    """One row per image, in the ground truth's order."""
    drawn: Replicates
    """Of the headline scores."""
    warnings: list[str]


def entry_of(evaluation: Evaluation, subsets: Subsets) -> Entry:
    """Return the entry of an evaluation that has its rows."""
    if evaluation.rows is None:
        raise ValueError("an evaluation without rows")
    scores = evaluation.meaningful_scores
    return Entry(
        evaluation.protocol,
        evaluation.parameters,
        evaluation.signature,
        {name: scores[name] for name in score_names.scalars(scores)},
        evaluation.rows,
        drawn_of(evaluation.protocol, evaluation.parameters, evaluation.rows, subsets),
        list(evaluation.warnings),
    )


def drawn_of(
    protocol: Protocol, parameters: Any, rows: EvidenceRows, subsets: Subsets
) -> Replicates:
    """Score subsets of the images, as `compare` does, by the headline scores."""
    names = protocol.headline

    def scores(tally: Any) -> dict[str, Any]:
        every = protocol.scores(tally, parameters)
        return {name: every[name] for name in names}

    return significance.replicates(rows, scores, subsets.resamples, subsets.seed)


def protocol_of(entries: Mapping[str, Entry]) -> Protocol:
    """Return the protocol of some detectors' entries."""
    return next(iter(entries.values())).protocol
