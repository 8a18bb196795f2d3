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
from itertools import compress, pairwise
from typing import Any

import numpy as np
import shapely

from evaltex_cli.geometry import rings
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, parameter
from evaltex_cli.protocols.matching import Pair, above, at_least
from evaltex_cli.protocols.measured import order_field
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.scores import credit_scores, image_scores_by, ratio
from evaltex_cli.protocols.tally import CreditTally
from evaltex_cli.protocols.texts import normalisation_field, with_normalised_texts
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Overlaps

SEVERAL_LINES = 45.0
"""Angle in degrees between reading direction and neighbour from which both are on several lines."""
VERTICAL = 1.5
"""The characters of a word more than so many times as high as wide stand along its height."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of TedEval; the defaults are the paper's."""

    t_r: float = parameter(0.4, "least area recall; of a split, of the sum", min=0.0, max=1.0)
    t_p: float = parameter(0.4, "least area precision; of a merge, of the sum", min=0.0, max=1.0)
    center: float = parameter(1.0, "one-to-one: distance of centres, in mean diagonals", min=0.0)
    normalisation: str = normalisation_field("none")
    order: str = order_field()


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch, and sum what its images contribute."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    overlaps, ignored, cut = without_dont_care(batch, overlaps, parameters)
    words, detections = Side(batch.gt), Side(batch.det, cut, overlaps.det_shapes.geometries(cut))
    pairs = match(overlaps, words, detections, ignored, parameters)
    characters = np.where(batch.gt.dont_care, 0, batch.gt.texts.lengths)
    gt_found, det_found, det_characters = characters_found(pairs, words, detections, characters)
    recall, precision = ratio(gt_found, characters), ratio(det_found, det_characters)
    counts = ~batch.gt.dont_care, ~ignored
    tally = CreditTally(
        *matching.object_counts(batch, *counts), *matching.image_sums(batch, recall, precision)
    )
    matched = matching.matches(
        *(*matching.columns_of(pairs), *counts),
        {"characters": characters, "characters_found": gt_found, "recall": recall},
        {"characters": det_characters, "characters_found": det_found, "precision": precision},
    )
    text = (
        "tedeval: {count} object[s] without transcription [has|have] no characters, so no credit"
        " (in {images})"
    )
    return Evidence(tally, matched, object_warning(text, batch, counts[0] & (characters == 0)))


# Don't care ---------------------------------------------------------------------------------------


def without_dont_care(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters
) -> tuple[Overlaps, Bools, Ints]:
    """Return overlaps of objects that count, (D,) detections of don't care, and which detections
    lost a part, ascending.

    A don't-care object first loses what it shares with any object that counts. A detection is of
    don't care when those of which it covers more than t_r are t_p of its area or more, or a single
    one is more than t_p. Every detection loses what it shares with don't care.
    """
    ignored = np.zeros(batch.det.count, dtype=bool)
    if not batch.gt.dont_care[overlaps.gt].any():
        return overlaps, ignored, np.zeros(0, np.int64)
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
    cut = np.flatnonzero(np.bincount(det[cutting]))
    overlaps = overlaps.some(~on_dont_care)
    return measured_again(overlaps, gt_side, det_side, np.isin(overlaps.det, cut)), ignored, cut


def measured_again(overlaps: Overlaps, gt: Shapes, det: Shapes, changed: Bools) -> Overlaps:
    """Return what remains of overlaps when other shapes, of (p,) some pairs, take their places."""
    area = overlaps.area.copy()
    area[changed] = gt.pair_area(overlaps.gt[changed], det, overlaps.det[changed])
    result = Overlaps(overlaps.gt, overlaps.det, area, gt.area(), det.area(), gt, det)
    return result.some(area > 0)


# Matches (Section 3.1) ----------------------------------------------------------------------------


