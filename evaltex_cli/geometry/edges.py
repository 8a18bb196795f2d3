"""Polygons as edges in columns, without an object per polygon.

A shape is any number of closed rings that do not cross: the first around the outside, others around
holes and further parts. All are drawn so that the inside is on the same side of every edge.
"""

from __future__ import annotations

from itertools import chain
from math import fsum
from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry.double_double import exact_product
from evaltex_cli.records import Floats, Ints, offsets_of, stretches

EXACT = 1e-13
"""Greatest error of a shape's area, as a share of it; where it may be larger, nothing is rounded
but the sum."""
_ROUNDING = 2.0**-53
_BLOCK = 1 << 15
"""Edges that are measured at once."""


class Edges(NamedTuple):
    """Edges of n shapes."""

    ends: Floats
    """(4, e) float64. x0, y0 where each edge begins, x1, y1 where it ends."""
    offsets: Ints
    """(n + 1,) int64. Shape i owns ``ends[:, offsets[i]:offsets[i + 1]]``; one without edges has no
    area."""


def of_rings(vertices: Floats, offsets: Ints, ring_offsets: Ints | None = None) -> Edges:
    """Return shapes drawn by rings of vertices.

    Parameters
    ----------
    vertices : (v, 2) float64
        In drawing order, one ring after another; the last of a ring may repeat its first.
    offsets : (n + 1,) int64
        Shape i owns ``vertices[offsets[i]:offsets[i + 1]]``.
    ring_offsets : (r + 1,) int64, optional
        The same for rings, if a shape may have several.
    """
    rings = offsets if ring_offsets is None else ring_offsets
    ends = np.empty((4, len(vertices)))
    ends[:2] = vertices.T
    ends[2:, :-1] = ends[:2, 1:]
    drawn = np.flatnonzero(np.diff(rings))
    ends[2:, rings[drawn + 1] - 1] = ends[:2, rings[drawn]]  # after the last vertex comes the first
    return Edges(ends, offsets)


def of_boxes(boxes: Floats) -> Edges:
    """Return (n, 4) boxes as shapes."""
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    return of_rings(corners, np.arange(len(boxes) + 1, dtype=np.int64) * 4)


def with_others(edges: Edges, rows: Ints, others: Edges) -> Edges:
    """Return `edges`, with ``others[k]`` in the place of shape ``rows[k]``."""
    if not len(rows):
        return edges
    counts = np.diff(edges.offsets)
    starts = edges.offsets[:-1].copy()
    counts[rows] = np.diff(others.offsets)
    starts[rows] = others.offsets[:-1] + edges.ends.shape[1]
    ends = np.concatenate([edges.ends, others.ends], axis=1)
    return Edges(ends.take(stretches(starts, counts), axis=1), offsets_of(counts))


def taken(edges: Edges, rows: Ints) -> Edges:
    """Return some shapes, in the order of `rows`; of stretches of rows, the same memory."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and (np.diff(rows) == 1).all():
        offsets = edges.offsets[rows[0] : rows[-1] + 2]
        return Edges(edges.ends[:, offsets[0] : offsets[-1]], offsets - offsets[0])
    counts = np.diff(edges.offsets)[rows]
    at = stretches(edges.offsets[rows], counts)
    return Edges(edges.ends.take(at, axis=1), offsets_of(counts))


def concatenate(*some: Edges) -> Edges:
    """Return shapes one after another, the first ones first; there are any."""
    if len(some) == 1:
        return some[0]
    counts = np.concatenate([np.diff(each.offsets) for each in some])
    return Edges(np.concatenate([each.ends for each in some], axis=1), offsets_of(counts))


def area(edges: Edges) -> Floats:
    """(n,) areas in square pixels."""
    return np.abs(signed_area(edges))


def signed_area(edges: Edges) -> Floats:
    """(n,) areas, negative for shapes that turn from y to x; with errors below `EXACT` of them."""
    counts = np.diff(edges.offsets)
    owner = np.repeat(np.arange(len(counts)), counts)
    cross, magnitude = np.empty((2, len(owner)))
    for start in range(0, len(owner), _BLOCK):
        some = slice(start, start + _BLOCK)
        # Seen from a shape's first vertex, products of coordinates are no larger than its extent.
        x, y = edges.ends[:2].take(edges.offsets[owner[some]], axis=1)
        x0, y0, x1, y1 = edges.ends[:, some]
        one, other = (x0 - x) * (y1 - y), (x1 - x) * (y0 - y)
        np.subtract(one, other, out=cross[some])
        np.add(np.abs(one, out=one), np.abs(other, out=other), out=magnitude[some])
    doubled, most = (
        np.bincount(owner, weights=values, minlength=len(counts)).astype(np.float64)
        for values in (cross, magnitude)
    )
    error = _ROUNDING * (4 + counts) * most
    for k in np.flatnonzero(error > EXACT * np.abs(doubled)).tolist():
        x0, y0, x1, y1 = edges.ends[:, edges.offsets[k] : edges.offsets[k + 1]]
        parts = [*exact_product(x0, y1), *exact_product(-x1, y0)]
        doubled[k] = fsum(chain.from_iterable(part.tolist() for part in parts))
    return doubled / 2
