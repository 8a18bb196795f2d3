"""Every pair of one image's objects that overlaps, measured once for a whole batch of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import (
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    blocks,
    stretches,
)

CONTINUOUS = Convention()
DENSE_PAIRS = 4096
"""An image with more possible pairs than this is crowded, and goes through a tree; fewer are
measured all at once.
"""
WORTH_A_TREE = 1 << 17
"""If all crowded images of a batch together have no more possible pairs, they are measured all at
once, too: importing shapely for a tree takes longer.
"""
PAIRS_AT_ONCE = 1 << 15
"""Pairs of boxes that a tree is asked for at once; a pair takes 100 bytes on the way."""
BOXES_OF_TREE = 1 << 15
"""Boxes of which one tree is made; each takes 300 bytes in it."""


def of(batch: ImageBatch, convention: Convention = CONTINUOUS) -> Overlaps:
    """Return all overlaps of a batch (`measure`), which are measured once; of
    masks for all conventions together.
    """
    convention = CONTINUOUS if batch.has_masks else convention
    if convention not in batch.measured:
        alike = _without_cut(batch, convention)
        batch.measured[convention] = (
            measure(batch, convention) if alike == convention else of(batch, alike)
        )
    return batch.measured[convention]


def keep_only(batch: ImageBatch, conventions: Sequence[Convention]) -> None:
    """Forget what was measured for other conventions than these, which coordinates that none cuts
    may share with those that are not cut.
    """
    kept = {*conventions, *(one._replace(truncated=False) for one in conventions)}
    for columns in (batch.measured, batch.shapes):
        for other in columns.keys() - kept:
            del columns[other]


def _without_cut(batch: ImageBatch, convention: Convention) -> Convention:
    """Return a convention without the cut to integers, if no coordinate is cut."""
    if convention.truncated:
        coordinates = (
            values
            for side in (batch.gt, batch.det)
            for values in (side.outlines.vertices, side.boxes, side.pixels)
            if values is not None
        )
        if all((np.trunc(values) == values).all() for values in coordinates):
            return convention._replace(truncated=False)
    return convention


def measure(batch: ImageBatch, convention: Convention = CONTINUOUS) -> Overlaps:
    """Measure all overlaps of a batch.

    Parameters
    ----------
    batch : ImageBatch
    convention : Convention
        How boxes and polygons are taken; masks are what they are.

    Returns
    -------
    Overlaps
        Pairs with an intersection larger than rounding can make it, sorted by (gt, det). They do
        not depend on which images share the batch.
    """
    if batch.gt_runs is not None and batch.det_runs is not None:
        from evaltex_cli.geometry import label_runs

        gt, det, area = label_runs.overlaps(batch.gt_runs, batch.det_runs)
        return Overlaps(
            gt, det, area, label_runs.area(batch.gt_runs), label_runs.area(batch.det_runs)
        )
    gt_boxes, det_boxes = (
        shapes.boxes_of(batch.gt, convention),
        shapes.boxes_of(batch.det, convention),
    )
    gt, det = touching_boxes(gt_boxes, batch.gt.offsets, det_boxes, batch.det.offsets)
    gt_shapes, det_shapes = shapes_of(batch, convention)
    area = shapes.pair_area(gt_shapes, gt, det_shapes, det)
    overlap = area > 0
    areas = shapes.area(gt_shapes), shapes.area(det_shapes)
    return Overlaps(
        gt[overlap], det[overlap], area[overlap], *areas, gt_shapes.boxes, det_shapes.boxes
    )


def shapes_of(batch: ImageBatch, convention: Convention) -> tuple[Shapes, Shapes]:
    """Return the shapes of both sides as a convention takes them, which are made once."""
    if convention not in batch.shapes:
        alike = _without_cut(batch, convention)
        if alike == convention:
            gt, det = (_made(batch, side, convention) for side in (batch.gt, batch.det))
            batch.shapes[convention] = gt, det
        else:
            batch.shapes[convention] = shapes_of(batch, alike)
    return batch.shapes[convention]


def _made(batch: ImageBatch, side: Objects, convention: Convention) -> Shapes:
    return shapes.from_objects(side, convention)


def touching_boxes(a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints) -> tuple[Ints, Ints]:
    """Return the pairs (i, j) of boxes of the same image that share some area, sorted.

    Parameters
    ----------
    a, b : (n, 4), (m, 4) float64
        Boxes of all images.
    a_offsets, b_offsets : (images + 1,) int64
        Which image owns which.
    """
    sides = a, a_offsets, b, b_offsets
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64)), *_of_small_images(*sides)]
    crowded = _crowded(a_offsets, b_offsets)
    for k in crowded.tolist():
        pairs += _by_tree(*sides, k)
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    if not len(crowded):
        return i, j
    order = np.lexsort((j, i))
    return i[order], j[order]


def touching_parts(
    a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of `touching_boxes`, however many, in parts: no pair comes after one with a
    later i and a j that is not earlier.
    """
    sides = a, a_offsets, b, b_offsets
    yield from _of_small_images(*sides)
    for k in _crowded(a_offsets, b_offsets).tolist():
        yield from _by_tree(*sides, k)


