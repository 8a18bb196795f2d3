"""What a terminal shows: how wide a text is there, tables that fit it, and colours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

COLUMNS = 80
LEAST_TEXT = 8
"""Columns that a text keeps, however narrow the screen is."""
GAP = "  "
UNDEFINED = "–"
MORE = "…"
_COLORS = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_STYLE = r"\x1b\[\d*m"


class Screen(NamedTuple):
    """How many columns a terminal has, and whether colours are wanted;
    without a terminal, 80 and none.
    """

    columns: int = COLUMNS
    has_color: bool = False

    def paint(self, text: str, color: str) -> str:
        """Return a text in one of `_COLORS`, or as it is where none are wanted."""
        return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if self.has_color and text.strip() else text

    def wrapped(self, text: str, indent: str = "") -> Iterator[str]:
        """Yield a sentence as lines that fit; all but the first begin with
        the indent. Blanks before it stay.
        """
        first, *words = text.lstrip(" ").split(" ")
        line = text[: len(text) - len(text.lstrip(" "))] + first
        for word in words:
            longer = f"{line} {word}"
            if width(longer) > self.columns:
                yield line
                longer = indent + word
            line = longer
        yield line


def width(text: str) -> int:
    """Return how many columns a text has on a terminal: two for a wide
    character, none for one that joins another.
    """
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(map(_width_of_character, re.sub(_STYLE, "", text)))


def _width_of_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """Return a text without its middle if it has more than so many columns;
    names often differ at the end.
    """
    if width(text) <= columns:
        return text
    head = _beginning(text, (columns - 1) // 2)
    tail = _beginning(text[::-1], columns - 1 - width(head))[::-1]
    return f"{head}{MORE}{tail}"


def _beginning(text: str, columns: int) -> str:
    used = 0
    for k, character in enumerate(text):
        used += _width_of_character(character)
        if used > columns:
            return text[:k]
    return text


def short_names(names: Sequence[str], columns: int) -> tuple[list[str], list[str]]:
    """Return names of at most so many columns, and lines that explain them: numbers, if a name is
    longer, and what is left of the names without the ending that all have.
    """
    if all(width(name) <= columns for name in names):
        return list(names), []
    digits = len(str(len(names)))
    endings = {PurePath(name).suffix for name in names}
    ending = endings.pop() if len(endings) == 1 else ""
    short = [
        cut(f"{k:{digits}} {name.removesuffix(ending)}", columns) for k, name in enumerate(names, 1)
    ]
    return short, [f"{k:{digits}} = {name}" for k, name in enumerate(names, 1)]


def padded(text: str, columns: int, is_text: bool) -> str:
    """Return a cell as wide as its column: a text to the left of it, a number to the right."""
    space = " " * (columns - width(text))
    return text + space if is_text else space + text


def aligned(rows: Sequence[Sequence[str]], texts: Collection[int] | None = None) -> Iterator[str]:
    """Yield rows of cells as lines, columns of text to the left and of numbers to the right.

    Each row has as many cells; `texts` are the columns of text, all by default.
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            padded(cell, columns, texts is None or k in texts)
            for k, (cell, columns) in enumerate(zip(row, widths, strict=True))
        )
        yield GAP.join(cells).rstrip()


def fitted(
    rows: Sequence[Sequence[str]], columns: int, texts: Collection[int] = (0,)
) -> Iterator[str]:
    """Yield rows as `aligned`; columns beyond the screen come below, after the first column again.

    The first row is the head. A row that has nothing but its first cell in such a block is left out
    of it, unless all columns fit.
    """
    blocks = list(_blocks(rows, columns))
    for k, block in enumerate(blocks):
        if k:
            yield ""
        shown = [[row[column] for column in block] for row in rows]
        if len(blocks) > 1:
            shown = [shown[0], *(row for row in shown[1:] if any(cell.strip() for cell in row[1:]))]
        yield from aligned(shown, [at for at, column in enumerate(block) if column in texts])


def narrowed(
    rows: Sequence[Sequence[str]], columns: int, texts: Collection[int]
) -> list[list[str]]:
    """Return rows whose widest columns of text are cut until all columns fit."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    while sum(widths) + len(GAP) * (len(widths) - 1) > columns:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= LEAST_TEXT:
            break
        widths[widest] -= 1
    return [
        [cut(cell, widths[k]) if k in texts else cell for k, cell in enumerate(row)] for row in rows
    ]


def _blocks(rows: Sequence[Sequence[str]], columns: int) -> Iterator[list[int]]:
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    block, used = [0], widths[0]
    for k in range(1, len(widths)):
        if used + len(GAP) + widths[k] > columns and len(block) > 1:
            yield block
            block, used = [0], widths[0]
        block.append(k)
        used += len(GAP) + widths[k]
    yield block


def shown_score(value: float | None) -> str:
    """Return a score for reading: four decimals, or a count as it is."""
    if value is None:
        return UNDEFINED
    return (
        str(value)
        if isinstance(value, int)
        else f"{value:.4f}"
        if abs(value) < 1000
        else f"{value:g}"
    )


def shown_interval(interval: tuple[float, float] | None, sign: str = "") -> str:
    """Return an interval in brackets."""
    if interval is None:
        return f"[{UNDEFINED}]"
    ends = (f"{end:{sign}.4f}" if abs(end) <= 1 else f"{end:{sign}.4g}" for end in interval)
    return f"[{', '.join(ends)}]"


def short_interval(interval: tuple[float, float] | None) -> str:
    """Return an interval with its decimals and no zeros before them, for tables with several."""
    return re.sub(r"\b0(?=\.)|(?<=1\.000)0", "", shown_interval(interval))


def per_cent(level: float) -> str:
    """Return the level of intervals for reading."""
    return f"{100 * level:g}%"


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text that ends with a line break."""
    return "".join(f"{line}\n" for line in lines)
