"""Runs of label pictures against boolean pictures, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaltex_cli.geometry.masks import NO_OBJECT, Masks, PictureRuns, find_runs, join, object_of

RADIUS = 4
PAD = 2 * RADIUS
"""The boolean pictures have this much room around, as dilated objects reach out of the picture."""

quick = settings(deadline=None, derandomize=True, max_examples=30)


@dataclass
class Side:
    """Label pictures of some images, their objects as runs and as boolean pictures."""

    pictures: list[np.ndarray]
    image: np.ndarray
    runs: Masks
    masks: list[np.ndarray]


def from_pictures(pictures: list[np.ndarray], offsets: np.ndarray, ids: np.ndarray) -> Masks:
    """Encode one picture of each image; image k has the objects
    ``ids[offsets[k]:offsets[k + 1]]``.
    """
    encoded = []
    for picture, start, stop in zip(
        pictures, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True
    ):
        runs = find_runs(picture)
        owner = object_of(runs.label.astype(np.int64), ids[start:stop])
        known = owner != NO_OBJECT
        runs = PictureRuns(runs.label[known], runs.start[known], runs.stop[known], runs.shape)
        encoded.append((runs, owner[known] + start))
    return join(
        encoded,
        np.array([picture.shape for picture in pictures], np.int64).reshape(-1, 2),
        len(ids),
    )


def side_of(pictures: list[np.ndarray]) -> Side:
    labels = [[int(v) for v in np.unique(picture) if v] for picture in pictures]
    ids = [values[::-1] for values in labels]  # objects need not be in the order of their labels
    offsets = np.cumsum([0] + [len(values) for values in ids])
    flat = np.array([v for values in ids for v in values], np.int64)
    masks = [
        np.pad(picture == v, PAD)
        for picture, values in zip(pictures, ids, strict=True)
        for v in values
    ]
    image = np.repeat(np.arange(len(pictures)), np.diff(offsets))
    return Side(pictures, image, from_pictures(pictures, offsets, flat), masks)


@st.composite
def sides(draw: st.DrawFn, count: int = 1) -> list[Side]:
    """One side or two of up to three images; speckled or, magnified, in blobs."""
    shapes = draw(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 8)), min_size=1, max_size=3))
    zoom = draw(st.sampled_from([1, 1, 3]))
    dtype = draw(st.sampled_from([np.uint8, np.uint16, np.int64]))
    block = np.ones((zoom, zoom), np.uint8)

    def picture(shape: tuple[int, int]) -> np.ndarray:
        return np.kron(draw(arrays(dtype, shape, elements=st.integers(0, 3))), block)

    return [side_of([picture(shape) for shape in shapes]) for _ in range(count)]


def radii(side: Side, draw: Any) -> np.ndarray:
    return np.array([draw(st.integers(0, RADIUS)) for _ in side.masks], np.int64)


def assert_shows(side: Side, runs: Masks, expected: list[np.ndarray]) -> None:
    """The objects as boolean pictures are those expected; their runs are in order, maximal and none
    is empty.
    """
    assert (np.lexsort((runs.start, runs.row, runs.owner)) == np.arange(len(runs.row))).all()
    assert (runs.stop > runs.start).all()
    same_row = (np.diff(runs.owner) == 0) & (np.diff(runs.row) == 0)
    assert (runs.start[1:] > runs.stop[:-1])[same_row].all()
    assert runs.offsets.tolist() == [int((runs.owner < k).sum()) for k in range(len(expected) + 1)]
    assert runs.area().tolist() == [mask.sum() for mask in expected]
    first_row = np.cumsum([0] + [len(picture) for picture in side.pictures])[side.image]
    found = [np.zeros_like(mask) for mask in expected]
    for owner, row, start, stop in zip(*runs[:4], strict=True):
        found[owner][row - first_row[owner] + PAD, start + PAD : stop + PAD] = True
    for picture, mask in zip(found, expected, strict=True):
        assert (picture == mask).all()


def window(mask: np.ndarray, radius: int, combine: Any) -> np.ndarray:
    """Combine all shifts by up to radius; the masks are padded, so nothing wraps round."""
    steps = range(-radius, radius + 1)
    return combine.reduce([np.roll(mask, (y, x), (0, 1)) for y in steps for x in steps])


@quick
@given(sides())
def test_runs_show_the_pictures(drawn: list[Side]) -> None:
    assert_shows(drawn[0], drawn[0].runs, drawn[0].masks)


@quick
@given(sides(), st.data())
def test_some_objects(drawn: list[Side], data: st.DataObject) -> None:
    """In another order, too."""
    [side] = drawn
    rows = data.draw(st.permutations(range(len(side.masks))))[:2]
    some = Side(side.pictures, side.image[rows], side.runs.take(np.array(rows, int)), [])
    assert_shows(some, some.runs, [side.masks[k] for k in rows])


@quick
@given(
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62])),
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62]), unique=True),
)
def test_the_object_of_a_label(labels: list[int], ids: list[int]) -> None:
    expected = [ids.index(label) if label in ids else NO_OBJECT for label in labels]
    assert object_of(np.array(labels, np.int64), np.array(ids, np.int64)).tolist() == expected


@quick
@given(sides())
def test_area_and_longer_side(drawn: list[Side]) -> None:
    [side] = drawn
    assert side.runs.area().tolist() == [mask.sum() for mask in side.masks]
    for mask, longer in zip(side.masks, side.runs.longer_side().tolist(), strict=True):
        assert longer == max(np.ptp(axis) + 1 for axis in np.nonzero(mask))


@quick
@given(sides(), st.data())
def test_growing_and_shrinking(drawn: list[Side], data: st.DataObject) -> None:
    """What would shrink to nothing stays."""
    [side] = drawn
    radius = radii(side, data.draw)
    both = list(zip(side.masks, radius, strict=True))
    grown = [window(mask, r, np.logical_or) for mask, r in both]
    eroded = [window(mask, r, np.logical_and) for mask, r in both]
    shrunk = [
        small if small.any() else mask for small, mask in zip(eroded, side.masks, strict=True)
    ]
    assert_shows(side, side.runs.moved(radius + 0.4), grown)
    assert_shows(side, side.runs.moved(-(radius - 0.4)), shrunk)


@quick
@given(sides(count=2))
def test_overlaps(drawn: list[Side]) -> None:
    a, b = drawn
    gt, det, area = a.runs.overlaps(b.runs)
    expected = [
        (i, j, float((a.masks[i] & b.masks[j]).sum()))
        for i in range(len(a.masks))
        for j in range(len(b.masks))
        if a.image[i] == b.image[j] and (a.masks[i] & b.masks[j]).any()
    ]
    assert list(zip(gt.tolist(), det.tolist(), area.tolist(), strict=True)) == expected


@quick
@given(sides(count=2), st.data())
def test_areas_of_pairs_and_unions(drawn: list[Side], data: st.DataObject) -> None:
    """Of grown objects, which overlap each other and reach out of the picture."""
    a, b = drawn
    radius = radii(a, data.draw)
    runs = a.runs.moved(radius.astype(float))
    masks = [window(mask, r, np.logical_or) for mask, r in zip(a.masks, radius, strict=True)]
    every = [(i, j) for i, image in enumerate(a.image) for j in np.flatnonzero(b.image == image)]
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=8)) if every else []
    i, j = np.array(chosen, np.int64).reshape(-1, 2).T
    pieces = [masks[k] & b.masks[m] for k, m in chosen]
    assert runs.pair_area(i, b.runs, j).tolist() == [piece.sum() for piece in pieces]
    groups = 2 * len(a.pictures) + 1
    group = np.array([2 * a.image[k] + data.draw(st.integers(0, 1)) for k in i], np.int64)
    expected = []
    for g in range(groups):
        own = [piece for piece, of in zip(pieces, group, strict=True) if of == g]
        expected.append(np.logical_or.reduce(own).sum() if own else 0)
    assert runs.union_area(group, groups, i, b.runs, j).tolist() == expected


def test_labels_that_are_no_object_are_background() -> None:
    runs = from_pictures([np.array([[1, 2, 2, 3]])], np.array([0, 2]), np.array([3, 1]))
    assert list(zip(runs.owner, runs.start, runs.stop, strict=True)) == [(0, 3, 4), (1, 0, 1)]


def test_a_run_ends_with_its_row() -> None:
    found = find_runs(np.array([[0, 7, 7], [7, 7, 7], [7, 0, 9], [9, 9, 9]]))
    assert found.label.tolist() == [7, 7, 7, 9, 9]
    assert found.start.tolist() == [1, 3, 6, 8, 9]
    assert found.stop.tolist() == [3, 6, 7, 9, 12]


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (3, 3)])
def test_nothing_is_fine(shape: tuple[int, int]) -> None:
    """No pixels, no labels, no objects, objects without pixels."""
    none = np.zeros(0, np.int64)
    empty = from_pictures([np.zeros(shape, np.uint8)], np.array([0, 0]), none)
    hidden = from_pictures([np.zeros(shape, np.uint8)], np.array([0, 1]), np.array([4]))
    for runs, count in ((empty, 0), (hidden, 1), (join([], np.zeros((0, 2), np.int64), 1), 1)):
        index, ones = np.arange(count), np.ones(count)
        nothing = [0] * count
        assert runs.area().tolist() == runs.longer_side().tolist() == nothing
        assert runs.moved(ones).area().tolist() == runs.moved(-ones).area().tolist() == nothing
        assert runs.pair_area(index, hidden, index).tolist() == nothing
        assert runs.union_area(index, 2, index, hidden, index).tolist() == [0, 0]
        assert len(runs.overlaps(hidden)[0]) == 0
