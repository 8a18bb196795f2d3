"""What the outputs of `compare`, `diagnose` and `validate` share: aligned columns, printable names, the JSON's head."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from evaltex_cli.version import __version__

SCHEMA = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1)
BLOCK = 1 << 16
"""Characters that are written at once."""


def aligned(rows: Sequence[Sequence[str]], texts: Collection[int] | None = None) -> Iterator[str]:
    """Yield rows of cells as lines, columns of text to the left and of numbers to the right.

    Parameters
    ----------
    rows : sequence of sequence of str
        Of as many cells each.
    texts : collection of int, optional
        The columns of text; all by default.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if texts is None or k in texts else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def printable(text: str) -> str:
    """Return a text with question marks for what a terminal might take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in text)


def shown_p(p: float | None, is_bound: bool = False) -> str:
    """Return a p-value for reading; one that is a bound, the smallest that can be resolved, with a less-than sign."""
    if p is None:
        return "-"
    if is_bound or p < 0.001:
        return f"<{math.floor(1000 * p) / 1000 + 0.001:.3f}"
    return f"{p:.4f}"


def json_document(kind: str, content: dict[str, Any]) -> str:
    """Return a JSON document of a kind."""
    return "".join(json_pieces(kind, content))


def json_pieces(kind: str, content: dict[str, Any]) -> Iterator[str]:
    """Yield a JSON document of a kind in pieces; iterators in it are lists whose elements are made one by one."""
    head = {"schema": SCHEMA, "tool": "evaltex", "version": __version__, "kind": kind}
    block, size = [], 0
    for piece in _pieces(head | content, "\n"):
        block.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield "".join(block)
            block, size = [], 0
    yield "".join(block) + "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:
    """A value as `json.dumps` writes it with an indent of 1, in lines that begin with `line`."""
    inner = line + " "
    if isinstance(value, dict) and any(isinstance(one, Iterator) for one in value.values()):
        for k, (key, one) in enumerate(value.items()):
            yield f"{',' if k else '{'}{inner}{json.dumps(key, ensure_ascii=False)}: "
            yield from _pieces(one, inner)
        yield line + "}"
    elif isinstance(value, Iterator):
        mark = "["
        for one in value:
            yield mark + inner
            yield from _pieces(one, inner)
            mark = ","
        yield "[]" if mark == "[" else line + "]"
    else:
        yield _ENCODER.encode(value).replace("\n", line)
