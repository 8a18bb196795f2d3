"""What is in the place of an output: files of others, protected ones, links, open files, folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import invoke as run
from every_command import GT, parameters, simple, tree

from evaltex_cli.cli import COMMANDS, EVALUATE
from evaltex_cli.cli.options import FORMS as OUTPUT_FORMS
from evaltex_cli.cli.paths import OutputFile

pytestmark = pytest.mark.usefixtures("prepared_here")

FORMS = dict.fromkeys(
    ("audit", "comparison", "diagnosis", "ranking", "reconciliation", "validation", "sweep"),
    OUTPUT_FORMS,
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


def test_a_file_of_another_user_is_not_replaced_where_the_system_forbids_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder like ``/tmp``, however open the file is."""
    Path("common").mkdir()
    Path("common").chmod(0o1777)
    Path("common/own.txt").touch()
    Path("common/own.txt").chmod(0o666)
    Path("link.txt").symlink_to("common/own.txt")
    Path("common/mine.txt").write_text("mine\n")
    Path("common/evaltex.txt").write_bytes(Path("old/evaltex.txt").read_bytes())
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    compared = ("compare", "gt.txt", "det.txt", "det2.txt", "--output")
    before = tree(here)
    for target, given in (
        ("common/own.txt", (*compared, "common/own.txt")),
        ("common/mine.txt", (*compared, "common/mine.txt")),
        ("link.txt", (*compared, "link.txt", "--force")),
        ("common/evaltex.txt", ("gt.txt", "det2.txt", "common")),
    ):
        found = run(*given)
        assert found.exit_code == 2
        assert f"{target}: belongs to another user" in found.stderr
        assert tree(here) == before


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


@pytest.mark.parametrize(("name", "option"), FILES, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0", "/dev/./stdin"])
def test_standard_input_is_no_place_for_an_output(
    name: str, option: click.Parameter, path: str
) -> None:
    """What it comes from would be appended to."""
    to = ["--to", "evaltex"] if name == "convert" else []
    found = run(*simple(name, option, path), *to)
    assert found.exit_code == 2
    assert "is what is read (stdin); give a file" in " ".join(found.stderr.split())


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
