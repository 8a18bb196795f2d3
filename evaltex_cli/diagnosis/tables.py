"""A diagnosis as JSON, CSV, Markdown (for a pull request) or LaTeX (for a paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evaltex_cli.diagnosis.breakdown import OF_GT
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, Diagnosis
from evaltex_cli.marks import comment
from evaltex_cli.results import markup
from evaltex_cli.results.text_tables import JsonObject, json_document

_OF_SCORES = ("scores", "losses", "interaction", "unexplained", "remainder")
MISREAD = ("words", "characters")


def csv_rows(diagnoses: Sequence[Diagnosis]) -> str:
    """Return one row a number, at full precision: protocol, part, row, quantity, value."""
    rows: list[Sequence[markup.Cell]] = [["protocol", "part", "row", "quantity", "value"]]
    for one in diagnoses:
        for part, row, values in _values(one):
            for quantity, value in values.items():
                is_undefined = quantity in one.scores and not one.is_defined
                rows.append([one.protocol, part, row, quantity, None if is_undefined else value])
    return markup.in_csv(rows)


def _values(diagnosis: Diagnosis) -> Iterator[tuple[str, str, dict[str, float | None]]]:
    counts = {one.kind: {"count": one.count} for one in diagnosis.kinds}
    for name, shares in diagnosis.parts().items():
        yield "share", name, {**counts.get(name, {}), **shares}
    yield "total", "loss", {**diagnosis.losses}
    yield "total", "score", {**diagnosis.scores}
    for part, row, one in diagnosis.named_bins():
        means = {f"mean {name}": mean for name, mean in one.means.items()}
        found = {"objects": one.objects, "found": one.found, "recall": one.recall}
        yield part, row, {**found, **one.matches, **means}
    if diagnosis.misread is not None:
        yield "misread", "all", {"pairs": diagnosis.misread.pairs}
        for part in MISREAD:
            for misreading in getattr(diagnosis.misread, part):
                row = f"{misreading.expected} -> {misreading.read}"
                yield f"misread {part}", row, {"count": misreading.count}


def fields(diagnosis: Diagnosis) -> JsonObject:
    """Return a diagnosis as JSON has it, without what is None; no scores where none is defined."""
    values = diagnosis.to_dict()
    if not diagnosis.is_defined:
        values |= {name: dict.fromkeys(diagnosis.scores) for name in _OF_SCORES}
    return {name: value for name, value in values.items() if value is not None}


def document(diagnoses: Sequence[Diagnosis]) -> str:
    """Return everything, as JSON."""
    return json_document("diagnosis", {"protocols": [fields(diagnosis) for diagnosis in diagnoses]})


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types, and recall by bins."""
    blocks = [comment("diagnosis")]
    for diagnosis in diagnoses:
        blocks += [f"### {diagnosis.protocol}", ""]
        if not diagnosis.is_defined:
            blocks += [NOT_DEFINED, ""]
            continue
        tables: dict[str, list[Sequence[markup.Cell]]] = {"": _shares(diagnosis)}
        for name, title, one in diagnosis.named_bins():
            table = tables.setdefault(name, [[name, "objects", "found", "recall", *OF_GT]])
            table.append([title, one.objects, one.found, one.recall, *one.matches.values()])
        blocks += map(markup.in_markdown, tables.values())
    return "\n".join(blocks)


def latex(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types."""
    tables = (
        markup.in_latex(_shares(one)) if one.is_defined else f"% {one.protocol}: {NOT_DEFINED}"
        for one in diagnoses
    )
    return "\n".join(["% evaltex diagnosis", *tables])


def _shares(diagnosis: Diagnosis) -> list[Sequence[markup.Cell]]:
    counts = {kind.kind: kind.count for kind in diagnosis.kinds}
    parts = diagnosis.parts() | {"loss": diagnosis.losses, "score": diagnosis.scores}
    return [
        [f"error type ({diagnosis.protocol})", "count", *diagnosis.scores],
        *([name, counts.get(name, ""), *values.values()] for name, values in parts.items()),
    ]


FORMATS: dict[str, Callable[[Sequence[Diagnosis]], str]] = {
    "json": document,
    "csv": csv_rows,
    "markdown": markdown,
    "latex": latex,
}
