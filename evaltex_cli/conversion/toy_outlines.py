"""Parts of words along their text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.geometry import rings
from evaltex_cli.records import Floats, Ints, Outlines, offsets_of

Portions: TypeAlias = "Sequence[tuple[float, float]]"


def cut(words: Outlines, portions: Portions) -> Outlines:
    """Return parts of words, those of each one after the other; each from one share of the word's
    length to another, cut points truncated.

    A box is cut along x. Of other words the upper and the lower chain of vertices are cut, each at
    these shares of its own length; of a quadrilateral these are its first side, from the first
    vertex to the second, and the opposite one. Vertices in between stay as they are.
    """
    boxes = np.empty((len(words.boxes), len(portions), 4))
    _cut_boxes(words.boxes, portions, boxes)
    vertices, counts = _cut_polygons(words, portions)
    offsets, is_polygon = offsets_of(counts.ravel()), counts > 0
    boxes[is_polygon] = box_geometry.around(vertices, vertices, offsets[:-1][is_polygon.ravel()])
    return Outlines(boxes.reshape(-1, 4), vertices, offsets)


def _cut_boxes(words: Floats, portions: Portions, parts: Floats) -> None:
    """Fill (n, portions, 4) parts of boxes."""
    x0, _, x1, _ = words.T
    parts[:] = words[:, None]
    for k, (start, stop) in enumerate(portions):
        for column, share in ((0, start), (2, stop)):
            parts[:, k, column] = np.trunc(x0 + share * (x1 - x0)) + 0.0  # no -0


def _cut_polygons(words: Outlines, portions: Portions) -> tuple[Floats, Ints]:
    """Return the vertices of all parts of polygons, and (n, portions) how many each part has, 0 of
    a box.
    """
    polygons = np.flatnonzero(words.counts)
    counts = np.zeros((len(words.boxes), len(portions)), np.int64)
    if (words.counts[polygons] == 4).all():
        counts[polygons] = 4
        return _of_quadrilaterals(words.vertices, portions), counts
    parts = []
    for i in polygons.tolist():
        cut_ = [portion(words.ring(i), *shares) for shares in portions]
        counts[i] = [*map(len, cut_)]
        parts += cut_
    return np.concatenate(parts), counts


def _of_quadrilaterals(vertices: Floats, portions: Portions) -> Floats:
    """Return what `portion` does of each, faster."""
    top, bottom = rings.chains(vertices.reshape(-1, 4, 2))
    every = np.arange(len(top))
    parts = np.empty((len(top), len(portions), 4, 2))
    for k, shares in enumerate(portions):
        for chain, columns in ((top, (0, 1)), (bottom, (3, 2))):
            for share, column in zip(shares, columns, strict=True):
                points = rings.along_each(chain, every, np.full(len(top), share))
                parts[:, k, column] = np.trunc(points)
    return parts.reshape(-1, 2)


def portion(ring: Floats, start: float, stop: float) -> Floats:
    """Return a part of a polygon as (k, 2) vertices."""
    pieces = []
    for side in rings.chains(ring):
        piece = rings.between(side, start, stop)
        piece[[0, -1]] = np.trunc(piece[[0, -1]])
        pieces.append(piece)
    return np.concatenate([pieces[0], pieces[1][::-1]])
