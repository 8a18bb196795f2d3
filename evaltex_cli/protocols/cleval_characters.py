"""What CLEval compares: objects as it takes them, the centres of their pseudo-characters (Eq. 1,
Algorithm 2), in which detections these lie (Eq. 2), and area precision (Eq. 3).

An object is a quadrilateral (a box is one) or a polygon; the official program treats the two
differently. Of a quadrilateral, areas and containment take the vertices cut to integers, and a
point on its left or top edge is inside, one on its right or bottom edge is not. A polygon is taken
as it is, and a point on its edge is outside.
"""

from __future__ import annotations

from math import dist, trunc
from typing import Any, NamedTuple

import numpy as np
import shapely

from evaltex_cli.geometry import outlines, rings, shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.matching import Pair, by_gt, columns_of
from evaltex_cli.protocols.normalisation import normalised
from evaltex_cli.protocols.scores import divide
from evaltex_cli.records import Bools, Convention, ImageBatch, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import taken_outlines

POLYGON_ASPECT = 1e5
"""What the official program has for every polygon: its slip of 1e+5 for 1e-5."""
FLAT_ASPECT = 1e9
"""Height over width of an object without width."""
MOST_CHARACTERS = 10
Point = tuple[float, float]


class Side:
    """The objects of one side of a batch, by the `Parameters` of CLEval.

    Objects with `hidden` text, a list of bool, have as many characters as fit in.
    """

    def __init__(self, objects: Objects, hidden: list[bool], parameters: Any) -> None:
        self.parameters = parameters
        vertices, starts = rings.corners_and_vertices(objects.outlines)
        # A triangle is given a fourth vertex.
        stop = starts[1:][np.diff(starts) == 3]
        fourth = np.stack([vertices[stop - 3, 0], vertices[stop - 1, 1]], axis=1)
        vertices = np.insert(vertices, stop, fourth, axis=0)
        all_polygons = parameters.annotation == "polygon"
        is_polygon = all_polygons | (np.diff(starts) != 4)
        starts = offsets_of(np.maximum(np.diff(starts), 4))
        of_polygon = np.repeat(is_polygon, np.diff(starts))[:, None]
        cut = np.where(of_polygon, vertices, rings.truncated(vertices))
        self.is_polygon, self._starts = is_polygon.tolist(), starts.tolist()
        self._vertices, self._cut = vertices, cut

        self.shapes = shapes.Shapes(objects.boxes)
        if not all_polygons:
            self.shapes = shapes.from_objects(objects, Convention(truncated=True))
        rows = np.flatnonzero(is_polygon)
        drawn = taken_outlines(Outlines(objects.boxes, vertices, starts), rows)
        polygons, invalid = outlines.as_drawn(drawn)
        # As the official program does: of a crossed polygon the lobes of one orientation remain.
        polygons[invalid] = shapely.buffer(polygons[invalid], 0)
        self._polygons = dict(zip(rows.tolist(), polygons, strict=True))
        self.shapes = self.shapes.replaced(rows, polygons)
        # Lobes of a crossed quadrilateral cancel.
        self.area = np.where(is_polygon, self.shapes.area(), rings.area(cut, starts))

        aspects = [self.aspect(k) for k in range(objects.count)]
        self.texts = [
            "#" * length_by_aspect(aspect) if is_hidden else self._as_compared(text)
            for text, aspect, is_hidden in zip(objects.texts, aspects, hidden, strict=True)
        ]
        self.lengths = np.array([*map(len, self.texts)], np.int64)
        self.false_positive_lengths = np.array([*map(false_positive_length, aspects)], np.int64)

    def _as_compared(self, text: str) -> str:
        form = self.parameters.normalisation
        text = normalised(text, form)
        return text if self.parameters.case_sensitive else normalised(text.upper(), form)

    def ring(self, k: int, cut: bool = False) -> list[Point]:
        """The vertices of an object as read, or cut to integers if it is a quadrilateral."""
        vertices = self._cut if cut else self._vertices
        ring: list[Point] = vertices[self._starts[k] : self._starts[k + 1]].tolist()
        return ring

    def aspect(self, k: int) -> float:
        """Width over height by vertex order, or height over width of the bounding box (paper)."""
        if not self.parameters.official:
            x, y = zip(*self.ring(k, cut=True), strict=True)
            width, height = max(x) - min(x), max(y) - min(y)
            return height / width if width else FLAT_ASPECT if height else 1.0
        if self.is_polygon[k]:
            return POLYGON_ASPECT
        a, b, c, d = self.ring(k)
        return ((dist(a, b) + dist(c, d)) / 2 + 1e-5) / ((dist(b, c) + dist(d, a)) / 2 + 1e-5)

    def is_vertical(self, k: int) -> bool:
        """Whether a quadrilateral is read from its bottom to its top."""
        if self.parameters.official:
            return self.aspect(k) < (self.parameters.vertical_aspect or 0.5)
        return self.aspect(k) >= (self.parameters.vertical_aspect or 1.5)

    def centres(self, k: int) -> list[Point]:
        """Centres of an object's characters (Eq. 1)."""
        length = len(self.texts[k])
        if not length:
            return []
        if self.is_polygon[k]:
            return polygon_centres(self.ring(k), length)
        p1, p2, p3, p4 = self.ring(k)
        if self.is_vertical(k):
            p1, p2, p3, p4 = p4, p1, p2, p3
        (x0, y0), (x1, y1) = middle(p1, p4), middle(p2, p3)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        return [(x0 + dx / 2 + dx * c, y0 + dy / 2 + dy * c) for c in range(length)]

    def contained(self, k: int, points: list[Point]) -> list[int]:
        """Return which of some points lie in an object (Eq. 2)."""
        if not points:
            return []
        if self.is_polygon[k]:
            inside: list[bool] = shapely.contains_xy(self._polygons[k], points).tolist()
        else:
            inside = [False] * len(points)
            ring = self.ring(k, cut=True)
            for (x0, y0), (x1, y1) in zip(ring[-1:] + ring[:-1], ring, strict=True):
                # Even-odd rule: a ray to the right crosses this side, or not.
                for c, (x, y) in enumerate(points):
                    if (y0 <= y) != (y1 <= y) and x < (x0 - x1) * (y - y1) / (y0 - y1) + x1:
                        inside[c] = not inside[c]
        return [c for c, is_inside in enumerate(inside) if is_inside]


