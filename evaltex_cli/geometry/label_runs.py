"""Labelled masks behind the same functions as `shapes`: areas are pixel counts, everything is a
sweep over runs.

Runs stay as the pictures show them, disjoint and in order, so that areas, extents and overlaps sort
nothing. Only objects that grow, shrink or must be distinguished are taken out (`by_object`): their
rows are laid end to end on one line of integers, so that a run is an interval of that line, and the
geometry that of sorted intervals (`_Line`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.geometry.intervals import BEFORE, covered_length, joined, meetings
from evaltex_cli.geometry.shapes import Pairs
from evaltex_cli.records import Bools, Floats, Ints, LabelRuns, stretches

_STRIP_RUNS = 1 << 15


class ObjectRuns(NamedTuple):
    """Runs of objects, sorted by (object, row, start): (r,) object, row, first column, column after
    the last.

    Object i owns runs ``offsets[i]:offsets[i + 1]``. Rows count through all pictures of the batch.
    """

    owner: Ints
    row: Ints
    start: Ints
    stop: Ints
    offsets: Ints


class Moved(NamedTuple):
    """Objects of label pictures of which some are grown or shrunk; `moved`
    says which, `runs` are theirs alone.
    """

    pictures: LabelRuns
    moved: Bools
    runs: ObjectRuns

    @property
    def objects(self) -> int:
        """Objects in the batch."""
        return len(self.moved)


Masks: TypeAlias = LabelRuns | Moved


def by_object(masks: Masks, index: Ints) -> ObjectRuns:
    """Return the runs of some objects; the others have none."""
    chosen = _is_among(index, masks.objects)
    if isinstance(masks, Moved):
        still, runs = by_object(masks.pictures, np.flatnonzero(chosen & ~masks.moved)), masks.runs
        run = np.flatnonzero(chosen.take(runs.owner))
        columns = [
            np.concatenate([a, b.take(run)]) for a, b in zip(still[:4], runs[:4], strict=True)
        ]
        order = _stable_order(columns[0])
        return _object_runs([column.take(order) for column in columns], masks.objects)
    run = np.flatnonzero(chosen.take(masks.owner))
    run = run.take(_stable_order(masks.owner.take(run)))
    row, start = np.divmod(masks.start.take(run).astype(np.int64), masks.columns)
    stop = masks.stop.take(run) - row * masks.columns
    return _object_runs([masks.owner.take(run), row, start, stop], masks.objects)


def area(masks: Masks) -> Floats:
    """(objects,) pixel counts."""
    runs = masks.runs if isinstance(masks, Moved) else masks
    pixels = np.bincount(runs.owner, weights=runs.stop - runs.start, minlength=masks.objects)
    if isinstance(masks, Moved):
        pixels = np.where(masks.moved, pixels, area(masks.pictures))
    return pixels.astype(np.float64)  # of nothing at all, numpy's sums are integers


def extent(runs: LabelRuns) -> tuple[Floats, Floats]:
    """Heights and widths (objects,) of the objects' bounding boxes in pixels;
    0 for one without pixels.
    """
    row = runs.start // runs.columns
    begins = np.ones(len(row), dtype=bool)
    # Runs are in reading order: the first run of an object in a row, and the last, are next to a
    # change.
    begins[1:] = (runs.owner[1:] != runs.owner[:-1]) | (row[1:] != row[:-1])
    first = np.flatnonzero(begins)
    last = np.append(first, len(row))[1:] - 1
    owner, row = runs.owner.take(first), row.take(first).astype(np.int64)
    start, stop = (
        ends - row * runs.columns for ends in (runs.start.take(first), runs.stop.take(last))
    )
    return _span(owner, row, row + 1, runs.objects), _span(owner, start, stop, runs.objects)


def _span(owner: Ints, low: Ints, high: Ints, objects: int) -> Floats:
    lowest: Ints = np.full(objects, np.iinfo(np.int64).max)
    highest = np.zeros(objects, np.int64)
    # Unlike lowest[owner] = ..., `at` applies every one of several values of an owner.
    np.minimum.at(lowest, owner, low)
    np.maximum.at(highest, owner, high)
    span: Floats = np.maximum(highest - lowest, 0).astype(np.float64)
    return span


def grown(runs: LabelRuns, radius: Ints) -> Masks:
    """Dilate each object by a square of 2 * radius + 1 pixels (EvaLTex Eq.
    7); no picture border clips the result.
    """
    if not radius.any():
        return runs
    line, start, stop, reach = _to_change(runs, radius)
    # First along the rows; then rows are doubled until the window has 2 * radius + 1 of them.
    start, stop = joined(start - reach, stop + reach)
    step = 1
    while (step < 2 * radius + 1).any():
        shift = _window_shift(line, start, radius, step)
        start, stop = joined(
            np.concatenate([start, start + shift]), np.concatenate([stop, stop + shift])
        )
        step *= 2
    return Moved(runs, radius > 0, _from_line(line, start, stop, radius))


def shrunk_or_same(runs: LabelRuns, radius: Ints) -> Masks:
    """Erode each object by a square of 2 * radius + 1 pixels (EvaLTex Eq. 8), all else being
    background.

    An object of which nothing would remain stays as it is.
    """
    if not radius.any():
        return runs
    line, start, stop, reach = _to_change(runs, radius)
    # First along the rows; then each position must be in all of the 2 * radius + 1 rows of its
    # window.
    remains = stop - start > 2 * reach
    start, stop = (start + reach)[remains], (stop - reach)[remains]
    step = 1
    while (step < 2 * radius + 1).any():
        shift = _window_shift(line, start, radius, step)
        a, b = meetings(start, stop, start + shift, stop + shift)
        start, stop = (
            np.maximum(start[a], start[b] + shift[b]),
            np.minimum(stop[a], stop[b] + shift[b]),
        )
        step *= 2
    shrunk = _from_line(line, start, stop, radius)
    return Moved(runs, np.diff(shrunk.offsets) > 0, shrunk)


def pair_area(a: Masks, i: Ints, b: Masks, j: Ints) -> Floats:
    """(p,) areas of the intersections of ``a[i[k]]`` and ``b[j[k]]``, two objects of one image."""
    if a is b and isinstance(a, LabelRuns):
        return np.where(i == j, area(a)[i], 0.0)
    a_runs, b_runs = by_object(a, i), by_object(b, j)
    line = _Line.around(a_runs, b_runs)
    pair, run = _runs_of(a_runs, i)
    row = line.at(j[pair], a_runs.row[run])
    start, stop = _intervals(line, b_runs)
    # Pixels of b before a position: all of the runs that begin before it, less what the last of
    # them has beyond it.
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(stop - start)])
    latest = np.concatenate([np.full(1, BEFORE), stop])

    def covered_before(position: Ints) -> Ints:
        at = np.searchsorted(start, position, side="right")
        return np.asarray(before.take(at) - np.maximum(latest.take(at), position) + position)

    shared = covered_before(row + a_runs.stop[run]) - covered_before(row + a_runs.start[run])
    return np.bincount(pair, weights=shared, minlength=len(i)).astype(np.float64)


def overlaps(gt: LabelRuns, det: LabelRuns) -> tuple[Ints, Ints, Floats]:
    """Find all pairs of one image's objects that share pixels.

    Returns
    -------
    gt, det, area : (p,)
        Indices of the objects and shared pixels, sorted by (gt, det).
    """
    parts = [
        _overlaps_of_strip(gt, *gt_strip, det, *det_strip)
        for gt_strip, det_strip in _strips(gt, det)
    ]
    pair, shared = (np.concatenate(column) for column in zip(*parts, strict=True))
    gt_object, det_object = np.divmod(pair, max(det.objects, 1))
    order = _stable_order(det_object)
    # Two stable sorts, the less important key first: a radix sort of each is faster than one of
    # both.
    order = order.take(_stable_order(gt_object.take(order)))
    pair, shared = _summed(pair.take(order), shared.take(order))
    return *np.divmod(pair, max(det.objects, 1)), shared.astype(np.float64)


def _strips(gt: LabelRuns, det: LabelRuns) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the first run of either side, and the one after the last, in
    strips of rows that fit a cache.
    """
    # Cut at the beginnings of rows, so that no run crosses a cut.
    rows = gt.start[_STRIP_RUNS::_STRIP_RUNS] // gt.columns * gt.columns
    bounds = (
        [0, *np.searchsorted(runs.start, rows).tolist(), len(runs.start)] for runs in (gt, det)
    )
    return zip(*(itertools.pairwise(side) for side in bounds), strict=True)


