"""Extreme numbers, for every protocol: scores stay in [0, 1], nothing warns,
order changes no bit, work is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from limits import at_most

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Objects

every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
few = settings(deadline=None, derandomize=True, max_examples=8)
MOST_CALLS = 25_000_000
"""Some three times as many as the protocol that needs most of them; the
square of the objects would be more.
"""
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9)

Ring = list[tuple[float, float]]
Side = tuple[list[tuple[float, float, float, float]], list[Ring]]

share = st.floats(0, 1) | st.sampled_from(
    [0.0, 5e-324, 1e-308, 1e-38, 1e-12, 2.0**-52, 0.25, 0.5, 1 - 2.0**-53, 1.0]
)
"""Coordinates as shares of a scale: equal, touching, and all but so; no two
of them with a digit in common.
"""
point = st.tuples(share, share)


def box_of(corners: Sequence[tuple[float, float]]) -> tuple[float, float, float, float]:
    (a, b), (c, d) = corners
    return min(a, c), min(b, d), max(a, c), max(b, d)


boxes = st.tuples(point, point).map(box_of)
slivers = st.tuples(share, share, share, st.sampled_from([0.0, 1e-15, 1e-9, 1e-4])).map(
    lambda found: (min(found[0], found[1]), found[2], max(found[0], found[1]), found[2] + found[3])
)
rings = st.lists(point, min_size=3, max_size=8)
needles = st.tuples(point, point, st.sampled_from([1e-15, 1e-9, 1e-4])).map(
    lambda found: [found[0], found[1], (found[1][0], found[1][1] + found[2])]
)
sides = st.tuples(st.lists(boxes | slivers, max_size=4), st.lists(rings | needles, max_size=2))


def objects(side: Side, scale: float, offset: float = 0.0) -> Objects:
    found = image_objects(
        np.array(side[0]).reshape(-1, 4) * scale + offset,
        [np.array(ring) * scale + offset for ring in side[1]],
        texts=["word"] * (len(side[0]) + len(side[1])),
    )
    assert found.count == len(side[0]) + len(side[1])
    return found


def evaluated(protocol: str, images: Sequence[tuple[Objects, Objects]]) -> dict[str, Any]:
    accumulator = Accumulator(protocol)
    for gt, det in images:
        accumulator.update(gt, det)
    found = accumulator.compute()
    kind = load(protocol)
    for name in dict.fromkeys((*kind.headline, "recall", "precision")):
        value = found.scores[name]
        assert value is None or 0 <= value <= 1, (name, value)
    for value in flat(found.scores):
        assert math.isfinite(value)
        assert value >= 0
    return found.scores | {"totals": found.totals}


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        return flat(list(value.values()))
    if isinstance(value, list | tuple):
        return [number for part in value for number in flat(part)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.slow
@every_protocol
@pytest.mark.parametrize("scale", SCALES)
@given(gt=sides, det=sides, mixed=st.booleans())
@example(gt=([(0.0, 0.0, 1.0, 1.0)], []), det=([(0.0, 0.0, 1.0, 5e-324)], []), mixed=False)
@few
def test_scores_stay_within_0_and_1_at_every_scale(
    protocol: str, scale: float, gt: Side, det: Side, mixed: bool
) -> None:
    """Detections of their own, or the objects themselves with some more."""
    found = (gt[0] + det[0], gt[1] + det[1]) if mixed else det
    evaluated(protocol, [(objects(gt, scale), objects(found, scale))])


@every_protocol
@pytest.mark.parametrize("scale", SCALES)
def test_numbers_that_are_too_much_for_geos(protocol: str, scale: float) -> None:
    """Overlays or offsets of these fail, or warn, with some version of it."""
    leaf = [(0.234, -0.0876), (0.221, -0.0462), (0.1352, 0.2103), (0.0013, 0.25), (-0.0374, 0.2465)]
    wide = 1 - 2.0**-53
    short = [(0.0, 0.0), (1.0, 0.5), (0.0, 1e-12), (1e-38, 0.0)]
    thin = [(0.0, 0.0), (0.0, 1e-12), (1.0, 0.0), (1.5e-08, 0.25)]
    far = [(0.0, 0.25), (1.0, 1.0), (1e-300, 0.25), (0.25, 5e-07), (0.0, 0.0), (0.25, 1e-38)]
    gt: Side = ([], [leaf, short, thin, far])
    det: Side = ([(-wide, -1e-308, wide, 0.25), (5e-324, -1e-38, 0.5, wide)], [far, short, thin])
    evaluated(protocol, [(objects(gt, scale), objects(det, scale))])


@every_protocol
@given(gt=sides, det=sides)
@few
def test_small_objects_far_from_the_origin(protocol: str, gt: Side, det: Side) -> None:
    evaluated(protocol, [(objects(gt, 1e-3, 1e9), objects(det, 1e-3, 1e9))])


@every_protocol
@pytest.mark.parametrize("scale", SCALES)
def test_what_is_found_exactly_is_found(protocol: str, scale: float) -> None:
    """Where coordinates are pixels, small ones are nothing; at every other scale all is found."""
    exact: Side = ([(0.0, 0.0, 0.5, 0.125), (0.0, 0.5, 0.75, 0.625)], [])
    found = evaluated(protocol, [(objects(exact, scale), objects(exact, scale))])
    taken = load(protocol).convention(load(protocol).parameters())
    if scale > 1 or not (taken is None or taken.truncated or taken.inclusive):
        assert found["recall"] == pytest.approx(1)
        assert found["precision"] == pytest.approx(1)


def star(vertices: int, radius: float, dent: float) -> Ring:
    angles = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    radii = np.where(np.arange(vertices) % 2, radius, radius * dent)
    return list(zip((1 + np.cos(angles)) * radii, (1 + np.sin(angles)) * radii, strict=True))


@every_protocol
@pytest.mark.parametrize(
    ("vertices", "dent"), [(10_000, 1.0), (1_000, 0.9)], ids=["round", "jagged"]
)
def test_polygons_of_thousands_of_vertices(protocol: str, vertices: int, dent: float) -> None:
    """Boundaries of jagged ones cross at every vertex, which takes the square of their number."""
    gt: Side = ([], [star(vertices, 100.0, dent)])
    det: Side = ([(50.0, 50.0, 150.0, 150.0)], [star(vertices, 99.0, dent)])
    with at_most(calls=MOST_CALLS):
        evaluated(protocol, [(objects(gt, 1.0), objects(det, 1.0))])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.usefixtures("here")
def test_where_a_polygon_of_too_many_vertices_stands_is_reported(jobs: str) -> None:
    numbers = ",".join(map(str, np.ravel(star(10_001, 100.0, 1.0)).tolist()))
    Path("gt.txt").write_text('a\n9,9\n1,1,"x",f,1,1,3,3\n\nb\n9,9\n1,1,"x",f,1,1,3,3\n')
    Path("evaltex.txt").write_text(f'a\n1,"x",1,1,3,3\n\nb\n1,"x", 1,1,3,3\n2,"x",{numbers}\n')
    Path("polygon").mkdir()
    Path("polygon", "a.txt").write_text("1,1,4,1,4,4,2,5,1,4\n")
    Path("polygon", "b.txt").write_text(f"1,1,4,1,4,4,2,5,1,4\n{numbers}\n")
    for det, place in (("evaltex.txt", "evaltex.txt:6"), ("polygon", "polygon/b.txt:2")):
        kind = det.partition(".")[0]
        error = run("gt.txt", det, "res", "--jobs", jobs, "--det-format", kind, status=2).stderr
        expected = f"{place}: a polygon of 10001 vertices; expected at most 10000"
        assert " ".join(error.split()) == f"evaltex: error: {expected}"


def in_one_place(count: int, gap: float = 0.0) -> Objects:
    left = np.arange(count) * gap
    rows = np.stack([10 + left, np.full(count, 10.0), 100 + left, np.full(count, 40.0)], axis=1)
    return image_objects(rows, texts=["word"] * count)


@pytest.mark.slow
@every_protocol
@pytest.mark.parametrize(
    ("of_gt", "of_det", "gap"),
    [(1500, 10, 0.0), (10, 1500, 0.0), (300, 5, 1e-3)],
)
def test_thousands_in_one_place(protocol: str, of_gt: int, of_det: int, gap: float) -> None:
    with at_most(calls=MOST_CALLS):
        evaluated(protocol, [(in_one_place(of_gt, gap), in_one_place(of_det, gap))])
