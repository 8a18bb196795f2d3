"""Label pictures as runs, maximal stretches of one label in one row; areas are pixel counts.

`Masks` has the methods of `shapes.Shapes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Bools, Floats, Ints, offsets_of, ranges

NO_OBJECT = -1


class PictureRuns(NamedTuple):
    """Runs of one picture in reading order; pixels are numbered row by row, from 0."""

    label: NDArray[Any]
    start: Ints
    stop: Ints
    """`label`, `start`, `stop`: (r,). The label, the first pixel, and the one after the last."""
    shape: tuple[int, int]
    """Height and width."""


def find_runs(labels: NDArray[Any]) -> PictureRuns:
    """Find the maximal stretches of one label in one row of a (height, width) picture; 0 is
    background.
    """
    height, width = labels.shape
    flat = labels.reshape(-1)
    begins = np.empty(flat.size + 1, dtype=bool)
    np.not_equal(flat[1:], flat[:-1], out=begins[1:-1])
    begins[:: max(width, 1)] = True
    edges = np.flatnonzero(begins)
    label = flat.take(edges[:-1])
    run = np.flatnonzero(label != 0)
    return PictureRuns(label.take(run), edges.take(run), edges[1:].take(run), (height, width))


def object_of(label: NDArray[Any], ids: Ints) -> Ints:
    """(r,) index into `ids` of each label; `NO_OBJECT` where none has it."""
    if not len(ids):
        return np.full(len(label), NO_OBJECT, np.int64)
    order = np.argsort(ids, kind="stable")
    at = order[np.minimum(np.searchsorted(ids[order], label), len(ids) - 1)]
    return np.where(ids[at] == label, at, NO_OBJECT)


class Masks(NamedTuple):
    """The pixels of the objects of one side of a batch, as runs sorted by object, row and start."""

    owner: Ints
    """(r,) int64. Index of the run's object in the batch's `Objects`."""
    row: Ints
    """(r,) int64. Rows count through all pictures of the batch."""
    start: Ints
    stop: Ints
    """`start` and `stop`: (r,) int64. First column, and the one after the last."""
    offsets: Ints
    """(objects + 1,) int64. Object k owns runs ``offsets[k]:offsets[k + 1]``."""

    @classmethod
    def from_runs(cls, columns: Sequence[Ints], objects: int) -> Masks:
        """Return runs, (r,) owner, row, start and stop; each object's are in reading order."""
        owner, row, start, stop = columns
        # Sorting small integers is several times as fast.
        order = np.argsort(owner.astype(np.min_scalar_type(objects)), kind="stable")
        counts = np.bincount(owner, minlength=objects)
        return cls(owner[order], row[order], start[order], stop[order], offsets_of(counts))

    @property
    def objects(self) -> int:
        """Objects in the batch."""
        return len(self.offsets) - 1

    @property
    def is_polygon(self) -> Bools:
        """(objects,) as of shapes: none is one."""
        return np.zeros(self.objects, dtype=bool)

    def take(self, rows: Ints) -> Masks:
        """Return some objects, in the order of `rows`."""
        return Masks(*self._runs(rows), offsets_of(np.diff(self.offsets)[rows]))

    def area(self) -> Floats:
        """(objects,) pixel counts."""
        pixels = np.bincount(self.owner, self.stop - self.start, self.objects)
        return pixels.astype(np.float64)

    def longer_side(self) -> Floats:
        """(objects,) the longer side of each bounding box in pixels; 0 without pixels."""
        result = np.zeros(self.objects)
        filled = np.flatnonzero(np.diff(self.offsets))
        first = self.offsets[filled]
        if len(filled):
            heights = np.maximum.reduceat(self.row, first) + 1 - self.row[first]
            widths = np.maximum.reduceat(self.stop, first) - np.minimum.reduceat(self.start, first)
            result[filled] = np.maximum(heights, widths)
        return result

    def overlaps(self, other: Masks) -> tuple[Ints, Ints, Floats]:
        """Return all pairs of objects that share pixels, sorted, and how many they share."""
        columns = max(int(side.stop.max(initial=0)) for side in (self, other)) + 1
        order = np.argsort(other.row * columns + other.start)
        at, others = self.row * columns, other.row[order] * columns
        ends = others + other.start[order], others + other.stop[order]
        one, another = _meetings(at + self.start, at + self.stop, *ends)
        another = order[another]
        lengths = np.minimum(self.stop[one], other.stop[another])
        lengths = lengths - np.maximum(self.start[one], other.start[another])
        key, place = np.unique(
            self.owner[one] * max(other.objects, 1) + other.owner[another], return_inverse=True
        )
        area = np.bincount(place, lengths, len(key)).astype(np.float64)
        return *np.divmod(key, max(other.objects, 1)), area

    def _pieces(self, i: Ints, other: Masks, j: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the runs that ``self[i[k]]`` and ``other[j[k]]`` share: k, row, start, stop."""
        (pair, row, *ends), (other_pair, other_row, *other_ends) = self._runs(i), other._runs(j)
        if not len(row) or not len(other_row):
            return (np.zeros(0, np.int64),) * 4
        # Rows of all pairs laid end to end, with room for objects that reach out of their picture.
        height = max(row.max(), other_row.max()) - min(row.min(), other_row.min()) + 1
        width = max(ends[1].max(), other_ends[1].max()) - min(ends[0].min(), other_ends[0].min())
        at = (pair * height + row) * width
        others = (other_pair * height + other_row) * width
        one, another = _meetings(
            at + ends[0], at + ends[1], others + other_ends[0], others + other_ends[1]
        )
        start = np.maximum(ends[0][one], other_ends[0][another])
        return pair[one], row[one], start, np.minimum(ends[1][one], other_ends[1][another])

    def _runs(self, index: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the runs of some objects: their place in `index`, row, start and stop."""
        counts = np.diff(self.offsets)[index]
        run = ranges(self.offsets[index], counts)
        place = np.repeat(np.arange(len(index)), counts)
        return place, self.row[run], self.start[run], self.stop[run]

    def pair_area(self, i: Ints, other: Masks, j: Ints) -> Floats:
        """(p,) areas of the intersections of ``self[i[k]]`` and ``other[j[k]]``."""
        pair, _, start, stop = self._pieces(i, other, j)
        return np.bincount(pair, stop - start, len(i)).astype(np.float64)

    def union_area(self, group: Ints, groups: int, i: Ints, other: Masks, j: Ints) -> Floats:
        """(groups,) areas of the union, in each group, of the intersections of ``self[i[k]]`` and
        ``other[j[k]]``.
        """
        pair, row, start, stop = self._pieces(i, other, j)
        shared, owner = stop - start, group[pair]
        several = np.flatnonzero((np.bincount(group) > 1)[owner])
        order = several[np.lexsort((start[several], row[several], owner[several]))]
        group, row, start, stop = (column[order] for column in (owner, row, start, stop))
        # What the runs before in the same row of the same group have covered, is not new.
        line = offsets_of((np.diff(row, append=-1) != 0) | (np.diff(group, append=-1) != 0))[:-1]
        width = int(stop.max(initial=0)) + 1
        reach = np.maximum.accumulate(line * width + stop) if len(stop) else stop
        covered = np.concatenate([[0], reach[:-1]]) - line * width
        shared[order] = np.maximum(stop - np.maximum(start, covered), 0)
        return np.bincount(owner, shared, groups).astype(np.float64)

    def moved(self, margin: Floats) -> Masks:
        """Dilate (margin > 0) or erode (margin < 0) each object by a square of 2 * radius + 1
        pixels; no border of a picture clips the result. What erodes to nothing stays as it was
        (EvaLTex Eq. 7, 8).
        """
        radius = np.floor(np.abs(margin) + 0.5).astype(np.int64)
        if not radius.any():
            return self
        stays = np.ones(self.objects, dtype=bool)
        parts: list[tuple[Ints, ...]] = []
        for k in np.flatnonzero(radius).tolist():
            row, start, stop = self._moved(k, int(radius[k]), grows=bool(margin[k] > 0))
            stays[k] = not len(row)
            parts.append((np.full(len(row), k), row, start, stop))
        kept = np.flatnonzero(stays[self.owner])
        parts.append(tuple(column[kept] for column in self[:4]))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return Masks.from_runs(columns, self.objects)

    def _moved(self, k: int, radius: int, *, grows: bool) -> tuple[Ints, Ints, Ints]:
        """Return row, start and stop of the runs of an object that is dilated or eroded."""
        some = slice(self.offsets[k], self.offsets[k + 1])
        row, start, stop = self.row[some], self.start[some], self.stop[some]
        if not len(row):
            return row, start, stop
        top, left = row.min() - radius, start.min() - radius
        height, width = row.max() + radius + 1 - top, stop.max() + radius + 1 - left
        ends = np.zeros((height, width), np.int64)
        ends[row - top, start - left] += 1
        ends[row - top, stop - left] -= 1
        pixels = np.pad(np.cumsum(ends, axis=1), ((radius + 1, radius), (radius + 1, radius)))
        sums, side = pixels.cumsum(axis=0).cumsum(axis=1), 2 * radius + 1
        sums = sums[side:] - sums[:-side]
        counts = sums[:, side:] - sums[:, :-side]
        edges = np.diff(np.pad((counts > 0) if grows else counts == side**2, ((0, 0), (1, 1))) * 1)
        rows, starts = np.nonzero(edges == 1)
        return rows + top, starts + left, np.nonzero(edges == -1)[1] + left


def join(pictures: Sequence[tuple[PictureRuns, Ints] | None], shapes: Ints, objects: int) -> Masks:
    """Join pictures to the masks of a batch of so many objects: each image's runs, with the batch's
    object of each, (r,), None for an image without a picture; `shapes` are (images, 2) heights and
    widths, those of images without a picture too.
    """
    first = offsets_of(shapes[:, 0]).tolist()
    parts: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64),) * 4]
    for picture, before in zip(pictures, first, strict=False):
        if picture is not None:
            runs, owner = picture
            row, start = np.divmod(runs.start, max(runs.shape[1], 1))
            parts.append((owner, row + before, start, start + runs.stop - runs.start))
    return Masks.from_runs([np.concatenate(column) for column in zip(*parts, strict=True)], objects)


def _meetings(a_start: Ints, a_stop: Ints, b_start: Ints, b_stop: Ints) -> tuple[Ints, Ints]:
    """Return indices of all intervals a and b that share something; those of b are disjoint and in
    order.
    """
    first = np.searchsorted(b_stop, a_start, side="right")
    partners = np.searchsorted(b_start, a_stop, side="left") - first
    return np.repeat(np.arange(len(a_start)), partners), ranges(first, partners)
