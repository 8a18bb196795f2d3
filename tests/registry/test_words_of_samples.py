"""The sample of each format is read alike in every packing and process, evaluated and converted."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from reading import described, read
from written_files import in_folder, zipped

from evaltex_cli import evaluate, validate
from evaltex_cli.conversion import BY_SUFFIX
from evaltex_cli.conversion.convert import convert
from evaltex_cli.formats import FORMATS, load
from evaltex_cli.formats.base import Head
from evaltex_cli.formats.options import InputOptions

ROOT = Path(__file__).parents[2]
IN_FILES = {"icdar-xml", "evaltex"}
"""Formats that are never in folders or archives, which are of other formats then."""


@pytest.fixture
def sample(name: str, tmp_path: Path) -> Path:
    """A folder with the sample and, beside it, the picture that gives fractions their size."""
    (path,) = (ROOT / "tests" / "samples" / name).iterdir()
    folder = in_folder(tmp_path / "sample", {path.name: path.read_bytes()})
    (tmp_path / "pictures").mkdir()
    Image.new("L", (800, 160)).save(tmp_path / "pictures" / "img_1.png")
    return folder / path.name if name in IN_FILES else folder


@pytest.mark.parametrize("name", FORMATS)
def test_every_packing_is_read_alike(sample: Path, name: str, tmp_path: Path) -> None:
    (path,) = (ROOT / "tests" / "samples" / name).iterdir()
    data = path.read_bytes()
    inputs = [
        in_folder(tmp_path / "a", {f"{path.name}.gz": gzip.compress(data)}) / f"{path.name}.gz"
    ]
    if name not in IN_FILES:
        inputs.append(zipped(tmp_path / "a.zip", {f"a/b/{path.name}": data}))
    expected = read(sample, "gt", name)
    for one in inputs:
        found = read(one, "gt", name)
        assert (found.faults, described(found)) == ([], described(expected))
        assert list(found.source.names) == list(expected.source.names)


@pytest.mark.few_fast(20)
@pytest.mark.parametrize("name", FORMATS)
def test_it_is_evaluated_validated_and_converted(sample: Path, name: str, tmp_path: Path) -> None:
    """Its first object is found, and of what is written all boxes are read again."""
    pictures = tmp_path / "pictures"
    convert(
        sample, tmp_path / "gt.txt", "gt", options=InputOptions(gt_format=name, images=pictures)
    )
    expected = read(tmp_path / "gt.txt")
    image, (x0, y0, x1, y1) = expected.source.names[0], expected.objects.boxes[0].tolist()
    (tmp_path / "det.txt").write_text(f'{image}\n1,"word",{x0},{y0},{x1 - x0},{y1 - y0}\n')
    scores = evaluate(sample, tmp_path / "det.txt", "iou", gt_format=name, images=pictures).scores
    assert (scores["recall"], scores["precision"]) == (1 / expected.objects.count, 1)
    if name != "coco-text-train":  # which users must name
        validated = validate(sample, images=pictures).gt
        assert validated.format == name and validated.reason
    for ending in BY_SUFFIX:
        target = tmp_path / f"again{ending}"
        convert(sample, target, "gt", options=InputOptions(gt_format=name, images=pictures))
        assert read(target).objects.boxes.tolist() == expected.objects.boxes.tolist(), ending


VALUES = [
    "null",
    "1",
    '"x"',
    "true",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[{}]",
    "[1]",
    '["a"]',
    "[[[]]]",
]
KEYS = ("data_list", "res", "0", "pages", "responses", "document", "analyzeResult", "Blocks", "annotations",
        "images", "imgs", "anns", "shapes", "_via_img_metadata", "img_1", "lines", "objects")  # fmt: skip
TEXTS = ["", "\0", "{", "[" * 70_000, "<", "<!--" * 20_000, "<a", "\t\n\t", "1,2", "\ud7ff", "PK"]


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_stops_recognition(name: str) -> None:
    documents = [f'{{"{key}": {value}}}' for key in KEYS for value in VALUES]
    for text in [*VALUES, *documents, *(f"[{one}]" for one in documents), *TEXTS]:
        for head in (Head("a", text.encode()), Head("a", text.encode()[:-1], is_whole=False)):
            assert isinstance(load(name).recognised_by(head), str)


def test_a_folder_is_of_the_format_that_most_of_its_documents_have(tmp_path: Path) -> None:
    samples = ROOT / "tests" / "samples"
    for k, (name, ending, found) in enumerate(
        [("labelme", ".json", "labelme"), ("voc", ".xml", "labelme"), ("voc", ".xml", "voc")]
    ):
        (path,) = (samples / name).iterdir()
        (tmp_path / f"{k}{ending}").write_bytes(path.read_bytes())
        assert read(tmp_path).source.format == found  # of a draw the first


def test_documents_made_from_the_registries_are_up_to_date() -> None:
    command = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
