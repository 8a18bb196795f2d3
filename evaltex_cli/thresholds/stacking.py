"""The evidence of a batch's images at each confidence level, from overlaps that were measured once.

An image has a row of evidence for each of its states (`protocols.level_states`). The states of many
images are stacked into one batch, in which an image is there once for each of its states, with the
detections that are kept; so a protocol needs nothing of its own for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.evaluation.tally import Run
from evaltex_cli.geometry import overlaps
from evaltex_cli.protocols.level_states import LevelStates, offsets_by_image
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import ImageBatch, Ints, Overlaps, offsets_of
from evaltex_cli.records.rows import take, take_images
from evaltex_cli.thresholds.levels import Levels

STACKED_OBJECTS = 1 << 17
"""Objects and overlaps that are stacked at once, but for those of one state."""
COUNTED_OBJECTS = 1 << 21
"""As `STACKED_OBJECTS`, where a protocol counts by level and copies only what is disputed."""


class StateRows(NamedTuple):
    """Evidence of images at some levels."""

    image: Ints
    start: Ints
    stop: Ints
    """`image`, `start` and `stop`: (n,) int64. The image of each row, the first level of which it
    is, and the one after the last."""
    tally: Tally
    """Columns of n rows."""


def states_of(batch: ImageBatch, drop: Ints, start: int, stop: int, levels: int) -> LevelStates:
    """Return the states of all images from level `start` to before level `stop`.

    Parameters
    ----------
    drop : (D,) int64
        How many levels keep each detection.
    levels : int
        How many there are in all.
    """
    images = len(batch.names)
    changes = (drop > start) & (drop < stop)
    key = batch.det.image[changes] * (levels + 1) + drop[changes]
    key = np.sort(np.concatenate([np.arange(images) * (levels + 1) + start, key]))
    key = key[np.diff(key, prepend=-1) > 0]
    return LevelStates(key // (levels + 1), key % (levels + 1), drop, levels)


def rows_of(
    run: Run, batch: ImageBatch, levels: Levels, segment: tuple[int, int], first: Tally | None
) -> StateRows:
    """Return the evidence of all images at the levels of a segment.

    Parameters
    ----------
    run : Run
        The protocol, and its parameters at these levels.
    segment : (int, int)
        The first level, and the one after the last.
    first : Tally or None
        The evidence at the first level, one row per image, if it is known.
    """
    start, stop = segment
    states = states_of(batch, levels.drops(batch.det), start, stop, len(levels))
    ends = np.append(states.level[1:], stop)
    ends[np.diff(states.image, append=-1) != 0] = stop
    if first is None:
        return StateRows(states.image, states.level, ends, _evidence(run, batch, states))
    is_first = states.level == start
    changed = np.flatnonzero(~is_first)
    others = LevelStates(states.image[changed], states.level[changed], states.drop, states.levels)
    # Rows of the first level come first, in the order of the images.
    order = np.concatenate([np.flatnonzero(is_first), changed])
    tally = first
    if len(changed):
        tally = type(first).concatenate([first, _evidence(run, batch, others)])
    return StateRows(states.image[order], states.level[order], ends[order], tally)


def _evidence(run: Run, batch: ImageBatch, states: LevelStates) -> Tally:
    """One row for each of the states."""
    protocol, parameters = run.protocol, run.parameters
    convention = protocol.convention(parameters)
    measured = overlaps.of(batch, convention)
    if protocol.by_level is not None:
        several = _parts(batch, measured, states, COUNTED_OBJECTS)
        counted = [protocol.by_level(batch, measured, parameters, part) for part in several]
        found = [one for one in counted if one is not None]
        if len(found) == len(counted):
            return _joined(found)
    parts = _parts(batch, measured, states, STACKED_OBJECTS)
    return _joined([_stacked_tally(run, batch, measured, part) for part in parts])


def _stacked_tally(run: Run, batch: ImageBatch, measured: Overlaps, states: LevelStates) -> Tally:
    """One row for each of a few states; no stack is kept while the next one is made."""
    stacked, of_stacked = stack(batch, measured, states)
    stacked.measured[run.protocol.convention(run.parameters)] = of_stacked
    return run.protocol.evidence(stacked, of_stacked, run.parameters, False).tally


def _joined(parts: Sequence[Tally]) -> Tally:
    return parts[0] if len(parts) == 1 else type(parts[0]).concatenate(parts)


def _parts(
    batch: ImageBatch, measured: Overlaps, states: LevelStates, most: int
) -> Iterator[LevelStates]:
    """Cut states so that memory is bounded; a batch without states gives an empty part."""
    images = len(batch.names)
    sizes = np.diff(batch.gt.offsets) + np.diff(batch.det.offsets) + 1
    sizes += np.bincount(batch.gt.image[measured.gt], minlength=images)
    until, start, before = np.cumsum(sizes[states.image]), 0, 0
    while start < len(states) or not start:
        stop = int(np.searchsorted(until, before + most, side="right"))
        stop = max(stop, start + 1)
        yield states.part(start, stop)
        start, before = stop, int(until[stop - 1]) if stop <= len(until) else 0


def stack(
    batch: ImageBatch, measured: Overlaps, states: LevelStates
) -> tuple[ImageBatch, Overlaps]:
    """Return a batch with one image for each state, and its overlaps."""
    gt = states.stacked(batch.gt.offsets)[0]
    gt_offsets = offsets_of(np.diff(batch.gt.offsets)[states.image])
    det, det_state = states.stacked(batch.det.offsets)
    kept = states.drop[det] > states.level[det_state]
    det_offsets = offsets_of(np.bincount(det_state[kept], minlength=len(states)))
    is_each_once = np.array_equal(states.image, np.arange(len(batch.names)))
    names, in_detections = batch.names, batch.in_detections
    stacked = replace(
        batch,
        names=[names[k] for k in states.image.tolist()],
        sizes=batch.sizes[states.image],
        gt=batch.gt if is_each_once else take(batch.gt, gt, gt_offsets),
        det=take(batch.det, det[kept], det_offsets),
        in_detections=None if in_detections is None else in_detections[states.image],
        gt_lines=None if batch.gt_lines is None else take_images(batch.gt_lines, states.image),
    )
    pair, state = states.stacked(offsets_by_image(batch.gt.image[measured.gt], len(batch.names)))
    # Where an object of the batch is in the stack: moved as its image's first object was.
    moved_gt = (gt_offsets[:-1] - batch.gt.offsets[:-1][states.image])[state]
    before = offsets_of(np.diff(batch.det.offsets)[states.image])[:-1]
    moved_det = (before - batch.det.offsets[:-1][states.image])[state]
    place = measured.det[pair] + moved_det
    of_kept = kept[place]
    pair = pair[of_kept]
    return stacked, Overlaps(
        measured.gt[pair] + moved_gt[of_kept],
        (np.cumsum(kept) - 1)[place[of_kept]],
        measured.area[pair],
        measured.gt_area[gt],
        measured.det_area[det[kept]],
        _rows(measured.gt_boxes, gt),
        _rows(measured.det_boxes, det[kept]),
    )


def _rows(values: Any, rows: Ints) -> Any:
    return None if values is None else values[rows]