def _crowded(a_offsets: Ints, b_offsets: Ints) -> Ints:
    """Images that go through a tree."""
    possible = np.diff(a_offsets) * np.diff(b_offsets)
    crowded = np.flatnonzero(possible > DENSE_PAIRS)
    return crowded if possible[crowded].sum() > WORTH_A_TREE else crowded[:0]


def _of_small_images(
    a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs of images that are not crowded, `PAIRS_AT_ONCE` possible ones at a time."""
    a_count, b_count = np.diff(a_offsets), np.diff(b_offsets)
    b_count[_crowded(a_offsets, b_offsets)] = 0
    # Every box of a with every box of b of its image: how many partners each box of a has, then
    # which.
    partners = np.repeat(b_count, a_count)
    first = np.repeat(b_offsets[:-1], a_count)
    for start, stop in blocks(partners, PAIRS_AT_ONCE):
        some = slice(start, stop)
        i = np.repeat(np.arange(start, stop), partners[some])
        yield _meeting(a, i, b, stretches(first[some], partners[some]))


def _meeting(a: Floats, i: Ints, b: Floats, j: Ints) -> tuple[Ints, Ints]:
    """Return those of some pairs that share some area."""
    for column in (0, 1):
        meet = (a[:, column][i] < b[:, column + 2][j]) & (b[:, column][j] < a[:, column + 2][i])
        i, j = i[meet], j[meet]
    return i, j


def _by_tree(
    a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints, image: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield an image's pairs, of `PAIRS_AT_ONCE` that touch, or of one box of a, at a time."""
    a_start, a_stop = a_offsets[image : image + 2].tolist()
    b_start, b_stop = b_offsets[image : image + 2].tolist()
    for first in range(b_start, b_stop, BOXES_OF_TREE):
        others = b[first : min(first + BOXES_OF_TREE, b_stop)]
        # A tree asks shapes only for their bounding boxes, and a diagonal takes less memory than a
        # rectangle.
        diagonals: Any = geometry.shapely.linestrings(others.reshape(-1, 2, 2))
        tree = geometry.shapely.STRtree(diagonals)
        near = a_start + _near(a[a_start:a_stop], others)
        for start, stop in blocks(_most_touching(a[near], others), PAIRS_AT_ONCE):
            some = near[start:stop]
            i, j = tree.query(geometry.shapely.linestrings(a[some].reshape(-1, 2, 2)))
            yield _meeting(a, some[i], b, j + first)


def _near(a: Floats, b: Floats) -> Ints:
    """Which boxes of a share some area with the smallest box around all of b."""
    low, high = b[:, :2].min(axis=0), b[:, 2:].max(axis=0)
    return np.flatnonzero(((a[:, :2] < high) & (low < a[:, 2:])).all(axis=1))


def _most_touching(a: Floats, b: Floats) -> Ints:
    """(n,) at least as many boxes of b as touch each of a: those that do along x, or along y."""
    most = np.full(len(a), len(b))
    for column in (0, 1):
        # Of boxes that begin before a ends, take away those that end before a begins: the rest meet
        # it.
        begun = np.searchsorted(np.sort(b[:, column]), a[:, column + 2], side="right")
        ended = np.searchsorted(np.sort(b[:, column + 2]), a[:, column], side="left")
        most = np.minimum(most, begun - ended)
    return most
