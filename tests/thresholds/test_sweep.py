"""`evaltex sweep` against runs at each confidence, its levels, its intervals, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweep_images import nine_images, scene

from evaltex_cli import InputError, evaluate, image_objects, sweep
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.scores import harmonic_mean
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.thresholds import choice
from evaltex_cli.thresholds.files import names_of

quick = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def agree(protocol: str, gt: Any, det: Any, **options: Any) -> None:
    found = sweep(gt, det, protocol, **options)
    options.pop("points", None)
    for k, level in enumerate(found.levels):
        expected = evaluate(gt, det, protocol, min_confidence=level, **options)
        assert found.kept[k] == expected.det.objects
        assert list(found.scores) == scalars(expected.scores)
        for name, values in found.scores.items():
            assert values[k] == pytest.approx(expected.scores[name], abs=1e-12), (level, name)


@pytest.mark.few_fast(4)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@quick
@given(seed=st.integers(0, 10**6), with_polygons=st.booleans(), points=st.sampled_from([1, 3, 100]))
def test_every_level_is_a_run_at_this_confidence(
    protocol: str, seed: int, with_polygons: bool, points: int
) -> None:
    gt, det = scene(seed, with_polygons)
    agree(protocol, gt, det, points=points)


OTHER_PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    ("iou", {"pairing": "best"}),
    ("iou", {"unrotated": True}),
    ("iou-crw", {"word_spotting": True}),
    ("iou-crw", {"error_rates": True}),
    ("icdar2003", {"match": "minbox"}),
    ("deteval", {"variant": "wolf"}),
]


@pytest.mark.few_fast(2)
@pytest.mark.parametrize(("protocol", "parameters"), OTHER_PARAMETERS)
@settings(quick, max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_with_other_parameters(protocol: str, parameters: dict[str, Any], seed: int) -> None:
    agree(protocol, *scene(seed), params=parameters)


@settings(quick, max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_with_pairs_in_order_of_confidence(seed: int) -> None:
    gt, det = scene(seed)
    known = {
        name: replace(one, confidences=np.nan_to_num(one.confidences)) for name, one in det.items()
    }
    agree("iou", gt, known, params={"order": "confidence"})


def test_what_a_protocol_leaves_to_the_data_is_that_of_the_kept_detections() -> None:
    """CLEval takes boxes as boxes where no object that is kept is a polygon."""
    gt = [[[0, 0, 100, 20], [0, 30, 100, 50]]]
    curved = np.array([[0, 30], [50, 25], [100, 30], [100, 50], [0, 50]])
    boxes = image_objects([[0, 0, 70, 28]], [curved], confidences=[0.9, 0.3])
    found = sweep(gt, [boxes], "cleval")
    assert found.levels == (0.3, 0.9)
    agree("cleval", gt, [boxes])


# Levels -------------------------------------------------------------------------------------------


def test_levels_are_at_even_ranks() -> None:
    confidences = np.arange(11) / 10
    det = [image_objects([[0, 0, 9, 9]] * 11, confidences=confidences)]
    # round(2.5) is 2: to the even number
    for points, ranks in ((100, range(11)), (5, [0, 2, 5, 8, 10]), (1, [0])):
        found = sweep([[[0, 0, 9, 9]]], det, "iou", points=points)
        assert found.levels == tuple(confidences[list(ranks)])


def test_the_lowest_level_keeps_all_and_detections_without_a_confidence_stay() -> None:
    det = [image_objects([[0, 0, 9, 9]] * 3, confidences=[0.5, np.nan, 0.25])]
    found = sweep([[[0, 0, 9, 9]]], det, "iou")
    assert (found.levels, found.kept) == ((0.25, 0.5), (3, 2))
    assert found.cross_validated is None, "of a single image"


@pytest.mark.parametrize("det", [[[[0, 0, 9, 9]]], [[]]])
def test_detections_without_any_confidence_are_refused(det: Any) -> None:
    with pytest.raises(InputError, match="no detection has a confidence"):
        sweep([[[0, 0, 9, 9]]], det, "iou")


# Operating point and cross-validation -------------------------------------------------------------


def test_of_several_best_levels_the_highest() -> None:
    assert choice.best_level([0.2, 0.8, 0.7, 0.8, 0.1]) == 3
    assert choice.best_level([None, None]) == 1
    found = harmonic_mean(0.5, 1.0), harmonic_mean(0.75, 0.6)  # 2/3, rounded to two numbers
    assert found[0] > found[1] and choice.best_level(found) == 1


def test_the_plateau_is_the_run_of_levels_around_the_best() -> None:
    f_scores = [0.796, 0.7, 0.795, 0.8, 0.795, 0.7949]
    assert choice.plateau_of(f_scores, 3, 0.005) == (2, 4)
    assert choice.plateau_of([0.5, 0.5], 1, 0.0) == (0, 1)


@pytest.mark.few_fast(1)
@pytest.mark.parametrize(("seed", "folds"), [(0, 2), (1, 3), (2, 30)])
def test_cross_validation_by_plain_runs(seed: int, folds: int) -> None:
    gt, det = scene(seed + 40)
    det |= {name: image_objects() for name in gt if name not in det}
    found = sweep(gt, det, "evaltex", folds=folds, seed=seed)
    names = sorted(gt)
    permuted = np.random.default_rng(seed).permutation(len(names)).tolist()
    count = min(folds, len(names))
    assert found.folds == count
    chosen: list[float] = []
    tallies: list[Any] = []

    def of(part: list[str], level: float) -> Any:
        sides = ({name: side[name] for name in part} for side in (gt, det))
        return evaluate(*sides, "evaltex", min_confidence=level)

    for fold in range(count):
        part = [names[k] for k in permuted[fold::count]]
        others = [name for name in names if name not in part]
        f_scores = [of(others, level).scores["fscore"] for level in found.levels]
        chosen.append(found.levels[choice.best_level(f_scores)])
        tallies.append(of(part, chosen[-1]).tally)
    assert found.cross_validated is not None
    assert list(found.cross_validated.levels) == chosen
    scores = load("evaltex").scores(Tally.total(tallies), found.parameters)
    expected = {name: scores[name] for name in scalars(scores)}
    assert found.cross_validated.scores == pytest.approx(expected, abs=1e-12)
    best = found.operating_point.scores["fscore"]
    assert found.cross_validated.optimism == pytest.approx(best - scores["fscore"], abs=1e-12)


# Intervals ----------------------------------------------------------------------------------------


def test_intervals_of_scores_are_those_of_a_run_at_the_level(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    found = sweep(*files, "evaltex", ci=0.9, resamples=300, seed=3)
    point = found.operating_point
    run(*files, tmp_path / "res", "--min-confidence", repr(point.level), "--ci", "0.9", "--resamples", 300, "--seed", 3)  # fmt: skip
    expected = json.loads((tmp_path / "res/evaltex.json").read_text())["intervals"]
    assert point.intervals is not None
    assert {name: one and list(one) for name, one in point.intervals.items()} == expected


@pytest.mark.slow
def test_the_interval_of_the_level_by_choosing_again(files: tuple[Path, Path]) -> None:
    resamples = 50
    found = sweep(*files, "icdar2003", ci=0.8, resamples=resamples)
    runs = [
        evaluate(*files, "icdar2003", min_confidence=level, per_image=True)
        for level in found.levels
    ]
    protocol, chosen = load("icdar2003"), []
    for weights in np.random.default_rng(0).integers(0, 2, (resamples, 9)).tolist():
        f_scores = []
        for one in runs:
            images = sorted(one.images, key=lambda image: image.name)
            sums = {
                key: sum(w * image.totals[key] for w, image in zip(weights, images, strict=True))
                for key in one.totals
            }
            f_scores.append(protocol.scores(protocol.tally(**sums), found.parameters)["hmean"])
        chosen.append(found.levels[choice.best_level(f_scores)])
    chosen.sort()
    assert found.operating_point.level_interval == (chosen[5], chosen[-6])


def test_intervals_on_the_screen_and_in_json(files: tuple[Path, Path]) -> None:
    found = run("sweep", *files, "--ci", "--resamples", 100)
    assert "95% intervals (paired permutation test over images)" in found.stdout
    for options in (("--ci", "0.8", "--resamples", 100), ()):
        document = json.loads(run("sweep", *files, *options, "--format", "json").stdout)
        point = document["protocols"]["evaltex"]["operating_point"]
        assert (point["intervals"] is None, point["level_interval"] is None) == (not options,) * 2


# The command --------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return nine_images(tmp_path, spread=30)


def test_the_command_writes_all(files: tuple[Path, Path], tmp_path: Path) -> None:
    res = tmp_path / "res"
    found = run("sweep", *files, res, "--protocol", "iou,cleval", "--plots", "--report")
    lines = found.stdout.splitlines()
    assert lines[0] == "Operating points of det on 9 images"
    assert [line.split()[0] for line in lines[1:4]] == ["protocol", "iou", "cleval"]
    assert max(map(len, lines[:4])) <= 80
    document = json.loads((res / "sweep.json").read_text())
    assert document["folds"] == 5 and document["seed"] == 0
    for name in ("iou", "cleval"):
        one = document["protocols"][name]
        assert len(one["levels"]) == len(one["kept"]) == len(one["scores"]["hmean"])
        assert one["operating_point"]["level"] in one["levels"]
        assert len(one["cross_validated"]["levels"]) == 5
    assert {path.name for path in res.iterdir()} == {*names_of(["iou", "cleval"])}
    levels = sum(len(one["levels"]) for one in document["protocols"].values())
    assert len((res / "sweep.csv").read_text().splitlines()) == 1 + levels
    # Again, with less to write: what is not made any more goes.
    run("sweep", *files, res, "--protocol", "iou,cleval")
    assert {path.name for path in res.iterdir()} == {"sweep.json", "sweep.csv", "sweep.md"}


def test_the_same_bytes_with_jobs(files: tuple[Path, Path], tmp_path: Path) -> None:
    for name, options in (("one", ()), ("two", ("--jobs", 2))):
        run("sweep", *files, tmp_path / name, "--quiet", *options)
    assert (tmp_path / "one/sweep.json").read_bytes() == (tmp_path / "two/sweep.json").read_bytes()


def test_faults_of_the_detections_come_first(files: tuple[Path, Path]) -> None:
    (files[1] / "res_img_3.txt").write_text("1,2,3,nonsense\n")
    found = run("sweep", *files, status=2)
    assert "res_img_3.txt:1: 3 numbers" in found.stderr
    assert "no detection has a confidence" not in found.stderr
    (files[1] / "res_img_99.txt").write_text("1,2,3,4,0.5\n")
    assert "img_99" in run("sweep", *files, status=2).stderr


def test_curves_need_a_folder(files: tuple[Path, Path]) -> None:
    assert "need a result folder" in run("sweep", *files, "--plots", status=2).stderr


def test_the_record_shows_itself(files: tuple[Path, Path]) -> None:
    found = sweep(*files, ["iou", "pq"])
    assert "Operating points" in repr(found["iou"]) and "cross-validated" in repr(found)
    assert found.to_dict()["iou"]["levels"] == list(found["iou"].levels)
