"""Tables, which every feature makes of its figures, and the forms in which they are written: text,
CSV, Markdown, LaTeX, HTML, and data frames of pandas.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

from evaltex_cli.errors import ConfigError
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"
Cell: TypeAlias = str | int | float | tuple[float, float] | None
GAP = "  "
SCHEMA = 1
"""The version of the layout of a command's JSON, unless it has its own."""
_LATEX = {c: "\\" + c for c in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
_LATEX |= {"<": "$<$", ">": "$>$", "–": "--", "|": r"\textbar{}"}
_MARKDOWN = {c: "\\" + c for c in "\\`*_[]<>|#~"} | {"\n": " ", "\r": " "}
_for_latex = methodcaller("translate", str.maketrans(_LATEX))
_for_markdown = methodcaller("translate", str.maketrans(_MARKDOWN))
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


@dataclass(frozen=True)
class Column:
    """A column: its name, and what its cells are.

    Kinds are `text`, `number` (counts as they are, others by four decimals), `score` (a number that
    LaTeX shows in per cent), `digits` (six of them), `change` (a score with its sign), `interval`
    (low and high of a score), `change interval`, `number interval` and `p` (a p-value).
    """

    name: str
    kind: str = "text"

    def shown(self, cell: Cell, per_cent: bool = False) -> str:
        """Return a cell for reading; `per_cent` for scores as papers print them."""
        if cell is None:
            return "–"
        if isinstance(cell, tuple):
            return f"[{', '.join(self._number(end, per_cent) for end in cell)}]"
        if isinstance(cell, str):
            return printable(cell)
        if self.kind == "p" and cell < 0.001:
            return f"<{math.floor(1000 * cell) / 1000 + 0.001:.3f}"
        if self.kind == "digits":
            return f"{cell:.6f}"
        return self._number(cell, per_cent)

    def _number(self, value: float, per_cent: bool) -> str:
        # A change of nothing but rounding errors has no sign.
        sign = "+" if "change" in self.kind and abs(value) > 1e-12 else ""
        if isinstance(value, int):
            return f"{value:{sign}}"
        if per_cent and not self.kind.startswith(("number", "text", "p")) and abs(value) <= 1:
            return f"{100 * value:{sign}.1f}"
        if abs(value) >= 1000:
            return f"{value:{sign}g}"
        decimals = 3 if self == BESIDE else 4
        # Adding 0 makes -0, of a value that rounds to zero, 0.
        return f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"


BESIDE = Column("", "interval")
"""The interval of the column before it, which a text sets close to it."""


@dataclass
class Table:
    """Rows of cells under a title."""

    title: str
    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Cell]] = ()
    """Raw values, one for each column; None where undefined, (low, high) of an interval."""
    notes: Sequence[str] = ()
    """Sentences below; one that begins with a blank, such as a command, is never wrapped, and one
    that begins with a dash is an item of a list."""
    best: set[tuple[int, int]] = field(default_factory=set)
    """Row and column of cells that stand out: bold, or green on a terminal."""

    def heads(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def cells(self, per_cent: bool = False) -> list[list[str]]:
        """Return all cells for reading, row by row."""
        return [
            [column.shown(cell, per_cent) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def marked(
        self, escaped: Callable[[str], str], best: str, per_cent: bool = False
    ) -> Iterator[list[str]]:
        """Yield the rows of cells escaped for a form, whose format for the best cells is `best`."""
        for number, row in enumerate(self.cells(per_cent)):
            cells = list(map(escaped, row))
            for at, cell in enumerate(cells):
                cells[at] = best.format(cell) if (number, at) in self.best else cell
            yield cells

    def first(self, count: int) -> Table:
        """Return the table with its first rows only, and a note of how many are left out."""
        left_out = len(self.rows) - count
        if left_out <= 0:
            return self
        return replace(
            self, rows=self.rows[:count], notes=[f"... and {left_out} more", *self.notes]
        )


# Text ---------------------------------------------------------------------------------------------


def in_text(tables: Iterable[Table], width: int | None = None, has_color: bool = False) -> str:
    """Return tables for a terminal of so many columns, one below the other; whole cells if there is
    no terminal.

    The longest column of text is cut until all columns fit; if they cannot, the last columns come
    below, after the first columns of text again.
    """
    return _joined(_lines(table, width, has_color) for table in tables)


def _joined(tables: Iterable[Iterable[str]]) -> str:
    """Return the lines of tables, with an empty line between two tables."""
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in tables)


def _lines(table: Table, width: int | None, has_color: bool) -> Iterator[str]:
    if table.title:
        yield from wrapped(table.title, width)
    room = math.inf if width is None else width
    columns = [list(cells) for cells in zip(table.heads(), *table.cells(), strict=True)]
    widths = [max(map(text_width, cells)) for cells in columns]
    over = sum(widths) + len(GAP) * (len(widths) - 1) - room
    texts = [at for at, column in enumerate(table.columns) if column.kind == "text"]
    if over > 0 and texts:
        longest = max(texts, key=widths.__getitem__)
        rest = max(widths[longest] - over, room // 3)
        columns[longest] = [cut(cell, int(rest)) for cell in columns[longest]]
    shown: list[list[str]] = []
    for at, (column, cells) in enumerate(zip(table.columns, columns, strict=True)):
        if column == BESIDE:
            shown.pop()
            pairs = zip(columns[at - 1], cells, strict=True)
            cells = [f"{score} {interval}".rstrip() for score, interval in pairs]  # noqa: PLW2901
        aligned = _aligned(cells, is_left=column.kind == "text" or column == BESIDE)
        for number in range(len(table.rows)) if has_color else ():
            if (number, at) in table.best:
                aligned[number + 1] = f"\x1b[32m{aligned[number + 1]}\x1b[0m"
        shown.append(aligned)
    # What names a row: the columns of text on the left, or the first if these leave little room.
    named = next((at for at in range(len(columns)) if at not in texts), 1) or 1
    named = named if sum(widths[:named]) <= room / 2 else 1
    for k, block in enumerate(_blocks(shown, room, named)):
        yield from [""] * (k > 0)
        yield from (GAP.join(row).rstrip() for row in zip(*block, strict=True))
    for note in table.notes:
        indent = "  " if note.startswith("- ") else ""
        yield from [printable(note)] if note.startswith(" ") else wrapped(note, width, indent)


def _aligned(cells: Sequence[str], is_left: bool) -> list[str]:
    width = max(map(text_width, cells))
    blanks = (" " * (width - text_width(cell)) for cell in cells)
    return [
        cell + blank if is_left else blank + cell for cell, blank in zip(cells, blanks, strict=True)
    ]


def _blocks(columns: Sequence[list[str]], room: float, named: int) -> list[list[list[str]]]:
    """Return the columns that fit beside each other, those that name the rows in every block."""
    blocks = [list(columns[:named])]
    for column in columns[named:]:
        row = GAP.join(cells[0] for cells in (*blocks[-1], column))
        if text_width(row) > room and len(blocks[-1]) > named:
            blocks.append(list(columns[:named]))
        blocks[-1].append(column)
    return blocks


def text_width(text: str) -> int:
    """Return how many columns a text has on a terminal: two for a wide character, none for one that
    joins another.
    """
    return len(text) + sum(
        (unicodedata.east_asian_width(c) in "WF") - (unicodedata.combining(c) > 0)
        for c in text
        if not c.isascii()
    )


def cut(text: str, columns: int) -> str:
    """Return a text without its middle if it is too wide; names often differ at the end."""
    while text_width(text) > max(columns, 1):
        middle = len(text) // 2
        text = text[: middle - 1] + "…" + text[middle + 1 :]
    return text


def wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return a sentence as lines that fit; all but the first begin with the indent."""
    if width is None:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def printable(text: str) -> str:
    """Return a text with question marks for what a terminal might take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in text)


# Other forms --------------------------------------------------------------------------------------


def in_csv(table: Table) -> str:
    """Return a table at full precision; an interval has two columns, IDs are separated by blanks.

    No text of it is a formula for a spreadsheet: an apostrophe comes before it.
    """
    out, columns = io.StringIO(), flat(table)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_csv_cell, row) for row in zip(*columns.values(), strict=True))
    return out.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def flat(table: Table) -> dict[str, list[Any]]:
    """Return the columns of a table by name, raw values, an interval as two columns."""
    columns = {}
    for at, column in enumerate(table.columns):
        cells: list[Any] = [row[at] for row in table.rows]
        if "interval" in column.kind:
            columns[f"{column.name}_low"] = [cell and cell[0] for cell in cells]
            columns[f"{column.name}_high"] = [cell and cell[1] for cell in cells]
        else:
            columns[column.name] = cells
    return columns


