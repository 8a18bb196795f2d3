"""What the outputs of `compare`, `diagnose` and `validate` share: aligned columns, printable names, the JSON's head."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from evaltex_cli import __version__

SCHEMA = 1


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


def json_document(kind: str, content: dict[str, Any]) -> str:
    """Return a JSON document of a kind."""
    head = {"schema": SCHEMA, "tool": "evaltex", "version": __version__, "kind": kind}
    return json.dumps(head | content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
