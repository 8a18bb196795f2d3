"""JSON without its surprises: repeated keys, numbers that are none and wrong types are faults that name their place."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from evaltex_cli.errors import FormatError, Position, Steps, not_utf8, quote
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT

MOST_OF_EACH = ((b"{", "objects", 200_000, 16), (b"[", "lists", 500_000, 8))
"""How many of each a document may have, and how many bytes must come with each more: annotations have several times
as many bytes, and what Python makes of denser documents takes over 20 times their size."""
Record = dict[str, Any]
_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*+")


class _Repeating(dict[str, Any]):
    """An object of a document that has one key more than once."""

    repeated: str


def parse(data: bytes) -> Any:
    """Parse a document.

    Raises
    ------
    FormatError
        When it is not UTF-8, no well-formed JSON, too deeply nested, has an object with a key twice, or hardly anything
        but brackets.
    """
    for bracket, what, few, size in MOST_OF_EACH:
        if data.count(bracket) > few + len(data) // size:
            raise FormatError(f"more than {few} {what}, with fewer than {size} bytes for each", "annotations")
    repeating: list[_Repeating] = []

    def record(pairs: list[tuple[str, Any]]) -> Record:
        found = dict(pairs)
        if len(found) == len(pairs) or repeating:
            return found
        again = _Repeating(found)
        again.repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        repeating.append(again)
        return again

    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=record)
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=Position(line)) from error
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno}"
        raise FormatError(found, "one well-formed JSON document", at=Position(error.lineno, error.colno)) from error
    except RecursionError as error:
        raise FormatError("too deep a nesting", "the nesting of an annotation") from error
    except ValueError as error:
        raise FormatError("a number of thousands of digits", "numbers of at most 1e12 in magnitude") from error
    if repeating:
        raise FormatError(f"key {quote(repeating[0].repeated)} twice", "keys used once", _path_to(repeating[0], value))
    return value


def _path_to(wanted: _Repeating, value: Any) -> Steps:
    pending: list[tuple[Steps, Any]] = [((), value)]
    while pending:
        where, value = pending.pop()
        if value is wanted:
            return where
        if isinstance(value, dict):
            pending.extend(((*where, key), item) for key, item in value.items())
        elif isinstance(value, list):
            pending.extend(((*where, k), item) for k, item in enumerate(value))
    return ()


def positions(data: bytes, wanted: Collection[Steps]) -> dict[Steps, Position]:
    """Return where values of a document that `parse` has read begin; for one that is missing, what it is missing from.

    Everything else is only passed over, at the speed of `parse`.
    """
    text = data.decode("utf-8-sig", "replace")
    ways: dict[str | int, Any] = {}
    for steps in wanted:
        way = ways
        for step in steps:
            way = way.setdefault(step, {})
    starts: dict[Steps, int] = {}
    _pass(text, _after_blanks(text, 0), ways, (), starts)
    found: dict[Steps, Position] = {}
    line, line_start, last = 1, 0, 0
    for steps, start in sorted(starts.items(), key=lambda item: item[1]):
        line += text.count("\n", last, start)
        line_start = text.rfind("\n", 0, start) + 1
        found[steps], last = Position(line, start - line_start + 1), start
    return {steps: next(found[steps[:k]] for k in range(len(steps), -1, -1) if steps[:k] in found) for steps in wanted}


def _pass(text: str, start: int, ways: dict[str | int, Any], here: Steps, starts: dict[Steps, int]) -> int:
    """Note where the value that begins at `start`, and those that these ways lead to, begin; return where it ends."""
    starts[here] = start
    if not ways or text[start] not in "{[":
        return _end(text, start)
    in_object, number = text[start] == "{", 0
    at = _after_blanks(text, start + 1)
    while text[at] not in "}]":
        step: str | int = number
        if in_object:
            step, at = _DECODER.raw_decode(text, at)
            at = _after_blanks(text, _after_blanks(text, at) + 1)
        at = _pass(text, at, ways[step], (*here, step), starts) if step in ways else _end(text, at)
        at, number = _after_blanks(text, at), number + 1
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
    return at + 1


def _end(text: str, start: int) -> int:
    return _DECODER.raw_decode(text, start)[1]


def _after_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def shown(value: Any) -> str:
    """Return a value of a document fit for a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return quote(value)
    return quote(json.dumps(value))[1:-1]


