"""Presets: each is the options that it says, its name is in every result, and
nothing contradicts it.
"""

from __future__ import annotations

import csv
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from evaltex_cli import evaluate
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.inputs import options_of
from evaltex_cli.formats.options import INVALID_POLYGONS
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import parameters_of_preset
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
    parameters = parameters_of_preset(name, [])
    assert preset.protocol in PROTOCOLS
    assert preset.invalid in INVALID_POLYGONS
    defaults = {field.name: field.default for field in fields(load(preset.protocol).parameters)}
    chosen = {key for key, default in defaults.items() if getattr(parameters, key) != default}
    assert chosen == set(preset.parameters)


def test_no_preset_is_a_value_of_a_parameter_of_that_name() -> None:
    """The signature has both as ``preset:NAME``."""
    choices = [
        choice
        for name in PROTOCOLS
        for field in fields(load(name).parameters)
        if field.name == "preset"
        for choice in field.metadata["choices"]
    ]
    assert choices
    assert not set(choices) & set(PRESETS)
    line = evaluate_line(deteval_preset="relaxed")
    assert options_of(line).preset is None


def evaluate_line(deteval_preset: str) -> str:
    from evaltex_cli.evaluation.inputs import signature
    from evaltex_cli.formats.options import InputOptions

    protocol = load("deteval")
    return signature(protocol, protocol.parameters(preset=deteval_preset), InputOptions(), 1, "")


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
    """Of three objects that count one crosses itself; CTW1500 misses it,
    ICDAR 2015 leaves it out.
    """
    ctw1500, icdar2015 = result("--preset", "ctw1500"), result("--preset", "icdar2015")
    assert (ctw1500["totals"]["counted_gt_objects"], ctw1500["totals"]["counted_detections"]) == (
        4,
        3,
    )
    assert (
        icdar2015["totals"]["counted_gt_objects"],
        icdar2015["totals"]["counted_detections"],
    ) == (3, 4)


@pytest.mark.usefixtures("folder")
def test_python_takes_presets_too() -> None:
    found = evaluate("gt", "det", preset="ctw1500")
    document = result("--preset", "ctw1500")
    assert found.signature == document["signature"]
    assert found.scores == document["scores"]
    assert (
        evaluate(
            "gt", "det", "iou", preset="ctw1500", invalid_polygons="skip", pairing="best"
        ).scores
        == found.scores
    )
    for given, message in (
        ({"preset": "ctw150"}, "unknown preset 'ctw150'.*did you mean"),
        (
            {"preset": "ctw1500", "protocol": "tiou"},
            "protocol=tiou: the preset ctw1500 has protocol=iou",
        ),
        (
            {"preset": "ctw1500", "invalid_polygons": "drop"},
            "the preset ctw1500 has invalid_polygons=skip",
        ),
        ({"preset": "ctw1500", "pairing": "first"}, "the preset ctw1500 has pairing=best"),
        ({"preset": "ctw1500", "iou": 0.7}, "the preset ctw1500 has iou=0.5"),
        ({"preset": "ctw1500", "pairs": 1}, "unknown key 'pairs'"),
    ):
        with pytest.raises(ConfigError, match=message):
            evaluate("gt", "det", **given)  # type: ignore[arg-type]


COMMANDS = {
    "evaluate": ("gt", "det", "res"),
    "compare": ("compare", "gt", "det", "det"),
    "diagnose": ("diagnose", "gt", "det"),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "tiou"], "The preset ctw1500 uses the protocol iou"),
        (["--protocol", "iou", "--protocol", "tiou"], "The preset ctw1500 uses the protocol iou"),
        (["--invalid", "repair"], "The preset ctw1500 uses --invalid skip"),
        (
            ["--set", "iou.truncate=true"],
            "--set iou.truncate=true: the preset ctw1500 has truncate=false",
        ),
        (["--set", "iou.iou=0.7"], "--set iou.iou=0.7: the preset ctw1500 has iou=0.5"),
        (["--set", "iou.nothing=1"], "unknown key 'nothing'"),
        (["--config", "some.ini"], "The preset ctw1500 has all parameters"),
    ],
    ids=str,
)
def test_what_contradicts_a_preset_is_refused(
    command: tuple[str, ...], options: list[str], message: str
) -> None:
    Path("some.ini").write_text("", encoding="utf-8")
    error = run(*command, "--preset", "ctw1500", *options, status=2).stderr
    assert message in " ".join(error.split())


@pytest.mark.usefixtures("folder")
def test_another_level_than_the_preset_s_is_refused() -> None:
    options = ("--preset", "hiertext-line", "--gt-level", "line-words", "--det-level", "word")
    error = run("gt", "det", *options, status=2).stderr
    assert "The preset hiertext-line uses --det-level line-words" in " ".join(error.split())
    with pytest.raises(ConfigError, match="the preset hiertext-line has gt_level=line-words"):
        evaluate("gt", "det", preset="hiertext-line", gt_level="line")


