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
from evaltex_cli.geometry.label_runs import Masks
from evaltex_cli.geometry.picture_runs import NO_OBJECT, PictureRuns, find_runs, join, object_of
from evaltex_cli.geometry.shapes import Pairs
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


def from_pictures(pictures: list[np.ndarray], offsets: np.ndarray, ids: np.ndarray) -> LabelRuns:
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


def assert_shows(side: Side, masks: Masks, expected: list[np.ndarray]) -> None:
    """The objects as boolean pictures are those expected; their runs are in
    order, maximal and none is empty.
    """
    runs = label_runs.by_object(masks, np.arange(len(expected)))
    assert (np.lexsort((runs.start, runs.row, runs.owner)) == np.arange(len(runs.row))).all()
    assert (runs.stop > runs.start).all()
    same_row = (np.diff(runs.owner) == 0) & (np.diff(runs.row) == 0)
    assert (runs.start[1:] > runs.stop[:-1])[same_row].all()
    assert runs.offsets.tolist() == [int((runs.owner < k).sum()) for k in range(len(expected) + 1)]
    assert label_runs.area(masks).tolist() == [mask.sum() for mask in expected]
    first_row = np.cumsum([0] + [len(picture) for picture in side.pictures])[side.image]
    found = [np.zeros_like(mask) for mask in expected]
    for owner, row, start, stop in zip(runs.owner, runs.row, runs.start, runs.stop, strict=True):
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
def test_runs_of_some_objects(drawn: list[Side], data: st.DataObject) -> None:
    """Of pictures, and of pictures of which some objects have grown."""
    [side] = drawn
    chosen = [data.draw(st.booleans()) for _ in side.masks]
    radius = radii(side, data.draw)
    for masks in (side.runs, label_runs.grown(side.runs, radius)):
        every = label_runs.by_object(masks, np.arange(len(chosen)))
        some = label_runs.by_object(masks, np.flatnonzero(chosen))
        kept = np.array(chosen, dtype=bool)[every.owner]
        assert all((a == b[kept]).all() for a, b in zip(some[:4], every[:4], strict=True))


@quick
@given(sides())
def test_runs_are_disjoint_and_in_order(drawn: list[Side]) -> None:
    runs = drawn[0].runs
    assert (runs.stop > runs.start).all()
    assert (runs.start[1:] >= runs.stop[:-1]).all()


@quick
@given(
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62])),
    st.lists(st.sampled_from([-1, 0, 1, 7, 65_535, 65_536, 2**40, 2**62]), unique=True),
)
def test_the_object_of_a_label(labels: list[int], ids: list[int]) -> None:
    """Small labels are looked up in a table, others searched."""
    expected = [ids.index(label) if label in ids else NO_OBJECT for label in labels]
    assert object_of(np.array(labels, np.int64), np.array(ids, np.int64)).tolist() == expected


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
    assert_shows(side, label_runs.grown(side.runs, radius), expected)


@quick
@given(sides(), st.data())
def test_erosion(drawn: list[Side], data: st.DataObject) -> None:
    [side] = drawn
    radius = radii(side, data.draw)
    eroded = [window(mask, r, np.logical_and) for mask, r in zip(side.masks, radius, strict=True)]
    expected = [
        small if small.any() else mask for small, mask in zip(eroded, side.masks, strict=True)
    ]
    assert_shows(side, label_runs.shrunk_or_same(side.runs, radius), expected)


def test_erosion_by_every_radius() -> None:
    """A full rectangle of 21 x 15 loses radius pixels on each side, until
    radius 8 would leave nothing.
    """
    side = side_of([np.pad(np.full((15, 21), 5, np.uint8), 1)])
    for radius in range(8):
        shrunk = label_runs.shrunk_or_same(side.runs, np.array([radius]))
        assert label_runs.area(shrunk).tolist() == [(15 - 2 * radius) * (21 - 2 * radius)]
        assert label_runs.area(label_runs.grown(side.runs, np.array([radius]))) == (
            15 + 2 * radius
        ) * (21 + 2 * radius)
    assert label_runs.area(label_runs.shrunk_or_same(side.runs, np.array([8]))) == 15 * 21


