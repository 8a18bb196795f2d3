"""Presets: each is the options that it says, its name is in every result, and
nothing contradicts it.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from written_files import in_folder

from evaltex_cli import evaluate
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.inputs import options_of, signature
from evaltex_cli.formats.options import INVALID_POLYGONS, InputOptions
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import parameters_by_protocol
from evaltex_cli.protocols.presets import PRESETS

SCENES = Path(__file__).parents[1] / "golden" / "scenes"
GT = {
    "gt_img_1.txt": "10,10,90,10,90,30,10,30,one\n10,50,90,70,90,50,10,70,bow\n10,80,60,80,60,95,10,95,###\n",
    "gt_img_2.txt": "10,10,90,10,90,30,10,30,two\n120,10,180,14,178,44,118,40,leaning\n",
}
DET = {
    "res_img_1.txt": "10,10,90,10,90,30,10,30,one\n10,50,90,70,90,50,10,70,bow\n10,81,60,81,60,95,10,95,no\n",
    "res_img_2.txt": "12,10,90,10,90,28,12,28,to\n120,10,180,14,178,44,118,40,leaning\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ground truth and detections with polygons that cross themselves and don't care."""
    monkeypatch.chdir(tmp_path)
    for name, files in (("gt", GT), ("det", DET)):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text, encoding="utf-8")
    return tmp_path


