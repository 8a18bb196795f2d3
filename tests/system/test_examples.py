"""The examples score as their walk-through says, and come from the script that claims to draw them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.results.result_document import json_of

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
WALK_THROUGH = (EXAMPLES / "README.md").read_text(encoding="utf-8")
MASKS = ("masks/words", "masks/characters")
SETS = ("words", "polygons", *MASKS, "icdar")
MATCHES = {"one-to-one", "one-to-many", "many-to-one", "many-to-many", "missed", "ignored"}

SHELL = re.findall(
    r"```sh\nevaltex (.*?)\n```\n\nprints\n\n```text\n(.*?)```", WALK_THROUGH, re.DOTALL
)
COMMANDS = {next(name for name in SETS if f"examples/{name}/gt." in command): (command, shown)
            for command, shown in SHELL}  # fmt: skip
SUMS = re.findall(r"`([0-9.()/·+ -]+) = ([0-9.]+)`", WALK_THROUGH)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.usefixtures("here")
def test_results_are_as_expected(name):
    """The walk-through's command prints what it shows, and gives the committed results exactly."""
    Path("examples").symlink_to(EXAMPLES)
    command, shown = COMMANDS[name]
    result = run(*shlex.split(command))
    assert (result.stdout, result.stderr) == (shown, "")
    (results,) = (path for path in Path().iterdir() if path.name != "examples")
    texts, expected = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.txt")}
        for folder in (results, EXAMPLES / name / "expected")
    )
    assert len(texts) == 5
    assert texts == expected


@cache
def evaluated(name: str) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Objects and detections of each image of a set."""
    folder = EXAMPLES / name
    suffix = "zip" if name == "icdar" else "txt"
    pictures = {"gt_images": folder / "gt", "det_images": folder / "det"} if name in MASKS else {}
    found = evaluate(folder / f"gt.{suffix}", folder / f"det.{suffix}", per_image=True, **pictures)
    return {
        image.name: {side: json_of(image)[side] for side in ("objects", "detections")}
        for image in found.images
    }


def labels_of(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture)


def test_boxes_show_every_match():
    images = evaluated("words").values()
    assert {entry["match"] for image in images for entry in image["objects"]} == MATCHES
    matches = {entry["match"] for image in images for entry in image["detections"]}
    assert matches == MATCHES - {"missed"} | {"false-positive"}


# The walk-through ---------------------------------------------------------------------------------


def quoted_objects() -> list[tuple[str, str, list[str]]]:
    """Set, image and remaining cells of every row of the walk-through's tables."""
    rows, name, image = [], "words", ""
    for line in WALK_THROUGH.splitlines():
        if command := re.search(r"evaltex examples/(\S+)/gt\.", line):
            name = command[1]
        elif heading := re.fullmatch(r"### (\w+)", line):
            image = heading[1]
        elif re.match(r"(\w+ +)?\d+  ", line):
            cells = re.split("  +", line)
            rows.append((name, cells.pop(0) if len(cells) == 8 else image, cells))
    return rows


def test_every_set_and_every_box_is_quoted():
    rows = quoted_objects()
    assert {name for name, _, _ in rows} == set(SETS) == set(COMMANDS)
    quoted = [(image, cells[0]) for name, image, cells in rows if name == "words"]
    images = evaluated("words").items()
    assert quoted == [
        (image, str(entry["id"])) for image, found in images for entry in found["objects"]
    ]


@pytest.mark.parametrize(("name", "image", "cells"), quoted_objects())
def test_quoted_object_is_that_of_the_results(name, image, cells):
    objects = {str(entry["id"]): entry for entry in evaluated(name)[image]["objects"]}
    entry = objects[cells[0]]
    values = ["–", "–", "–"]
    if entry["match"] != "ignored":
        values = [f"{entry[key] or 0:.6g}" for key in ("coverage", "accuracy", "split")]
    detections = ", ".join(map(str, entry["detections"])) or "–"
    assert cells[2:] == [detections, entry["match"], *values]
    if name != "icdar":
        text = (EXAMPLES / name / "gt.txt").read_text(encoding="utf-8")
        assert re.search(
            rf'^{image}\n[^\n]+\n(.+\n)*?{cells[0]},\d+,"{cells[1]}",', text, re.MULTILINE
        )


def test_sums_and_figures_of_the_text_are_among_the_results():
    """Every figure of six digits outside tables is one of the expected results."""
    assert len(SUMS) >= 12
    assert all(f"{eval(one.replace('·', '*')):.6g}" == value for one, value in SUMS)
    prose = re.sub(r"```[^`]*```|`[^`]*`", "", WALK_THROUGH)
    figures = re.findall(r"0\.\d{5,6}", prose)
    assert len(figures) >= 6
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.glob("**/expected/**/*.txt")]
    known = {figure for text in texts for figure in re.findall(r"0\.\d+", text)}
    unsplit = {f"{entry['coverage_no_split'] or 0:.6g}" for image in evaluated("words").values()
               for entry in image["objects"] if entry["match"] != "ignored"}  # fmt: skip
    assert set(figures) <= known | unsplit


# The script ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run([sys.executable, "-B", EXAMPLES / "draw.py", folder], check=True)
    return folder


def files_below(folder: Path, pattern: str) -> list[Path]:
    return sorted(
        path.relative_to(folder) for path in folder.rglob(pattern) if "expected" not in path.parts
    )


def test_script_draws_every_file_of_the_examples_alike(drawn):
    folders = {path.name for path in drawn.iterdir()}
    kept = [
        path for path in files_below(EXAMPLES, "*.*") if path.parts[0] in folders and path.suffix
    ]
    assert kept == [path for path in files_below(drawn, "*.*") if (drawn / path).is_file()]
    assert len(kept) == 8 + 16 + 8 + 2
    for path in kept:
        if path.suffix == ".png":  # other versions of the library pack them in other bytes
            assert np.array_equal(labels_of(drawn / path), labels_of(EXAMPLES / path)), path
        else:
            assert (drawn / path).read_bytes() == (EXAMPLES / path).read_bytes(), path


def test_examples_are_small():
    assert sum(path.stat().st_size for path in EXAMPLES.rglob("*") if path.is_file()) < 400_000
