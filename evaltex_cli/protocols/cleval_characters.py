"""What CLEval compares: objects as it takes them, the centres of their pseudo-characters (Eq. 1,
Algorithm 2), and in which detections these lie (Eq. 2).

An object is a quadrilateral (a box is one) or a polygon; the official program treats the two
differently. Of a quadrilateral, areas and containment take the vertices cut to integers, and a
point on its left or top edge is inside, one on its right or bottom edge is not. A polygon is taken
as it is, and a point on its edge is outside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.geometry import outlines, rings, shapes
from evaltex_cli.protocols.texts import normalised
from evaltex_cli.records import Bools, Convention, Floats, Ints, Objects, Outlines, offsets_of

POLYGON_ASPECT = 1e5  # what the program has for every polygon: its slip of 1e+5 for 1e-5
FLAT_ASPECT = 1e9  # height over width of an object without width
MOST_CHARACTERS = 10


class Side(NamedTuple):
    """The objects of one side of a batch, as CLEval takes them."""

    rings: Outlines
    """All objects by their vertices as read, four at least."""
    corners: Floats
    """(n, 4, 2) vertices of quadrilaterals; the text runs from p4 p1 to p2 p3."""
    is_polygon: Bools
    shapes: shapes.Shapes
    area: Floats
    texts: list[str]
    lengths: Ints
    """Numbers of characters."""
    false_positive_lengths: Ints
    """How many characters each counts for as a false positive (Eq. 8a)."""


def side_of(objects: Objects, hidden: Bools, parameters: Any) -> Side:
    """Take objects by the `Parameters` of CLEval; those with `hidden` text have as many characters
    as fit in.
    """
    vertices, starts = rings.corners_and_vertices(objects.outlines)
    is_polygon = (np.diff(starts) != 4) | (parameters.annotation == "polygon")
    # A triangle is given a fourth vertex.
    stop = starts[1:][np.diff(starts) == 3]
    fourth = np.stack([vertices[stop - 3, 0], vertices[stop - 1, 1]], axis=1)
    starts = offsets_of(np.maximum(np.diff(starts), 4))
    drawn = Outlines(objects.boxes, np.insert(vertices, stop, fourth, axis=0), starts)
    corners = drawn.vertices[starts[:-1, None] + np.arange(4)]

    polygons, invalid = outlines.as_drawn(drawn[np.flatnonzero(is_polygon)])
    # As the official program does: of a crossed polygon the lobes of one orientation remain.
    polygons[invalid] = shapely.buffer(polygons[invalid], 0)
    taken = shapes.Shapes(objects.boxes)
    if not is_polygon.all():
        taken = shapes.from_objects(objects, Convention(truncated=True))
    taken = taken.replaced(np.flatnonzero(is_polygon), polygons)
    # Lobes of a crossed quadrilateral cancel.
    enclosed = rings.area(rings.truncated(corners.reshape(-1, 2)), np.arange(len(corners) + 1) * 4)

    if parameters.official:  # width over height by vertex order
        sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        width, height = ((sides[:, :2] + sides[:, 2:]) / 2 + 1e-5).T
        aspect = np.where(is_polygon, POLYGON_ASPECT, width / height)
        is_vertical = aspect < (parameters.vertical_aspect or 0.5)
    else:  # height over width of the bounding box
        boxes = np.where(is_polygon[:, None], objects.boxes, rings.truncated(objects.boxes))
        width, height = (boxes[:, 2:] - boxes[:, :2]).T
        flat = np.where(height > 0, FLAT_ASPECT, 1.0)
        aspect = np.divide(height, width, out=flat, where=width > 0)
        is_vertical = aspect >= (parameters.vertical_aspect or 1.5)
    # A vertical one is read from its bottom to its top.
    corners[is_vertical] = np.roll(corners[is_vertical], 1, axis=1)

    fitting = _length(np.maximum(aspect, 1 / np.maximum(aspect, 1 / FLAT_ASPECT))).tolist()
    form = parameters.normalisation
    texts = [normalised(text, form) for text in objects.texts]
    if not parameters.case_sensitive:
        texts = [normalised(text.upper(), form) for text in texts]
    for k in np.flatnonzero(hidden).tolist():
        texts[k] = "#" * fitting[k]
    area, lengths = np.where(is_polygon, taken.area(), enclosed), np.array([*map(len, texts)], int)
    false_positive = _length(1 / (1e-5 + aspect))
    return Side(drawn, corners, is_polygon, taken, area, texts, lengths, false_positive)


def _length(aspect: Floats) -> Ints:
    """How many characters fit in, halves to the even number."""
    return np.minimum(np.rint(0.5 + aspect), MOST_CHARACTERS).astype(np.int64)


def centres(side: Side) -> Floats:
    """(sum of the lengths, 2) the centres of all objects' characters (Eq. 1)."""
    p1, p2, p3, p4 = np.moveaxis(side.corners, 1, 0)
    first, last = (p1 + p4) / 2, (p2 + p3) / 2
    step = (last - first) / np.maximum(side.lengths, 1)[:, None]
    owner, starts = np.repeat(np.arange(len(step)), side.lengths), offsets_of(side.lengths)
    number = np.arange(len(owner)) - starts[owner]
    result: Floats = (first + step / 2)[owner] + step[owner] * number[:, None]
    for k in np.flatnonzero(side.is_polygon).tolist():
        characters = slice(starts[k], starts[k + 1])
        result[characters] = polygon_centres(side.rings.ring(k), int(side.lengths[k]))
    return result


