"""PopEval (Lee, Yoon, Jang, Choi, ICDAR 2019): characters crossed out of ground truth and
detections, pair by pair.

Task: end to end; both sides with transcriptions. A detection whose outline meets an object's and
that shares a character with it is a candidate of it. Objects with a single candidate come first,
those nearest to the origin before others, then those with several; of these the candidate (or
candidates, of equal ones) that covers most of the object is taken. The characters that the pair has
in common are crossed out of both, and so on until no candidate is left. Recall and precision are
the shares of characters crossed out.

Outlines are convex hulls of vertices cut to integers. Only images that both sides have are
compared, as in the published program. Objects with an empty transcription have nothing to be found
and are ignored.

Empty cases: a ratio 0/0 is 0 in the dataset; an image without characters in the ground truth has
recall 1, and precision 0 if its detections have characters, else 1.

Examples
--------
Three of four characters are common to the word and its detection:

>>> from evaltex_cli import Accumulator, image_objects
>>> accumulator = Accumulator("popeval")
>>> box = [[0, 0, 100, 20]]
>>> accumulator.update(image_objects(box, texts=["exit"]), image_objects(box, texts=["ex1t"]))
>>> accumulator.compute().scores
{'recall': 0.75, 'precision': 0.75, 'hmean': 0.75, 'removed_characters': 3}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import shapely

from evaltex_cli.geometry import rings
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import in_dont_care, matches, mean_of, object_counts, per_image
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.scores import divide, harmonic_mean, recall_precision, where
from evaltex_cli.protocols.tally import Count, Tally, require
from evaltex_cli.records import (
    Floats,
    Geometries,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
)

APART = 0.25
"""Boxes grown by this much on every side overlap exactly if those with whole coordinates touch."""
Crossed: TypeAlias = tuple[int, int, int]
"""Object, detection, and how many characters were crossed out of both."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of PopEval; the published program normalises no text, and is else the default."""

    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )
    normalisation: str = normalisation_field("nfc")


@dataclass(frozen=True, eq=False)
class PopEvalTally(Tally):
    """Evidence of PopEval: characters of objects and detections, and those crossed out of both."""

    compared_images: Count
    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    counted_detections: Count
    gt_characters: Count
    det_characters: Count
    removed_characters: Count

    def check(self) -> None:
        super().check()
        removed = self.removed_characters
        require(removed <= self.gt_characters, "more characters crossed out than objects have")
        require(removed <= self.det_characters, "more characters crossed out than detections have")


