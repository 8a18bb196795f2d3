"""No command writes over what it reads, or over a file it did not write:
every command with every pair of options.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import invoke as run
from forked import Server

import evaltex_cli
from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.cli.options import FORMS as OUTPUT_FORMS
from evaltex_cli.cli.paths import (
    CacheFolder,
    ConfigFile,
    Input,
    OutputFile,
    OutputFolder,
    PictureFolder,
)
from evaltex_cli.conversion.patches import Patch, write_patch
from evaltex_cli.conversion.patching import identify
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats import open_source

GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_1\n1,"a",10,20,15,40\nimg_2\n1,"",0,0,10,10\n'
TABLE = "image,x0,y0,x1,y1,confidence\nimg_1,10,20,25,60,0.5\nimg_2,0,0,10,10,0.9\n"
INPUTS: dict[str, list[str]] = {
    "gt": ["gt.txt"],
    "src": ["gt.txt"],
    "det": ["det.txt"],
    "detections": ["det.txt"],
    "config_path": ["my.ini"],
    "baselines": ["old/evaltex.json"],
    "results": ["old"],
    "paths": ["gt.txt", "det.txt", "det2.txt"],
    "gt_img_dir": ["labels"],
    "det_img_dir": ["labels"],
    "mask_folders": [],
    "images": ["pictures"],
    "pictures": ["pictures"],
    "lines": ["lines.txt"],
    "only": ["names.txt"],
    "patch": ["changes.json"],
}
"""Values of the parameters that are read, by their names; a new one needs some here."""
OWN_INPUTS = {"sweep": {"det": ["det.csv"], "baselines": ["swept/sweep.json"]}}
"""Those of a command that needs other inputs: a sweep needs confidences."""
WRITTEN = {"res_dir": "evaltex.json", "out_dir": "orig.txt", "masks": "img_1.tif"}
"""A file that a command writes into a folder."""
WRITTEN_BY = {"sweep": {"res_dir": "sweep.json"}}
"""Of a command that writes others."""
OUTPUTS = {
    "dst": "new.txt",
    **dict.fromkeys(WRITTEN, "new"),
    "output": "new.out",
    "junit": "new.xml",
    "objects": "new.csv",
    "report": "new.html",
    "patch_file": "new.json",
}
OF_LINES = ["--protocol", "evaltex", "--protocol", "tiou"]
MORE: dict[str, list[str]] = {
    EVALUATE: OF_LINES,
    "compare": OF_LINES,
    "diagnose": OF_LINES,
    "sweep": OF_LINES,
    "rank": OF_LINES,
    "audit": OF_LINES,
    "reconcile": ["--recall", "0.5"],
    "convert": ["--kind", "gt"],
    "toys": ["--recipe", "orig"],
}
FORMS = dict.fromkeys(
    ("audit", "comparison", "diagnosis", "ranking", "reconciliation", "validation", "sweep"),
    OUTPUT_FORMS,
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input for every option."""
    folder = tmp_path_factory.mktemp("prepared")
    with contextlib.chdir(folder):
        for name, text in {
            "gt.txt": GT,
            "lines.txt": GT,
            "names.txt": "img_1\nimg_2\n",
            "det.txt": DET,
            "det2.txt": DET,
            "det.csv": TABLE,
            "my.ini": "",
            "evaltex.ini": "",
        }.items():
            Path(name).write_text(text)
        write_patch(
            Path("changes.json"), Patch(identify(open_source(Path("gt.txt"), "gt", FaultLog())), ())
        )
        for pictures in ("labels", "pictures"):
            Path(pictures).mkdir()
            Path(pictures, "img_1.png").write_bytes(b"a picture")
        assert run("gt.txt", "det.txt", "old", "-a").exit_code == 0
        assert run("sweep", "gt.txt", "det.csv", "swept").exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def here(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the prepared folder, for one test."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes, links followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def parameters(name: str, *kinds: type) -> list[click.Parameter]:
    return [param for param in command(name).params if isinstance(param.type, kinds)]


def inputs_of(name: str) -> dict[str, list[str]]:
    return INPUTS | OWN_INPUTS.get(name, {})


def is_argument(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument)


def line(name: str, values: dict[str, Any]) -> list[str]:
    """The arguments of a command with these values of its paths, and with its own of the others."""
    given: list[str] = [] if name == EVALUATE else [name]
    for param in parameters(name, Input, PictureFolder, OutputFile, OutputFolder):
        key = str(param.name)
        known = inputs_of(name)
        value = values.get(key, known[key] if key in known else [OUTPUTS[key]])
        for one in value if isinstance(value, list) else [value]:
            given += [one] if is_argument(param) else [param.opts[0], one]
    return [*given, *MORE.get(name, [])]


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
    known = parameters(name, Input, PictureFolder, OutputFile, OutputFolder, CacheFolder)
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
        if kind != "itself" and file is None:
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


SIMPLE = {
    "evaluate": ["gt.txt", "det.txt", "new", "--fail-if", "recall<1e-6"],
    "compare": ["compare", "gt.txt", "det.txt", "det2.txt", "--resamples", "10"],
    "convert": ["convert", "gt.txt", "--kind", "gt"],
    "diagnose": ["diagnose", "gt.txt", "det.txt"],
    "audit": ["audit", "gt.txt", "det.txt", "det2.txt"],
    "rank": ["rank", "gt.txt", "det.txt", "det2.txt", "--resamples", "10"],
    "reconcile": ["reconcile", "gt.txt", "det.txt", "--protocol", "iou", "--recall", "0.5"],
    "sweep": ["sweep", "gt.txt", "det.csv", "--fail-if", "recall<1e-6"],
    "report": ["report", "old"],
    "validate": ["validate", "gt.txt", "det.txt"],
}


def simple(name: str, option: click.Parameter, value: str) -> list[str]:
    given = SIMPLE[name]
    return (
        [*given[:2], value, *given[2:]] if is_argument(option) else [*given, option.opts[0], value]
    )


FILES = [(name, param) for name in (EVALUATE, *COMMANDS) for param in parameters(name, OutputFile)]


@pytest.mark.few_fast(2)
@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
def test_a_file_of_somebody_else_is_replaced_by_force_only(
    here: Path, name: str, option: click.Parameter
) -> None:
    assert isinstance(option.type, OutputFile)
    Path("mine.txt").write_text("mine\n")
    before = tree(here)
    found = run(*simple(name, option, "mine.txt"))
    assert found.exit_code == 2
    assert "mine.txt: already exists" in found.stderr
    assert tree(here) == before
    assert run(*simple(name, option, "mine.txt"), "--force").exit_code == 0
    assert Path("mine.txt").read_text() != "mine\n"
    for form in FORMS.get(option.type.kind, [""]):
        again = [*simple(name, option, f"own{form}.txt"), *(["--format", form] if form else [])]
        statuses = [run(*again).exit_code for _ in range(2)]
        assert statuses == ([0, 2] if option.type.kind == "data" else [0, 0]), form
        kind = option.type.kind
        other = [
            (other, one)
            for other, one in FILES
            if other not in (name, "convert")
            and isinstance(one.type, OutputFile)
            and one.type.kind != kind
        ]
        for name_2, option_2 in other:
            assert run(*simple(name_2, option_2, f"own{form}.txt")).exit_code == 2, (form, name_2)


@pytest.mark.few_fast(2)
@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
def test_a_protected_file_is_replaced_by_force_only(name: str, option: click.Parameter) -> None:
    """What replaces a file has its permissions: nobody else may read it then."""
    own = Path("own.txt")
    own.touch(0o400)
    found = run(*simple(name, option, "own.txt"))
    assert found.exit_code == 2
    assert "own.txt: is protected against writing" in found.stderr
    assert own.stat().st_size == 0
    assert run(*simple(name, option, "own.txt"), "--force").exit_code == 0
    assert own.stat().st_size
    assert own.stat().st_mode & 0o777 == 0o400


def test_protected_results_are_replaced_by_force_only(here: Path) -> None:
    for file in ("evaltex.json", "evaltex/img_1.txt"):
        Path("old", file).chmod(0o400)
        before = tree(here)
        found = run("gt.txt", "det2.txt", "old", "-a")
        assert found.exit_code == 2
        assert f"old/{file}: is protected against writing" in found.stderr
        assert tree(here) == before
        assert run("gt.txt", "det2.txt", "old", "-a", "--force").exit_code == 0


@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere/x.txt", "No such file or directory"),
        ("gt.txt/x.txt", "Not a directory"),
        ("labels", "Is a directory"),
    ],
)
def test_where_nothing_can_be_written_is_said_before_any_work(
    name: str, option: click.Parameter, place: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaltex_cli.formats.open_source", lambda *_: pytest.fail("work was done"))
    if (name, place) == ("convert", "labels"):
        message = "its ending does not say what to write"  # a folder is a target of formats with a file for each image
    else:
        message = f"cannot be written ({message}"
    found = run(*simple(name, option, place))
    assert found.exit_code == 2
    assert f"{place}: {message}" in found.stderr


@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
def test_a_link_is_followed_and_stays(name: str, option: click.Parameter) -> None:
    for link, target in {"there.txt": "own.txt", "dangling.txt": "made.txt"}.items():
        Path(link).symlink_to(target)
    Path("own.txt").write_text("")
    for link, target in {"there.txt": "own.txt", "dangling.txt": "made.txt"}.items():
        assert run(*simple(name, option, link)).exit_code == 0
        assert Path(link).is_symlink()
        assert Path(target).stat().st_size
    Path("loop.txt").symlink_to("loop.txt")
    found = run(*simple(name, option, "loop.txt"))
    assert found.exit_code == 2
    assert "internal error" not in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
def test_an_open_file_is_written_as_it_is(name: str, option: click.Parameter, here: Path) -> None:
    """As /dev/stdout, redirected to a file: neither the device nor what was
    in the file is replaced.
    """
    Path("stdout.txt").write_text("before\n")
    with Path("stdout.txt").open("a") as out:
        to = ["--to", "evaltex"] if name == "convert" else []
        arguments = [sys.executable, "-m", "evaltex_cli", *simple(name, option, "/dev/stdout"), *to]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        found = subprocess.run(
            arguments, stdout=out, stderr=subprocess.PIPE, env=environment, check=False
        )
    assert found.returncode == 0, found.stderr
    assert Path("/dev/stdout").is_symlink()
    text = Path("stdout.txt").read_text()
    assert text.startswith("before\n")
    assert len(text) > 100


def test_outputs_of_a_command_are_different_places(here: Path) -> None:
    before = tree(here)
    gates = ["--fail-if", "recall<1e-6"]
    Path("res").mkdir()
    Path("link").symlink_to("res")
    for junit in ("res/evaltex.json", "link/evaltex.txt", "res/evaltex/x.xml", "res"):
        (here / "res" / "evaltex").mkdir(exist_ok=True)
        found = run("gt.txt", "det.txt", "res", "--junit", junit, *gates)
        assert found.exit_code == 2, junit
    assert "same place" in run("gt.txt", "det.txt", "x", "--junit", "./x", *gates).stderr
    for one, other in (("x", "x"), ("x", "X"), ("\xe9", "e\N{COMBINING ACUTE ACCENT}")):
        same = ("--patch", f"{one}.json", "--report", f"{other}.json")
        assert "same place" in run("audit", "gt.txt", "det.txt", "det.txt", *same).stderr
    assert (
        "res/EVALTEX.json: is the place of a result"
        in run("gt.txt", "det.txt", "res", "--objects", "res/EVALTEX.json").stderr
    )
    assert tree(here) == before


def test_nothing_is_written_into_a_folder_that_is_read_as_a_whole(here: Path) -> None:
    """The next run would read it."""
    Path("words").mkdir()
    Path("words/gt_img_1.txt").write_text("1,2,3,4,a\n")
    Path("parts").mkdir()
    Path("parts/gt-1.txt").write_text(GT)
    Path("link").symlink_to("parts")
    Path("dangling").symlink_to("parts/gt-3.txt")
    before = tree(here)
    for arguments, message in (
        (["words", "words", "words"], "words: is an input"),
        (["words", "words", "words/res"], "words/res: is in words, an input"),
        (
            ["validate", "words", "--output", "words/new.txt"],
            "words/new.txt: is in words, an input",
        ),
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
@pytest.mark.parametrize("kind", ["fifo", "device"])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        (name, str(param.name))
        for name in (EVALUATE, *COMMANDS)
        for param in parameters(name, Input)
        if INPUTS[str(param.name)]
    ],
)
def test_a_pipe_is_refused(server: Server, name: str, read: str, kind: str) -> None:
    """None waits for a writer or reads without end."""
    place = "/dev/zero"
    if kind == "fifo":
        os.mkfifo("pipe")
        place = "pipe"
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
        if name == EVALUATE:
            arguments += ["--fail-if", "recall:-1%"]
        found = server.run(*arguments)
        assert found.status == 2, found.said
        is_listed = name == "validate" and read != "only"
        reported = Path("new.out").read_text() if is_listed else found.said
        assert f"{place}: is a " in " ".join(reported.split())


