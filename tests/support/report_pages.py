"""Reports that tests write, and what they read of a page, in its data or in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chromium import Chromium
from click.testing import CliRunner

from evaltex_cli import diagnose
from evaltex_cli.cli import main
from evaltex_cli.diagnosis.diagnosis import Diagnosis
from evaltex_cli.diagnosis.error_types import ERROR_TYPES
from evaltex_cli.report import Made, Pictures, make, read

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    '</script><img src="https://example.org/x.png"'
    " onerror=\"document.title='taken'\"><!--<script>&amp;\u202e"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


def evaluated(gt: Path, det: Path, res_dir: Path, *options: str) -> Path:
    """Run the command line."""
    done = CliRunner().invoke(main, [str(gt), str(det), str(res_dir), "--quiet", *options])
    assert done.exit_code == 0, done.output
    return res_dir


def islands(file: Path) -> dict[str, Any]:
    """The data of a page, by the element's name."""
    found = re.findall(
        r'<script type="application/json" id="([\w-]+)">(.*?)</script>',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return {name: json.loads(text) for name, text in found}


def write(
    file: Path,
    results: list[Path],
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    embed: bool = False,
) -> Made:
    """Write a report of results with everything that it may have."""
    return make(file, read(results, None, gt, det).with_losses(), Pictures(pictures, embed))


def sources(example: str) -> dict[str, Any]:
    return {"gt": EXAMPLES / example / "gt.txt", "det": [EXAMPLES / example / "det.txt"]}


LOSS_PARTS = (*ERROR_TYPES, "interaction", "unexplained")


def words_diagnoses(protocols: list[str], **parameters: Any) -> list[Diagnosis]:
    example = sources("words")
    return [diagnose(example["gt"], example["det"][0], name, **parameters) for name in protocols]


def names(tab: Chromium) -> list[str]:
    shown: list[str] = tab.run(
        "[...document.querySelectorAll('#images tbody a')].map((a) => a.textContent)"
    )
    return shown


def column(tab: Chromium, at: int) -> list[float]:
    cells: list[str] = tab.run(
        f"[...document.querySelectorAll('#images tbody tr td:nth-child({at})')].map((cell) =>"
        " cell.textContent)"
    )
    return [float(cell) for cell in cells]


def by_errors(results: Path) -> list[str]:
    """Names of the images, those with most missed objects and false positives
    first, then by the score.
    """
    images = json.loads((results / "evaltex.json").read_bytes())["images"]

    def errors(image: dict[str, Any]) -> int:
        sides = [*image["objects"], *image["detections"]]
        return sum(one["match"] in ("missed", "false-positive") for one in sides)

    return [
        image["name"]
        for image in sorted(images, key=lambda image: (-errors(image), image["scores"]["fscore"]))
    ]


def unfold(tab: Chromium) -> None:
    tab.run(
        "document.querySelectorAll('#losses details').forEach((folded) => { folded.open = true; })"
    )
    tab.wait(
        "[...document.querySelectorAll('#losses details')].every((folded) =>"
        " folded.childElementCount > 1)"
    )


def by_score(results: Path, score: str) -> list[str]:
    images = json.loads((results / "evaltex.json").read_bytes())["images"]
    return [image["name"] for image in sorted(images, key=lambda image: image["scores"][score])]


def cells(tab: Chromium, table: str) -> list[list[str]]:
    """The body of a table, by rows."""
    rows: list[list[str]] = tab.run(
        f"[...document.querySelectorAll('{table} tbody tr')].map((row) => [...row.cells].map((c) =>"
        " c.textContent))"
    )
    return rows


def number(text: str) -> float:
    return float(text.replace("−", "-"))


ERRORS = "[...document.querySelectorAll('.object')].filter((one) => one.style.display !== 'none')"
