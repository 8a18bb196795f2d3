"""Where the items of JSON values begin, found by passing over their bytes
without making values of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from evaltex_cli.errors import Position, Steps
from evaltex_cli.records import Ints

_CHUNK = 1 << 18
"""Bytes that are looked at together, which bounds the memory."""
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BLANKS = re.compile(rb"[ \t\n\r]*+")
_BOM = b"\xef\xbb\xbf"
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


def positions(data: bytes, wanted: Collection[Steps]) -> dict[Steps, Position]:
    """Return where values of a document in JSON begin; for one that is
    missing, what it is missing from.
    """
    data = data.removeprefix(_BOM)
    ways: dict[str | int, Any] = {}
    for steps in wanted:
        way = ways
        for step in steps:
            way = way.setdefault(step, {})
    starts: dict[Steps, int] = {}
    _pass(memoryview(data), 0, ways, (), starts)
    places: dict[Steps, Position] = {}
    line, column, last = 1, 1, 0
    for steps, start in sorted(starts.items(), key=lambda item: item[1]):
        lines = data.count(b"\n", last, start)
        if lines:
            line, column, last = line + lines, 1, data.rindex(b"\n", last, start) + 1
        column += len(data[last:start].decode("utf-8", "replace"))
        places[steps] = Position(line, column)
        last = start
    return {
        steps: next(places[steps[:k]] for k in range(len(steps), -1, -1) if steps[:k] in places)
        for steps in wanted
    }


def _pass(
    data: memoryview, base: int, ways: dict[str | int, Any], here: Steps, starts: dict[Steps, int]
) -> None:
    """Note where the value that these bytes are begins, and those in it that these ways lead to."""
    start = after_blanks(data, 0)
    if start == len(data):
        return  # between the brackets of an empty list
    starts[here] = base + start
    if not ways or data[start] not in b"{[":
        return
    ends = np.concatenate(
        [
            np.array([start], np.int64),
            *(separator + start for separator in separators(data[start:])),
        ]
    )
    for step, begin, end in (
        _keyed(data, ends) if data[start] == ord("{") else _numbered(ends, ways)
    ):
        if step in ways:
            _pass(data[begin:end], base + begin, ways[step], (*here, step), starts)


def _numbered(ends: Ints, ways: Collection[str | int]) -> Iterator[tuple[int, int, int]]:
    """Yield the index, begin and end of the items of a list that these ways lead to."""
    for k in sorted(step for step in ways if isinstance(step, int) and step < len(ends) - 1):
        yield k, int(ends[k]) + 1, int(ends[k + 1])


def _keyed(data: memoryview, ends: Ints) -> Iterator[tuple[str, int, int]]:
    """Yield the key of every item of an object, and where its value begins and ends."""
    listed = ends.tolist()
    for before, end in pairwise(listed):
        key = _STRING.search(data, before, end)
        if key:
            yield json.loads(key[0]), after_blanks(data, key.end()) + 1, end


def after_blanks(data: memoryview, start: int) -> int:
    """Return where the first byte is, from a place on, that is no blank."""
    blanks = _BLANKS.match(data, start)
    return blanks.end() if blanks else start
