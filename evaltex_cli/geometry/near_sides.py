"""How many sides of a ring are close to each other, on which GEOS's time depends; estimated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaltex_cli.errors import TangledError
from evaltex_cli.records import Floats, Ints

MANY_VERTICES = 2000
"""Rings of no more vertices never take long."""
MOST_NEAR = 400_000_000
"""Most pairs of sides with touching bounding boxes: GEOS looks at 100,000,000 in a second."""
MOST_CROSSING = 1_000_000
"""Most such pairs of rings that cross themselves, or whose sides, moved by a margin, may: GEOS
takes some ten seconds and some hundred MB for as many crossings."""
_SAMPLE = 256
_BLOCK = 1 << 14
"""Sides that are compared with the sample at once."""


def near_pairs(ring: Floats, margin: float = 0.0) -> float:
    """Estimate how many pairs of sides have bounding boxes, grown by a margin, that touch.

    Parameters
    ----------
    ring : (n, 2) float64
        Vertices; a side leads from the last to the first.
    margin : float
        In pixels. With one, sides that are no more than six margins apart along the ring are not
        counted: of a smooth ring, all others that are near.

    Returns
    -------
    float
        From a sample of the sides, always the same; 0 for few vertices.
    """
    if len(ring) <= MANY_VERTICES:
        return 0.0
    moves = np.empty(len(ring), dtype=bool)
    for start, stop in _blocks(len(ring)):
        moves[start:stop] = (ring[start:stop] != ring[np.arange(start, stop) - 1]).any(axis=1)
    if not moves.any():  # one point
        return 0.0
    ring = ring if moves.all() else ring[moves]
    reached = np.empty(len(ring) if margin else 0)
    for start, stop in _blocks(len(reached)):
        low, high = _boxes(ring, np.arange(start, stop), 0.0)
        reached[start:stop] = np.hypot(*(high - low))
    np.cumsum(reached, out=reached)
    sample = np.random.default_rng(0).integers(0, len(ring), _SAMPLE)
    sample_low, sample_high = _boxes(ring, sample, margin)
    near = 0
    for start, stop in _blocks(len(ring)):
        low, high = _boxes(ring, np.arange(start, stop), margin)
        for k, (x0, y0), (x1, y1) in zip(sample, sample_low.T, sample_high.T, strict=True):
            touch = (low[0] <= x1) & (x0 <= high[0])
            touch &= (low[1] <= y1) & (y0 <= high[1])
            if margin:
                along = np.abs(reached[start:stop] - reached[k])
                touch &= np.minimum(along, reached[-1] - along) > 6 * margin
            near += int(np.count_nonzero(touch))
    return near / _SAMPLE * len(ring) / 2


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of so many sides, each to be looked at as a whole."""
    for start in range(0, count, _BLOCK):
        yield start, min(start + _BLOCK, count)


def _boxes(ring: Floats, sides: Ints, margin: float) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends, (2, n), of the bounding boxes of some sides."""
    here, there = ring[sides], ring[(sides + 1) % len(ring)]
    return np.minimum(here, there).T - margin, np.maximum(here, there).T + margin


def refuse_many(
    vertices: Floats, offsets: Ints, rows: Ints, most: int, margin: Floats | None = None
) -> None:
    """Refuse rings of which all together have more than so many pairs of sides close to each other.

    Parameters
    ----------
    vertices, offsets
        As of `polygons.from_vertices`.
    rows : (r,) int64
        The rings that are looked at.
    most : int
    margin : (n,) float64, optional
        Of each ring; 0 if not given.
    """
    near = 0.0
    for i in rows[np.diff(offsets)[rows] > MANY_VERTICES].tolist():
        ring = vertices[offsets[i] : offsets[i + 1]]
        by = 0.0 if margin is None else abs(float(margin[i]))
        near += near_pairs(ring, by)
        if near > most:
            moved = f", moved by {by:g} pixels," if by else ""
            raise TangledError(
                f"{called(ring)} has sides so close to each other that{moved} more than {most}"
                " pairs of them may cross; expected an outline: leave out vertices",
                i,
            )


def called(ring: Floats) -> str:
    """What a message calls a ring."""
    x, y = ring[0].tolist()
    return f"a polygon of {len(ring)} vertices, the first at ({x:g}, {y:g}),"