def evidence(batch: ImageBatch, overlaps: None, parameters: Parameters) -> Evidence:
    """Cross out the characters of a batch and sum what its images contribute."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    gt_lengths, det_lengths = (side.texts.lengths for side in (batch.gt, batch.det))
    pairs = meeting(batch)
    gt_counts = ~batch.gt.dont_care & (gt_lengths > 0) & batch.named_in_detections[batch.gt.image]
    with_area = pairs.some(pairs.area > 0)
    det_counts = ~in_dont_care(batch, with_area, parameters.dont_care_overlap)
    pairs = pairs.some(gt_counts[pairs.gt] & det_counts[pairs.det])
    distance = distances(pairs.gt_shapes)
    crossed_out: list[Crossed] = []
    covered = divide(pairs.area, pairs.gt_area[pairs.gt]).round(9).tolist()
    columns = list(zip(pairs.gt.tolist(), pairs.det.tolist(), covered, strict=True))
    starts = np.searchsorted(pairs.gt, batch.gt.offsets).tolist()
    for start, stop in pairwise(starts):
        crossed_out += cross_out(columns[start:stop], batch.gt.texts, batch.det.texts, distance)
    gt, det, crossed = np.array(crossed_out, np.int64).reshape(-1, 3).T
    images = len(batch.names)
    tally = PopEvalTally(
        batch.named_in_detections.astype(np.int64),
        *object_counts(batch, gt_counts, det_counts),
        gt_characters=per_image(np.where(gt_counts, gt_lengths, 0), batch.gt.image, images),
        det_characters=per_image(np.where(det_counts, det_lengths, 0), batch.det.image, images),
        removed_characters=per_image(crossed, batch.gt.image[gt], images),
    )
    gt_removed, gt_share = _removed(gt, crossed, gt_lengths)
    det_removed, det_share = _removed(det, crossed, det_lengths)
    matched = matches(
        *(gt, det, gt_counts, det_counts),
        {"characters": gt_lengths, "removed_characters": gt_removed, "recall": gt_share},
        {"characters": det_lengths, "removed_characters": det_removed, "precision": det_share},
    )
    return Evidence(tally, matched)


def _removed(index: Ints, crossed: Ints, lengths: Ints) -> tuple[Floats, Floats]:
    """(n,) characters crossed out of each object or detection, and their share of all."""
    removed = np.bincount(index, crossed, len(lengths)).astype(np.float64)
    return removed, divide(removed, lengths.astype(np.float64))


# Candidates ---------------------------------------------------------------------------------------


def meeting(batch: ImageBatch) -> Overlaps:
    """Return the pairs of convex hulls that have a point in common, and the area that they share,
    which may be 0.
    """
    gt_side, det_side = hulls(batch.gt), hulls(batch.det)
    margin = np.array([-APART, -APART, APART, APART])
    grown = gt_side.boxes + margin, det_side.boxes + margin
    gt, det = touching_boxes(grown[0], batch.gt.offsets, grown[1], batch.det.offsets)
    meet = shapely.intersects(gt_side.geometries(gt), det_side.geometries(det))
    gt, det = gt[meet], det[meet]
    sides = gt_side.area(), det_side.area(), gt_side, det_side
    return Overlaps(gt, det, gt_side.pair_area(gt, det_side, det), *sides)


def hulls(objects: Objects) -> Shapes:
    """Return the convex hulls of vertices cut to integers; some are lines or points."""
    points, offsets = rings.corners_and_vertices(objects.outlines, truncate=True)
    owner = np.repeat(np.arange(objects.count), np.diff(offsets))
    lines: Geometries = np.asarray(shapely.linestrings(points, indices=owner), dtype=object)
    polygons: Geometries = np.asarray(shapely.convex_hull(lines), dtype=object)
    return Shapes(shapely.bounds(polygons).reshape(-1, 4), polygons)


def distances(hulls: Shapes) -> list[float]:
    """(n,) distance from the origin to a point in each hull."""
    every = hulls.geometries(np.arange(len(hulls.boxes)))
    points = shapely.get_coordinates(shapely.point_on_surface(every))
    distance: list[float] = np.sqrt(points[:, 0] ** 2 + points[:, 1] ** 2).tolist()
    return distance


# Crossing out -------------------------------------------------------------------------------------


def cross_out(
    pairs: Sequence[tuple[int, int, float]],
    gt_texts: Sequence[str],
    det_texts: Sequence[str],
    distance: Sequence[float],
) -> list[Crossed]:
    """Cross out the characters of one image; pairs are object, detection, and the share of the
    object that the detection covers.
    """
    objects = {i: Counter(gt_texts[i]) for i, _, _ in pairs}
    detections = {j: Counter(det_texts[j]) for _, j, _ in pairs}
    candidates: dict[int, dict[int, float]] = {i: {} for i in objects}
    objects_of: dict[int, list[int]] = {j: [] for j in detections}
    for i, j, share in pairs:
        if objects[i] & detections[j]:
            candidates[i][j] = share
            objects_of[j].append(i)
    crossed = []
    while any(candidates.values()):
        # Those with a single candidate come first, then those nearest to the origin.
        _, _, i = min((len(own) > 1, distance[i], i) for i, own in candidates.items() if own)
        most = max(candidates[i].values())
        for j in [j for j, share in candidates[i].items() if share == most]:
            common = objects[i] & detections[j]
            objects[i] -= common
            detections[j] -= common
            if common:
                crossed.append((i, j, common.total()))
            changed = [(i, other) for other in candidates[i]] + [(k, j) for k in objects_of[j]]
            for k, other in changed:
                if not objects[k] & detections[other]:
                    candidates[k].pop(other, None)
    return crossed


# Scores -------------------------------------------------------------------------------------------


def scores(tally: PopEvalTally, parameters: Parameters) -> Scores:
    """Shares of the characters that were crossed out, the harmonic mean, and
    how many they were; 0/0 is 0.
    """
    removed = tally.removed_characters
    result = recall_precision(removed, tally.gt_characters, removed, tally.det_characters)
    return {**result, "removed_characters": removed}


def image_scores(tally: PopEvalTally, parameters: Parameters) -> Scores:
    """As `scores`; a compared image without text has recall 1, and precision
    0 if there are characters, else 1.
    """
    has_text = (tally.gt_characters > 0) | (tally.compared_images == 0)
    precision = where(tally.det_characters > 0, 0.0, 1.0)
    empty = {"recall": 1.0, "precision": precision, "hmean": harmonic_mean(1.0, precision)}
    return {
        name: where(has_text, value, empty.get(name, value))
        for name, value in scores(tally, parameters).items()
    }


PROTOCOL = Protocol(
    name="popeval",
    title="PopEval: characters crossed out of both sides, end to end",
    version=2,
    parameters=Parameters,
    tally=PopEvalTally,
    evidence=evidence,
    scores=scores,
    convention=lambda parameters: None,
    image_scores=image_scores,
    needs=frozenset({"texts", "outlines"}),
    object_credit=mean_of("recall"),
)
