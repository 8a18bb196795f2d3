"""Evidence, which adds up: columns of a batch, the row of one image, or the sums of a data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.records import Ints

Count: TypeAlias = Any
"""A whole number that adds up.

(images,) int64 in a batch, int for one image or a data set; of a histogram (images, bins), and a
list of int.
"""
Sum: TypeAlias = Any
"""Fractions that add up: as `Count`, of float64 and float."""
Totals: TypeAlias = Mapping[str, Any]
"""A `Tally` of one image or a data set in the form of JSON: name -> number,
or a list of them for a histogram.
"""
_SLACK = 1e-9
"""What rounding may add to a sum, as a share of it and at least."""


class EvidenceError(ValueError):
    """Evidence that contradicts itself: a bug in a protocol, or a result that was edited."""


def require(condition: Any, rule: str) -> None:
    """Refuse evidence that breaks a rule; the condition is a bool, or an array of them."""
    if not (condition if isinstance(condition, bool) else np.all(condition)):
        raise EvidenceError(f"evidence contradicts itself: {rule}")


def at_most(part: Any, whole: Any) -> Any:
    """Whether sums are at most others, but for rounding."""
    return part <= whole * (1 + _SLACK) + _SLACK


@dataclass(frozen=True, eq=False)
class Tally:
    """Evidence, which adds up: columns of a batch, one image's row of them, or the sums of a data
    set.

    A protocol declares its own, one field per quantity, each a `Count` or a `Sum`. Names and order
    of the fields are those of the results' JSON; `gt_objects` and `detections`, of all objects of
    an image, are among them (`ObjectTally`). An optional field is None where the parameters do not
    ask for it, and not in the JSON.
    """

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse what cannot be; protocols add the rules of their own quantities.

        Raises
        ------
        EvidenceError
        """
        for name in _fields(type(self), "Count"):
            count = getattr(self, name)
            if count is not None:
                require(
                    min(count, default=0) >= 0 if isinstance(count, list) else count >= 0,
                    f"{name} is below 0",
                )

    def as_dict(self) -> dict[str, Any]:
        """Name -> column, number or list, in the order of the JSON; without
        the fields that are None.
        """
        values = ((name, getattr(self, name)) for name in _fields(type(self)))
        return {name: value for name, value in values if value is not None}

    @classmethod
    def of_columns(cls, columns: Mapping[str, ArrayLike]) -> Self:
        """Return columns that were read from results.

        Raises
        ------
        TypeError, ValueError
            When they are not of these names, a count is no whole number, or the evidence
            contradicts itself.
        """
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        for name in _fields(cls, "Count"):
            if name in arrays and arrays[name].dtype.kind != "i" and arrays[name].size:
                raise ValueError(f"{name} is not a whole number")
        sums = {
            name: arrays[name].astype(np.float64, copy=False)
            for name in _fields(cls, "Sum")
            if name in arrays
        }
        return cls(**(arrays | sums))

    def each(self, function: Callable[..., Any], *others: Self) -> Self:
        """Return the results of a function of each field, and of the same field of others."""
        values = self.as_dict().items()
        return type(self)(
            **{name: function(value, *(getattr(o, name) for o in others)) for name, value in values}
        )

    def rows(self) -> Iterator[Self]:
        """Yield the evidence of each image."""
        columns = {name: column.tolist() for name, column in self.as_dict().items()}
        for values in zip(*columns.values(), strict=True):
            yield self._unchecked(zip(columns, values, strict=True))

    def _unchecked(self, members: Iterable[tuple[str, Any]]) -> Self:
        """Return part of this, without `check`, which all of it has passed."""
        part = object.__new__(type(self))
        part.__dict__.update(members)
        return part

    def columns(self) -> Self:
        """Return it as `Protocol.scores` takes it: a histogram is a list of columns, too."""
        return self._unchecked((name, column.T) for name, column in self.as_dict().items())

    def take(self, images: Any) -> Self:
        """Return the evidence of some images, given by a slice or their indices."""
        return self._unchecked((name, column[images]) for name, column in self.as_dict().items())

    def sum(self) -> Self:
        """Return the sums of all images; they do not depend on the order of the images."""
        return self.each(_sum)

    def replaced(self, images: Ints, rows: Self) -> Self:
        """Return the columns with the evidence of some images, given by their indices, replaced."""
        return self.each(lambda column, new: _replaced(column, images, new), rows)

    @classmethod
    def concatenate(cls, tallies: Sequence[Self]) -> Self:
        """Return the columns of several batches as one."""
        return tallies[0].each(lambda *columns: np.concatenate(columns), *tallies[1:])

    @classmethod
    def total(cls, sums: Sequence[Self]) -> Self:
        """Return the sum of several sums."""
        return sums[0].each(_total, *sums[1:])


def _sum(column: NDArray[Any]) -> Any:
    if column.dtype.kind != "f":
        return column.sum(axis=0).tolist()
    return [*map(math.fsum, column.T.tolist())] if column.ndim > 1 else math.fsum(column.tolist())


def _total(*values: Any) -> Any:
    if isinstance(values[0], list):
        return [_total(*each) for each in zip(*values, strict=True)]
    return math.fsum(values) if isinstance(values[0], float) else sum(values)


def _replaced(column: NDArray[Any], images: Ints, new: NDArray[Any]) -> NDArray[Any]:
    column = column.copy()
    column[images] = new
    return column


def _fields(kind: Any, of: str = "") -> tuple[str, ...]:
    """The names of a tally's fields, of all or of those that are a `Count` or a `Sum`."""
    return _names(kind, of)


@cache
def _names(kind: type[Tally], of: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if str(field.type).startswith(of))
