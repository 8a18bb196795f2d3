"""`evaltex reconcile`: what it lists gives the figures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from shared_data import DATA, content, needs

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols.base import load
from evaltex_cli.reconciliation.figures import NAMES, Figure, parsed
from evaltex_cli.reconciliation.search import search, without_graphs
from evaltex_cli.reconciliation.settings import settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Quadrilaterals of 12 images, one in five don't care, and detections with confidences."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "gt").mkdir()
    (tmp_path / "det").mkdir()
    for k in range(12):
        gt, det = [], []
        for i in range(6):
            x, y = 10 + 150 * (i % 2), 10 + 60 * (i // 2)
            corners = np.array([x, y, x + 120, y + 6, x + 118, y + 44, x - 2, y + 40])
            text = "###" if i == 5 and k % 2 else f"word{i}"
            gt.append(",".join(map(str, corners)) + f",{text}")
            moved = corners + rng.integers(-9, 10, 8)
            det.append(",".join(map(str, moved)) + f",{rng.random():.3f}")
        (tmp_path / "gt" / f"gt_img_{k}.txt").write_text("\n".join(gt) + "\n")
        (tmp_path / "det" / f"res_img_{k}.txt").write_text("\n".join(det) + "\n")
    return tmp_path


def scores_of(*arguments: str) -> dict[str, float]:
    (one,) = json.loads(run(*arguments, "--format", "json").stdout)["protocols"]
    scores: dict[str, float] = one["scores"]
    return scores


def found(*arguments: str) -> Any:
    return json.loads(run("reconcile", "gt", "det", *arguments, "--format", "json").stdout)


def figures(scores: dict[str, float], digits: int = 4) -> list[str]:
    return [
        part
        for name in ("recall", "precision", "hmean")
        for part in (f"--{name}", f"{scores[name]:.{digits}f}")
    ]


@pytest.mark.few_fast(2)
@pytest.mark.parametrize(
    "options",
    [
        ["--protocol", "iou"],
        ["--protocol", "iou", "--set", "iou.iou=0.7"],
        ["--protocol", "iou", "--min-confidence", "0.4"],
        ["--protocol", "tiou", "--set", "tiou.dont_care_overlap=0.1"],
        ["--protocol", "deteval", "--set", "deteval.variant=rrc"],
        ["--protocol", "cleval", "--set", "cleval.reference=paper"],
    ],
    ids=" ".join,
)
def test_the_commands_that_are_listed_give_the_figures(folder: Path, options: list[str]) -> None:
    given = figures(scores_of("gt", "det", *options))
    listed = found(*given, "--protocol", "iou,tiou,deteval,cleval,evaltex")["fits"]
    changes = len(options) // 2 - 1
    assert any(one["changes"] <= changes for one in listed)
    assert [one["changes"] for one in listed] == sorted(one["changes"] for one in listed)
    for one in listed:
        assert one["command"][:3] == ["evaltex", "gt", "det"]
        scores = scores_of(*one["command"][1:])
        for name, text in zip(given[::2], given[1::2], strict=True):
            last = "fscore" if name == "--hmean" and "fscore" in scores else name[2:]
            assert f"{scores[last]:.4f}" == text
            assert one["scores"][name[2:]] == scores[last]


@pytest.mark.slow
def test_two_changes_are_found(folder: Path) -> None:
    options = ["--protocol", "iou", "--set", "iou.iou=0.8", "--min-confidence", "0.3"]
    listed = found("--protocol", "iou", *figures(scores_of("gt", "det", *options)))["fits"]
    assert any(options[4:] == one["command"][-2:] and one["changes"] == 2 for one in listed)


def test_a_parameter_file_in_the_folder_does_not_change_what_a_command_gives(folder: Path) -> None:
    given = figures(scores_of("gt", "det", "--protocol", "iou"))
    (folder / "evaltex.ini").write_text("[iou]\niou=0.9\n")
    (first, *_) = found("--protocol", "iou", *given)["fits"]
    assert first["changes"] == 0
    assert scores_of(*first["command"][1:])["hmean"] == first["scores"]["hmean"]


@pytest.mark.slow
def test_settings_without_graphs_give_the_same_figures(folder: Path) -> None:
    """A setting is scored without the graphs that its command makes."""
    inputs = open_inputs(Path("gt"), Path("det"), InputOptions())
    tried = [one.parameters for one in settings("deteval", 1, False) if not one.reading]
    whole, scored = (
        evaluate_inputs(inputs, [Run(load("deteval"), one) for one in parameters])
        for parameters in (tried, map(without_graphs, tried))
    )
    for one, other in zip(whole, scored, strict=True):
        assert [one.scores[name] for name in NAMES] == [other.scores[name] for name in NAMES]


def test_the_nearest_is_listed_with_what_separates_it(folder: Path) -> None:
    result = found("--protocol", "iou", "--recall", "0.0123", "--precision", "0.9876")
    assert result["fits"] == []
    distances = [max(map(abs, one["differences"].values())) for one in result["nearest"]]
    assert distances == sorted(distances)
    for one in result["nearest"]:
        assert one["differences"]["recall"] == one["scores"]["recall"] - 0.0123
    assert result["effects"]
    text = run("reconcile", "gt", "det", "--protocol", "iou", "--recall", "0.0123").stdout
    assert text.startswith("None of ")
    assert "What changes recall of iou most:" in text


def test_no_fit_only_adds_changes_to_another(folder: Path) -> None:
    listed = found("--protocol", "iou", *figures(scores_of("gt", "det", "--protocol", "iou")))
    assert [one["changes"] for one in listed["fits"]] == [0]


def test_other_formats(folder: Path) -> None:
    given = ["--protocol", "iou", *figures(scores_of("gt", "det", "--protocol", "iou"))]
    text = run("reconcile", "gt", "det", *given).stdout
    assert "evaltex gt det --protocol iou\n" in text
    (row,) = csv.DictReader(
        io.StringIO(run("reconcile", "gt", "det", *given, "--format", "csv").stdout)
    )
    assert (row["fits"], row["changes"], row["command"]) == (
        "yes",
        "0",
        "evaltex gt det --protocol iou",
    )


@pytest.mark.parametrize(
    ("text", "value", "half_unit"),
    [
        ("0.8162", 0.8162, 0.00005),
        ("81.6", 0.816, 0.0005),
        ("81.62%", 0.8162, 0.00005),
        (".5", 0.5, 0.05),
        ("1", 1.0, 0.5),
        ("1%", 0.01, 0.005),
        ("100", 1.0, 0.005),
    ],
)
def test_figures_have_digits(text: str, value: float, half_unit: float) -> None:
    found = Figure.parse(text)
    assert found.value == pytest.approx(value)
    assert found.half_unit == pytest.approx(half_unit)
    assert found.agrees(value + half_unit * 0.99)
    assert not found.agrees(value + half_unit * 1.01)


@pytest.mark.parametrize("text", ["", ".", "x", "-1", "101", "0,5", "1e2", "nan", "200%"])
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected"):
        Figure.parse(text)


def test_no_figure_at_all_is_refused(folder: Path) -> None:
    result = run("reconcile", "gt", "det", status=2)
    assert "give --recall, --precision or --hmean" in " ".join(result.stderr.split())


def test_settings_that_contradict_themselves_are_left_out() -> None:
    every = list(settings("deteval", 2, has_confidences=False))
    assert len(every) > 500
    assert all(one.parameters is not None for one in every)
    assert not any(("order", "confidence") in one.changes for one in settings("iou", 2, False))


PUBLISHED = [
    (name, protocol)
    for name, entry in content("published.json").items()
    if name != "_"
    for protocol in ("iou", "tiou")
    if protocol == "iou" or protocol in entry
]


@pytest.mark.slow
@needs("data/published.json")
@pytest.mark.parametrize(("name", "protocol"), PUBLISHED)
def test_published_figures_are_found(name: str, protocol: str) -> None:
    entry = content("published.json")[name]
    gt, det = (DATA / path.strip() for path in name.split("|"))
    printed = entry if protocol == "iou" else entry[protocol]
    given = parsed({name: printed[name] for name in ("recall", "precision", "hmean")})
    result = search(gt, det, given, ["iou", "tiou"], InputOptions())
    assert result.fits[0].setting.protocol == protocol
    assert len(result.fits[0].setting.changes) <= 1
