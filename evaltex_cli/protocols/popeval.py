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
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import convex, rings, rounding, shapes
from evaltex_cli.geometry.edges import taken
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.popeval_crossing import Crossed, common_characters, cross_out
from evaltex_cli.protocols.ratios import (
    divide,
    equalised,
    harmonic_mean,
    quotient,
    recall_precision,
    settled,
    where,
)
from evaltex_cli.protocols.tally import Count, require
from evaltex_cli.protocols.tally import Tally as BaseTally
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    distinct,
    expanded,
    offsets_of,
    text_lengths,
)

TRUNCATED = Convention(truncated=True)
APART = 0.25
"""Boxes grown by this much on every side overlap exactly if those with whole coordinates touch."""
EXACT = 2.0**25
"""Areas of boxes whose whole coordinates are smaller are exact, however they are computed."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of PopEval; the published program normalises no text, and is else the default."""

    dont_care_overlap: float = parameter(
        0.5, "a detection with more than this share in don't care is ignored", min=0.0, max=1.0
    )
    normalisation: str = normalisation_field("nfc")


@dataclass(frozen=True, eq=False)
class Tally(BaseTally):
    """Evidence of PopEval: characters of objects and detections, and those
    that were crossed out of both.
    """

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
        require(
            self.removed_characters <= self.gt_characters,
            "more characters crossed out than objects have",
        )
        require(
            self.removed_characters <= self.det_characters,
            "more characters crossed out than detections have",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What there is to compare in a batch."""

    gt_counts: Bools
    det_counts: Bools
    """`gt_counts` and `det_counts`: (G,), (D,) bool. Objects with a transcription, and detections
    not in don't care, of images that both sides have."""
    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64. Pairs of these that meet, be it in one point, sorted by (gt,
    det)."""
    share: Floats
    """(p,) float64. Share of the object's area that the detection covers; equal ones are exactly
    equal."""
    distance: Floats
    """(G,) float64. Distance from the origin to a point in the object."""


def convention(parameters: Parameters) -> Convention:
    """Coordinates cut to integers."""
    return TRUNCATED


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Cross out the characters of a batch and sum what its images contribute.

    `overlaps` are not used: pairs are of convex hulls, and may touch without common area.
    """
    batch = with_normalised_texts(batch, parameters.normalisation)
    gt_lengths, det_lengths = (text_lengths(side.texts) for side in (batch.gt, batch.det))
    scene = _scene(batch, parameters, gt_lengths > 0)
    pairs = _crossed_out(scene, batch)
    gt, det, crossed = np.array(pairs, np.int64).reshape(-1, 3).T
    images = len(batch.names)
    tally = Tally(
        batch.named_in_detections.astype(np.int64),
        *object_counts(batch, scene.gt_counts, scene.det_counts),
        gt_characters=per_image(np.where(scene.gt_counts, gt_lengths, 0), batch.gt.image, images),
        det_characters=per_image(
            np.where(scene.det_counts, det_lengths, 0), batch.det.image, images
        ),
        removed_characters=per_image(crossed, batch.gt.image[gt], images),
    )
    if not with_matches:
        return Evidence(tally)
    gt_removed, gt_share = _removed(gt, crossed, gt_lengths)
    det_removed, det_share = _removed(det, crossed, det_lengths)
    found_by = matches(
        gt,
        det,
        scene.gt_counts,
        scene.det_counts,
        {"characters": gt_lengths, "removed_characters": gt_removed, "recall": gt_share},
        {"characters": det_lengths, "removed_characters": det_removed, "precision": det_share},
    )
    return Evidence(tally, found_by)


def _removed(index: Ints, crossed: Ints, lengths: Ints) -> tuple[Floats, Floats]:
    """(n,) characters crossed out of each object or detection, and their share of all."""
    removed = np.bincount(index, crossed, len(lengths)).astype(np.float64)
    return removed, divide(removed, lengths.astype(np.float64))


# Candidates ---------------------------------------------------------------------------------------


def _scene(batch: ImageBatch, parameters: Parameters, has_text: Bools) -> _Scene:
    gt_hulls, det_hulls = _hulls(batch.gt), _hulls(batch.det)
    gt_area, det_area = shapes.area(gt_hulls), shapes.area(det_hulls)
    gt, det = _meeting(gt_hulls, batch.gt.offsets, det_hulls, batch.det.offsets)
    dc_gt, dc_det = gt[batch.gt.dont_care[gt]], det[batch.gt.dont_care[gt]]
    common = shapes.pair_area(gt_hulls, dc_gt, det_hulls, dc_det)
    pairs = Overlaps(dc_gt, dc_det, common, gt_area, det_area, gt_hulls.boxes, det_hulls.boxes)
    precision = settled(divide(common, det_area[dc_det]), parameters.dont_care_overlap, pairs)
    det_counts = np.ones(batch.det.count, dtype=bool)
    det_counts[dc_det[precision > parameters.dont_care_overlap]] = False
    gt_counts = ~batch.gt.dont_care & has_text & batch.named_in_detections[batch.gt.image]
    counted = gt_counts[gt] & det_counts[det]
    gt, det = gt[counted], det[counted]
    common = shapes.pair_area(det_hulls, det, gt_hulls, gt)
    share = quotient(common, gt_area[gt])
    share = equalised(share, gt, pairs._replace(gt=gt, det=det, area=common))
    return _Scene(gt_counts, det_counts, gt, det, share, _distance(gt_hulls))


def _hulls(objects: Objects) -> shapes.Shapes:
    """Convex hulls of vertices cut to integers: boxes as boxes, where they
    are exact and have an area.
    """
    points, offsets = rings.of(objects.outlines, truncated=True)
    boxes = rounding.truncated(objects.boxes)
    is_exact = (np.abs(boxes) < EXACT).all(axis=1)
    is_box = (boxes[:, 2:] > boxes[:, :2]).all(axis=1) & is_exact
    is_box &= objects.outlines.counts == 0
    result = shapes.Shapes(boxes)
    if is_box.all():
        return result
    is_convex = ~is_box & is_exact & convex.are_convex(points, offsets)
    counts = np.diff(offsets)
    for which, make in ((is_convex, _drawn), (~is_box & ~is_convex, _hulls_by_geos)):
        if which.any():
            rows = slice(None) if which.all() else np.repeat(which, counts)
            some = make(points[rows], offsets_of(counts[which]))
            result = shapes.with_others(result, np.flatnonzero(which), some)
    return result


def _drawn(points: Floats, offsets: Ints) -> shapes.Shapes:
    vertices, offsets, _ = convex.corners(points, offsets)
    return shapes.from_rings(vertices, offsets)


def _hulls_by_geos(points: Floats, offsets: Ints) -> shapes.Shapes:
    hulls = geometry.geos.convex_hulls(points, expanded(np.diff(offsets))[0])
    return shapes.from_geometries(geometry.shapely.bounds(hulls), hulls)


def _meeting(
    a: shapes.Shapes, a_offsets: Ints, b: shapes.Shapes, b_offsets: Ints
) -> tuple[Ints, Ints]:
    """Pairs of one image's hulls that have a point in common."""
    margin = np.array([-APART, -APART, APART, APART])
    i, j = touching_boxes(a.boxes + margin, a_offsets, b.boxes + margin, b_offsets)
    slanted = a.is_polygon[i] | b.is_polygon[j]
    if not slanted.any():
        return i, j
    meet = np.ones(len(i), dtype=bool)
    sides = shapes.polygons_of(a), shapes.polygons_of(b)
    made = shapes.has_geometry(sides[0].made)[i] | shapes.has_geometry(sides[1].made)[j]
    some = np.flatnonzero(slanted & ~made)
    meet[some] = ~convex.are_apart(sides[0].edges, i[some], sides[1].edges, j[some])
    if made.any():
        meet[made] = geometry.geos.intersects(
            shapes.geometries(a, i[made]), shapes.geometries(b, j[made])
        )
    return i[meet], j[meet]


def _distance(hulls: shapes.Shapes) -> Floats:
    """(n,) distance from the origin to a point in each hull: of a box, its centre."""
    points = (hulls.boxes[:, :2] + hulls.boxes[:, 2:]) / 2
    if hulls.polygons is not None:
        is_polygon, edges, _, made = hulls.polygons
        is_made = shapes.has_geometry(made)
        drawn = np.flatnonzero(is_polygon & ~is_made)
        points[drawn] = convex.inner_points(taken(edges, drawn), points[drawn, 1])
        if is_made.any():
            inner = geometry.geos.point_on_surface(made[is_made])
            points[is_made, 0] = geometry.shapely.get_x(inner)
            points[is_made, 1] = geometry.shapely.get_y(inner)
    return np.asarray(np.sqrt(points[:, 0] ** 2 + points[:, 1] ** 2))


# Crossing out -------------------------------------------------------------------------------------


def _crossed_out(scene: _Scene, batch: ImageBatch) -> list[Crossed]:
    """Cross out the characters of all images; where two meet nothing else,
    those that they have in common.
    """
    alone = (np.bincount(scene.gt)[scene.gt] == 1) & (np.bincount(scene.det)[scene.det] == 1)
    gt_texts, det_texts = batch.gt.texts, batch.det.texts
    result: list[Crossed] = []
    for i, j in zip(scene.gt[alone].tolist(), scene.det[alone].tolist(), strict=True):
        if common := common_characters(gt_texts[i], det_texts[j]):
            result.append((i, j, common))
    gt, det, share = scene.gt[~alone], scene.det[~alone], scene.share[~alone]
    gt_left = {i: Counter(gt_texts[i]) for i in distinct(gt).tolist()}
    det_left = {j: Counter(det_texts[j]) for j in distinct(det).tolist()}
    # Pairs are sorted by object, and objects by image: the pairs of each image are one stretch.
    for start, stop in pairwise(np.searchsorted(gt, batch.gt.offsets).tolist()):
        if stop > start:
            some = slice(start, stop)
            pairs = gt[some], det[some], share[some]
            result.extend(cross_out(*pairs, gt_left, det_left, scene.distance))
    return result


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Shares of the characters that were crossed out, the harmonic mean, and
    how many they were; 0/0 is 0.
    """
    removed = tally.removed_characters
    result = recall_precision(removed, tally.gt_characters, removed, tally.det_characters)
    return {**result, "removed_characters": removed}


def image_scores(tally: Tally, parameters: Parameters) -> Scores:
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
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores,
    takes_masks=False,
    needs_texts=True,
    object_credit=mean_of("recall"),
    unbounded=("removed_characters",),
)
