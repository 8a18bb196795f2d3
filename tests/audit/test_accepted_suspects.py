"""From faults to suspects to a patch, and back to the ground truth as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from reading import read_or_raise

from evaltex_cli.audit.audit import audit
from evaltex_cli.audit.patches import Patch, write_patch
from evaltex_cli.cli import main
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.options import InputOptions

JITTER = 2.0
"""Pixels, by which a detector may be off."""
WORDS = [[x, y, 80, 20] for y in range(10, 300, 50) for x in range(10, 400, 100)]
"""x, y, width and height of the words of a page."""
TEXTS = ("Street", "Bank", "OPEN", "1926", "Exit")
IMAGES = 8


def written(path: Path, side: Side, noise: float, seed: int) -> Path:
    """The words of all pages, or what a detector makes of them."""
    off = np.random.default_rng(seed)
    lines = []
    for image in range(IMAGES):
        lines += [f"img_{image}", *(["400,500"] if side == "gt" else [])]
        for k, (x, y, width, height) in enumerate(WORDS):
            x0, y0, x1, y1 = np.array([x, y, x + width, y + height]) + off.uniform(-noise, noise, 4)
            numbers = ",".join(repr(float(value)) for value in (x0, y0, x1 - x0, y1 - y0))
            text = TEXTS[(k + image) % len(TEXTS)]
            leading = f"{k + 1},{k + 1}" if side == "gt" else f"{k + 1}"
            lines.append(f'{leading},"{text}",{"f," if side == "gt" else ""}{numbers}')
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


def objects_of(path: Path) -> dict[str, list[tuple[list[float], str]]]:
    """Corners and text of all objects, sorted by place."""
    source = read_or_raise(path)
    objects = source.objects
    assert objects.outlines.all_boxes
    return {
        name: sorted(
            (
                (objects.boxes[i].tolist(), objects.texts[i])
                for i in range(*objects.offsets[k : k + 2])
            ),
            key=lambda one: (round(one[0][1] / 25), one[0][0]),
        )
        for k, name in enumerate(source.names)
    }


def test_the_suspects_that_were_injected_bring_the_original_back(tmp_path: Path) -> None:
    """Of each kind of fault one, in an image of its own; within what the detectors are off."""
    gt = written(tmp_path / "gt.txt", "gt", 0, 0)
    detections = [written(tmp_path / f"d{k}.txt", "det", JITTER, k) for k in range(3)]
    images = gt.read_text().split("\n\n")
    moved, dropped, merged, text = (images[k].split("\n") for k in range(4))
    moved[2] = moved[2].replace("10.0,10.0,80.0,20.0", "10.0,20.0,80.0,20.0")
    del dropped[3]
    merged[2] = merged[2].replace("10.0,10.0,80.0,20.0", "10.0,10.0,180.0,20.0")
    merged[2] = merged[2].replace('"OPEN"', '"OPEN 1926"')
    del merged[3]
    text[2] = text[2].replace('"1926"', '"1936"')
    faults = ["\n".join(one) for one in (moved, dropped, merged, text)]
    assert all(one != original for one, original in zip(faults, images, strict=False))
    faulty = tmp_path / "faulty.txt"
    faulty.write_text("\n\n".join([*faults, *images[4:]]))

    found = audit({one.stem: open_inputs(faulty, one, InputOptions()) for one in detections}, {})
    sha256 = read_or_raise(faulty).sha256
    kinds = {"img_0": "misplaced", "img_1": "missing", "img_2": "merged", "img_3": "text"}
    entries = found.suspects
    accepted = [
        next(one for one in entries if (one.image, one.kind) == wanted) for wanted in kinds.items()
    ]
    patch = Patch(sha256, [replace(one, accept=one in accepted) for one in entries])
    write_patch(tmp_path / "patch.json", patch)

    back = tmp_path / "back.txt"
    arguments = ["convert", str(faulty), str(back), "--patch", str(tmp_path / "patch.json")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.stderr
    restored, original = objects_of(back), objects_of(gt)
    for name, expected in original.items():
        assert [text for _, text in restored[name]] == [text for _, text in expected]
        differences = np.array([one for one, _ in restored[name]]) - [one for one, _ in expected]
        assert np.abs(differences).max() <= JITTER


@pytest.mark.parametrize("invalid", ["repair", "skip", "drop"])
def test_an_invalid_polygon_is_an_object_whatever_scores_make_of_it(
    invalid: str, tmp_path: Path
) -> None:
    """It can be replaced, and its place is not missing."""
    gt = written(tmp_path / "gt.txt", "gt", 0, 0)
    drawn = "10,10,90,30,90,10,10,30"
    gt.write_text(gt.read_text().replace("10.0,10.0,80.0,20.0", drawn, 1))
    detections = [written(tmp_path / f"d{k}.txt", "det", JITTER, k) for k in range(3)]
    options = InputOptions(invalid=invalid)
    first = audit({one.stem: open_inputs(gt, one, options) for one in detections}, {}).suspects[0]
    assert (first.kind, first.image, first.objects) == ("misplaced", "img_0", (1,))
    assert first.current[0].vertices == ((10, 10), (90, 30), (90, 10), (10, 30))
