"""Boards: what is wrong with one is in one message."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli.cli import rank as command
from evaltex_cli.errors import ConfigError
from evaltex_cli.ranking import board, board_file

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
    return board_file.read(path)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        read(folder, text)
    start = f"{folder / 'board.toml'}: "
    lines = str(error.value).splitlines()
    assert all(line.startswith(start) for line in lines)
    return [line.removeprefix(start) for line in lines]


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


def test_all_faults_are_in_one_message(folder: Path) -> None:
    text = WHOLE.replace("level = 0.9", "level = 95\nseeds = 1").replace('"b.txt"', '"c.txt"')
    text = text.replace('"IoU"', '"tio"').replace('invalid = "drop"', 'invalid = "wrong"')
    found = faults(folder, text + 'two = "a.html"\n')
    assert found == [
        "the board: level = 95; expected a number between 0 and 1",
        "the board: unknown key 'seeds' (did you mean 'seed'?); expected one of protocols, level,"
        " resamples, seed, correction, pooled, allow_missing, datasets, detectors, reports",
        "reports.A: no data set 'two'; expected one",
        "protocols: unknown protocol 'tio' (did you mean 'tiou'?); expected "
        + ", ".join(board_file.PROTOCOLS),
        "datasets.one: invalid = 'wrong'; expected one of repair, drop, skip, error",
        f"detectors.B: one = 'c.txt'; there is no {folder / 'c.txt'}",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["no datasets; expected tables [datasets.NAME]"]),
        ("protocols = 3", ["the board: protocols = 3; expected names"]),
        ("level = nan", ["the board: level = nan; expected a number between 0 and 1"]),
        ("level = 1", ["the board: level = 1; expected a number between 0 and 1"]),
        ("level = true", ["the board: level = true; expected a number between 0 and 1"]),
        ("resamples = 0", ["the board: resamples = 0; expected a whole number from 1 to 1000000"]),
        (
            "resamples = 9.5",
            ["the board: resamples = 9.5; expected a whole number from 1 to 1000000"],
        ),
        (
            "resamples = true",
            ["the board: resamples = true; expected a whole number from 1 to 1000000"],
        ),
        ("resamples = 1000001", ["the board: resamples = 1000001; expected a whole number from 1"]),
        (
            "seed = 0x1" + "0" * 9999,
            ["the board: seed = a number of thousands of digits; expected"],
        ),
        ("seed = 'a'", ["the board: seed = 'a'; expected a whole number from 0 on"]),
        ("seed = -1", ["the board: seed = -1; expected a whole number from 0 on"]),
        ("datasets = 1", ["the board: datasets = 1; expected tables [datasets.NAME]"]),
        ("[datasets]\none = 1", ["datasets: 'one' = 1; expected a table [datasets.NAME]"]),
        ("[datasets.one]", ["datasets.one: no gt; expected the path of the ground truth"]),
        ("[datasets.one]\ngt_format = ['iou']", ["datasets.one: gt_format = ['iou']; expected"]),
        ("[datasets.one]\ninvalid = {}", ["datasets.one: invalid = {}; expected one of"]),
        (
            '[datasets.one]\nonly = "gt\\u0000"\ngt = "gt.txt"',
            ["datasets.one: only = 'gt\\x00'; there is no"],
        ),
        ('[datasets.one]\ngt = ""', ["datasets.one: gt = ''; expected a path"]),
        (
            "[datasets.one]\nset = ['x']\ngt='gt.txt'",
            ["datasets.one: --set x: expected [PROTOCOL.]"],
        ),
        ("[detectors.A]\none = 3", ["detectors.A: no data set 'one'"]),
        ("[reports.A]", ["reports: no detector 'A'"]),
    ],
)
def test_a_fault_has_its_place(folder: Path, text: str, expected: list[str]) -> None:
    found = faults(folder, text)
    for one in expected:
        assert any(fault.startswith(one) for fault in found), found


@pytest.mark.parametrize("part", ["a", "'a.b'", '"\\""', '"a" '])
@pytest.mark.parametrize("line", ["{}=1", "[{}]", "a={{{}=1}}"])
def test_a_key_of_very_many_parts_is_refused(folder: Path, part: str, line: str) -> None:
    """The parser takes time with the square of them."""
    path = folder / "board.toml"
    for count, expected in ((102, "of more than 100 parts"), (101, "unknown key")):
        path.write_text(line.format(".".join([part] * count)))
        with pytest.raises(ConfigError, match=expected):
            board_file.read(path)


@pytest.mark.parametrize(
    "form", ["b{}.a.a.a.a.a.a.a.a=1\n", "[b{}]\n", "b{}=1\n", "b{}=[[],{{}}]\n"], ids=repr
)
def test_very_many_keys_are_refused(folder: Path, form: str) -> None:
    """The parser takes 1 kB for a part of one, and what is said of each more."""
    path = folder / "board.toml"
    path.write_text("".join(map(form.format, range(10_001))))
    with pytest.raises(ConfigError, match="has more than 10000 keys"):
        board_file.read(path)


@pytest.mark.parametrize(
    "text",
    [
        '"{}"',
        "'{}'",
        '"\\"{}"',
        '"""\n{}"""',
        '"""\\"""{}"""',
        "'''\n{}'''",
        "[] # {}",
        '["\'", "{}", "\'"]',
    ],
)
def test_dots_and_brackets_of_texts_and_comments_are_no_keys(folder: Path, text: str) -> None:
    path = folder / "board.toml"
    path.write_text(f"x = {text.format('a.[{=' * 10_001)}\n")
    with pytest.raises(ConfigError, match="unknown key 'x'"):
        board_file.read(path)


@pytest.mark.parametrize("line", ['\\"""\n', '\\"', "'''\\\n", "'\n"], ids=repr)
def test_texts_without_end_are_looked_at_once(folder: Path, line: str) -> None:
    """Else these would take hours."""
    path = folder / "board.toml"
    path.write_text('"""\n' + line * 200_000)
    with pytest.raises(ConfigError, match="expected a board"):
        board_file.read(path)


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"[", b"a = " + b"[" * 100_000, b" " * (1 << 20) + b"a", b"seed = " + b"9" * 5000],
)
def test_what_is_no_toml_is_refused(folder: Path, content: bytes) -> None:
    path = folder / "board.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="expected a board"):
        board_file.read(path)


def test_a_detector_may_lack_a_data_set_if_the_board_says_so(folder: Path) -> None:
    more = WHOLE + '[detectors.C]\ntwo = "a.txt"\n[datasets.two]\ngt = "gt.txt"\n'
    more = more.replace("[detectors.B]\n", '[detectors.B]\ntwo = "b.txt"\n')
    assert [fault.partition(";")[0] for fault in faults(folder, more)] == [
        "detectors.A: no detections of two",
        "detectors.C: no detections of one",
    ]
    found = read(folder, "allow_missing = true\n" + more)
    assert [list(one.detections) for one in found.datasets] == [["A", "B"], ["B", "C"]]
    assert found.detectors == ["A", "B", "C"]


def test_the_command_knows_the_corrections() -> None:
    assert command.CORRECTIONS == board.CORRECTIONS