@pytest.mark.usefixtures("folder")
def test_what_agrees_with_a_preset_is_taken_and_no_file_changes_it() -> None:
    expected = result("--preset", "ctw1500")
    Path("evaltex.ini").write_text("[iou]\niou=0.9\ntruncate=true\n", encoding="utf-8")
    agreeing = (
        "--protocol",
        "iou",
        "--invalid",
        "skip",
        "--set",
        "iou.pairing=best",
        "--set",
        "iou.iou=0.5",
    )
    assert result("--preset", "ctw1500", *agreeing) == expected


@pytest.mark.usefixtures("folder")
def test_compare_diagnose_and_merge_keep_the_preset() -> None:
    run("gt", "det", "res", "-a", "--quiet", "--preset", "ctw1500")
    signature = json.loads(Path("res/iou.json").read_text(encoding="utf-8"))["signature"]
    options = ("--preset", "ctw1500", "--format", "json")
    (compared,) = json.loads(
        run("compare", "gt", "det", "det", "--label", "a", "--label", "b", *options).stdout
    )["protocols"]
    assert {line.split("|resamples")[0] for line in compared["signatures"]} == {signature}
    (diagnosed,) = json.loads(run("diagnose", "gt", "det", *options).stdout)["protocols"]
    assert diagnosed["signature"] == signature
    run("merge", "res", "merged")
    merged = json.loads(Path("merged/iou.json").read_text(encoding="utf-8"))
    assert merged["preset"] == "ctw1500"
    assert "|preset:ctw1500|" in merged["signature"]
    run("gt", "det", "plain", "-a", "--quiet", "--protocol", "iou")
    error = run("merge", "res", "plain", "other", status=2).stderr
    assert "preset is ctw1500 and None" in error
    assert "--preset" in run("compare", "res", "res", "--preset", "ctw1500", status=2).stderr
    run("report", "res", "--gt", "gt", "--det", "det", "--output", "page.html")


def test_commands_list_protocols_presets_and_formats() -> None:
    text, listed = run("protocols").stdout, json.loads(run("protocols", "--format", "json").stdout)
    assert set(listed["protocols"]) == set(PROTOCOLS)
    assert set(listed["presets"]) == set(PRESETS)
    for name in [*PROTOCOLS, *PRESETS]:
        assert f"\n  {name} " in text
    from evaltex_cli.formats import FORMATS

    assert list(json.loads(run("formats", "--format", "json").stdout)) == list(FORMATS)
    assert [line.split()[0] for line in run("formats").stdout.splitlines()[1:]] == list(FORMATS)


def lines(name: str, text: str) -> None:
    """A folder with one file of this text."""
    Path(name).mkdir()
    Path(name, "img_1.txt").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", PRESETS)
def test_the_formats_of_a_preset_are_known_and_listed(name: str) -> None:
    from evaltex_cli.formats import FORMATS

    preset = PRESETS[name]
    assert set(preset.gt_formats + preset.det_formats) <= set(FORMATS)
    listed = json.loads(run("protocols", "--format", "json").stdout)["presets"][name]
    assert (tuple(listed["gt_formats"]), tuple(listed["det_formats"])) == (
        preset.gt_formats,
        preset.det_formats,
    )
    rows = csv.DictReader(run("protocols", "--format", "csv").stdout.splitlines())
    (row,) = [row for row in rows if (row["kind"], row["name"]) == ("preset", name)]
    assert row["GT"] == ", ".join(preset.gt_formats)
    assert row["DET"] == ", ".join(preset.det_formats)


def test_a_format_of_the_preset_decides_where_content_is_ambiguous(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a radian is also a text; the same numbers are a box with it, or a
    rectangle that is turned.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("gt", "det"):
        lines(name, "10,10,60,30,0.5\n")
    found, plain = evaluate("gt", "det", preset="msra-td500"), evaluate("gt", "det", "iou")
    assert (found.gt.format, found.det.format) == ("msra-td500", "msra-td500")
    assert (plain.gt.format, plain.det.format) == ("ltrb", "ltrb")
    said = "is read as msra-td500, a format of the preset, though its content could be ltrb"
    assert [said in warning for warning in found.warnings].count(True) == 2
    assert not any("is read as" in warning for warning in plain.warnings)
    named = evaluate("gt", "det", preset="msra-td500", gt_format="ltrb", det_format="ltrb")
    assert (named.gt.format, named.det.format) == ("ltrb", "ltrb")


@pytest.mark.parametrize(
    ("preset", "gt", "expected"),
    [
        ("ctw1500", "0,0,60,0,60,30,0,30,####word\n", "ctw1500"),
        ("icdar2015", "0,0,60,0,60,30,0,30,Latin,word\n", "mlt"),
        ("msra-td500", "10,10,60,10,60,30,10,30,word\n", "quad"),
        ("mlt", "10,10,60,10,60,30,10,30,word\n", "quad"),
    ],
)
def test_what_the_content_decides_stays(
    preset: str, gt: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines("gt", gt)
    lines("det", "10,10,60,10,60,30,10,30\n")
    found = evaluate("gt", "det", preset=preset)
    assert found.gt.format == expected
    assert not any("is read as" in warning for warning in found.warnings)
