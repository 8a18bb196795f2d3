"""What the outputs of commands share: printable names, p-values and the head of the JSON."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

from evaltex_cli.version import __version__

SCHEMA = 1
JsonObject: TypeAlias = dict[str, Any]
"""An object of a JSON document that is read or is to be written."""


def printable(text: str) -> str:
    """Return a text with question marks for what a terminal might take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in text)


def shown_p(p: float | None, is_bound: bool = False) -> str:
    """Return a p-value for reading; one that is a bound, the smallest that
    can be resolved, with a less-than sign.
    """
    if p is None:
        return "-"
    if is_bound or p < 0.001:
        return f"<{math.floor(1000 * p) / 1000 + 0.001:.3f}"
    return f"{p:.4f}"


def json_document(kind: str, content: JsonObject, schema: int = SCHEMA) -> str:
    """Return a JSON document of a kind; `schema` is the version of its layout."""
    head = {"schema": schema, "tool": "evaltex", "version": __version__, "kind": kind}
    return json.dumps(head | content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
