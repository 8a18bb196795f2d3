"""Quadrilaterals that need no repair: what is taken for one is one, and
polygons come out as if made one by one.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.geometry import offsets, outlines, polygons, shapes, simple_rings
from evaltex_cli.records import Convention, GeometryCounts, Outlines, offsets_of

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]

grid = st.integers(-2, 3).map(float)
fine = (
    st.floats(-1e12, 1e12)
    | st.floats(0, 1)
    | st.sampled_from([0.1, 0.2, 0.3, 1e-160, 1e-300, 5e-324])
)
four_corners = st.lists(st.tuples(grid, grid), min_size=4, max_size=4) | st.lists(
    st.tuples(fine, fine), min_size=4, max_size=4
)
quadrilaterals = st.lists(four_corners | st.permutations(SQUARE), min_size=1, max_size=6).map(
    lambda found: np.array(found, float)
)


def one_by_one(vertices: np.ndarray, offsets: np.ndarray) -> tuple[list[str], GeometryCounts]:
    """`polygons.from_vertices`, ring by ring and without any shortcut."""
    made, repaired, flat = [], 0, 0
    for start, stop in pairwise(offsets):
        drawn = shapely.polygons(shapely.linearrings(vertices[start:stop]))
        repairs = drawn if shapely.is_valid(drawn) else polygons.repair(np.array([drawn]))[0]
        has_area = bool(shapely.area(repairs) > 0)
        repaired += has_area and not shapely.is_valid(drawn)
        flat += not has_area
        made.append(shapely.to_wkb(repairs, hex=True))
    return made, GeometryCounts(repaired=repaired, zero_area=flat)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(quadrilaterals, st.lists(st.tuples(grid, grid), max_size=9))
def test_what_is_simple_is_valid_and_has_an_area(
    corners: np.ndarray, other: list[tuple[float, float]]
) -> None:
    found = [*corners, np.array(other, float).reshape(-1, 2)]
    simple = simple_rings.are_simple(np.concatenate(found), offsets_of([len(k) for k in found]))
    for ring in np.array(found, object)[simple]:
        drawn = shapely.Polygon(ring.astype(float))
        assert drawn.is_valid and drawn.area > 0


@settings(deadline=None, derandomize=True, max_examples=200)
@given(quadrilaterals, st.lists(st.tuples(grid, grid), min_size=3, max_size=6))
def test_what_crosses_itself_is_as_drawn(
    corners: np.ndarray, other: list[tuple[float, float]]
) -> None:
    drawn = [shapely.polygons(shapely.linearrings(np.array(ring))) for ring in [*corners, other]]
    objects = image_objects(boxes=[[0, 0, 9, 9]], polygons=[*corners, np.array(other)])
    crossing, found = polygons.self_crossing(objects.outlines)
    expected = {
        1 + i: shapely.to_wkb(ring) for i, ring in enumerate(drawn) if not shapely.is_valid(ring)
    }
    assert dict(zip(crossing.tolist(), map(shapely.to_wkb, found), strict=True)) == expected
    assert polygons.self_crossing(image_objects(boxes=[[0, 0, 9, 9]]).outlines)[0].tolist() == []


@settings(deadline=None, derandomize=True, max_examples=300)
@given(quadrilaterals, st.lists(st.tuples(grid, grid), min_size=3, max_size=6))
def test_polygons_are_those_made_one_by_one(
    corners: np.ndarray, other: list[tuple[float, float]]
) -> None:
    for vertices, counts in (
        (corners.reshape(-1, 2), [4] * len(corners)),
        (np.concatenate([corners.reshape(-1, 2), other]), [*[4] * len(corners), len(other)]),
    ):
        offsets = np.concatenate([[0], np.cumsum(counts)])
        geometries, repairs = polygons.from_vertices(vertices, offsets)
        assert ([shapely.to_wkb(one, hex=True) for one in geometries], repairs) == one_by_one(
            vertices, offsets
        )


def drawn_and_checked(
    numbers: np.ndarray, counts: np.ndarray, is_box: np.ndarray
) -> tuple[Outlines, GeometryCounts]:
    drawn = outlines.drawn(numbers, counts, is_box)
    return drawn, outlines.checked(drawn)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(quadrilaterals)
def test_shapes_read_are_those_made_one_by_one(corners: np.ndarray) -> None:
    count = len(corners)
    drawn, repairs = drawn_and_checked(
        corners.ravel(), np.full(count, 8), np.zeros(count, dtype=bool)
    )
    assert (
        drawn.boxes.tolist()
        == np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1).tolist()
    )
    made = [shapely.to_wkb(one, hex=True) for one in outlines.polygons(drawn)]
    assert (made, repairs) == one_by_one(drawn.vertices, drawn.offsets)


@pytest.mark.parametrize(
    "ring",
    [
        [(0, 0), (4, 4), (4, 0), (0, 4)],
        [(0, 0), (4, 0), (4, 0), (0, 4), (4, 0)],
        [(0, 0), (4, 4), (4, 4), (4, 0), (0, 4)],
        [(0, 0), (4, 0), (4, 0), (0, 0)],
        [(2, 2), (2, 2), (2, 2), (2, 2)],
        [(0, 0), (1, 1), (2, 2), (3, 3)],
        [(0, 0), (4, 0), (2, 0), (0, 4)],
        [(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)],
        [(0, 0), (4, 0), (4, 4), (4, 2), (0, 2), (0, 4)],
        [(0, 0), (4, 0)],
        [],
    ],
)
def test_rings_that_cross_or_touch_themselves_are_not_simple(ring: list[tuple[int, int]]) -> None:
    assert are_simple([SQUARE, ring, SQUARE[::-1], [], SQUARE]) == [True, False, True, False, True]


def are_simple(found: list[list[tuple[float, float]]]) -> list[bool]:
    arrays = [np.array(ring, float).reshape(-1, 2) for ring in found]
    return simple_rings.are_simple(
        np.concatenate(arrays), offsets_of([len(ring) for ring in arrays])
    ).tolist()


def test_usual_words_are_simple() -> None:
    """Otherwise nothing would be gained: long and flat, leaning, with decimals, dented and with
    vertices on straight lines.
    """
    words = [
        [(0, 0), (900, 3), (900, 9), (0, 6)],
        [(10, 10), (710, 610), (707, 613), (7, 13)],
        [(0, 0), (4, 0), (1, 1), (0, 4)],
        [(0, 0), (2, 0), (4, 0), (4, 2), (2, 2), (0, 2)],
    ]
    assert all(are_simple([[(x + 0.25, y + 0.25) for x, y in word] for word in words]))


@pytest.mark.parametrize(
    "ring",
    [
        [(0, 0), (4, 0), (4, 0), (0, 4)],
        [(0, 0), (0, 0), (0, 0), (4, 0), (4, 4), (0, 4), (0, 4)],
        [*SQUARE, SQUARE[0]],
        [*SQUARE[::-1], SQUARE[-1], SQUARE[-1]],
    ],
)
def test_a_vertex_that_is_repeated_counts_once(ring: list[tuple[int, int]]) -> None:
    assert are_simple([ring, SQUARE, [], ring[::-1]]) == [True, True, False, True]
    drawn, repairs = drawn_and_checked(
        np.array(ring, float).ravel(), np.array([2 * len(ring)]), np.zeros(1, dtype=bool)
    )
    assert outlines.repaired(drawn)[0] is None and repairs == GeometryCounts()
    assert drawn.ring(0).tolist() == [list(point) for point in ring]


def test_a_triangle_with_a_repeated_vertex_shrinks_as_one_without() -> None:
    """By more than GEOS leaves, which does not take it for a triangle."""
    ring = [(23, 23), (23, 23), (28, 34), (26, 21)]
    whole = shapes.from_objects(image_objects(polygons=[np.array(ring)]), Convention())
    assert shapes.area(offsets.offset(whole, np.array([-1.5]))).tolist() == [21.5]


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    found = [rng.integers(0, 9, (k, 2)).tolist() for k in rng.integers(3, 8, 80)]
    expected = are_simple(found)
    assert 0 < sum(expected) < 80
    monkeypatch.setattr(simple_rings, "_BLOCK", 7)
    assert are_simple(found) == expected


def test_polygons_of_quadrilaterals_are_made_once_and_when_asked_for() -> None:
    corners = np.array([SQUARE, np.add(SQUARE, 9), np.multiply(SQUARE, 2)], float)
    numbers = np.concatenate([[1, 1, 2, 2], corners.ravel()])
    drawn, _ = drawn_and_checked(numbers, np.array([4, 8, 8, 8]), np.arange(4) == 0)
    later = pickle.loads(pickle.dumps(drawn))
    assert [made.tolist() for made in later.made] == [[None] * 4]
    assert np.nan_to_num(shapely.area(outlines.polygons(later))).tolist() == [0, 16, 16, 64]
    assert outlines.repaired(later) is outlines.repaired(later)


def test_numbers_of_boxes_and_polygons_in_turn() -> None:
    """Flat boxes and flat polygons count; two points may be a polygon, if who
    reads them says so.
    """
    objects = [[0, 0, 0, 5], [0, 0, 4, 0, 4, 3], [1, 2, 3, 4], [5, 6, 7, 9], [0, 0, 5, 5, 9, 9]]
    counts = np.array([len(numbers) for numbers in objects])
    is_box = np.array([True, False, True, False, False])
    drawn, repairs = drawn_and_checked(np.concatenate(objects), counts, is_box)
    assert drawn.boxes.tolist() == [
        [0, 0, 0, 5],
        [0, 0, 4, 3],
        [1, 2, 3, 4],
        [5, 6, 7, 9],
        [0, 0, 9, 9],
    ]
    assert [drawn.ring(i).ravel().tolist() for i in range(5)] == [
        [],
        objects[1],
        [],
        objects[3],
        objects[4],
    ]
    assert drawn.counts.tolist() == [0, 3, 0, 2, 3] and not drawn.all_boxes
    assert repairs == GeometryCounts(zero_area=3)
    assert [None if one is None else one.area for one in outlines.polygons(drawn)] == [
        None,
        6,
        None,
        0,
        0,
    ]


def test_boxes_of_quadrilaterals_need_no_polygons(tmp_path: Path) -> None:
    (tmp_path / "gt_1.txt").write_text("0,0,4,0,4,4,0,4,word\n")
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from evaltex_cli.formats.reading import read; from evaltex_cli.errors import FaultLog\n"
        "from evaltex_cli.formats.options import InputOptions\n"
        "from evaltex_cli.geometry import outlines\n"
        f"source = read(Path({str(tmp_path)!r}), 'gt', InputOptions(), FaultLog())\n"
        "assert source.format == 'quad'\n"
        "objects = source.objects\n"
        "assert objects.boxes.tolist() == [[0, 0, 4, 4]] and 'shapely' not in sys.modules\n"
        "assert outlines.polygons(objects.outlines)[0].area == 16\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
