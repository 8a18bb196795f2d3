"""Inputs of a run, old and new results, and small disks."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import scenes
from started_runs import RUN, Tree, run, tree


@pytest.fixture(scope="module")
def inputs() -> tuple[str, str]:
    """Ground truth and detections of 40 images."""
    return scenes.random_scene(7, images=40)


@pytest.fixture
def scene(here: Path, inputs: tuple[str, str]) -> None:
    """gt.txt and det.txt in the current folder."""
    write(inputs, here)


def write(inputs: tuple[str, str], folder: Path) -> None:
    for name, text in zip(("gt.txt", "det.txt"), inputs, strict=True):
        (folder / name).write_text(text, encoding="utf-8", newline="")


@pytest.fixture(scope="module")
def made(inputs: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two result folders with a note of the user's: old and new."""
    folder = tmp_path_factory.mktemp("made")
    write(inputs, folder)
    for name, border in (("old", "0.01"), ("new", "0.2")):
        arguments = [name if argument == "res" else argument for argument in RUN]
        assert run(*arguments, "--set", f"det_border={border}", cwd=folder)[0] == 0
        (folder / name / "notes.md").write_text("mine")
    return {name: folder / name for name in ("old", "new")}


@pytest.fixture
def outcomes(here: Path, made: dict[str, Path]) -> dict[str, Tree]:
    """What `res`, which has old results now, holds when its results are old or new."""
    shutil.copytree(made["old"], "res")
    found = {name: tree(folder) for name, folder in made.items()}
    assert found["old"] != found["new"]
    return found


@pytest.fixture
def tiny_disk(here: Path) -> Iterator[Path]:
    """A file system of 200 KB."""
    place = here / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"file systems cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)
