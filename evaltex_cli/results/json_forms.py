"""Forms of JSON values: what checks that a value has one, and decodes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evaltex_cli.errors import Steps, inside, quote
from evaltex_cli.results.text_tables import JsonObject

_BEYOND = 1e100
"""Larger than any sum of areas: coordinates are limited."""
MISSING = object()
"""In place of a value that a document does not have."""
Decoder: TypeAlias = Callable[[Any], Any]
"""Returns a value that has the right form, as a record if there is one for
it; raises `Unfit` for any other.
"""


class Unfit(Exception):
    """A value that does not have the right form: what was found, what was
    expected, and the steps that lead to it.
    """

    def __init__(self, found: Any, expected: str, where: Steps = ()) -> None:
        self.found, self.expected, self.where = found, expected, where

    def within(self, *steps: str | int) -> Unfit:
        """Return the same fault, seen from outer parts of the document."""
        return Unfit(self.found, self.expected, (*steps, *self.where))

    def __str__(self) -> str:
        place = inside(self.where).removesuffix(": ")
        if self.found is MISSING:
            return f"{place} is missing"
        kinds: dict[type, Callable[[Any], str]] = {
            list: lambda _: "a list",
            dict: lambda _: "an object",
            str: quote,
        }
        shown = kinds.get(type(self.found), lambda value: json.dumps(value)[:80])(self.found)
        return f"{place} is {shown}, expected {self.expected}"


def such(is_fit: Callable[[Any], bool], expected: str) -> Decoder:
    """Return a decoder of values that pass a test."""

    def decode(value: Any) -> Any:
        if not is_fit(value):
            raise Unfit(value, expected)
        return value

    return decode


def is_number(value: Any) -> bool:
    """Whether a value is a number of a size that a result may have; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _BEYOND


def number_or_null(value: Any) -> Any:
    """Decode a number, or null."""
    if value is None or is_number(value):
        return value
    raise Unfit(value, "a number or null")


TEXT = such(lambda value: isinstance(value, str), "a text")
NUMBER = such(is_number, "a number")
COUNT = such(
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "a number of things",
)
BOOLEAN = such(lambda value: isinstance(value, bool), "true or false")
PLAIN = such(
    lambda value: isinstance(value, str | bool) or is_number(value),
    "a text, a number, true or false",
)


def list_of(value: Any, decode: Decoder) -> list[Any]:
    """Decode a list of elements of one form."""
    if not isinstance(value, list):
        raise Unfit(value, "a list")
    decoded = []
    for k, one in enumerate(value):
        try:
            decoded.append(decode(one))
        except Unfit as fault:
            raise fault.within(k) from None
    return decoded


def object_of(value: Any, decode: Decoder) -> JsonObject:
    """Decode an object with values of one form."""
    if not isinstance(value, dict):
        raise Unfit(value, "an object")
    decoded = {}
    for name, one in value.items():
        try:
            decoded[name] = decode(one)
        except Unfit as fault:
            raise fault.within(name) from None
    return decoded


def member(value: Any, name: str, decode: Decoder) -> Any:
    """Decode what an object has under a name."""
    if not isinstance(value, dict):
        raise Unfit(value, "an object")
    try:
        return decode(value.get(name, MISSING))
    except Unfit as fault:
        raise fault.within(name) from None


def record(of_type: Callable[..., Any], members: Mapping[str, Decoder]) -> Decoder:
    """Return a decoder of objects with these members, which become a record."""
    return lambda value: of_type(
        **{name: member(value, name, decode) for name, decode in members.items()}
    )


def optional(decode: Decoder, default: Any = None) -> Decoder:
    """Return a decoder of values that may be missing."""
    return lambda value: default if value is MISSING else decode(value)
