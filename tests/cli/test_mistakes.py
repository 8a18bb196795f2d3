"""What goes wrong with the inputs, the options and the disk: one clear message each, and no more."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from cli_inputs import DET, GT, write_inputs
from command_line import invoke as run
from command_line import tree
from written_files import zipped

from evaltex_cli.evaluation import evaluate as evaluation


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


@pytest.mark.few_fast(20)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gt.txt", "Missing argument 'DET'"),
        ("gt.txt det.txt res a b c", "unexpected extra argument (c)"),
        ("gt.txt det.txt res a", "GT_IMG_DIR and DET_IMG_DIR go together"),
        (
            "gt.txt det.txt -a",
            "-a, --plots and --report need a result folder: evaltex GT DET RES_DIR",
        ),
        ("gt.txt det.txt res --al", "No such option"),
        (
            "gt.txt det.txt res --protocol evltex",
            "unknown protocol 'evltex' (did you mean 'evaltex'?)",
        ),
        (
            "gt.txt det.txt res --protocol icdar2015",
            "unknown protocol 'icdar2015', which is a preset (--preset icdar2015)",
        ),
        ("valid gt.txt det.txt", "no file and no command 'valid' (did you mean 'validate'?)"),
        ("gt.txt det.txt --min-confidence 2", "2.0 is not in the range 0<=x<=1"),
        ("gt.txt det.txt --ci 95", "95.0 is not in the range 0<x<1"),
        (
            "gt.txt det.txt --protocol iou --set tiou.iou=0.5",
            "tiou is not a protocol of this run (iou); add the protocol",
        ),
        ("gt.txt det.txt res --report --embed", "--embed needs --images DIR"),
        (
            "gt.txt det.txt res --gt-format coc",
            "unknown format 'coc' (did you mean 'coco'?); `evaltex formats` lists them",
        ),
        ("gt.txt det.txt res --format yaml", "'yaml' is not one of 'table', 'json', 'csv'"),
        (
            "gt.txt det.txt res --protocol iou --set region=no",
            "unknown key 'region' of iou, but of evaltex; iou knows",
        ),
        ("gt.txt det.txt res --protocol all --set iou=1", "several protocols of this run have"),
        (
            "gt.txt det.txt res --config none.ini",
            "none.ini: cannot be read (No such file or directory)",
        ),
        ("gt.txt det.txt res --config bad.ini", "bad.ini:2: unknown key 'a'"),
        ("none.txt det.txt res", "none.txt: cannot be read (No such file or directory)"),
        ("gt.txt det.txt gt.txt", "'gt.txt' is a file"),
        (
            "gt.txt det.txt res --gt-format page-line",
            "it is page at --gt-level or --det-level line",
        ),
        (
            "long.txt nothing.txt new/res -a",
            "new/res: cannot be written (File name too long)",
        ),
        (
            "endless.txt nothing.txt new/res -a --jobs 2",
            "an image name of more than 1000 characters; expected a shorter one",
        ),
        ("'' det.txt res", "'GT': is empty; give a path"),
        ("--ci gt.txt det.txt res", "Invalid value for '--ci': 'gt.txt'"),
        ("none.txt det.txt res --fail-if recall:-1%", "needs a baseline of evaltex"),
        ("rank board.toml --groups groups.csv", "--groups: the board says this for each data set"),
    ],
)
def test_wrong_input_ends_in_a_message_and_writes_nothing(
    here: Path, arguments: str, message: str
) -> None:
    Path("bad.ini").write_text("\na=1\n")
    Path("board.toml").write_text("")
    Path("groups.csv").write_text("image,shop\nimg_1,a\n")
    Path("long.txt").write_text("y\n9,9\n" + "x" * 300 + "\n9,9\n")
    Path("endless.txt").write_text("e/" * 2045 + "e\n9,9\n")
    Path("nothing.txt").write_text("")
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    result = run(*shlex.split(arguments))
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    assert result.stdout == ""
    assert tree(here) == before


def test_faults_of_both_files_come_together() -> None:
    Path("gt.txt").write_text(GT + 'img_3\n9,9\n1,1,"",x,0,0,1,1\n')
    Path("det.txt").write_text(DET + '7,"",0,0,1,q\nimg_9\n')
    result = run("gt.txt", "det.txt", "res")
    lines = result.stderr.splitlines()
    assert len(lines) == 4
    assert all(
        line.startswith(("evaltex: error: gt.txt:10: ", "evaltex: error: det.txt"))
        for line in lines[:3]
    )
    assert lines[3] == "evaltex: hint: `evaltex validate --all-faults` lists every fault"
    assert not Path("res").exists()


def test_a_bug_shows_itself_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "scored", lambda *_: {}["x"])
    monkeypatch.setenv("EVALTEX_DEBUG", "1")
    assert isinstance(run("gt.txt", "det.txt", "res").exception, KeyError)


def test_equal_faults_once(tmp_path: Path) -> None:
    gt = zipped(tmp_path / "gt.zip", {f"gt_img_{k}.txt": "0,0,10,10,word\n" for k in range(30)})
    det = zipped(tmp_path / "det.zip", {f"res_img_{k}.txt": "0,0,10\n" * 2 for k in range(30)})
    arguments = (gt, det, "--det-format", "ltrb")
    reported = run(*arguments).stderr
    first = f"{det}/res_img_0.txt:1: 3 numbers at the start of '0,0,10'; expected x0,y0,x1,y1"
    assert f"evaltex: error: {first}" in reported
    assert "60 such faults in 30 files, also at" in reported


def test_names_of_files_cannot_command_a_terminal() -> None:
    shown = run("a\u202eb\x1b[31m.txt", "det.txt").stderr
    assert "a\\u202eb\\x1b[31m.txt: matches no file" in shown
