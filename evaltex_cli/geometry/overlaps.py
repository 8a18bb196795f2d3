"""Every pair of one image's objects that overlaps, measured once for a whole batch of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry import label_runs, shapes
from evaltex_cli.records import Convention, Floats, ImageBatch, Ints, Overlaps, stretches

CONTINUOUS = Convention()
DENSE_PAIRS = 4096
"""An image with more possible pairs than this goes through a tree; fewer are measured all at once."""
MAX_PAIRS = 1_000_000
"""Most overlapping pairs of an image, those of 1,000 boxes of either side in one place; a pair takes up to 1 KB."""


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
        Pairs with an intersection larger than rounding can make it, sorted by (gt, det). They do not depend on which
        images share the batch.

    Raises
    ------
    InputError
        For an image with more than `MAX_PAIRS` pairs.
    """
    if batch.gt_runs is not None and batch.det_runs is not None:
        gt, det, area = label_runs.overlaps(batch.gt_runs, batch.det_runs)
        return Overlaps(gt, det, area, label_runs.area(batch.gt_runs), label_runs.area(batch.det_runs))
    gt_shapes, det_shapes = shapes.of(batch.gt, convention), shapes.of(batch.det, convention)
    gt, det = touching_boxes(gt_shapes.boxes, batch.gt.offsets, det_shapes.boxes, batch.det.offsets, batch.names)
    area = shapes.pair_area(gt_shapes, gt, det_shapes, det)
    overlap = area > 0
    areas = shapes.area(gt_shapes), shapes.area(det_shapes)
    return Overlaps(gt[overlap], det[overlap], area[overlap], *areas, gt_shapes.boxes, det_shapes.boxes)


def touching_boxes(
    a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints, names: Sequence[str] = ()
) -> tuple[Ints, Ints]:
    """Return the pairs (i, j) of boxes of the same image that share some area, sorted.

    Parameters
    ----------
    a, b : (n, 4), (m, 4) float64
        Boxes of all images.
    a_offsets, b_offsets : (images + 1,) int64
        Which image owns which.
    names : sequence of str, optional
        The images' names, for a message.

    Raises
    ------
    InputError
        For an image with more than `MAX_PAIRS` pairs.
    """
    a_count, b_count = np.diff(a_offsets), np.diff(b_offsets)
    crowded = a_count * b_count > DENSE_PAIRS
    partners = np.repeat(np.where(crowded, 0, b_count), a_count)
    i = np.repeat(np.arange(len(a)), partners)
    j = stretches(np.repeat(b_offsets[:-1], a_count), partners)
    for column in (0, 1):
        meet = (a[:, column][i] < b[:, column + 2][j]) & (b[:, column][j] < a[:, column + 2][i])
        i, j = i[meet], j[meet]
    if not crowded.any():
        return i, j
    pairs = [(i, j)]
    for k in np.flatnonzero(crowded).tolist():
        count = 0
        for i, j in _by_tree(a, a_offsets, b, b_offsets, k):
            pairs.append((i, j))
            count += len(i)
            if count > MAX_PAIRS:
                where = f"image {quote(names[k])}" if names else "an image"
                raise InputError(
                    f"{where}: {a_count[k]} and {b_count[k]} objects, of which more than {MAX_PAIRS} pairs overlap;"
                    " expected fewer: remove duplicates (non-maximum suppression)"
                )
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    order = np.lexsort((j, i))
    return i[order], j[order]


def _by_tree(a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints, image: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield an image's pairs, no more than `MAX_PAIRS` at a time."""
    a_start, a_stop = a_offsets[image : image + 2].tolist()
    b_start, b_stop = b_offsets[image : image + 2].tolist()
    boxes: Any = geometry.shapely.box(*b[b_start:b_stop].T)
    tree = geometry.shapely.STRtree(boxes)
    step = max(MAX_PAIRS // (b_stop - b_start), 1)
    for start in range(a_start, a_stop, step):
        i, j = tree.query(geometry.shapely.box(*a[start : min(start + step, a_stop)].T))
        i, j = i + start, j + b_start
        meet = (np.maximum(a[i, :2], b[j, :2]) < np.minimum(a[i, 2:], b[j, 2:])).all(axis=1)
        yield i[meet], j[meet]
