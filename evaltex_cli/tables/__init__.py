"""Tables, which every feature makes of its figures, and the forms in which they are written: text,
CSV, Markdown, LaTeX, HTML, and data frames of pandas.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from evaltex_cli.errors import ConfigError
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"
Cell: TypeAlias = str | int | float | tuple[float, float] | None
UNDEFINED = "–"
GAP = "  "
SCHEMA = 1
"""The version of the layout of a command's JSON, unless it has its own."""
LEAST_TEXT = 8
"""Columns that a text keeps, however narrow the terminal is."""
_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
    | {"<": "$<$", ">": "$>$", "–": "--", "|": r"\textbar{}"}
)
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|#~"} | {"\n": " ", "\r": " "})
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


@dataclass(frozen=True)
class Column:
    """A column: its name, and what its cells are.

    Kinds are `text`, `number` (counts as they are, others by four decimals), `score` (a number that
    LaTeX shows in per cent), `digits` (six of them), `change` (a score with its sign), `interval`
    (low and high of a score), `change interval`, `number interval`, `p` (a p-value) and `share` (of
    1, in per cent).
    """

    name: str
    kind: str = "text"

    @property
    def is_text(self) -> bool:
        """Whether cells are aligned to the left."""
        return self.kind == "text"

    @property
    def is_beside(self) -> bool:
        """Whether it is the interval of the column before it, which a text sets close to it."""
        return self.kind == "interval" and not self.name

    def shown(self, cell: Cell, per_cent: bool = False) -> str:
        """Return a cell for reading; `per_cent` for scores as papers print them."""
        if cell is None:
            return UNDEFINED
        if isinstance(cell, tuple):
            return f"[{', '.join(self._number(end, per_cent) for end in cell)}]"
        if isinstance(cell, str):
            return printable(cell)
        if self.kind == "p" and cell < 0.001:
            return f"<{math.floor(1000 * cell) / 1000 + 0.001:.3f}"
        if self.kind == "share":
            return f"{100 * cell:.1f}%"
        if self.kind == "digits":
            return f"{cell:.6f}"
        return self._number(cell, per_cent)

    def _number(self, value: float, per_cent: bool) -> str:
        # A change of nothing but rounding errors has no sign.
        sign = "+" if "change" in self.kind and abs(value) > 1e-12 else ""
        if isinstance(value, int):
            return f"{value:{sign}}"
        if per_cent and not self.kind.startswith(("number", "text")) and abs(value) <= 1:
            return f"{100 * value:{sign}.1f}"
        # Adding 0 makes -0, of a value that rounds to zero, 0.
        shown = f"{round(value, 4) + 0.0:{sign}.4f}" if abs(value) < 1000 else f"{value:{sign}g}"
        if not self.is_beside:
            return shown
        return "1.000" if shown == "1.0000" else shown.removeprefix("0")


