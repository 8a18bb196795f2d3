"""No command writes over what it reads: every command with every pair of an input and an output."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import invoke as run
from every_command import GT, INPUTS, WRITTEN, command, inputs_of, line, parameters, simple, tree
from forked import Server

from evaltex_cli.cli import COMMANDS, EVALUATE
from evaltex_cli.cli.paths import (
    ConfigFile,
    Input,
    OutputFile,
    OutputFolder,
    PictureFolder,
)

pytestmark = pytest.mark.usefixtures("prepared_here")

WRITTEN_BY = {"sweep": {"res_dir": "sweep.json"}}
"""Of a command that writes others."""
PAIRS = [
    (name, str(written.name), str(read.name))
    for name in (EVALUATE, *COMMANDS)
    for written in parameters(name, OutputFile, OutputFolder)
    for read in parameters(name, Input, PictureFolder)
    if INPUTS[str(read.name)]
]
REASONS = ["input of this command", "is a baseline", "stands where a result belongs", "is in both"]
REASONS += ["is an evaluation's result"]
KINDS = ["itself", "its symbolic link", "its hard link", "what it links to"]


@pytest.mark.parametrize("name", [EVALUATE, *COMMANDS])
def test_every_path_says_what_it_is_for(name: str) -> None:
    """A new option is of one of these types, so what follows tries it."""
    paths = [
        param for param in command(name).params if isinstance(param.type, click.Path | click.File)
    ]
    known = parameters(name, Input, PictureFolder, OutputFile, OutputFolder)
    assert [param.name for param in paths] == [param.name for param in known]
    has_outputs = bool(parameters(name, OutputFile, OutputFolder))
    assert has_outputs == any("--force" in param.opts for param in command(name).params)


def targets(name: str, read: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Paths that are, or are linked to, the input of an option; and what the
    option is to be then.
    """
    values = list(inputs_of(name)[read])
    for k, value in enumerate(values):
        file = (
            next(path for path in sorted(Path(value).rglob("*")) if path.is_file())
            if Path(value).is_dir()
            else None
        )
        of_result = value == "old"
        source = Path("old/evaltex.json") if of_result else file or Path(value)
        other = source.with_name(f"{k}{source.name}")
        given = list(values)
        if kind == "itself":
            other = source
        elif kind == "its symbolic link":
            other.symlink_to(source.absolute())
        elif kind == "its hard link":
            other.hardlink_to(source)
        else:
            if file is not None:
                continue
            source.rename(other)
            source.symlink_to(other.absolute())
        if kind != "itself":
            outside = Path(f"outside-{k}{source.suffix}")
            other.rename(outside) if kind != "what it links to" else outside.hardlink_to(other)
            other = outside
        yield str(other), {read: given}


@pytest.mark.few_fast(80)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "--force"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "written", "read"), PAIRS)
def test_no_input_is_written_over(
    here: Path, name: str, written: str, read: str, kind: str, force: list[str]
) -> None:
    for target, values in list(targets(name, read, kind)):
        if written in WRITTEN:
            file = WRITTEN_BY.get(name, WRITTEN)[written]
            if file == "img_1.tif" and read == "images":
                continue
            values[written] = "into"
            place = Path("into", file)
            place.parent.mkdir(exist_ok=True)
            place.unlink(missing_ok=True)
            place.hardlink_to(target)
        else:
            values[written] = target
        before = tree(here)
        result = run(*line(name, values), *force)
        assert result.exit_code == 2, (result.output, values)
        assert "internal error" not in result.stderr
        assert any(reason in result.stderr for reason in REASONS), result.stderr
        assert tree(here) == before


def test_nothing_is_written_into_a_folder_that_is_read_as_a_whole(here: Path) -> None:
    """The next run would read it."""
    Path("words").mkdir()
    Path("words/gt_img_1.txt").write_text("1,2,3,4,a\n")
    Path("parts").mkdir()
    Path("parts/gt-1.txt").write_text(GT)
    Path("link").symlink_to("parts")
    Path("dangling").symlink_to("parts/gt-3.txt")
    Path("to-old").symlink_to("words/gt_img_1.txt")
    Path("to-new").symlink_to("words/gt_img_2.txt")
    before = tree(here)
    for arguments, message in (
        (["words", "words", "words"], "words: is an input"),
        (["words", "words", "words/res"], "words/res: is in words, an input"),
        (
            ["validate", "words", "--output", "words/new.txt"],
            "words/new.txt: is in words, an input",
        ),
        (["validate", "words", "--output", "to-old"], "to-old: is in words, an input"),
        (["validate", "words", "--output", "to-new"], "to-new: is in words, an input"),
        (
            ["convert", "words", "new.txt", "--kind", "gt", "--masks", "words/new"],
            "words/new: is in words, an input",
        ),
        (["toys", "words", "words/toys"], "words/toys: is in words, an input"),
        *(
            (["validate", pattern, "--output", output], f"matches {pattern}, an input")
            for pattern in ("parts/gt-*.txt", "link/gt-*.txt", "p*/gt-*.txt", "**/gt-?.txt")
            for output in ("parts/gt-2.txt", "./parts/../link/gt-2.txt", "dangling")
        ),
    ):
        found = run(*arguments, "--force")
        assert found.exit_code == 2
        assert message in found.stderr
    assert tree(here) == before


