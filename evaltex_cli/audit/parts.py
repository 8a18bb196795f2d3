"""Parts of something: which of them are one part, and what has several."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaltex_cli.audit.shares import shares, stepped
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import CONTINUOUS, touching_parts
from evaltex_cli.records import Bools, Floats, Ints, Objects, offsets_of
from evaltex_cli.records.rows import take

NESTED = 0.5
"""Least share that two parts have in common, of the smaller one, if they are one part."""


def several(owner: Ints) -> Bools:
    """(r,) whether a row's owner has two rows or more."""
    _, number, counts = np.unique(owner, return_inverse=True, return_counts=True)
    return np.asarray(counts[number] >= 2)


def outermost(owner: Ints, objects: Objects, rows: Ints, trust: Floats) -> Bools:
    """(n,) which parts of something remain if of two that share much one goes, the one that is
    trusted less.

    Parameters
    ----------
    owner : (n,) int64
        What each is a part of, sorted.
    objects : Objects
    rows : (n,) int64
        The parts among the objects.
    trust : (n,) float64
    """
    boxes = objects.boxes[rows]
    offsets = offsets_of(np.unique(owner, return_counts=True)[1])
    made = shapes.from_objects(take(objects, rows, np.array([0, len(rows)])), CONTINUOUS)
    area = shapes.area(made)
    remains, trust = np.ones(len(rows), dtype=bool), stepped(trust)
    for one, other in meeting(boxes, offsets):
        common = shapes.pair_area(made, one, made, other)
        nested = shares(common, np.minimum(area[one], area[other])) >= NESTED
        lost = np.where(trust[one] < trust[other], one, other)
        remains[lost[nested]] = False
    return remains


def meeting(boxes: Floats, offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of boxes of one group that share some area, each once, some at a time."""
    for one, other in touching_parts(boxes, offsets, boxes, offsets):
        once = one < other
        yield one[once], other[once]
