"""JSON without its surprises: what does not fit the type of its place is a fault that names the place.

A document is opened one level at a time: its items stay bytes (`msgspec.Raw`) until `take` decodes each by its type.
If msgspec does not take the document, Python's parser says where it is damaged, or reads what is beyond JSON (NaN, lone
surrogates) into values of Python; then the items are these. Of a key that an object has twice, the last value counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Raw

from evaltex_cli.errors import FormatError, Position, Steps, not_utf8, quote
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT

MOST_OF_EACH = ((b"{", "objects", 200_000, 16), (b"[", "lists", 500_000, 8))
"""How many of each a document may have, and how many bytes must come with each more: annotations have several times
as many bytes, and what Python makes of denser documents takes over 20 times their size."""
Item: TypeAlias = Any
"""A value of a document: `Raw`, or what Python makes of it."""
Record: TypeAlias = dict[str, Item]
Number = Annotated[float, Meta(ge=-COORDINATE_LIMIT, le=COORDINATE_LIMIT)]
WholeNumber = Annotated[int, Meta(gt=-(10**18), lt=10**18)]
Confidence = Annotated[float, Meta(ge=0, le=1)] | None
AnyConfidence = Number | None
"""Of any scale, which `parsed.settle_confidences` decides over all objects of a document."""
Identifier = int | str
Vertices = list[tuple[Number, Number]]

_SHALLOW = msgspec.json.Decoder(dict[str, Raw] | list[Raw])
_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*+")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_EXPECTED = (
    (r"`float.*` (?:<= 1\.0|>= 0\.0)", "a confidence in [0, 1]"),
    (r"`float|out of range", "a finite number (at most 1e12 in magnitude)"),
    (r"`int \| str", "an ID: a whole number or a string"),
    (r"`int", "a whole number (of at most 18 digits)"),
    (r"`str", "a string"),
    (r"`object \| array", "a list of polygons [[x1,y1,...]]"),
    (r"`array` of length 2", "a vertex [x, y]"),
    (r"`object", "an object {...}"),
)
"""What msgspec says of a value that does not fit, and what messages say that is expected."""


def parse(data: bytes) -> Item:
    """Open a document.

    Returns
    -------
    dict or list of items

    Raises
    ------
    FormatError
        When it is not UTF-8, no well-formed JSON, too deeply nested, or hardly anything but brackets.
    """
    for bracket, what, few, size in MOST_OF_EACH:
        if data.count(bracket) > few + len(data) // size:
            raise FormatError(f"more than {few} {what}, with fewer than {size} bytes for each", "annotations")
    try:
        if not data.isascii():
            data.decode()
        return _SHALLOW.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=Position(line)) from error
    except (msgspec.DecodeError, RecursionError):
        return _by_python(data.decode("utf-8-sig"))


def _by_python(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno}"
        raise FormatError(found, "one well-formed JSON document", at=Position(error.lineno, error.colno)) from error
    except RecursionError as error:
        raise FormatError("too deep a nesting", "the nesting of an annotation") from error
    except ValueError as error:
        raise FormatError("a number of thousands of digits", "numbers of at most 1e12 in magnitude") from error


def opened(item: Item) -> Item:
    """Return an object or a list whose own items may be bytes still; anything else as it is."""
    try:
        return _SHALLOW.decode(item) if isinstance(item, Raw) else item
    except msgspec.ValidationError:
        return item


def plain(item: Item) -> Any:
    """Return the value of an item."""
    return _by_python(bytes(item)) if isinstance(item, Raw) else item


def take(item: Item, kind: Any, *where: str | int) -> Any:
    """Return an item decoded by a type; raises `FormatError` if it does not fit. `where` leads to the item."""
    try:
        return _decoder(kind).decode(item) if isinstance(item, Raw) else msgspec.convert(item, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), plain(item), where) from None
    except UnicodeEncodeError as error:
        raise FormatError("half of a surrogate pair", "Unicode text", where) from error


@lru_cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _explained(message: str, value: Any, before: Steps) -> FormatError:
    """Return what is wrong with the value of an item, from the message of msgspec and its path to the place."""
    problem, _, path = message.partition(" - at `$")
    problem = problem.partition(", got")[0]
    path = path.partition("[...]")[0]  # a key of an object that may have any: msgspec does not say which
    where: Steps = tuple(name or int(index) for name, index in _STEP.findall(path)) if path else ()
    for step in where:
        value = value[step]
    missing = _MISSING.match(problem)
    if missing:
        error = no_key(value, missing[1])
        error.where = (*before, *where)
        return error
    expected = _expected(problem)
    if expected == "a list [...]" and where and isinstance(where[-1], int):
        expected = "a polygon [x1,y1,...]" if where[0] == "segmentation" else "a vertex [x, y]"
    return FormatError(shown(value), expected, (*before, *where))


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


@lru_cache
def _expected(problem: str) -> str:
    return next((expected for said, expected in _EXPECTED if re.search(said, problem)), "a list [...]")


def shown(value: Item) -> str:
    """Return a value of a document fit for a message."""
    try:
        value = plain(value)
    except FormatError as error:
        return error.found
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return quote(value)
    return quote(json.dumps(value))[1:-1]


def record(item: Item) -> Record:
    """Return an object; raises `FormatError` for anything else."""
    value = opened(item)
    if not isinstance(value, dict):
        raise FormatError(shown(value), "an object {...}")
    return value


def has_key(item: Item, key: str) -> bool:
    """Whether an item is an object with a key."""
    value = opened(item)
    return isinstance(value, dict) and key in value


def no_key(value: Item, key: str) -> FormatError:
    """Return the fault of an object that lacks a key."""
    beside = ", ".join(quote(other) for other in list(opened(value))[:6])
    return FormatError(f"no key {quote(key)}", f"it beside {beside}" if beside else "it")


def needed(record: Record, key: str) -> Item:
    """Return the item of a key; raises `FormatError` if there is none."""
    if key not in record:
        raise no_key(record, key)
    return record[key]


def flag(item: Any, key: str) -> bool:
    """Return true or false, 1 or 0, under a key of an object; false for null."""
    if item is None or item is False or item is True or (type(item) is int and item in (0, 1)):
        return bool(item)
    raise FormatError(shown(item), "true or false", (key,))


def field(record: Record, key: str, kind: Any, default: Any = None) -> Any:
    """Return the item of a key by its type, the default if it is missing or null; raises `FormatError`."""
    if key not in record:
        return default
    value = take(record[key], kind, key)
    return default if value is None else value


def items(record: Record, key: str) -> list[Item]:
    """Return a list under a key; raises `FormatError` where there is none."""
    value = opened(needed(record, key))
    if not isinstance(value, list):
        raise FormatError(shown(value), "a list [...]", (key,))
    return value


def records(item: Record, key: str) -> Record:
    """Return an object under a key; raises `FormatError` where there is none."""
    value = needed(item, key)
    with under(key):
        return record(value)


def identifier(record: Record, key: str) -> str:
    """Return an ID, a whole number or a string, as a string."""
    return str(take(needed(record, key), Identifier, key))


def flat(vertices: Vertices) -> list[float]:
    """Return x1, y1, x2, y2, ... of vertices."""
    return [value for vertex in vertices for value in vertex]


@contextmanager
def under(*where: str | int) -> Iterator[None]:
    """Say of any `FormatError` raised inside that it is about the value these keys and indices lead to."""
    try:
        yield
    except FormatError as error:
        error.where = (*where, *error.where)
        raise
