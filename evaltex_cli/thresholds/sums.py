"""Sums of evidence at each confidence level and for each fold of images, exact whatever the order.

A row of evidence counts from its first level until its last. So only its first level and the one
after its last are looked at: it is added at the one and taken away at the other, and sums over
levels follow at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols.tally import ExactSum, Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.thresholds.stacking import StateRows

Cell: TypeAlias = tuple[int, ...]
"""Fold, level and, of a histogram, bin."""
WAITING = 1 << 17
"""Values of a column that are summed at once."""


class LevelSums:
    """Sums of a protocol's evidence, by fold and level.

    Parameters
    ----------
    tally : type
        The protocol's.
    folds, levels : int
    """

    def __init__(self, tally: type[Tally], folds: int, levels: int) -> None:
        self._tally, self._shape = tally, (folds, levels)
        self._columns: dict[str, _Counts | _Sums] = {}

    def add(self, rows: StateRows, fold: Ints) -> None:
        """Add rows of evidence.

        Parameters
        ----------
        fold : (n,) int64
            That of each row's image.
        """
        ends = np.flatnonzero(rows.stop < self._shape[1])
        fold = np.concatenate([fold, fold[ends]])
        level = np.concatenate([rows.start, rows.stop[ends]])
        for name, column in rows.tally.as_dict().items():
            if name not in self._columns:
                kind = _Sums if column.dtype.kind == "f" else _Counts
                self._columns[name] = kind((*self._shape, *column.shape[1:]))
            self._columns[name].add((fold, level), np.concatenate([column, -column[ends]]))

    def sums(self) -> list[list[Tally]]:
        """Return the sums of each fold at each level."""
        columns = {name: column.cumulated() for name, column in self._columns.items()}
        return [
            [
                self._tally(**{name: column[fold][level] for name, column in columns.items()})
                for level in range(self._shape[1])
            ]
            for fold in range(self._shape[0])
        ]


def joined(tallies: Sequence[Tally]) -> Tally:
    """Return the sum of tallies, at least one."""
    return reduce(add, tallies)


class _Counts:
    """A column of whole numbers: what is added at each level, and taken away."""

    def __init__(self, shape: Cell) -> None:
        self._changes = np.zeros(shape, np.int64)

    def add(self, place: tuple[Ints, Ints], values: NDArray[Any]) -> None:
        np.add.at(self._changes, place, values.astype(np.int64, copy=False))

    def cumulated(self) -> list[list[Any]]:
        """Return the sums by fold and level, as int or list of int."""
        sums: list[list[Any]] = np.cumsum(self._changes, axis=1).tolist()
        return sums


class _Sums:
    """A column of fractions: the exact sums of what is added at each level and taken away."""

    def __init__(self, shape: Cell) -> None:
        self._shape = shape
        self._parts: dict[int, list[float]] = {}
        self._waiting: list[tuple[Ints, Floats]] = []
        self._size = 0

    def add(self, place: tuple[Ints, Ints], values: Floats) -> None:
        cell = place[0] * self._shape[1] + place[1]
        if values.ndim > 1:
            cell = (cell[:, None] * self._shape[2] + np.arange(self._shape[2])).ravel()
            values = values.ravel()
        counts = values != 0
        self._waiting.append((cell[counts], values[counts]))
        self._size += int(counts.sum())
        if self._size > WAITING:
            self._sum_up()

    def _sum_up(self) -> None:
        if not self._waiting:
            return
        cell, values = (np.concatenate(side) for side in zip(*self._waiting, strict=True))
        self._waiting, self._size = [], 0
        order = np.argsort(cell, kind="stable")
        cell = cell[order]
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        parts = np.split(values[order], starts[1:]) if len(starts) else []
        for key, part in zip(cell[starts].tolist(), parts, strict=True):
            self._parts[key] = ExactSum([*self._parts.get(key, ()), *part.tolist()]).parts

    def cumulated(self) -> list[list[Any]]:
        """Return the sums by fold and level, as `ExactSum` or list of them."""
        self._sum_up()
        folds, levels, *bins = self._shape
        return [
            self._of_fold(fold * levels, levels, bins[0] if bins else 0) for fold in range(folds)
        ]

    def _of_fold(self, first: int, levels: int, bins: int) -> list[Any]:
        running = [ExactSum() for _ in range(bins or 1)]
        result: list[Any] = []
        for level in range(first, first + levels):
            for k, before in enumerate(running):
                here = self._parts.get(level * bins + k if bins else level)
                if here:
                    running[k] = ExactSum([*before.parts, *here])
            result.append(list(running) if bins else running[0])
        return result
