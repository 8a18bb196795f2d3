"""What only one side has: places without an object, objects without a detection."""

from __future__ import annotations

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.agreement import AGREE
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.findings import Findings, each, nothing, share_in_cell, sizes, trusted
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import Ints


def missing(evidence: Evidence) -> Findings:
    """Places on which detectors agree, and no object is."""
    places = evidence.places
    which = np.flatnonzero(evidence.empty & (places.count >= AGREE))
    return Findings(
        "missing",
        trusted(evidence)[which],
        nothing(len(which)),
        each(which),
        places.at[which] >= 0,
    )


def unfound(evidence: Evidence) -> Findings:
    """Objects that no detector has, while the detectors find objects like them."""
    scene, by = evidence.scene, evidence.near
    counted = ~scene.gt.dont_care
    unknown = counted & (by == 0)
    if not scene.det.count:
        unknown[:] = False  # nothing is known of objects like them
    hard = counted & ((by == 1) | (by == 2))
    usual = float(suspicion.share(hard.sum(), counted.sum()))
    share = np.maximum(
        share_in_cell(hard, counted, sizes(evidence), usual),
        share_in_cell(hard, counted, _thirds(evidence), usual),
    )
    values = suspicion.of_unfound(np.bincount(by[counted], minlength=3), share)
    which = np.flatnonzero(unknown)
    return Findings(
        "unfound",
        values[which],
        each(which),
        nothing(len(which)),
        np.zeros((len(which), evidence.groups), bool),
    )


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
