"""Two or more detectors on one ground truth: differences of scores, their intervals and p-values,
and what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.comparison.detectors import DetectorResult, by_protocol, warnings_of
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.evaluation import ByProtocol, defined
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import CLASS, IMAGE, Grouping, Units
from evaltex_cli.protocols.matching import IGNORED, MATCH_TYPES
from evaltex_cli.protocols.score_names import UNBOUNDED, same
from evaltex_cli.records import Bools, Floats
from evaltex_cli.results import significance
from evaltex_cli.results.significance import DECIMALS, Outcome, Replicates, or_none
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record, raw

ByClass: TypeAlias = Sequence[tuple[str, bool, Mapping[str, Sequence[DetectorResult]]]]
"""Class, whether all detections have classes, and the results for its objects (`detectors`)."""
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
    """One score of all detectors, in their order; differences are to the first detector, whose own
    are None. The interval and the p-value of a difference are from one test (`significance`).
    """

    score: str
    values: list[float | None]
    intervals: list[tuple[float, float] | None]
    differences: list[float | None]
    difference_intervals: list[tuple[float, float] | None]
    p_values: list[float | None]
    p_corrected: list[float | None]
    """For the number of detectors (Holm)."""
    best: list[bool]
    """Whether a detector is the best, or does not differ from the best significantly (Holm). No
    detector is if too few images show a difference, or if the score is better when lower."""
    interval_reasons: list[str | None]
    reasons: list[str | None]
    """Why an interval, and why the interval and the p-value of a difference, is missing."""
    detectable: list[float | None]
    """The true difference that such images show 8 times in 10."""

    def rows(self, labels: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the cells of each detector in a table of raw values, from its label on."""
        both = zip(self.reasons, self.interval_reasons, strict=True)
        reasons = (of_difference or of_value for of_difference, of_value in both)
        tests = (self.differences, self.difference_intervals, self.p_values, self.p_corrected)
        return zip(labels, self.values, self.intervals, *tests, reasons, strict=True)


