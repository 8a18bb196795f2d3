"""A diagnosis as table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from evaltex_cli.diagnosis import publishing
from evaltex_cli.diagnosis.breakdown import OF_GT, PROPERTIES, Bin
from evaltex_cli.diagnosis.diagnosis import Diagnosis
from evaltex_cli.diagnosis.misread import Misread
from evaltex_cli.results.screen import aligned
from evaltex_cli.results.text_tables import JsonObject, json_document, printable

SHOWN_DECIMALS = 4
MISREAD = ("words", "characters")


def table(diagnoses: Sequence[Diagnosis]) -> str:
    """Plain text for a terminal; its shares are rounded such that they sum to the rounded loss."""
    return "\n\n".join("\n".join(_lines(diagnosis)) for diagnosis in diagnoses) + "\n"


def csv_rows(diagnoses: Sequence[Diagnosis]) -> str:
    """One row a number, at full precision: protocol, part, row, quantity, value."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["protocol", "part", "row", "quantity", "value"])
    for diagnosis in diagnoses:
        for part, row, quantity, value in _values(diagnosis):
            writer.writerow([diagnosis.protocol, part, row, quantity, "" if value is None else value])
    return file.getvalue()


def document(diagnoses: Sequence[Diagnosis]) -> str:
    """Everything, as JSON."""
    return json_document("diagnosis", {"protocols": [fields(diagnosis) for diagnosis in diagnoses]})


FORMATS: dict[str, Callable[[Sequence[Diagnosis]], str]] = {
    "table": table,
    "json": document,
    "csv": csv_rows,
    "markdown": publishing.markdown,
    "latex": publishing.latex,
}


def fields(diagnosis: Diagnosis) -> JsonObject:
    """A diagnosis as JSON's kinds of values; without `misread` if the protocol does not compare texts."""
    values = asdict(diagnosis) | {"remainder": diagnosis.remainder}
    return {name: value for name, value in values.items() if name != "misread" or value is not None}


def _values(diagnosis: Diagnosis) -> Iterator[tuple[str, str, str, float | None]]:
    for kind in diagnosis.kinds:
        yield "share", kind.kind, "count", kind.count
        for name, share in kind.shares.items():
            yield "share", kind.kind, name, share
    for row in ("interaction", "unexplained"):
        for name, share in getattr(diagnosis, row).items():
            yield "share", row, name, share
    for row, values in (("loss", diagnosis.losses), ("score", diagnosis.scores)):
        for name, value in values.items():
            yield "total", row, name, value
    for part, bins in diagnosis.breakdowns.items():
        for one in bins:
            yield from ((part, one.range, quantity, value) for quantity, value in _bin_values(one).items())
    if diagnosis.misread is not None:
        yield from _misread_values(diagnosis.misread)


def _misread_values(misread: Misread) -> Iterator[tuple[str, str, str, float]]:
    yield "misread", "all", "pairs", misread.pairs
    for part in MISREAD:
        rows = getattr(misread, part)
        yield from ((f"misread {part}", f"{one.expected} -> {one.read}", "count", one.count) for one in rows)


def _bin_values(one: Bin) -> dict[str, float | None]:
    means = {f"mean {name}": mean for name, mean in one.means.items()}
    return {"objects": one.objects, "found": one.found, "recall": one.recall, **one.matches, **means}


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    names = list(diagnosis.scores)
    yield f"{diagnosis.protocol}: where the score is lost, by the change when one kind of mistake alone is repaired"
    rows = [["mistake", "count", "", *names]]
    remainders = [diagnosis.interaction, diagnosis.unexplained]
    shares = [kind.shares for kind in diagnosis.kinds] + remainders
    scores = {name: round(value * 10**SHOWN_DECIMALS) for name, value in diagnosis.scores.items()}
    losses = {name: 10**SHOWN_DECIMALS - score for name, score in scores.items()}
    shown = {name: _rounded([share[name] for share in shares], losses[name]) for name in names}
    for k, kind in enumerate(diagnosis.kinds):
        rows.append([kind.kind, str(kind.count), kind.counted, *(_units(shown[name][k], "+") for name in names)])
    for k, row in enumerate(("interaction", "unexplained"), start=len(diagnosis.kinds)):
        rows.append([row, "", "", *(_units(shown[name][k], "+") for name in names)])
    rows.append(["= loss", "", "", *(_units(losses[name]) for name in names)])
    rows.append(["1 - loss", "", "", *(_units(scores[name]) for name in names)])
    yield from aligned(rows, texts=(0, 2))
    for name, bins in diagnosis.breakdowns.items():
        yield ""
        values = list(bins[0].means)
        rows = [[name, "objects", "found", "recall", *OF_GT, *(f"mean {value}" for value in values)]]
        for one in bins:
            numbers = [str(one.objects), str(one.found), _number(one.recall)]
            matches = [str(one.matches[match]) for match in OF_GT]
            rows.append([one.range, *numbers, *matches, *(_number(one.means[value]) for value in values)])
        yield from aligned(rows, texts=(0,))
    if diagnosis.misread is not None:
        yield from _misread_lines(diagnosis.misread)
    yield ""
    yield from (f"{name}: {meaning}" for name, meaning in PROPERTIES.items())


def _misread_lines(misread: Misread) -> Iterator[str]:
    for part in MISREAD:
        yield ""
        listed = [(one.expected, one.read, one.count) for one in getattr(misread, part)]
        rows = [[*(printable(text) or "(nothing)" for text in texts), str(count)] for *texts, count in listed]
        yield from aligned([[f"misread {part}", "read as", "count"], *rows], texts=(0, 1))


def _rounded(values: Sequence[float], total: int) -> list[int]:
    """Round values to units of the last decimal shown, such that they sum to the total; exact zeros stay."""
    scaled = [value * 10**SHOWN_DECIMALS for value in values]
    whole = [math.floor(value) for value in scaled]
    by_fraction = sorted(range(len(values)), key=lambda k: whole[k] - scaled[k])
    for k in by_fraction[: max(total - sum(whole), 0)]:
        whole[k] += 1
    whole[-1] += total - sum(whole)
    return whole


def _units(value: int, sign: str = "") -> str:
    return f"{value / 10**SHOWN_DECIMALS:{sign}.{SHOWN_DECIMALS}f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.{SHOWN_DECIMALS}f}"
