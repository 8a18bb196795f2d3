"""Reports and audits' pages that tests write, and what they read of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from command_line import run

from evaltex_cli.comparison.detectors import labels_of
from evaltex_cli.report import make, read, with_diagnoses

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    '</script><img src="https://example.org/x.png"'
    " onerror=\"document.title='taken'\"><!--<script>&amp;\u202e"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)
WORDS = EXAMPLES / "words" / "gt.txt", EXAMPLES / "words" / "det.txt"


def evaluated(gt: Path, det: Path, res_dir: Path, *options: str) -> Path:
    """Run the command line."""
    run(gt, det, res_dir, "--quiet", *options)
    return res_dir


def data_of(file: Path) -> dict[str, Any]:
    """The data of a page."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def image_of(file: Path, name: str) -> dict[str, Any]:
    """The data of an image."""
    found: dict[str, Any] = next(one for one in data_of(file)["images"] if one["name"] == name)
    return found


def write(
    file: Path,
    results: Sequence[Path],
    gt: Path | None = None,
    det: Sequence[Path] = (),
    **how: Any,
) -> str:
    """Write a report of results with everything that it may have."""
    return make(
        file,
        with_diagnoses(read(dict(zip(labels_of(results), results, strict=True)), gt, det)),
        **how,
    )
