"""Words that follow each other in a line, and what both are merged to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaltex_cli.conversion.patches import AuditedObject
from evaltex_cli.conversion.patching import audited
from evaltex_cli.geometry import rings
from evaltex_cli.geometry.simple_rings import are_simple
from evaltex_cli.records import Floats, Ints, Objects, distinct

GAP = 1.5
"""The largest distance of neighbours, in heights of the smaller one."""
HEIGHTS = 1.5
"""The largest ratio of their heights."""
_LEAST_AREA = 0.8
"""Of what two neighbours are merged to, in areas of both: if it is smaller, their vertices are not
in the usual order."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Objects as lines of text."""

    start: Floats
    stop: Floats
    """`start` and `stop`: (n, 2) float64. Where the text begins and ends, halfway between its top
    and its bottom."""
    across: Floats
    """(n, 2) float64. From its top to its bottom, in the mean of both ends and the middle."""
    heights: Floats
    """(n,) float64. Lengths of `across`; 0 of what has fewer than three vertices."""


def lines_of(objects: Objects) -> Lines:
    """Return all objects as lines."""
    points, offsets = rings.of(objects.outlines)
    counts = np.diff(offsets)
    ends = np.zeros((objects.count, 3, 2, 2))  # at the start, the middle and the end: top, bottom
    for count in distinct(counts[counts >= 3]).tolist():
        rows = np.flatnonzero(counts == count)
        drawn = points[offsets[rows][:, None] + np.arange(count)]
        which, shares = np.repeat(np.arange(len(rows)), 3), np.tile([0.0, 0.5, 1.0], len(rows))
        for k, chain in enumerate(rings.chains(drawn)):
            ends[rows, :, k] = rings.along_each(chain, which, shares).reshape(-1, 3, 2)
    middle = ends.mean(axis=2)
    across = (ends[:, :, 1] - ends[:, :, 0]).mean(axis=1)
    return Lines(middle[:, 0], middle[:, 2], across, np.hypot(*across.T))


def near_ends(lines: Lines, image: Ints, rows: Ints) -> Callable[[int], Ints]:
    """Return a function of an object: which of some rows of its image may be the next in its line,
    in ascending order, as they begin at most `GAP` of its height to the left or right of its end.

    Parameters
    ----------
    image : (n,) int64
        Of all objects, in ascending order.
    """
    rows = rows[np.lexsort((lines.start[rows, 0], image[rows]))]
    begins, of_row = lines.start[rows, 0], image[rows]

    def found(a: int) -> Ints:
        first, after = np.searchsorted(of_row, [image[a], image[a] + 1])
        reach = 1.001 * GAP * lines.heights[a]  # rounding must not leave one out
        own = begins[first:after]
        low = np.searchsorted(own, lines.stop[a, 0] - reach)
        high = np.searchsorted(own, lines.stop[a, 0] + reach, side="right")
        return np.sort(rows[first + low : first + high])

    return found


def next_in_line(lines: Lines, a: int, others: Ints) -> int | None:
    """Return the object that begins nearest to the end of another one, if it is near enough, of
    similar height and goes on in the same direction.
    """
    heights = lines.heights
    gap = np.hypot(*(lines.start[others] - lines.stop[a]).T)
    ratio = heights[others] / heights[a]
    onwards = (lines.stop[others] - lines.stop[a]) @ (lines.stop[a] - lines.start[a])
    fits = (gap <= GAP * np.minimum(heights[others], heights[a])) & (onwards > 0) & (others != a)
    fits &= (ratio <= HEIGHTS) & (ratio >= 1 / HEIGHTS)
    if not fits.any():
        return None
    return int(others[np.argmin(np.where(fits, gap, np.inf))])


def merged(objects: Objects, a: int, b: int) -> AuditedObject | None:
    """Return one object around two: a box of boxes, a quadrilateral of quadrilaterals, else the
    chains of both; None if these cross.
    """
    both = [audited(objects, row) for row in (a, b)]
    text = " ".join(filter(None, (one.text for one in both)))
    if all(len(one.vertices) == 2 for one in both):
        corners = np.array([one.vertices for one in both])
        low, high = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
        return AuditedObject((tuple(low.tolist()), tuple(high.tolist())), text)
    points = [_ring(one) for one in both]
    tops, bottoms = zip(*map(rings.chains, points), strict=True)
    if all(len(ring) == 4 for ring in points):
        tops, bottoms = (
            ((left[:1]), (right[-1:])) for left, right in (tuple(tops), tuple(bottoms))
        )
    ring = np.concatenate([*tops, *(bottom[::-1] for bottom in bottoms[::-1])])
    is_simple = are_simple(ring, np.array([0, len(ring)]))[0]
    if not is_simple or _area(ring) < _LEAST_AREA * sum(map(_area, points)):
        return None
    return AuditedObject(tuple(map(tuple, ring.tolist())), text)


def _ring(one: AuditedObject) -> Floats:
    """(n, 2) vertices, of a box its corners."""
    if len(one.vertices) > 2:
        return np.array(one.vertices)
    (x0, y0), (x1, y1) = one.vertices
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def _area(ring: Floats) -> float:
    x, y = (ring - ring[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
