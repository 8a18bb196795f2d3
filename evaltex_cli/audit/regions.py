"""Objects that are not as the detectors agree: missing, unfound, misplaced, merged, split, or there
twice.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.agreement import AGREE, SAME, stepped
from evaltex_cli.audit.evidence import Evidence, outermost, several
from evaltex_cli.audit.findings import (
    Findings,
    Lists,
    each,
    findings,
    nothing,
    share_in_cell,
    sizes,
    trusted,
)
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.records import Bools, Floats, Ints, offsets_of

USUAL = 0.25
"""Three of four objects fit their detections better than what is usual."""


def missing(evidence: Evidence) -> Findings:
    """Places on which detectors agree, and no object is."""
    places = evidence.places
    which = np.flatnonzero(evidence.empty & (places.count >= AGREE))
    values, agree = trusted(evidence)[which], places.at[which] >= 0
    return findings("missing", values, nothing(len(which)), each(which), agree)


def unfound(evidence: Evidence) -> Findings:
    """Objects that no detector has, while the detectors find objects like them."""
    scene, by = evidence.scene, evidence.near
    counted = ~scene.gt.dont_care
    # Without any detection, nothing is known of objects like them.
    unknown = counted & (by == 0) & (scene.det.count > 0)
    hard = counted & ((by == 1) | (by == 2))
    usual = float(suspicion.share(hard.sum(), counted.sum()))
    share = np.maximum(
        share_in_cell(hard, counted, sizes(evidence), usual),
        share_in_cell(hard, counted, _thirds(evidence), usual),
    )
    values = suspicion.of_unfound(np.bincount(by[counted], minlength=3), share)
    which = np.flatnonzero(unknown)
    agree = np.zeros((len(which), evidence.groups), bool)
    return findings("unfound", values[which], each(which), nothing(len(which)), agree)


def _thirds(evidence: Evidence) -> Ints:
    """(G,) in which ninth of the area of its image that has objects or detections one is."""
    scene = evidence.scene
    low, high = np.full((len(scene.names), 2), np.inf), np.full((len(scene.names), 2), -np.inf)
    for side in (scene.gt, scene.det):
        np.minimum.at(low, side.image, side.boxes[:, :2])
        np.maximum.at(high, side.image, side.boxes[:, 2:])
    image = scene.gt.image
    middle = (scene.gt.boxes[:, :2] + scene.gt.boxes[:, 2:]) / 2
    place = quotient(middle - low[image], high[image] - low[image])
    third = np.clip((place * 3).astype(np.int64), 0, 2)
    return third[:, 0] * 3 + third[:, 1]


def misplaced(evidence: Evidence) -> Findings:
    """Objects with which detectors agree less than with each other."""
    at, _ = evidence.best
    agree = evidence.places.at[at.place] >= 0
    agreement = evidence.places.iou[at.place]
    iou = np.where(agree, evidence.found[at.gt], 0).sum(axis=1) / agree.sum(axis=1)
    ratio = iou / np.maximum(agreement, 1e-9)
    same = at.iou >= SAME
    usual = min(float(np.quantile(ratio[same], USUAL)), 1.0) if same.any() else 1.0
    certain = suspicion.of_distance(iou, agreement, usual)
    values = certain * trusted(evidence)[at.place]
    return findings("misplaced", values, each(at.gt), each(at.place), agree)


def merged(evidence: Evidence) -> Findings:
    """Objects that are several texts for the detectors."""
    gt, place = evidence.parts
    drawn = evidence.places.centre[place]
    rows = outermost(gt, evidence.scene.det, drawn, trusted(evidence)[place])
    gt, place = gt[rows], place[rows]
    rows = several(gt)
    objects, parts = _grouped(gt[rows], place[rows])
    seen = parts.sums((evidence.places.at[parts.rows] >= 0).astype(np.int64))
    whole = evidence.found[objects] >= SAME
    agree = (seen >= AGREE) | ((seen > 0) & ~whole)
    well = parts.sums(suspicion.quality(evidence)[parts.rows]) / parts.counts
    values = _contested(evidence, agree, whole, well) * _spans(evidence, parts, each(objects))
    return findings("merged", values, each(objects), parts, agree)


def split(evidence: Evidence) -> Findings:
    """Objects that are one text together for the detectors."""
    places, objects = _grouped(*evidence.wholes)
    agree = evidence.places.at[places] >= 0
    seen = objects.sums((evidence.found[objects.rows] >= SAME).astype(np.int64))
    well = suspicion.quality(evidence)[places]
    values = _contested(evidence, agree, seen >= AGREE, well) * _spans(
        evidence, each(places), objects
    )
    return findings("split", values, objects, each(places), agree)


def duplicate(evidence: Evidence) -> Findings:
    """Two objects in one place."""
    gt = evidence.scene.gt
    one, other, iou = evidence.same
    # The one to keep is first: one that counts, then the one that detectors fit better.
    mean = stepped(evidence.found.mean(axis=1))
    worse = gt.dont_care[one] & ~gt.dont_care[other]
    worse |= (gt.dont_care[one] == gt.dont_care[other]) & (mean[one] < mean[other])
    keep, remove = np.where(worse, other, one), np.where(worse, one, other)
    agree = (evidence.found[one] >= SAME) & (evidence.found[other] >= SAME)
    pairs = Lists(np.stack([keep, remove], axis=1).ravel(), 2 * np.arange(len(one) + 1))
    return findings("duplicate", iou, pairs, nothing(len(one)), agree)


def _contested(evidence: Evidence, agree: Bools, deny: Bools, well: Floats) -> Floats:
    """(n,) suspicion of what `AGREE` detectors or more say and others deny, (n, groups) each; the
    annotator denies it, too.
    """
    counts, against = agree.sum(axis=1), (deny & ~agree).sum(axis=1) + 1
    rare = suspicion.rarity(int((counts >= AGREE).sum()), int((~evidence.scene.gt.dont_care).sum()))
    said = suspicion.trust(evidence, counts, well)
    return np.where(counts >= AGREE, said * quotient(counts, counts + against) * rare, 0)


def _grouped(owner: Ints, members: Ints) -> tuple[Ints, Lists]:
    """Return the owners, which are sorted and have two members or more each, and their members."""
    owners, counts = np.unique(owner, return_counts=True)
    return owners, Lists(members, offsets_of(counts))


def _spans(evidence: Evidence, places: Lists, objects: Lists) -> Floats:
    """(n,) the IoU of the boxes around some places and around some objects."""
    drawn = evidence.scene.det.boxes[evidence.places.centre]
    one, other = _around(drawn, places), _around(evidence.scene.gt.boxes, objects)
    common = box_geometry.area(box_geometry.intersection(one, other))
    return quotient(common, box_geometry.area(one) + box_geometry.area(other) - common)


def _around(boxes: Floats, lists: Lists) -> Floats:
    every = boxes[lists.rows]
    return box_geometry.around(every[:, :2], every[:, 2:], lists.offsets[:-1])