def below(tables: Sequence[Table]) -> Table:
    """Return the rows of tables below each other; cells of columns that a table lacks are None."""
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    rows = [
        [dict(zip(table.columns, row, strict=True)).get(column) for column in columns]
        for table in tables
        for row in table.rows
    ]
    return Table("", columns, rows)


def in_markdown(tables: Iterable[Table]) -> str:
    """Return tables in Markdown, each under its title."""
    return _joined(map(_markdown, tables))


def _markdown(table: Table) -> Iterator[str]:
    if table.title:
        yield f"### {_for_markdown(table.title)}"
    if table.columns:
        yield from [""] * bool(table.title)
        yield f"| {' | '.join(map(_for_markdown, table.heads()))} |"
        yield f"|{''.join(' --- |' if c.kind == 'text' else ' ---: |' for c in table.columns)}"
    yield from (f"| {' | '.join(row)} |" for row in table.marked(_for_markdown, "**{}**"))
    for note in table.notes:
        yield from ("", _for_markdown(note))


def in_latex(tables: Iterable[Table]) -> str:
    """Return tables for LaTeX with booktabs, scores in per cent; the title is a comment, notes are
    lines below.
    """
    return _joined(map(_latex, tables))


def _latex(table: Table) -> Iterator[str]:
    if table.title:
        yield f"% {printable(table.title)}"
    if table.columns:
        kinds = "".join("l" if column.kind == "text" else "r" for column in table.columns)
        heads = " & ".join(map(_for_latex, table.heads()))
        yield from (rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", rf"{heads} \\", r"\midrule")
        for cells in table.marked(_for_latex, r"\textbf{{{}}}", per_cent=True):
            row = " & ".join(cells)
            # After the end of a row, LaTeX would take a star or a bracket for an argument.
            yield ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"
        yield from (r"\bottomrule", r"\end{tabular}")
    yield from (rf"\par {_for_latex(note)}" for note in table.notes)


def in_html(tables: Iterable[Table]) -> str:
    """Return tables as HTML, all text escaped; cells of numbers have the class `n`."""
    return "\n".join(line for table in tables for line in _html(table))


def _html(table: Table) -> Iterator[str]:
    def row(tag: str, cells: Sequence[str]) -> str:
        classes = ("" if column.kind == "text" else ' class="n"' for column in table.columns)
        pairs = zip(classes, cells, strict=True)
        return f"<tr>{''.join(f'<{tag}{kind}>{cell}</{tag}>' for kind, cell in pairs)}</tr>"

    title = escape(table.title)
    if title:
        yield f"<h3>{title}</h3>"
    if table.columns:
        # A box of its own scrolls on narrow screens, by the keyboard too.
        yield f'<div class="scroll" role="group" tabindex="0" aria-label="{title or "Table"}">'
        yield f"<table><thead>{row('th', list(map(escape, table.heads())))}</thead><tbody>"
        yield from (row("td", cells) for cells in table.marked(escape, "<strong>{}</strong>"))
        yield "</tbody></table></div>"
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
    """Return a table as a data frame, an interval as two columns; raises `ConfigError` when pandas
    is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        missing = "pandas is not installed; to_pandas() needs it: pip install pandas"
        raise ConfigError(missing) from error
    return pandas.DataFrame(flat(table))