def _overlaps_of_strip(
    gt: LabelRuns, gt_first: int, gt_after: int, det: LabelRuns, det_first: int, det_after: int
) -> tuple[Ints, Ints]:
    """Numbers ``gt * det.objects + det`` of pairs and pixels they share; a
    pair may come several times.
    """
    gt_start, det_start = gt.start[gt_first:gt_after], det.start[det_first:det_after]
    if not len(gt_start) or not len(det_start):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    start = np.concatenate([gt_start, det_start])
    order = np.argsort(start, kind="stable")
    # Wherever a run starts, the latest of each side; none meets another before both sides have
    # begun.
    both = int(
        max(
            np.searchsorted(gt_start, det_start[0], side="right"),
            np.searchsorted(det_start, gt_start[0]),
        )
    )
    # Counting the starts of a side gives the latest of its runs; of k starts, those not of det are
    # of gt.
    d = np.cumsum(order >= len(gt_start))[both:] - 1
    g = np.arange(both - 1, len(order) - 1) - d
    shared = np.minimum(gt.stop[gt_first:].take(g), det.stop[det_first:].take(d)) - start.take(
        order[both:]
    )
    meets = np.flatnonzero(shared > 0)
    gt_object = gt.owner[gt_first:].take(g.take(meets))
    det_object = det.owner[det_first:].take(d.take(meets))
    return _summed(gt_object * det.objects + det_object, shared.take(meets))


