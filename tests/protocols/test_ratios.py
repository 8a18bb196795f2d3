"""Ratios at a threshold: what only rounding moves is moved back, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from evaltex_cli.protocols.ratios import (
    divide,
    harmonic_mean,
    image_scores_by,
    natural_log,
    quotient,
    ratio,
    recall_precision,
    settled,
    settled_sums,
)
from evaltex_cli.records import Floats, Overlaps


def one_pair(area: float, *, origin: float | None = 0.0) -> Overlaps:
    """One pair of an object and a detection in a 10 x 10 box at x = y =
    origin; without boxes, as of masks, if None.
    """
    box = None if origin is None else np.array([[origin, origin, origin + 10, origin + 10]])
    index = np.zeros(1, np.int64)
    return Overlaps(index, index, np.array([area]), np.array([100.0]), np.array([100.0]), box, box)


def settled_one(value: float, thresholds: float | list[float], overlaps: Overlaps) -> float:
    return float(settled(np.array([value]), thresholds, overlaps)[0])


@pytest.mark.parametrize("threshold", [0.1, 0.4, 0.5, 0.8])
def test_a_ratio_goes_to_the_nearest_of_several_thresholds(threshold: float) -> None:
    near = np.nextafter(threshold, 0)
    assert settled_one(near, [0.8, 0.1, 0.4, 0.5], one_pair(100 * threshold)) == threshold
    assert settled_one(near, threshold, one_pair(100 * threshold)) == threshold


@pytest.mark.parametrize("value", [0.41, 0.45, 0.5 + 1e-9, 0.65, 0.9])
def test_a_ratio_further_off_than_its_error_stays(value: float) -> None:
    assert settled_one(value, [0.4, 0.5, 0.8], one_pair(100 * value)) == value


@pytest.mark.parametrize(
    ("off", "is_settled"), [(2e-13, True), (-2e-13, True), (1e-11, False), (-1e-11, False)]
)
def test_ratios_of_masks_have_the_error_of_the_arithmetic(off: float, is_settled: bool) -> None:
    value = 0.5 * (1 + off)
    assert settled_one(value, 0.5, one_pair(50.0, origin=None)) == (0.5 if is_settled else value)
    assert settled_one(value / 50, 0.01, one_pair(1.0, origin=None)) == (
        0.01 if is_settled else value / 50
    )


@pytest.mark.parametrize(("off", "is_settled"), [(1e-7, True), (1e-5, False)])
def test_no_error_bridges_more_than_a_millionth(off: float, is_settled: bool) -> None:
    """At 10 to the 10 a coordinate is known to some 4e-5, so the area to much
    more than a millionth of itself.
    """
    value = 0.5 + off
    assert settled_one(value, 0.5, one_pair(50.0, origin=1e10)) == (0.5 if is_settled else value)


def test_only_chosen_pairs_are_looked_up() -> None:
    """The second pair is far from the origin, so its ratio is less certain than the first's."""
    near, far = one_pair(50.0), one_pair(50.0, origin=1e10)
    joined = Overlaps(
        np.array([0, 1]),
        np.array([0, 1]),
        *(np.concatenate(columns) for columns in zip(near[2:5], far[2:5], strict=True)),
        *(np.concatenate([a, b]) for a, b in zip(near[5:], far[5:], strict=True)),  # type: ignore[list-item]
    )
    value = np.array([0.5 + 1e-7])
    assert settled(value, 0.5, joined, np.array([0]))[0] == value[0]
    assert settled(value, 0.5, joined, np.array([1]))[0] == 0.5


def test_sums_close_to_a_threshold_are_at_it_unless_a_program_says_how_to_add() -> None:
    total = np.array([0.4 - 5e-10, 0.4 + 5e-10, 0.4 - 2e-9, 0.4 + 2e-9])
    assert settled_sums(total, 0.4, inexact=True).tolist() == [0.4, 0.4, *total[2:]]
    assert settled_sums(total, 0.4, inexact=False).tolist() == total.tolist()
    some = np.array([True, False, True, False])
    assert settled_sums(total, 0.4, inexact=some).tolist() == [0.4, *total[1:]]


def test_quotients_of_nothing_are_0_and_shares_at_most_1() -> None:
    numerator, denominator = np.array([1.0, 0.0, 3.0, 0.25]), np.array([0.0, 0.0, 2.0, 0.5])
    assert quotient(numerator, denominator).tolist() == [0.0, 0.0, 1.5, 0.5]
    assert divide(numerator, denominator).tolist() == [0.0, 0.0, 1.0, 0.5]
    assert (ratio(1, 0), ratio(3, 2), ratio(0.25, 0.5), ratio(-1, 2)) == (0.0, 1.0, 0.5, 0.0)


def test_logarithms_are_those_of_decimal_arithmetic() -> None:
    logarithms: Floats = natural_log(np.array([[1, 2], [10, 2]]))
    assert logarithms.tolist() == [
        [0.0, 0.6931471805599453],
        [2.302585092994046, 0.6931471805599453],
    ]


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
