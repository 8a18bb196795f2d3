"""DetEval: the slow reference, and what must hold of any input."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from deteval_scenes import accumulated, evidence_of, random_scene
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_deteval import image_totals, setting

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.protocols.matches import SideMatches

FAMILY = ["wolf", "rrc", "totaltext", "icdar2013"]


def random_options(rng: random.Random, variant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the package, and the same for the reference."""
    t_r, t_p = rng.choice(
        ((0.8, 0.4), (0.7, 0.6), (0.5, 0.5), (0.0, 0.0), (1.0, 0.2), (rng.random(), rng.random()))
    )
    own: dict[str, Any] = {"t_r": t_r, "t_p": t_p}
    plain: dict[str, Any] = {}
    if variant != "icdar2013":
        own["variant"] = variant
        if rng.random() < 0.3:
            names = {
                "one_to_one_recall": "oo_r", "one_to_one_precision": "oo_p", "one_to_many_recall": "om_sum_r",
                "one_to_many_precision": "om_each_p", "many_to_one_precision": "mo_sum_p",
                "many_to_one_recall": "mo_each_r",
            }  # fmt: skip
            for name, short in names.items():
                own[name] = plain[short] = rng.choice((0.0, 0.3, 0.5, 0.8, 1.0))
        if variant != "totaltext" and rng.random() < 0.3:
            own["border"] = plain["border"] = True
        if rng.random() < 0.3:
            own["scatter"], plain["logarithm"] = "logarithm", True
    if rng.random() < 0.3:
        own["center"] = plain["center"] = rng.choice((0.0, 0.05, 0.3))
    if rng.random() < 0.3:
        own["split_weight"] = plain["split_weight"] = own["merge_weight"] = plain[
            "merge_weight"
        ] = 0.5
    if rng.random() < 0.3:
        own["dont_care_overlap"] = plain["theta"] = rng.choice((0.0, 0.5, 0.9))
    return own, plain


@pytest.mark.slow
@pytest.mark.parametrize("variant", FAMILY)
@settings(deadline=None, derandomize=True, max_examples=80)
@given(st.integers(0, 10**9))
def test_agrees_with_the_reference(variant: str, seed: int) -> None:
    """Counts and credits of every image, for thresholds that random boxes sit
    on exactly, 0 and 1 among them.
    """
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(12)]
    own, plain = random_options(rng, variant)
    slow = setting(variant, own["t_r"], own["t_p"], **plain)
    if variant == "icdar2013":
        found = evidence_of(scenes, "icdar2013", **own)
    else:
        found = evidence_of(scenes, "deteval", curve_points=0, **own)
    for k, scene in enumerate(scenes):
        expected = image_totals(*scene, slow)
        row = list(found.tally.rows())[k].as_dict()
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-12), (
            scene,
            own,
        )


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**9), st.sampled_from(["wolf", "rrc", "totaltext"]), st.integers(1, 7))
def test_graphs_and_grid_are_runs_at_their_thresholds(seed: int, variant: str, points: int) -> None:
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(6)]
    own, _ = random_options(rng, variant)
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


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**9), st.sampled_from(["wolf", "rrc", "totaltext"]), st.booleans())
def test_graphs_at_the_default_thresholds_are_the_plain_scores(
    seed: int, variant: str, logarithm: bool
) -> None:
    """To the last bit: the same matches, and credits added in the same order."""
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(20)]
    weights = {"scatter": "logarithm"} if logarithm else {"split_weight": 0.7, "merge_weight": 0.9}
    scores = accumulated(scenes, variant=variant, curve_points=20, grid=True, **weights).scores
    t_r, t_p = (0.7, 0.6) if variant == "totaltext" else (0.8, 0.4)
    at_defaults = [
        row
        for row in (*scores["curves"], *scores["grid"])
        if (row["t_r"], row["t_p"]) == (t_r, t_p)
    ]
    assert len(at_defaults) == 3
    for row in at_defaults:
        assert [row[name] for name in ("recall", "precision", "hmean")] == [
            scores[name] for name in ("recall", "precision", "hmean")
        ]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(FAMILY))
def test_no_object_is_credited_twice_and_partners_are_mutual(seed: int, variant: str) -> None:
    """Every credit within [0, 1], whatever the thresholds, and every
    partner's partner is the object itself.
    """
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(8)]
    own, _ = random_options(rng, variant)
    found = evidence_of(scenes, "icdar2013" if variant == "icdar2013" else "deteval", True, **own)
    assert (found.tally.recall_credit <= found.tally.counted_gt_objects).all()
    assert (found.tally.precision_credit <= found.tally.counted_detections).all()
    matches = found.matches
    assert matches is not None
    assert links(matches.gt) == {(i, j) for j, i in links(matches.det)}
    for side in (matches.gt, matches.det):
        credit = np.nan_to_num(side.values["credit"])
        assert ((credit >= 0) & (credit <= 1)).all()
        assert ((credit > 0) == (np.diff(side.offsets) > 0)).all()


def links(side: SideMatches) -> set[tuple[int, int]]:
    own = np.repeat(np.arange(len(side.types)), np.diff(side.offsets))
    return set(zip(own.tolist(), side.partners.tolist(), strict=True))


def test_images_can_come_in_any_order_and_batching() -> None:
    rng = random.Random(1)
    scenes = [random_scene(rng) for _ in range(40)]
    whole = accumulated(scenes)
    rng.shuffle(scenes)
    parts = accumulated(scenes[:7])
    accumulator = Accumulator("deteval")
    other = Accumulator("deteval")
    for target, some in ((accumulator, scenes[:7]), (other, scenes[7:])):
        for gt, dont_care, det in some:
            target.update(
                image_objects(np.reshape(gt, (-1, 4)), dont_care=dont_care),
                np.reshape(det, (-1, 4)),
            )
    accumulator.merge(other)
    assert accumulator.compute().totals == whole.totals
    assert accumulator.compute().scores == whole.scores
    assert parts.totals["images"] == 7
