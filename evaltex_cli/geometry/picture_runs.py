"""Label pictures encoded as runs: maximal stretches of one label in one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints, LabelRuns, offsets_of

NO_OBJECT = -1
_TABULATED = 1 << 16
"""Labels below this are looked up in a table."""


class PictureRuns(NamedTuple):
    """Runs of one picture in reading order: label (any numeric dtype), first pixel, the one after
    the last; its shape.

    Pixels are numbered row by row, from 0.
    """

    label: NDArray[Any]
    start: Ints
    stop: Ints
    shape: tuple[int, int]


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
    if label.min(initial=0) >= 0 and label.max(initial=0) < _TABULATED:
        table = np.full(int(label.max(initial=0)) + 1, NO_OBJECT)
        known = np.flatnonzero((ids >= 0) & (ids < len(table)))
        table[ids[known]] = known
        return table.take(label)
    order = np.argsort(ids, kind="stable")
    at = order[np.minimum(np.searchsorted(ids[order], label), len(ids) - 1)]
    return np.where(ids[at] == label, at, NO_OBJECT)


def join(
    pictures: Sequence[tuple[PictureRuns, Ints] | None], shapes: Ints, objects: int
) -> LabelRuns:
    """Join pictures to the runs of a batch.

    Parameters
    ----------
    pictures : sequence of (PictureRuns, (r,) int64) or None
        Each image's runs, and the batch's object of each; None for an image without a picture.
    shapes : (images, 2) int64
        Heights and widths of all images, those without a picture too.
    objects : int
        Objects in the batch.
    """
    columns = max(int(shapes[:, 1].max(initial=0)), 1)
    first = offsets_of(shapes[:, 0])[:-1] * columns
    dtype = _number_type(int(shapes[:, 0].sum()) * columns)
    parts: list[tuple[Ints, ...]] = [(np.zeros(0, np.int64), *[np.zeros(0, dtype)] * 2)]
    for picture, before in zip(pictures, first.tolist(), strict=True):
        if picture is None:
            continue
        runs, owner = picture
        width = runs.shape[1]
        shift = (
            before if width == columns else before + runs.start // max(width, 1) * (columns - width)
        )
        parts.append((owner, (runs.start + shift).astype(dtype), (runs.stop + shift).astype(dtype)))
    owner, start, stop = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LabelRuns(owner, start, stop, columns, objects)


def _number_type(pixels: int) -> type[np.signedinteger[Any]]:
    """Return the narrower type if it can number all pixels."""
    return np.int32 if pixels <= np.iinfo(np.int32).max else np.int64
