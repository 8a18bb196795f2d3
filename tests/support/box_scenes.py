"""Inputs of many images, as boxes, polygons, folders or label pictures, and what a run makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

from evaltex_cli.cli import main

IMAGES = 60


def write_boxes(polygons: bool = False, images: int = IMAGES) -> list[str]:
    """EvaLTex files of images in different order, some without detections;
    every third object is a polygon, if any.
    """
    generator = np.random.default_rng(3)
    gt, det = [], []
    for k in range(images):
        name = f"deep/{k % 4}/img_{k}"
        lines: tuple[list[str], list[str]] = ([], [])
        for i in range(1, int(generator.integers(1, 6)) + 1):
            x, y, w, h = generator.integers(1, 90, 4).tolist()
            places = [f"{x},{y},{w},{h}", f"{x + 2},{y},{w},{h}"]
            if polygons and i % 3 == 0:
                places = [f"{x},{y},{x + w},{y},{x + w},{y + h},{x},{y + h + 1}"] * 2
            lines[0].append(f'{i},{i},"{"" if k % 7 == 0 else "word"}",f,{places[0]}')
            lines[1].append(f'{i},"word",{places[1]}')
        gt.append("\n".join([name, "200,200", *lines[0]]))
        if k % 5:
            det.append("\n".join([name, *lines[1]]))
    Path("gt.txt").write_text("\n".join(gt) + "\n")
    Path("det.txt").write_text("\n".join(det[::-1]) + "\n")
    return ["gt.txt", "det.txt"]


def write_folders() -> list[str]:
    for side, ending in (("gt", ",word"), ("det", "")):
        Path(side).mkdir()
        for k in range(IMAGES):
            Path(side, f"{side}_img_{k}.txt".replace("det_", "res_")).write_text(
                f"{k},0,{k + 30},20{ending}\n"
            )
    return ["gt", "det"]


def write_masks() -> list[str]:
    arguments = write_boxes(images=12)
    for side in ("gt", "det"):
        for block in Path(f"{side}.txt").read_text().split("deep/")[1:]:
            lines = block.split("\n")
            labels = np.zeros((200, 200), np.uint8)
            for line in lines:
                if '"' in line:
                    x, y, w, h = map(int, line.split(",")[-4:])
                    labels[y : y + h, x : x + w] = int(line.split(",")[0])
            text = Path(f"{side}.txt").read_text()
            path = Path(side, "deep", f"{lines[0]}.png")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(labels).save(path)
            present = [
                line
                for line in lines
                if '"' in line and not (labels == int(line.split(",")[0])).any()
            ]
            for line in present:  # wholly covered by later ones
                text = text.replace(
                    f"deep/{block}", "deep/" + block.replace(line + "\n", "").replace(line, "")
                )
            Path(f"{side}.txt").write_text(text)
    return [*arguments, "res", "gt", "det"]


def outcome(*arguments: str, expected: int = 0) -> dict[str, bytes]:
    """Run into ``res``, and return what was written and printed."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == expected, result.output
    written = {
        str(path): path.read_bytes() for path in sorted(Path("res").rglob("*")) if path.is_file()
    }
    return written | {"stdout": result.stdout.encode(), "stderr": result.stderr.encode()}


def arguments_for(kind: str) -> list[str]:
    if kind == "masks":
        return [*write_masks(), "-a"]
    if kind == "folders":
        return [*write_folders(), "res", "-a", "--protocol", "iou", "--protocol", "deteval", "--ci"]
    every = ["--protocol", "cleval", "--protocol", "tedeval", "--protocol", "evaltex", "--plots"]
    return [*write_boxes(polygons=kind == "polygons"), "res", "-a", *every]
