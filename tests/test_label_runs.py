"""Runs of label pictures against boolean pictures, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaltex_cli.geometry import label_runs
from evaltex_cli.records import LabelRuns

RADIUS = 4
PAD = 2 * RADIUS
"""The boolean pictures have this much room around, as dilated objects reach out of the picture."""

quick = settings(deadline=None, derandomize=True, max_examples=60)


@dataclass
class Side:
    """Label pictures of some images, their objects as runs and as boolean pictures."""

    pictures: list[np.ndarray]
    image: np.ndarray
    runs: LabelRuns
    masks: list[np.ndarray]


def side_of(pictures: list[np.ndarray]) -> Side:
    labels = [[int(v) for v in np.unique(picture) if v] for picture in pictures]
    ids = [values[::-1] for values in labels]  # objects need not be in the order of their labels
    offsets = np.cumsum([0] + [len(values) for values in ids])
    flat = np.array([v for values in ids for v in values], np.int64)
    masks = [np.pad(picture == v, PAD) for picture, values in zip(pictures, ids, strict=True) for v in values]
    image = np.repeat(np.arange(len(pictures)), np.diff(offsets))
    return Side(pictures, image, label_runs.from_pictures(pictures, offsets, flat), masks)


@st.composite
def sides(draw: st.DrawFn, count: int = 1) -> list[Side]:
    """One side or two of up to three images, all of one size; speckled or, magnified, in blobs."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 8)))
    zoom = draw(st.sampled_from([1, 1, 3]))
    images = draw(st.integers(1, 3))
    labels = arrays(draw(st.sampled_from([np.uint8, np.uint16, np.int64])), shape, elements=st.integers(0, 3))
    block = np.ones((zoom, zoom), np.uint8)
    return [side_of([np.kron(draw(labels), block) for _ in range(images)]) for _ in range(count)]


def radii(side: Side, draw: Any) -> np.ndarray:
    return np.array([draw(st.integers(0, RADIUS)) for _ in side.masks], np.int64)


def painted(runs: LabelRuns) -> list[np.ndarray]:
    """The objects as boolean pictures that hold the largest drawn; the runs are in order, maximal and none is empty."""
    order = np.lexsort((runs.start, runs.row, runs.object))
    assert (order == np.arange(len(order))).all()
    assert (runs.stop > runs.start).all()
    same_row = (np.diff(runs.object) == 0) & (np.diff(runs.row) == 0)
    assert (runs.start[1:] > runs.stop[:-1])[same_row].all()
    assert runs.offsets.tolist() == [int((runs.object < k).sum()) for k in range(len(runs.offsets))]
    pictures = []
    for first, after in zip(runs.offsets[:-1], runs.offsets[1:], strict=True):
        picture = np.zeros((18 + 2 * PAD, 24 + 2 * PAD), dtype=bool)
        for k in range(first, after):
            picture[runs.row[k] + PAD, runs.start[k] + PAD : runs.stop[k] + PAD] = True
        pictures.append(picture)
    return pictures


def assert_shows(runs: LabelRuns, masks: list[np.ndarray]) -> None:
    found = painted(runs)
    assert len(found) == len(masks)
    for picture, mask in zip(found, masks, strict=True):
        height, width = mask.shape
        assert (picture[:height, :width] == mask).all()
        assert picture.sum() == mask.sum()


def window(mask: np.ndarray, radius: int, combine: Any) -> np.ndarray:
    """Combine all shifts by up to radius; the masks are padded, so nothing wraps round."""
    steps = range(-radius, radius + 1)
    return combine.reduce([np.roll(mask, (y, x), (0, 1)) for y in steps for x in steps])


@quick
@given(sides())
def test_runs_show_the_pictures(drawn: list[Side]) -> None:
    assert_shows(drawn[0].runs, drawn[0].masks)


@quick
@given(sides())
def test_reading_order(drawn: list[Side]) -> None:
    runs, image = drawn[0].runs, drawn[0].image
    expected = np.lexsort((runs.start, runs.row, image[runs.object]))
    assert runs.reading is not None
    assert runs.reading.tolist() == expected.tolist()


