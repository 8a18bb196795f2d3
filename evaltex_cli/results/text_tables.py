"""What the outputs of commands share: printable names, p-values, the head of
the JSON and its pieces.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from json.encoder import encode_basestring
from types import GeneratorType
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
    return "".join(json_pieces(kind, content, schema))


def json_pieces(kind: str, content: JsonObject, schema: int = SCHEMA) -> Iterator[str]:
    """Yield a JSON document of a kind in pieces; generators in it are lists
    whose elements are made one by one.
    """
    head = {"schema": schema, "tool": "evaltex", "version": __version__, "kind": kind}
    yield from _pieces(head | content, "\n")
    yield "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:
    """A value as `json.dumps` writes it with an indent of 1, in lines that begin with `line`."""
    inner = line + " "
    if isinstance(value, dict) and any(isinstance(one, GeneratorType) for one in value.values()):
        for k, (key, one) in enumerate(value.items()):
            yield f"{',' if k else '{'}{inner}{encode_basestring(key)}: "
            yield from _pieces(one, inner)
        yield line + "}"
    elif isinstance(value, GeneratorType):
        mark = "["
        for one in value:
            yield mark + inner
            yield from _pieces(one, inner)
            mark = ","
        yield "[]" if mark == "[" else line + "]"
    else:
        # No string of JSON has a line break in it.
        yield json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).replace("\n", line)
