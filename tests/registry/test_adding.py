"""The protocol and the format that docs/architecture.md shows are added to a copy of the repository,
with one file and one registry line each, and no test of all protocols, formats or commands changes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDED = ROOT / "tests" / "support" / "added"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PROTOCOL, FORMAT = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
NOT_COPIED = shutil.ignore_patterns(
    *(".git", ".venv", ".nox", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info"),
    *("build", "dist", "mutants"),
)


def add_line(registry: Path, opening: str, line: str) -> None:
    text = registry.read_text(encoding="utf-8")
    assert text.count(opening) == 1
    assert line.partition(":")[0] not in text, "the example has the name of one that is there"
    registry.write_text(text.replace(opening, f"{opening}\n    {line}"), encoding="utf-8")


@pytest.mark.slow
def test_one_file_and_one_line_add_a_protocol_and_a_format(tmp_path: Path) -> None:
    copy = tmp_path / "evaltex"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
    package = copy / "evaltex_cli"
    (package / "protocols" / "center_point.py").write_text(PROTOCOL, encoding="utf-8")
    add_line(
        package / "protocols" / "__init__.py",
        "PROTOCOLS = {",
        '"center-point": "evaltex_cli.protocols.center_point",',
    )
    (package / "formats" / "tab_boxes.py").write_text(FORMAT, encoding="utf-8")
    shutil.copytree(ADDED / "tab-boxes", copy / "tests" / "samples" / "tab-boxes")
    add_line(
        package / "formats" / "__init__.py",
        "FORMATS: dict[str, str] = {",
        '"tab-boxes": "tab_boxes.FORMAT",',
    )

    recorded = copy / "tests" / "samples" / "expected.json"
    rows = (ADDED / "tab-boxes.json").read_text(encoding="utf-8")
    recorded.write_text(f"[\n{rows}{recorded.read_text(encoding='utf-8')[2:]}", encoding="utf-8")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    run("docs/generate.py")
    assert "[center-point]" in (copy / "evaltex.ini").read_text(encoding="utf-8")
    assert "`tab-boxes`" in (copy / "docs" / "formats.md").read_text(encoding="utf-8")
    of_registries = [
        str(file)
        for file in sorted((copy / "tests").rglob("test_*.py"))
        if re.search("PROTOCOLS|FORMATS|SAMPLES|COMMANDS", file.read_text(encoding="utf-8"))
    ]
    fast = ("-q", "-p", "no:cacheprovider", "--numprocesses=2", "-m", "not slow")
    run("-m", "pytest", *fast, *of_registries)
