"""Labelled masks behind the same functions as `shapes`: areas are pixel counts, everything is a sweep over runs.

Rows of all objects are laid end to end on one line of integers, so that a run is an interval of that line and the
geometry of any number of objects and pictures is that of sorted intervals (`_Line`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Bools, Floats, Ints, LabelRuns

NO_OBJECT = -1
_TABULATED = 1 << 16
"""Labels below this are looked up in a table."""
_BEFORE = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class PictureRuns:
    """Runs of one picture in reading order: label (any numeric dtype), row, first column, column after the last."""

    label: NDArray[Any]
    row: Ints
    start: Ints
    stop: Ints


def find_runs(labels: NDArray[Any]) -> PictureRuns:
    """Find the maximal stretches of one label in one row of a (height, width) picture; 0 is background."""
    width = max(labels.shape[1], 1)
    flat = labels.reshape(-1)
    begins = np.empty(flat.size, dtype=bool)
    np.not_equal(flat[1:], flat[:-1], out=begins[1:])
    begins[::width] = True
    edges = np.append(np.flatnonzero(begins), flat.size)
    label = flat[edges[:-1]]
    run = np.flatnonzero(label)
    first, after = edges[run], edges[run + 1]
    row = first // width
    column = row * width
    return PictureRuns(label[run], row, first - column, after - column)


def object_of(label: NDArray[Any], ids: Ints) -> Ints:
    """(r,) index into `ids` of each label; `NO_OBJECT` where none bears it."""
    if not len(ids):
        return np.full(len(label), NO_OBJECT, np.int64)
    if label.min(initial=0) >= 0 and label.max(initial=0) < _TABULATED:
        table = np.full(int(label.max(initial=0)) + 1, NO_OBJECT)
        known = np.flatnonzero((ids >= 0) & (ids < len(table)))
        table[ids[known]] = known
        return np.asarray(table[label])
    order = np.argsort(ids, kind="stable")
    at = order[np.minimum(np.searchsorted(ids[order], label), len(ids) - 1)]
    return np.where(ids[at] == label, at, NO_OBJECT)


def join(pictures: Sequence[tuple[PictureRuns, Ints]], objects: int) -> LabelRuns:
    """Join pictures to the runs of a batch.

    Parameters
    ----------
    pictures : sequence of (PictureRuns, (r,) int64)
        Each picture's runs, and the batch's object of each; all objects of a picture come after those of the
        picture before.
    objects : int
        Objects in the batch.
    """
    columns: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64),) * 5]
    before = 0
    for runs, owner in pictures:
        order = _stable_order(owner)
        reading = np.empty(len(order), np.int64)
        reading[order] = np.arange(before, before + len(order))
        columns.append((owner[order], runs.row[order], runs.start[order], runs.stop[order], reading))
        before += len(order)
    *joined, reading = (np.concatenate(column) for column in zip(*columns, strict=True))
    return _label_runs(joined, objects, reading)


def from_pictures(pictures: Sequence[NDArray[Any]], offsets: Ints, ids: Ints) -> LabelRuns:
    """Encode label pictures.

    Parameters
    ----------
    pictures : sequence of (height, width) integer arrays
        One an image; labels that are no object's ID count as background.
    offsets, ids : (images + 1,), (n,) int64
        Image k's objects, as in `Objects`.
    """
    found = []
    for picture, start, stop in zip(pictures, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        runs = find_runs(picture)
        owner = object_of(runs.label.astype(np.int64), ids[start:stop])
        known = owner != NO_OBJECT
        runs = PictureRuns(runs.label[known], runs.row[known], runs.start[known], runs.stop[known])
        found.append((runs, owner[known] + start))
    return join(found, len(ids))


def area(runs: LabelRuns) -> Floats:
    """(objects,) pixel counts."""
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(runs.stop - runs.start)])
    return np.diff(total[runs.offsets]).astype(np.float64)


def extent(runs: LabelRuns) -> tuple[Floats, Floats]:
    """Heights and widths (objects,) of the objects' bounding boxes in pixels; 0 for one without pixels."""
    first, after = runs.offsets[:-1], runs.offsets[1:]
    filled = after > first
    height, width = np.zeros(len(first)), np.zeros(len(first))
    first, after = first[filled], after[filled]
    if len(first):
        height[filled] = runs.row[after - 1] - runs.row[first] + 1
        width[filled] = np.maximum.reduceat(runs.stop, first) - np.minimum.reduceat(runs.start, first)
    return height, width


