"""TedEval (Lee, Baek, Lee, arXiv:1907.01227): matches by area, scored by the characters that
detections contain.

Task: text localisation by boxes or quadrilaterals, ground truth with transcriptions. A word of n
characters is given n pseudo character centres. One-to-one, one-to-many and many-to-one matches are
all collected, none excluding another; a split or merge over several lines is dropped. A matched
object is worth its share of characters that exactly one of its detections contains, a matched
detection its share of characters contained.

Areas are those of coordinates cut to integers, without the + 1 of the DetEval scripts. An object
without transcription has no characters: it counts, with a credit of 0. Polygons of more vertices,
which the published script does not take, have their characters on the line midway between their
upper and their lower side.

Empty cases: a ratio 0/0 is 0 in the dataset; an image without objects that count has recall 1, and
precision 0 if it has detections that count, else 1, as in the published script.

Examples
--------
The detection contains two of the word's four pseudo character centres:

>>> from evaltex_cli import Accumulator, image_objects
>>> accumulator = Accumulator("tedeval")
>>> accumulator.update(image_objects([[0, 0, 100, 20]], texts=["exit"]), [[0, 0, 50, 20]])
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
"""

from __future__ import annotations

from dataclasses import dataclass
from math import dist
from typing import Any

import numpy as np
import shapely

from evaltex_cli.geometry import rings
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import (
    ImagePairs,
    Pair,
    above,
    alone,
    at_least,
    by_det,
    by_gt,
    by_image,
    columns_of,
    matches,
    mean_of,
    object_counts,
    per_image,
)
from evaltex_cli.protocols.measured import order_field
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.scores import divide, image_scores_by, scores_of
from evaltex_cli.protocols.tally import CreditTally
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
)

SEVERAL_LINES = 45.0
"""Angle in degrees between reading direction and neighbour from which both are on several lines."""
VERTICAL = 1.5
"""The characters of a word more than so many times as high as wide stand along its height."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of TedEval; the defaults are the paper's."""

    t_r: float = parameter(
        0.4, "least area recall of a match; of a split, of the sum", min=0.0, max=1.0
    )
    t_p: float = parameter(
        0.4, "least area precision of a match; of a merge, of the sum", min=0.0, max=1.0
    )
    center: float = parameter(
        1.0, "one-to-one: centres nearer than this share of the mean diagonal", min=0.0
    )
    normalisation: str = normalisation_field("none")
    order: str = order_field()


def convention(parameters: Parameters) -> Convention:
    """Coordinates cut to integers."""
    return Convention(truncated=True)


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch, and sum what its images contribute."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    overlaps, ignored, remains = without_dont_care(batch, overlaps, parameters)
    words, detections = Side(batch.gt), Side(batch.det, remains)
    is_ignored = ignored.tolist()
    pairs: list[Pair] = []
    for image in by_image(batch.gt, overlaps):
        pairs += sorted(match(image, words, detections, is_ignored, parameters))
    characters = np.where(batch.gt.dont_care, 0, batch.gt.texts.lengths)
    gt_found, det_found, det_characters = characters_found(pairs, words, detections, characters)
    recall = divide(gt_found, characters.astype(np.float64))
    precision = divide(det_found, det_characters)
    gt_counts, det_counts = ~batch.gt.dont_care, ~ignored
    images = len(batch.names)
    tally = CreditTally(
        *object_counts(batch, gt_counts, det_counts),
        recall_credit=per_image(recall, batch.gt.image, images),
        precision_credit=per_image(precision, batch.det.image, images),
    )
    matched = matches(
        *(*columns_of(pairs), gt_counts, det_counts),
        {"characters": characters, "characters_found": gt_found, "recall": recall},
        {"characters": det_characters, "characters_found": det_found, "precision": precision},
    )
    text = (
        "tedeval: {count} object[s] without transcription [has|have] no characters, so no credit"
        " (in {images})"
    )
    warnings = object_warning(text, batch, gt_counts & (characters == 0))
    return Evidence(tally, matched, warnings)


# Don't care ---------------------------------------------------------------------------------------


