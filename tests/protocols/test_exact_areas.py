"""Areas and ties that exact rational arithmetic decides."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from evaltex_cli import evaluate, image_objects
from evaltex_cli.geometry import shapes
from evaltex_cli.protocols.cleval.shapes import side_of
from evaltex_cli.records import Convention

TRUNCATED = Convention(truncated=True)


def shoelace(ring: list[tuple[int, int]]) -> Fraction:
    cross = sum(x * v - u * y for (x, y), (u, v) in pairwise([*ring, ring[0]]))
    return Fraction(abs(cross), 2)


def test_cleval_measures_slivers_of_large_coordinates() -> None:
    """Diagonals of a billion pixels, some pixels wide; the last crosses itself, so that two lobes
    cancel.
    """
    n = 10**9
    rings = [
        [(0, 0), (n - 1, n - 2), (n + 2, n + 1), (2, 3)],
        [(7, 1), (n + 5, n - 3), (n + 4, n + 6), (3, 3)],
        [(-n, 3), (n, 5 - n // 3), (n + 1, 6 - n // 3), (3 - n, 5)],
        [(0, 0), (n - 1, n - 2), (2, 3), (n + 4, n + 1)],
    ]
    objects = image_objects(polygons=rings)
    side = side_of(objects, shapes.from_objects(objects, TRUNCATED), TRUNCATED, False)
    for area, ring in zip(side.area.tolist(), rings, strict=True):
        exact = shoelace(ring)
        assert abs(Fraction(area) - exact) <= exact / 10**12


def partners(gt: object, det: object, protocol: str, **parameters: object) -> list[list[int]]:
    """Of each detection, the objects it is a pair with."""
    found = evaluate([gt], [det], protocol, per_image=True, params=parameters).images[0]
    return [list(one.partners) for one in found.detections]


def test_pq_takes_the_larger_iou_by_a_little() -> None:
    """IoUs of 0.9 and 0.90000000001; these differ where coordinates have a thousand pixels."""
    det = [[0, 0, 1000, 900], [0, 0, 1000, 900 + 1e-8]]
    assert partners([[0, 0, 1000, 1000]], det, "pq") == [[], [1]]


SCALES = [1, 0.001, 0.7, 1.1]


def ends_of_1024(place: int) -> tuple[list[list[int]], list[list[int]]]:
    ends = [[0, 0, 1024, 1]], [[0, 0, 705, 1], [319, 0, 1024, 1]]
    return tuple([[x + place for x in box] for box in boxes] for boxes in ends)  # type: ignore[return-value]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("place", [0, 24])
def test_pq_takes_the_first_of_equal_ious_at_every_scale(scale: float, place: int) -> None:
    """Of 1024 pixels the first 705 and the last 705; 705/1024 has 10 decimals, the last one 5."""
    gt, det = (np.array(boxes) * scale for boxes in ends_of_1024(place))
    assert partners(gt, det, "pq") == [[1], []]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("place", [0, 24])
def test_iou_takes_the_first_of_equal_objects_at_every_scale(scale: float, place: int) -> None:
    """The same, with objects and detections exchanged."""
    det, gt = (np.array(boxes) * scale for boxes in ends_of_1024(place))
    assert partners(gt, det, "iou", pairing="best", truncate=False) == [[1]]
