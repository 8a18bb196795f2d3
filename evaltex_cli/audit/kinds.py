"""The kinds of suspects, each found by one function, in columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.evidence import AtPlaces, Evidence
from evaltex_cli.audit.scenes import SAME
from evaltex_cli.audit.suspects import Kind
from evaltex_cli.protocols.ratios import quotient
from evaltex_cli.records import Bools, Floats, Ints

AGREE = 2
"""Least independent detectors that agree."""
INSIDE = 0.7
"""Least share of an outline in another one that contains it."""
NEAR = 0.3
"""Least share of an object that a detection has if the object is not unfound, whatever its IoU."""


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Suspects of one kind.

    Attributes
    ----------
    kind : str
    suspicion : (n,) float64
    objects, places : list of n (k,) int64
        The objects they are about, and the places that say so.
    agree : (n, groups) bool
        Which detectors do.
    """

    kind: Kind
    suspicion: Floats
    objects: list[Ints]
    places: list[Ints]
    agree: Bools


def missing(evidence: Evidence) -> Findings:
    """Places on which detectors agree, and no object is."""
    places = evidence.places
    which = np.flatnonzero(evidence.empty & (places.count >= AGREE))
    return Findings(
        "missing",
        _trusted(evidence)[which],
        [np.zeros(0, np.int64)] * len(which),
        _each(which),
        places.at[which] >= 0,
    )


def unfound(evidence: Evidence) -> Findings:
    """Objects that no detector has, while the detectors find objects like them."""
    scene = evidence.scene
    counted = ~scene.gt.dont_care
    near = np.zeros(scene.gt.count)
    np.maximum.at(near, scene.at_gt, scene.share_of_gt)
    unknown = counted & (evidence.finders == 0) & (near < NEAR)
    usual = np.maximum(
        _share_in_cell(unknown, counted, _sizes(evidence)),
        _share_in_cell(unknown, counted, _thirds(evidence)),
    )
    wrong = suspicion.wrong_annotations(evidence)
    which = np.flatnonzero(unknown)
    return Findings(
        "unfound",
        (wrong / (wrong + (1 - wrong) * usual))[which],
        _each(which),
        [np.zeros(0, np.int64)] * len(which),
        np.zeros((len(which), evidence.groups), bool),
    )


def misplaced(evidence: Evidence) -> Findings:
    """Objects with which detectors agree less than with each other."""
    at = _best_pairs(evidence)
    places = evidence.places
    agree = places.at[at.place] >= 0
    agreement = places.iou[at.place]
    iou = np.where(agree, evidence.found[at.gt], 0).sum(axis=1) / agree.sum(axis=1)
    ratio = iou / np.maximum(agreement, 1e-9)
    same = at.iou >= SAME
    usual = min(float(np.median(ratio[same])), 1.0) if same.any() else 1.0
    certain = suspicion.of_distance(iou, agreement, usual)
    return _kept(
        Findings(
            "misplaced",
            certain * _trusted(evidence)[at.place],
            _each(at.gt),
            _each(at.place),
            agree,
        )
    )


def _best_pairs(evidence: Evidence) -> AtPlaces:
    """Counted objects, each with the place that fits it best, if no object fits that place
    better.
    """
    at = evidence.at
    counted = ~evidence.scene.gt.dont_care[at.gt] & (evidence.places.count[at.place] >= AGREE)
    at = at.of(counted)
    best_of_gt, best_of_place = (
        _is_first(key, at.iou, other) for key, other in ((at.gt, at.place), (at.place, at.gt))
    )
    return at.of(best_of_gt & best_of_place)


def _is_first(key: Ints, value: Floats, tie: Ints) -> Bools:
    """(n,) whether a row has the highest value of its key; of equal ones the first by `tie`."""
    order = np.lexsort((tie, -value, key))
    first = np.ones(len(key), dtype=bool)
    first[order[1:]] = key[order[1:]] != key[order[:-1]]
    return first


def _each(rows: Ints) -> list[Ints]:
    return list(rows.reshape(-1, 1))


def _kept(findings: Findings) -> Findings:
    """Those with any suspicion."""
    rows = np.flatnonzero(findings.suspicion > 0)
    return Findings(
        findings.kind,
        findings.suspicion[rows],
        [findings.objects[k] for k in rows.tolist()],
        [findings.places[k] for k in rows.tolist()],
        findings.agree[rows],
    )


def _trusted(evidence: Evidence) -> Floats:
    """(P,) how far a place is trusted: by how many agree on it, and how well."""
    right = suspicion.reliability(evidence)[evidence.places.count]
    return right * suspicion.quality(evidence)


# Objects like an object ---------------------------------------------------------------------------


def _sizes(evidence: Evidence) -> Ints:
    """(G,) objects whose boxes are equally high and wide, to a factor of two, have one number."""
    boxes = evidence.scene.gt.boxes
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1)
    octave = np.round(np.log2(sides)).astype(np.int64)
    return octave[:, 0] * 64 + octave[:, 1]


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


def _share_in_cell(some: Bools, of: Bools, cell: Ints) -> Floats:
    """(G,) of the objects in the cell of each that are of interest, the share that are some."""
    _, number = np.unique(cell, return_inverse=True)
    return suspicion.share(
        np.bincount(number[some & of], minlength=number.max(initial=-1) + 1),
        np.bincount(number[of], minlength=number.max(initial=-1) + 1),
    )[number]


KINDS: tuple[Callable[[Evidence], Findings], ...] = (missing, unfound, misplaced)
