"""Every pair of one image's objects that overlaps, measured once for a whole batch of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError, TangledError, quote
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.shapes import Pairs, Shapes
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
MAX_PAIRS = 160_000
"""Most overlapping pairs of an image, those of 400 boxes of either side in one place."""
MAX_EDGE_PAIRS = 100_000_000
"""Most pairs of edges of an image that have some x (or y, if fewer) in common: some ten seconds."""
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

    Raises
    ------
    InputError
        For an image with more than `MAX_PAIRS` pairs.
    """
    if batch.gt_runs is not None and batch.det_runs is not None:
        from evaltex_cli.geometry import label_runs

        gt, det, area = label_runs.overlaps(batch.gt_runs, batch.det_runs)
        return Overlaps(
            gt, det, area, label_runs.area(batch.gt_runs), label_runs.area(batch.det_runs)
        )
    # First what may be refused, before polygons are made.
    gt_boxes, det_boxes = (
        shapes.boxes_of(batch.gt, convention),
        shapes.boxes_of(batch.det, convention),
    )
    gt, det = touching_boxes(gt_boxes, batch.gt.offsets, det_boxes, batch.det.offsets, batch.names)
    gt_shapes, det_shapes = shapes_of(batch, convention)
    pairs = Pairs(gt_shapes, gt, det_shapes, det)
    refuse_intricate(batch.names, batch.gt.offsets, gt, pairs)
    area = shapes.pair_area(gt_shapes, gt, det_shapes, det)
    overlap = area > 0
    areas = shapes.area(gt_shapes), shapes.area(det_shapes)
    return Overlaps(
        gt[overlap], det[overlap], area[overlap], *areas, gt_shapes.boxes, det_shapes.boxes
    )


def refuse_intricate(
    names: Sequence[str],
    offsets: Ints,
    objects: Ints,
    pairs: Pairs[Shapes],
    are_repaired: bool = False,
    counted: Ints | None = None,
) -> None:
    """Refuse an image of which the outlines take too long, by the pairs of their edges.

    Parameters
    ----------
    names : sequence of str
        The images' names.
    offsets : (images + 1,) int64
        Which image owns which objects of the ground truth.
    objects : (p,) int64
        The object of each pair.
    pairs : Pairs
    are_repaired : bool
        Whether a diagnosis has made some of the outlines; it looks only at the edges of a pair that
        are near each other.
    counted : (images,) int64, optional
        Pairs of edges of other pairs of the images, to which those of these are added.

    Raises
    ------
    InputError
        For an image with more than `MAX_EDGE_PAIRS` pairs of edges.
    """
    a, i, b, j, _ = pairs
    if a.polygons is None or b.polygons is None:
        return
    sides = a.polygons.edges, i, b.polygons.edges, j
    edges = np.diff(sides[0].offsets)[i], np.diff(sides[2].offsets)[j]
    most = (edges[0] * edges[1]).astype(np.float64)
    image = np.searchsorted(offsets, objects, side="right") - 1
    work = np.bincount(image, weights=most, minlength=len(names))
    for k in np.flatnonzero(work > (MAX_EDGE_PAIRS if counted is None else 0)).tolist():
        rows = np.flatnonzero(image == k)
        rows = rows[np.argsort(-most[rows], kind="stable")]
        all_edges = ((edges[0] + edges[1])[rows] * (not are_repaired)).tolist()
        near = geometry.edge_pairs.least_work(sides[0], i[rows], sides[2], j[rows])
        count = 0 if counted is None else int(counted[k])
        for least, of_pair in zip(near, all_edges, strict=True):
            count += max(least, of_pair)
            if count > MAX_EDGE_PAIRS:
                counts = edges[0][rows[0]], edges[1][rows[0]]
                raise InputError(
                    f"image {quote(names[k])}{', split objects united' * are_repaired}: outlines of"
                    f" which more than {MAX_EDGE_PAIRS} pairs of sides overlap in x and in y, those"
                    f" of {counts[0]} and {counts[1]} sides first; expected simpler outlines: "
                    + ("fewer of them in one place" if are_repaired else "leave out vertices")
                )
        if counted is not None:
            counted[k] = count


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
    """The shapes of a side; one that is tangled only as the convention takes it is refused."""
    with naming_image(batch, side):
        return shapes.from_objects(side, convention)


