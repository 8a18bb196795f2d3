"""A diagnosis as JSON, CSV, Markdown (for a pull request) or LaTeX (for a paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict

from evaltex_cli.diagnosis.breakdown import OF_GT, Bin
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, Diagnosis
from evaltex_cli.diagnosis.misread import Misread
from evaltex_cli.results import markup
from evaltex_cli.results.text_tables import JsonObject, json_document

_OF_SCORES = ("scores", "losses", "interaction", "unexplained", "remainder")
MISREAD = ("words", "characters")


def csv_rows(diagnoses: Sequence[Diagnosis]) -> str:
    """One row a number, at full precision: protocol, part, row, quantity, value."""
    rows: list[Sequence[markup.Cell]] = [["protocol", "part", "row", "quantity", "value"]]
    for diagnosis in diagnoses:
        for part, row, quantity, value in _values(diagnosis):
            is_undefined = quantity in diagnosis.scores and not diagnosis.is_defined
            shown = None if is_undefined else value
            rows.append([diagnosis.protocol, part, row, quantity, shown])
    return markup.in_csv(rows)


def document(diagnoses: Sequence[Diagnosis]) -> str:
    """Everything, as JSON."""
    return json_document("diagnosis", {"protocols": [fields(diagnosis) for diagnosis in diagnoses]})


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types, and recall by bins."""
    blocks = ["<!-- evaltex diagnosis -->"]
    for diagnosis in diagnoses:
        blocks += [f"### {diagnosis.protocol}", ""]
        if not diagnosis.is_defined:
            blocks += [NOT_DEFINED, ""]
            continue
        blocks.append(markup.in_markdown(_shares(diagnosis)))
        blocks += [
            markup.in_markdown(_bins(name, [(one.range, one) for one in bins]))
            for name, bins in diagnosis.breakdowns.items()
        ]
        if diagnosis.classes:
            blocks.append(markup.in_markdown(_bins("class", diagnosis.classes.items())))
    return "\n".join(blocks)


def latex(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types."""
    return "\n".join(
        [
            "% evaltex diagnosis",
            *(
                markup.in_latex(_shares(one))
                if one.is_defined
                else f"% {one.protocol}: {NOT_DEFINED}"
                for one in diagnoses
            ),
        ]
    )


def _shares(diagnosis: Diagnosis) -> Iterator[Sequence[markup.Cell]]:
    yield [f"error type ({diagnosis.protocol})", "count", *diagnosis.scores]
    for kind in diagnosis.kinds:
        yield [kind.kind, kind.count, *kind.shares.values()]
    for row, shares in (
        ("interaction", diagnosis.interaction),
        ("unexplained", diagnosis.unexplained),
    ):
        yield [row, "", *shares.values()]
    yield ["loss", "", *diagnosis.losses.values()]
    yield ["score", "", *diagnosis.scores.values()]


def _bins(name: str, bins: Iterable[tuple[str, Bin]]) -> Iterator[Sequence[markup.Cell]]:
    yield [name, "objects", "found", "recall", *OF_GT]
    for title, one in bins:
        yield [
            title,
            one.objects,
            one.found,
            one.recall,
            *(one.matches[match] for match in OF_GT),
        ]


FORMATS: dict[str, Callable[[Sequence[Diagnosis]], str]] = {
    "json": document,
    "csv": csv_rows,
    "markdown": markdown,
    "latex": latex,
}


def fields(diagnosis: Diagnosis) -> JsonObject:
    """A diagnosis as JSON's kinds of values; without `misread` if the protocol does not compare
    texts, and without `classes` if there are not several.
    """
    values = asdict(diagnosis) | {"remainder": diagnosis.remainder}
    if not diagnosis.is_defined:
        values |= {name: dict.fromkeys(diagnosis.scores) for name in _OF_SCORES}
    optional = ("misread", "classes")
    return {
        name: value for name, value in values.items() if value is not None or name not in optional
    }


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
            yield from (
                (part, one.range, quantity, value) for quantity, value in _bin_values(one).items()
            )
    for name, one in (diagnosis.classes or {}).items():
        yield from (
            ("class", name, quantity, value) for quantity, value in _bin_values(one).items()
        )
    if diagnosis.misread is not None:
        yield from _misread_values(diagnosis.misread)


def _misread_values(misread: Misread) -> Iterator[tuple[str, str, str, float]]:
    yield "misread", "all", "pairs", misread.pairs
    for part in MISREAD:
        rows = getattr(misread, part)
        yield from (
            (f"misread {part}", f"{one.expected} -> {one.read}", "count", one.count) for one in rows
        )


def _bin_values(one: Bin) -> dict[str, float | None]:
    means = {f"mean {name}": mean for name, mean in one.means.items()}
    return {
        "objects": one.objects,
        "found": one.found,
        "recall": one.recall,
        **one.matches,
        **means,
    }
