"""Sums of evidence at each confidence level and for each fold of images.

A row of evidence counts from its first level until its last. So only its first level and the one
after its last are looked at: it is added at the one and taken away at the other, and sums over
levels follow at the end.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints
from evaltex_cli.thresholds.stacking import StateRows

Cell: TypeAlias = tuple[int, ...]
"""Fold, level and, of a histogram, bin."""


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
    """A column of fractions: what is added at each level and taken away."""

    def __init__(self, shape: Cell) -> None:
        self._shape = shape
        self._cells: list[Ints] = []
        self._values: list[Floats] = []

    def add(self, place: tuple[Ints, Ints], values: Floats) -> None:
        cell = place[0] * self._shape[1] + place[1]
        if values.ndim > 1:
            cell = (cell[:, None] * self._shape[2] + np.arange(self._shape[2])).ravel()
            values = values.ravel()
        counts = values != 0
        self._cells.append(cell[counts])
        self._values.append(values[counts])

    def cumulated(self) -> list[list[Any]]:
        """Return the sums by fold and level, as float or list of floats."""
        sums = np.zeros(self._shape)
        if self._cells:
            cell, values = np.concatenate(self._cells), np.concatenate(self._values)
            order = np.argsort(cell, kind="stable")
            filled, starts = np.unique(cell[order], return_index=True)
            parts = np.split(values[order], starts[1:]) if len(starts) else []
            sums.flat[filled] = [math.fsum(part.tolist()) for part in parts]
        cumulated: list[list[Any]] = np.cumsum(sums, axis=1).tolist()
        return cumulated
