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
from evaltex_cli.evaluation.evaluate import or_none
from evaltex_cli.evaluation.evaluation import ByProtocol
from evaltex_cli.evaluation.extras import TEST, Bootstrap
from evaltex_cli.protocols.matching import IGNORED, MATCH_TYPES
from evaltex_cli.protocols.score_names import UNBOUNDED, same
from evaltex_cli.records import Bools, Floats
from evaltex_cli.results import significance
from evaltex_cli.results.significance import DECIMALS, Outcome, Replicates
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, raw

WORST = 10
"""Images and objects that are listed by default."""
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

    def rows(self, labels: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the cells of each detector in a table of raw values, from its label on."""
        both = zip(self.reasons, self.interval_reasons, strict=True)
        reasons = (of_difference or of_value for of_difference, of_value in both)
        tests = (self.differences, self.difference_intervals, self.p_values, self.p_corrected)
        return zip(labels, self.values, self.intervals, *tests, reasons, strict=True)


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
        notes = [self.test(), *([f"Warning: {self.warning}."] if self.warning else [])]
        return {**super(Comparison, self).to_dict(), "notes": notes}

    def tables(self) -> list[Table]:
        """Return scores, differences to the first detector, and how much changed."""
        return Comparisons({self.protocol: self}).tables()

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of scores, and of images and objects that changed, the worst first."""
        lead: dict[str, Cell] = {"protocol": self.protocol}
        return {
            "scores": self._data_of_scores,
            "images": lambda: raw(_IMAGES, ((lead, one) for one in self.images)),
            "objects": lambda: raw(_OBJECTS, ((lead, one) for one in self.objects)),
        }

    def _data_of_scores(self) -> Table:
        columns = [Column(name, "interval" if "interval" in name else "text") for name in _SCORES]
        rows = [
            [self.protocol, one.score, *cells]
            for one in self.scores
            for cells in one.rows(self.systems)
        ]
        return Table("", columns, rows)

    def test(self) -> str:
        """Say how intervals and p-values were made."""
        others = len(self.systems) - 1
        holm = f" p (Holm) is corrected for {others} detectors." if others > 1 else ""
        return (
            f"Intervals ({100 * self.level:g}%) and p-values: {TEST},"
            f" {significance.shown_subsets(self.resamples, self.is_exact)}; p < {self.alpha:g}"
            f" exactly if the interval of the difference excludes 0.{holm}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparisons(ByProtocol[Comparison]):
    """Comparisons of the same detectors by several protocols, by their names."""

    def tables(self, all_scores: bool = False, worst: int = 0) -> list[Table]:
        """Return scores, differences, how much changed, and so many images and objects that got
        worse. The main scores of all protocols share a table; all scores have one per protocol.
        """
        every = list(self.values())
        tables = []
        for group in [[one] for one in every] if all_scores else [every]:
            tables += _score_tables(group, all_scores)
        tables.append(_counts(every))
        for one in every if worst else ():
            tables += _worst(one, worst)
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Return the comparisons as JSON has them."""
        protocols = [one.to_dict() for one in self.values()]
        return {"level": protocols[0]["level"], "protocols": protocols}


# Comparing ----------------------------------------------------------------------------------------


def compare_all(
    results: Mapping[str, Sequence[DetectorResult]], protocols: Iterable[str], bootstrap: Bootstrap
) -> tuple[Comparisons, list[str]]:
    """Compare detectors by each protocol that serves all of them; return also what to warn of.

    Raises `InputError` as `by_protocol`.
    """
    groups, left_out = by_protocol(results, protocols)
    compared = {name: compare(group, bootstrap) for name, group in groups.items()}
    warnings = warnings_of(groups)
    warnings += [f"left out: {name} ({reason})" for name, reason in left_out.items()]
    warnings += [one.warning for one in compared.values() if one.warning]
    return Comparisons(compared, left_out), warnings


def compare(results: Sequence[DetectorResult], bootstrap: Bootstrap) -> Comparison:
    """Compare detectors to the first, by one protocol; results belong together (`by_protocol`)."""
    level, resamples, seed = bootstrap.level, bootstrap.resamples, bootstrap.seed
    drawn = [significance.replicates(one.rows, one.score, resamples, seed) for one in results]
    images = int(np.any([one.has_objects for one in drawn], axis=0).sum())
    protocol, names = results[0].protocol, list(drawn[0].values)
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
    known = [-np.inf if value is None else value for value in values]
    best = known.index(max(known))
    tests = [None if k == best else test(drawn[best], one).p for k, one in enumerate(drawn)]
    if name in UNBOUNDED or all(p is None for p in tests):
        return [False] * len(values)
    corrected = enumerate(significance.holm(tests))
    return [k == best or (p is not None and p >= alpha) for k, p in corrected]


def _image_changes(results: Sequence[DetectorResult]) -> list[ImageChange]:
    """Return the images whose main score differs from that of the first detector; an image where
    nothing counts has a score by convention only.
    """
    score, names, changes = results[0].protocol.main_score, results[0].rows.names, []
    for result in results[1:]:
        tables = results[0].table, result.table
        before, after = (one.scores[score] for one in tables)
        has_counted = [np.delete(one.counts, IGNORED, axis=1).any(axis=1) for one in tables]
        for k in np.flatnonzero(_differ(before, after) & np.any(has_counted, axis=0)).tolist():
            was, now = np.nan_to_num([before[k], after[k]]).tolist()
            changes.append(ImageChange(names[k], result.label, score, was, now, now - was))
    return sorted(changes, key=lambda one: one.change)


def _object_changes(results: Sequence[DetectorResult]) -> list[ObjectChange]:
    """Return the objects whose match or values differ from those of the first detector."""
    table, credit = results[0].table, results[0].protocol.object_credit
    first, names = table.objects, table.rows.names
    image_of = np.repeat(np.arange(len(names)), np.diff(table.offsets))
    changes = []
    for result in results[1:]:
        other = result.table.objects
        differ = first.types != other.types
        for name, column in first.values.items():
            differ |= _differ(column, other.values[name])
        if not differ.any():
            continue  # results without any object have no values either
        change = credit(other.types, other.values) - credit(first.types, first.values)
        change = np.round(change, DECIMALS).tolist()
        for k in np.flatnonzero(differ).tolist():
            before, after = (
                {name: or_none(column[k : k + 1])[0] for name, column in one.values.items()}
                for one in (first, other)
            )
            changes.append(
                ObjectChange(
                    *(names[image_of[k]], result.label, int(first.ids[k])),
                    *(MATCH_TYPES[first.types[k]], MATCH_TYPES[other.types[k]]),
                    *(before, after),
                    change=change[k],
                )
            )
    return sorted(changes, key=lambda one: one.change)


def _differ(one: Floats, other: Floats) -> Bools:
    """(n,) whether numbers differ by more than rounding; undefined ones are equal."""
    one, other = np.round(one, DECIMALS), np.round(other, DECIMALS)
    return np.asarray((one != other) & ~(np.isnan(one) & np.isnan(other)))


# Tables -------------------------------------------------------------------------------------------


def _score_tables(group: Sequence[Comparison], all_scores: bool) -> list[Table]:
    """Return the scores of each detector, and the differences to the first detector: the main
    scores of protocols, or all scores of the only one.
    """
    first, others = group[0], len(group[0].systems) - 1
    heads = ["score"] if all_scores else ["protocol"] if len(group) > 1 else []
    rows: list[list[Cell]] = []
    differences: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    missing: dict[str | None, None] = {}
    for one in group:
        for score in one.scores if all_scores else [one.main]:
            names = {"protocol": one.protocol, "score": score.score}
            shown = [score] if all_scores else [*map(one.compared, ("recall", "precision")), score]
            for k, (label, _, interval, *test, reason) in enumerate(score.rows(one.systems)):
                lead = [*(names[head] for head in heads), label]
                best |= {
                    (len(rows), at) for at, each in enumerate(shown, len(lead)) if each.best[k]
                }
                rows.append([*lead, *(each.values[k] for each in shown), interval])
                missing[reason] = None
                if k > 0:
                    p_values = test[2:][:others]
                    stars = "*" * sum(p is not None and p < one.alpha for p in p_values)
                    differences.append([*lead, *test[:2], *p_values, stars])
    columns = [Column(head) for head in (*heads, "detector")]
    main = "value" if all_scores else _main_name(group)
    values = [main] if all_scores else ["recall", "precision", main]
    level = f"{100 * first.level:g}% interval"
    images = counted(max(one.compared_images for one in group), "{count} image[s]")
    bold = "Bold or green: the best, and all that do not differ from it significantly."
    scores = Table(
        _title(group, f"scores on {images}"),
        [*columns, *(Column(name, "score") for name in values), Column(level, "interval")],
        rows,
        [bold] * bool(best),
        best,
    )
    marks = f"* p < {first.alpha:g}{'; ** also p (Holm)' * (others > 1)}."
    columns += [Column("change" if all_scores else main, "change")]
    columns += [Column(level, "change interval")]
    columns += [Column(name, "p") for name in ("p", "p (Holm)")[:others]]
    notes = [marks, first.test(), *(f"–: {reason}." for reason in missing if reason)]
    title = _title(group, f"differences to {first.systems[0]}")
    return [scores, Table(title, [*columns, Column("")], differences, notes)]


def _title(group: Sequence[Comparison], title: str) -> str:
    """Return a title with the name of the protocol, if it is the only one."""
    return f"{group[0].protocol}: {title}" if len(group) == 1 else title[0].upper() + title[1:]


def _main_name(group: Sequence[Comparison]) -> str:
    """Return what the main scores of protocols are called."""
    return " or ".join(dict.fromkeys(same(one.main_score) for one in group))


def _counts(group: Sequence[Comparison]) -> Table:
    """Return how many images and objects got better and worse, by each protocol."""
    rows: list[list[Cell]] = []
    for one in group:
        for label in one.systems[1:]:
            row: list[Cell] = [one.protocol, label]
            for changes in (one.images, one.objects):
                own = np.array([each.change for each in changes if each.system == label])
                row += [int((own > 0).sum()), int((own < 0).sum())]
            rows.append(row)
    sides = ("images better", "worse", "objects better", "worse")
    columns = [Column("protocol"), Column("detector"), *(Column(side, "number") for side in sides)]
    return Table(f"Changes from {group[0].systems[0]}", columns, rows)


def _worst(comparison: Comparison, count: int) -> Iterator[Table]:
    """Yield the images and the objects that got worse."""
    images = [(one, one.image, one.after, one.before) for one in comparison.images]
    objects = [
        (one, f"{one.image} #{one.id}", one.match_after, one.match_before)
        for one in comparison.objects
    ]
    for what, head, kind, changes in (
        ("image", _main_name([comparison]), "score", images),
        ("object", "match", "text", objects),
    ):
        rows = [
            [name, one.system, after, was, one.change]
            for one, name, after, was in changes
            if one.change < 0
        ]
        if rows:
            title = f"{comparison.protocol}: {counted(len(rows), f'{{count}} {what}[s] got worse')}"
            columns = [Column(what), Column("detector"), Column(head, kind), Column("was", kind)]
            yield Table(title, [*columns, Column("change", "change")], rows).first(count)
