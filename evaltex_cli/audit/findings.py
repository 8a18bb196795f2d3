"""Suspects in columns, and what the functions that find them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.patches import Kind
from evaltex_cli.records import Bools, Floats, Ints, offsets_of, ranges


class Lists(NamedTuple):
    """Several rows for each of some things, one list after the other."""

    rows: Ints
    offsets: Ints
    """(n + 1,) int64. The list of thing k is ``rows[offsets[k]:offsets[k + 1]]``."""

    @property
    def counts(self) -> Ints:
        """(n,) the length of each list."""
        return np.diff(self.offsets)

    @property
    def owner(self) -> Ints:
        """(r,) the thing that each row is of."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts)

    def row(self, k: int) -> list[int]:
        """Return one list."""
        rows: list[int] = self.rows[self.offsets[k] : self.offsets[k + 1]].tolist()
        return rows

    def of(self, which: Ints) -> Lists:
        """Return the lists of some things."""
        counts = self.counts[which]
        return Lists(self.rows[ranges(self.offsets[which], counts)], offsets_of(counts))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n, ...) the sum of the values of each list's rows, (r, ...); no list is empty."""
        return np.add.reduceat(values, self.offsets[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Suspects of one kind."""

    kind: Kind
    suspicion: Floats
    """(n,) float64."""
    objects: Lists
    places: Lists
    """`objects` and `places`: the objects they are about, and the places that say so."""
    agree: Bools
    """(n, groups) bool. Which detectors do."""
    read: Ints
    """(n,) int64. A detection with the text that is proposed; -1 for none."""


def findings(
    kind: Kind,
    suspicion: Floats,
    objects: Lists,
    places: Lists,
    agree: Bools,
    read: Ints | None = None,
) -> Findings:
    """Return those of the suspects of one kind that have any suspicion."""
    rows = np.flatnonzero(suspicion > 0)
    read = np.full(len(suspicion), -1) if read is None else read
    return Findings(
        kind, suspicion[rows], objects.of(rows), places.of(rows), agree[rows], read[rows]
    )


def each(rows: Ints) -> Lists:
    """Return rows as lists of one."""
    return Lists(rows, np.arange(len(rows) + 1))


def nothing(count: int) -> Lists:
    """Return so many empty lists."""
    return Lists(np.zeros(0, np.int64), np.zeros(count + 1, np.int64))


def joined(lists: Sequence[Lists]) -> Lists:
    """Return the lists of several groups of things as those of one."""
    rows = np.concatenate([one.rows for one in lists])
    return Lists(rows, offsets_of(np.concatenate([one.counts for one in lists])))


def trusted(evidence: Evidence) -> Floats:
    """(P,) how far a place is trusted: as `suspicion.trust`."""
    return suspicion.trust(evidence, evidence.places.count, suspicion.quality(evidence))


def sizes(evidence: Evidence) -> Ints:
    """(G,) objects whose boxes are equally high and wide, to a factor of two, have one number."""
    boxes = evidence.scene.gt.boxes
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1)
    octave = np.round(np.log2(sides)).astype(np.int64)
    return octave[:, 0] * 64 + octave[:, 1]


def share_in_cell(some: Bools, of: Bools, cell: Ints, prior: float = 0.5) -> Floats:
    """(G,) of the objects in the cell of each that are of interest, the share that are some; of few
    ones about `prior`, which counts as two.
    """
    _, number = np.unique(cell, return_inverse=True)
    cells = number.max(initial=-1) + 1
    part = np.bincount(number[some & of], minlength=cells)
    whole = np.bincount(number[of], minlength=cells)
    return np.asarray(((part + 2 * prior) / (whole + 2))[number])
