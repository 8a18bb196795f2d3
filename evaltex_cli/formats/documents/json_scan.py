"""Where the items of JSON values begin, found by passing over their bytes
without making values of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from evaltex_cli.records import Ints

_CHUNK = 1 << 18
"""Bytes that are looked at together, which bounds the memory."""
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_BLANKS = re.compile(rb"[ \t\n\r]*+")
_IS_SIGN = np.zeros(256, dtype=bool)
_IS_SIGN[list(b'"{}[],')] = True
_STEP = np.zeros(256, np.int8)
"""How much deeper it is after a sign."""
_STEP[list(b"{[")], _STEP[list(b"}]")] = 1, -1


def separators(data: bytes | memoryview) -> Iterator[Ints]:
    """Yield where the commas are between the items of a list or an object,
    and its closing bracket.
    """
    depth, quotes, rest = 0, 0, b""
    for start in range(0, len(data), _CHUNK):
        chunk = rest + bytes(data[start : start + _CHUNK])
        base = start - len(rest)
        if b"\\" in chunk:
            chunk = _ESCAPE.sub(b"__", chunk)
        rest = chunk[len(chunk.removesuffix(b"\\")) :]  # half of an escape
        signs = np.frombuffer(chunk, np.uint8)
        at = np.flatnonzero(_IS_SIGN[signs])
        signs = signs[at]
        is_quote = signs == ord('"')
        before = np.cumsum(is_quote)
        outside = ~is_quote & ((before + quotes) % 2 == 0)
        at, signs = at[outside], signs[outside]
        depths = depth + np.cumsum(_STEP[signs], dtype=np.int64)
        yield (
            at[((signs == ord(",")) & (depths == 1)) | ((_STEP[signs] < 0) & (depths == 0))] + base
        )
        depth, quotes = int(depths[-1]) if len(depths) else depth, quotes + int(is_quote.sum())


def after_blanks(data: memoryview, start: int) -> int:
    """Return where the first byte is, from a place on, that is no blank."""
    blanks = _BLANKS.match(data, start)
    return blanks.end() if blanks else start