def _summed(key: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Sum the values of each stretch of one key."""
    # Keys are at least 0, so the first one differs from the prepended -1.
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return key.take(first), np.add.reduceat(values, first, dtype=np.int64) if len(first) else values


def union_area(group: Ints, pairs: Pairs[Masks], groups: int) -> Floats:
    """(groups,) areas of the union of the intersections of each group's
    pairs; `group` is in ``range(groups)``.
    """
    a, i, b, j, known = pairs
    # Counting members by group and looking the count up again says of each member how many its
    # group has.
    alone = np.bincount(group, minlength=groups)[group] == 1
    result = np.zeros(groups)
    result[group[alone]] = pair_area(a, i[alone], b, j[alone]) if known is None else known[alone]
    if alone.all():
        return result
    group, i, j = group[~alone], i[~alone], j[~alone]
    a_runs, b_runs = by_object(a, i), by_object(b, j)
    line = _Line.around(a_runs, b_runs)
    pair, run = _runs_of(a_runs, i)
    row = line.at(j[pair], a_runs.row[run])
    b_start, b_stop = _intervals(line, b_runs)
    a_run, b_run = meetings(row + a_runs.start[run], row + a_runs.stop[run], b_start, b_stop)
    pair, run = pair[a_run], run[a_run]
    row = line.at(group[pair], a_runs.row[run])
    start = row + np.maximum(a_runs.start[run], b_runs.start[b_run])
    stop = row + np.minimum(a_runs.stop[run], b_runs.stop[b_run])
    return result + covered_length(group[pair], start, stop, groups)


# Lines of runs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows laid end to end, one band of rows after another; no run of a row touches one of the
    next.

    `row`, `column` are the smallest there are, `rows`, `columns` how many a band and a row have.
    """

    row: int
    rows: int
    column: int
    columns: int

    @staticmethod
    def around(*sides: ObjectRuns, margin: int = 0) -> _Line:
        """Return a line with room for the runs of all sides, and twice a
        margin more of rows and columns.
        """
        filled = [runs for runs in sides if len(runs.row)]
        if not filled:
            return _Line(0, 1, 0, 1)
        row, column = (
            min(int(runs.row.min()) for runs in filled),
            min(int(runs.start.min()) for runs in filled),
        )
        rows, columns = (
            max(int(runs.row.max()) for runs in filled),
            max(int(runs.stop.max()) for runs in filled),
        )
        return _Line(
            row, rows - row + 1 + 2 * margin, column - margin, columns - column + 1 + 2 * margin
        )

    def at(self, band: Ints, row: Ints) -> Ints:
        """Position of column 0 of a row."""
        return (band * self.rows + (row - self.row)) * self.columns - self.column


def _intervals(line: _Line, runs: ObjectRuns) -> tuple[Ints, Ints]:
    """Runs as intervals, a band an object: disjoint and in order."""
    row = line.at(runs.owner, runs.row)
    return row + runs.start, row + runs.stop


# Morphology ---------------------------------------------------------------------------------------


def _to_change(runs: LabelRuns, radius: Ints) -> tuple[_Line, Ints, Ints, Ints]:
    """Return a line with room for the change, the intervals on it of all
    objects to be changed, each one's radius.
    """
    own = by_object(runs, np.flatnonzero(radius))
    line = _Line.around(own, margin=int(radius.max()))
    return line, *_intervals(line, own), radius.take(own.owner)


def _window_shift(line: _Line, start: Ints, radius: Ints, step: int) -> Ints:
    """How far to shift windows of up to `step` rows, so that both together
    are windows of up to twice that.
    """
    rows = np.clip(2 * radius + 1 - step, 0, step)
    return np.asarray(rows[start // (line.rows * line.columns)] * line.columns)


def _from_line(line: _Line, start: Ints, stop: Ints, radius: Ints) -> ObjectRuns:
    """Return intervals, whose windows end 2 * radius rows below where they began, as runs."""
    line_row, column = np.divmod(start, line.columns)
    owner, row = np.divmod(line_row, line.rows)
    column += line.column
    return _object_runs(
        (owner, row + line.row - radius.take(owner), column, column + (stop - start)), len(radius)
    )


# Small things -------------------------------------------------------------------------------------


def _object_runs(columns: Sequence[Ints], objects: int) -> ObjectRuns:
    owner, row, start, stop = columns
    # Owners are sorted, so the place of k among them is the number of runs of the objects before k.
    return ObjectRuns(owner, row, start, stop, np.searchsorted(owner, np.arange(objects + 1)))


def _runs_of(runs: ObjectRuns, index: Ints) -> tuple[Ints, Ints]:
    """Expand objects to their runs: place in `index`, and run, of each."""
    counts = np.diff(runs.offsets)[index]
    return np.repeat(np.arange(len(index)), counts), stretches(runs.offsets[index], counts)


def _is_among(index: Ints, count: int) -> Bools:
    is_among = np.zeros(count, dtype=bool)
    is_among[index] = True
    return is_among


def _stable_order(owner: Ints) -> Ints:
    """Return a stable order by owner; a picture's objects mostly fit 16 bits, sorted by radix."""
    if len(owner) and np.ptp(owner) < 1 << 16:
        # numpy sorts 16 bit integers by radix.
        owner = (owner - owner.min()).astype(np.uint16)
    return np.argsort(owner, kind="stable")