def without_dont_care(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters
) -> tuple[Overlaps, Bools, dict[int, Any]]:
    """Return overlaps of objects that count, (D,) detections of don't care, and the geometries of
    those that lost a part.

    A don't-care object first loses what it shares with any object that counts. A detection is of
    don't care when those of which it covers more than t_r are t_p of its area or more, or a single
    one is more than t_p. Every detection loses what it shares with don't care.
    """
    ignored = np.zeros(batch.det.count, dtype=bool)
    if not batch.gt.dont_care[overlaps.gt].any():
        return overlaps, ignored, {}
    gt_side, det_side = overlaps.gt_shapes, overlaps.det_shapes
    i, j = touching_boxes(gt_side.boxes, batch.gt.offsets, gt_side.boxes, batch.gt.offsets)
    mixed = batch.gt.dont_care[i] & ~batch.gt.dont_care[j]
    gt_side = gt_side.without(i[mixed], gt_side, j[mixed])
    overlaps = measured_again(overlaps, gt_side, det_side, np.isin(overlaps.gt, i[mixed]))

    gt, det, precision = overlaps.gt, overlaps.det, overlaps.precision()
    on_dont_care = batch.gt.dont_care[gt]
    covered = on_dont_care & above(overlaps.recall(), parameters.t_r)
    total = np.bincount(det[covered], precision[covered], batch.det.count)
    ignored[det[covered]] = at_least(total, parameters.t_p)[det[covered]]
    ignored[det[on_dont_care & above(precision, parameters.t_p)]] = True

    # What remains of a detection on nothing else is not asked for.
    cutting = on_dont_care & np.isin(det, det[~on_dont_care])
    det_side = det_side.without(det[cutting], gt_side, gt[cutting])
    cut = np.unique(det[cutting])
    remains = dict(zip(cut.tolist(), det_side.geometries(cut), strict=True))
    overlaps = overlaps.some(~on_dont_care)
    return measured_again(overlaps, gt_side, det_side, np.isin(overlaps.det, cut)), ignored, remains


def measured_again(overlaps: Overlaps, gt: Shapes, det: Shapes, changed: Bools) -> Overlaps:
    """Return what remains of overlaps when other shapes, of (p,) some pairs, take their places."""
    area = overlaps.area.copy()
    area[changed] = gt.pair_area(overlaps.gt[changed], det, overlaps.det[changed])
    result = Overlaps(overlaps.gt, overlaps.det, area, gt.area(), det.area(), gt, det)
    return result.some(area > 0)


# Matches (Section 3.1) ----------------------------------------------------------------------------


def match(
    image: ImagePairs,
    words: Side,
    detections: Side,
    ignored: list[bool],
    parameters: Parameters,
) -> set[Pair]:
    """Return all pairs of an image that any kind of match has."""
    recall, precision, t_r, t_p = image.recall, image.precision, parameters.t_r, parameters.t_p
    # One-to-one; ignored detections are rivals too.
    fits = [p for p in recall if at_least(recall[p], t_r) and at_least(precision[p], t_p)]
    matched = {
        (i, j)
        for i, j in alone(fits)
        if not ignored[j] and are_near(words, i, detections, j, parameters.center)
    }
    counting = [(i, j) for i, j in recall if not ignored[j]]
    # One-to-many.
    for group in by_gt(p for p in counting if at_least(precision[p], t_p)).values():
        enough = len(group) > 1 and at_least(sum(recall[p] for p in group), t_r)
        if enough and on_one_line([detections.place(j) for _, j in group]):
            matched.update(group)
    # Many-to-one.
    for group in by_det(p for p in counting if at_least(recall[p], t_r)).values():
        enough = len(group) > 1 and at_least(sum(precision[p] for p in group), t_p)
        if enough and on_one_line([words.place(i) for i, _ in group]):
            matched.update(group)
    return matched


def are_near(words: Side, i: int, detections: Side, j: int, center: float) -> bool:
    """Whether the distance of the centres is below a share of the mean diagonal."""
    diagonals = words.diagonals[i] + detections.diagonals[j]
    distance = dist(words.centroid(i), detections.centroid(j))
    return bool(2 * distance < center * diagonals)


def on_one_line(places: list[tuple[Point, Point]]) -> bool:
    """Whether each member is read towards all others.

    A member's reading direction is that from the middle of its first side to its centre. Seen from
    another's centre both make an angle, which folded to [0, 90] degrees is below `SEVERAL_LINES`.
    """
    starts, centres = np.array(places).swapaxes(0, 1)
    for k, centre in enumerate(centres):
        (to_x, to_y), (from_x, from_y) = (
            np.delete(x - centre, k, axis=0).T for x in (centres, starts)
        )
        turns = np.abs(np.degrees(np.arctan2(to_y, to_x) - np.arctan2(from_y, from_x)))
        turns = np.minimum(turns, 360 - turns)
        if at_least(np.minimum(turns, 180 - turns), SEVERAL_LINES).any():
            return False
    return True


# Characters (Section 3.2) -------------------------------------------------------------------------


