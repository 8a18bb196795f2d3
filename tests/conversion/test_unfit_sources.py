"""Sources that a target cannot have: their names, their files, and the source itself as its target."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from written_files import in_folder

from evaltex_cli.cli import main
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import InputError


@pytest.mark.parametrize("name", ["1,2,3,4,5", " 960"])
def test_names_that_an_evaltex_file_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / "gt"
    source.mkdir()
    (source / f"{name}.txt").write_text("1,2,30,40,word\n")
    with pytest.raises(InputError, match="rename the file"):
        convert(source, tmp_path / "out.txt", "gt")
    assert not (tmp_path / "out.txt").exists()


def test_the_source_is_never_its_own_target(tmp_path: Path) -> None:
    source = in_folder(tmp_path / "gt", {"1.txt": "0,0,9,9,word\n"})
    text = tmp_path / "gt.txt"
    convert(source, text, "gt")
    before = text.read_bytes()
    for target in (text, tmp_path / "gt" / ".." / "gt.txt"):
        with pytest.raises(InputError, match="is the source itself"):
            convert(text, target, "gt")
    with pytest.raises(InputError, match="is the source itself, or in it"):
        convert(source, source / "1.txt", "gt")
    assert text.read_bytes() == before


QUAD = {"points": [[1, 2], [30, 2], [30, 40], [1, 40]], "illegibility": False, "language": "Latin"}
UNFIT = {
    "surrogate": ("a\ud800b", ["not Unicode", "image name 'a\\ud800b'"]),
    "no character": ("a\uffffb", ["not Unicode"]),
    "long surrogate": ("\ud800" + "x" * 5000, ["more than 4096 bytes"]),
    "long": ("x" * 100_000, ["more than 4096 bytes"]),
    "a little too long": ("é" * 127, ["at most 255"]),
    "above": ("../up", ["'..'"]),
    "absolute": ("/abs", ["absolute path"]),
    "zero": ("a\0b", ["control character"]),
}


@pytest.mark.parametrize(("name", "messages"), UNFIT.values(), ids=UNFIT)
@pytest.mark.parametrize("target", ["o.txt", "o.zip", "o.json", "o.txt --masks masks"])
def test_names_that_a_target_cannot_have_are_faults_with_their_place(
    name: str, messages: list[str], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.json").write_text(json.dumps({name: [QUAD | {"transcription": "a"}]}, indent=0))
    result = CliRunner().invoke(main, ["convert", "gt.json", *target.split(), "--kind", "gt"])
    if name == "é" * 127 and target in ("o.txt", "o.json"):
        assert result.exit_code == 0
        return
    assert result.exit_code == 2
    assert "internal error" not in result.stderr
    lines = result.stderr.splitlines()
    assert all(line.startswith("evaltex: error: gt.json") for line in lines), lines
    assert any(message in result.stderr for message in messages)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gt.json"]


@pytest.mark.parametrize("target", ["o.txt", "o.zip", "o.json"])
def test_names_of_files_that_are_not_unicode_are_faults(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt").mkdir()
    try:
        Path("gt/gt_im\udcffg.txt").write_text("1,2,30,2,30,40,1,40,a\n")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes no such name")
    result = CliRunner().invoke(main, ["convert", "gt", target, "--kind", "gt"])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "gt/gt_im\\udcffg.txt: entry name" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gt"]


def test_label_pictures_of_one_file_are_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = '50,50\n1,1,"a",f,1,2,30,40\n'
    for names, message in (
        (
            ["a", "a.tif"],
            "gt.txt:4: image name 'a.tif' makes the file 'a.tif', which is that of image 'a'",
        ),
        (
            ["a", "a.tif/b"],
            "gt.txt:1: image name 'a' makes the file 'a.tif', which is a folder of image 'a.tif/b",
        ),
    ):
        Path("gt.txt").write_text("".join(f"{name}\n{line}" for name in names))
        result = CliRunner().invoke(
            main, ["convert", "gt.txt", "o.txt", "--kind", "gt", "--masks", "masks"]
        )
        assert result.exit_code == 2
        assert message in result.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == ["gt.txt"]


def test_a_pipe_among_pictures_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text('img_1\n50,50\n1,1,"a",f,1,2,30,40\n')
    Path("pictures").mkdir()
    os.mkfifo("pictures/img_1.png")
    assert CliRunner().invoke(main, ["validate", "gt.txt", "--images", "pictures"]).exit_code == 0


def test_a_toy_archive_has_no_entry_that_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.json").write_text(json.dumps({"x" * 4000: [QUAD | {"transcription": "a"}]}))
    result = CliRunner().invoke(
        main, ["toys", "gt.json", "toys", "--layout", "zip", "--recipe", "orig"]
    )
    assert result.exit_code == 2
    assert "makes a file name of 4008 bytes; expected at most 255" in result.stderr
    assert not Path("toys").exists()
