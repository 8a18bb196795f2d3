"""Two or more detectors on one ground truth: differences of scores, their intervals and p-values,
and what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evaltex_cli.comparison.detectors import DetectorResult, by_protocol, warnings_of
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.evaluation import ByProtocol
from evaltex_cli.protocols.matching import IGNORED, MATCH_TYPES
from evaltex_cli.protocols.score_names import UNBOUNDED, same
from evaltex_cli.records import Bools, Floats
from evaltex_cli.results import significance
from evaltex_cli.results.image_table import ImageTable, ObjectColumns
from evaltex_cli.results.significance import DECIMALS, Outcome, Replicates
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, raw

WORST = 10
"""Images and objects that are listed by default."""
_BOLD = "Bold or green: the best, and all that do not differ from it significantly."
_SCORES = (
    *("protocol", "score", "detector", "value", "interval"),
    *("difference", "difference_interval", "p_value", "p_corrected", "reason"),
)
_IMAGES = ("protocol", "image", "system", "score", "before", "after", "change")
_OBJECTS = ("protocol", "image", "system", "id", "match_before", "match_after", "change")


@dataclass(frozen=True, slots=True, repr=False)
class ScoreComparison(Record):
    """One score of all detectors; differences are to the first detector, whose own are None.

    Attributes
    ----------
    score : str
    values, intervals : list
        One per detector.
    differences, difference_intervals, p_values : list
        One per detector; interval and p-value are from one test (`significance`).
    p_corrected : list
        The p-values, corrected for the number of detectors (Holm).
    best : list of bool
        Whether a detector is the best, or does not differ from the best significantly (Holm). No
        detector is if too few images show a difference, or if the score is better when lower.
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
    best: list[bool]
    interval_reasons: list[str | None]
    reasons: list[str | None]


@dataclass(frozen=True, slots=True, repr=False)
class ImageChange(Record):
    """An image whose score differs between the first detector and another."""

    image: str
    system: str
    score: str
    before: float
    after: float
    change: float


@dataclass(frozen=True, slots=True, repr=False)
class ObjectChange(Record):
    """A ground-truth object whose match or values differ from those of the first detector.

    `change` is the difference of the protocol's credit for the object (`Protocol.object_credit`).
    """

    image: str
    system: str
    id: int
    match_before: str
    match_after: str
    before: dict[str, float | None]
    after: dict[str, float | None]
    change: float


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
    level: float
    resamples: int
    is_exact: bool
    scores: list[ScoreComparison]
    images: list[ImageChange]
    objects: list[ObjectChange]

    @property
    def warning(self) -> str | None:
        """What limits the comparison: too few images."""
        return significance.few_images(self.compared_images)

    @property
    def alpha(self) -> float:
        """P-values below it are significant."""
        return round(1 - self.level, DECIMALS)

    @property
    def main(self) -> ScoreComparison:
        """The main score."""
        return self.compared(self.main_score)

    def compared(self, score: str) -> ScoreComparison:
        """Return one score of all detectors."""
        return next(one for one in self.scores if one.score == score)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return {**super(Comparison, self).to_dict(), "notes": self.notes()}

    def tables(self) -> list[Table]:
        """Return scores, differences to the first detector, and how much changed."""
        return _tables([self])

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of scores, and of images and objects that changed, the worst first."""
        return {
            "scores": lambda: raw(_SCORES, self._score_rows()),
            "images": lambda: raw(_IMAGES, self._with_protocol(self.images)),
            "objects": lambda: raw(_OBJECTS, self._with_protocol(self.objects)),
        }

    def _score_rows(self) -> Iterator[tuple[dict[str, Cell], ScoreComparison]]:
        for one in self.scores:
            for k, label in enumerate(self.systems):
                cells: dict[str, Cell] = {
                    "protocol": self.protocol,
                    "detector": label,
                    "value": one.values[k],
                    "interval": one.intervals[k],
                    "difference": one.differences[k],
                    "difference_interval": one.difference_intervals[k],
                    "p_value": one.p_values[k],
                    "p_corrected": one.p_corrected[k],
                    "reason": one.reasons[k] or one.interval_reasons[k],
                }
                yield cells, one

    def _with_protocol(self, changes: Sequence[Record]) -> Iterator[tuple[dict[str, Cell], Record]]:
        return (({"protocol": self.protocol}, change) for change in changes)

    def test(self) -> str:
        """Say how intervals and p-values were made."""
        subsets = significance.shown_subsets(self.resamples, self.is_exact)
        return (
            f"Intervals ({100 * self.level:g}%) and p-values: paired permutation test over images,"
            f" {subsets}; p < {self.alpha:g} exactly if the interval of the difference excludes 0."
        )

    def notes(self) -> list[str]:
        """Say how intervals and p-values were made, and why some are missing."""
        notes = [self.test()]
        if len(self.systems) > 2:
            others = len(self.systems) - 1
            notes.append(f"p is for one difference, p (Holm) is corrected for {others} detectors.")
        notes += [f"Warning: {self.warning}."] if self.warning else []
        return notes + _missing([self], True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparisons(ByProtocol[Comparison]):
    """Comparisons of the same detectors by several protocols, by their names.

    `all_scores` and `worst` say what its tables show: all scores instead of the headline scores,
    and so many images and objects that got worse.
    """

    all_scores: bool = False
    worst: int = 0

    def tables(self) -> list[Table]:
        """Return the tables of all protocols."""
        return _tables(list(self.values()), self.all_scores, self.worst)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparisons as JSON has them."""
        protocols = [one.to_dict() for one in self.values()]
        return {"level": protocols[0]["level"], "protocols": protocols}