@contextmanager
def naming_image(batch: ImageBatch, side: Objects) -> Iterator[None]:
    """Of a polygon of one side of a batch that is refused, say which image and object it is."""
    try:
        yield
    except TangledError as error:
        image = int(np.searchsorted(side.offsets, error.ring, side="right")) - 1
        whose = "ground truth" if side is batch.gt else "detections"
        raise TangledError(
            f"image {quote(batch.names[image])}, object {side.ids[error.ring]} of the {whose}:"
            f" {error}",
            error.ring,
        ) from error


def most_pairs(batch: ImageBatch) -> Ints:
    """(images,) about as many pairs as may overlap, or more: those of all objects; if these are
    more than `MAX_PAIRS` together, those whose boxes meet along x, or along y; of masks, no more
    than runs may.
    """
    counts = [np.diff(side.offsets) for side in (batch.gt, batch.det)]
    most = counts[0] * counts[1]
    if most.sum() <= MAX_PAIRS:
        return most
    if batch.gt_runs is not None and batch.det_runs is not None:
        runs = [
            np.bincount(side.image[labels.owner], minlength=len(most))
            for side, labels in ((batch.gt, batch.gt_runs), (batch.det, batch.det_runs))
        ]
        return np.asarray(np.minimum(most, runs[0] + runs[1]))
    a, b = batch.gt.boxes, batch.det.boxes
    of_a, of_b = (np.repeat(np.arange(len(most)), count) for count in counts)
    met = np.full(len(a), len(b))
    for column in (0, 1):
        # One image beyond the other, so that no box meets those of others.
        first = min(side[:, column::2].min() for side in (a, b))
        span = max(side[:, column::2].max() for side in (a, b)) - first + 1
        begin, end = column, column + 2
        begun = np.searchsorted(
            np.sort(b[:, begin] - first + span * of_b), a[:, end] - first + span * of_a, "right"
        )
        ended = np.searchsorted(
            np.sort(b[:, end] - first + span * of_b), a[:, begin] - first + span * of_a, "left"
        )
        met = np.minimum(met, begun - ended)
    return np.bincount(of_a, met, len(most)).astype(np.int64)


def touching_boxes(
    a: Floats, a_offsets: Ints, b: Floats, b_offsets: Ints, names: Sequence[str]
) -> tuple[Ints, Ints]:
    """Return the pairs (i, j) of boxes of the same image that share some area, sorted.

    Parameters
    ----------
    a, b : (n, 4), (m, 4) float64
        Boxes of all images.
    a_offsets, b_offsets : (images + 1,) int64
        Which image owns which.
    names : sequence of str
        The images' names, for a message.

    Raises
    ------
    InputError
        For an image with more than `MAX_PAIRS` pairs.
    """
    sides = a, a_offsets, b, b_offsets
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64)), *_of_small_images(*sides)]
    crowded = _crowded(a_offsets, b_offsets)
    for k in crowded.tolist():
        count = 0
        for i, j in _by_tree(*sides, k):
            pairs += [(i, j)] * (len(i) > 0)
            count += len(i)
            if count > MAX_PAIRS:
                objects, others = (np.diff(offsets)[k] for offsets in (a_offsets, b_offsets))
                raise InputError(
                    f"image {quote(names[k])}: {objects} and {others} objects, of which more than"
                    f" {MAX_PAIRS} pairs overlap;"
                    " expected fewer: remove duplicates (non-maximum suppression)"
                )
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
