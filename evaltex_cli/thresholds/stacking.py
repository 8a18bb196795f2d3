"""The evidence of a batch's images at each confidence level, from overlaps that were measured once.

The detections that an image keeps change only at the levels at which one of them drops out; what it
keeps from one such level to the next has one row of evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Ints
from evaltex_cli.thresholds.levels import Levels


class StateRows(NamedTuple):
    """Evidence of images at some levels."""

    image: Ints
    start: Ints
    stop: Ints
    """`image`, `start` and `stop`: (n,) int64. The image of each row, the first level of which it
    is, and the one after the last."""
    tally: Tally
    """Columns of n rows."""


def rows_of(
    run: Run, measured: Measured, levels: Levels, segment: tuple[int, int], first: Tally | None
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
    batch = measured.batch
    drop, every = levels.drops(batch.det), np.arange(len(batch.names))

    def evidence(images: Ints, level: int) -> Tally:
        some = measured.some(images, drop > level)
        return some.evidence(run.protocol, run.parameters).tally

    images, begins = [every], [np.full(len(every), start)]
    tallies = [evidence(every, start) if first is None else first]
    for level in range(start + 1, stop):
        changed = np.unique(batch.det.image[drop == level])
        if len(changed):
            images.append(changed)
            begins.append(np.full(len(changed), level))
            tallies.append(evidence(changed, level))
    image, begin = np.concatenate(images), np.concatenate(begins)
    order = np.lexsort((begin, image))
    end = np.empty(len(image), np.int64)
    is_last = np.diff(image[order], append=-1) != 0
    end[order] = np.where(is_last, stop, np.append(begin[order][1:], stop))
    return StateRows(image, begin, end, type(tallies[0]).concatenate(tallies))


def joined(parts: Sequence[StateRows], names: Sequence[str]) -> StateRows:
    """Return the rows of all parts, whose images are numbered one after the other, in the order of
    their names: sums do not depend on that of the files.
    """
    image, start, stop = (np.concatenate([part[k] for part in parts]) for k in range(3))
    tallies = [part.tally for part in parts]
    tally = type(tallies[0]).concatenate(tallies)
    rank = np.empty(len(names), np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    order = np.lexsort((start, rank[image]))
    return StateRows(image[order], start[order], stop[order], tally.take(order))


def sums_of(rows: StateRows, fold: Ints, levels: int) -> list[list[Tally]]:
    """Return the sums of each fold of the images at each level; `fold` is (images,) that of each.

    A row is added at its first level, and taken away at the one after its last.
    """
    of_row = fold[rows.image]
    folds = int(fold.max(initial=0)) + 1
    columns = {}
    for name, column in rows.tally.as_dict().items():
        changes = np.zeros((folds, levels + 1, *column.shape[1:]), column.dtype)
        np.add.at(changes, (of_row, rows.start), column)
        np.add.at(changes, (of_row, rows.stop), -column)
        columns[name] = np.cumsum(changes, axis=1).tolist()
    tally = type(rows.tally)
    return [
        [
            tally(**{name: sums[k][level] for name, sums in columns.items()})
            for level in range(levels)
        ]
        for k in range(folds)
    ]