# Comparing ----------------------------------------------------------------------------------------


def compare_all(
    results: Mapping[str, Sequence[DetectorResult]],
    protocols: Iterable[str],
    resamples: int,
    seed: int,
    level: float,
) -> tuple[Comparisons, list[str]]:
    """Compare detectors by each protocol that serves all of them; return also what to warn of.

    Raises `InputError` as `by_protocol`.
    """
    groups, left_out = by_protocol(results, protocols)
    found = {
        name: compare(group, resamples=resamples, seed=seed, level=level)
        for name, group in groups.items()
    }
    warnings = warnings_of(groups)
    warnings += [f"left out: {name} ({reason})" for name, reason in left_out.items()]
    warnings += [one.warning for one in found.values() if one.warning]
    return Comparisons(found, left_out), warnings


def compare(
    results: Sequence[DetectorResult],
    *,
    resamples: int = significance.RESAMPLES,
    seed: int = 0,
    level: float = significance.LEVEL,
) -> Comparison:
    """Compare detectors under one protocol.

    Parameters
    ----------
    results : sequence of DetectorResult
        Of two or more detectors, which belong together (`detectors.by_protocol`); differences are
        to the first.
    resamples, seed : int
        Of the subsets of images (`significance.replicates`).
    level : float
        Of the intervals.
    """
    drawn = [significance.replicates(one.rows, one.score, resamples, seed) for one in results]
    images = int(np.any([one.has_objects for one in drawn], axis=0).sum())
    names = [name for name in drawn[0].values if all(name in other.values for other in drawn)]
    protocol = results[0].protocol
    return Comparison(
        protocol=protocol.name,
        headline=protocol.headline,
        main_score=protocol.main_score,
        systems=[one.label for one in results],
        signatures=[
            f"{one.document.signature}|resamples:{resamples}|seed:{seed}" for one in results
        ],
        compared_images=images,
        level=level,
        resamples=len(drawn[0].values[names[0]]),
        is_exact=drawn[0].is_exact,
        scores=[_compared_score(name, results, drawn, images, level) for name in names],
        images=_image_changes(results),
        objects=_object_changes(results),
    )


def _compared_score(
    name: str,
    results: Sequence[DetectorResult],
    drawn: Sequence[Replicates],
    images: int,
    level: float,
) -> ScoreComparison:
    values = [one.scores[name] for one in results]
    own = [significance.of_score(name, one, images, level) for one in drawn]
    test = partial(significance.of_difference, name, images=images, level=level)
    tests = [test(drawn[0], other) for other in drawn[1:]]
    p_values = [one.p for one in tests]
    first = values[0]
    differences = [
        None if value is None or first is None else value - first for value in values[1:]
    ]
    return ScoreComparison(
        score=name,
        values=values,
        intervals=[one.interval for one in own],
        differences=[None, *differences],
        difference_intervals=[None, *(one.interval for one in tests)],
        p_values=[None, *p_values],
        p_corrected=[None, *significance.holm(p_values)],
        best=_best(name, values, test, drawn, round(1 - level, DECIMALS)),
        interval_reasons=[one.reason for one in own],
        reasons=[None, *(one.reason for one in tests)],
    )


def _best(
    name: str,
    values: Sequence[float | None],
    test: Callable[[Replicates, Replicates], Outcome],
    drawn: Sequence[Replicates],
    alpha: float,
) -> list[bool]:
    """Return which detectors are the best, or do not differ from the best significantly."""
    known = [value for value in values if value is not None]
    if not known or name in UNBOUNDED:
        return [False] * len(values)
    first = values.index(max(known))
    p_values = [None if k == first else test(drawn[first], one).p for k, one in enumerate(drawn)]
    corrected = significance.holm(p_values)
    if all(p is None for p in corrected):
        return [False] * len(values)
    return [k == first or (p is not None and p >= alpha) for k, p in enumerate(corrected)]