def record(value: Any) -> Record:
    """Return an object; raises `FormatError` for anything else."""
    if not isinstance(value, dict):
        raise FormatError(shown(value), "an object {...}")
    return value


def needed(record: Record, key: str) -> Any:
    """Return the value of a key; raises `FormatError` where there is none."""
    if key not in record:
        beside = ", ".join(quote(other) for other in list(record)[:6])
        raise FormatError(f"no key {quote(key)}", f"it beside {beside}" if beside else "it")
    return record[key]


def items(record: Record, key: str, optional: bool = False) -> list[Any]:
    """Return a list under a key; raises `FormatError` where there is none."""
    value = record.get(key) if optional else needed(record, key)
    if value is None and optional:
        return []
    if not isinstance(value, list):
        raise FormatError(shown(value), "a list [...]", (key,))
    return value


def records(record: Record, key: str) -> Record:
    """Return an object under a key; raises `FormatError` where there is none."""
    value = needed(record, key)
    if not isinstance(value, dict):
        raise FormatError(shown(value), "an object {...}", (key,))
    return value


def text(record: Record, *keys: str) -> str:
    """Return the string under the first of some keys that is there and not null, or nothing."""
    for key in keys:
        value = record.get(key)
        if value is not None:
            if not isinstance(value, str):
                raise FormatError(shown(value), "a string", (key,))
            return value
    return ""


def flag(record: Record, key: str, default: bool = False) -> bool:
    """Return true or false, 1 or 0, or the default where it is missing or null."""
    value = record.get(key)
    if value is None:
        return default
    if value is True or value is False or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise FormatError(shown(value), "true or false", (key,))


def number(record: Record, key: str, default: float | None = None) -> float:
    """Return a finite number of at most 1e12 in magnitude; the default where it is missing or null."""
    value = record.get(key)
    if value is None and default is not None:
        return default
    return numbers([needed(record, key)], (key,), indexed=False)[0]


def confidence(record: Record, *keys: str) -> float:
    """Return the number in [0, 1] under the first of some keys that is there; NaN where none is."""
    for key in keys:
        if record.get(key) is not None:
            value = number(record, key)
            if not 0 <= value <= 1:
                raise FormatError(shown(record[key]), "a confidence in [0, 1]", (key,))
            return value
    return math.nan


def whole_number(record: Record, key: str) -> int:
    """Return a whole number of at most 18 digits."""
    value = needed(record, key)
    if type(value) is not int or abs(value) >= 10**18:
        raise FormatError(shown(value), "a whole number (of at most 18 digits)", (key,))
    return value


def identifier(record: Record, key: str) -> str:
    """Return an ID, a whole number or a string, as a string."""
    value = needed(record, key)
    if type(value) is not int and not isinstance(value, str):
        raise FormatError(shown(value), "an ID: a whole number or a string", (key,))
    return value if isinstance(value, str) else str(value)


def numbers(values: list[Any], where: Steps, indexed: bool = True) -> list[float]:
    """Return finite numbers of at most 1e12 in magnitude; raises `FormatError` for the first that is none."""
    try:
        if set(map(type, values)) <= {int, float} and math.fsum(map(abs, values)) <= COORDINATE_LIMIT:
            return values
    except (OverflowError, ValueError):
        pass
    for k, value in enumerate(values):
        if type(value) not in (int, float) or not abs(value) <= COORDINATE_LIMIT:
            expected = "a finite number (at most 1e12 in magnitude)"
            raise FormatError(shown(value), expected, (*where, k) if indexed else where)
    return values


def vertices(record: Record, key: str) -> list[float]:
    """Return x1, y1, x2, y2, ... of a list ``[[x, y], ...]``."""
    pairs = items(record, key)
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise FormatError(shown(pair), "a vertex [x, y]", (key, k))
    flat = [value for pair in pairs for value in pair]
    try:
        return numbers(flat, (), indexed=True)
    except FormatError as error:
        at = error.where[-1]
        assert isinstance(at, int)
        raise FormatError(error.found, error.expected, (key, at // 2, at % 2)) from None


@contextmanager
def under(*where: str | int) -> Iterator[None]:
    """Say of any `FormatError` raised inside that it is about the value these keys and indices lead to."""
    try:
        yield
    except FormatError as error:
        error.where = (*where, *error.where)
        raise
