"""Two or more detectors on one ground truth: differences of scores, their
intervals and p-values, and what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.comparison.changes import (
    Changes,
    ImageChange,
    ObjectChange,
    image_changes,
    object_changes,
)
from evaltex_cli.comparison.detector_results import System
from evaltex_cli.display import DataFrame, Record, Table, frame_of_rows, number, unknown_table
from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluation import defined, of_detectors
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import significance
from evaltex_cli.results.image_table import first_difference
from evaltex_cli.results.result_document import differences
from evaltex_cli.results.significance import DECIMALS

SCORES = (
    *("protocol", "score", "detector", "value", "low", "high", "difference", "difference_low"),
    *("difference_high", "p_value", "p_corrected", "reason"),
)
_NOTHING = (None, None)
CHANGES = {
    "images": ("image", "system", "score", "before", "after", "change"),
    "objects": ("image", "system", "id", "match_before", "match_after", "change"),
}


@dataclass(frozen=True, slots=True, repr=False)
class ScoreComparison(Record):
    """One score of all systems; differences are to the first system, whose own are None.

    Attributes
    ----------
    score : str
    values, intervals : list
        One per system.
    differences, difference_intervals, p_values : list
        One per system; interval and p-value are of one test (`significance`).
    p_corrected : list
        The p-values, corrected for the number of systems (Holm).
    interval_reasons, reasons : list
        Why an interval, and why the interval and the p-value of a difference, is missing.
    """

    score: str
    values: list[float | None]
    intervals: list[tuple[float, float] | None]
    differences: list[float | None]
    difference_intervals: list[tuple[float, float] | None]
    p_values: list[float | None]
    p_corrected: list[float | None]
    interval_reasons: list[str | None]
    reasons: list[str | None]

    @property
    def rounded(self) -> list[float | None]:
        """The values, rounded so that equal scores of other parts are equal."""
        return [value if value is None else round(value, DECIMALS) for value in self.values]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Record):
    """One protocol's comparison; images and objects are those that changed, the worst first.

    `compared_images` have objects or detections; `resamples` is the number of subsets of images,
    all of them if `is_exact` (`significance.replicates`).
    """

    protocol: str
    headline: tuple[str, ...]
    main_score: str
    systems: list[str]
    signatures: list[str]
    compared_images: int
    resamples: int
    is_exact: bool
    scores: list[ScoreComparison]
    images: Changes[ImageChange]
    objects: Changes[ObjectChange]

    @property
    def warning(self) -> str | None:
        """What limits the comparison: too few images."""
        return significance.few_images(self.compared_images)

    def compared(self, score: str) -> ScoreComparison:
        """Return what was compared of one score."""
        return next(one for one in self.scores if one.score == score)

    def summary(self) -> str:
        """Return the main score of every system, with the difference to the first."""
        score = self.compared(self.main_score)
        shown = [
            f"{label} {number(value)}" + ("" if change is None else f" ({number(change, '+')})")
            for label, value, change in zip(
                self.systems, score.values, score.differences, strict=True
            )
        ]
        return f"{score.score}: {', '.join(shown)}"

    def shown(self) -> Table:
        """Return the headline scores of all systems, and their differences to the first."""
        rows = [["score", "detector", "value", "difference", "interval", "p"]]
        for score in self.scores:
            if score.score in self.headline:
                rows += (
                    [score.score, *cells]
                    for cells in zip(self.systems, *_cells(score), strict=True)
                )
        title = (
            f"{self.protocol}: differences to {self.systems[0]} over {self.compared_images} images"
        )
        reasons = (reason for score in self.scores for reason in score.reasons if reason)
        return Table(title, rows, next(reasons, ""))

    def to_pandas(self, table: str = "scores") -> DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : {'scores', 'images', 'objects'}
            One row per score and detector; per image, or object of the ground truth, that changed,
            the worst first.

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), and for another table.
        """
        if table not in TABLES:
            raise unknown_table(table, list(TABLES))
        return TABLES[table](self)


def score_rows(comparison: Comparison) -> Iterator[Sequence[Any]]:
    """Yield one row of `SCORES` per score and detector, None where a cell is empty."""
    for score in comparison.scores:
        for k, label in enumerate(comparison.systems):
            value = [score.values[k], *(score.intervals[k] or _NOTHING)]
            difference = [score.differences[k], *(score.difference_intervals[k] or _NOTHING)]
            tested = [score.p_values[k], score.p_corrected[k]]
            reason = score.reasons[k] or score.interval_reasons[k]
            yield [comparison.protocol, score.score, label, *value, *difference, *tested, reason]


def _changes(name: str) -> Callable[[Comparison], DataFrame]:
    heads = CHANGES[name]
    return lambda comparison: frame_of_rows(
        heads, ([getattr(one, head) for head in heads] for one in getattr(comparison, name))
    )


TABLES: dict[str, Callable[[Comparison], DataFrame]] = {
    "scores": lambda comparison: frame_of_rows(SCORES, score_rows(comparison)),
    **{name: _changes(name) for name in CHANGES},
}


def _cells(score: ScoreComparison) -> list[list[str]]:
    """Return a score's values, differences, their intervals and p-values for
    reading, one of each per system.
    """
    intervals = score.difference_intervals
    return [
        [number(value) for value in score.values],
        ["" if value is None else number(value, "+") for value in score.differences],
        [f"{number(one[0], '+')} to {number(one[1], '+')}" if one else "" for one in intervals],
        ["" if p is None else f"{p:.4f}" for p in score.p_values],
    ]


