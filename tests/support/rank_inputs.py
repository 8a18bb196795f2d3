"""Sides of a board of three detectors, and the command that ranks them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from evaltex_cli.cli import main

SHARES = {"good": 0.9, "alike": 0.9, "poor": 0.5}


def write_side(path: Path, seed: int, share: float, is_gt: bool, images: int = 40) -> None:
    """Words of some images in the format of EvaLTex; a detector finds a share of them."""
    rng = np.random.default_rng(seed)
    lines = []
    for k in range(images):
        lines += [f"img_{k}", "400,400"] if is_gt else [f"img_{k}"]
        for i in range(1, 5):
            box = f"10,{60 * i},200,40"
            if is_gt:
                lines.append(f'{i},{i},"w{i}",f,{box}')
            elif rng.random() < share:
                lines.append(f'{i},"w{i}",{box}')
    path.write_text("\n".join(lines) + "\n")


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(main, ["rank", *arguments])
    assert result.exit_code == status, result.output
    return result


def of_board(*arguments: str) -> Any:
    return json.loads(run("board.toml", "--format", "json", *arguments).stdout)
