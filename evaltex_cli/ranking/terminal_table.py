"""A ranking for reading on a terminal: one block for each protocol, and a sentence that says who is
best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaltex_cli.errors import counted
from evaltex_cli.ranking.ranking import Agreement, DataSetRanking, ProtocolRanking, Ranking
from evaltex_cli.ranking.tables import note
from evaltex_cli.results.screen import (
    UNDEFINED,
    Screen,
    aligned,
    fitted,
    joined,
    narrowed,
    per_cent,
    shown_interval,
    shown_score,
)
from evaltex_cli.results.text_tables import printable


def table(ranking: Ranking, screen: Screen) -> str:
    """Return the tables of all data sets; no line is longer than the screen, unless a single word
    is.
    """
    lines: list[str] = []
    for dataset in ranking.datasets:
        lines += ["", *_dataset(ranking, dataset, screen)]
    if ranking.overall:
        lines += ["", *_overall(ranking, screen)]
    return joined(lines[1:])


def _dataset(ranking: Ranking, dataset: DataSetRanking, screen: Screen) -> Iterator[str]:
    protocols = list(dataset.protocols.values())
    images = counted(max(one.compared_images for one in protocols), "{count} image[s]")
    level = per_cent(ranking.settings.level)
    title = f"Ranks on {printable(dataset.name)}, {images}; {level} bootstrap confidence intervals"
    yield from screen.wrapped(title)
    yield from (screen.paint(line, "dim") for line in screen.wrapped(note(ranking, dataset)))
    rows = [row for one in protocols for row in _rows(one)]
    lines = aligned(narrowed(rows, screen.columns, (0,)), (0, 4))
    for one in protocols:
        yield from ("", screen.paint(next(lines), "bold"))
        for detector in one.detectors:
            line = next(lines)
            yield screen.paint(line, "green") if detector.label in one.best else line
    if len(dataset.agreement.protocols) > 1:
        yield from ("", *_agreement(dataset.agreement, level, screen))
    yield ""
    for one in protocols:
        yield from screen.wrapped(sentence(one), "  ")


def _rows(ranking: ProtocolRanking) -> Iterator[list[str]]:
    yield [ranking.protocol, ranking.score, "", "rank", "ties"]
    for one in ranking.detectors:
        first, last = one.rank_interval
        score = shown_score(one.scores[ranking.score])
        ranks = f"{one.rank} ({first}-{last})"
        yield [printable(one.label), score, shown_interval(one.interval), ranks, one.groups]


def sentence(ranking: ProtocolRanking) -> str:
    """Say who is best, and who cannot be distinguished from it."""
    best, *others = ranking.best or [""]
    if not best:
        return f"{ranking.protocol}: no detector has a score."
    score = shown_score(ranking.detectors[0].scores[ranking.score])
    first = f"{ranking.protocol}: {printable(best)} has the highest {ranking.score}, {score}"
    if not others:
        return f"{first}; all others are significantly lower."
    listed = ", ".join(map(printable, others))
    return f"{first}; not significantly lower: {listed}."


def _agreement(agreement: Agreement, level: str, screen: Screen) -> Iterator[str]:
    """The matrix below its diagonal; and the pair that agrees least, with its interval."""
    yield screen.paint("Agreement of the protocols' rankings (Kendall's tau-b)", "bold")
    names = agreement.protocols
    rows = [["", *(str(k) for k in range(1, len(names)))]]
    for k, name in enumerate(names):
        cells = [UNDEFINED if tau is None else f"{tau:.2f}" for tau in agreement.tau[k][:k]]
        rows.append([f"{k + 1} {name}", *cells, *[""] * (len(names) - 1 - k)])
    yield from fitted(rows, screen.columns)
    known = [
        (value, i, j)
        for i, row in enumerate(agreement.tau)
        for j, value in enumerate(row[:i])
        if value is not None
    ]
    if known:
        value, i, j = min(known)
        text = f"Least alike: {names[j]} and {names[i]}, {value:.2f}"
        yield from screen.wrapped(f"{text} {two_decimals(agreement.intervals[i][j])} ({level})")


def two_decimals(interval: tuple[float, float] | None) -> str:
    """Return an interval of ranks, or of Kendall's tau, in brackets."""
    return f"[{UNDEFINED}]" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def _overall(ranking: Ranking, screen: Screen) -> Iterator[str]:
    names = [one.name for one in ranking.datasets]
    yield from screen.wrapped(f"Over all data sets: {', '.join(map(printable, names))}")
    for protocol, overall in ranking.overall.items():
        has_pooled = any(one.pooled is not None for one in overall.detectors)
        head = [protocol, f"mean {overall.score}", "", "mean rank", ""]
        rows: list[Sequence[str]] = [[*head, *(["pooled", ""] if has_pooled else [])]]
        for one in overall.detectors:
            cells = [printable(one.label), shown_score(one.macro)]
            cells += [shown_interval(one.macro_interval), f"{one.mean_rank:.2f}"]
            cells.append(two_decimals(one.mean_rank_interval))
            if has_pooled:
                cells += [shown_score(one.pooled), shown_interval(one.pooled_interval)]
            rows.append(cells)
        lines = list(fitted(rows, screen.columns))
        yield from ("", screen.paint(lines[0], "bold"), *lines[1:])
        if overall.left_out:
            yield from screen.wrapped(
                f"Without all data sets: {', '.join(map(printable, overall.left_out))}", "  "
            )
