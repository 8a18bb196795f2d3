"""Outlines of very many vertices: what is measured in a time that grows with them, and the rest
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import shapely

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError, TangledError
from evaltex_cli.geometry import edge_pairs, near_sides, overlaps, polygons, shapes
from evaltex_cli.geometry.offsets import offset
from evaltex_cli.records import Floats, Ints

ZERO = np.zeros(1, np.int64)


def comb(teeth: int, height: float = 9.0) -> Floats:
    """One pixel for each tooth and each gap: 4 vertices for both."""
    left = np.arange(teeth)[:, None] * 2.0 + [0, 1, 1, 2]
    top = np.stack([left, np.tile([height, height, 1, 1], (teeth, 1))], axis=2)
    return np.concatenate([[[0, 0]], top.reshape(-1, 2), [[2 * teeth, 0]]])


def stairs(steps: int) -> Floats:
    """Up along steps of a pixel, and back on parallel ones."""
    step = np.repeat(np.arange(steps + 1.0), 2)
    up = np.stack([step[1:], step[:-1]], axis=1)
    return np.concatenate([up, np.add(up[:-1][::-1], [99.0, -99.0])])


def lying(ring: Floats) -> Floats:
    return np.ascontiguousarray(ring[:, ::-1])


def diagonal(ring: Floats) -> Floats:
    return ring @ np.array([[1.0, 1.0], [-1.0, 1.0]])


def made(ring: Floats) -> shapes.Shapes:
    return shapes.from_rings(ring, np.array([0, len(ring)]))


@pytest.mark.parametrize("turned", [np.array, lying])
def test_pairs_of_edges_grow_with_the_vertices(
    turned: Callable[[Floats], Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the back of a comb is below all of its teeth, and lying teeth are below each other."""
    met = []
    meetings = edge_pairs._meetings_of_one

    def counted(large: edge_pairs._Large) -> Iterator[tuple[Ints, Ints]]:
        for p, q in meetings(large):
            met.append(len(p))
            yield p, q

    monkeypatch.setattr(edge_pairs, "_meetings_of_one", counted)
    for teeth in (1000, 2000):
        met.clear()
        a, b = turned(comb(teeth)), turned(comb(teeth) + 0.25)
        area = shapes.pair_area(made(a), ZERO, made(b), ZERO)
        assert area.tolist() == pytest.approx(
            [shapely.Polygon(a).intersection(shapely.Polygon(b)).area]
        )
        assert sum(met) <= 40 * len(a)


def test_near_sides_of_few_vertices_are_not_counted() -> None:
    assert near_sides.near_pairs(diagonal(comb(400, 400.0))) == 0


def test_near_sides_are_estimated() -> None:
    ring = diagonal(comb(600, 1200.0))
    low, high = np.minimum(ring, np.roll(ring, -1, 0)), np.maximum(ring, np.roll(ring, -1, 0))
    touch = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    assert near_sides.near_pairs(ring) == pytest.approx(touch.sum() / 2, rel=0.2)
    assert near_sides.near_pairs(comb(600)) < 10 * len(comb(600))


def test_near_sides_of_a_smooth_ring_do_not_count_for_its_offset() -> None:
    angle = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    ring = np.round(1000 * np.stack([np.cos(angle), np.sin(angle)], axis=1), 4)
    assert near_sides.moved_pairs(ring, 50.0) == near_sides.moved_pairs(ring[::-1], -50.0) == 0


def test_what_takes_geos_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = diagonal(comb(600, 1200.0))
    offsets = np.array([0, len(ring)])
    polygons.from_vertices(ring, offsets)
    monkeypatch.setattr(near_sides, "MOST_NEAR", 10_000)
    with pytest.raises(TangledError, match=r"a polygon of 2402 vertices, the first at \(0, 0\),"):
        polygons.from_vertices(ring, offsets)


def test_offsets_that_take_geos_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    several = shapes.concatenate(made(stairs(600)), made(stairs(600)))
    offset(several, np.array([0.1, 0.1]))
    with pytest.raises(
        TangledError, match="moved by 200 pixels, as more than 43799 pairs of its sides"
    ) as refused:
        offset(several, np.array([0.1, -200.0]))
    assert refused.value.ring == 1
    monkeypatch.setattr(near_sides, "MOST_CROSSING", 30_000)
    offset(several, np.array([0.1, 5.0]))
    with pytest.raises(TangledError, match="more than 30000 pairs of its sides, or of"):
        offset(several, np.array([5.0, 5.0]))
    monkeypatch.setattr(near_sides, "MOST_MOVED", 2000)
    with pytest.raises(TangledError, match="as it has more than 2000 vertices"):
        offset(made(stairs(600)), np.array([0.1]))


def test_steps_of_few_vertices_are_refused_too() -> None:
    """About 1 kB for each of half a million pairs."""
    offset(made(stairs(300)), np.array([0.1]))
    with pytest.raises(TangledError, match=r"a polygon of 1201 vertices, .* more than 44399 pairs"):
        offset(made(stairs(300)), np.array([-200.0]))


def test_moved_sides_that_may_cross_are_estimated() -> None:
    """Those of steps do; GEOS takes about 1 kB for each pair."""
    near = [near_sides.moved_pairs(stairs(600), margin) for margin in (0.1, 5.0, 10.0)]
    assert near[0] < 10
    assert 1.5 < near[2] / near[1] < 2.5


@pytest.mark.parametrize("protocol", ["evaltex", "cleval"])
def test_offsets_that_are_refused_have_their_image_and_object(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_sides, "MOST_MOVED", 2000)
    square = np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 8.0]])
    gt = {"first": [square], "second": [square, stairs(600)]}
    if protocol == "evaltex":
        with pytest.raises(
            InputError, match=r"image 'second', object 2 of the ground truth: a polygon of 2401 .*"
        ):
            evaluate(gt, gt, protocol=protocol)
    else:
        evaluate(gt, gt, protocol=protocol)


def test_what_is_tangled_once_cut_to_integers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the image's name, as there is no line any more."""
    ring = comb(600, 1200.0) * [0.01, 1.0]
    arrays = {"picture": [ring]}
    evaluate(arrays, arrays, protocol="iou", truncate=False)
    monkeypatch.setattr(near_sides, "MOST_CROSSING", 10_000)
    with pytest.raises(
        InputError, match=r"image 'picture', object 1 .*: a polygon of 2402 vertices"
    ):
        evaluate(arrays, arrays, protocol="iou")


def test_an_image_with_too_many_pairs_of_edges_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rings = {"picture": [diagonal(comb(100, 200.0))]}
    straight = {"picture": [comb(100, 200.0)]}
    monkeypatch.setattr(overlaps, "MAX_EDGE_PAIRS", 10_000)
    evaluate(straight, straight, protocol="iou", truncate=False)
    with pytest.raises(InputError, match=r"image 'picture': .*403 and 403 sides"):
        evaluate(rings, rings, protocol="iou", truncate=False)


def test_vertices_that_are_there_again_make_no_sides() -> None:
    assert near_sides.near_pairs(np.ones((50_000, 2))) == 0
    assert near_sides.near_pairs(np.repeat(comb(2), 10_000, axis=0)) <= 10 * 10 / 2
    several = np.repeat(comb(1000), 3, axis=0)
    assert near_sides.near_pairs(several) == near_sides.near_pairs(comb(1000)) > 0