def _image_changes(results: Sequence[DetectorResult]) -> list[ImageChange]:
    """Return the images whose main score differs from that of the first detector; an image where
    nothing counts has a score by convention only.
    """
    score, first = results[0].protocol.main_score, results[0].table
    changes = []
    for result in results[1:]:
        before, after = first.scores[score], result.table.scores[score]
        differ = _differ(before, after) & (_counts_anything(first) | _counts_anything(result.table))
        for k in np.flatnonzero(differ).tolist():
            one, other = (float(np.nan_to_num(values[k])) for values in (before, after))
            name = first.rows.names[k]
            changes.append(ImageChange(name, result.label, score, one, other, other - one))
    return sorted(changes, key=lambda one: one.change)


def _counts_anything(table: ImageTable) -> Bools:
    """(images,) where an object or a detection counts."""
    return np.asarray(np.delete(table.counts, IGNORED, axis=1).any(axis=1))


def _object_changes(results: Sequence[DetectorResult]) -> list[ObjectChange]:
    """Return the objects whose match or values differ from those of the first detector."""
    table, credit = results[0].table, results[0].protocol.object_credit
    first, names = table.objects, table.rows.names
    image_of = np.repeat(np.arange(len(names)), np.diff(table.offsets))
    changes = []
    for result in results[1:]:
        other = result.table.objects
        changed = first.types != other.types
        for name, values in first.values.items():
            changed |= _differ(values, other.values[name])
        if not changed.any():
            continue  # results without any object have no values either
        credits = [credit(one.types, one.values) for one in (first, other)]
        change = np.round(credits[1] - credits[0], DECIMALS)
        for k in np.flatnonzero(changed).tolist():
            matches = (MATCH_TYPES[first.types[k]], MATCH_TYPES[other.types[k]])
            changes.append(
                ObjectChange(
                    *(names[image_of[k]], result.label, int(first.ids[k]), *matches),
                    *(_values(first, k), _values(other, k), float(change[k])),
                )
            )
    return sorted(changes, key=lambda one: one.change)


def _differ(one: Floats, other: Floats) -> Bools:
    """(n,) whether numbers differ by more than rounding; undefined ones are equal."""
    one, other = np.round(one, DECIMALS), np.round(other, DECIMALS)
    return np.asarray((one != other) & ~(np.isnan(one) & np.isnan(other)))


def _values(objects: ObjectColumns, k: int) -> dict[str, float | None]:
    """Return an object's values, None where undefined."""
    return {
        name: None if np.isnan(column[k]) else float(column[k])
        for name, column in objects.values.items()
    }


# Tables -------------------------------------------------------------------------------------------


def _tables(
    comparisons: Sequence[Comparison], all_scores: bool = False, worst: int = 0
) -> list[Table]:
    """Return the tables of comparisons of the same detectors by one protocol or several."""
    # All scores of a protocol are a table: names of protocols beside them would not fit a terminal.
    groups = [[one] for one in comparisons] if all_scores else [comparisons]
    tables = []
    for group in groups:
        tables += [_scores(group, all_scores), _differences(group, all_scores)]
    tables.append(_counts(comparisons))
    for comparison in comparisons if worst else ():
        tables += _worst(comparison, worst)
    return tables


def _lead(comparisons: Sequence[Comparison], all_scores: bool) -> list[Column]:
    names = ["score"] if all_scores else ["protocol"] * (len(comparisons) > 1)
    return [Column(name) for name in (*names, "detector")]


def _rows(
    comparisons: Sequence[Comparison], all_scores: bool, first: int
) -> Iterator[tuple[list[Cell], Comparison, ScoreComparison, int]]:
    """Yield the cells of `_lead`, comparison, score and number of the detectors from `first` on."""
    for one in comparisons:
        for score in one.scores if all_scores else [one.main]:
            names = [score.score] if all_scores else [one.protocol] * (len(comparisons) > 1)
            for k in range(first, len(one.systems)):
                yield [*names, one.systems[k]], one, score, k


