"""Objects that are not as the detectors agree: misplaced, merged, split, or there twice."""

from __future__ import annotations

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.agreement import AGREE, SAME
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.findings import (
    Findings,
    Lists,
    each,
    grouped,
    kept,
    nothing,
    trusted,
)
from evaltex_cli.audit.parts import outermost, several
from evaltex_cli.audit.shares import stepped
from evaltex_cli.geometry import boxes as box_geometry
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import Bools, Floats

USUAL = 0.25
"""Three of four objects fit their detections better than what is usual."""


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
    return kept(Findings("misplaced", values, each(at.gt), each(at.place), agree))


def merged(evidence: Evidence) -> Findings:
    """Objects that are several texts for the detectors."""
    gt, place = evidence.parts
    drawn = evidence.places.centre[place]
    rows = outermost(gt, evidence.scene.det, drawn, trusted(evidence)[place])
    gt, place = gt[rows], place[rows]
    rows = several(gt)
    objects, parts = grouped(gt[rows], place[rows])
    seen = parts.sums((evidence.places.at[parts.rows] >= 0).astype(np.int64))
    whole = evidence.found[objects] >= SAME
    agree = (seen >= AGREE) | ((seen > 0) & ~whole)
    well = parts.sums(suspicion.quality(evidence)[parts.rows]) / parts.counts
    values = _contested(evidence, agree, whole, well) * _spans(evidence, parts, each(objects))
    return _enough(Findings("merged", values, each(objects), parts, agree))


def split(evidence: Evidence) -> Findings:
    """Objects that are one text together for the detectors."""
    places, objects = grouped(*evidence.wholes)
    agree = evidence.places.at[places] >= 0
    seen = objects.sums((evidence.found[objects.rows] >= SAME).astype(np.int64))
    well = suspicion.quality(evidence)[places]
    values = _contested(evidence, agree, seen >= AGREE, well) * _spans(
        evidence, each(places), objects
    )
    return _enough(Findings("split", values, objects, each(places), agree))


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
    return Findings("duplicate", iou, pairs, nothing(len(one)), agree)


def _contested(evidence: Evidence, agree: Bools, deny: Bools, well: Floats) -> Floats:
    """(n,) suspicion of what some detectors say and others deny, (n, groups) each; the annotator
    denies it, too.
    """
    counts, against = agree.sum(axis=1), (deny & ~agree).sum(axis=1) + 1
    rare = suspicion.rarity(int((counts >= AGREE).sum()), int((~evidence.scene.gt.dont_care).sum()))
    said = suspicion.trust(evidence, counts, well)
    return np.asarray(said * quotient(counts, counts + against) * rare)


def _spans(evidence: Evidence, places: Lists, objects: Lists) -> Floats:
    """(n,) the IoU of the boxes around some places and around some objects."""
    drawn = evidence.scene.det.boxes[evidence.places.centre]
    one, other = _around(drawn, places), _around(evidence.scene.gt.boxes, objects)
    common = box_geometry.area(box_geometry.intersection(one, other))
    return quotient(common, box_geometry.area(one) + box_geometry.area(other) - common)


def _around(boxes: Floats, lists: Lists) -> Floats:
    every = boxes[lists.rows]
    return box_geometry.around(every[:, :2], every[:, 2:], lists.offsets[:-1])


def _enough(findings: Findings) -> Findings:
    """Those on which at least `AGREE` detectors agree."""
    values = np.where(findings.agree.sum(axis=1) >= AGREE, findings.suspicion, 0)
    return kept(Findings(findings.kind, values, findings.objects, findings.places, findings.agree))
