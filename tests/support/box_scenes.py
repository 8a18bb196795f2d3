"""Inputs of many images, as boxes, polygons, folders or label pictures, and what a run makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

from evaltex_cli.cli import main

IMAGES = 60


def write_boxes(polygons: bool = False) -> list[str]:
    """EvaLTex files of images in different order, some without detections;
    every third object is a polygon, if any.
    """
    generator = np.random.default_rng(3)
    gt, det = [], []
    for k in range(IMAGES):
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
    """Label pictures of a dozen images, with up to six words that stand apart."""
    generator = np.random.default_rng(4)
    texts: dict[str, list[str]] = {"gt": [], "det": []}
    for k in range(12):
        sizes = generator.integers(5, 28, (int(generator.integers(1, 6)), 2)).tolist()
        for side, shift in (("gt", 0), ("det", 2)):
            labels = np.zeros((200, 200), np.uint8)
            texts[side] += [f"deep/img_{k}", *["200,200"] * (side == "gt")]
            for i, (w, h) in enumerate(sizes, 1):
                x = 30 * i + shift
                labels[9 : 9 + h, x : x + w] = i
                texts[side].append(
                    f'{i},{f"{i}," * (side == "gt")}"w",{"f," * (side == "gt")}{x},9,{w},{h}'
                )
            path = Path(side, "deep", f"img_{k}.png")
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(labels).save(path)
    for side, lines in texts.items():
        Path(f"{side}.txt").write_text("\n".join(lines) + "\n")
    return ["gt.txt", "det.txt", "res", "gt", "det"]


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
