"""Evidence, which adds up: columns of a batch, the row of one image, or the sums of a data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Count: TypeAlias = Any
"""A whole number that adds up: (images,) int64 in a batch, int for one image or a data set; of a
histogram (images, bins), and a list of int."""
Sum: TypeAlias = Any
"""Fractions that add up: as `Count`, of float64 and float."""
Totals: TypeAlias = Mapping[str, Any]
"""A `Tally` of one image or a data set in the form of JSON: name -> number, or a list of them."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Evidence, which adds up.

    A protocol declares its own, one field per quantity, each a `Count` or a `Sum`, with the names
    and the order of the results' JSON; `gt_objects` and `detections`, of all objects, are among
    them. An optional field is None where the parameters do not ask for it, and not in the JSON.
    """

    @classmethod
    def counts(cls) -> set[str]:
        """Return the names of the fields that are a `Count`."""
        return {field.name for field in fields(cls) if str(field.type).startswith("Count")}

    def as_dict(self) -> dict[str, Any]:
        """Name -> column, number or list, in the order of the JSON; without those that are None."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_columns(cls, columns: Mapping[str, ArrayLike]) -> Self:
        """Return columns that were read from results; raises `TypeError` or `ValueError` for other
        names, and a count that is not a whole number.
        """
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        for name, column in arrays.items():
            if name not in cls.counts():
                arrays[name] = column.astype(np.float64)
            elif column.dtype.kind != "i" and column.size:
                raise ValueError(f"{name} is not a whole number")
        return cls(**arrays)

    def each(self, function: Callable[..., Any], *others: Self) -> Self:
        """Return the results of a function of each field, and of the same field of others."""
        results = {
            name: function(value, *(getattr(other, name) for other in others))
            for name, value in self.as_dict().items()
        }
        return type(self)(**results)

    def rows(self) -> Iterator[Self]:
        """Yield the evidence of each image."""
        lists = self.each(lambda column: column.tolist())
        for image in range(len(next(iter(lists.as_dict().values())))):
            yield lists.each(itemgetter(image))

    def take(self, images: Any) -> Self:
        """Return the evidence of some images, given by a slice or their indices."""
        return self.each(lambda column: column[images])

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
    """Objects and detections, and those that count (`object_counts`)."""

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    counted_detections: Count


@dataclass(frozen=True, eq=False)
class CreditTally(ObjectTally):
    """Summed credits from 0 to 1: of objects towards recall, of detections towards precision."""

    recall_credit: Sum
    precision_credit: Sum