class Side:
    """The objects of one side, their coordinates cut to integers: four corners each, or more."""

    def __init__(self, objects: Objects, cut: Ints | None = None, remains: Any = None) -> None:
        """Take the objects; ``remains`` is what remains of those that lost a part, ``cut``."""
        points, offsets = rings.corners_and_vertices(objects.outlines, truncate=True)
        first, half = offsets[:-1], np.maximum(np.diff(offsets) // 2, 1)
        # Both ends of the upper side in reading direction, then of the lower side against it.
        corners = points[np.stack([first, first + half - 1, first + half, offsets[1:] - 1])]
        self.starts = (corners[0] + corners[3]) / 2
        """(n, 2) the middle of the side where reading begins."""
        self.diagonals = np.hypot(*(corners[:2] - corners[2:]).transpose(2, 0, 1)).mean(axis=0)
        self.centres = rings.centroids(points, offsets)
        """(n, 2) as drawn."""
        self.centroids = self.centres.copy()
        """(n, 2) of what remains."""
        vertices = points.tolist()
        self.rings = [[vertices[start:stop]] for start, stop in pairwise(offsets.tolist())]
        """The rings of what remains, holes among them."""
        if cut is not None:
            centres = shapely.centroid(remains)
            self.centroids[cut] = np.column_stack([shapely.get_x(centres), shapely.get_y(centres)])
            for k, polygon in zip(cut.tolist(), remains, strict=True):
                every = shapely.get_rings(shapely.get_parts(polygon))
                self.rings[k] = [shapely.get_coordinates(ring)[:-1].tolist() for ring in every]


def match(
    overlaps: Overlaps, words: Side, detections: Side, ignored: Bools, parameters: Parameters
) -> list[Pair]:
    """Return all pairs that any kind of match has, sorted."""
    t_r, t_p, pairs = parameters.t_r, parameters.t_p, matching.pairs_of(overlaps)
    recall = dict(zip(pairs, overlaps.recall().tolist(), strict=True))
    precision = dict(zip(pairs, overlaps.precision().tolist(), strict=True))
    # One-to-one; ignored detections are rivals too.
    fits = [p for p in pairs if at_least(recall[p], t_r) and at_least(precision[p], t_p)]
    alone = matching.alone(fits)
    gt, det = matching.columns_of(alone)
    distance = np.hypot(*(words.centroids[gt] - detections.centroids[det]).T)
    near = 2 * distance < parameters.center * (words.diagonals[gt] + detections.diagonals[det])
    matched = set(compress(alone, near & ~ignored[det]))
    # One-to-many and many-to-one.
    counting = matching.pairs_of(overlaps.some(~ignored[overlaps.det]))
    splits = matching.by_gt(p for p in counting if at_least(precision[p], t_p))
    merges = matching.by_det(p for p in counting if at_least(recall[p], t_r))
    for groups, ratios, least, side, own in (
        (splits, recall, t_r, detections, 1),
        (merges, precision, t_p, words, 0),
    ):
        for group in groups.values():
            enough = len(group) > 1 and at_least(sum(ratios[p] for p in group), least)
            if enough and on_one_line(side, [p[own] for p in group]):
                matched.update(group)
    return sorted(matched)


def on_one_line(side: Side, members: list[int]) -> bool:
    """Whether each member is read towards all others.

    A member's reading direction is that from the middle of its first side to its centre. Seen from
    another's centre both make an angle, which folded to [0, 90] degrees is below `SEVERAL_LINES`.
    """
    starts, centres = side.starts[members], side.centres[members]
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
    gt_found = np.zeros(len(words.rings))
    det_found, det_characters = np.zeros((2, len(detections.rings)))
    for i, own in matching.by_gt(pairs).items():
        points = character_centres(words.rings[i][0], int(characters[i]))
        inside = [contained(points, detections.rings[j]) for _, j in own]
        gt_found[i] = [sum(times) for times in zip(*inside, strict=True)].count(1)
        for (_, j), some in zip(own, inside, strict=True):
            det_found[j] += sum(some)
            det_characters[j] += len(points)
    return gt_found, det_found, det_characters


def character_centres(ring: list[Point], characters: int) -> list[Point]:
    """Pseudo character centres: evenly spaced on the middle line (Eq. 1)."""
    if not characters:
        return []
    if len(ring) != 4:
        shares = (np.arange(characters) + 0.5) / characters
        top, bottom = (rings.along(chain, shares) for chain in rings.chains(np.array(ring)))
        return [(x, y) for x, y in ((top + bottom) / 2).tolist()]
    p1, p2, p3, p4 = ring
    width, height = (max(side) - min(side) for side in zip(*ring, strict=True))
    if width and height / width > VERTICAL:
        p1, p2, p3, p4 = p4, p1, p2, p3
    x0, y0 = (p1[0] + p4[0]) / 2, (p1[1] + p4[1]) / 2
    x1, y1 = (p2[0] + p3[0]) / 2, (p2[1] + p3[1]) / 2
    dx, dy = (x1 - x0) / characters, (y1 - y0) / characters
    return [(x0 + dx / 2 + dx * c, y0 + dy / 2 + dy * c) for c in range(characters)]


def contained(points: list[Point], outline: list[list[Point]]) -> list[bool]:
    """Whether points are in the rings of a detection, or on its left or top side."""
    inside = [False] * len(points)
    for ring in outline:
        for (x0, y0), (x1, y1) in pairwise([ring[-1], *ring]):
            for at, (x, y) in enumerate(points):
                if (y0 <= y) != (y1 <= y) and x < (x0 - x1) * (y - y1) / (y0 - y1) + x1:
                    inside[at] = not inside[at]
    return inside


PROTOCOL = Protocol(
    name="tedeval",
    title="TedEval: matches by area, scored by pseudo character centres",
    parameters=Parameters,
    tally=CreditTally,
    evidence=evidence,
    scores=credit_scores,
    convention=lambda parameters: Convention(truncated=True),
    image_scores=image_scores_by(credit_scores),
    needs=frozenset({"outlines"}),
    object_credit=matching.mean_of("recall"),
)
