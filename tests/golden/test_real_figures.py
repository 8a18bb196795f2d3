"""The official programs' figures for real data sets, which are not part of the repository: a clone
skips these tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shared_data import DATA, content, needs

from evaltex_cli import evaluate

LEFT_OUT = " (don't-care GT left out of the input)"
CASES = [
    pytest.param(inputs, title, figures, id=f"{inputs.split(' | ', 1)[1]} {title}")
    for inputs, runs in content("figures.json").items()
    if " | " in inputs
    for title, figures in runs.items()
]


@pytest.mark.few_fast(8)
@pytest.mark.parametrize(("inputs", "title", "figures"), CASES)
def test_figures_are_the_official_ones(inputs: str, title: str, figures: dict[str, Any]) -> None:
    gt, det, *settings = inputs.split(" | ")
    options: dict[str, Any] = {"dont_care": "drop"} if LEFT_OUT in title else {}
    protocol, *more = title.replace(LEFT_OUT, "").split()
    prefix = ""
    if more == ["word+line"]:
        options["lines"] = DATA / "icdar2015" / "gt_textline.zip"
        prefix, protocol, more = "iou_" if protocol == "iou" else "", "tiou", []
    parameters = dict(setting.split("=") for setting in [*settings, *more])
    scores = evaluate(DATA / gt, DATA / det, protocol, params=parameters, **options).scores
    # Wolf's program prints six digits.
    tolerance = 1e-6 if "variant=wolf" in title else 1e-9
    for name, value in figures.items():
        if name == "curves":
            assert_curves(scores["curves"], value)
        else:
            assert scores[prefix + name] == pytest.approx(value, abs=tolerance, rel=0), name


def assert_curves(found: list[dict[str, Any]], official: dict[str, list[list[float]]]) -> None:
    for name, points in official.items():
        varied, what = name.split(":")
        column = {"Recall": "recall", "Precision": "precision", "Harmonic mean": "hmean"}[what]
        threshold = {"tr": "t_r", "tp": "t_p"}[varied]
        rows = [row for row in found if row["varied"] == threshold]
        expected = [pytest.approx(point, abs=1e-6, rel=0) for point in points]
        assert [[row[threshold], row[column]] for row in rows] == expected


@pytest.mark.slow
@needs("data/published.json")
@pytest.mark.parametrize("detector", ["TextBPN", "TextPMs", "DRRG"])
def test_published_figures_of_ctw1500(detector: str) -> None:
    published = content("published.json")[f"ctw1500/gt.zip | ctw1500/{detector}.zip"]
    folder = DATA / "ctw1500"
    scores = evaluate(folder / "gt.zip", folder / f"{detector}.zip", preset="ctw1500").scores
    for score in ("recall", "precision", "hmean"):
        assert f"{scores[score]:.4f}" == published[score]


@pytest.mark.few_fast(1)
@needs("data/cleval-per-image")
@pytest.mark.parametrize("path", sorted((DATA / "cleval-per-image").glob("*.json")), ids=str)
def test_every_image_has_the_figures_and_pairs_of_cleval(path: Path) -> None:
    data_set, name = path.stem.split("-", 1)
    det = DATA / data_set / ("cleval" if data_set == "icdar2013" else "") / f"{name}.zip"
    result = evaluate(DATA / data_set / "gt.zip", det, "cleval", per_image=True)
    official = json.loads(path.read_text(encoding="utf-8"))
    assert {image.name for image in result.images} == set(official)
    for image in result.images:
        stats, matches = official[image.name]["stats"], official[image.name]["matches"]
        for task, prefix in (("det", ""), ("e2e", "e2e_"))[: 1 + name.startswith("e2e")]:
            for score in ("recall", "precision", "hmean"):
                value = pytest.approx(stats[task][score], abs=1e-9, rel=0)
                assert image.scores[prefix + score] == value, image.name
        pairs = {(i + 1, j + 1) for gts, dets, _ in matches for i in gts for j in dets}
        assert {(one.id, j) for one in image.objects for j in one.partners} == pairs, image.name
