"""How suspicious: estimates of the probability that an annotator would change something.

docs/audit.md has the formulas.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.records import Bools, Floats, Ints

GOOD = 0.75
"""The quantile of what is as good as it can be, of places at which an object is."""
CERTAIN = 0.5
"""An object whose IoU with the detections is this share of what is usual is certainly misplaced."""


def share(part: Any, whole: Any) -> Floats:
    """Return shares with a case for and one against added, so that few cases give no certainty."""
    return np.asarray((part + 1) / (whole + 2))


def reliability(evidence: Evidence) -> Floats:
    """(groups + 1,) how often so many detectors that agree are right: of their places, the share at
    which an object is, of those at which one or none is.
    """
    return of_counts(evidence.places.count, evidence.confirmed, evidence.empty, evidence.groups)


def of_counts(counts: Ints, right: Bools, wrong: Bools, groups: int) -> Floats:
    """(groups + 1,) how often so many detectors that agree are right elsewhere, never more often
    than more detectors are.

    Parameters
    ----------
    counts : (n,) int64
        How many agree; 0 does not count.
    right, wrong : (n,) bool
    groups : int
        Detectors.

    Returns
    -------
    (groups + 1,) float64
        Of one case less that is wrong, as a suspect is no evidence against itself; of few cases
        about the share of all, which counts as two.
    """

    def cases(which: Bools) -> Ints:
        return np.bincount(counts[which & (counts > 0)], minlength=groups + 1)

    of_right = cases(right)
    of_both = of_right + np.maximum(cases(wrong) - 1, 0)
    pooled = share(of_right.sum(), of_both.sum())
    shares = (of_right + 2 * pooled) / (of_both + 2)
    return np.asarray(np.minimum.accumulate(shares[::-1])[::-1])


def trust(evidence: Evidence, counts: Ints, well: Floats) -> Floats:
    """(n,) how often so many detectors that agree so well are right: between `reliability` of one
    detector less, if they agree not at all, and of all of them.

    Parameters
    ----------
    counts : (n,) int64
        How many agree.
    well : (n,) float64
        How well, from 0 to 1.
    """
    right = reliability(evidence)
    fewer = right[np.maximum(counts - 1, 0)]
    return np.asarray(fewer + (right[counts] - fewer) * well)


def of_unfound(found: Ints, hard: Floats) -> Floats:
    """(n,) how certainly an object that no detector has is none.

    Of real objects, as many fewer are missed by all detectors than found by one as are found by
    one than by two, f1² / f2: Chao's bound (1987) for geometric counts (Niwitpong et al. 2013).
    It is a lower bound, so it is `f1` at least. What is missed beyond is wrong.

    Parameters
    ----------
    found : (detectors + 1,) int64
        How many objects none, one, two... of the detectors have.
    hard : (n,) float64
        Of objects like each, the share that one or two detectors have.
    """
    none, one, two, total = int(found[0]), int(found[1]), int(found[2]), int(found.sum())
    missed = max((one + 1) ** 2 / (two + 1), one)
    wrong = float(share(max(none - missed, 0), total))
    real = hard * missed / (one + two + 1)
    return np.asarray(wrong / (wrong + (1 - wrong) * real))


def quality(evidence: Evidence) -> Floats:
    """(P,) how well detectors agree on each place, and how confident they are, from 0 to 1: the
    mean IoU as a share of its quantile `GOOD` over places at which an object is, times
    `confidence`.
    """
    return _of_good(evidence.places.iou, _usual(evidence)) * confidence(evidence)


def confidence(evidence: Evidence) -> Floats:
    """(P,) mean over the detectors that have confidences of each one's confidence, as a share of
    its quantile `GOOD` over places at which an object is; 1 if none has.
    """
    confidences, at = evidence.scene.det.confidences, evidence.places.at
    if confidences is None:
        return np.ones(len(at))
    usual = _usual(evidence)
    shares = np.full(at.shape, np.nan)
    for group in range(evidence.groups):
        values = np.where(at[:, group] >= 0, confidences[at[:, group]], np.nan)
        known = ~np.isnan(values)
        shares[known, group] = _of_good(values[known], usual[known])
    counts = (~np.isnan(shares)).sum(axis=1)
    return np.where(counts, np.nansum(shares, axis=1) / np.maximum(counts, 1), 1.0)


def _usual(evidence: Evidence) -> Bools:
    """(P,) places on which detectors agree and at which an object is."""
    return np.asarray(evidence.confirmed & (evidence.places.count >= 2))


def _of_good(values: Floats, usual: Bools) -> Floats:
    good = float(np.quantile(values[usual], GOOD)) if usual.any() else 0.0
    return np.minimum(values / good, 1) if good > 0 else np.ones(len(values))


def rarity(cases: int, of: int) -> float:
    """Return how unusual something is in this data set: one less the share of objects of which
    detectors say it. What they say of most is another convention, not a mistake.
    """
    return 1 - cases / of if of else 1.0


def of_distance(iou: Floats, agreement: Floats, usual: float) -> Floats:
    """(n,) how certainly objects are misplaced: 0 if the detections fit the object as well as each
    other, or as is usual, and 1 if they fit it `CERTAIN` times as well.

    Parameters
    ----------
    iou : (n,) float64
        Mean IoU of detections and object.
    agreement : (n,) float64
        Mean IoU of the detections with each other.
    usual : float
        The median of the quotient of both.
    """
    fits = iou / np.maximum(agreement * usual, 1e-9)
    return np.clip((1 - fits) / (1 - CERTAIN), 0, 1)
