"""Two OCR engines on drawn pictures, by the commands of docs/engines.md; the
drawing alone where they are missing.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli import evaluate
from evaltex_cli.cli import main

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "engines" / "run.py"
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^evaltex (.*)$", PAGE, re.MULTILINE)
MISSING = [name for name in ("rapidocr", "onnxruntime") if importlib.util.find_spec(name) is None]
MISSING += [] if shutil.which("tesseract") else ["tesseract"]


def run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def hmean(gt: str, det: str, protocol: str, level: str | None = None) -> float:
    return evaluate(Path("engines", gt), Path("engines", det), protocol, det_level=level).scores[
        "hmean"
    ]


def test_pictures_with_known_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes each time; lines are the regions of the words."""
    monkeypatch.chdir(tmp_path)
    for folder in ("engines", "again"):
        run(folder, "--only", "pictures", "--pictures", "3")
    names = [f"pictures/page{k:02d}.png" for k in (1, 2, 3)]
    for name in ("words.txt", "lines.txt", *names):
        assert Path("engines", name).read_bytes() == Path("again", name).read_bytes()
    text = Path("engines/words.txt").read_text(encoding="utf-8")
    regions = {(page, line.split(",")[1]) for page, part in pages(text) for line in part}
    lines = [
        line
        for _, part in pages(Path("engines/lines.txt").read_text(encoding="utf-8"))
        for line in part
    ]
    assert len(regions) == len(lines)


def pages(text: str) -> list[tuple[str, list[str]]]:
    """The name and the objects' lines of each image."""
    return [(part.split("\n")[0], part.strip().split("\n")[2:]) for part in text.split("\n\n")]


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_engines_are_scored_compared_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of the page end well, and its statements about units hold on three pictures."""
    monkeypatch.chdir(tmp_path)
    run("engines", "--pictures", "3")
    assert len(COMMANDS) == 4
    for command in COMMANDS:
        done = CliRunner().invoke(main, shlex.split(command))
        assert done.exit_code == 0, done.output
    assert json.loads(Path("results/tesseract/cleval.json").read_text())["scores"]["recall"] > 0.9
    assert Path("results/rapidocr/report.html").stat().st_size > 10_000
    assert hmean("words.txt", "rapidocr", "iou") < 0.1
    assert hmean("lines.txt", "rapidocr", "iou") > 0.9
    assert min(hmean("words.txt", "rapidocr", name) for name in ("tedeval", "icdar2013")) > 0.9
    assert hmean("lines.txt", "tesseract", "iou", "line") > 0.9
