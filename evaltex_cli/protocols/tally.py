"""Evidence, which adds up: columns of a batch, the row of one image, or the sums of a data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
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
    if not np.all(condition):
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
        for name, value in self.as_dict().items():
            require(
                name not in self._names("Count") or np.min(value, initial=0) >= 0, f"{name} < 0"
            )

    @classmethod
    def _names(cls, kind: str) -> set[str]:
        """The fields that are a `Count` or a `Sum`; annotations are texts."""
        return {field.name for field in fields(cls) if str(field.type).startswith(kind)}

    def as_dict(self) -> dict[str, Any]:
        """Name -> column, number or list, in the order of the JSON; without
        the fields that are None.
        """
        return {name: value for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_columns(cls, columns: Mapping[str, ArrayLike]) -> Self:
        """Return columns that were read from results.

        Raises
        ------
        TypeError, ValueError
            When they are not of these names, a count is no whole number, or the evidence
            contradicts itself.
        """
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        for name in arrays.keys() & cls._names("Count"):
            if arrays[name].dtype.kind != "i" and arrays[name].size:
                raise ValueError(f"{name} is not a whole number")
        for name in arrays.keys() & cls._names("Sum"):
            arrays[name] = arrays[name].astype(np.float64, copy=False)
        return cls(**arrays)

    def each(self, function: Callable[..., Any], *others: Self) -> Self:
        """Return the results of a function of each field, and of the same field of others."""
        result = object.__new__(type(self))  # without `check`, which these have passed
        result.__dict__.update(
            (name, function(value, *(getattr(other, name) for other in others)))
            for name, value in self.as_dict().items()
        )
        return result

    def rows(self) -> Iterator[Self]:
        """Yield the evidence of each image."""
        lists = self.each(lambda column: column.tolist())
        images = len(next(iter(lists.as_dict().values())))
        return (lists.each(itemgetter(image)) for image in range(images))

    def columns(self) -> Self:
        """Return it as `Protocol.scores` takes it: a histogram is a list of columns, too."""
        return self.each(np.transpose)

    def take(self, images: Any) -> Self:
        """Return the evidence of some images, given by a slice or their indices."""
        return self.each(lambda column: column[images])

    def replaced(self, images: Ints, rows: Self) -> Self:
        """Return the columns with the evidence of some images, given by their indices, replaced."""

        def replace(column: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            column = column.copy()
            column[images] = new
            return column

        return self.each(replace, rows)

    @classmethod
    def concatenate(cls, tallies: Sequence[Self]) -> Self:
        """Return the columns of several batches as one."""
        return tallies[0].each(lambda *columns: np.concatenate(columns), *tallies[1:])

    def sum(self) -> Self:
        """Return the sums of all images; they do not depend on the order of the images."""
        return self.each(_sum)

    @classmethod
    def total(cls, sums: Sequence[Self]) -> Self:
        """Return the sum of several sums."""
        return sums[0].each(lambda *values: _sum(np.array(values)), *sums[1:])


def _sum(column: NDArray[Any]) -> Any:
    if column.ndim > 1:
        return [_sum(each) for each in column.T]
    return math.fsum(column.tolist()) if column.dtype.kind == "f" else int(column.sum())


@dataclass(frozen=True, eq=False)
class ObjectTally(Tally):
    """Objects and detections, and those that count: what most protocols begin
    with (`object_counts`).
    """

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    counted_detections: Count

    def check(self) -> None:
        super().check()
        require(self.counted_gt_objects <= self.gt_objects, "more objects count than there are")
        require(self.counted_detections <= self.detections, "more detections count than there are")


@dataclass(frozen=True, eq=False)
class CreditTally(ObjectTally):
    """Summed credits, at most 1 each, of objects towards recall and of
    detections towards precision.
    """

    recall_credit: Sum
    precision_credit: Sum

    def check(self) -> None:
        super().check()
        require(at_most(self.recall_credit, self.counted_gt_objects), "more recall than objects")
        require(
            at_most(self.precision_credit, self.counted_detections),
            "more precision than detections",
        )