def test_overlaps_are_those_of_pictures() -> None:
    side = side_of([np.ones((5, 5), np.uint8)])
    grown = label_runs.grown(side.runs, np.ones(1, np.int64))
    with pytest.raises(ValueError, match="not those of pictures"):
        label_runs.overlaps(side.runs, side.image, grown, side.image)


@quick
@given(
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62])),
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62]), unique=True),
)
def test_the_object_of_a_label(labels: list[int], ids: list[int]) -> None:
    """Small labels are looked up in a table, others searched."""
    expected = [ids.index(label) if label in ids else label_runs.NO_OBJECT for label in labels]
    assert label_runs.object_of(np.array(labels, np.int64), np.array(ids, np.int64)).tolist() == expected


@quick
@given(sides())
def test_area_and_extent(drawn: list[Side]) -> None:
    [side] = drawn
    heights, widths = label_runs.extent(side.runs)
    assert label_runs.area(side.runs).tolist() == [mask.sum() for mask in side.masks]
    for mask, height, width in zip(side.masks, heights, widths, strict=True):
        rows, columns = np.nonzero(mask)
        assert (height, width) == (np.ptp(rows) + 1, np.ptp(columns) + 1)


@quick
@given(sides(), st.data())
def test_dilation(drawn: list[Side], data: st.DataObject) -> None:
    [side] = drawn
    radius = radii(side, data.draw)
    expected = [window(mask, r, np.logical_or) for mask, r in zip(side.masks, radius, strict=True)]
    assert_shows(label_runs.grown(side.runs, radius), expected)


@quick
@given(sides(), st.data())
def test_erosion(drawn: list[Side], data: st.DataObject) -> None:
    [side] = drawn
    radius = radii(side, data.draw)
    eroded = [window(mask, r, np.logical_and) for mask, r in zip(side.masks, radius, strict=True)]
    expected = [small if small.any() else mask for small, mask in zip(eroded, side.masks, strict=True)]
    assert_shows(label_runs.shrunk_or_same(side.runs, radius), expected)


def test_erosion_by_every_radius() -> None:
    """A full rectangle of 21 x 15 loses radius pixels on each side, until radius 8 would leave nothing."""
    side = side_of([np.pad(np.full((15, 21), 5, np.uint8), 1)])
    for radius in range(8):
        shrunk = label_runs.shrunk_or_same(side.runs, np.array([radius]))
        assert label_runs.area(shrunk).tolist() == [(15 - 2 * radius) * (21 - 2 * radius)]
        assert label_runs.area(label_runs.grown(side.runs, np.array([radius]))) == (15 + 2 * radius) * (21 + 2 * radius)
    assert label_runs.area(label_runs.shrunk_or_same(side.runs, np.array([8]))) == 15 * 21


def test_without_margin_nothing_is_computed() -> None:
    side = side_of([np.eye(3, dtype=np.uint8)])
    assert label_runs.grown(side.runs, np.zeros(1, np.int64)) is side.runs
    assert label_runs.shrunk_or_same(side.runs, np.zeros(1, np.int64)) is side.runs


@quick
@given(sides(count=2))
def test_overlaps(drawn: list[Side]) -> None:
    a, b = drawn
    gt, det, area = label_runs.overlaps(a.runs, a.image, b.runs, b.image)
    expected = [
        (i, j, float((a.masks[i] & b.masks[j]).sum()))
        for i in range(len(a.masks))
        for j in range(len(b.masks))
        if a.image[i] == b.image[j] and (a.masks[i] & b.masks[j]).any()
    ]
    assert list(zip(gt.tolist(), det.tolist(), area.tolist(), strict=True)) == expected


def pairs(a: Side, b: Side, draw: Any) -> tuple[np.ndarray, np.ndarray]:
    if not a.masks or not b.masks:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    one = st.tuples(st.integers(0, len(a.masks) - 1), st.integers(0, len(b.masks) - 1))
    drawn = np.array(draw(st.lists(one, max_size=8)), np.int64).reshape(-1, 2)
    return drawn[:, 0], drawn[:, 1]