def compare(
    systems: Sequence[System],
    *,
    resamples: int = significance.RESAMPLES,
    seed: int = 0,
    level: float = significance.LEVEL,
) -> Comparison:
    """Compare detectors under one protocol.

    Parameters
    ----------
    systems : sequence of System
        At least two; differences are to the first.
    resamples, seed : int
        Of the subsets of images (`significance.replicates`).
    level : float
        Of the intervals.

    Raises
    ------
    InputError
        When they differ in ground truth, protocol revision or parameters.
    """
    _refuse_unlike(systems)
    drawn = [
        significance.replicates(system.rows, system.score, resamples, seed) for system in systems
    ]
    images = int(np.any([one.has_objects for one in drawn], axis=0).sum())
    labels, tables = [system.label for system in systems], [system.table for system in systems]
    names = [name for name in drawn[0].values if all(name in other.values for other in drawn)]
    return Comparison(
        protocol=systems[0].protocol.name,
        headline=systems[0].protocol.headline,
        main_score=systems[0].protocol.main_score,
        systems=labels,
        signatures=[
            f"{system.document.signature}|resamples:{resamples}|seed:{seed}" for system in systems
        ],
        compared_images=images,
        resamples=len(drawn[0].values[names[0]]),
        is_exact=drawn[0].is_exact,
        scores=[_compared_score(name, systems, drawn, images, level) for name in names],
        images=image_changes(labels, tables, systems[0].protocol.main_score),
        objects=object_changes(labels, tables, systems[0].protocol.object_credit),
    )


def warnings_of(groups: Sequence[Sequence[System]]) -> list[str]:
    """Return what is said of the evaluations of `by_protocol`, each text once."""
    return of_detectors(
        (group[0].protocol.name, [(one.label, one.document.warnings) for one in group])
        for group in groups
    )


def by_protocol(systems: Sequence[Sequence[System]]) -> tuple[list[list[System]], dict[str, str]]:
    """Group the systems of several detectors by protocol.

    Returns
    -------
    list of list of System
        Protocols that serve all detectors, in the registry's order.
    dict
        Those left out, with the reason.

    Raises
    ------
    InputError
        When none is left.
    """
    by_name = [{system.protocol.name: system for system in group} for group in systems]
    groups, left_out = [], {}
    for name in PROTOCOLS:
        group = [of_detector[name] for of_detector in by_name if name in of_detector]
        if len(group) == len(by_name) and not (
            "texts" in group[0].protocol.needs
            and not all(one.document.inputs.det.transcriptions for one in group)
        ):
            groups.append(group)
        elif group:
            needs_texts = "texts" in group[0].protocol.needs
            left_out[name] = (
                "a detector has no transcriptions" if needs_texts else "not all results have it"
            )
    if not groups:
        raise InputError("no protocol serves all detectors; evaluate them by the same ones")
    return groups, left_out


def refuse_other_ground_truth(
    gt: Path, options: InputOptions, systems: Sequence[Sequence[System]]
) -> None:
    """Refuse stored results of another ground truth than the given one."""
    faults = FaultLog()
    sha256 = read(gt, "gt", options, faults).sha256
    faults.raise_if_any()
    for system in (system for group in systems for system in group):
        if system.document.inputs.gt.sha256 != sha256:
            raise InputError(
                f"{system.label} was evaluated against another ground truth than {gt}; evaluate it"
                " again"
            )


def _compared_score(
    name: str,
    systems: Sequence[System],
    drawn: Sequence[significance.Replicates],
    images: int,
    level: float,
) -> ScoreComparison:
    values: list[float | None] = [
        defined(system.document.scores, system.document.totals)[name] for system in systems
    ]
    own = [significance.of_score(name, replicates, images, level) for replicates in drawn]
    tests = [
        significance.of_difference(name, drawn[0], replicates, images, level)
        for replicates in drawn[1:]
    ]
    p_values = [test.p for test in tests]
    return ScoreComparison(
        score=name,
        values=values,
        intervals=[one.interval for one in own],
        differences=[None, *(_difference(value, values[0]) for value in values[1:])],
        difference_intervals=[None, *(test.interval for test in tests)],
        p_values=[None, *p_values],
        p_corrected=[None, *significance.holm(p_values)],
        interval_reasons=[one.reason for one in own],
        reasons=[None, *(test.reason for test in tests)],
    )


def _difference(value: float | None, first: float | None) -> float | None:
    return None if value is None or first is None else value - first


def _refuse_unlike(systems: Sequence[System]) -> None:
    first = systems[0]
    for system in systems[1:]:
        for what, one, other in differences(first.document, system.document):
            raise InputError(
                f"{first.label} and {system.label} cannot be compared under {first.protocol.name}:"
                f" {what} is {one} and {other}; evaluate both in the same way"
            )
        image = first_difference(first.table, system.table)
        if (
            image is None
            and first.table.objects.values.keys() != system.table.objects.values.keys()
        ):
            raise InputError(
                f"{first.label} and {system.label} list other values of objects, though their"
                " protocol is the same; make the damaged result again"
            )
        if image is not None:
            raise InputError(
                f"{first.label} and {system.label} list other objects of image"
                f" {quote(system.rows.names[image])},"
                " though their ground truth is the same; make the damaged result again"
            )