def test_an_output_in_very_many_folders_is_an_output_as_any() -> None:
    """None of them is made here: pytest could not remove so many."""
    found = run("validate", "gt.txt", "--output", Path(*["d"] * 1500, "problems.txt"))
    assert found.exit_code == 2
    assert "cannot be written (No such file or directory" in found.stderr


def test_pictures_stay_though_results_may_be_among_them(here: Path) -> None:
    command = ["validate", "gt.txt", "--images", ".", "--format", "json", "--output"]
    assert run(*command, "new.json").exit_code == 0
    assert run(*command, "new.json").exit_code == 0
    Path("img_1.png").write_bytes(b"a picture")
    assert "is in ., an input" in run(*command, "img_1.png", "--force").stderr
    assert Path("img_1.png").read_bytes() == b"a picture"


def test_a_folder_of_results_with_other_documents_stays_usable() -> None:
    for k in range(2):
        found = run("validate", "gt.txt", "--format", "json", "--output", "old/validation.json")
        assert found.exit_code == 0
        assert run("report", "old").exit_code == 0, k
        assert run("merge", "old", f"merged{k}").exit_code == 0
        assert (
            run(
                "gt.txt", "det.txt", "new", "--baseline", "old", "--fail-if", "recall:-1%"
            ).exit_code
            == 0
        )
    assert json.loads(Path("old/validation.json").read_text())["kind"] == "validation"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fifo", "device", "link to itself"])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        (name, str(param.name))
        for name in (EVALUATE, *COMMANDS)
        for param in parameters(name, Input)
        if INPUTS[str(param.name)]
    ],
)
def test_a_pipe_or_loop_is_refused(server: Server, name: str, read: str, kind: str) -> None:
    """None waits for a writer or reads without end."""
    place, fault = "/dev/zero", ": is a "
    if kind == "fifo":
        os.mkfifo("pipe")
        place = "pipe"
    elif kind == "link to itself":
        Path("loop").symlink_to("loop")
        place, fault = "loop", ""
    baselines = ["swept" if name == "sweep" else "old"]
    for k in range(len(INPUTS[read])):
        Path("new.out").unlink(missing_ok=True)
        given = list(INPUTS[read])
        given[k] = place
        arguments = line(
            name,
            {read: given, "gt_img_dir": [], "det_img_dir": [], "baselines": baselines}
            | {read: given},
        )
        if name in (EVALUATE, "sweep"):
            arguments += ["--fail-if", "recall:-1%" if name == EVALUATE else "sweep.recall:-1%"]
        found = server.run(*arguments)
        assert found.status == 2 and "internal error" not in found.said, found.said
        is_listed = name == "validate" and read != "only"
        reported = Path("new.out").read_text() if is_listed else found.said
        assert f"{place}{fault}" in " ".join(reported.split())


@pytest.mark.parametrize(
    "name", [name for name in (EVALUATE, *COMMANDS) if parameters(name, ConfigFile)]
)
def test_the_parameter_file_that_is_found_is_an_input(here: Path, name: str) -> None:
    Path("evaltex.ini").write_text("; mine\n")
    before = tree(here)
    for option in parameters(name, OutputFile):
        found = run(*simple(name, option, "evaltex.ini"), "--force")
        assert found.exit_code == 2
        assert "evaltex.ini: is an input of this command" in found.stderr
    assert tree(here) == before


def test_what_a_board_names_is_an_input(here: Path) -> None:
    Path("page.html").write_text("<html>")
    board = """[datasets.a]
gt = "gt.txt"
config = "my.ini"
only = "names.txt"
images = "."
[detectors.A]
a = "det.txt"
[detectors.B]
a = "det2.txt"
[reports.A]
a = "page.html"
"""
    Path("board.toml").write_text(board)
    before = tree(here)
    for name in (
        *("gt.txt", "my.ini", "names.txt", "det.txt", "det2.txt"),
        *("page.html", "board.toml"),
    ):
        for option in ("--output", "--report"):
            found = run("rank", "board.toml", option, name, "--force")
            assert found.exit_code == 2, name
            assert "an input of this command" in found.stderr
    assert tree(here) == before
    found = run("rank", "board.toml", "--output", "new.txt")
    assert found.exit_code == 0, found.stderr
