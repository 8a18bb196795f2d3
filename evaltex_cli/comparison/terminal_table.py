"""A comparison of detectors for reading on a terminal: one line for each
detector and protocol, then totals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evaltex_cli.comparison.changes import Changes, ImageChange, ObjectChange
from evaltex_cli.comparison.comparison import Comparison, ScoreComparison
from evaltex_cli.comparison.tables import p_cells
from evaltex_cli.errors import counted
from evaltex_cli.protocols.score_names import UNBOUNDED
from evaltex_cli.results.screen import (
    GAP,
    UNDEFINED,
    Screen,
    aligned,
    cut,
    fitted,
    joined,
    narrowed,
    per_cent,
    short_names,
    shown_interval,
    shown_score,
    width,
)
from evaltex_cli.results.text_tables import printable

LEAST_NAME = 10
"""Columns for the names of detectors, at the least."""


@dataclass(frozen=True, slots=True)
class _Look:
    """How the comparisons of a run are shown; `names` are those of the detectors, perhaps cut."""

    screen: Screen
    level: float
    names: list[str]

    @property
    def alpha(self) -> float:
        return round(1 - self.level, 12)


def table(
    comparisons: Sequence[Comparison], worst: int, level: float, screen: Screen, all_scores: bool
) -> str:
    """Return the table of all comparisons.

    Parameters
    ----------
    worst : int
        How many images and objects that got worse are listed for each protocol.
    screen : Screen
        No line is longer than its columns, unless a single word is.
    all_scores : bool
        Every score with its interval and p-value, instead of recall, precision and the headline
        score.
    """
    labels = [printable(label) for label in comparisons[0].systems]
    look = _Look(screen, level, labels)
    blocks = [list(_block(one, look, all_scores)) for one in comparisons]
    taken = sum(max(map(width, column)) + len(GAP) for column in _columns(blocks))
    if taken + LEAST_NAME > screen.columns and not all_scores:  # without differences
        taken -= max(map(width, _columns(blocks)[-1])) + len(GAP)
        blocks = [[row[:-1] for row in rows] for rows in blocks]
    names, legend = short_names(labels, max(screen.columns - taken, LEAST_NAME))
    look = replace(look, names=names)
    lines = list(_head(comparisons, look, all_scores))
    lines += [cut(name, screen.columns) for name in legend]
    lines += _scores(comparisons, blocks, look, all_scores)
    for comparison in comparisons if worst else ():
        lines += _worst(comparison, worst, look)
    lines += ["", *_totals(comparisons, look), *_notes(comparisons, look, all_scores)]
    return joined(lines)


def _columns(blocks: Sequence[Sequence[list[str]]]) -> list[tuple[str, ...]]:
    return list(zip(*(row for rows in blocks for row in rows), strict=True))


def shown_scores(comparison: Comparison, all_scores: bool) -> list[ScoreComparison]:
    """Return the scores of the table: recall, precision and the main score, or all."""
    if all_scores:
        return comparison.scores
    return [comparison.compared(name) for name in ("recall", "precision", comparison.main_score)]


def _head(comparisons: Sequence[Comparison], look: _Look, all_scores: bool) -> Iterator[str]:
    images = counted(max(one.compared_images for one in comparisons), "{count} image[s]")
    first, others = look.names[0].strip(), len(look.names) - 1
    text = f"Differences to {first}; {per_cent(look.level)} confidence intervals over {images}"
    marks = f"> best; p is corrected for {others} detectors under Holm" if others > 1 else "> best"
    if not all_scores:
        corrected = f"; ** p < {look.alpha:g} also when corrected for {others} detectors (Holm)"
        marks = f"> best; * p < {look.alpha:g}{corrected if others > 1 else ''}"
    for line in (*look.screen.wrapped(text), *look.screen.wrapped(marks)):
        yield look.screen.paint(line, "dim")


# Scores -------------------------------------------------------------------------------------------


def _block(comparison: Comparison, look: _Look, all_scores: bool) -> Iterator[list[str]]:
    """The cells of a protocol's table but for the names: the head, then one
    row for each detector (and score).
    """
    scores = shown_scores(comparison, all_scores)
    detectors = range(len(look.names))
    if not all_scores:
        yield [
            *(f"{score.score}  " for score in scores),
            f"difference in {comparison.main_score}",
        ]  # stars are behind the numbers
        for k in detectors:
            yield [
                *(_cell(comparison, score, k, look.alpha) for score in scores),
                _difference(comparison.compared(comparison.main_score), k),
            ]
        return
    tests = ["p"] if len(detectors) == 2 else ["p", "Holm"]
    yield ["value", "difference", *tests]
    for score in scores:
        for k in detectors:
            value = f"{_value(comparison, score, k)} {shown_interval(score.intervals[k])}"
            yield [
                value,
                _difference(score, k),
                *(p_cells(comparison, score, k) if k else [""] * len(tests)),
            ]


def _cell(comparison: Comparison, score: ScoreComparison, k: int, alpha: float) -> str:
    """A value with its marks; two columns behind the number are for stars."""
    return f"{_value(comparison, score, k)}{_stars(comparison, score, k, alpha):2}"


def _value(comparison: Comparison, score: ScoreComparison, k: int) -> str:
    return (">" if _is_best(comparison, score, k) else "") + shown_score(score.values[k])


def _is_best(comparison: Comparison, score: ScoreComparison, k: int) -> bool:
    """Whether no detector has more, and one has less; of a count nothing is the best."""
    values = [value for value in score.rounded if value is not None]
    is_share = score.score not in UNBOUNDED
    return is_share and len(set(values)) > 1 and score.rounded[k] == max(values)


def _stars(comparison: Comparison, score: ScoreComparison, k: int, alpha: float) -> str:
    if not _is_below(score.p_values[k], alpha):
        return ""
    return "**" if len(comparison.systems) > 2 and _is_below(score.p_corrected[k], alpha) else "*"


def _is_below(p: float | None, alpha: float) -> bool:
    return p is not None and p < alpha


def _difference(score: ScoreComparison, k: int) -> str:
    difference = score.differences[k]
    if k == 0:
        return ""
    if difference is None:
        return UNDEFINED
    sign = f"{difference:+d}" if isinstance(difference, int) else f"{difference:+.4f}"
    return f"{sign} {shown_interval(score.difference_intervals[k], sign='+')}"


def _scores(
    comparisons: Sequence[Comparison],
    blocks: Sequence[list[list[str]]],
    look: _Look,
    all_scores: bool,
) -> Iterator[str]:
    """Lines of all protocols with the same columns; each begins with its head."""
    names = look.names
    rows = [
        [name, *cells]
        for comparison, (head, *body) in zip(comparisons, blocks, strict=True)
        for name, cells in zip(
            [comparison.protocol, *names * (len(body) // len(names))], [head, *body], strict=True
        )
    ]
    lines = aligned(rows, (0, 1, 2) if all_scores else (0, len(rows[0]) - 1))
    for comparison in comparisons:
        yield from ("", look.screen.paint(next(lines), "bold"))
        for score in shown_scores(comparison, all_scores) if all_scores else [comparison.scores[0]]:
            shown = score if all_scores else comparison.compared(comparison.main_score)
            if all_scores:
                yield look.screen.paint(score.score, "dim")
            for k in range(len(names)):
                color = _color(shown, k, look.alpha)
                yield look.screen.paint(next(lines), color) if color else next(lines)


def _color(score: ScoreComparison, k: int, alpha: float) -> str:
    difference = score.differences[k]
    if difference is None or not _is_below(score.p_values[k], alpha):
        return ""
    return "green" if difference > 0 else "red"


# Changes ------------------------------------------------------------------------------------------


def _worst(comparison: Comparison, worst: int, look: _Look) -> Iterator[str]:
    """The images and the objects that got worse, with the detector if there
    are several to choose from.
    """
    images, objects = comparison.images, comparison.objects
    of = dict(zip(comparison.systems, look.names, strict=True))
    has_several = len(look.names) > 2
    detector = ["detector"] if has_several else []
    rows = [["image", *detector, comparison.main_score, "was", "change"]]
    for image in images[: min(worst, images.worse)]:
        numbers = [f"{image.after:.4f}", f"{image.before:.4f}", f"{image.change:+.4f}"]
        rows.append([printable(image.image), *[of[image.system]][:has_several], *numbers])
    title = f"{comparison.protocol}: {counted(images.worse, '{count} image[s] got worse')}"
    yield from _listed(title, rows, images.worse, range(len(detector) + 1), look)
    rows = [["object", *detector, "match", "was", "change"]]
    for one in objects[: min(worst, objects.worse)]:
        matches = [one.match_after, one.match_before, f"{one.change:+.4f}"]
        rows.append(
            [f"{printable(one.image)} #{one.id}", *[of[one.system]][:has_several], *matches]
        )
    title = f"{comparison.protocol}: {counted(objects.worse, '{count} object[s] got worse')}"
    yield from _listed(title, rows, objects.worse, range(len(detector) + 3), look)


def _listed(
    title: str, rows: list[list[str]], count: int, texts: range, look: _Look
) -> Iterator[str]:
    listed = len(rows) - 1
    if listed:
        more = f", the worst {listed}" if listed < count else ""
        yield from ("", look.screen.paint(f"{title}{more}", "bold"))
        yield from aligned(narrowed(rows, look.screen.columns, texts), texts)


# Totals -------------------------------------------------------------------------------------------


def _totals(comparisons: Sequence[Comparison], look: _Look) -> Iterator[str]:
    """Of each detector: in how many protocols it is the best, higher or
    lower; images and objects that changed.
    """
    main = [one.compared(one.main_score) for one in comparisons]
    images, objects = (
        _sums([getattr(one, side) for one in comparisons]) for side in ("images", "objects")
    )
    rows = [
        ["total", "best", "higher*", "lower*", "images +", "images -", "objects +", "objects -"]
    ]
    for k, name in enumerate(look.names):
        best = sum(_is_best(one, score, k) for one, score in zip(comparisons, main, strict=True))
        colors = [_color(score, k, look.alpha) for score in main]
        tested = (
            [colors.count("green"), colors.count("red"), *images[k], *objects[k]] if k else [""] * 6
        )
        rows.append([name, f"{best}/{len(comparisons)}", *map(str, tested)])
    if len(comparisons) == 1:
        rows = [[row[0], *row[4:]] for row in rows]
    lines = list(fitted(rows, look.screen.columns))
    yield look.screen.paint(lines[0], "bold")
    yield from lines[1:]


def _sums(
    changes: Sequence[Changes[ImageChange]] | Sequence[Changes[ObjectChange]],
) -> dict[int, tuple[int, int]]:
    """Detector -> how many are better and worse, over all protocols."""
    counts = [one.counts for one in changes]
    return {
        k: (sum(one[k][0] for one in counts), sum(one[k][1] for one in counts)) for k in counts[0]
    }


def _notes(comparisons: Sequence[Comparison], look: _Look, all_scores: bool) -> Iterator[str]:
    """Why something is undefined, each reason once."""
    reasons = [
        reason
        for one in comparisons
        for score in shown_scores(one, all_scores)
        for reason in [*score.reasons, *(score.interval_reasons if all_scores else [])]
    ]
    for reason in dict.fromkeys(reason for reason in reasons if reason):
        yield from look.screen.wrapped(f"{UNDEFINED}: {reason}")
    kind = "all" if comparisons[0].is_exact else "random"
    test = (
        "one sign-flip test over images"
        f" ({counted(comparisons[0].resamples, '{count} subset[s]')}, {kind})"
    )
    bound = f"p < {look.alpha:g} exactly if the {per_cent(look.level)} interval excludes 0"
    yield from look.screen.wrapped(
        f"The interval and the p-value of a difference are of {test}: {bound}."
    )
    summed = ", summed over protocols" if len(comparisons) > 1 else ""
    text = f"+, -: higher, lower than with {look.names[0].strip()}{summed}"
    yield from look.screen.wrapped(text)
