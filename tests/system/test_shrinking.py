"""The experiment of EvaLTex's Fig. 14: examples/shrinking.py and docs/protocols/README.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LABELS = ("EvaLTex", "DetEval", "relaxed", "AUC")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Share -> label -> (recall, precision), as the script prints them; and
    the folder of its plots.
    """
    folder = tmp_path_factory.mktemp("plots")
    command = [sys.executable, str(ROOT / "examples" / "shrinking.py"), str(folder)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in printed.splitlines()[1:]:
        share, *numbers = map(float, re.findall(r"[\d.]+", line))
        rows[share] = dict(zip(LABELS, zip(numbers[::2], numbers[1::2], strict=True), strict=True))
    return rows, folder


def test_the_page_shows_what_the_script_prints(measured):
    rows, folder = measured
    page = (ROOT / "docs" / "protocols" / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^(\d\.\d\d)  +(.+)$", page, re.MULTILINE)
    assert len(shown) >= 5
    for share, cells in shown:
        pairs = [tuple(map(float, cell.split(" / "))) for cell in re.split("  +", cells)]
        assert dict(zip(LABELS, pairs, strict=True)) == rows[float(share)]
    drawn = (folder / "shrinking-recall.svg").read_bytes()
    assert drawn == (ROOT / "docs" / "images" / "shrinking-recall.svg").read_bytes()
