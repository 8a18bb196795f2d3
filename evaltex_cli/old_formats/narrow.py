"""Columns that grow, in the narrowest type that holds their values: of millions of images and
objects, which have small numbers.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import stretches

WHOLE, DECIMAL = "BHiq", "fd"
"""The types of whole and other numbers, each wider than the one before."""
_FEW = 1 << 10
_STAGED = 1 << 16
"""Bytes of records that wait to be taken apart together."""


def extended(column: array[Any], values: NDArray[Any], kinds: str = WHOLE) -> array[Any]:
    """Add values to a column, which grows in place; if its type does not hold them, return it in
    the next wider.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        short = values.astype(column.typecode)
    if not _equal(short, values):
        wider = kinds[kinds.index(column.typecode) + 1]
        return extended(array(wider, column), values, kinds)
    column.frombytes(short.tobytes())
    return column


def _equal(values: NDArray[Any], others: Any) -> bool:
    """Whether all values are the same as others, or both NaN."""
    is_equal = values == others
    if values.dtype.kind == "f" and not is_equal.all():
        is_equal |= np.isnan(values) & np.isnan(others)
    return bool(is_equal.all())


class Column:
    """Values, or rows of them, that are added part by part; one while all are the same.

    Parameters
    ----------
    kinds : str
        Their types, each wider than the one before.
    width : int
        Values of a row.
    """

    def __init__(self, kinds: str = WHOLE, width: int = 1) -> None:
        self._kinds, self._width = kinds, width
        self._first, self._count = array(kinds[0]), 0
        """The first row, which all are the same as, and how many those are."""
        self._all: array[Any] | None = None

    def extend(self, values: NDArray[Any]) -> None:
        """Add values, or rows."""
        rows = values.reshape(-1, self._width)
        if not len(rows):
            return
        if self._all is None:
            if not self._count:
                self._first = extended(self._first, rows[:1], self._kinds)
            if _equal(rows, np.asarray(self._first)):
                self._count += len(rows)
                return
            self._all = self._first * self._count
        self._all = extended(self._all, rows, self._kinds)

    def values(self) -> NDArray[Any]:
        """(n, width) what was added."""
        if self._all is not None:
            return np.asarray(self._all).reshape(-1, self._width)
        return np.broadcast_to(
            np.asarray(self._first).reshape(-1, self._width), (self._count, self._width)
        )


class Records:
    """Records of a structured type, each field a column; one that is the same in all is one value.

    Parameters
    ----------
    kind : np.dtype
    """

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.kind = kind
        self._count = 0
        self._same: dict[str, Any] = {}
        self._columns: dict[str, array[Any]] = {}
        self._staged = bytearray()

    def __len__(self) -> int:
        return self._count + len(self._staged) // self.kind.itemsize

    def extend(self, rows: bytes | bytearray | memoryview) -> None:
        """Add records, given by their bytes; many of them part by part, without a copy of all."""
        part = max(_STAGED // self.kind.itemsize, 1) * self.kind.itemsize
        with memoryview(rows) as whole:
            for start in range(0, len(whole), part):
                self._staged += whole[start : start + part]
                if len(self._staged) >= _STAGED:
                    self._settle()

    def column(self, name: str) -> NDArray[Any]:
        """(n,) the values of a field."""
        self._settle()
        if name in self._columns:
            return np.asarray(self._columns[name])
        return _repeated(np.array(self._same.get(name, 0), self.kind[name].type), self._count)

    def set(self, name: str, values: NDArray[Any]) -> None:
        """Replace the values of a field."""
        self._settle()
        self._same.pop(name, None)
        self._columns[name] = _column(values, self.kind[name])

    def taken(self, index: NDArray[Any] | slice) -> NDArray[np.void]:
        """Return the records of these indices."""
        self._settle()
        names = self.kind.names or ()
        rows = np.empty(len(self.column(names[0])[index]), self.kind)
        for name in names:
            is_column = name in self._columns
            rows[name] = self.column(name)[index] if is_column else self._same.get(name, 0)
        return rows

    def _settle(self) -> None:
        if not self._staged:
            return
        rows = np.frombuffer(self._staged, self.kind)
        for name in self.kind.names or ():
            self._add(name, rows[name])
        self._count += len(rows)
        # Another one: a profiler, as Dask's in every worker, may still have a frame with `rows`.
        self._staged = bytearray()

    def _add(self, name: str, values: NDArray[Any]) -> None:
        if name not in self._columns:
            same = self._same.setdefault(name, values[0])
            if _equal(values, same):
                return
            self._columns[name] = _column(
                _repeated(np.array(self._same.pop(name)), self._count), self.kind[name]
            )
        kinds = DECIMAL if self.kind[name].kind == "f" else WHOLE
        self._columns[name] = extended(self._columns[name], values, kinds)


def _repeated(value: NDArray[Any], count: int) -> NDArray[Any]:
    """(count,) one value: of many records without a copy for each, which takes longer to make."""
    return np.full(count, value) if count < _FEW else np.broadcast_to(value, count)


def _column(values: NDArray[Any], kind: np.dtype[Any]) -> array[Any]:
    kinds = DECIMAL if kind.kind == "f" else WHOLE
    return extended(array(kinds[0]), values, kinds)


def narrowest(values: NDArray[np.int64]) -> NDArray[Any]:
    """Return whole numbers of at least 0 in the narrowest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def taken(values: Any, ends: NDArray[Any], index: NDArray[np.int64]) -> Any:
    """Return stretches of some values, one after the other: those from `ends[k]` to `ends[k + 1]`
    for each index.
    """
    is_bytes = isinstance(values, bytearray)
    data = np.frombuffer(values, np.uint8) if is_bytes else values
    if len(index) and (np.diff(index) == 1).all():
        found = data[int(ends[index[0]]) : int(ends[index[-1] + 1])]
    else:
        starts = ends[index].astype(np.int64)
        found = data[stretches(starts, ends[index + 1].astype(np.int64) - starts)]
    return found.tobytes() if is_bytes else found
