"""Where commands write: complete or nothing, never over an input, over files of others by force."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import invoke as run
from every_command import (
    DET,
    GT,
    INPUTS,
    SIMPLE,
    WRITTEN,
    command,
    inputs_of,
    line,
    parameters,
    simple,
    tree,
)

import evaltex_cli
from evaltex_cli.cli import COMMANDS, EVALUATE
from evaltex_cli.cli.paths import Input, OutputFile, OutputFolder, PictureFolder
from evaltex_cli.conversion import FILE_PER_IMAGE, WRITERS
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import evaluate as evaluation

pytestmark = pytest.mark.usefixtures("prepared_here")

NAMES = (EVALUATE, *COMMANDS)
FILES = [(name, param) for name in NAMES for param in parameters(name, OutputFile)]
PAIRS = [
    (name, str(written.name), str(read.name))
    for name in NAMES
    for written in parameters(name, OutputFile, OutputFolder)
    for read in parameters(name, Input, PictureFolder)
    if INPUTS[str(read.name)]
]
REASONS = (
    "input of this command",
    "already exists",
    "is an evaluation's result",
    "is in both",
    "its ending",
)
each_file = pytest.mark.parametrize(
    ("name", "option"), FILES, ids=lambda value: getattr(value, "name", value)
)


def refused(*arguments: object) -> str:
    """Run a command that has to fail and to change nothing; return its message in one line."""
    before = tree(Path())
    found = run(*arguments)
    assert found.exit_code == 2, (arguments, found.output)
    assert "internal error" not in found.stderr
    assert tree(Path()) == before, arguments
    assert not list(Path().rglob(".evaltex-*"))
    return " ".join(found.stderr.split())


# What may be replaced -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_path_is_an_input_or_an_output(name: str) -> None:
    """A new option has one of these types, so the tests below try it."""
    paths = [
        param for param in command(name).params if isinstance(param.type, click.Path | click.File)
    ]
    known = parameters(name, Input, PictureFolder, OutputFile, OutputFolder)
    assert [param.name for param in paths] == [param.name for param in known]
    has_outputs = bool(parameters(name, OutputFile, OutputFolder))
    assert has_outputs == any("--force" in param.opts for param in command(name).params)


@pytest.mark.few_fast(3)
@each_file
def test_only_own_outputs_are_replaced_without_force(name: str, option: click.Parameter) -> None:
    assert isinstance(option.type, OutputFile)
    Path("mine.txt").write_text("mine\n")
    assert "already exists" in refused(*simple(name, option, "mine.txt"))
    assert run(*simple(name, option, "mine.txt"), "--force").exit_code == 0
    assert Path("mine.txt").read_text() != "mine\n"
    types = [param.type for param in command(name).params if "--format" in param.opts]
    forms = [form for kind in types if isinstance(kind, click.Choice) for form in kind.choices]
    for form in forms if option.name == "output" and forms else [""]:
        again = [*simple(name, option, f"own{form}.txt"), *(["--format", form] if form else [])]
        for _ in range(2):
            found = run(*again)
            assert found.exit_code == 0, found.output
        for name_2, option_2 in FILES:
            assert isinstance(option_2.type, OutputFile)
            if name_2 != name and option_2.type.kind != option.type.kind:
                refused(*simple(name_2, option_2, f"own{form}.txt"))


@pytest.mark.parametrize("writer", WRITERS)
def test_a_conversion_replaces_what_it_has_marked(writer: str) -> None:
    """Text lines and JSON lists have no mark: they are replaced by the same bytes only."""
    ending = FILE_PER_IMAGE.get(writer)
    targets = ["new", "new.zip"] if ending else ["new.out"]
    Path("other.txt").write_text(GT.replace("10", "11"))
    for target in targets:
        to = [target, "--to", writer, "--kind", "gt"]
        has_mark = target == "new.zip" or writer not in ("evaltex", "paddleocr", "label-studio")
        has_mark &= ending != ".txt" or target == "new.zip"
        for _ in range(2):
            found = run("convert", "gt.txt", *to)
            assert found.exit_code == 0, found.output
        if has_mark:
            assert run("convert", "other.txt", *to).exit_code == 0
        else:
            assert "already exists" in refused("convert", "other.txt", *to)
            assert run("convert", "other.txt", *to, "--force").exit_code == 0


def test_a_patch_with_decisions_is_kept() -> None:
    command = ["audit", "gt.txt", "det.txt", "det2.txt", "--patch", "changes.json"]
    assert run(*command).exit_code == 0
    document = json.loads(Path("changes.json").read_text())
    document["suspects"] = [{"accept": True}]
    Path("changes.json").write_text(json.dumps(document))
    assert "accepted entries, which would be lost" in refused(*command)
    assert run(*command, "--force").exit_code == 0


# Inputs -------------------------------------------------------------------------------------------


@pytest.mark.few_fast(20)
@pytest.mark.parametrize("kind", ["itself", "symbolic link", "hard link"])
@pytest.mark.parametrize(("name", "written", "read"), PAIRS)
def test_no_input_is_written_over(name: str, written: str, read: str, kind: str) -> None:
    """Of an output folder, where a file of this name would be written."""
    values = inputs_of(name)[read]
    file = WRITTEN.get(written)
    if file and name == "sweep":
        file = "sweep.json"
    for k, value in enumerate(values):
        is_folder = Path(value).is_dir()
        source = Path("old/evaltex.json") if value == "old" else Path(value)
        source = next(source.iterdir()) if source.is_dir() else source
        if file is not None and (is_folder or name in ("convert", "toys")):
            continue  # a result folder may be in one of pictures, and replaces only its own files
        target = Path(f"into-{k}", file) if file else source.with_name(f"{k}{source.suffix}")
        target.parent.mkdir(exist_ok=True)
        if kind == "symbolic link":
            target.symlink_to(source.absolute())
        elif kind == "hard link":
            target.hardlink_to(source)
        elif file:
            shutil.copy(source, target)
            values = [str(target) if one == value else one for one in values]
        else:
            target = source
        given = {read: values, written: str(target.parent if file else target)}
        message = refused(*line(name, given), "--force")
        assert any(reason in message for reason in REASONS), message


def test_nothing_is_written_into_a_folder_that_is_read_as_a_whole() -> None:
    Path("words").mkdir()
    Path("words/gt_img_1.txt").write_text("1,2,3,4,a\n")
    Path("link").symlink_to("words")
    for arguments in (
        ["words", "words", "words"],
        ["words", "words", "words/res"],
        ["words", "words", "link/res"],
        ["validate", "words", "--output", "link/new.txt"],
        ["toys", "words", "words/toys"],
        ["convert", "words", "words/new.txt", "--kind", "gt"],
    ):
        assert "an input of this command" in refused(*arguments, "--force")


def test_inputs_inside_a_result_folder_stay() -> None:
    Path("here").mkdir()
    for name in ("gt.txt", "det.txt"):
        Path(name).rename(f"here/{name}")
    assert run("here/gt.txt", "here/det.txt", "here", "-a").exit_code == 0
    assert (Path("here/gt.txt").read_text(), Path("here/det.txt").read_text()) == (GT, DET)
    shutil.copy("here/gt.txt", "here/evaltex/img_1.txt")
    message = refused("here/evaltex/img_1.txt", "here/det.txt", "here", "-a", "--force")
    assert "here/evaltex/img_1.txt: is an input of this command" in message
    refused("here/evaltex/img_1.txt", "here/det.txt", "here")  # which would remove it


def test_pictures_stay_though_outputs_may_be_among_them() -> None:
    command = ["validate", "gt.txt", "--images", ".", "--format", "json", "--output"]
    for _ in range(2):
        assert run(*command, "new.json").exit_code == 0
    Path("img_1.png").write_bytes(b"a picture")
    assert "img_1.png: is an input" in refused(*command, "img_1.png", "--force")


def test_what_a_board_or_a_parameter_file_names_is_an_input() -> None:
    board = '[datasets.a]\ngt = "gt.txt"\nconfig = "my.ini"\nonly = "names.txt"\n'
    board += '[detectors.A]\na = "det.txt"\n[detectors.B]\na = "det2.txt"\n'
    Path("board.toml").write_text(board)
    for name in ("gt.txt", "my.ini", "names.txt", "det2.txt", "board.toml"):
        for option in ("--output", "--report"):
            found = refused("rank", "board.toml", option, name, "--force")
            assert "an input of this command" in found
    assert "evaltex.ini: is an input" in refused(*SIMPLE["diagnose"], "--output", "evaltex.ini")


def test_a_folder_of_results_with_other_documents_stays_usable() -> None:
    for k in range(2):
        found = run("validate", "gt.txt", "--format", "json", "--output", "old/validation.json")
        assert found.exit_code == 0
        assert run("report", "old").exit_code == 0
        assert run("merge", "old", f"merged{k}").exit_code == 0
        gate = ["--baseline", "old", "--fail-if", "recall:-1%"]
        assert run("gt.txt", "det.txt", "new", *gate).exit_code == 0
        assert "input of this command" in refused("gt.txt", "det.txt", "old", *gate)


# Result folders -----------------------------------------------------------------------------------


def test_a_run_replaces_the_files_of_the_run_before() -> None:
    """Those of its protocols, which scores.json lists; others stay."""
    shutil.rmtree("old")
    assert (
        run("gt.txt", "det.txt", "old", "-a", "--report", "--protocol", "evaltex,iou").exit_code
        == 0
    )
    Path("old/evaltex/mine.txt").write_text("mine")
    first = json.loads(Path("old/scores.json").read_text())["files"]
    assert "iou/img_2.txt" in first and "report.html" in first and "scores.json" in first
    Path("less.txt").write_text(GT.partition("img_2")[0])
    Path("found.txt").write_text(DET.partition("img_2")[0])
    assert run("less.txt", "found.txt", "old", "-a").exit_code == 0
    gone = {"evaltex/img_2.txt", "report.html"}
    now = {name.removeprefix("old/") for name in tree(Path("old"))}
    assert now == {*first} - gone | {"evaltex/mine.txt"}
    assert json.loads(Path("old/scores.json").read_text())["files"] == sorted({*first} - gone)
    assert run("less.txt", "found.txt", "old", "--protocol", "iou").exit_code == 0
    assert not Path("old/iou").exists()
    for name in ("gt.txt", "det.txt"):  # no image has the name that one had before
        Path(f"new-{name}").write_text(Path(name).read_text().replace("img_", "new_"))
    assert run("new-gt.txt", "new-det.txt", "old", "-a").exit_code == 0
    assert {path.name for path in Path("old/evaltex").iterdir()} == {
        "mine.txt",
        "new_1.txt",
        "new_2.txt",
    }
    Path("old/evaltex/mine.txt").unlink()
    assert run("gt.txt", "det.txt", "old", "-a").exit_code == 0
    assert {path.name for path in Path("old/evaltex").iterdir()} == {"img_1.txt", "img_2.txt"}


def test_a_list_of_files_removes_nothing_that_no_run_makes() -> None:
    Path("other").mkdir()
    Path("old/linked").symlink_to(Path("other").absolute())
    kept = ["gt.txt", "old/notes.md", "old/evaltex/a.csv", "other/x.txt", "old/mine/x.txt"]
    for name in kept:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(Path(name).read_text() if Path(name).exists() else "mine")
    document = json.loads(Path("old/scores.json").read_text())
    document["files"] += ["../gt.txt", str(Path("gt.txt").absolute()), "evaltex/../../gt.txt"]
    document["files"] += ["notes.md", "evaltex/a.csv", "linked/x.txt", "mine/x.txt", "", 1]
    Path("old/scores.json").write_text(json.dumps(document))
    assert run("gt.txt", "det.txt", "old").exit_code == 0
    assert all(Path(name).exists() for name in kept)
    Path("old/scores.json").write_text("{")
    assert "scores.json: already exists" in refused("gt.txt", "det.txt", "old")


@pytest.mark.parametrize("place", ["evaltex.txt", "evaltex.json", "evaltex/img_1.txt"])
def test_what_is_no_result_stays(place: str) -> None:
    for name in ("old", "new"):
        Path(name, place).parent.mkdir(parents=True, exist_ok=True)
        Path(name, place).write_text("mine")
        message = refused("gt.txt", "det.txt", name, "-a")
        assert f"{name}/{place}: already exists" in message
    with pytest.raises(InputError, match="already exists"):
        evaltex_cli.save_results(evaltex_cli.evaluate("gt.txt", "det.txt", per_image=True), "new")
    assert run("gt.txt", "det.txt", "new", "-a", "--force").exit_code == 0


def test_what_stands_in_the_way_is_reported() -> None:
    Path("folder/evaltex.txt").mkdir(parents=True)
    assert "is a folder where a file belongs" in refused("gt.txt", "det.txt", "folder")
    Path("file").mkdir()
    Path("file/evaltex").write_text("")
    refused("gt.txt", "det.txt", "file", "-a")


# Failures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({*SIMPLE} - {"validate", "formats", "protocols"}))
def test_a_command_that_fails_changes_nothing(name: str) -> None:
    Path("faulty.txt").write_text("img_1\n9,9\n1,1,f\n")
    for param in parameters(name, OutputFile, OutputFolder):
        values = {"gt": "faulty.txt", "src": "faulty.txt", "paths": ["faulty.txt"] * 3}
        refused(*line(name, values | {"results": ["faulty.txt"], str(param.name): "new.txt"}))


@each_file
@pytest.mark.parametrize("place", ["gt.txt/x.txt", "labels"])
def test_where_nothing_can_be_written_is_said_before_any_work(
    name: str, option: click.Parameter, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaltex_cli.formats.reading.read", lambda *_: pytest.fail("work was done"))
    assert place in refused(*simple(name, option, place))


@pytest.mark.parametrize("place", ["old", "new/res"])
@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (partial(signal.raise_signal, signal.SIGINT), 130, "evaltex: interrupted\n"),
        (MemoryError, 2, "evaltex: error: out of memory"),
        (KeyError, 2, "evaltex: error: internal error (KeyError"),
    ],
)
def test_a_run_that_is_stopped_leaves_earlier_results(
    place: str, error: Any, status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise error()

    before = tree(Path())
    monkeypatch.setattr(evaluation, "scored", stopped)
    found = run("gt.txt", "det.txt", place, "-a")
    assert (found.exit_code, found.stderr[: len(said)]) == (status, said)
    assert tree(Path()) == before
    assert not Path("new").exists()


def test_a_killed_run_leaves_earlier_results(here: Path) -> None:
    code = (
        "import os, signal; from evaltex_cli import cli; from evaltex_cli.evaluation import"
        " evaluate\nevaluate.scored = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\ncli.main()"
    )
    before = tree(here)
    arguments = ["gt.txt", "det2.txt", "old", "-a"]
    killed = subprocess.run([sys.executable, "-c", code, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert {name: text for name, text in tree(here).items() if ".evaltex-" not in name} == before
    assert run(*arguments).exit_code == 0
    assert not [name for name in tree(here) if ".evaltex-" in name]


@pytest.mark.parametrize("place", ["old", "new/res"])
def test_a_full_disk_is_one_message(place: str) -> None:
    """No file may grow beyond 200 bytes."""
    before = tree(Path())
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (200, 200))
    found = started("gt.txt", "det.txt", place, "-a", preexec_fn=limit)
    assert found.returncode == 2
    assert found.stderr.startswith(f"evaltex: error: {place}: cannot be written (File too large")
    assert tree(Path()) == before


def started(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-m", "evaltex_cli", *arguments],
        text=True,
        env=os.environ | {"PYTHONPATH": root, "COLUMNS": "1000"},
        check=False,
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options),
    )


# Streams, links and mounted folders ---------------------------------------------------------------


@pytest.mark.parametrize("place", ["-", "/dev/stdout"])
def test_an_open_file_is_written_directly(place: str) -> None:
    """As /dev/stdout, redirected to a file: what was in the file stays."""
    Path("stdout.txt").write_text("before\n")
    with Path("stdout.txt").open("a") as out:
        found = started(*SIMPLE["validate"], "--output", place, stdout=out)
    assert found.returncode == 0, found.stderr
    text = Path("stdout.txt").read_text()
    assert text.startswith("before\n") and len(text) > 80


@pytest.mark.parametrize("stream", [1, 2])
def test_a_standard_stream_may_be_closed(stream: int) -> None:
    found = started(*SIMPLE["validate"], preexec_fn=partial(os.close, stream))
    assert (found.returncode, found.stderr) == (0, "")


def test_a_pipe_is_written_to() -> None:
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    assert started(*SIMPLE["validate"], "--format", "json", "--output", "pipe").returncode == 0
    assert json.loads(reader.communicate()[0])["kind"] == "validation"
    assert Path("pipe").is_fifo()


@each_file
def test_a_link_is_followed(name: str, option: click.Parameter) -> None:
    Path("link.txt").symlink_to("own.txt")
    Path("own.txt").touch()
    assert run(*simple(name, option, "link.txt")).exit_code == 0
    assert Path("link.txt").is_symlink()
    assert Path("own.txt").stat().st_size
