"""Memory of what works on results: columns of every image, never all images'
objects (docs/scale.md).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage]

SIZES = (1_000, 2_000)
"""Both of several batches of 250, so that the difference is what an image
needs, and not what a full batch does.
"""
WORDS = 10
MOST_BYTES = 8_000
"""An image's share; as dictionaries its objects and detections take 23 to 34 kB."""
MEASURED = (
    "import os, re\nfrom pathlib import Path\nfrom evaltex_cli.__main__ import run\nfrom"
    " evaltex_cli.evaluation import batches\nbatches.BATCH_IMAGES = 250\ntry:"
    " run()\nexcept SystemExit as stop: assert not stop.code,"
    " stop.code\nPath(os.environ['PEAK']).write_text(re.search(r'VmHWM:\\s*(\\d+)',"
    " Path('/proc/self/status').read_text())[1])\n"
)
COMMANDS = {
    "compare detections": "compare gt.txt a.txt b.txt --resamples 10 --output compared.txt",
    "compare results": "compare res-a res-b --resamples 10 --output compared.txt",
    "compare as JSON": "compare res-a res-b --resamples 10 --format json --output compared.json",
    "merge": "merge res-0 res-1 merged",
    "report": "report res-a --output page.html",
    "evaluate and report": "gt.txt a.txt reported --report --ci --resamples 10",
    "baseline": "gt.txt b.txt gated --baseline res-a",
    "rank": "rank gt.txt a.txt b.txt --resamples 10",
    "sweep": "sweep gt.txt a.csv swept --protocol iou,evaltex --plots --report",
    "sweep with intervals": "sweep gt.txt a.csv swept --ci --resamples 10",
}


def write_data(images: int) -> None:
    """A ground truth and two detectors, whole; the first of these in two parts, and with
    confidences.
    """
    rng = random.Random(images)
    sides: dict[str, list[str]] = {"gt": [], "a": [], "b": []}
    for k in range(images):
        for side, blocks in sides.items():
            lines = [f"img_{k}"] + (["400,400"] if side == "gt" else [])
            for i in range(1, WORDS + 1):
                x, y = (
                    (20 * i, 30 * i)
                    if side == "gt"
                    else (20 * i + rng.randrange(9), 30 * i + rng.randrange(4))
                )
                lines.append(
                    f'{i},{i},"w",f,{x},{y},60,20'
                    if side == "gt"
                    else f'{i},"w",{x},{y},{50 + x % 7},20'
                )
            blocks.append("\n".join(lines) + "\n")
    for side, blocks in sides.items():
        Path(f"{side}.txt").write_text("".join(blocks))
    rows = [
        f"img_{k},{20 * i},{30 * i},{20 * i + 50},{30 * i + 20},{rng.random():.6f}\n"
        for k in range(images)
        for i in range(1, WORDS + 1)
    ]
    Path("a.csv").write_text("image,x0,y0,x1,y1,confidence\n" + "".join(rows))
    for part, own in enumerate((slice(None, images // 2), slice(images // 2, None))):
        Path(f"gt-{part}.txt").write_text("".join(sides["gt"][own]))
        Path(f"a-{part}.txt").write_text("".join(sides["a"][own]))


def peak(command: str) -> int:
    """The most memory that a command had, in bytes."""
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "PEAK": "peak"}
    subprocess.run(
        [sys.executable, "-c", MEASURED, *command.split()],
        check=True,
        capture_output=True,
        env=environment,
    )
    return int(Path("peak").read_text()) * 1024


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    before, found = Path.cwd(), {}
    for images in SIZES:
        found[images] = tmp_path_factory.mktemp(f"images-{images}")
        os.chdir(found[images])
        write_data(images)
        for run in (
            "gt.txt a.txt res-a",
            "gt.txt b.txt res-b",
            "gt-0.txt a-0.txt res-0",
            "gt-1.txt a-1.txt res-1",
        ):
            peak(f"{run} -a --quiet --ci --resamples 10")
    os.chdir(before)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_an_image_takes_little_memory(
    folders: dict[int, Path], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for folder in folders.values():
        monkeypatch.chdir(folder)
        found.append(peak(COMMANDS[command]))
    few, many = SIZES
    assert (found[1] - found[0]) / (many - few) < MOST_BYTES