def result(*options: str, inputs: tuple[str, str] = ("gt", "det")) -> dict[str, Any]:
    """The only result of a run."""
    for old in Path("res").glob("*"):
        old.unlink()
    run(*inputs, "res", "--quiet", *options)
    (file,) = (file for file in Path("res").glob("*.json") if file.name != "scores.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_lists_what_is_not_the_default(name: str) -> None:
    preset = PRESETS[name]
    parameters = parameters_by_protocol([], [], name)[PRESETS[name].protocol]
    assert preset.protocol in PROTOCOLS
    assert preset.invalid in INVALID_POLYGONS
    defaults = {field.name: field.default for field in fields(load(preset.protocol).parameters)}
    chosen = {key for key, default in defaults.items() if getattr(parameters, key) != default}
    assert chosen == set(preset.parameters)


def test_no_preset_is_a_value_of_a_parameter_of_that_name() -> None:
    """The signature has both as ``preset:NAME``."""
    of_all = [field for name in PROTOCOLS for field in fields(load(name).parameters)]
    choices = {one for of in of_all if of.name == "preset" for one in of.metadata["choices"]}
    assert choices
    assert not choices & set(PRESETS)
    relaxed = load("deteval").parameters(preset="relaxed")
    assert options_of(signature(load("deteval"), relaxed, InputOptions(), 1, "")).preset is None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_lists(name: str) -> None:
    # Only HierText's files have the levels that some presets read.
    pages = str(SCENES / "hiertext-gt.jsonl"), str(SCENES / "hiertext-det.jsonl")
    inputs = pages if PRESETS[name].level else ("gt", "det")
    by_name = result("--preset", name, inputs=inputs)
    by_options = result(*PRESETS[name].options.split(), inputs=inputs)
    assert by_name.pop("preset") == name
    assert f"|preset:{name}|" in by_name["signature"]
    assert by_name.pop("signature").replace(f"|preset:{name}|", "|") == by_options.pop("signature")
    assert by_name == by_options


@pytest.mark.usefixtures("folder")
def test_presets_differ_on_polygons_that_cross_themselves() -> None:
    """Of three objects that count one crosses itself; CTW1500 misses it, ICDAR 2015 leaves it out."""
    for name, counts in (("ctw1500", (4, 3)), ("icdar2015", (3, 4))):
        totals = result("--preset", name)["totals"]
        assert (totals["counted_gt_objects"], totals["counted_detections"]) == counts


@pytest.mark.usefixtures("folder")
def test_python_takes_presets_too() -> None:
    found = evaluate("gt", "det", preset="ctw1500")
    document = result("--preset", "ctw1500")
    assert found.signature == document["signature"]
    assert found.scores == document["scores"]
    agreeing = {"invalid": "skip", "pairing": "best"}
    assert evaluate("gt", "det", "iou", preset="ctw1500", **agreeing).scores == found.scores  # type: ignore[arg-type]
    for given, message in (
        ({"preset": "ctw150"}, "unknown preset 'ctw150'.*did you mean"),
        ({"protocol": "tiou"}, "protocol=tiou: the preset ctw1500 has protocol=iou"),
        ({"invalid": "drop"}, "the preset ctw1500 has invalid=skip"),
        ({"pairs": 1}, r"unknown option 'pairs' \(did you mean"),
    ):
        with pytest.raises(ConfigError, match=message):
            evaluate("gt", "det", **{"preset": "ctw1500"} | given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["gt det res", "compare gt det det", "diagnose gt det"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--invalid repair", "invalid=repair: the preset ctw1500 has invalid=skip"),
        ("--config some.ini", "The preset ctw1500 sets all parameters"),
    ],
)
def test_what_contradicts_a_preset_is_refused(command: str, options: str, message: str) -> None:
    Path("some.ini").write_text("", encoding="utf-8")
    error = run(*command.split(), "--preset", "ctw1500", *options.split(), status=2).stderr
    assert message in " ".join(error.split())


@pytest.mark.usefixtures("folder")
def test_other_protocols_and_parameters_join_a_preset() -> None:
    alone = evaluate("gt", "det", preset="ctw1500")
    both = evaluate("gt", "det", ["tiou"], preset="ctw1500")
    assert list(both) == ["iou", "tiou"] and both["iou"].scores == alone.scores
    assert both["tiou"].scores == evaluate("gt", "det", "tiou", invalid="skip").scores
    assert "the preset ctw1500 uses iou; tiou scores the same inputs" in " ".join(both.warnings)
    command = "gt det --preset ctw1500 --protocol tiou --set iou.pairing=first --format json"
    done = run(*command.split())
    first, second = json.loads(done.stdout)["protocols"]
    assert first["parameters"]["pairing"] == "first"
    assert first["parameters"]["truncate"] is False
    assert (
        second["signature"].startswith("protocol:tiou|")
        and "|preset:ctw1500|" in second["signature"]
    )
    assert "iou with pairing=first changes the preset ctw1500: its scores are not" in done.stderr
    assert not any("preset" in text for text in alone.warnings)


@pytest.mark.usefixtures("folder")
def test_another_level_than_the_preset_s_is_refused() -> None:
    options = ("--preset", "hiertext-line", "--gt-level", "line-words", "--det-level", "word")
    error = run("gt", "det", *options, status=2).stderr
    assert "the preset hiertext-line has det_level=line-words" in " ".join(error.split())
    with pytest.raises(ConfigError, match="the preset hiertext-line has gt_level=line-words"):
        evaluate("gt", "det", preset="hiertext-line", gt_level="line")


@pytest.mark.usefixtures("folder")
def test_compare_diagnose_and_merge_keep_the_preset() -> None:
    run("gt", "det", "res", "-a", "--quiet", "--preset", "ctw1500")
    signature = json.loads(Path("res/iou.json").read_text(encoding="utf-8"))["signature"]
    for command in ("compare gt det det --label a --label b", "diagnose gt det"):
        written = run(*command.split(), "--preset", "ctw1500", "--format", "json").stdout
        (found,) = json.loads(written)["protocols"]
        signatures = found.get("signatures") or [found["signature"]]
        assert {line.split("|resamples")[0] for line in signatures} == {signature}
    run("merge", "res", "merged")
    merged = json.loads(Path("merged/iou.json").read_text(encoding="utf-8"))
    assert merged["preset"] == "ctw1500"
    assert "|preset:ctw1500|" in merged["signature"]
    run("gt", "det", "plain", "-a", "--quiet", "--protocol", "iou")
    error = run("merge", "res", "plain", "other", status=2).stderr
    assert "preset is ctw1500 and None" in error
    assert "--preset" in run("compare", "res", "res", "--preset", "ctw1500", status=2).stderr
    run("report", "res", "--gt", "gt", "--det", "det", "--output", "page.html")


@pytest.mark.usefixtures("here")
def test_a_format_of_the_preset_decides_where_content_is_ambiguous() -> None:
    """Half a radian is also a text; the same numbers are a box with it, or a turned rectangle."""
    for name in ("gt", "det"):
        in_folder(Path(name), {"img_1.txt": "10,10,60,30,0.5\n"})
    found, plain = evaluate("gt", "det", preset="msra-td500"), evaluate("gt", "det", "iou")
    assert (found.gt.format, found.det.format) == ("msra-td500", "msra-td500")
    assert (plain.gt.format, plain.det.format) == ("ltrb", "ltrb")
    assert ["is read as msra-td500" in warning for warning in found.warnings].count(True) == 2
    named = evaluate("gt", "det", preset="msra-td500", gt_format="ltrb", det_format="ltrb")
    assert (named.gt.format, named.det.format) == ("ltrb", "ltrb")