@dataclass(frozen=True, slots=True, repr=False)
class SliceComparison(Record):
    """The main score on the images with one value of an attribute, `by`, or of the objects of one
    class (recall, if the detections have no classes).
    """

    by: str
    value: str
    images: int
    score: ScoreComparison


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
    units: Units
    compared_units: int
    level: float
    resamples: int
    is_exact: bool
    scores: list[ScoreComparison]
    images: list[ImageChange]
    objects: list[ObjectChange]
    slices: list[SliceComparison]

    @property
    def warning(self) -> str | None:
        """What limits the comparison: too few images."""
        return significance.few_units(self.compared_units, self.units)

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

    def conclusions(self) -> list[str]:
        """Say of each detector whether it is better than the first one, by the main score."""
        main = self.main
        p_values = main.p_corrected if len(self.systems) > 2 else main.p_values
        sentences = []
        for k, label in enumerate(self.systems[1:], start=1):
            p, interval, change = p_values[k], main.difference_intervals[k], main.differences[k]
            cannot = f"Cannot tell {label} from {self.systems[0]}"
            if p is None or interval is None or change is None:
                sentences.append(f"{cannot}: {main.reasons[k]}.")
                continue
            low, high = (f"{100 * bound:.1f}" for bound in interval)
            found = f"{100 * change:+.1f} points of {same(main.score)}"
            found += f", {100 * self.level:g}% interval {low} to {high}"
            if p < self.alpha:
                better = "better" if change > 0 else "worse"
                shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
                sentences.append(f"{label} is {better} than {self.systems[0]}: {found}, {shown}.")
            elif (least := main.detectable[k]) is None:
                sentences.append(f"{cannot}: no {self.units.counted(1)[2:]} shows a difference.")
            else:
                would = f"a difference of {100 * least:.1f} points would have been found"
                sentences.append(f"{cannot}: {found}; {would} 8 times in 10.")
        return sentences

    def power(self) -> list[str]:
        """Say how small a difference of the main score these images show."""
        least = [one for one in self.main.detectable if one is not None]
        count, units = self.compared_units, self.units
        return [significance.shown_power(max(least), count, units)] if least else []

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        notes = [self.test(), *([f"Warning: {self.warning}."] if self.warning else [])]
        conclusions = {"conclusions": self.conclusions(), "notes": [*notes, *self.power()]}
        return {**super(Comparison, self).to_dict(), **conclusions}

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
        parts = [(("", ""), one) for one in self.scores]
        parts += [((one.by, one.value), one.score) for one in self.slices]
        names = (_SCORES[0], *("by", "part")[: 2 * bool(self.slices)], *_SCORES[1:])
        columns = [Column(name, "interval" if "interval" in name else "text") for name in names]
        rows = [
            [self.protocol, *part[: 2 * bool(self.slices)], one.score, *cells]
            for part, one in parts
            for cells in one.rows(self.systems)
        ]
        return Table("", columns, rows)

    def test(self) -> str:
        """Say how intervals and p-values were made."""
        others = len(self.systems) - 1
        subsets = significance.shown_subsets(self.resamples, self.is_exact, self.units)
        holm = f" p (Holm) is corrected for {others} detectors." if others > 1 else ""
        return (
            f"Intervals ({100 * self.level:g}%) and p-values: {self.units.test}, {subsets}; p <"
            f" {self.alpha:g} exactly if the interval of the difference excludes 0.{holm}"
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
        tables += [*_slice_tables(every), _counts(every)]
        for one in every if worst else ():
            tables += _worst(one, worst)
        sentences = []
        for one in every:
            lead = f"{one.protocol}: " if len(every) > 1 else ""
            sentences += [lead + text for text in [*one.conclusions(), *one.power()]]
        return [*tables, Table("", notes=sentences)]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparisons as JSON has them."""
        protocols = [one.to_dict() for one in self.values()]
        return {"level": protocols[0]["level"], "protocols": protocols}


# Comparing ----------------------------------------------------------------------------------------


def compare_all(
    results: Mapping[str, Sequence[DetectorResult]],
    protocols: Iterable[str],
    bootstrap: Bootstrap,
    grouping: Grouping,
    classes: ByClass = (),
) -> tuple[Comparisons, list[str]]:
    """Compare detectors by each protocol that serves all of them; return also what to warn of.

    Raises `InputError` as `by_protocol`, and `ConfigError` for an attribute that is not there.
    """
    groups, left_out = by_protocol(results, protocols)
    compared = {
        name: compare(group, bootstrap, list(_slices(group, bootstrap, grouping, classes)))
        for name, group in groups.items()
    }
    warnings = grouping.warnings(next(iter(groups.values()))[0].rows.names)
    warnings += warnings_of(groups)
    warnings += [f"left out: {name} ({reason})" for name, reason in left_out.items()]
    warnings += [one.warning for one in compared.values() if one.warning]
    return Comparisons(compared, left_out), warnings


def compare(
    results: Sequence[DetectorResult], bootstrap: Bootstrap, slices: Sequence[SliceComparison] = ()
) -> Comparison:
    """Compare detectors to the first, by one protocol; results belong together (`by_protocol`)."""
    drawn = [significance.replicates(one.rows, one.score, bootstrap) for one in results]
    images = int(np.any([one.rows.has_objects for one in results], axis=0).sum())
    made = f"resamples:{bootstrap.resamples}|seed:{bootstrap.seed}"
    made += f"|unit:{bootstrap.units.name}" if bootstrap.units.name != IMAGE else ""
    protocol, names = results[0].protocol, list(drawn[0].values)
    return Comparison(
        protocol=protocol.name,
        headline=protocol.headline,
        main_score=protocol.main_score,
        systems=[one.label for one in results],
        signatures=[f"{one.document.signature}|{made}" for one in results],
        compared_images=images,
        units=bootstrap.units,
        compared_units=_units_in(drawn),
        level=bootstrap.level,
        resamples=len(drawn[0].values[names[0]]),
        is_exact=drawn[0].is_exact,
        scores=[
            _compared_score(name, [one.scores[name] for one in results], drawn, bootstrap.level)
            for name in names
        ],
        images=_image_changes(results),
        objects=_object_changes(results),
        slices=list(slices),
    )


def _slices(
    results: Sequence[DetectorResult], bootstrap: Bootstrap, grouping: Grouping, classes: ByClass
) -> Iterator[SliceComparison]:
    """Yield comparisons of the same detectors on each part of the data set."""
    protocol = results[0].protocol
    parts = [
        (by, value, protocol.main_score, [one.rows.take(own) for one in results])
        for by, value, own in grouping.images(results[0].rows.names)
    ]
    for value, has_labels, of_class in classes:
        score = protocol.main_score if has_labels else "recall"
        own_results = by_protocol(of_class, [protocol.name])[0][protocol.name]
        parts.append((CLASS, value, score, [one.rows for one in own_results]))
    for by, value, score, rows in parts:
        drawn, values = [], []
        for own, one in zip(rows, results, strict=True):
            total = own.tally.sum()
            drawn.append(significance.replicates(own, one.score, bootstrap))
            values.append(defined(one.score(total), total.as_dict())[score])
        compared = _compared_score(score, values, drawn, bootstrap.level)
        yield SliceComparison(by, value, len(rows[0].names), compared)


def _units_in(drawn: Sequence[Replicates]) -> int:
    """Return how many units have objects or detections of any detector."""
    return int(np.any([one.has_objects for one in drawn], axis=0).sum())


def _compared_score(
    name: str, values: Sequence[float | None], drawn: Sequence[Replicates], level: float
) -> ScoreComparison:
    count = _units_in(drawn)
    own = [significance.of_score(name, one, count, level) for one in drawn]
    test = partial(significance.of_difference, name, count=count, level=level)
    first, *others = drawn
    tests = [test(first, other) for other in others]
    p_values = [one.p for one in tests]
    before = values[0]
    differences = [
        None if value is None or before is None else value - before for value in values[1:]
    ]
    detectable = [
        None if one.p is None else significance.detectable(name, first, other)
        for one, other in zip(tests, others, strict=True)
    ]
    return ScoreComparison(
        score=name,
        values=list(values),
        intervals=[one.interval for one in own],
        differences=[None, *differences],
        difference_intervals=[None, *(one.interval for one in tests)],
        p_values=[None, *p_values],
        p_corrected=[None, *significance.holm(p_values)],
        best=_best(name, values, test, drawn, round(1 - level, DECIMALS)),
        interval_reasons=[one.reason for one in own],
        reasons=[None, *(one.reason for one in tests)],
        detectable=[None, *detectable],
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
    image_of, changes = np.repeat(np.arange(len(names)), np.diff(table.offsets)), []
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
                {name: or_none(column[k]) for name, column in one.values.items()}
                for one in (first, other)
            )
            place = names[image_of[k]], result.label, int(first.ids[k])
            matches = MATCH_TYPES[first.types[k]], MATCH_TYPES[other.types[k]]
            changes.append(ObjectChange(*place, *matches, before, after, change[k]))
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


def _slice_tables(group: Sequence[Comparison]) -> Iterator[Table]:
    """Yield a table of each attribute: main scores and differences by its values."""
    leads = [Column("protocol")][: len(group) > 1]
    level = f"{100 * group[0].level:g}% interval"
    for by in dict.fromkeys(part.by for part in group[0].slices):
        rows: list[list[Cell]] = []
        for one in group:
            for part in one.slices:
                lead: list[Cell] = [*[one.protocol][: len(leads)], part.value, part.images]
                for label, value, _, *test, _ in part.score.rows(one.systems):
                    stars = "*" * (test[2] is not None and test[2] < one.alpha)
                    if part.by == by:
                        rows.append([*lead, label, value, *test[:3], stars])
        score = " or ".join(dict.fromkeys(same(part.score.score) for part in group[0].slices))
        columns = [*leads, Column(by), Column("images", "number"), Column("detector")]
        columns += [Column(score, "score"), Column("change", "change")]
        columns += [Column(level, "change interval"), Column("p", "p"), Column("")]
        yield Table(f"By {by}", columns, rows)


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
    images: list[list[Cell]] = [
        [one.image, one.system, one.after, one.before, one.change]
        for one in comparison.images
        if one.change < 0
    ]
    objects: list[list[Cell]] = [
        [f"{one.image} #{one.id}", one.system, one.match_after, one.match_before, one.change]
        for one in comparison.objects
        if one.change < 0
    ]
    for what, head, kind, rows in (
        ("image", _main_name([comparison]), "score", images),
        ("object", "match", "text", objects),
    ):
        if rows:
            title = f"{comparison.protocol}: {counted(len(rows), f'{{count}} {what}[s] got worse')}"
            columns = [Column(what), Column("detector"), Column(head, kind), Column("was", kind)]
            yield Table(title, [*columns, Column("change", "change")], rows).first(count)
