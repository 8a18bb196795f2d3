"""Full disks, folders that are read-only or go away: reported, and old results stay."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from started_runs import (
    RUN,
    Tree,
    finish,
    leftovers,
    new_run,
    run,
    seconds_of_a_run,
    tree,
    unprivileged,
)

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import atomic_output

pytestmark = pytest.mark.usefixtures("scene")


@pytest.mark.parametrize("most", [0, 1, 200, 1000, 5000, 20_000])
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_disk_that_is_full_is_reported(
    here: Path, outcomes: dict[str, Tree], place: str, most: int
) -> None:
    """No file may grow beyond so many bytes; the largest of the results has more."""
    assert max(len(kept) for kept in outcomes["new"].values() if kept is not None) > 20_000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    before = tree(here)
    arguments = [place if argument == "res" else argument for argument in RUN]
    status, stderr = run(*arguments, "--set", "det_border=0.2", preexec_fn=limit)
    assert status == 2
    assert f"{place}: cannot be written (File too large" in stderr
    assert tree(here) == before
    assert not leftovers(here)


@pytest.mark.parametrize("jobs", [["--jobs", "1"], ["--jobs", "2"]], ids=" ".join)
def test_a_file_system_that_is_full(tiny_disk: Path, jobs: list[str]) -> None:
    status, stderr = run("gt.txt", "det.txt", "disk/res", "-a", "--protocol", "all", *jobs)
    assert status == 2
    assert "disk/res: cannot be written (No space left on device" in stderr
    assert tree(tiny_disk) == {}
    assert not leftovers(tiny_disk)


def test_toys_on_a_file_system_that_is_full_name_their_folder(tiny_disk: Path) -> None:
    (tiny_disk / "filled").write_bytes(bytes(190_000))
    status, stderr = run("toys", "gt.txt", "disk/toys")
    assert status == 2
    assert "error: disk/toys: cannot be written (No space left on device)" in stderr
    assert ".evaltex-" not in stderr
    assert not leftovers(tiny_disk)


@pytest.mark.parametrize("size", ["8k", "16k", "32k", "64k"])
@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_label_pictures_on_a_file_system_that_is_full(
    tiny_disk: Path, mask_format: str, size: str
) -> None:
    """The folder of the pictures is named, and nothing else is said, whichever write fails."""
    blocks = (f"img_{k}\n2000,2000\n" + f'1,1,"a",f,{k},20,1500,1700\n' * 1 for k in range(60))
    Path("large.txt").write_text("".join(blocks))
    subprocess.run(["mount", "-o", f"remount,size={size}", str(tiny_disk)], check=True)
    command = [
        "convert",
        "large.txt",
        "out.txt",
        "--kind",
        "gt",
        "--masks",
        "disk/masks",
        "--mask-format",
        mask_format,
    ]
    status, stderr = run(*command)
    assert status == 2
    assert stderr.startswith(
        "evaltex: error: disk/masks: cannot be written (No space left on device"
    )
    assert stderr.count("\n") == 1
    assert tree(tiny_disk) == {}
    assert not Path("out.txt").exists()


@pytest.mark.parametrize("most", [0, 1, 100, 3000])
@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_label_pictures_that_may_not_be_so_large(here: Path, mask_format: str, most: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    Path("large.txt").write_text('img_1\n2000,2000\n1,1,"a",f,3,20,1500,1700\n')
    command = [
        "convert",
        "large.txt",
        "/dev/null",
        "--to",
        "evaltex",
        "--kind",
        "gt",
        "--masks",
        "masks",
    ]
    status, stderr = run(*command, "--mask-format", mask_format, preexec_fn=limit)
    assert status == 2
    assert stderr.startswith("evaltex: error: masks: cannot be written (File too large")
    assert not leftovers(here)


def test_a_folder_that_is_read_only(here: Path, outcomes: dict[str, Tree]) -> None:
    Path("closed").mkdir()
    for place, closed in (("res", "res"), ("closed/res", "closed")):
        Path(closed).chmod(0o500)
        try:
            status, stderr = run(
                *[place if argument == "res" else argument for argument in RUN],
                before=unprivileged(),
            )
        finally:
            Path(closed).chmod(0o700)
        assert status == 2
        assert f"{place}: cannot be written (Permission denied" in stderr
    assert tree(Path("res")) == outcomes["old"]
    assert tree(Path("closed")) == {}


def test_results_that_may_not_be_read() -> None:
    assert run(*RUN)[0] == 0
    Path("res/evaltex.json").chmod(0)
    for command in (["report", "res"], ["merge", "res", "new"], ["compare", "res", "res"]):
        status, stderr = run(*command, before=unprivileged())
        assert status == 2
        message = "res/evaltex.json: Permission denied; check the path and its permissions"
        assert message in " ".join(stderr.split())


def test_a_current_folder_that_is_gone(here: Path) -> None:
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()
    inputs = str(here / "gt.txt"), str(here / "det.txt")
    for jobs in ("1", "2"):
        status, stderr = run(*inputs, "new", "--jobs", jobs)
        assert status == 2
        assert "the current folder is no longer there; change to another one" in stderr
        assert run(*inputs, "--jobs", jobs)[0] == 0


@pytest.mark.parametrize("moment", [0.3, 0.5, 0.7, 0.8, 0.9])
def test_a_folder_that_goes_away(outcomes: dict[str, Tree], moment: float) -> None:
    length = seconds_of_a_run()
    process = new_run()
    time.sleep(moment * length)
    Path("res").rename("gone")
    status, stderr = finish(process)
    atomic_output.finish_interrupted_moves(Path("gone"))
    assert tree(Path("gone")) in outcomes.values()
    if status:
        assert status == 2
        assert "res: cannot be written" in stderr


def test_a_folder_that_went_away_while_it_was_staged(here: Path) -> None:
    def vanish(place: str) -> None:
        with atomic_output.staged(Path(place), ["p.txt"]) as folder:
            (folder / "p.txt").write_text("new")
            shutil.rmtree(folder.parent)

    Path("there").mkdir()
    for place in ("there", "fresh"):
        with pytest.raises(InputError, match=f"{place}: cannot be written"):
            vanish(place)
    assert not leftovers(here)
