"""Options and arguments that a new user gets wrong: what is said, and that nothing is ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli.cli import main, messages

GT = 'img_1\n90,120\n1,1,"word",f,10,10,50,20\n'
DET = 'img_1\n1,"word",10,10,50,20\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(messages, "columns", lambda: 80)
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET)
    Path("rows.zip").write_bytes(b"PK\x03\x04\x8c")


def run(line: str) -> tuple[int, str]:
    """Exit status and all that is printed, in one line; no line of it is too long."""
    result = CliRunner().invoke(main, line.split())
    assert "Traceback" not in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    return result.exit_code, " ".join(result.output.split())


REFUSED = {
    "gt.txt det.txt --protocol iou --set tiou.iou=0.5": "--set tiou.iou=0.5: tiou is not a protocol"
    " of this run (iou); add it by --protocol, or leave --set out",
    "gt.txt det.txt --set iou=0.5": "unknown key 'iou' of evaltex, but of iou, iou-crw, tiou, pq;",
    "gt.txt det.txt --protocol iou --fail-if hmean<50": "every result fails this gate: hmean is"
    " from 0 to 1 (did you mean 0.5?)",
    "gt.txt det.txt --plot": "'--plots'",
    "eval gt.txt det.txt": "no file 'eval', and no command; give GT DET [RES_DIR], or a command",
    "valid gt.txt det.txt": "did you mean: evaltex validate ... (the command first)?",
    "gt.txt det.txt det.txt": "det.txt: is a file; give a folder for the results (several detections"
    " are for `evaltex compare`)",
    "gt.txt det.txt res --report --embed": "--embed is of the pictures: give their folder by --images",
    "report rows.zip": "rows.zip: is no JSON (no text in UTF-8); expected the .json of an earlier",
    "gt.txt det.txt --gt-format icdar2015": "unknown format 'icdar2015', which is a preset"
    " (--preset icdar2015)",
}


@pytest.mark.parametrize(("line", "said"), REFUSED.items())
def test_refused(line: str, said: str) -> None:
    status, printed = run(line)
    assert status == 2
    assert said in printed


def test_a_baseline_without_a_gate() -> None:
    run("gt.txt det.txt res --protocol iou")
    warning = "--baseline has no effect without a gate; add one"
    assert warning in run("gt.txt det.txt --protocol iou --baseline res")[1]
    status, printed = run("gt.txt det.txt --protocol iou --baseline res --fail-if hmean:-1%")
    assert (status, warning in printed) == (0, False)


def test_nothing_written_is_not_said_of_what_is() -> None:
    assert "no files written" in run("gt.txt det.txt")[1]
    assert "no files written" not in run("gt.txt det.txt --objects objects.csv")[1]
    assert Path("objects.csv").exists()


def test_a_gate_that_can_pass_is_none_of_these() -> None:
    status, printed = run("gt.txt det.txt --protocol iou --fail-if hmean<0.5")
    assert (status, "Gate passed" in printed) == (0, True)
