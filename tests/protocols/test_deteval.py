"""DetEval and ICDAR 2013: what must hold of any input."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from deteval_scenes import accumulated, evidence_of, random_scene
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.matching import SideMatches

FAMILY = ["wolf", "rrc", "totaltext", "icdar2013"]
THRESHOLDS = (
    *("one_to_one_recall", "one_to_one_precision", "one_to_many_recall"),
    *("one_to_many_precision", "many_to_one_precision", "many_to_one_recall"),
)


def random_options(rng: random.Random, variant: str) -> dict[str, Any]:
    """Options, their thresholds such that random boxes are on them exactly, 0 and 1 among them."""
    options: dict[str, Any] = {}
    options["t_r"], options["t_p"] = rng.choice(
        ((0.8, 0.4), (0.7, 0.6), (0.5, 0.5), (0.0, 0.0), (1.0, 0.2), (rng.random(), rng.random()))
    )
    if variant != "icdar2013":
        options["variant"] = variant
        if rng.random() < 0.3:
            options |= {name: rng.choice((0.0, 0.3, 0.5, 0.8, 1.0)) for name in THRESHOLDS}
        if rng.random() < 0.3:
            options["border"] = True
        if rng.random() < 0.3:
            options["scatter"] = "logarithm"
    if rng.random() < 0.3:
        options["center"] = rng.choice((0.0, 0.05, 0.3))
    if rng.random() < 0.3:
        options["split_weight"] = options["merge_weight"] = 0.5
    if rng.random() < 0.3:
        options["dont_care_overlap"] = rng.choice((0.0, 0.5, 0.9))
    return options


@settings(deadline=None, derandomize=True, max_examples=10)
@given(st.integers(0, 10**9), st.sampled_from(["wolf", "rrc", "totaltext"]), st.integers(1, 7))
def test_graphs_and_grid_are_runs_at_their_thresholds(seed: int, variant: str, points: int) -> None:
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(3)]
    own = random_options(rng, variant)
    result = accumulated(scenes, curve_points=points, grid=True, **own)
    names = {
        "t_r": ["one_to_one_recall", "one_to_many_recall"]
        + ["many_to_one_recall"] * (variant != "totaltext"),
        "t_p": ["one_to_one_precision", "one_to_many_precision", "many_to_one_precision"]
        + ["many_to_one_recall"] * (variant == "totaltext"),
    }
    rows = [(row, [row["varied"]]) for row in result.scores["curves"]]
    rows += [(row, ["t_r", "t_p"]) for row in result.scores["grid"][:: max(1, points)]]
    theta = {
        "dont_care_overlap": own.get(
            "dont_care_overlap", 0.5 if variant == "totaltext" else own["t_p"]
        )
    }
    for row, varied in rows:
        replaced = {name for key in varied for name in names[key]}
        options = {key: value for key, value in own.items() if key not in replaced} | theta
        single = accumulated(
            scenes, curve_points=0, **(options | {"t_r": row["t_r"], "t_p": row["t_p"]})
        )
        for score in ("recall", "precision", "hmean"):
            assert row[score] == pytest.approx(single.scores[score], abs=1e-12)
    assert len(result.scores["curves"]) == 2 * points
    assert len(result.scores["grid"]) == points**2
    mean = np.mean([row["recall"] for row in result.scores["curves"]])
    assert result.scores["recall_overall"] == pytest.approx(mean, abs=1e-12)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 10**9), st.sampled_from(FAMILY))
def test_no_object_is_credited_twice_and_partners_are_mutual(seed: int, variant: str) -> None:
    """Every credit within [0, 1], whatever the thresholds, and every
    partner's partner is the object itself.
    """
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(8)]
    own = random_options(rng, variant)
    found = evidence_of(scenes, "icdar2013" if variant == "icdar2013" else "deteval", **own)
    assert (found.tally.recall_credit <= found.tally.counted_gt_objects).all()
    assert (found.tally.precision_credit <= found.tally.counted_detections).all()
    matches = found.matches
    assert links(matches.gt) == {(i, j) for j, i in links(matches.det)}
    for side in (matches.gt, matches.det):
        credit = np.nan_to_num(side.values["credit"])
        assert ((credit >= 0) & (credit <= 1)).all()
        assert ((credit > 0) == (np.diff(side.offsets) > 0)).all()


def links(side: SideMatches) -> set[tuple[int, int]]:
    own = np.repeat(np.arange(len(side.types)), np.diff(side.offsets))
    return set(zip(own.tolist(), side.partners.tolist(), strict=True))
