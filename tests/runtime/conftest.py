"""A folder with an input for every option."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from command_line import invoke as run
from every_command import DET, GT, TABLE
from reading import read_or_raise

from evaltex_cli.audit.patches import Patch, write_patch


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input for every option."""
    folder = tmp_path_factory.mktemp("prepared")
    with contextlib.chdir(folder):
        for name, text in {
            "gt.txt": GT,
            "lines.txt": GT,
            "names.txt": "img_1\nimg_2\n",
            "groups.csv": "image,shop\nimg_1,a\nimg_2,b\n",
            "det.txt": DET,
            "det2.txt": DET,
            "det.csv": TABLE,
            "my.ini": "",
            "evaltex.ini": "",
        }.items():
            Path(name).write_text(text)
        sha256 = read_or_raise(Path("gt.txt")).sha256
        write_patch(Path("changes.json"), Patch(sha256, ()))
        for pictures in ("labels", "pictures"):
            Path(pictures).mkdir()
            Path(pictures, "img_1.png").write_bytes(b"a picture")
        assert run("gt.txt", "det.txt", "old", "-a").exit_code == 0
        assert run("sweep", "gt.txt", "det.csv", "swept").exit_code == 0
    return folder


@pytest.fixture
def prepared_here(prepared: Path, here: Path) -> None:
    """A copy of the prepared folder in the current one."""
    shutil.copytree(prepared, here, dirs_exist_ok=True)
