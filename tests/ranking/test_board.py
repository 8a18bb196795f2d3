"""Boards: how they are read, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli.cli import rank as command
from evaltex_cli.errors import ConfigError
from evaltex_cli.ranking import board

WHOLE = """
protocols = ["IoU", "evaltex"]
level = 0.9
resamples = 50
[datasets.one]
gt = "gt.txt"
invalid = "drop"
min_confidence = 0.5
set = ["iou.iou=0.7"]
[detectors.A]
one = "a.txt"
[detectors.B]
one = "b.txt"
[reports.A]
one = "a.html"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("gt.txt", "a.txt", "b.txt", "a.html"):
        (tmp_path / name).touch()
    return tmp_path


def read(folder: Path, text: str) -> board.Board:
    path = folder / "board.toml"
    path.write_text(text, encoding="utf-8")
    return board.read(path)


def fault(folder: Path, text: str) -> str:
    """What is wrong with a board, after the path of the file."""
    with pytest.raises(ConfigError) as error:
        read(folder, text)
    start = f"{folder / 'board.toml'}: "
    assert all(line.startswith(start) for line in str(error.value).splitlines())
    return str(error.value).replace(start, "")


def test_paths_are_relative_to_the_board(folder: Path) -> None:
    found = read(folder, WHOLE)
    (dataset,) = found.datasets
    assert dataset.gt == folder / "gt.txt"
    assert dataset.detections == {"A": folder / "a.txt", "B": folder / "b.txt"}
    assert found.reports == {("one", "A"): folder / "a.html"}
    assert dataset.options.invalid == "drop"
    assert dataset.options.min_confidence == 0.5
    assert list(dataset.parameters) == ["iou", "evaltex"]
    assert dataset.parameters["iou"].iou == 0.7
    assert (found.settings.level, found.settings.resamples, found.settings.seed) == (0.9, 50, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (WHOLE, "", "missing required field `datasets`"),
        ("level = 0.9", "level = nan", "at `$.level`"),
        ("level = 0.9", "level = 1", "Expected `float` < 1.0 - at `$.level`"),
        ("level = 0.9", "seeds = 1", "unknown field `seeds`"),
        ("resamples = 50", "resamples = true", "Expected `int`, got `bool` - at `$.resamples`"),
        ("resamples = 50", "seed = -1", "Expected `int` >= 0 - at `$.seed`"),
        ("resamples = 50", 'correction = "x"', "Invalid enum value 'x' - at `$.correction`"),
        ('["IoU", "evaltex"]', "3", "at `$.protocols`"),
        ('"IoU"', '"tio"', "protocols: unknown protocol 'tio' (did you mean 'tiou'?)"),
        (
            '"IoU"',
            '"rects"',
            "protocols: 'rects' is a preset, not a protocol; it stands for --protocol iou",
        ),
        ('gt = "gt.txt"', "", "datasets.one: `gt` is missing"),
        ('gt = "gt.txt"', 'gtt = "gt.txt"', "datasets.one: Object contains unknown field `gtt`"),
        ('"gt.txt"', '""', "datasets.one: Expected `str` of length >= 1 - at `$.gt`"),
        ('"gt.txt"', '"no.txt"', "datasets.one: gt = 'no.txt'; there is no "),
        ('"drop"', '"wrong"', "datasets.one: invalid polygons: 'wrong'; expected one of repair"),
        ("0.5", "5", "datasets.one: least confidence 5.0; expected a number from 0 to 1"),
        ("iou.iou=0.7", "x", "datasets.one: --set x: expected [PROTOCOL.]"),
        ('one = "b.txt"', 'one = "c.txt"', "detectors.B: one = 'c.txt'; there is no "),
        ('one = "b.txt"', 'on = "b.txt"', "detectors.B: unknown data set 'on'"),
        ("[reports.A]", "[reports.C]", "reports: unknown detector 'C'"),
        ("[datasets.one]", "[datasets.one", "is not TOML"),
    ],
)
def test_a_fault_names_its_key(folder: Path, old: str, new: str, message: str) -> None:
    assert WHOLE.count(old) == 1
    assert message in fault(folder, WHOLE.replace(old, new))


@pytest.mark.parametrize("content", [b"\xff", b"a = " + b"[" * 100_000, b"seed = " + b"9" * 5000])
def test_what_is_not_toml_is_refused(folder: Path, content: bytes) -> None:
    path = folder / "board.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is not TOML"):
        board.read(path)


def test_a_detector_may_be_without_a_data_set_if_the_board_says_so(folder: Path) -> None:
    more = WHOLE + '[detectors.C]\ntwo = "a.txt"\n[datasets.two]\ngt = "gt.txt"\n'
    more = more.replace("[detectors.B]\n", '[detectors.B]\ntwo = "b.txt"\n')
    assert [line.partition(";")[0] for line in fault(folder, more).splitlines()] == [
        "detectors.A: no detections for two",
        "detectors.C: no detections for one",
    ]
    found = read(folder, "allow_missing = true\n" + more)
    assert [list(one.detections) for one in found.datasets] == [["A", "B"], ["B", "C"]]
    assert found.detectors == ["A", "B", "C"]


def test_the_command_knows_the_corrections() -> None:
    assert command.CORRECTIONS == board.CORRECTIONS
