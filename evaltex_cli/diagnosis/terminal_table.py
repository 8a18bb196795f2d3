"""A diagnosis for reading on a terminal, which ends in a conclusion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evaltex_cli.diagnosis.breakdown import OF_GT
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, SHOWN, Diagnosis
from evaltex_cli.diagnosis.misread import Misread
from evaltex_cli.diagnosis.tables import MISREAD
from evaltex_cli.results.screen import Screen, aligned, fitted, joined, narrowed, shown_score
from evaltex_cli.results.text_tables import printable

UNITS = 10_000
"""Of the last decimal shown, in 1."""


def table(diagnoses: Sequence[Diagnosis], screen: Screen, all_scores: bool) -> str:
    """Return the table of all diagnoses; `all_scores` adds the match types of the objects, and the
    means of the protocol's own values.
    """
    lines: list[str] = []
    for diagnosis in (one for one in diagnoses if one.is_defined):
        lines += [*_shares(diagnosis, screen), "", *_breakdowns(diagnosis, screen, all_scores)]
        if diagnosis.misread is not None:
            lines += _misread(diagnosis.misread, screen)
        lines.append("")
    for diagnosis in diagnoses:
        lead = f"{diagnosis.protocol}: " if len(diagnoses) > 1 else ""
        sentence = screen.wrapped(lead + conclusion(diagnosis))
        lines += (screen.paint(line, "bold") for line in sentence)
    return joined(lines)


def _shares(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    title = "change of the scores when one kind of mistake alone is corrected"
    for line in screen.wrapped(f"{diagnosis.protocol}: {title}"):
        yield screen.paint(line, "bold")
    parts = diagnosis.parts()
    columns = [
        ["mistake", *parts, "= loss", "1 - loss"],
        ["count", *(str(kind.count) for kind in diagnosis.kinds), *[""] * 4],
        ["", *(kind.counted for kind in diagnosis.kinds), *[""] * 4],
    ]
    for name, score in diagnosis.scores.items():
        units = round(score * UNITS)
        loss = UNITS - units
        rounded = _rounded([shares[name] * UNITS for shares in parts.values()], loss)
        shown = [f"{value / UNITS:+.4f}" for value in rounded]
        columns.append([name, *shown, f"{loss / UNITS:.4f}", f"{units / UNITS:.4f}"])
    worst = diagnosis.costliest
    head, *lines = aligned(list(zip(*columns, strict=True)), texts=(0, 2))
    yield screen.paint(head, "bold")
    for line in lines:
        is_worst = worst is not None and line.startswith(worst.kind)
        yield screen.paint(line, "red") if is_worst else line


def _rounded(values: Sequence[float], total: int) -> list[int]:
    """Round values such that they sum to the total; exact zeros stay."""
    whole = [math.floor(value) for value in values]
    by_fraction = sorted(range(len(values)), key=lambda k: whole[k] - values[k])
    for k in by_fraction[: max(total - sum(whole), 0)]:
        whole[k] += 1
    whole[-1] += total - sum(whole)
    return whole


def conclusion(diagnosis: Diagnosis) -> str:
    """Return a sentence that says what costs most of the main score."""
    name = diagnosis.main_score
    score, loss, worst = diagnosis.scores[name], diagnosis.losses[name], diagnosis.costliest
    if not diagnosis.is_defined:
        return NOT_DEFINED
    if worst is None and loss < SHOWN:
        return f"Nothing is lost: {name} is {shown_score(score)}."
    if worst is None:
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


def _breakdowns(diagnosis: Diagnosis, screen: Screen, all_scores: bool) -> Iterator[str]:
    """All breakdowns as one table; empty bins are left out."""
    bins = list(diagnosis.named_bins())
    matches = [name for name in OF_GT if all_scores and any(one.matches[name] for *_, one in bins)]
    means = list(bins[0][2].means) if all_scores else []
    heads = ["objects", "found", "recall", *matches, *(f"mean {name}" for name in means)]
    rows = [["objects by", *heads]]
    for name, title, one in bins:
        if one.objects:
            label = f"class {printable(title) or '(none)'}" if name == "class" else title
            values = [one.objects, one.found, one.recall]
            values += [*(one.matches[match] for match in matches), *(one.means[k] for k in means)]
            rows.append([f"  {label}", *map(shown_score, values)])
    for line in fitted(rows, screen.columns):
        yield screen.paint(line, "bold") if line.startswith("objects by") else line


def _misread(misread: Misread, screen: Screen) -> Iterator[str]:
    for part in MISREAD:
        rows = [[f"misread {part}", "read as", "count"]]
        for one in getattr(misread, part):
            texts = (printable(text) or "(nothing)" for text in (one.expected, one.read))
            rows.append([*texts, str(one.count)])
        if len(rows) > 1:
            head, *lines = aligned(narrowed(rows, screen.columns, (0, 1)), texts=(0, 1))
            yield from ("", screen.paint(head, "bold"), *lines)