def test_without_margin_nothing_is_computed() -> None:
    side = side_of([np.eye(3, dtype=np.uint8)])
    assert label_runs.grown(side.runs, np.zeros(1, np.int64)) is side.runs
    assert label_runs.shrunk_or_same(side.runs, np.zeros(1, np.int64)) is side.runs


@quick
@given(sides(count=2))
def test_overlaps(drawn: list[Side]) -> None:
    a, b = drawn
    gt, det, area = label_runs.overlaps(a.runs, b.runs)
    expected = [
        (i, j, float((a.masks[i] & b.masks[j]).sum()))
        for i in range(len(a.masks))
        for j in range(len(b.masks))
        if a.image[i] == b.image[j] and (a.masks[i] & b.masks[j]).any()
    ]
    assert list(zip(gt.tolist(), det.tolist(), area.tolist(), strict=True)) == expected


def pairs(a: Side, b: Side, draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Some pairs of objects of one image."""
    every = [(i, j) for i, image in enumerate(a.image) for j in np.flatnonzero(b.image == image)]
    if not every:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    drawn = np.array(draw(st.lists(st.sampled_from(every), max_size=8)), np.int64).reshape(-1, 2)
    return drawn[:, 0], drawn[:, 1]


@quick
@given(sides(count=2), st.booleans(), st.data())
def test_pair_area(drawn: list[Side], with_itself: bool, data: st.DataObject) -> None:
    """Of grown objects too, which overlap each other and reach out of the
    picture, and of one side with itself.
    """
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
    assert label_runs.pair_area(grown.runs, i, grown.runs, i).tolist() == [
        grown.masks[k].sum() for k in i
    ]
    i, j = pairs(a, a, data.draw)
    expected = [(a.masks[k] & a.masks[m]).sum() for k, m in zip(i, j, strict=True)]
    assert label_runs.pair_area(a.runs, i, a.runs, j).tolist() == expected


@quick
@given(sides(count=2), st.booleans(), st.data())
def test_union_area(drawn: list[Side], with_itself: bool, data: st.DataObject) -> None:
    a, b = drawn
    radius = radii(a, data.draw)
    runs = label_runs.grown(a.runs, radius)
    masks = [window(mask, r, np.logical_or) for mask, r in zip(a.masks, radius, strict=True)]
    other_runs, other_masks = (runs, masks) if with_itself else (b.runs, b.masks)
    i, j = pairs(a, a if with_itself else b, data.draw)
    groups = 2 * len(a.pictures) + 1
    group = np.array([2 * a.image[k] + data.draw(st.integers(0, 1)) for k in i], np.int64)
    expected = []
    for g in range(groups):
        pieces = [
            masks[k] & other_masks[m] for k, m, own in zip(i, j, group, strict=True) if own == g
        ]
        expected.append(np.logical_or.reduce(pieces).sum() if pieces else 0)
    assert label_runs.union_area(group, Pairs(runs, i, other_runs, j), groups).tolist() == expected


def test_labels_that_are_no_object_are_background() -> None:
    runs = from_pictures([np.array([[1, 2, 2, 3]])], np.array([0, 2]), np.array([3, 1]))
    assert list(zip(runs.owner, runs.start, runs.stop, strict=True)) == [(1, 0, 1), (0, 3, 4)]


def test_a_run_ends_with_its_row() -> None:
    """A label at the end of one row and the start of the next is two runs,
    one that fills rows a run a row.
    """
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
        index = np.arange(count)
        ones = np.ones(count, np.int64)
        assert label_runs.area(runs).tolist() == [0] * count
        assert [side.tolist() for side in label_runs.extent(runs)] == [[0] * count] * 2
        assert label_runs.area(label_runs.grown(runs, ones)).tolist() == [0] * count
        assert label_runs.area(label_runs.shrunk_or_same(runs, ones)).tolist() == [0] * count
        assert label_runs.pair_area(runs, index, hidden, index).tolist() == [0] * count
        assert label_runs.union_area(index, Pairs(runs, index, hidden, index), 2).tolist() == [0, 0]
        assert len(label_runs.overlaps(runs, hidden)[0]) == 0


def test_more_objects_than_16_bits_count() -> None:
    """Sorting by radix holds for 65536 objects; beyond it sorts in another way."""
    labels = np.arange(70_000).reshape(70, 1000)[:, ::-1]
    runs = from_pictures([labels], np.array([0, 69_999]), np.arange(1, 70_000))
    assert (label_runs.area(runs) == 1).all()
    own = label_runs.by_object(runs, np.arange(69_999))
    assert (own.owner == np.arange(69_999)).all()
    assert (own.row * 1000 + 999 - own.start == own.owner + 1).all()
    mirrored = from_pictures([labels[:, ::-1]], np.array([0, 69_999]), np.arange(1, 70_000))
    gt, det, area = label_runs.overlaps(runs, mirrored)
    expected = np.delete(np.arange(69_999), 998)  # label 999 lies on background
    assert (gt == expected).all()
    assert (det + 1 == (gt + 1) // 1000 * 1000 + 999 - (gt + 1) % 1000).all()
    assert (area == 1).all()


def test_overlaps_in_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    """What strips of rows find adds up, be a strip a part of a row or hold
    runs of one side alone.
    """
    rng = np.random.default_rng(3)
    a, b = (side_of([rng.integers(0, 3, (9, 11)), rng.integers(0, 3, (4, 7))]) for _ in range(2))
    for pair in (
        (a, b),
        (a, side_of([np.zeros((9, 11)), np.ones((4, 7))])),
        (side_of([np.ones((9, 11))]), a),
    ):
        runs = [side.runs for side in pair]
        whole = [column.tolist() for column in label_runs.overlaps(*runs)]
        for size in (1, 2, 5, 30):
            with monkeypatch.context() as context:
                context.setattr(label_runs, "_STRIP_RUNS", size)
                assert [column.tolist() for column in label_runs.overlaps(*runs)] == whole


@pytest.mark.parametrize("height", [(1 << 15) - 1, 1 << 15])
def test_more_pixels_than_31_bits_count(height: int) -> None:
    """Two pictures of 65536 columns, of which nothing but a square of 3 x 3
    in the last corner is drawn.
    """
    width = 1 << 16
    corner = (height - np.arange(3, 0, -1)) * width + width
    one = PictureRuns(np.ones(3, np.int64), corner - 3, corner, (height, width))
    shapes = np.array([[height - 1, 5], [1, 5]], np.int64)
    small = [PictureRuns(np.ones(1, np.int64), np.zeros(1, np.int64), np.full(1, 2), (1, 5))]
    large = join([(one, np.zeros(3, np.int64))], np.array([[height, width]]), 1)
    assert large.start.dtype == (np.int32 if height * width < 1 << 31 else np.int64)
    assert label_runs.area(large).tolist() == [9]
    assert [side.tolist() for side in label_runs.extent(large)] == [[3], [3]]
    assert label_runs.area(label_runs.grown(large, np.array([2]))).tolist() == [49]
    assert label_runs.area(label_runs.shrunk_or_same(large, np.array([1]))).tolist() == [1]
    assert [column.tolist() for column in label_runs.overlaps(large, large)] == [[0], [0], [9]]
    behind = join([None, (small[0], np.zeros(1, np.int64))], shapes, 1)
    assert (behind.start.tolist(), behind.stop.tolist()) == (
        [(height - 1) * 5],
        [(height - 1) * 5 + 2],
    )
