"""The command line: what it prints and what it writes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_inputs import DET, shell, write_inputs
from command_line import invoke as run
from command_line import tree

from evaltex_cli import evaluate
from evaltex_cli.cli.options import FORMS
from evaltex_cli.version import __version__


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


def test_the_module_is_the_command() -> None:
    assert shell("--version").stdout == f"evaltex {__version__}\n"


def test_what_is_printed_and_written() -> None:
    result = run("gt.txt", "det.txt", "res", "--protocol", "iou,evaltex", "--set", "iou.iou=0.6")
    assert (result.exit_code, result.stderr) == (0, "")
    title, _, *rows, results = result.stdout.splitlines()
    assert title == "2 images, 3 objects, 3 detections"
    assert [row.split()[0] for row in rows] == ["iou", "evaltex"]
    scores = evaluate("gt.txt", "det.txt").scores
    shown = [f"{scores[name]:.4f}" for name in ("recall", "precision", "fscore")]
    assert rows[1].split() == ["evaltex", *shown]
    assert results == "Results: res/PROTOCOL.txt, res/PROTOCOL.json"
    names = ["evaltex.json", "evaltex.txt", "iou.json", "iou.txt", "scores.csv", "scores.json"]
    assert list(tree(Path("res"))) == names
    written = json.loads(Path("res/evaltex.json").read_text())
    assert (written["scores"], written["images"]) == (scores, [])
    assert json.loads(Path("res/iou.json").read_text())["parameters"]["iou"] == 0.6


def test_without_a_result_folder_nothing_is_written(here: Path) -> None:
    with_folder = run("gt.txt", "det.txt", "res")
    Path("res").rename(here.parent / f"{here.name}-res")
    before = tree(here)
    found = run("gt.txt", "det.txt")
    note = "evaltex: note: no files written; evaltex GT DET RES_DIR writes them to RES_DIR\n"
    assert (found.exit_code, found.stderr) == (0, note)
    assert found.stdout == with_folder.stdout.partition("Results:")[0]
    assert run("gt.txt", "det.txt", "--quiet").output == ""
    assert run("gt.txt", "det.txt", "--fail-if", "recall<0.999").exit_code == 1
    assert tree(here) == before
    assert "no files" not in run("gt.txt", "det.txt", "-o", "scores.txt").stderr


@pytest.mark.parametrize("form", FORMS)
def test_scores_in_any_format_and_nothing_else_on_stdout(form: str) -> None:
    arguments = ["gt.txt", "det.txt", "res", "-a", "--protocol", "evaltex,iou", "--format", form]
    arguments += ["--fail-if", "iou.recall<1e-6"]
    found = run(*arguments)
    assert "Gate passed" in (found.stdout if form == "table" else found.stderr)
    to_file = run(*arguments, "-o", "file")
    text = Path("file").read_text()
    assert (found.exit_code, to_file.stdout.partition(" ")[0]) == (0, "Results:")
    assert found.stdout.startswith(text)
    assert found.stdout == text or form == "table"
    scores = {name: evaluate("gt.txt", "det.txt", name).scores for name in ("evaltex", "iou")}
    if form == "json":
        document = json.loads(text)
        assert {one["protocol"]: one["scores"] for one in document["protocols"]} == scores
        assert document["kind"] == "scores"
    elif form == "csv":
        rows = {row["protocol"]: row for row in csv.DictReader(text.splitlines())}
        assert float(rows["iou"]["recall"]) == scores["iou"]["recall"]
    else:
        shown = 100 * scores["iou"]["recall"] if form == "latex" else scores["iou"]["recall"]
        assert f"{shown:.{1 if form == 'latex' else 4}f}" in text
    merged = run("merge", "res", "merged", "--format", form, "-o", "merged.out")
    assert merged.output == "Results: merged\n"
    if form in ("table", "markdown", "latex", "html"):
        assert Path("merged.out").read_text() == text


@pytest.mark.parametrize(
    "arguments",
    [
        ["gt.txt", "det.txt", "res", "-a", "--set", "region=no"],
        ["-a", "--set", "region=no", "gt.txt", "det.txt", "res"],
        ["gt.txt", "--set=region=no", "det.txt", "-a", "res"],
        ["evaluate", "gt.txt", "-a", "det.txt", "--set", "region=no", "res"],
    ],
)
def test_options_stand_anywhere(arguments: list[str]) -> None:
    assert run("gt.txt", "det.txt", "expected", "-a", "--set", "region=no").exit_code == 0
    assert run(*arguments).exit_code == 0
    assert tree(Path("res")) == tree(Path("expected"))


@pytest.mark.parametrize(
    ("given", "protocols"),
    [
        (["--protocol", "iou,tiou"], ["iou", "tiou"]),
        (["--protocol", "TIoU, IOU ,iou"], ["tiou", "iou"]),
        (["--protocol", "DetEval", "--protocol", "PQ,IoU"], ["deteval", "pq", "iou"]),
        (["--preset", "CTW1500"], ["iou"]),
        (["--protocol", "IoU", "--gt-format", "EvaLTex", "--invalid", "DROP"], ["iou"]),
    ],
    ids=" ".join,
)
def test_names_in_any_case_and_lists_of_protocols(given: list[str], protocols: list[str]) -> None:
    found = run("gt.txt", "det.txt", *given, "--format", "csv")
    assert found.exit_code == 0, found.output
    assert [line.split(",")[0] for line in found.stdout.splitlines()[1:]] == protocols


def test_a_parameter_is_of_the_only_protocol() -> None:
    def iou(*settings: str) -> float:
        options = [word for setting in settings for word in ("--set", setting)]
        document = run(
            "gt.txt", "det.txt", "--protocol", "iou", "--format", "json", *options
        ).stdout
        return float(json.loads(document)["protocols"][0]["parameters"]["iou"])

    assert iou() == 0.5
    assert iou("iou=0.7") == iou("IoU.iou=0.7") == iou("iou=0.6", "iou.iou=0.7") == 0.7


def test_parameters_from_where() -> None:
    """--set before --config before ./evaltex.ini before the defaults."""

    def border(*arguments: str) -> float:
        assert run("gt.txt", "det.txt", "res", *arguments).exit_code == 0
        found: float = json.loads(Path("res/evaltex.json").read_text())["parameters"]["det_border"]
        return found

    assert border() == 0.01
    Path("evaltex.ini").write_text("det_border=0.1\n")
    assert border() == 0.1
    Path("other.ini").write_text("region=no\n")
    assert border("--config", "other.ini") == 0.01
    assert border("--set", "det_border=0.2") == 0.2
    assert border("--set", "det_border=0.2", "--set", "evaltex.det_border=0.3") == 0.3


def test_quiet_prints_nothing_but_warnings_and_errors() -> None:
    assert run("gt.txt", "det.txt", "res", "-q").output == ""
    assert run("gt.txt", "none.txt", "res", "--quiet").stderr.startswith(
        "evaltex: error: none.txt: cannot be read"
    )
    failed = run("gt.txt", "det.txt", "-q", "--fail-if", "recall<0.999", "--fail-if", "recall<1e-6")
    assert "FAILED" in failed.stderr and "passed" not in failed.stderr
    Path("det.txt").write_text(DET.partition("img_1")[0])
    warning = "1 of 2 images has no detections in det.txt"
    result = run("gt.txt", "det.txt", "res", "--quiet", "--protocol", "evaltex,deteval")
    assert result.output == f"evaltex: warning: {warning}\n"
    assert json.loads(Path("res/evaltex.json").read_text())["warnings"] == [warning]
