"""Boards: how they are read, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("gt.txt", "a.txt", "b.txt"):
        (tmp_path / name).touch()
    return tmp_path


def read(folder: Path, text: str) -> board.Board:
    path = folder / "board.toml"
    path.write_text(text, encoding="utf-8")
    return board.read(path)


def test_paths_are_relative_to_the_board(folder: Path) -> None:
    found = read(folder, WHOLE)
    (dataset,) = found.datasets
    assert dataset.gt == folder / "gt.txt"
    assert dataset.detections == {"A": folder / "a.txt", "B": folder / "b.txt"}
    assert sorted(found.files) == [folder / name for name in ("a.txt", "b.txt", "gt.txt")]
    assert dataset.options.invalid == "drop"
    assert dataset.options.min_confidence == 0.5
    assert list(dataset.parameters) == ["iou", "evaltex"]
    assert dataset.parameters["iou"].iou == 0.7
    assert (found.settings.level, found.settings.resamples, found.settings.seed) == (0.9, 50, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (WHOLE, "", "missing required field `datasets`"),
        ("level = 0.9", "level = 1", "Expected `float` < 1.0 - at `$.level`"),
        ("level = 0.9", "seeds = 1", "unknown field `seeds`"),
        ('"IoU"', '"tio"', "unknown protocol 'tio' (did you mean 'tiou'?)"),
        ('gt = "gt.txt"', "", "datasets.one: `gt` is missing"),
        ('gt = "gt.txt"', 'gtt = "gt.txt"', "Object contains unknown field `gtt`"),
        ('"gt.txt"', '"no.txt"', "no.txt - at `$.datasets[...].gt`"),
        ('"drop"', '"wrong"', "datasets.one: invalid polygons: 'wrong'; expected one of repair"),
        ("iou.iou=0.7", "tiou.mode=1", "datasets.one: --set tiou.mode=1: tiou is not a protocol"),
        ('one = "b.txt"', 'one = "c.txt"', "c.txt - at `$.detectors[...][...]`"),
        ('[detectors.B]\none = "b.txt"', "", "datasets.one: fewer than two detectors"),
        (
            "[detectors.B]\n",
            '[detectors.C]\non = "a.txt"\n[detectors.B]\n',
            "unknown data set 'on' (did you mean 'one'?)",
        ),
        ("[datasets.one]", "[datasets.one", "line 5"),
    ],
)
def test_a_fault_names_its_key(folder: Path, old: str, new: str, message: str) -> None:
    assert WHOLE.count(old) == 1
    with pytest.raises(ConfigError) as error:
        read(folder, WHOLE.replace(old, new))
    assert str(error.value).startswith(f"{folder / 'board.toml'}: ")
    assert message in str(error.value)


def test_a_detector_may_be_without_a_data_set(folder: Path) -> None:
    more = WHOLE + '[detectors.C]\ntwo = "a.txt"\n[datasets.two]\ngt = "gt.txt"\n'
    found = read(folder, more.replace("[detectors.B]\n", '[detectors.B]\ntwo = "b.txt"\n'))
    assert [list(one.detections) for one in found.datasets] == [["A", "B"], ["B", "C"]]