def _scores(comparisons: Sequence[Comparison], all_scores: bool) -> Table:
    """Recall, precision and main score of each detector with the interval of the main score; or
    every score with its interval.
    """
    lead = _lead(comparisons, all_scores)
    rows: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    for names, one, score, k in _rows(comparisons, all_scores, 0):
        scores = [score]
        if not all_scores:
            scores = [one.compared("recall"), one.compared("precision"), score]
        best |= {(len(rows), len(lead) + at) for at, each in enumerate(scores) if each.best[k]}
        rows.append([*names, *(each.values[k] for each in scores), score.intervals[k]])
    heads = ["value"] if all_scores else ["recall", "precision", _main_name(comparisons)]
    columns = [*lead, *(Column(name, "score") for name in heads), _interval(comparisons)]
    others = [
        f"for {one.protocol} its {one.main_score}"
        for one in comparisons
        if same(one.main_score) != "hmean"
    ]
    notes = [f"score: hmean; {', '.join(others)}."] * ("score" in heads) + [_BOLD] * bool(best)
    images = max(one.compared_images for one in comparisons)
    title = _title(comparisons, f"Scores on {counted(images, '{count} image[s]')}")
    return Table(title, columns, rows, notes, best)


def _title(comparisons: Sequence[Comparison], title: str) -> str:
    """Return a title with the name of the protocol, if it is the only one."""
    if len(comparisons) > 1:
        return title
    return f"{comparisons[0].protocol}: {title[0].lower()}{title[1:]}"


def _interval(comparisons: Sequence[Comparison], kind: str = "interval") -> Column:
    return Column(f"{100 * comparisons[0].level:g}% interval", kind)


def _main_name(comparisons: Sequence[Comparison]) -> str:
    """Return what the main score is called over all protocols."""
    names = {same(one.main_score) for one in comparisons}
    return names.pop() if len(names) == 1 else "score"


def _differences(comparisons: Sequence[Comparison], all_scores: bool) -> Table:
    """Differences to the first detector, with intervals, p-values and marks of significance."""
    first = comparisons[0]
    others = len(first.systems) - 1
    rows: list[list[Cell]] = []
    for names, one, score, k in _rows(comparisons, all_scores, 1):
        p, corrected = score.p_values[k], score.p_corrected[k]
        stars = sum(value is not None and value < one.alpha for value in (p, corrected)[:others])
        tested = [score.differences[k], score.difference_intervals[k], p]
        rows.append([*names, *tested, *[corrected] * (others > 1), "*" * stars])
    columns = [*_lead(comparisons, all_scores)]
    columns += [Column("change" if all_scores else _main_name(comparisons), "change")]
    columns += [_interval(comparisons, "change interval"), Column("p", "p")]
    columns += [Column("p (Holm)", "p")] * (others > 1)
    marks = f"* p < {first.alpha:g}"
    marks += f"; ** also p (Holm), corrected for {others} detectors" if others > 1 else ""
    notes = [f"{marks}.", first.test(), *_missing(comparisons, all_scores)]
    title = _title(comparisons, f"Differences to {first.systems[0]}")
    return Table(title, [*columns, Column("")], rows, notes)


def _missing(comparisons: Sequence[Comparison], all_scores: bool) -> list[str]:
    """Say why intervals and p-values are missing, each reason once."""
    reasons = {
        reason: None
        for _, _, score, k in _rows(comparisons, all_scores, 0)
        for reason in (score.reasons[k], score.interval_reasons[k])
    }
    return [f"–: {reason}." for reason in reasons if reason]


def _counts(comparisons: Sequence[Comparison]) -> Table:
    """How many images and objects got better and worse, under each protocol."""
    rows: list[list[Cell]] = []
    for names, one, _, k in _rows(comparisons, False, 1):
        for changes in (one.images, one.objects):
            own = [change.change for change in changes if change.system == one.systems[k]]
            names += [sum(change > 0 for change in own), sum(change < 0 for change in own)]
        rows.append(names)
    sides = ("images better", "worse", "objects better", "worse")
    columns = [*_lead(comparisons, False), *(Column(side, "number") for side in sides)]
    title = _title(comparisons, f"Changes from {comparisons[0].systems[0]}")
    return Table(title, columns, rows)


def _worst(comparison: Comparison, count: int) -> Iterator[Table]:
    """The images and the objects that got worse."""
    lead = 2 if len(comparison.systems) > 2 else 1  # with one other detector it needs no name
    images: list[list[Cell]] = [
        [*(one.image, one.system)[:lead], one.after, one.before, one.change]
        for one in comparison.images
        if one.change < 0
    ]
    objects: list[list[Cell]] = []
    for one in comparison.objects:
        if one.change < 0:
            names = (f"{one.image} #{one.id}", one.system)[:lead]
            objects.append([*names, one.match_after, one.match_before, one.change])
    score = _main_name([comparison])
    for what, head, kind, rows in (
        ("image", score, "score", images),
        ("object", "match", "text", objects),
    ):
        if rows:
            title = f"{comparison.protocol}: {counted(len(rows), f'{{count}} {what}[s] got worse')}"
            columns = [Column(what), Column("detector")][:lead]
            columns += [Column(head, kind), Column("was", kind), Column("change", "change")]
            yield Table(title, columns, rows).first(count)