@quick
@given(sides(count=2), st.booleans(), st.data())
def test_pair_area(drawn: list[Side], with_itself: bool, data: st.DataObject) -> None:
    """Of grown objects too, which overlap each other and reach out of the picture, and of one side with itself."""
    a, b = drawn
    radius = radii(a, data.draw)
    grown = Side(
        a.pictures,
        a.image,
        label_runs.grown(a.runs, radius),
        [window(mask, r, np.logical_or) for mask, r in zip(a.masks, radius, strict=True)],
    )
    other = grown if with_itself else b
    i, j = pairs(grown, other, data.draw)
    expected = [(grown.masks[k] & other.masks[m]).sum() for k, m in zip(i, j, strict=True)]
    assert label_runs.pair_area(grown.runs, i, other.runs, j).tolist() == expected
    assert label_runs.pair_area(grown.runs, i, grown.runs, i).tolist() == [grown.masks[k].sum() for k in i]


@quick
@given(sides(count=2), st.booleans(), st.data())
def test_union_area(drawn: list[Side], with_itself: bool, data: st.DataObject) -> None:
    a, b = drawn
    radius = radii(a, data.draw)
    runs = label_runs.grown(a.runs, radius)
    masks = [window(mask, r, np.logical_or) for mask, r in zip(a.masks, radius, strict=True)]
    other_runs, other_masks = (runs, masks) if with_itself else (b.runs, b.masks)
    i, j = pairs(a, a if with_itself else b, data.draw)
    group = np.array([data.draw(st.integers(0, 3)) for _ in i], np.int64)
    expected = []
    for g in range(5):
        pieces = [masks[k] & other_masks[m] for k, m, own in zip(i, j, group, strict=True) if own == g]
        expected.append(np.logical_or.reduce(pieces).sum() if pieces else 0)
    assert label_runs.union_area(group, runs, i, other_runs, j, 5).tolist() == expected


def test_labels_that_are_no_object_are_background() -> None:
    runs = label_runs.from_pictures([np.array([[1, 2, 2, 3]])], np.array([0, 2]), np.array([3, 1]))
    assert list(zip(runs.object, runs.start, runs.stop, strict=True)) == [(0, 3, 4), (1, 0, 1)]


def test_a_run_ends_with_its_row() -> None:
    """A label at the end of one row and the start of the next is two runs, one that fills rows a run a row."""
    found = label_runs.find_runs(np.array([[0, 7, 7], [7, 7, 7], [7, 0, 9], [9, 9, 9]]))
    assert found.label.tolist() == [7, 7, 7, 9, 9]
    assert found.row.tolist() == [0, 1, 2, 2, 3]
    assert found.start.tolist() == [1, 0, 0, 2, 0]
    assert found.stop.tolist() == [3, 3, 1, 3, 3]


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (3, 3)])
def test_nothing_is_fine(shape: tuple[int, int]) -> None:
    """No pixels, no labels, no objects, objects without pixels."""
    none = np.zeros(0, np.int64)
    empty = label_runs.from_pictures([np.zeros(shape, np.uint8)], np.array([0, 0]), none)
    hidden = label_runs.from_pictures([np.zeros(shape, np.uint8)], np.array([0, 1]), np.array([4]))
    for runs, count in ((empty, 0), (hidden, 1), (label_runs.join([], 1), 1)):
        index = np.arange(count)
        ones = np.ones(count, np.int64)
        assert label_runs.area(runs).tolist() == [0] * count
        assert [side.tolist() for side in label_runs.extent(runs)] == [[0] * count] * 2
        assert len(label_runs.grown(runs, ones).row) == len(label_runs.shrunk_or_same(runs, ones).row) == 0
        assert label_runs.pair_area(runs, index, hidden, index).tolist() == [0] * count
        assert label_runs.union_area(index, runs, index, hidden, index, 2).tolist() == [0, 0]
        assert len(label_runs.overlaps(runs, index, hidden, np.zeros(1, np.int64))[0]) == 0


def test_more_objects_than_16_bits_count() -> None:
    """Sorting a picture's runs by radix holds for 65536 objects; beyond it sorts in another way."""
    labels = np.arange(70_000).reshape(70, 1000)[:, ::-1]
    runs = label_runs.from_pictures([labels], np.array([0, 69_999]), np.arange(1, 70_000))
    assert (label_runs.area(runs) == 1).all()
    assert (runs.object == np.arange(69_999)).all()
    assert (runs.row * 1000 + 999 - runs.start == runs.object + 1).all()
