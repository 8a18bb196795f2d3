"""Two small inputs for the tests of the command line, and the command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from limits import HANG_SECONDS

GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n2,2,"c",t,20,20,10,10\n'
DET = 'img_2\n1,"",0,0,10,10\nimg_1\n1,"",10,20,15,40\n2,"",60,60,5,5\n'


def write_inputs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, gt: str = GT, det: str = DET
) -> Path:
    """Write gt.txt and det.txt into a folder, and go there until the test ends."""
    monkeypatch.chdir(folder)
    Path("gt.txt").write_text(gt)
    Path("det.txt").write_text(det)
    return folder


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """As users run it, in a process of its own."""
    command = [sys.executable, "-m", "evaltex_cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, check=False, text=True, stdin=subprocess.DEVNULL, timeout=HANG_SECONDS, env=environment,
        **({"capture_output": True} | options),
    )  # fmt: skip
