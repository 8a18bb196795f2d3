"""Suspects in columns, and what the functions that find them share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.evidence import AtPlaces, Evidence
from evaltex_cli.audit.suspects import Kind
from evaltex_cli.records import Bools, Floats, Ints

AGREE = 2
"""Least independent detectors that agree."""

Lists: TypeAlias = "list[Ints] | Ints"
"""Several rows for each of some things: arrays of any lengths, or (n, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Suspects of one kind."""

    kind: Kind
    suspicion: Floats
    """(n,) float64."""
    objects: Lists
    places: Lists
    """`objects` and `places`: the objects they are about, and the places that say so."""
    agree: Bools
    """(n, groups) bool. Which detectors do."""
    read: Ints | None = None
    """(n,) int64. A detection with the text that is proposed; -1 for none. None if no text is."""


def best_pairs(evidence: Evidence, dont_care: bool = False) -> AtPlaces:
    """Counted objects, or those that are don't care, each with the best of the places on which
    detectors agree that no other of them fits better.
    """
    at = evidence.at
    wanted = evidence.scene.gt.dont_care[at.gt] == dont_care
    at = at.of(wanted & (evidence.places.count[at.place] >= AGREE))
    at = at.of(is_first(at.place, at.iou, at.gt))
    return at.of(is_first(at.gt, at.iou, at.place))


def is_first(key: Ints, value: Floats, tie: Ints) -> Bools:
    """(n,) whether a row has the highest value of its key; of equal ones the first by `tie`."""
    order = np.lexsort((tie, -value, key))
    first = np.ones(len(key), dtype=bool)
    first[order[1:]] = key[order[1:]] != key[order[:-1]]
    return first


def each(rows: Ints) -> Ints:
    """Return rows as lists of one: (n, 1)."""
    return rows[:, None]


def kept(findings: Findings) -> Findings:
    """Those with any suspicion."""
    rows = np.flatnonzero(findings.suspicion > 0)
    return Findings(
        findings.kind,
        findings.suspicion[rows],
        [findings.objects[k] for k in rows.tolist()],
        [findings.places[k] for k in rows.tolist()],
        findings.agree[rows],
        None if findings.read is None else findings.read[rows],
    )


def trusted(evidence: Evidence) -> Floats:
    """(P,) how far a place is trusted: as `suspicion.trust`."""
    return suspicion.trust(evidence, evidence.places.count, suspicion.quality(evidence))


def grouped(owner: Ints, members: Ints) -> tuple[Ints, list[Ints]]:
    """Return the owners that have two members or more, and the members of each."""
    order = np.argsort(owner, kind="stable")
    owners, counts = np.unique(owner[order], return_counts=True)
    several = counts >= 2
    lists = np.split(members[order][np.repeat(several, counts)], np.cumsum(counts[several])[:-1])
    return owners[several], lists if several.any() else []


# Objects like an object ---------------------------------------------------------------------------


def sizes(evidence: Evidence) -> Ints:
    """(G,) objects whose boxes are equally high and wide, to a factor of two, have one number."""
    boxes = evidence.scene.gt.boxes
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1)
    octave = np.round(np.log2(sides)).astype(np.int64)
    return octave[:, 0] * 64 + octave[:, 1]


def share_in_cell(some: Bools, of: Bools, cell: Ints, prior: float = 0.5) -> Floats:
    """(G,) of the objects in the cell of each that are of interest, the share that are some; of few
    ones about `prior`, which counts as two.
    """
    _, number = np.unique(cell, return_inverse=True)
    cells = number.max(initial=-1) + 1
    part = np.bincount(number[some & of], minlength=cells)
    whole = np.bincount(number[of], minlength=cells)
    return np.asarray(((part + 2 * prior) / (whole + 2))[number])