def characters_found(
    pairs: list[Pair], words: Side, detections: Side, characters: Ints
) -> tuple[Floats, Floats, Floats]:
    """Return (G,) how many characters of each object exactly one of its detections contains; (D,)
    how many each detection contains, and (D,) how many the objects have that it is matched with.
    """
    gt_found = np.zeros(len(words.centres))
    det_found, det_characters = np.zeros((2, len(detections.centres)))
    for i, own in by_gt(pairs).items():
        centres = words.character_centres(i, int(characters[i]))
        times = [0] * len(centres)
        for _, j in own:
            inside = detections.contain(j, centres)
            det_found[j] += sum(inside)
            det_characters[j] += len(centres)
            times = [count + one for count, one in zip(times, inside, strict=True)]
        gt_found[i] = times.count(1)
    return gt_found, det_found, det_characters


class Side:
    """The objects of one side, their coordinates cut to integers: four corners each, or more."""

    def __init__(self, objects: Objects, remains: dict[int, Any] | None = None) -> None:
        points, offsets = rings.corners_and_vertices(objects.outlines, truncate=True)
        first, half = offsets[:-1], np.maximum(np.diff(offsets) // 2, 1)
        # Both ends of the upper side in reading direction, then of the lower side against it.
        corners = points[np.stack([first, first + half - 1, first + half, offsets[1:] - 1], axis=1)]
        self.corners = corners.tolist()
        self.diagonals = np.hypot(*(corners[:, :2] - corners[:, 2:]).T).mean(axis=0).tolist()
        self.centres = rings.centroids(points, offsets).tolist()
        self.vertices, self.offsets = points.tolist(), offsets.tolist()
        self.remains = remains or {}
        """What remains of those that lost a part."""

    def place(self, k: int) -> tuple[Point, Point]:
        """The middle of the side where reading begins, and the centre of the outline as drawn."""
        x, y = self.centres[k]
        return middle(self.corners[k][0], self.corners[k][3]), (x, y)

    def centroid(self, k: int) -> Point:
        """The centroid of what remains of an object."""
        x, y = self.remains[k].centroid.coords[0] if k in self.remains else self.centres[k]
        return x, y

    def ring(self, k: int) -> list[Point]:
        """The vertices of an object."""
        vertices: list[Point] = self.vertices[self.offsets[k] : self.offsets[k + 1]]
        return vertices

    def character_centres(self, k: int, characters: int) -> list[Point]:
        """Pseudo character centres: evenly spaced on the middle line (Eq. 1)."""
        if not characters:
            return []
        ring = self.ring(k)
        if len(ring) != 4:
            shares = (np.arange(characters) + 0.5) / characters
            top, bottom = (rings.along(chain, shares) for chain in rings.chains(np.array(ring)))
            return [(x, y) for x, y in ((top + bottom) / 2).tolist()]
        p1, p2, p3, p4 = self.corners[k]
        width, height = (max(side) - min(side) for side in zip(p1, p2, p3, p4, strict=True))
        if width and height / width > VERTICAL:
            p1, p2, p3, p4 = p4, p1, p2, p3
        (x0, y0), (x1, y1) = middle(p1, p4), middle(p2, p3)
        dx, dy = (x1 - x0) / characters, (y1 - y0) / characters
        return [(x0 + dx / 2 + dx * c, y0 + dy / 2 + dy * c) for c in range(characters)]

    def contain(self, k: int, points: list[Point]) -> list[bool]:
        """Whether points are in what remains of a detection, or on its left or top side."""
        inside = [False] * len(points)
        for ring in self.rings(k):
            x0, y0 = ring[-1]
            for x1, y1 in ring:
                for at, (x, y) in enumerate(points):
                    if (y0 <= y) != (y1 <= y) and x < (x0 - x1) * (y - y1) / (y0 - y1) + x1:
                        inside[at] = not inside[at]
                x0, y0 = x1, y1
        return inside

    def rings(self, k: int) -> list[list[Point]]:
        """The rings of what remains of a detection, holes among them."""
        if k not in self.remains:
            return [self.ring(k)]
        every = shapely.get_rings(shapely.get_parts(self.remains[k]))
        return [shapely.get_coordinates(ring)[:-1].tolist() for ring in every]


def middle(p: Point, q: Point) -> Point:
    """The point midway between two."""
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


# Scores -------------------------------------------------------------------------------------------


def scores(tally: CreditTally, parameters: Parameters) -> Scores:
    """Recall, precision and their harmonic mean: credits over the numbers of objects that count."""
    return scores_of(tally, tally.recall_credit, tally.precision_credit)


PROTOCOL = Protocol(
    name="tedeval",
    title="TedEval: matches by area, scored by pseudo character centres",
    version=1,
    parameters=Parameters,
    tally=CreditTally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    needs=frozenset({"outlines"}),
    object_credit=mean_of("recall"),
)