def grown(runs: LabelRuns, radius: Ints) -> LabelRuns:
    """Dilate each object by a square of 2 * radius + 1 pixels (EvaLTex Eq. 7); no picture border clips the result."""
    if not radius.any():
        return runs
    line, start, stop, reach = _to_change(runs, radius)
    start, stop = _joined(start - reach, stop + reach)
    step = 1
    while (step < 2 * radius + 1).any():
        shift = _window_shift(line, start, radius, step)
        start, stop = _joined(np.concatenate([start, start + shift]), np.concatenate([stop, stop + shift]))
        step *= 2
    return _replaced(runs, line, start, stop, radius)


def shrunk_or_same(runs: LabelRuns, radius: Ints) -> LabelRuns:
    """Erode each object by a square of 2 * radius + 1 pixels (EvaLTex Eq. 8), all else being background.

    An object of which nothing would remain stays as it is.
    """
    if not radius.any():
        return runs
    line, start, stop, reach = _to_change(runs, radius)
    remains = stop - start > 2 * reach
    start, stop = (start + reach)[remains], (stop - reach)[remains]
    step = 1
    while (step < 2 * radius + 1).any():
        shift = _window_shift(line, start, radius, step)
        a, b = _meetings(start, stop, start + shift, stop + shift)
        start, stop = np.maximum(start[a], start[b] + shift[b]), np.minimum(stop[a], stop[b] + shift[b])
        step *= 2
    return _replaced(runs, line, start, stop, radius)


