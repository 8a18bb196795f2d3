"""A diagnosis for reading on a terminal: what each kind of mistake costs,
recall by properties, the conclusion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evaltex_cli.diagnosis.breakdown import OF_GT
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, Diagnosis, KindShare
from evaltex_cli.diagnosis.misread import Misread
from evaltex_cli.diagnosis.tables import MISREAD
from evaltex_cli.results.screen import Screen, aligned, fitted, joined, narrowed, shown_score
from evaltex_cli.results.slices import Slice
from evaltex_cli.results.text_tables import printable

HEADS = {
    "height": "height, pixels",
    "aspect_ratio": "width / height",
    "length": "characters of the text",
}
"""What objects are sorted by, in a few words."""
DECIMALS = 4
_HALF = 0.5 / 10**DECIMALS
"""A share below it is shown as 0."""


def table(diagnoses: Sequence[Diagnosis], screen: Screen, all_scores: bool) -> str:
    """Return the table of all diagnoses; its shares are rounded such that they sum to the rounded
    loss.

    Parameters
    ----------
    screen : Screen
        No line is longer than its columns.
    all_scores : bool
        Also the match types of the objects, and the means of the protocol's own values.
    """
    lines: list[str] = []
    for diagnosis in (one for one in diagnoses if one.is_defined):
        lines += [*_shares(diagnosis, screen), "", *_breakdowns(diagnosis, screen, all_scores)]
        if diagnosis.misread is not None:
            lines += _misread(diagnosis.misread, screen)
        lines.append("")
    for diagnosis in diagnoses:
        lead = f"{diagnosis.protocol}: " if len(diagnoses) > 1 else ""
        lines += (
            screen.paint(line, "bold") for line in screen.wrapped(lead + conclusion(diagnosis))
        )
    return joined(lines)


# Shares -------------------------------------------------------------------------------------------


def _shares(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    names = list(diagnosis.scores)
    title = (
        f"{diagnosis.protocol}: change of the scores when one kind of mistake alone is corrected"
    )
    yield from (screen.paint(line, "bold") for line in screen.wrapped(title))
    rows = [["mistake", "count", "", *names]]
    remainders = [diagnosis.interaction, diagnosis.unexplained]
    shares = [kind.shares for kind in diagnosis.kinds] + remainders
    scores = {name: round(value * 10**DECIMALS) for name, value in diagnosis.scores.items()}
    losses = {name: 10**DECIMALS - score for name, score in scores.items()}
    shown = {name: _rounded([share[name] for share in shares], losses[name]) for name in names}
    for k, kind in enumerate(diagnosis.kinds):
        rows.append(
            [
                kind.kind,
                str(kind.count),
                kind.counted,
                *(_units(shown[name][k], "+") for name in names),
            ]
        )
    for k, rest in enumerate(("interaction", "unexplained"), start=len(diagnosis.kinds)):
        rows.append([rest, "", "", *(_units(shown[name][k], "+") for name in names)])
    rows.append(["= loss", "", "", *(_units(losses[name]) for name in names)])
    rows.append(["1 - loss", "", "", *(_units(scores[name]) for name in names)])
    worst = costliest(diagnosis)
    head, *lines = aligned(rows, texts=(0, 2))
    yield screen.paint(head, "bold")
    for line in lines:
        yield (
            screen.paint(line, "red") if worst is not None and line.startswith(worst.kind) else line
        )


def _rounded(values: Sequence[float], total: int) -> list[int]:
    """Round values to units of the last decimal shown, such that they sum to
    the total; exact zeros stay.
    """
    scaled = [value * 10**DECIMALS for value in values]
    whole = [math.floor(value) for value in scaled]
    by_fraction = sorted(range(len(values)), key=lambda k: whole[k] - scaled[k])
    for k in by_fraction[: max(total - sum(whole), 0)]:
        whole[k] += 1
    whole[-1] += total - sum(whole)
    return whole


def _units(value: int, sign: str = "") -> str:
    return f"{value / 10**DECIMALS:{sign}.{DECIMALS}f}"


def costliest(diagnosis: Diagnosis) -> KindShare | None:
    """Return the kind of mistake with the greatest share of the main score; None if no share is
    above 0.
    """
    name = diagnosis.main_score
    worst = max(diagnosis.kinds, key=lambda kind: kind.shares[name])
    return worst if worst.shares[name] >= _HALF else None


def conclusion(diagnosis: Diagnosis) -> str:
    """Return a sentence that says what costs most of the main score."""
    name = diagnosis.main_score
    score = diagnosis.scores[name]
    loss, worst = diagnosis.losses[name], costliest(diagnosis)
    if not diagnosis.is_defined:
        return NOT_DEFINED
    if worst is None:
        if loss < _HALF:
            return f"Nothing is lost: {name} is {shown_score(score)}."
        return (
            f"No kind of mistake costs anything alone: the loss of {loss:.4f} {name} is interaction"
            " and unexplained (docs/diagnose.md, section 2)."
        )
    which = "that one were" if worst.count == 1 else f"all {worst.count} were"
    share = worst.shares[name]
    return (
        f"{worst.kind.capitalize()} {worst.counted} cost most: if {which} corrected, {name} would"
        f" be {score + share:.4f} instead of {score:.4f} ({share:+.4f})."
    )


# Breakdowns ---------------------------------------------------------------------------------------


def _breakdowns(diagnosis: Diagnosis, screen: Screen, all_scores: bool) -> Iterator[str]:
    """All breakdowns as one table, whose columns have one head; empty bins are left out."""
    rows = [["objects by", "objects", "found", "recall"]]
    bins = [one for of_property in diagnosis.breakdowns.values() for one in of_property]
    matches = (
        [name for name in OF_GT if any(one.matches[name] for one in bins)] if all_scores else []
    )
    means = list(bins[0].means) if all_scores else []
    rows[0] += [*matches, *(f"mean {name}" for name in means)]
    titled = {
        HEADS[name]: [(Slice(name, one.low, one.high).name, one) for one in of_property]
        for name, of_property in diagnosis.breakdowns.items()
    }
    if diagnosis.classes:
        titled["class"] = [
            (name or "without a class", one) for name, one in diagnosis.classes.items()
        ]
    for head, of_property in titled.items():
        rows.append([head, *[""] * (len(rows[0]) - 1)])
        for title, one in of_property:
            if one.objects:
                cells = [str(one.objects), str(one.found), shown_score(one.recall)]
                cells += [
                    *(str(one.matches[match]) for match in matches),
                    *(shown_score(one.means[mean]) for mean in means),
                ]
                rows.append([f"  {printable(title)}", *cells])
    for line in fitted(rows, screen.columns):
        yield screen.paint(line, "bold") if line.startswith(rows[0][0]) else line


def _misread(misread: Misread, screen: Screen) -> Iterator[str]:
    for part in MISREAD:
        listed = [(one.expected, one.read, one.count) for one in getattr(misread, part)]
        if listed:
            cells = [
                [*(printable(text) or "(nothing)" for text in texts), str(count)]
                for *texts, count in listed
            ]
            rows = [[f"misread {part}", "read as", "count"], *cells]
            head, *lines = aligned(narrowed(rows, screen.columns, (0, 1)), texts=(0, 1))
            yield from ("", screen.paint(head, "bold"), *lines)
