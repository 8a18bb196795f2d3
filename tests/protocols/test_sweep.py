"""Matches for many thresholds at once are those for each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.area import sweep as area_sweep
from evaltex_cli.protocols.area.deteval import RULES
from evaltex_cli.protocols.area.matching import Pairs, Rules, Scene, Thresholds, Weights, credit
from evaltex_cli.protocols.area.sweep import credits_by_setting
from evaltex_cli.protocols.base import per_image

quick = settings(deadline=None, derandomize=True, max_examples=150)


def random_scene(rng: np.random.Generator, rules: Rules, density: float) -> tuple[Scene, np.ndarray, int]:
    """Pairs within images, from lone ones and stars to what hangs together; ratios on a grid, so that many tie."""
    images = int(rng.integers(1, 4))
    gt_image, det_image = (np.sort(rng.integers(0, images, rng.integers(1, 9))) for _ in range(2))
    gt, det = np.nonzero((gt_image[:, None] == det_image) & (rng.random((len(gt_image), len(det_image))) < density))
    ratio_type: Any = np.float32 if rules.single_precision else np.float64
    recall, precision = ((rng.integers(0, 21, len(gt)) / 20).astype(ratio_type) for _ in range(2))
    gt_counts, det_counts = rng.random(len(gt_image)) < 0.9, rng.random(len(det_image)) < 0.9
    counts = gt_counts[gt] & det_counts[det]
    alike = rng.random(len(gt)) < rng.choice([0.7, 1.0])
    pairs = Pairs(gt, det, recall, precision, counts, alike & (rng.random(len(gt)) < 0.9), alike)
    return Scene(pairs if rules.dont_care_rivals else pairs[counts], gt_counts, det_counts), gt_image, images


@quick
@given(
    st.integers(0, 2**32),
    st.sampled_from(sorted(RULES)),
    st.sampled_from([0.15, 0.3, 0.6]),
    st.sampled_from([Weights(0.5, 0.25), Weights(1.0, 0.5), Weights(0.0, 0.0, logarithm=True)]),
    st.sampled_from([1, 40, 1 << 19]),
)
def test_sweep_is_one_match_after_another(
    seed: int, variant: str, density: float, weights: Weights, block: int
) -> None:
    rng, rules = np.random.default_rng(seed), RULES[variant]
    scene, gt_image, images = random_scene(rng, rules, density)
    thresholds = Thresholds(*(rng.integers(0, 21, 12) / 20 for _ in range(6)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(area_sweep, "BLOCK_CELLS", block)
        found = credits_by_setting(scene, gt_image, images, rules, thresholds, weights)
    det_image = np.zeros(len(scene.det_counts), np.int64)
    det_image[scene.pairs.det] = gt_image[scene.pairs.gt]
    for k in range(12):
        single = credit(scene, rules, thresholds[[k]], weights)
        expected = per_image(single.gt, gt_image, images), per_image(single.det, det_image, images)
        for sums, column in zip(found, expected, strict=True):
            assert sums[:, k].tolist() == (
                pytest.approx(column.tolist(), abs=1e-12) if weights.logarithm else column.tolist()
            )


def test_credits_are_added_in_the_order_of_the_objects() -> None:
    """Of one image: lone pairs first, then 0.1 and 1 as they come, for splits of 1,000 objects."""
    rng = np.random.default_rng(0)
    parts = rng.integers(1, 4, 1000)
    gt = np.repeat(np.arange(1000), parts)
    recall = rng.choice([0.3, 0.5, 0.9], len(gt))
    ones = np.ones(len(gt))
    pairs = Pairs(gt, np.arange(len(gt)), recall, ones, ones > 0, ones > 0, ones > 0)
    scene = Scene(pairs, np.ones(1000, dtype=bool), ones > 0)
    thresholds = Thresholds(*(np.array([value]) for value in (0.8, 0.4, 0.8, 0.4, 0.4, 0.8)))
    rules, weights = RULES["rrc"], Weights(0.1, 0.1)
    credits = credit(scene, rules, thresholds, weights).gt
    lone = parts == 1
    expected = np.cumsum([credits[lone].sum(), *credits[~lone]])[-1]
    recall_credit, _ = credits_by_setting(scene, np.zeros(1000, np.int64), 1, rules, thresholds, weights)
    assert recall_credit[0, 0] == expected
