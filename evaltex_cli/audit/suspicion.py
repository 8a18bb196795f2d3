"""How suspicious: estimates of the probability that an annotator would change something.

docs/audit.md has the formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaltex_cli.audit.places import AGREE, SAME, Evidence

TOUCHED = 0.1
"""A place of which objects cover less has no object."""
GOOD = 0.75
"""The quantile of what is as good as it can be, among places with an object."""


def smoothed(part: float, whole: float) -> float:
    """Return a share with a case for and one against added, so that few cases give no certainty."""
    return (part + 1) / (whole + 2)


def weigh(evidence: Evidence) -> None:
    """Measure how reliable detectors are that agree, and how well they do at each place.

    The confidence of a place is the mean over the detectors that have confidences of each one's, as
    a share of its quantile `GOOD` over places with an object; 1 without any. The quality is the
    mean IoU as such a share, times the confidence.
    """
    places, confidences = [*evidence.places.values()], evidence.scene.det.confidences
    right = [len(place.at) for place in places if place.object_iou >= SAME]
    wrong = [len(place.at) for place in places if place.covered < TOUCHED]
    evidence.reliability = reliability(right, wrong, len(evidence.detectors))
    if confidences is None:
        confidences = np.full(evidence.scene.det.count, np.nan)
    known = [
        {
            d: float(confidences[row])
            for d, row in place.at.items()
            if not np.isnan(confidences[row])
        }
        for place in places
    ]
    usual = [
        k for k, place in enumerate(places) if place.object_iou >= SAME and len(place.at) >= AGREE
    ]
    detectors = range(len(evidence.detectors))
    good = [_good([known[k][d] for k in usual if d in known[k]]) for d in detectors]
    good_iou = _good([places[k].iou for k in usual])
    for place, values in zip(places, known, strict=True):
        if values:
            shares = [_relative(value, good[d]) for d, value in values.items()]
            place.confidence = sum(shares) / len(shares)
        place.quality = _relative(place.iou, good_iou) * place.confidence
        place.trust = trust(evidence, len(place.at), place.quality)


def _good(values: Sequence[float]) -> float:
    return float(np.quantile(values, GOOD)) if values else 0.0


def _relative(value: float, good: float) -> float:
    return min(value / good, 1.0) if good > 0 else 1.0


def reliability(right: Sequence[int], wrong: Sequence[int], most: int) -> list[float]:
    """Return how often 0, 1, ... `most` detectors that agree are right, never more often than more
    are, from how many agree in each case in which they are right, or wrong.

    One case that is wrong is left out, as a suspect is no evidence against itself. The shares are
    smoothed towards that of all cases, with the weight of two.
    """
    of_right, of_wrong = Counter(right), Counter(wrong)
    counts = range(1, most + 1)
    rights = [0, *(of_right[n] for n in counts)]
    both = [0, *(of_right[n] + max(of_wrong[n] - 1, 0) for n in counts)]
    pooled = smoothed(sum(rights), sum(both))
    values = [(rights[n] + 2 * pooled) / (both[n] + 2) for n in range(most + 1)]
    return [min(values[n:]) for n in range(most + 1)]


def trust(evidence: Evidence, count: int, quality: float) -> float:
    """Return how often so many detectors that agree so well are right: between the reliability of
    one detector less, if they do not agree at all, and of all of them.
    """
    fewer = evidence.reliability[max(count - 1, 0)]
    return fewer + (evidence.reliability[count] - fewer) * quality


def unfound_rates(found: Sequence[int]) -> tuple[float, float]:
    """Return how often the ground truth is wrong, and how many of the objects that no detector has
    are real for each that one or two detectors have.

    Of real objects, as many fewer are missed by all detectors than found by one as are found by
    one than by two, f1² / f2: Chao's bound (1987) for geometric counts (Niwitpong et al. 2013).
    It is a lower bound, so it is `f1` at least. What is missed beyond is wrong. `found` says how
    many detectors have each object.
    """
    counts = Counter(found)
    none, one, two = counts[0], counts[1], counts[2]
    missed = max((one + 1) ** 2 / (two + 1), one)
    return smoothed(max(none - missed, 0), len(found)), missed / (one + two + 1)
