"""Staged results: old ones or new, never half, and what is no result is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import tree
from page_sample import DET, GT, image_text, run

from evaltex_cli import InputError
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import result_text, writer
from evaltex_cli.results.beginnings import is_result
from evaltex_cli.results.extras import Extras
from evaltex_cli.runtime.atomic_output import staged

NAMES = ["p.txt", "p.json", "p"]


def fill(folder: Path, *names: str, text: str = "new") -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with earlier results, and a file of the user's."""
    folder = tmp_path / "res"
    folder.mkdir()
    fill(folder, "p.txt", "p.json", "p/a.txt", "p/b.txt", "notes.md", text="old")
    return folder


def test_a_fresh_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "res"
    with staged(place, NAMES) as folder:
        fill(folder, "p.txt", "p/a.txt")
        assert not place.exists()
    assert tree(tmp_path / "a") == {
        "b": None,
        "b/res": None,
        "b/res/p": None,
        "b/res/p.txt": b"new",
        "b/res/p/a.txt": b"new",
    }
    umask = os.umask(0)
    os.umask(umask)
    assert place.stat().st_mode & 0o777 == 0o777 & ~umask


def test_earlier_results_are_replaced_and_stale_ones_removed(results: Path) -> None:
    before = tree(results)
    with staged(results, NAMES) as folder:
        fill(folder, "p.txt", "p/a.txt")
        assert {
            name: kept for name, kept in tree(results).items() if not name.startswith(".evaltex-")
        } == before
    assert tree(results) == {"notes.md": b"old", "p": None, "p.txt": b"new", "p/a.txt": b"new"}


class Stopped(BaseException):
    """Stands for whatever ends a run: an interrupt, an exit, a fault."""


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt, InputError, OSError])
@pytest.mark.parametrize("place", ["res", "x/y/res"])
def test_what_ends_the_run_leaves_everything_as_it_was(
    results: Path, place: str, error: type[BaseException]
) -> None:
    before = tree(results.parent)

    def interrupted() -> Iterator[None]:
        with staged(results.parent / place, NAMES) as folder:
            fill(folder, "p.txt", "p/a.txt")
            yield
            raise error("stop")

    with pytest.raises(InputError if error is OSError else error):
        list(interrupted())
    assert tree(results.parent) == before


@pytest.mark.parametrize("after", [False, True], ids=["rename fails", "interrupt after the rename"])
@pytest.mark.parametrize("at", range(5))
def test_renames_are_undone_when_one_fails(
    results: Path, at: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three old results out, two new in: whichever of the five does not go
    well, the old ones stand again.
    """
    before, rename, seen = tree(results), Path.rename, []

    def failing(self: Path, target: Path) -> Path:
        seen.append(self)
        if len(seen) - 1 == at:
            if not after:
                raise OSError(5, "Input/output error", str(self))
            rename(self, target)
            raise Stopped
        return rename(self, target)

    def replace_results() -> None:
        with staged(results, NAMES) as folder:
            fill(folder, "p.txt", "p/a.txt")
            monkeypatch.setattr(Path, "rename", failing)

    with pytest.raises(Stopped if after else InputError):
        replace_results()
    monkeypatch.undo()
    assert len(seen) > at
    assert tree(results) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda res: fill(res, "p/mine.csv"), r"mine\.csv: is no result of an earlier run"),
        (
            lambda res: fill(res, "p/mine.txt", text="img_1\n9,9\n"),
            r"mine\.txt: is no result of an earlier run",
        ),
        (
            lambda res: fill(res, "p.txt", text="img_1\n9,9\n"),
            r"p\.txt: is no result of an earlier run",
        ),
        (lambda res: fill(res, "p.json", text="{}"), r"p\.json: is no result of an earlier run"),
        (lambda res: (res / "p.txt").mkdir(), r"p\.txt: stands where a result belongs"),
        (lambda res: fill(res, "p"), r"p: stands where a result belongs"),
        (lambda res: (res / "p").symlink_to(res.parent), r"p: stands where a result belongs"),
        (
            lambda res: (res / "p.txt").symlink_to(res.parent / "none"),
            r"p\.txt: stands where a result belongs",
        ),
        (
            lambda res: (res.rmdir(), res.write_text("a file")),
            r"res: is a file; give a folder for the results",
        ),
    ],
)
def test_what_is_no_result_is_refused_and_kept(tmp_path: Path, make: Any, message: str) -> None:
    res = tmp_path / "res"
    res.mkdir()
    make(res)
    before = tree(tmp_path)
    with pytest.raises(InputError, match=message), staged(res, NAMES, is_result) as folder:
        fill(folder, "p.txt")
    assert tree(tmp_path) == before


def test_results_know_themselves(tmp_path: Path) -> None:
    """What the writers write may be replaced, whatever the protocol."""
    path = tmp_path / "x.txt"
    for protocol in PROTOCOLS:
        found = run(tmp_path, GT, DET.replace('""', '"word"'), protocol)
        texts = [result_text.dataset(found), image_text(found)]
        for text in texts:
            path.write_text(text, encoding="utf-8")
            assert is_result(path)
        (tmp_path / "x.json").write_text(
            "".join(writer.document(found, [], Extras())), encoding="utf-8"
        )
        assert is_result(tmp_path / "x.json")
    assert not is_result(tmp_path / "gt.txt")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"cannot be written \(Not a directory"),
        staged(tmp_path / "file" / "res", NAMES),
    ):
        pytest.fail("a folder inside a file")
    assert tree(tmp_path) == {"file": b""}
