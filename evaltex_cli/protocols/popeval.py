"""PopEval (Lee, Yoon, Jang, Choi, ICDAR 2019): characters crossed out of ground truth and
detections, pair by pair.

Task: end to end; both sides with transcriptions. A detection whose outline meets an object's and
that shares a character with it is a candidate of it. Objects with a single candidate come first,
those nearest to the origin before others, then those with several; of these the candidate (or
candidates, of equal ones) that covers most of the object is taken. The characters that the pair has
in common are crossed out of both, and so on until no candidate is left. Recall and precision are
the shares of characters crossed out.

Outlines are convex hulls of vertices cut to integers. As in the published program, only images that
both sides have are compared. Objects with an empty transcription are ignored.

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
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely

from evaltex_cli.geometry import rings
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.geometry.touching import touching_boxes
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.matching import Pair, by_det, by_gt, in_dont_care, pairs_of
from evaltex_cli.protocols.scores import ratio, recall_precision, scores_or_empty, where
from evaltex_cli.protocols.tally import Count, ObjectTally
from evaltex_cli.protocols.texts import normalisation_field, with_normalised_texts
from evaltex_cli.records import Geometries, ImageBatch, Objects, Overlaps

APART = 0.25
"""Boxes grown by this much on every side overlap exactly if those with whole coordinates touch."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of PopEval; the published program normalises no text, and is else the default."""

    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )
    normalisation: str = normalisation_field("nfc")


@dataclass(frozen=True, eq=False)
class PopEvalTally(ObjectTally):
    """Evidence of PopEval: characters of objects and detections, and those crossed out of both."""

    compared_images: Count
    gt_characters: Count
    det_characters: Count
    removed_characters: Count


def evidence(batch: ImageBatch, overlaps: None, parameters: Parameters) -> Evidence:
    """Cross out the characters of a batch and sum what its images contribute."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    gt_lengths, det_lengths = batch.gt.texts.lengths, batch.det.texts.lengths
    pairs = meeting(batch)
    gt_counts = ~batch.gt.dont_care & (gt_lengths > 0) & batch.named_in_detections[batch.gt.image]
    with_area = pairs.some(pairs.area > 0)
    det_counts = ~in_dont_care(batch, with_area, parameters.dont_care_overlap)
    pairs = pairs.some(gt_counts[pairs.gt] & det_counts[pairs.det])
    # Objects nearest to the origin come first, by a point in each of them.
    inside = shapely.point_on_surface(pairs.gt_shapes.geometries(np.arange(batch.gt.count)))
    distance = np.linalg.norm(shapely.get_coordinates(inside), axis=1).tolist()
    covered = ratio(pairs.area, pairs.gt_area[pairs.gt]).round(9).tolist()
    shares = list(zip(pairs_of(pairs), covered, strict=True))
    crossed_out: list[tuple[int, int, int]] = []
    for start, stop in pairwise(np.searchsorted(pairs.gt, batch.gt.offsets).tolist()):
        crossed_out += cross_out(dict(shares[start:stop]), batch, distance)
    gt, det, crossed = np.array(crossed_out, np.int64).reshape(-1, 3).T
    tally = PopEvalTally(
        *matching.object_counts(batch, gt_counts, det_counts),
        batch.named_in_detections.astype(np.int64),
        *matching.image_sums(batch, gt_lengths * gt_counts, det_lengths * det_counts),
        matching.per_image(crossed, batch.gt.image[gt], len(batch.names)),
    )
    gt_removed = np.bincount(gt, crossed, batch.gt.count)
    det_removed = np.bincount(det, crossed, batch.det.count)
    recall, precision = ratio(gt_removed, gt_lengths), ratio(det_removed, det_lengths)
    matched = matching.matches(
        *(gt, det, gt_counts, det_counts),
        {"characters": gt_lengths, "removed_characters": gt_removed, "recall": recall},
        {"characters": det_lengths, "removed_characters": det_removed, "precision": precision},
    )
    return Evidence(tally, matched)


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


def cross_out(
    shares: dict[Pair, float], batch: ImageBatch, distance: list[float]
) -> list[tuple[int, int, int]]:
    """Cross out the characters of an image, of whose pairs the detection covers these shares of the
    object. Return objects, detections, and how many characters are crossed out of both.
    """
    objects = {i: Counter(batch.gt.texts[i]) for i, _ in shares}
    detections = {j: Counter(batch.det.texts[j]) for _, j in shares}
    candidates = by_gt((i, j) for i, j in shares if objects[i] & detections[j])
    met = by_det(shares)
    crossed = []
    while candidates:
        # Those with a single candidate come first, then those nearest to the origin.
        i = min(candidates, key=lambda i: (len(candidates[i]) > 1, distance[i], i))
        most = max(shares[pair] for pair in candidates[i])
        taken = [j for _, j in candidates[i] if shares[i, j] == most]
        for j in taken:
            common = objects[i] & detections[j]
            objects[i] -= common
            detections[j] -= common
            if common:
                crossed.append((i, j, common.total()))
        for k in {i, *(k for j in taken for k, _ in met[j])} & candidates.keys():
            candidates[k] = [pair for pair in candidates[k] if objects[k] & detections[pair[1]]]
            if not candidates[k]:
                del candidates[k]
    return crossed


def scores(tally: PopEvalTally, parameters: Parameters) -> Scores:
    """Shares of the characters that were crossed out, and how many they were; 0/0 is 0."""
    removed = tally.removed_characters
    result = recall_precision(removed, tally.gt_characters, removed, tally.det_characters)
    return {**result, "removed_characters": removed}


def image_scores(tally: PopEvalTally, parameters: Parameters) -> Scores:
    """As `scores`; a compared image without text has recall 1, and precision 0 if there are
    characters, else 1.
    """
    has_text = (tally.gt_characters > 0) | (tally.compared_images == 0)
    precision = where(tally.det_characters > 0, 0.0, 1.0)
    return scores_or_empty(has_text, scores(tally, parameters), 1.0, precision)


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
    object_credit=matching.mean_of("recall"),
)