class Scene(NamedTuple):
    """A batch as CLEval takes it: what does not depend on which objects are don't care."""

    batch: ImageBatch
    gt: Side
    det: Side
    near: list[Pair]
    """The pairs that may share characters or area, sorted."""
    included: dict[Pair, list[int]]
    """Which characters of an object lie in a detection (Eq. 2), ascending, for the pairs that have
    any."""


def scene_of(batch: ImageBatch, parameters: Any) -> Scene:
    """Take a batch as CLEval does, and find which characters lie in which detections."""
    gt = Side(batch.gt, batch.gt.dont_care.tolist(), parameters)
    # A detection with the text of a don't-care object is as long as such an object.
    det = Side(batch.det, [text == "###" for text in batch.det.texts], parameters)
    # Cutting coordinates to integers moves points by less than a pixel.
    around = batch.gt.boxes + np.array([-1.0, -1.0, 1.0, 1.0])
    i, j = touching_boxes(around, batch.gt.offsets, det.shapes.boxes, batch.det.offsets)
    near = list(zip(i.tolist(), j.tolist(), strict=True))
    centres = {i: gt.centres(i) for i in by_gt(near)}
    included = {(i, j): det.contained(j, centres[i]) for i, j in near}
    return Scene(batch, gt, det, near, {pair: some for pair, some in included.items() if some})


def area_precision(scene: Scene, dont_care: Bools, official: bool) -> dict[Pair, float]:
    """Return which share of each detection lies in each object (Eq. 3), of the pairs that are near.

    Don't-care objects are taken without what they share with objects that count. Officially shares
    are in single precision.
    """
    gt, offsets = scene.gt.shapes, scene.batch.gt.offsets
    ignored, word = touching_boxes(gt.boxes, offsets, gt.boxes, offsets)
    mixed = dont_care[ignored] & ~dont_care[word]
    gt = gt.without(ignored[mixed], gt, word[mixed])
    i, j = columns_of(scene.near)
    share = divide(gt.pair_area(i, scene.det.shapes, j), scene.det.area[j])
    single = share.astype(np.float32 if official else np.float64)
    return dict(zip(scene.near, single.tolist(), strict=True))


def middle(p: Point, q: Point) -> Point:
    """The point midway between two."""
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def polygon_centres(ring: list[Point], length: int) -> list[Point]:
    """Centres of a polygon's characters: those of the pieces between its upper and its lower chain
    of vertices (Algorithm 2).
    """
    half = len(ring) // 2
    sections = half - 1
    ends = []
    for chain in (ring[:half], ring[half:][::-1]):
        for at in range(0, length * sections, sections):
            section, part = divmod(at, length)
            (x0, y0), (x1, y1) = chain[section], chain[section + 1]
            if part:
                x0 = trunc(x0 + (x1 - x0) / length * part)
                y0 = trunc(y0 + (y1 - y0) / length * part)
            ends.append((x0, y0))
        ends.append(chain[-1])
    top, bottom = ends[: length + 1], ends[length + 1 :]
    pieces = zip(top[:-1], top[1:], bottom[:-1], bottom[1:], strict=True)
    return [(sum(x) / 4, sum(y) / 4) for x, y in (zip(*corners, strict=True) for corners in pieces)]


def length_by_aspect(aspect: float) -> int:
    """How many characters fit in an object, along its longer side."""
    longer = max(aspect, 1 / max(aspect, 1 / FLAT_ASPECT))
    return min(round(0.5 + longer), MOST_CHARACTERS)


def false_positive_length(aspect: float) -> int:
    """How many characters a false positive counts for: one over the aspect (Eq. 8a)."""
    return min(round(0.5 + 1 / (1e-5 + aspect)), MOST_CHARACTERS)


def shorter_side(ring: list[Point]) -> float:
    """Shorter side of the smallest rectangle around vertices, its corners rounded to whole
    pixels.
    """
    around = shapely.oriented_envelope(shapely.linestrings(ring))
    if shapely.get_type_id(around) != shapely.GeometryType.POLYGON:
        return 0.0
    corners = np.rint(shapely.get_coordinates(around)).tolist()
    a, b, c, d = map(dist, corners, corners[1:])
    return min(a + c, b + d) / 2
