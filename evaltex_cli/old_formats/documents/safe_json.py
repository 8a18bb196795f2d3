"""JSON without its surprises: what does not fit the type of its place is a fault that names the
place.

A document is opened one level at a time: its items stay bytes (`msgspec.Raw`) until `take` decodes
each by its type. If msgspec does not take the document, Python's parser says where it is damaged,
or reads what is beyond JSON (NaN, lone surrogates) into values of Python; then the items are these.
Of a key that an object has twice, the last value counts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Annotated, Any, TypeAlias, TypeGuard

import msgspec
from msgspec import Meta, Raw

from evaltex_cli.errors import FormatError, Steps, not_utf8, quote
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT

Item: TypeAlias = Any
"""A value of a document: `Raw`, or what Python makes of it."""
Record: TypeAlias = Mapping[str, Item]
Number = Annotated[float, Meta(ge=-COORDINATE_LIMIT, le=COORDINATE_LIMIT)]
WholeNumber = Annotated[int, Meta(gt=-(10**18), lt=10**18)]
Confidence = Annotated[float, Meta(ge=0, le=1)] | None
AnyConfidence = Number | None
"""Of any scale, which `parsed.settle_confidences` decides over all objects of a document."""
Identifier = int | str
Vertices = list[tuple[Number, Number]]

_SHALLOW = msgspec.json.Decoder(dict[str, Raw] | list[Raw])
_BEYOND_JSON = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(NaN)|(-?Infinity)', re.DOTALL)
_NAN, _INFINITY = b"1e99999999", b"1e9999"
"""What NaN and Infinity are read as: numbers of JSON that are out of range
too, so they are faults where it matters.
"""
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

    Raises
    ------
    FormatError
        When it is not UTF-8, no well-formed JSON, or too deeply nested.
    """
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=line) from error
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return _SHALLOW.decode(data)
    except (msgspec.DecodeError, RecursionError):
        beyond = _without_nan(data)
        if beyond is not None:
            with suppress(msgspec.DecodeError, RecursionError):
                return _SHALLOW.decode(beyond)
        return _by_python(data)


def is_list(value: Item) -> TypeGuard[Sequence[Item]]:
    """Whether an opened value is a list."""
    return type(value) is list


def is_object(value: Item) -> TypeGuard[Record]:
    """Whether an opened value is an object."""
    return type(value) is dict


def _without_nan(data: bytes) -> bytes | None:
    """Return a document with numbers for NaN and Infinity, which are beyond
    JSON; None if it has none.
    """
    replaced, last = bytearray(), 0
    for match in _BEYOND_JSON.finditer(data):
        if match.lastindex:
            replaced += data[last : match.start()]
            replaced += (
                _NAN if match[1] else _INFINITY if match[2][:1] == b"I" else b"-" + _INFINITY
            )
            last = match.end()
    return bytes(replaced + data[last:]) if last else None


def _by_python(data: bytes) -> Any:
    try:
        return _PYTHON.decode(data.decode(json.detect_encoding(data), "surrogatepass"))
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno}"
        raise FormatError(found, "one well-formed JSON document", at=error.lineno) from error
    except RecursionError as error:
        raise FormatError("too deep a nesting", "the nesting of an annotation") from error
    except ValueError as error:
        raise FormatError(
            "a number of thousands of digits", "numbers of at most 1e12 in magnitude"
        ) from error


def _number(text: str) -> float:
    return math.nan if text == _NAN.decode() else float(text)


_PYTHON = json.JSONDecoder(parse_float=_number)


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
    """Return an item decoded by a type; raises `FormatError` if it does not
    fit. `where` leads to the item.
    """
    try:
        return decoder(kind).decode(item) if isinstance(item, Raw) else msgspec.convert(item, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), plain(item), where) from None
    except UnicodeEncodeError as error:
        raise FormatError("half of a surrogate pair", "Unicode text", where) from error


@lru_cache
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return what decodes a type."""
    return msgspec.json.Decoder(kind)


def _explained(message: str, value: Any, before: Steps) -> FormatError:
    """Return what is wrong with the value of an item, from the message of
    msgspec and its path to the place.
    """
    problem, _, path = message.partition(" - at `$")
    problem = problem.partition(", got")[0]
    path = path.partition("[...]")[
        0
    ]  # a key of an object that may have any: msgspec does not say which
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


@lru_cache
def _expected(problem: str) -> str:
    return next(
        (expected for said, expected in _EXPECTED if re.search(said, problem)), "a list [...]"
    )


def shown(value: Item) -> str:
    """Return a value of a document fit for a message."""
    value = plain(opened(value))
    if is_object(value):
        return "an object"
    if is_list(value):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return quote(value)
    return quote(json.dumps(value))[1:-1]


def record(item: Item) -> Record:
    """Return an object; raises `FormatError` for anything else."""
    value = opened(item)
    if not is_object(value):
        raise FormatError(shown(value), "an object {...}")
    return value


def has_key(item: Item, key: str) -> bool:
    """Whether an item is an object with a key."""
    value = opened(item)
    return is_object(value) and key in value


def no_key(value: Item, key: str) -> FormatError:
    """Return the fault of an object without a key."""
    others = ", ".join(quote(other) for other in list(opened(value))[:6])
    return FormatError(f"no key {quote(key)}", f"it next to {others}" if others else "it")


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


def are_flags(items: Sequence[Any]) -> bool:
    """Whether `flag` takes all of some values."""
    return {*map(type, items)} <= {bool, int, type(None)} and {*items} <= {None, 0, 1}


def field(record: Record, key: str, kind: Any, default: Any = None) -> Any:
    """Return the item of a key by its type, the default if it is missing or
    null; raises `FormatError`.
    """
    if key not in record:
        return default
    value = take(record[key], kind, key)
    return default if value is None else value


def items(record: Record, key: str) -> Sequence[Item]:
    """Return a list under a key; raises `FormatError` where there is none."""
    item = needed(record, key)
    with under(key):
        value = opened(item)
    if not is_list(value):
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
    """Say of any `FormatError` raised inside that it is about the value these
    keys and indices lead to.
    """
    try:
        yield
    except FormatError as error:
        error.where = (*where, *error.where)
        raise
