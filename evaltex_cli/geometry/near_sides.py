"""How many sides of a ring are close to each other, on which GEOS's time depends; estimated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from evaltex_cli.errors import TangledError
from evaltex_cli.geometry.convex_offsets import MITRE_LIMIT, outwards, tangent_of_half
from evaltex_cli.geometry.edges import of_rings, signed_area
from evaltex_cli.geometry.rings import dot
from evaltex_cli.records import Floats, Ints

MANY_VERTICES = 2000
"""Rings of no more vertices never take long."""
MOST_NEAR = 400_000_000
"""Most pairs of sides with touching bounding boxes: GEOS looks at 100,000,000 in a second."""
MOST_CROSSING = 1_000_000
"""Most such pairs of rings that cross themselves, or whose sides, moved by a margin, may: GEOS
takes some ten seconds for as many crossings."""
FEW_MOVED = 300
"""Rings of no more vertices never take much memory when their sides are moved."""
MOST_MOVED = 90_000
"""Most vertices of a ring whose sides GEOS moves, which takes 500 bytes for each; a pair of moved
sides that may cross takes up to 1 kB, and counts as two."""
_SAMPLE = 256
_BLOCK = 1 << 14
"""Sides that are compared with the sample at once."""


def near_pairs(ring: Floats) -> float:
    """Estimate how many pairs of sides have bounding boxes that touch.

    Parameters
    ----------
    ring : (n, 2) float64
        Vertices; a side leads from the last to the first.

    Returns
    -------
    float
        From a sample of the sides, always the same; 0 for few vertices.
    """
    return _touching(_without_repeats(ring), _sides) if len(ring) > MANY_VERTICES else 0.0


def moved_pairs(ring: Floats, margin: float) -> float:
    """Estimate how many pairs of sides have bounding boxes that touch once they are moved by a
    margin, each with the corner before it: of a smooth outline no more than before, of one of
    small steps many.

    Parameters
    ----------
    ring : (n, 2) float64
        Of either orientation.
    margin : float
        In pixels, outwards; inwards if it is negative.

    Returns
    -------
    float
        As of `near_pairs`, without each side and its two neighbours.
    """
    if len(ring) <= FEW_MOVED:
        return 0.0
    ring = _without_repeats(ring)
    turned = margin * np.sign(signed_area(of_rings(ring, np.array([0, len(ring)]))))[0]
    return max(_touching(ring, partial(_moved_sides, margin=turned)) - 1.5 * len(ring), 0.0)


def _without_repeats(ring: Floats) -> Floats:
    """A ring without vertices that repeat the one before."""
    moves = np.empty(len(ring), dtype=bool)
    for start, stop in _blocks(len(ring)):
        moves[start:stop] = (ring[start:stop] != ring[np.arange(start, stop) - 1]).any(axis=1)
    return ring if moves.all() else ring[moves]


def _touching(ring: Floats, boxes: Callable[[Floats, Ints], tuple[Floats, Floats]]) -> float:
    """Estimate how many pairs of boxes touch, of which there is one for each side."""
    if not len(ring):
        return 0.0
    sample = np.random.default_rng(0).integers(0, len(ring), _SAMPLE)
    sample_low, sample_high = boxes(ring, sample)
    near = 0
    for start, stop in _blocks(len(ring)):
        low, high = boxes(ring, np.arange(start, stop))
        for (x0, y0), (x1, y1) in zip(sample_low.T, sample_high.T, strict=True):
            touch = (low[0] <= x1) & (x0 <= high[0])
            touch &= (low[1] <= y1) & (y0 <= high[1])
            near += int(np.count_nonzero(touch))
    return near / _SAMPLE * len(ring) / 2


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of so many sides, each to be looked at as a whole."""
    for start in range(0, count, _BLOCK):
        yield start, min(start + _BLOCK, count)


def _sides(ring: Floats, sides: Ints) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends, (2, n), of the bounding boxes of some sides."""
    here, there = ring[sides], ring[(sides + 1) % len(ring)]
    return np.minimum(here, there).T, np.maximum(here, there).T


def _moved_sides(ring: Floats, sides: Ints, margin: float) -> tuple[Floats, Floats]:
    """The same of sides that are moved outwards of a ring that turns from x to y, each with the
    corner before it.
    """
    here, there = ring[sides], ring[(sides + 1) % len(ring)]
    steps = here - ring[sides - 1], there - here
    lengths = [np.sqrt(dot(step, step)) for step in steps]
    with np.errstate(all="ignore"):
        before, after = (
            step / length[:, None] for step, length in zip(steps, lengths, strict=True)
        )
        along = margin * tangent_of_half(*steps, lengths[0] * lengths[1])
    # Where corners turn outwards, the sides are prolonged until they meet.
    along = np.clip(along, 0.0, MITRE_LIMIT * abs(margin))[:, None]
    end, start = here + margin * outwards(before), here + margin * outwards(after)
    points = np.stack([end, end + along * before, start, there + margin * outwards(after)])
    return points.min(axis=0).T, points.max(axis=0).T


def refuse_many(vertices: Floats, offsets: Ints, rows: Ints, most: int) -> None:
    """Refuse rings of which all together have more than so many pairs of sides close to each other.

    Parameters
    ----------
    vertices, offsets
        As of `polygons.from_vertices`.
    rows : (r,) int64
        The rings that are looked at.
    most : int
    """
    near = 0.0
    for i in rows[np.diff(offsets)[rows] > MANY_VERTICES].tolist():
        ring = vertices[offsets[i] : offsets[i + 1]]
        near += near_pairs(ring)
        if near > most:
            raise TangledError(
                f"{called(ring)} has sides so close to each other that more than {most}"
                " pairs of them may cross; expected an outline: leave out vertices",
                i,
            )


def refuse_moved(vertices: Floats, offsets: Ints, margin: Floats) -> None:
    """Refuse rings of which GEOS cannot move the sides in little memory: one of more than
    `MOST_MOVED` vertices and pairs that may cross; or, all together, more than `MOST_CROSSING`.

    Parameters
    ----------
    vertices, offsets
        As of `polygons.from_vertices`.
    margin : (n,) float64
        Of each ring.
    """
    crossing = 0.0
    for i in np.flatnonzero(np.diff(offsets) > FEW_MOVED).tolist():
        ring, by = vertices[offsets[i] : offsets[i + 1]], float(margin[i])
        most = (MOST_MOVED - len(ring)) // 2
        pairs = np.inf if most < 0 else moved_pairs(ring, by)
        crossing += pairs
        if pairs > most or crossing > MOST_CROSSING:
            many = (
                f"it has more than {MOST_MOVED} vertices"
                if most < 0
                else f"more than {most} pairs of its sides may cross then"
                if pairs > most
                else f"more than {MOST_CROSSING} pairs of its sides, or of those before it, may"
                " cross then"
            )
            raise TangledError(
                f"{called(ring)} cannot be moved by {abs(by):g} pixels, as {many};"
                " expected a simpler outline: leave out vertices",
                i,
            )


def called(ring: Floats) -> str:
    """What a message calls a ring."""
    x, y = ring[0].tolist()
    return f"a polygon of {len(ring)} vertices, the first at ({x:g}, {y:g}),"
