"""Images and objects that change from one detector to another, as columns: a
record is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TypeVar, overload

import numpy as np

from evaltex_cli.display import Record
from evaltex_cli.protocols.matching import IGNORED, MATCH_TYPES
from evaltex_cli.records import Bools, Floats, Ints
from evaltex_cli.results.image_table import ImageTable, ObjectColumns
from evaltex_cli.results.significance import DECIMALS
from evaltex_cli.results.text_tables import JsonObject

Change = TypeVar("Change")
AT_ONCE = 4096
"""Records that are made together."""


@dataclass(frozen=True, slots=True, repr=False)
class ImageChange(Record):
    """An image whose score differs between the first system and another."""

    image: str
    system: str
    score: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """Difference of the scores."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, repr=False)
class ObjectChange(Record):
    """A ground-truth object whose match or values differ from those of the first system.

    `change` is the difference of the protocol's credit for the object (`Protocol.object_credit`).
    """

    image: str
    system: str
    id: int
    match_before: str
    match_after: str
    before: dict[str, float | None]
    after: dict[str, float | None]
    change: float


class Changes(Sequence[Change]):
    """All changes, the worst first.

    Parameters
    ----------
    change : sequence of (n,) float64
        Differences to the first system, one array for each other system.
    rows : sequence of (n,) int64
        What has changed: images or objects.
    made : callable
        Returns the records of one system's changes: gets the system's index, their rows and
        differences.

    Attributes
    ----------
    change : (n,) float64
        Differences, in rising order.
    """

    def __init__(
        self,
        change: Sequence[Floats],
        rows: Sequence[Ints],
        made: Callable[[int, Ints, Floats], Sequence[Change]],
    ) -> None:
        # 0 is the first system, which the others are compared with.
        system = np.repeat(np.arange(1, len(rows) + 1), [len(of_system) for of_system in rows])
        every = np.concatenate(change)
        order = np.argsort(every, kind="stable")
        self.change = every[order]
        self._system, self._row, self._made = system[order], np.concatenate(rows)[order], made
        self._systems = len(rows)

    def __len__(self) -> int:
        return len(self.change)

    def __repr__(self) -> str:
        return f"Changes({self.worse} worse, {self.better} better, {len(self)} in all)"

    def __iter__(self) -> Iterator[Change]:
        return (
            change
            for start in range(0, len(self), AT_ONCE)
            for change in self[start : start + AT_ONCE]
        )

    @overload
    def __getitem__(self, at: int) -> Change: ...
    @overload
    def __getitem__(self, at: slice) -> list[Change]: ...
    def __getitem__(self, at: int | slice) -> Change | list[Change]:
        if isinstance(at, int):
            return self[at : at + 1 or None][0]
        systems, rows, change = self._system[at], self._row[at], self.change[at]
        made = {
            system: iter(self._made(system, rows[systems == system], change[systems == system]))
            for system in set(systems.tolist())
        }
        return [next(made[system]) for system in systems.tolist()]

    @property
    def counts(self) -> dict[int, tuple[int, int]]:
        """Index of a system -> how many of its changes are for the better, and for the worse."""
        sides = (self._system[self.change > 0], self._system[self.change < 0])
        better, worse = (
            np.bincount(of_side, minlength=self._systems + 1).tolist() for of_side in sides
        )
        return {k: (better[k], worse[k]) for k in range(1, self._systems + 1)}

    @property
    def worse(self) -> int:
        """Number of changes for the worse."""
        return int((self.change < 0).sum())

    @property
    def better(self) -> int:
        """Number of changes for the better."""
        return int((self.change > 0).sum())


def image_changes(
    labels: Sequence[str], tables: Sequence[ImageTable], score: str
) -> Changes[ImageChange]:
    """Return the images whose score differs from that of the first system."""
    scores = [table.scores[score] for table in tables]
    shown = [np.where(np.isnan(values), 0.0, values) for values in scores]
    counts = [_counts_anything(table) for table in tables]
    changed = [
        np.flatnonzero(_differ(scores[0], values) & (counts[0] | counted))
        for values, counted in zip(scores[1:], counts[1:], strict=True)
    ]

    def made(system: int, images: Ints, _: Floats) -> list[ImageChange]:
        columns = (images.tolist(), shown[0][images].tolist(), shown[system][images].tolist())
        names = tables[0].rows.names
        return [
            ImageChange(names[image], labels[system], score, before, after)
            for image, before, after in zip(*columns, strict=True)
        ]

    return Changes(
        [shown[k][rows] - shown[0][rows] for k, rows in enumerate(changed, start=1)], changed, made
    )


def _counts_anything(table: ImageTable) -> Bools:
    """(images,) where an object or detection counts; any other image's score is a convention."""
    return np.asarray(np.delete(table.counts, IGNORED, axis=1).any(axis=1))


def object_changes(
    labels: Sequence[str], tables: Sequence[ImageTable], credit: Callable[..., Floats]
) -> Changes[ObjectChange]:
    """Return the objects whose match or values differ from those of the first
    system; `credit` says by how much.
    """
    names, first = tables[0].rows.names, tables[0].objects
    image_of = np.repeat(np.arange(len(names)), np.diff(tables[0].offsets))
    changed = [np.flatnonzero(_changed_objects(first, table.objects)) for table in tables[1:]]

    def credits(objects: ObjectColumns, rows: Ints) -> Floats:
        if not len(rows):  # results without any object have no values either
            return np.zeros(0)
        return credit(
            objects.types[rows], {name: column[rows] for name, column in objects.values.items()}
        )

    def made(system: int, rows: Ints, change: Floats) -> list[ObjectChange]:
        described = (*_described(first, rows), *_described(tables[system].objects, rows))
        columns = (image_of[rows].tolist(), first.ids[rows].tolist(), *described)
        return [
            ObjectChange(
                names[image], labels[system], own, match_before, match_after, before, after, by
            )
            for image, own, match_before, before, match_after, after, by in zip(
                *columns, change.tolist(), strict=True
            )
        ]

    pairs = zip(tables[1:], changed, strict=True)
    return Changes(
        [
            np.round(credits(table.objects, rows) - credits(first, rows), DECIMALS)
            for table, rows in pairs
        ],
        changed,
        made,
    )


def _differ(one: Floats, other: Floats) -> Bools:
    """(n,) whether numbers differ by more than rounding; undefined ones are equal."""
    one, other = np.round(one, DECIMALS), np.round(other, DECIMALS)
    differ: Bools = (one != other) & ~(np.isnan(one) & np.isnan(other))
    return differ


def _changed_objects(one: ObjectColumns, other: ObjectColumns) -> Bools:
    changed: Bools = one.types != other.types
    for name, values in one.values.items():
        changed |= _differ(values, other.values[name])
    return changed


def _described(
    objects: ObjectColumns, rows: Ints
) -> tuple[list[str], list[dict[str, float | None]]]:
    """Match types and the protocol's values, None where undefined, of some objects."""
    names, columns = (
        list(objects.values),
        [column[rows].tolist() for column in objects.values.values()],
    )
    values: list[JsonObject] = (
        [
            {name: None if isnan(value) else value for name, value in zip(names, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]
        if columns
        else [{} for _ in rows]
    )
    return [MATCH_TYPES[code] for code in objects.types[rows].tolist()], values
