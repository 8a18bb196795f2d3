"""What terminals, pipes and files get of what is printed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli_inputs import shell, write_inputs
from command_line import tree
from limits import HANG_SECONDS

names_of_any_bytes = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux takes any bytes as the name of a file"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


def in_terminal(*arguments: str, after_seconds: float) -> str:
    """What a terminal on stderr sees of a run that waits so long until it shows its progress."""
    code = (
        "from evaltex_cli.cli import main\nfrom evaltex_cli.runtime import progress\n"
        f"progress.AFTER_SECONDS = {after_seconds}\n"
        f"main({list(arguments)!r}, prog_name='evaltex')"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "TERM": "xterm", "COLUMNS": "80"}
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment,
        timeout=HANG_SECONDS,
        check=True,
    )
    os.write(theirs, b".")  # so that there is something to read
    seen = os.read(ours, 1 << 16).decode()
    os.close(theirs)
    os.close(ours)
    return seen.removesuffix(".")


@pytest.mark.slow
def test_a_terminal_shows_the_progress_of_work_of_some_length() -> None:
    assert "reading gt.txt" in in_terminal("gt.txt", "det.txt", "res", after_seconds=-1)
    assert in_terminal("gt.txt", "det.txt", "res", after_seconds=HANG_SECONDS) == ""
    assert in_terminal("gt.txt", "det.txt", "res", "--quiet", after_seconds=-1) == ""


@pytest.mark.slow
def test_a_closed_pipe_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = shell(
        "gt.txt", "det.txt", "res", capture_output=False, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, "")
    assert list(tree(Path("res"))) == ["evaltex.json", "evaltex.txt", "scores.csv", "scores.json"]


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs /dev/full, the file of Linux that is always full"
)
def test_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        result = shell(
            "gt.txt", "det.txt", "res", capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert result.returncode == 2
    assert " ".join(result.stderr.split()) == (
        "evaltex: error: cannot write to standard output or a file (No space left on device); check"
        " where the output goes"
    )


@pytest.mark.slow
@names_of_any_bytes
def test_names_of_files_that_are_not_unicode() -> None:
    odd = os.fsdecode(b"gt\xff.txt")
    Path("gt.txt").rename(odd)
    for encoding in ("utf-8:strict", "ascii:strict"):
        os.environ["PYTHONIOENCODING"] = encoding
        try:
            result = shell(odd, "det.txt", os.fsdecode(b"res\xff\xc3\xa9"))
        finally:
            del os.environ["PYTHONIOENCODING"]
        assert (result.returncode, result.stderr) == (0, "")
        assert "Results: res" in result.stdout
    assert (
        json.loads(Path(os.fsdecode(b"res\xff\xc3\xa9"), "evaltex.json").read_bytes())["inputs"][
            "gt"
        ]["file"]
        == "gt?.txt"
    )
