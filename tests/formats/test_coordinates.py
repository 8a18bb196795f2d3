"""The scale and order of a model's boxes: real detections come back from each way to write them, or
are refused; they are never read wrongly without a word.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read
from written_files import written

from evaltex_cli import evaluate, image_objects
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.evaluation.pairing import without_other_pages
from evaltex_cli.formats import reading
from evaltex_cli.formats.coordinates import CANDIDATES
from evaltex_cli.formats.memory import source
from evaltex_cli.formats.options import ORDERS, Coordinates, InputOptions
from evaltex_cli.records import Floats

REAL = Path(__file__).parents[1] / "golden" / "totaltext"
SEEDS = st.integers(0, 1000)


@cache
def boxes_of(side: str) -> dict[str, Floats]:
    """The boxes of each image of 20 images of Total-Text."""
    found = read(REAL / f"{side}.zip", "gt" if side == "gt" else "det").source
    return dict(
        zip(found.names, np.split(found.objects.boxes, found.objects.offsets[1:-1]), strict=True)
    )


@cache
def sizes() -> dict[str, Floats]:
    """Widths and heights that all boxes fit in, as the pictures are not here."""
    gt, det = boxes_of("gt"), boxes_of("det")
    return {name: np.ceil(np.vstack([gt[name], det[name]]).max(axis=0)[2:]) + 9 for name in gt}


@pytest.fixture(scope="module")
def gt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    images, annotations = [], []
    for k, (name, boxes) in enumerate(boxes_of("gt").items()):
        width, height = sizes()[name].tolist()
        images.append({"id": k, "file_name": f"{name}.jpg", "width": width, "height": height})
        for x0, y0, x1, y1 in boxes.tolist():
            box = [x0, y0, x1 - x0, y1 - y0]
            annotations.append({"id": len(annotations), "image_id": k, "bbox": box})
    document = {"images": images, "annotations": annotations, "categories": []}
    return written(tmp_path_factory.mktemp("gt") / "gt.json", document)


def answer(name: str, boxes: Floats, coordinates: Coordinates, key: str = "box") -> str:
    """A model's answer of these boxes of an image, its numbers rounded as models do."""
    whole = 1.0 if coordinates.scale is None else np.tile(sizes()[name], 2) / coordinates.scale
    x0, y0, x1, y1 = (boxes / whole).T
    numbers = {
        "xyxy": (x0, y0, x1, y1),
        "yxyx": (y0, x0, y1, x1),
        "xywh": (x0, y0, x1 - x0, y1 - y0),
        "cxcywh": ((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0),
    }[coordinates.order]
    decimals = {1.0: 3, 100.0: 1}.get(coordinates.scale or 0, 0)
    items = [{key: row} for row in np.round(np.array(numbers).T, decimals).tolist()]
    return f"These are the words:\n{json.dumps(items)}\n"


def open_answers(gt: Path, answers: dict[str, str]) -> Inputs:
    records = [{"image": f"{name}.jpg", "response": text} for name, text in answers.items()]
    path = written(gt.parent / "det.jsonl", "\n".join(map(json.dumps, records)))
    return open_inputs(gt, path, InputOptions())


def boxes_read(found: Inputs) -> dict[str, Any]:
    objects = found.det.objects
    return dict(zip(found.det.names, np.split(objects.boxes, objects.offsets[1:-1]), strict=True))


def distance(boxes: dict[str, Any], others: dict[str, Any]) -> float:
    """The mean difference of coordinates, in pixels, on the images of `others`."""
    pairs = [np.abs(boxes[name] - other) for name, other in others.items()]
    return float(np.vstack(pairs).mean())


@pytest.mark.parametrize("coordinates", CANDIDATES, ids=str)
def test_boxes_come_back_from_each_reading(gt: Path, coordinates: Coordinates) -> None:
    det = boxes_of("det")
    found = open_answers(gt, {name: answer(name, one, coordinates) for name, one in det.items()})
    assert found.options.coordinates == str(coordinates)
    assert distance(boxes_read(found), det) < 1
    assert f"are read as {coordinates}, by their fit" in str(found.det.warnings)


@given(SEEDS, st.sampled_from(CANDIDATES), st.integers(3, 20), st.sampled_from([0, 0.3, 0.7]))
@settings(max_examples=100)
def test_some_images_with_false_boxes_are_read_rightly_or_refused(
    gt: Path, seed: int, coordinates: Coordinates, count: int, share: float
) -> None:
    """A share of the boxes is replaced by those of another image."""
    draw, det = np.random.default_rng(seed), boxes_of("det")
    names = draw.permutation(list(det))[:count].tolist()
    mixed = {}
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        false = det[other] * np.tile(sizes()[name] / sizes()[other], 2)
        is_false = draw.random(len(det[name])) < share
        mixed[name] = np.vstack([det[name][~is_false], false[: is_false.sum()]])
    try:
        found = open_answers(
            gt, {name: answer(name, one, coordinates) for name, one in mixed.items()}
        )
    except InputError as error:
        assert "--coordinates" in str(error)
    else:
        assert distance(boxes_read(found), mixed) < 10


@given(SEEDS, st.sampled_from(CANDIDATES), st.sampled_from(ORDERS))
@settings(max_examples=30)
def test_one_reading_is_chosen_for_all_images_in_any_order(
    gt: Path, seed: int, ours: Coordinates, order: str
) -> None:
    """Every fourth image is written in another order, and read as the others are."""
    other = ours._replace(order=order)
    det, names = boxes_of("det"), list(boxes_of("det"))
    answers = {
        name: answer(name, det[name], ours if k % 4 else other) for k, name in enumerate(names)
    }
    results = []
    for some in (names, np.random.default_rng(seed).permutation(names).tolist()):
        try:
            found = open_answers(gt, {name: answers[name] for name in some})
        except InputError as error:
            results.append(str(error))
            continue
        read, fourth = boxes_read(found), {name: det[name] for name in names[::4]}
        assert found.options.coordinates == str(ours)
        assert ours == other or distance(read, fourth) > 10
        assert distance(read, {name: det[name] for name in det.keys() - fourth}) < 1
        results.append(str(sorted((name, boxes.tolist()) for name, boxes in read.items())))
    assert results[0] == results[1]


def test_the_number_of_workers_does_not_matter(
    gt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, boxes in boxes_of("det").items():
        written(tmp_path / f"{name}.txt", answer(name, boxes, Coordinates("yxyx", 1000.0)))
    at_once = open_inputs(gt, tmp_path, InputOptions())
    monkeypatch.setattr(reading, "FILES_AT_ONCE", 3)
    in_parts = open_inputs(gt, tmp_path, InputOptions(), partial(map))
    assert at_once.options.coordinates == in_parts.options.coordinates == "yxyx:1000"
    assert at_once.det.objects.boxes.tolist() == in_parts.det.objects.boxes.tolist()


def test_the_option_overrides_and_the_signature_names_the_reading(gt: Path) -> None:
    ours, other = Coordinates("xyxy", 1000.0), Coordinates("yxyx", 1000.0)
    open_answers(gt, {name: answer(name, one, ours) for name, one in boxes_of("det").items()})
    path = gt.parent / "det.jsonl"
    found, declared, wrong = (
        evaluate(gt, path, "iou", coordinates=one) for one in (None, str(ours), str(other))
    )
    assert found.scores == declared.scores
    assert found.signature == declared.signature
    assert "|coordinates:xyxy:1000|" in found.signature
    assert "|coordinates:yxyx:1000|" in wrong.signature
    assert found.scores["hmean"] > 0.4 and wrong.scores["hmean"] < 0.1


@pytest.mark.parametrize("key", ["box_2d", "bbox_2d"])
@given(st.sampled_from(CANDIDATES))
def test_a_key_that_fixes_the_reading_is_checked_and_never_switched(
    gt: Path, key: str, coordinates: Coordinates
) -> None:
    """Gemini's key allows one reading, Qwen's two: pixels or 0 to 1000, both xyxy."""
    det = boxes_of("det")
    answers = {name: answer(name, one, coordinates, key) for name, one in det.items()}
    allowed = {"box_2d": ["yxyx:1", "yxyx:1000"]}.get(key, ["xyxy:1", "xyxy:1000", "xyxy:pixels"])
    try:
        found = open_answers(gt, answers)
    except InputError as error:
        assert str(coordinates) not in allowed
        assert f"{coordinates} fits" in str(error)
    else:
        assert found.options.coordinates == str(coordinates) in allowed
        assert distance(boxes_read(found), det) < 1


def test_a_default_is_kept_where_sizes_of_pictures_are_not_known(gt: Path) -> None:
    document = json.loads(gt.read_text())
    for image in document["images"]:
        image["width"] = image["height"] = None
    unknown = written(gt.parent / "unknown.json", document)
    answers = {
        "img2": answer("img2", boxes_of("det")["img2"], Coordinates("yxyx", 1000.0), "box_2d")
    }
    found = open_answers(unknown, answers)
    assert found.options.coordinates == "yxyx:1000"
    assert "the sizes of some pictures are not known" in found.det.warnings[0]


def test_what_fits_nothing_or_two_ways_is_refused(gt: Path) -> None:
    det = boxes_of("det")
    names = sorted(det, key=lambda name: len(det[name]))
    xyxy, yxyx = Coordinates("xyxy", 1000.0), Coordinates("yxyx", 1000.0)
    finer = xyxy._replace(scale=1024.0)
    moved = dict(zip(names, [*names[1:], names[0]], strict=True))
    for answers, message in (
        ({name: answer(one, det[one], xyxy) for name, one in moved.items()}, "are not known "),
        ({name: answer(name, det[name], finer) for name in names}, "or xyxy:1024"),
        (
            {name: answer(name, det[name], (xyxy, yxyx)[k % 2]) for k, name in enumerate(names)},
            r"are not known \(mean best IoU: xyxy:1000 0.45, yxyx:1000 0.44",
        ),
        (
            {name: answer(name, det[name] + 5000, yxyx, "box_2d") for name in names},
            "its boxes are yxyx:1000 by .*, but most are impossible so",
        ),
    ):
        with pytest.raises(InputError, match=f"{message}.*--coordinates"):
            open_answers(gt, answers)


def test_pages_that_only_the_detections_have_are_counted() -> None:
    gt = source("gt", {"doc-2": image_objects([])}, {})
    pages = {name: image_objects([]) for name in ("doc-1", "doc-2", "doc-10", "img-3")}
    files = ["det/doc.json"] * 3 + ["det/img-3.json"]
    found = without_other_pages(gt, replace(source("det", pages, {}), files=files))
    assert list(found.names) == ["doc-2", "img-3"]
    (warning,) = found.warnings
    expected = (
        "2 pages of documents are not in the ground truth and were left out: 'doc-1', 'doc-10'"
    )
    assert expected in warning