def test_pictures_that_are_not_drawn_are_not_removed(here: Path) -> None:
    """Label pictures of images in folders replace these folders."""
    Path("deep.txt").write_text(GT.replace("img_1", "sub/img_1"))
    command = ["convert", "deep.txt", "new.txt", "--kind", "gt", "--masks", "drawn"]
    assert run(*command).exit_code == 0
    assert (
        "img_2.tif: is no result of an earlier run"
        in run(*command[:2], "new2.txt", *command[3:]).stderr
    )
    assert run(*command, "--force").exit_code == 0
    Path("drawn/sub/photo.jpg").write_bytes(b"mine")
    before = tree(here)
    found = run(*command, "--force")
    assert found.exit_code == 2
    assert "drawn/sub/photo.jpg: is in a folder of pictures that would be replaced" in found.stderr
    assert tree(here) == before


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


def test_the_cache_of_a_ranking_is_in_no_input(here: Path) -> None:
    """An input folder that it is in would be another one each time."""
    for name in ("words", "found", "found2"):
        Path(name).mkdir()
        Path(name, "img_1.txt").write_text("1,2,30,2,30,20,1,20,a\n")
    Path("link").symlink_to("words")
    Path("words/board.toml").write_text(
        '[datasets.a]\ngt = "."\n[detectors.A]\na = "../found"\n[detectors.B]\na = "../found2"\n'
    )
    before = tree(here)
    for folder in ("words", "found/new", "link/new"):
        found = run("rank", "words", "found", "found2", "--cache", folder)
        assert found.exit_code == 2
        assert "an input of this command" in found.stderr
    for option in ("--report", "--output"):
        found = run("rank", "words", "found", "found2", "--cache", "new", option, "./new")
        assert "are the same place" in found.stderr
    assert "an input of this command" in run("rank", "words/board.toml").stderr
    with pytest.raises(InputError, match="an input of this command"):
        evaltex_cli.rank("words/board.toml")
    assert (
        "gt.txt: is a file" in run("rank", "words", "found", "found2", "--cache", "gt.txt").stderr
    )
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