def pair_area(a: LabelRuns, i: Ints, b: LabelRuns, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``."""
    if a is b and np.array_equal(i, j):
        return area(a)[i]
    line = _Line.around(a, b)
    pair, run = _runs_of(a, i)
    row = line.at(j[pair], a.row[run])
    start, stop = _intervals(line, b)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(stop - start)])
    latest = np.concatenate([np.full(1, _BEFORE), stop])

    def covered_before(position: Ints) -> Ints:
        at = np.searchsorted(start, position, side="right")
        return np.asarray(before[at] - np.maximum(latest[at], position) + position)

    shared = covered_before(row + a.stop[run]) - covered_before(row + a.start[run])
    return np.bincount(pair, weights=shared, minlength=len(i)).astype(np.float64)


def overlaps(gt: LabelRuns, gt_image: Ints, det: LabelRuns, det_image: Ints) -> tuple[Ints, Ints, Floats]:
    """Find all pairs of one image's objects that share pixels.

    Parameters
    ----------
    gt, det : LabelRuns
        Of label pictures: the objects of one image are disjoint.
    gt_image, det_image : (G,), (D,) int64
        Image of each object.

    Returns
    -------
    gt, det, area : (p,)
        Indices of the objects and shared pixels, sorted by (gt, det).
    """
    line = _Line.around(gt, det)
    gt_object, gt_start, gt_stop = _as_read(line, gt, gt_image)
    det_object, det_start, det_stop = _as_read(line, det, det_image)
    start = np.concatenate([gt_start, det_start])
    order = np.argsort(start, kind="stable")
    start = start[order]
    # The latest run of each side, wherever a run starts; -1, which is far before, where there is none yet.
    d = np.cumsum(order >= len(gt_start)) - 1
    g = np.arange(len(order)) - d - 1
    reach = np.minimum(np.append(gt_stop, _BEFORE)[g], np.append(det_stop, _BEFORE)[d])
    meets = np.flatnonzero(reach > start)
    pair = gt_object[g[meets]] * max(len(det_image), 1) + det_object[d[meets]]
    pair, shared = _summed(pair, reach[meets] - start[meets])
    order = np.argsort(pair, kind="stable")
    pair, shared = _summed(pair[order], shared[order])
    return *np.divmod(pair, max(len(det_image), 1)), shared.astype(np.float64)


def _summed(key: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Sum the values of each stretch of one key."""
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return key[first], np.add.reduceat(values, first) if len(first) else values


def union_area(
    group: Ints, a: LabelRuns, i: Ints, b: LabelRuns, j: Ints, groups: int, pair_areas: Floats | None = None
) -> Floats:
    """(groups,) areas of the union, within each group, of the intersections of ``a[i[k]]`` and ``b[j[k]]``.

    `pair_areas` are the areas of these intersections, where they are known.
    """
    alone = np.bincount(group, minlength=groups)[group] == 1
    result = np.zeros(groups)
    result[group[alone]] = pair_area(a, i[alone], b, j[alone]) if pair_areas is None else pair_areas[alone]
    if alone.all():
        return result
    group, i, j = group[~alone], i[~alone], j[~alone]
    line = _Line.around(a, b)
    pair, run = _runs_of(a, i)
    row = line.at(j[pair], a.row[run])
    b_start, b_stop = _intervals(line, b)
    a_run, b_run = _meetings(row + a.start[run], row + a.stop[run], b_start, b_stop)
    pair, run = pair[a_run], run[a_run]
    row = line.at(group[pair], a.row[run])
    start = row + np.maximum(a.start[run], b.start[b_run])
    stop = row + np.minimum(a.stop[run], b.stop[b_run])
    order = np.argsort(start, kind="stable")
    start, stop, owner = start[order], stop[order], group[pair][order]
    new = np.maximum(stop - np.maximum(start, _reach_before(stop)), 0)
    return result + np.bincount(owner, weights=new, minlength=groups)


def _as_read(line: _Line, runs: LabelRuns, image: Ints) -> tuple[Ints, Ints, Ints]:
    """Return object, start and stop of all runs as intervals, a band an image: disjoint and in order."""
    if runs.reading is None:
        raise ValueError("these runs are not those of pictures")
    start = line.at(image, np.zeros_like(image))[runs.object] + runs.row * line.columns + runs.start
    stop = start + (runs.stop - runs.start)
    return runs.object[runs.reading], start[runs.reading], stop[runs.reading]


# Intervals of the line -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows laid end to end, one band of rows after another; no run of a row touches one of the next.

    `row`, `column` are the smallest there are, `rows`, `columns` how many a band and a row have.
    """

    row: int
    rows: int
    column: int
    columns: int

    @staticmethod
    def around(*sides: LabelRuns, margin: int = 0) -> _Line:
        """Return a line with room for the runs of all sides, and twice a margin more of rows and columns."""
        filled = [runs for runs in sides if len(runs.row)]
        if not filled:
            return _Line(0, 1, 0, 1)
        row, column = min(int(runs.row.min()) for runs in filled), min(int(runs.start.min()) for runs in filled)
        rows, columns = max(int(runs.row.max()) for runs in filled), max(int(runs.stop.max()) for runs in filled)
        return _Line(row, rows - row + 1 + 2 * margin, column - margin, columns - column + 1 + 2 * margin)

    def at(self, band: Ints, row: Ints) -> Ints:
        """Where column 0 of a row stands."""
        return (band * self.rows + (row - self.row)) * self.columns - self.column


def _intervals(line: _Line, runs: LabelRuns) -> tuple[Ints, Ints]:
    """Runs as intervals, a band an object: disjoint and in order."""
    row = line.at(runs.object, runs.row)
    return row + runs.start, row + runs.stop


def _meetings(a_start: Ints, a_stop: Ints, b_start: Ints, b_stop: Ints) -> tuple[Ints, Ints]:
    """Return indices of all intervals a and b that share something; those of b are disjoint and in order."""
    first = np.searchsorted(b_stop, a_start, side="right")
    partners = np.searchsorted(b_start, a_stop, side="left") - first
    a = np.repeat(np.arange(len(a_start)), partners)
    return a, first[a] + _count_within(partners)


def _joined(start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the union of intervals as maximal ones."""
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    first = np.flatnonzero(start > _reach_before(stop))
    return start[first], np.maximum.reduceat(stop, first) if len(first) else stop


def _reach_before(stop: Ints) -> Ints:
    """How far the intervals before each reach, these being in order of their starts."""
    farthest = np.full(len(stop), _BEFORE)
    np.maximum.accumulate(stop[:-1], out=farthest[1:])
    return farthest


# Morphology ----------------------------------------------------------------------------------------------------------


def _to_change(runs: LabelRuns, radius: Ints) -> tuple[_Line, Ints, Ints, Ints]:
    """Return a line with room for the change, the intervals on it of all objects to be changed, each one's radius."""
    line = _Line.around(runs, margin=int(radius.max()))
    changes = radius[runs.object] > 0
    start, stop = (position[changes] for position in _intervals(line, runs))
    return line, start, stop, radius[runs.object[changes]]


def _window_shift(line: _Line, start: Ints, radius: Ints, step: int) -> Ints:
    """How far to shift what holds for windows of up to `step` rows, to combine both to windows of up to twice that."""
    rows = np.clip(2 * radius + 1 - step, 0, step)
    return np.asarray(rows[start // (line.rows * line.columns)] * line.columns)


def _replaced(runs: LabelRuns, line: _Line, start: Ints, stop: Ints, radius: Ints) -> LabelRuns:
    """Put intervals, whose windows end 2 * radius rows below where they began, in place of their objects' runs."""
    line_row, column = np.divmod(start, line.columns)
    owner, row = np.divmod(line_row, line.rows)
    stays = ~_is_among(owner, len(radius))[runs.object]
    column += line.column
    columns = (
        np.concatenate([owner, runs.object[stays]]),
        np.concatenate([row + line.row - radius[owner], runs.row[stays]]),
        np.concatenate([column, runs.start[stays]]),
        np.concatenate([column + (stop - start), runs.stop[stays]]),
    )
    order = np.argsort(columns[0], kind="stable")
    return _label_runs([values[order] for values in columns], len(radius))


# Small things --------------------------------------------------------------------------------------------------------


def _label_runs(columns: Sequence[Ints], objects: int, reading: Ints | None = None) -> LabelRuns:
    owner, row, start, stop = columns
    return LabelRuns(owner, row, start, stop, np.searchsorted(owner, np.arange(objects + 1)), reading)


def _runs_of(runs: LabelRuns, index: Ints) -> tuple[Ints, Ints]:
    """Expand objects to their runs: place in `index`, and run, of each."""
    counts = np.diff(runs.offsets)[index]
    place = np.repeat(np.arange(len(index)), counts)
    return place, runs.offsets[index][place] + _count_within(counts)


def _count_within(counts: Ints) -> Ints:
    """0, 1, ..., counts[k] - 1 for every k, one after another."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _is_among(index: Ints, count: int) -> Bools:
    found = np.zeros(count, dtype=bool)
    found[index] = True
    return found


def _stable_order(owner: Ints) -> Ints:
    """Return a stable order by owner; a picture's objects mostly fit 16 bits, which sort by radix."""
    if len(owner) and np.ptp(owner) < 1 << 16:
        owner = (owner - owner.min()).astype(np.uint16)
    return np.argsort(owner, kind="stable")
