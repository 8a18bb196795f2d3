"""Every option of reading gives `compare` and `diagnose` the scores that it gives a run."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from PIL import Image

from evaltex_cli import evaluate

IMAGES = 6
BOW_TIE = "10,10,60,60,60,10,10,60"
OPTIONS = {
    "repair": "--invalid repair",
    "drop": "--invalid drop",
    "confidence": "--min-confidence 0.5",
    "images": "--images pictures --protocol cleval --set cleval.scale_bins=0.1,0.9",
    "formats": "--gt-format quad --det-format quad",
    "jobs": "--jobs 2",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Quadrilaterals of which one crosses itself, detections with
    confidences, pictures that have the sizes.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("gt", "det", "pictures"):
        (tmp_path / name).mkdir()
    for k in range(1, IMAGES + 1):
        words = [f"{x},5,{x + 50},5,{x + 50},30,{x},30" for x in (10, 80, 150)]
        (tmp_path / "gt" / f"gt_img_{k}.txt").write_text(
            "".join(f"{word},word\n" for word in (BOW_TIE, *words[1:]))
        )
        detections = [f"{word},{0.3 * (n + 1):g}" for n, word in enumerate((BOW_TIE, *words[:2]))]
        (tmp_path / "det" / f"res_img_{k}.txt").write_text(
            "".join(f"{line}\n" for line in detections)
        )
        Image.fromarray(np.zeros((100, 200), np.uint8)).save(tmp_path / "pictures" / f"img_{k}.png")
    return tmp_path


def scores(*options: str) -> tuple[str, dict[str, Any]]:
    """The protocol's name and the scores of a run."""
    run("gt", "det", "res", "--quiet", *options)
    (file,) = (file for file in Path("res").glob("*.json") if file.name != "scores.json")
    document = json.loads(file.read_text())
    return document["signature"], document["scores"]


@pytest.fixture
def boxes_of_models(folder: Path) -> None:
    """Ground truth of boxes, and a model's answers: y before x, from 0 to
    1000, of which the key says nothing.
    """
    for k in range(1, IMAGES + 1):
        (folder / "gt" / f"gt_img_{k}.txt").write_text("20,10,100,40,word\n")
        (folder / "det" / f"res_img_{k}.txt").unlink()
        (folder / "det" / f"img_{k}.json").write_text(
            '[{"bbox": [100, 100, 400, 500], "label": "word"}]'
        )


def protocol_of(command: str, *options: str) -> Any:
    """What a command writes about its only protocol."""
    (found,) = json.loads(run(*command.split(), "--format", "json", *options).stdout)["protocols"]
    return found


COMPARE, DIAGNOSE = "compare gt det det --label a --label b", "diagnose gt det"


@pytest.mark.usefixtures("boxes_of_models")
def test_coordinates_are_an_option_of_every_command() -> None:
    options = ["--coordinates", "yxyx:1000", "--images", "pictures"]
    signature, expected = scores("-a", "--report", *options)
    assert "|coordinates:yxyx:1000|" in signature
    assert expected["recall"] == expected["precision"] == 1
    compared = protocol_of(COMPARE, *options)
    assert compared["signatures"] == [f"{signature}|resamples:2000|seed:0"] * 2
    assert protocol_of(DIAGNOSE, *options)["signature"] == signature
    run("validate", "gt", "det", *options)
    run("convert", "det", "det.txt", "--kind", "det", *options)
    assert "20,10,80,30" in Path("det.txt").read_text()
    inputs = "--gt gt --det det --images pictures --output page.html"
    run("report", "res", *inputs.split())
    run("toys", "det", "toys", "--recipe", "orig", *options)
    evaluated = evaluate("gt", "det", images="pictures", coordinates="yxyx:1000")
    assert evaluated.signature == signature
    error = run("convert", "det", "x.txt", "--kind", "det", status=2).stderr
    assert "declare them by --coordinates" in error
    refused = run("gt", "gt", "res", "--coordinates", "yxyx:1000", status=2).stderr
    assert "no input has a format that uses it: gt (ltrb), gt (ltrb)" in refused
    refused = run("gt", "det", "res", "--coordinates", "yx:1000", status=2).stderr
    assert "expected ORDER:SCALE" in refused


@pytest.mark.few_fast(3)
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_compare_and_diagnose_score_as_a_run(options: str) -> None:
    signature, expected = scores(*options.split())
    compared, diagnosed = (protocol_of(one, *options.split()) for one in (COMPARE, DIAGNOSE))
    assert compared["signatures"] == [f"{signature}|resamples:2000|seed:0"] * 2
    assert {score["score"]: score["values"] for score in compared["scores"]} == {
        name: [value] * 2
        for name, value in expected.items()
        if value is None or isinstance(value, int | float)
    }
    assert diagnosed["signature"] == signature
    assert diagnosed["scores"] == {name: expected[name] for name in diagnosed["scores"]}


@pytest.mark.usefixtures("folder")
def test_options_matter() -> None:
    """Else equal scores would say nothing."""
    chosen = [OPTIONS[name] for name in ("repair", "confidence", "drop")]
    found = [scores(*options.split())[1] for options in chosen]
    assert all(one != other for one, other in combinations(found, 2))