def polygon_centres(ring: Floats, length: int) -> Floats:
    """(length, 2) centres of a polygon's characters: those of the pieces between its upper and its
    lower chain of vertices (Algorithm 2).
    """
    half = len(ring) // 2
    section, part = np.divmod(np.arange(length) * (half - 1), length)
    chains = np.stack([ring[:half], ring[::-1][:half]])
    start, part = chains[:, section], part[:, None]
    step = (chains[:, section + 1] - start) / length
    cut = np.where(part > 0, np.trunc(start + step * part), start)
    top, bottom = np.concatenate([cut, ring[half - 1 : half + 1, None]], axis=1)
    return np.asarray((top[:-1] + top[1:] + bottom[:-1] + bottom[1:]) / 4)


def contains(side: Side, rows: Ints, points: Floats) -> Bools:
    """(p,) whether the objects at some rows contain (p, 2) points (Eq. 2)."""
    (x, y), cut = points.T, rings.truncated(side.corners)
    inside = np.zeros(len(rows), bool)
    for k in range(4):
        # Even-odd rule: a ray to the right crosses this side, or not.
        (x0, y0), (x1, y1) = cut[rows, k - 1].T, cut[rows, k].T
        with np.errstate(all="ignore"):
            inside ^= ((y0 <= y) != (y1 <= y)) & (x < (x0 - x1) * (y - y1) / (y0 - y1) + x1)
    of_polygon = side.is_polygon[rows]
    polygons = side.shapes.geometries(rows[of_polygon])
    inside[of_polygon] = shapely.contains_xy(polygons, x[of_polygon], y[of_polygon])
    return inside


def shorter_sides(drawn: Outlines) -> Floats:
    """(n,) shorter side of the smallest rectangle around each object, its corners rounded to whole
    pixels.
    """
    owner = np.repeat(np.arange(len(drawn.boxes)), drawn.counts)
    lines = shapely.linestrings(drawn.vertices, indices=owner)
    around = np.asarray(shapely.oriented_envelope(lines), dtype=object)
    result = np.zeros(len(around))
    has_area = shapely.get_type_id(around) == shapely.GeometryType.POLYGON
    corners = np.rint(shapely.get_coordinates(around[has_area])).reshape(-1, 5, 2)
    sides = np.linalg.norm(np.diff(corners, axis=1), axis=2)
    result[has_area] = ((sides[:, :2] + sides[:, 2:]) / 2).min(axis=1)
    return result
