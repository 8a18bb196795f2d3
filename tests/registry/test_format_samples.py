"""The sample that each format brings is recognised, read, evaluated and
converted; the documents are up to date.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli import old_formats as formats
from evaltex_cli.conversion.__init__ import BY_SUFFIX
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.image_sizes import with_sizes
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.validation.validation import validate

ROOT = Path(__file__).parents[2]
BOX = [10.0, 10.0, 60.0, 30.0]
MORE = {"box-polygon": [[10.0, 40.0, 60.0, 60.0]]}
"""Boxes that samples have after the first one, where one object alone would
be of another format.
"""


def sample_of(name: str, folder: Path) -> Path:
    if name == "totaltext-mat":
        pytest.importorskip("scipy", reason="scipy, which writes the sample, is not installed")
    folder.mkdir()
    return formats.load(name).write_sample(folder)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """The picture of a sample, whose size those formats need that have fractions of the page."""
    (tmp_path / "pictures").mkdir()
    Image.new("L", (800, 160)).save(tmp_path / "pictures" / "img_1.png")
    return tmp_path / "pictures"


def boxes_of(path: Path, name: str | None, pictures: Path) -> list[list[float]]:
    faults = FaultLog()
    source = with_sizes(formats.open_source(path, "gt", faults, name), pictures)
    images = source.read(np.arange(len(source.names)))
    boxes: list[list[float]] = images.objects.boxes.tolist()
    faults.extend(images.faults)
    faults.raise_if_any()
    return boxes


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_sample_is_recognised_and_has_one_box(name: str, tmp_path: Path, pictures: Path) -> None:
    known, path = formats.load(name), sample_of(name, tmp_path / "sample")
    given = None if known.recognised_by else name
    source = formats.open_source(path, "gt", FaultLog(), given)
    assert (source.format, len(source.names)) == (name, 1)
    assert boxes_of(path, given, pictures) == [BOX, *MORE.get(name, [])]
    assert known.title
    assert known.layout


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_profiler_may_have_all_frames(name: str, tmp_path: Path, pictures: Path) -> None:
    """With their arrays, whose buffers cannot be resized then; Dask's workers have one."""
    path = sample_of(name, tmp_path / "sample")
    frames = []
    sys.setprofile(lambda frame, *_: frames.append(frame))
    try:
        boxes = boxes_of(path, name, pictures)
    finally:
        sys.setprofile(None)
    assert len(frames) > 100
    assert boxes == [BOX, *MORE.get(name, [])]


@pytest.mark.parametrize("name", formats.FORMATS)
def test_formats_of_text_are_known_without_their_modules(name: str) -> None:
    known = formats.load(name)
    assert formats.may_be_text(name) or (known.ending and ".txt" not in known.endings)


def test_an_archive_of_text_is_recognised_without_formats_of_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, load = set(), formats.load
    monkeypatch.setattr(formats, "load", lambda name: (loaded.add(name), load(name))[1])
    path = sample_of("quad", tmp_path / "sample")
    assert formats.open_source(path, "gt", FaultLog()).format == "quad"
    assert "quad" in loaded and not {"coco", "hocr", "via", "voc"} & loaded


@pytest.mark.parametrize(
    "name", [name for name in formats.FORMATS if formats.load(name).recognised_by]
)
def test_validation_says_why_a_sample_was_recognised(name: str, tmp_path: Path) -> None:
    path = sample_of(name, tmp_path / "sample")
    side = validate(path).gt
    assert (side.format, side.reason) == (name, formats.load(name).reason(path))


@pytest.mark.few_fast(20)
@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_sample_is_evaluated_and_converted(name: str, tmp_path: Path, pictures: Path) -> None:
    path = sample_of(name, tmp_path / "sample")
    image = formats.open_source(path, "gt", FaultLog(), name).names[0]
    (tmp_path / "det.txt").write_text(f'{image}\n1,"word",10,10,50,20\n')
    scores = evaluate(path, tmp_path / "det.txt", "iou", gt_format=name, images=pictures).scores
    boxes = [BOX, *MORE.get(name, [])]
    assert (scores["recall"], scores["precision"]) == (1 / len(boxes), 1)
    for ending in BY_SUFFIX:
        converted = tmp_path / f"gt{ending}"
        convert(path, converted, "gt", options=InputOptions(gt_format=name, images=pictures))
        assert boxes_of(converted, None, pictures) == boxes, ending


@pytest.mark.parametrize("name", formats.FORMATS)
def test_images_can_be_read_by_another_process(name: str, tmp_path: Path) -> None:
    file = sample_of(name, tmp_path / "sample")
    path = file if name in ("icdar-xml", "evaltex") else tmp_path / "sample"  # these two are files
    source = formats.open_source(path, "gt", FaultLog(), name)
    sent = pickle.loads(pickle.dumps(source.part(np.arange(1))))
    objects = sent.read_in_any_unit().objects
    assert len(objects.boxes) == 1 + len(MORE.get(name, []))
    assert (
        objects.boxes.tolist()
        == source.part(np.arange(1)).read_in_any_unit().objects.boxes.tolist()
    )


def test_a_folder_is_of_the_format_that_most_of_its_documents_have(tmp_path: Path) -> None:
    labelme, voc = (sample_of(name, tmp_path / name).read_bytes() for name in ("labelme", "voc"))
    mixed = tmp_path / "mixed"
    mixed.mkdir()

    def recognised(*endings: str) -> str:
        for k, ending in enumerate(endings):
            (mixed / f"{len(list(mixed.iterdir())) + k}{ending}").write_bytes(
                labelme if ending == ".json" else voc
            )
        return formats.open_source(mixed, "gt", FaultLog()).format

    assert recognised(".json") == "labelme"
    assert recognised(".xml") == "labelme"  # a draw
    assert recognised(".xml") == "voc"


def test_documents_made_from_the_registries_are_up_to_date() -> None:
    command = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
