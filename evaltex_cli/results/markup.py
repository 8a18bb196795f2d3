"""Rows of cells as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import or_
from typing import TypeAlias

from evaltex_cli.marks import comment

Cell: TypeAlias = str | int | float | None
Rows: TypeAlias = Iterable[Sequence[Cell]]
"""The first row is the head."""
_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
)
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|#~"} | {"\n": " ", "\r": " "})
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


class _Line:
    """A file that returns what is written to it."""

    @staticmethod
    def write(text: str) -> str:
        return text


def in_csv(rows: Rows) -> str:
    """Return lines of CSV at full precision; no text of it is a formula (`no_formula`)."""
    writer = csv.writer(_Line(), lineterminator="\n")
    return "".join(
        writer.writerow([no_formula(cell) if isinstance(cell, str) else cell for cell in row])
        for row in rows
    )


def in_markdown(rows: Rows) -> str:
    """Return a table of Markdown."""
    return "".join(f"{line}\n" for line in markdown_rows(rows))


def in_latex(rows: Rows) -> str:
    """Return a booktabs table, columns of numbers to the right."""
    rows = [*rows]
    are_texts: list[bool] = []
    for row in rows:
        texts = [isinstance(cell, str) and cell != "" for cell in row]
        # The head comes first, and says nothing.
        are_texts = [*map(or_, are_texts, texts)] if are_texts else [False] * len(texts)
    columns = "".join("l" if is_text else "r" for is_text in are_texts)
    cells = ([latex_text(shown(cell)) for cell in row] for row in rows)
    return "".join(f"{line}\n" for line in latex_rows(columns, cells))


FORMS: Mapping[str, Callable[[Rows], str]] = {
    "csv": in_csv,
    "markdown": in_markdown,
    "latex": in_latex,
}


def forms_of(kind: str, rows_of: Callable[..., Rows]) -> dict[str, Callable[..., str]]:
    """Return what writes the rows of an output of a kind in each form; Markdown and LaTeX begin
    with the mark of the kind.
    """
    marks = {"csv": "", "markdown": f"{comment(kind)}\n", "latex": f"% evaltex {kind}\n"}

    def writing(form: str) -> Callable[..., str]:
        return lambda *given: marks[form] + FORMS[form](rows_of(*given))

    return {form: writing(form) for form in FORMS}


def markdown_rows(rows: Rows) -> Iterator[str]:
    """Yield the lines of a table of Markdown."""
    return markdown_lines([markdown_text(shown(cell)) for cell in row] for row in rows)


def markdown_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of cells that are Markdown."""
    for k, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if k == 0:
            yield f"|{' --- |' * len(row)}"


def latex_rows(columns: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a booktabs table of cells that are LaTeX; the first row is the head."""
    yield rf"\begin{{tabular}}{{{columns}}}"
    yield r"\toprule"
    for k, row in enumerate(rows):
        yield " & ".join(row) + r" \\"
        if k == 0:
            yield r"\midrule"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def markdown_text(text: str) -> str:
    """Return a text in which nothing is Markdown."""
    return text.translate(_MARKDOWN)


def latex_text(text: str) -> str:
    """Return a text in which nothing is LaTeX."""
    return text.translate(_LATEX)


def shown(cell: Cell) -> str:
    """Return a cell for reading: a number that is no count by four decimals, None as a dash."""
    return "-" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def no_formula(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would take it for a formula, or
    it begins with one.

    So a reader gets every text again if it removes one apostrophe from the start of those that
    begin with one.
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
