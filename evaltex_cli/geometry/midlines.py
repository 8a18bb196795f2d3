"""Areas of the unions of intersections of polygons, strip by strip.

All ends and crossings of the edges of a group of shapes cut the plane into vertical strips. In a
strip no edge crosses another, so what a shape covers of the line in its middle, times its width, is
the area of the shape in the strip; and the same is true of all intersections and unions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import edges as edge_columns
from evaltex_cli.geometry.edges import Edges
from evaltex_cli.geometry.intervals import covered, covered_length, sorted_in_groups
from evaltex_cli.records import Bools, Floats, Ints, blocks, distinct, expanded, stretches

_BLOCK = 1 << 17
"""Pairs of edges that are looked at together, or those of one group."""


class Pieces(NamedTuple):
    """Intersections of the shapes ``a[i[k]]`` and ``b[j[k]]``, in groups.

    Attributes
    ----------
    group : (p,) int64
        In ascending order, from 0.
    a, b : Edges
    i, j : (p,) int64
    origin : (groups, 2) float64
        A point near all shapes of each group.
    """

    group: Ints
    a: Edges
    i: Ints
    b: Edges
    j: Ints
    origin: Floats

    def some(self, which: Bools) -> Pieces:
        """Return some of the groups, and only these numbered."""
        if which.all():
            return self
        chosen = which[self.group]
        group = (np.cumsum(which) - 1)[self.group[chosen]]
        return Pieces(group, self.a, self.i[chosen], self.b, self.j[chosen], self.origin[which])


def union_area(pieces: Pieces) -> Floats:
    """(groups,) areas of the unions of the pieces of each group.

    Each depends on its own pieces only. The error is below 1e-14 of the bounding box of the shapes.
    """
    group, a, i, b, j, origin = pieces
    table = a
    if a is not b:
        # The shapes of b after those of a, of both only those that are asked for.
        of_a, of_b = distinct(i), distinct(j)
        table = edge_columns.concatenate(edge_columns.taken(a, of_a), edge_columns.taken(b, of_b))
        i, j = np.searchsorted(of_a, i), len(of_a) + np.searchsorted(of_b, j)
    edges = np.diff(table.offsets)
    work = np.bincount(group, weights=edges[i] + edges[j], minlength=len(origin)).astype(np.int64)
    result = np.zeros(len(origin))
    for start, stop in blocks(work * work, _BLOCK):
        some = slice(*np.searchsorted(group, [start, stop]).tolist())
        block = Pieces(group[some] - start, table, i[some], table, j[some], origin[start:stop])
        result[start:stop] = _areas(block)
    return result


def _areas(pieces: Pieces) -> Floats:
    """The same of pieces whose shapes are of one table."""
    group, table, i, _, j, origin = pieces
    # The shapes of each group, each once.
    count = len(table.offsets) - 1
    key = np.concatenate([group * count + i, group * count + j])
    member = distinct(key)
    rank = np.searchsorted(member, key)
    member_group, shape = np.divmod(member, count)
    edges = _Edges.of(table, shape, member_group, origin)
    strips = _strips(edges, member_group)
    of_member, strip, start, stop = _sections(edges, strips)
    # What both members of a piece cover in a strip, and then what any piece of the group covers.
    first = np.searchsorted(of_member, np.arange(len(member) + 1))
    total = len(strips.width)
    sides = []
    for rows in (rank[: len(i)], rank[len(i) :]):
        counts = np.diff(first)[rows]
        section = stretches(first[rows], counts)
        place = np.repeat(np.arange(len(i)), counts) * total + strip[section]
        sides.append(_Sections(place, start[section], stop[section]))
    place, low, high = _common(*sides)
    weights = strips.width * covered_length(place % total, low, high, total)
    return np.bincount(strips.group, weights, len(origin)).astype(np.float64)


class _Sections(NamedTuple):
    """What is covered at some places, which are in order, from `start` to `stop`."""

    place: Ints
    start: Floats | Ints
    stop: Floats | Ints

    def rows(self, which: Bools) -> _Sections:
        """Return some of them."""
        return _Sections(self.place[which], self.start[which], self.stop[which])

    def and_also(self, other: _Sections) -> _Sections:
        """Return these and others."""
        return _Sections(
            np.concatenate([self.place, other.place]),
            np.concatenate([self.start, other.start]),
            np.concatenate([self.stop, other.stop]),
        )


def _common(a: _Sections, b: _Sections) -> _Sections:
    """What both cover, neither meeting itself."""
    again = np.concatenate([side.place[1:][np.diff(side.place) == 0] for side in (a, b)])
    if len(again):  # few cover several stretches of a place
        of_a, of_b = (np.isin(side.place, again) for side in (a, b))
        several = a.rows(of_a).and_also(b.rows(of_b))
        rest = _common(a.rows(~of_a), b.rows(~of_b))
        return rest.and_also(_Sections(*covered(*several, 2)))
    if not len(b.place):
        return b
    partner = np.minimum(np.searchsorted(b.place, a.place), len(b.place) - 1)
    start, stop = np.maximum(a.start, b.start[partner]), np.minimum(a.stop, b.stop[partner])
    some = (b.place[partner] == a.place) & (start < stop)
    return _Sections(a.place[some], start[some], stop[some])


class _Edges(NamedTuple):
    """Edges that are not vertical, sorted by their shapes: from (left, y) to (right, y + rise)."""

    left: Floats
    right: Floats
    y: Floats
    rise: Floats
    owner: Ints

    def height(self, edge: Ints, x: Floats) -> Floats:
        """Their y at some x."""
        left = self.left[edge]
        share = (x - left) / (self.right[edge] - left)
        return np.asarray(self.y[edge] + self.rise[edge] * share)

    @classmethod
    def of(cls, table: Edges, shape: Ints, group: Ints, origin: Floats) -> _Edges:
        chosen = edge_columns.taken(table, shape)
        owner, _ = expanded(np.diff(chosen.offsets))
        x0, y0, x1, y1 = chosen.ends - np.tile(origin.T, (2, 1)).take(group[owner], axis=1)
        slanted = np.flatnonzero(x0 != x1)
        x0, y0, x1, y1, owner = (values[slanted] for values in (x0, y0, x1, y1, owner))
        left, right = np.minimum(x0, x1), np.maximum(x0, x1)
        back = x1 < x0
        return cls(left, right, np.where(back, y1, y0), np.where(back, y0 - y1, y1 - y0), owner)


class _Strips(NamedTuple):
    """Strips of all groups, by group and from left to right; some between groups have no meaning.

    `first`, `last` are the strips in which each edge begins, and before which it ends.
    """

    group: Ints
    left: Floats
    width: Floats
    first: Ints
    last: Ints


def _strips(edges: _Edges, member_group: Ints) -> _Strips:
    group = member_group[edges.owner]
    crossed, crossing = _crossings(edges, group)
    x = np.concatenate([edges.left, edges.right, crossing])
    owner = np.concatenate([group, group, group[crossed]])
    order = sorted_in_groups(owner, x)
    x, owner = x[order], owner[order]
    new = np.ones(len(x), dtype=bool)
    new[1:] = (x[1:] > x[:-1]) | (owner[1:] > owner[:-1])
    strip = np.empty(len(x), np.int64)
    strip[order] = np.cumsum(new) - 1
    left, owner, count = x[new], owner[new], len(edges.left)
    return _Strips(owner, left, np.diff(left, append=0.0), strip[:count], strip[count : 2 * count])


def _side_by_side(edges: _Edges, group: Ints) -> tuple[Ints, Ints]:
    """Pairs of edges of two shapes of a group that have more than one x in common; the edge of the
    earlier shape first.
    """
    count = len(group)
    x, of_group = np.concatenate([edges.right, edges.left]), np.tile(group, 2)
    # Where one edge ends and another begins, the end comes first.
    order = sorted_in_groups(of_group, x)
    place = np.empty_like(order)
    place[order] = np.arange(2 * count)
    begins = order >= count
    begun: Ints = np.cumsum(begins)
    by_left = order[begins] - count
    # The partners of an edge begin after it does, and before it ends.
    first, last = begun[place[count:]], begun[place[:count]]
    p, q = np.repeat(np.arange(count), last - first), by_left[stretches(first, last - first)]
    other = edges.owner[p] != edges.owner[q]
    p, q = p[other], q[other]
    return np.minimum(p, q), np.maximum(p, q)


def _crossings(edges: _Edges, group: Ints) -> tuple[Ints, Floats]:
    """Edges that cross others of their group, and the x where they do."""
    p, q = _side_by_side(edges, group)
    left = np.maximum(edges.left[p], edges.left[q])
    right = np.minimum(edges.right[p], edges.right[q])
    start, stop = (edges.height(p, x) - edges.height(q, x) for x in (left, right))
    cross = np.flatnonzero(np.sign(start) * np.sign(stop) < 0)
    share = np.abs(start[cross]) / (np.abs(start[cross]) + np.abs(stop[cross]))
    return p[cross], left[cross] + share * (right[cross] - left[cross])


def _sections(edges: _Edges, strips: _Strips) -> tuple[Ints, Ints, Floats, Floats]:
    """What shapes cover of the lines in the middle of strips: shape, strip, start and stop, in
    order of them.
    """
    spanned = strips.last - strips.first
    edge, strip = np.repeat(np.arange(len(spanned)), spanned), stretches(strips.first, spanned)
    middle = strips.left[strip] + strips.width[strip] / 2
    height = edges.height(edge, middle)
    owner = edges.owner[edge]
    section = owner * len(strips.width) + strip
    order = np.argsort(section, kind="stable")
    # A ring crosses a line an even number of times: into the shape and out of it, in turn.
    if (np.diff(section[order[::2]]) == 0).any():
        order = sorted_in_groups(section, height)
    one, other = order[::2], order[1::2]
    low, high = (end(height[one], height[other]) for end in (np.minimum, np.maximum))
    return owner[one], strip[one], low, high
