"""Areas of unions in 32 digits, for those of which doubles do not give 12: slivers, mostly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry.double_double import DoubleDouble
from evaltex_cli.geometry.edge_terms import exact_sum
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.geometry.intervals import covered
from evaltex_cli.geometry.midlines import Pieces
from evaltex_cli.records import Bools, Floats, Ints, distinct, expanded, stretches

EXACT = 4e-13
"""Greatest error of an area, as a share of it; where it may be larger, 32 digits are used."""
_OF_STRIPS, _OF_GEOS = 2.0**-47, 2.0**-51
"""Bounds of the errors of doubles, as shares of a length times the rounded coordinates across."""
_MOST_EDGES = 1 << 9
_MOST_SECTIONS = 1 << 16
"""Most edges of a union, and most sections of its pieces, that are measured in 32 digits: they take
a tenth of a second and 30 MB."""


def refined(
    pieces: Pieces, found: Floats, by_strips: Bools, around: Floats, shapes: Floats
) -> Floats:
    """Return the areas of unions, with those measured again that may have too large errors.

    Parameters
    ----------
    pieces : Pieces
    found : (groups,) float64
        Areas in doubles.
    by_strips : (groups,) bool
        Those of `midlines`, which rounds coordinates as seen from near the pieces, while GEOS
        rounds them as they are.
    around, shapes : (groups, 4) float64
        Boxes around the pieces, and around the shapes that they are of.
    """
    (width, height), (x, y) = (
        (around[:, 2:] - around[:, :2]).T,
        np.abs(shapes.reshape(-1, 2, 2)).max(axis=1).T,
    )
    below = np.abs(shapes[:, 1::2] - pieces.origin[:, 1:]).max(axis=1)
    error = np.where(by_strips, _OF_STRIPS * width * below, _OF_GEOS * (width * y + height * x))
    result = found.copy()
    for k in np.flatnonzero(error > EXACT * found).tolist():
        some = slice(*np.searchsorted(pieces.group, [k, k + 1]).tolist())
        exact = area(pieces.a, pieces.i[some], pieces.b, pieces.j[some])
        result[k] = found[k] if exact is None else exact
    return result


def area(a: Edges, i: Ints, b: Edges, j: Ints) -> float | None:
    """Area of the union of the intersections of ``a[i[k]]`` and ``b[j[k]]``; None for too many.

    As `midlines` measures it. What shapes cover of a line is from one edge to another, which are
    numbered in their order; so only the lengths that remain are computed in 32 digits.
    """
    of_a, of_b = distinct(i), distinct(j)
    drawn = edge_columns.concatenate(edge_columns.taken(a, of_a), edge_columns.taken(b, of_b))
    if drawn.ends.shape[1] > _MOST_EDGES:
        return None
    edges = _Edges.of(drawn)
    cuts, first, last = _cuts(edges)
    # A line goes into a shape and out of it in turn, so that two edges make a section.
    counts = np.bincount(edges.owner, weights=last - first, minlength=len(drawn.offsets) - 1)
    sections = (counts / 2).astype(np.int64)
    member = np.concatenate([np.searchsorted(of_a, i), len(of_a) + np.searchsorted(of_b, j)])
    if sections[member].sum() > _MOST_SECTIONS:
        return None
    edge, place = expanded(last - first)
    strip, total = first[edge] + place, len(cuts.high) - 1
    width = _at(cuts, np.arange(1, total + 1)) - _at(cuts, np.arange(total))
    middle = _at(cuts, strip) + _at(width, strip) * _exactly(np.full(len(strip), 0.5))
    height = edges.height(edge, middle)
    upwards = np.lexsort((height.low, height.high, strip))
    rank = np.argsort(upwards)
    order = upwards[np.argsort(edges.owner[edge[upwards]], kind="stable")]
    low, high = order[::2], order[1::2]
    section = stretches((np.cumsum(sections) - sections)[member], sections[member])
    piece = np.repeat(np.tile(np.arange(len(i)), 2), sections[member])
    low, high = low[section], high[section]
    both = covered(piece * total + strip[low], rank[low], rank[high], 2)
    key, start, stop = covered(both[0] % total, *both[1:], 1)
    length = _at(height, upwards[stop]) - _at(height, upwards[start])
    return exact_sum(length * _at(width, key), slice(None))


class _Edges(NamedTuple):
    """Edges that are not vertical, from left to right."""

    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats
    owner: Ints

    @classmethod
    def of(cls, drawn: Edges) -> _Edges:
        owner, _ = expanded(np.diff(drawn.offsets))
        ends = np.where(drawn.ends[0] <= drawn.ends[2], drawn.ends, drawn.ends[[2, 3, 0, 1]])
        slanted = np.flatnonzero(ends[0] < ends[2])
        x0, y0, x1, y1 = ends[:, slanted]
        return cls(x0, y0, x1, y1, owner[slanted])

    def height(self, edge: Ints, x: DoubleDouble) -> DoubleDouble:
        """Their y at some x."""
        x0, y0, x1, y1 = (values[edge] for values in self[:4])
        share = (x - _exactly(x0)) / DoubleDouble.difference(x1, x0)
        return _exactly(y0) + DoubleDouble.difference(y1, y0) * share


def _cuts(edges: _Edges) -> tuple[DoubleDouble, Ints, Ints]:
    """Return all x where edges end or cross, in order; and where each begins and ends, by these."""
    left, right = np.maximum.outer(edges.x0, edges.x0), np.minimum.outer(edges.x1, edges.x1)
    p, q = np.nonzero((left < right) & (edges.owner[:, None] < edges.owner))
    left, right = left[p, q], right[p, q]
    start, stop = (
        edges.height(p, _exactly(x)) - edges.height(q, _exactly(x)) for x in (left, right)
    )
    cross = np.flatnonzero(np.sign(start.high) * np.sign(stop.high) < 0)
    start, stop = _at(start, cross), _at(stop, cross)
    along = DoubleDouble.difference(right[cross], left[cross])
    crossing = _exactly(left[cross]) + start / (start - stop) * along
    count = len(edges.x0)
    high = np.concatenate([edges.x0, edges.x1, crossing.high])
    low = np.concatenate([np.zeros(2 * count), crossing.low])
    order = np.lexsort((low, high))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(high[order]) > 0) | (np.diff(low[order]) > 0)
    strip = np.empty(len(order), np.int64)
    strip[order] = np.cumsum(new) - 1
    return _at(DoubleDouble(high, low), order[new]), strip[:count], strip[count : 2 * count]


def _exactly(values: Floats) -> DoubleDouble:
    return DoubleDouble(values, np.zeros_like(values))


def _at(values: DoubleDouble, index: Ints) -> DoubleDouble:
    return DoubleDouble(values.high[index], values.low[index])
