"""The records that a user of the Python functions can look at, and how much they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from evaltex_cli.tables.record import LONGEST_REPR, Record


def reachable(value: Any, seen: set[int]) -> Iterator[Any]:
    """The records of the package that a user gets to from one, by attributes and items."""
    if id(value) in seen or isinstance(value, str | int | float | type) or value is None:
        return
    seen.add(id(value))
    if isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from reachable(one, seen)
    if type(value).__module__.startswith("evaltex_cli"):
        yield value
        names = [field.name for field in fields(value)] if is_dataclass(value) else []
        for name in names:
            yield from reachable(getattr(value, name), seen)


def assert_short(value: Any) -> int:
    """Check the `repr` and the HTML of every record within reach; return how many there are."""
    records = [one for one in reachable(value, set()) if isinstance(one, Record)]
    for one in records:
        assert len(repr(one)) <= LONGEST_REPR, type(one)
        assert one._repr_html_().startswith("<"), type(one)
    return len(records)
