"""A protocol and a format are added with one new file and one registry line
each, in a copy of the repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDED = ROOT / "tests" / "support" / "added"
COPIED = (
    "evaltex_cli",
    "docs",
    "tests",
    "examples",
    "evaltex.ini",
    "pyproject.toml",
    "README.md",
    "SECURITY.md",
)


def add_line(registry: Path, opening: str, line: str) -> None:
    text = registry.read_text(encoding="utf-8")
    assert text.count(opening) == 1
    assert line.partition(":")[0] not in text, "the example has the name of one that is there"
    registry.write_text(text.replace(opening, f"{opening}\n    {line}"), encoding="utf-8")


@pytest.mark.slow
def test_one_file_and_one_line_add_a_protocol_and_a_format(tmp_path: Path) -> None:
    for name in COPIED:
        here = ROOT / name
        skipped = shutil.ignore_patterns("__pycache__", "grown")
        if here.is_dir():
            shutil.copytree(here, tmp_path / name, ignore=skipped)
        else:
            shutil.copy(here, tmp_path / name)
    package = tmp_path / "evaltex_cli"
    shutil.copy(ADDED / "center_point.py", package / "protocols")
    add_line(
        package / "protocols" / "__init__.py",
        "PROTOCOLS = {",
        '"center-point": "evaltex_cli.protocols.center_point",',
    )
    shutil.copy(ADDED / "tab_boxes.py", package / "formats" / "documents")
    add_line(
        package / "formats" / "__init__.py",
        "FORMATS = {",
        '"tab-boxes": ("evaltex_cli.formats.documents.tab_boxes", "FORMAT"),',
    )

    def run(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    run("docs/generate.py")
    assert "[center-point]" in (tmp_path / "evaltex.ini").read_text(encoding="utf-8")
    assert "| `tab-boxes` |" in (tmp_path / "docs" / "formats.md").read_text(encoding="utf-8")
    tests = (
        "tests/registry",
        "tests/test_imports.py",
        "tests/protocols/test_config.py",
        "tests/protocols/test_tally.py",
    )
    chosen = "center or tab-boxes or up_to_date or imports or levels or circle"
    quick = "not slow or few_fast"
    options = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--numprocesses=0", "-m", quick)
    ran = run("-m", "pytest", *options, "-k", chosen, *tests)
    assert int(ran.rsplit(" passed", 1)[0].rsplit(maxsplit=1)[-1]) > 20, ran
