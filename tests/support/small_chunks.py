"""Runs of small chunks in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def began(*arguments: str, changed: str = "") -> subprocess.Popen[str]:
    """Start a run of small chunks, changed by this code."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "1000"}
    lines = changed + (
        "from evaltex_cli import cli\nfrom evaltex_cli.evaluation import evaluate\n"
        "evaluate.BATCH_IMAGES = 20\ncli.main(prog_name='evaltex')\n"
    )
    code = "if __name__ == '__main__':\n" + textwrap.indent(lines, "    ")
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(
        command,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def group_members(group: int) -> list[int]:
    """The processes of a group that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found