@dataclass
class Table:
    """Rows of cells under a title.

    Attributes
    ----------
    rows : list of lists of cells
        Raw values, one for each column; None where undefined, (low, high) of an interval.
    notes : list of str
        Sentences below; one that begins with a blank, such as a command, is never wrapped, and one
        that begins with a dash is an item of a list.
    best : set of (row, column)
        Cells that stand out: bold, or green on a terminal.
    """

    title: str
    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str] = ()
    best: set[tuple[int, int]] = field(default_factory=set)

    def cells(self, per_cent: bool = False) -> list[list[str]]:
        """Return all cells for reading, row by row."""
        return [
            [column.shown(cell, per_cent) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def heads(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def first(self, count: int) -> Table:
        """Return the table with its first rows only, and a note of how many are left out."""
        left_out = len(self.rows) - count
        if left_out <= 0:
            return self
        notes = [f"... and {left_out} more", *self.notes]
        return Table(self.title, self.columns, self.rows[:count], notes, self.best)


# Text ---------------------------------------------------------------------------------------------


def in_text(tables: Iterable[Table], width: int | None = None, has_color: bool = False) -> str:
    """Return tables for a terminal of so many columns, one below the other; whole cells if there is
    no terminal.

    Columns of text are cut until all columns fit; if they cannot, the last columns come below,
    after the first column again.
    """
    return _joined(_lines(table, width, has_color) for table in tables)


def _joined(tables: Iterable[Iterable[str]]) -> str:
    """Return the lines of tables, with an empty line between two tables."""
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in tables)


def _lines(table: Table, width: int | None, has_color: bool) -> Iterator[str]:
    if table.title:
        yield from wrapped(table.title, width)
    rows = [table.heads(), *table.cells()]
    beside = [at for at, column in enumerate(table.columns) if column.is_beside]
    for at, row in itertools.product(beside, rows):
        row[at - 1] = f"{row[at - 1]} {row[at]}".rstrip()
    shown = [at for at in range(len(table.columns)) if at not in beside]
    is_left = [table.columns[at].is_text or at + 1 in beside for at in shown]
    are_texts = [table.columns[at].is_text for at in shown]
    rows = _narrowed([[row[at] for at in shown] for row in rows], are_texts, width)
    for k, block in enumerate(_blocks(rows, width)):
        yield from [""] * (k > 0)
        widths = {at: max(text_width(row[at]) for row in rows) for at in block}
        for number, row in enumerate(rows, -1):
            if k and not any(row[at] for at in block[1:]):
                continue  # nothing in these columns
            cells = []
            for at in block:
                space = " " * (widths[at] - text_width(row[at]))
                cells.append(row[at] + space if is_left[at] else space + row[at])
            cells[-1] = cells[-1].rstrip()
            if has_color:
                styles = [
                    "1" if number < 0 else "32" * ((number, shown[at]) in table.best)
                    for at in block
                ]
                cells = [
                    f"\x1b[{style}m{cell}\x1b[0m" if style and cell.strip() else cell
                    for style, cell in zip(styles, cells, strict=True)
                ]
            yield GAP.join(cells).rstrip()
    for note in table.notes:
        indent = "  " if note.startswith("- ") else ""
        yield from [printable(note)] if note.startswith(" ") else wrapped(note, width, indent)


def _blocks(rows: list[list[str]], width: int | None) -> list[list[int]]:
    """Return which columns fit beside each other, the first in every block."""
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    blocks = [[0]] if widths else []
    for at, columns in enumerate(widths[1:], 1):
        used = sum(widths[k] + len(GAP) for k in blocks[-1])
        if width is not None and used + columns > width and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(at)
    return blocks


def _narrowed(rows: list[list[str]], are_texts: list[bool], width: int | None) -> list[list[str]]:
    """Return rows whose widest columns of text are cut until all columns fit; if they cannot, until
    each has at most a third of the width.
    """
    if width is None or not any(are_texts):
        return rows
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    texts = [at for at, is_text in enumerate(are_texts) if is_text]
    room = width - sum(widths) - len(GAP) * (len(widths) - 1) + sum(widths[at] for at in texts)
    if room < LEAST_TEXT * len(texts):
        widths = [min(columns, width // 3) for columns in widths]
    while sum(widths[at] for at in texts) > room >= LEAST_TEXT * len(texts):
        widths[max(texts, key=widths.__getitem__)] -= 1
    return [
        [cut(cell, widths[at]) if at in texts else cell for at, cell in enumerate(row)]
        for row in rows
    ]


def text_width(text: str) -> int:
    """Return how many columns a text has on a terminal: two for a wide character, none for one that
    joins another.
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, columns: int) -> str:
    """Return a text without its middle if it is too wide; names often differ at the end."""
    while text_width(text) > columns:
        middle = len(text) // 2
        text = text[: middle - 1] + "…" + text[middle + 1 :]
    return text


def wrapped(text: str, width: int | None, indent: str = "") -> Iterator[str]:
    """Yield a sentence as lines that fit; all but the first begin with the indent."""
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width is not None and line and text_width(longer) > width:
            yield line
            longer = indent + word
        line = longer
    yield line


def printable(text: str) -> str:
    """Return a text with question marks for what a terminal might take for more than text."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


# Other forms --------------------------------------------------------------------------------------


def in_csv(table: Table) -> str:
    """Return a table at full precision; an interval has two columns.

    No text of it is a formula for a spreadsheet: an apostrophe comes before it.
    """
    out = io.StringIO()
    heads, rows = flat(table)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([no_formula(cell) for cell in row] for row in rows)
    return out.getvalue()


def no_formula(cell: Any) -> Any:
    """Return a cell with an apostrophe before a text that a spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def flat(table: Table) -> tuple[list[str], Iterator[list[Any]]]:
    """Return the heads and the raw rows of a table, an interval as two columns."""
    heads: list[str] = []
    for column in table.columns:
        is_interval = "interval" in column.kind
        ends = (f"{column.name}_low", f"{column.name}_high")
        heads += ends if is_interval else (column.name,)

    def cells(row: Sequence[Cell]) -> Iterator[Any]:
        for column, cell in zip(table.columns, row, strict=True):
            if "interval" in column.kind:
                yield from cell or (None, None)  # type: ignore[misc]
            else:
                yield cell

    return heads, ([*cells(row)] for row in table.rows)


def below(tables: Sequence[Table]) -> Table:
    """Return the rows of tables below each other; cells of columns that a table lacks are None."""
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    rows = [
        [dict(zip(table.columns, row, strict=True)).get(column) for column in columns]
        for table in tables
        for row in table.rows
    ]
    return Table(tables[0].title if tables else "", columns, rows)


def in_markdown(tables: Iterable[Table]) -> str:
    """Return tables in Markdown, each under its title."""
    return _joined(map(_markdown, tables))


def _markdown(table: Table) -> Iterator[str]:
    if table.title:
        yield f"### {table.title.translate(_MARKDOWN)}"
    if table.columns:
        yield from [""] * bool(table.title)
        yield f"| {' | '.join(head.translate(_MARKDOWN) for head in table.heads())} |"
        yield f"|{''.join(' --- |' if column.is_text else ' ---: |' for column in table.columns)}"
    for k, row in enumerate(table.cells()):
        cells = [cell.translate(_MARKDOWN) for cell in row]
        cells = [f"**{cell}**" if (k, at) in table.best else cell for at, cell in enumerate(cells)]
        yield f"| {' | '.join(cells)} |"
    for note in table.notes:
        yield from ("", note.translate(_MARKDOWN))


def in_latex(tables: Iterable[Table]) -> str:
    """Return tables for LaTeX with booktabs, scores in per cent; the title is a comment, notes are
    lines below.
    """
    return _joined(map(_latex, tables))


def _latex(table: Table) -> Iterator[str]:
    if table.title:
        yield f"% {printable(table.title)}"
    if table.columns:
        yield rf"\begin{{tabular}}{{{''.join('l' if c.is_text else 'r' for c in table.columns)}}}"
        yield from (
            r"\toprule",
            _latex_row(head.translate(_LATEX) for head in table.heads()),
            r"\midrule",
        )
        for k, row in enumerate(table.cells(per_cent=True)):
            cells = [cell.translate(_LATEX) for cell in row]
            yield _latex_row(
                rf"\textbf{{{cell}}}" if (k, at) in table.best else cell
                for at, cell in enumerate(cells)
            )
        yield from (r"\bottomrule", r"\end{tabular}")
    yield from (rf"\par {note.translate(_LATEX)}" for note in table.notes)


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # After the end of a row, LaTeX would take a star or a bracket for an argument.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def in_html(tables: Iterable[Table]) -> str:
    """Return tables as HTML, all text escaped; class `n` for cells of numbers, `best` for best."""
    return "\n".join(line for table in tables for line in _html(table))


def _html(table: Table) -> Iterator[str]:
    from html import escape

    def row(tag: str, cells: Sequence[str], number: int = -1) -> str:
        shown = ""
        for at, (column, cell) in enumerate(zip(table.columns, cells, strict=True)):
            names = ["n"] * (not column.is_text) + ["best"] * ((number, at) in table.best)
            attribute = f' class="{" ".join(names)}"' if names else ""
            shown += f"<{tag}{attribute}>{escape(cell)}</{tag}>"
        return f"<tr>{shown}</tr>"

    if table.title:
        yield f"<h2>{escape(table.title)}</h2>"
    if table.columns:
        yield f"<table><thead>{row('th', table.heads())}</thead><tbody>"
        yield from (row("td", cells, number) for number, cells in enumerate(table.cells()))
        yield "</tbody></table>"
    yield from (f"<p>{escape(note)}</p>" for note in table.notes)


FORMS: Mapping[str, Callable[[Iterable[Table]], str]] = {
    "table": in_text,
    "markdown": in_markdown,
    "latex": in_latex,
    "html": in_html,
}
"""How tables are written for reading; `in_csv` and `frame` are for programs."""


def json_document(kind: str, content: Mapping[str, Any], schema: int = SCHEMA) -> str:
    """Return the JSON of a command; names of files need not be Unicode."""
    head = {"schema": schema, "tool": "evaltex", "version": __version__, "kind": kind}
    text = json.dumps({**head, **content}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "replace").decode()


def frame(table: Table) -> DataFrame:
    """Return a table as a data frame, an interval as two columns.

    Raises
    ------
    ConfigError
        When pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise ConfigError(
            "pandas is not installed; to_pandas() needs it: pip install pandas"
        ) from error
    heads, rows = flat(table)
    columns = list(zip(*rows, strict=True)) or [()] * len(heads)
    return pandas.DataFrame(
        {head: list(column) for head, column in zip(heads, columns, strict=True)}
    )
