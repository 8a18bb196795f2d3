"""Scores from sums: what is 0/0, and what the scripts give for an image without objects."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from evaltex_cli.protocols.scores import (
    harmonic_mean,
    image_scores_by,
    quotient,
    ratio,
    recall_precision,
)


def test_quotients_of_nothing_are_0_and_shares_at_most_1() -> None:
    numerator, denominator = np.array([1.0, 0.0, 3.0, 0.25]), np.array([0.0, 0.0, 2.0, 0.5])
    assert quotient(numerator, denominator).tolist() == [0.0, 0.0, 1.5, 0.5]
    assert (ratio(1, 0), ratio(3, 2), ratio(0.25, 0.5), ratio(-1, 2)) == (0.0, 1.0, 0.5, 0.0)


def test_harmonic_means() -> None:
    assert (harmonic_mean(0, 0), harmonic_mean(1, 0.5), harmonic_mean(0, 1)) == (0.0, 2 / 3, 0.0)
    assert recall_precision(1, 2, 1, 4) == {"recall": 0.5, "precision": 0.25, "hmean": 1 / 3}


@pytest.mark.parametrize(("detections", "precision", "hmean"), [(0, 1.0, 1.0), (2, 0.0, 0.0)])
def test_an_image_without_objects_is_scored_as_the_scripts_do(
    detections: int, precision: float, hmean: float
) -> None:
    def scores(tally: object, parameters: object) -> dict[str, float]:
        return {"recall": 0.25, "precision": 0.25, "siou_hmean": 0.25}

    def of_image(objects: int) -> dict[str, float]:
        tally = SimpleNamespace(counted_gt_objects=objects, counted_detections=detections)
        return image_scores_by(scores)(tally, None)  # type: ignore[arg-type]

    assert of_image(1) == {"recall": 0.25, "precision": 0.25, "siou_hmean": 0.25}
    assert of_image(0) == {"recall": 1.0, "precision": precision, "siou_hmean": hmean}
