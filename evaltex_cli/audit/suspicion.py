"""How suspicious: estimates of the probability that an annotator would change something.

docs/audit.md has the formulas.
"""

from __future__ import annotations

import numpy as np

from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.records import Bools, Floats, Ints

CERTAIN = 0.5
"""An object whose IoU with the detections is this share of what is usual is certainly misplaced."""


def share(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Return shares with one case for and one against added, so that few cases give no
    certainty.
    """
    return np.asarray((part + 1) / (whole + 2))


def reliability(evidence: Evidence) -> Floats:
    """(groups + 1,) how often so many detectors that agree are right: of their places, the share at
    which an object is, of those at which one or none is; never less than of fewer detectors.
    """
    counts = evidence.places.count

    def of(places: Bools) -> Ints:
        return np.bincount(counts[places], minlength=evidence.groups + 1)

    right, wrong = of(evidence.confirmed), of(evidence.empty)
    return np.maximum.accumulate(share(right, right + wrong))


def wrong_annotations(evidence: Evidence) -> float:
    """Return how often the ground truth is wrong, as far as detectors know: the share of the places
    of all detectors at which no object is.
    """
    of_all = evidence.places.count == evidence.groups
    wrong = (of_all & evidence.empty).sum()
    right = (of_all & evidence.confirmed).sum()
    return float(share(wrong, wrong + right))


def quality(evidence: Evidence) -> Floats:
    """(P,) how well detectors agree on each place, and how confident they are, from 0 to 1: mean
    IoU and mean confidence as shares of their medians over places at which an object is.
    """
    places = evidence.places
    usual = evidence.confirmed & (places.count >= 2)
    return _of_usual(places.iou, usual) * _confidence(evidence, usual)


def _of_usual(values: Floats, usual: Bools) -> Floats:
    median = float(np.median(values[usual])) if usual.any() else 0.0
    return np.minimum(values / median, 1) if median > 0 else np.ones(len(values))


def _confidence(evidence: Evidence, usual: Bools) -> Floats:
    """(P,) mean over the detectors that have confidences of each one's share of its median."""
    confidences = evidence.scene.det.confidences
    at = evidence.places.at
    if confidences is None:
        return np.ones(len(at))
    shares = np.full(at.shape, np.nan)
    for group in range(evidence.groups):
        values = np.where(at[:, group] >= 0, confidences[at[:, group]], np.nan)
        known = ~np.isnan(values)
        shares[known, group] = _of_usual(values[known], usual[known])
    counts = (~np.isnan(shares)).sum(axis=1)
    return np.where(counts, np.nansum(shares, axis=1) / np.maximum(counts, 1), 1.0)


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
