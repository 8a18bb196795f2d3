"""Label Studio's JSON and JSON-MIN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading import Read, read
from written_files import in_folder, written

from evaltex_cli import evaluate
from evaltex_cli.formats.sizes import with_sizes

SIZE = {"original_width": 200, "original_height": 100}
BOX = {"x": 1, "y": 2, "width": 3, "height": 4, "rotation": 0}


def result(value: Any = None, **others: Any) -> dict[str, Any]:
    return SIZE | {"value": BOX if value is None else value} | others


def task(*results: Any, **others: Any) -> dict[str, Any]:
    found = {"id": 1, "data": {"image": "a.png"}, "annotations": [{"result": list(results)}]}
    return found | others


def of(path: Path, *tasks: Any, side: Any = "gt") -> Read:
    return read(written(path / "tasks.json", list(tasks)), side)


def rounded(found: Read) -> list[list[float]]:
    return [np.round(box, 3).tolist() for box in found.objects.boxes]


def test_the_results_of_an_id_are_one_object(tmp_path: Path) -> None:
    turned = {"x": 10, "y": 20, "width": 30, "height": 5, "rotation": 30}
    results = [
        result(turned, id="a"),
        result(turned | {"labels": ["Text"]}, id="a"),
        result(turned | {"text": ["two", "words"]}, id="a"),
        result({"points": [[10, 10], [50, 10], [50, 50]], "polygonlabels": ["###"]}, id="p"),
        result({"x": 50, "y": 50, "radiusX": 5, "radiusY": 10, "rotation": 0}),
        result({"x": 50, "y": 50, "width": 1}),
        {"value": {"choices": ["ok"]}, "id": "c"},
        result({"rle": [1, 2], "brushlabels": ["x"]}),
    ]
    found = of(tmp_path, task(*results))
    assert (found.source.names, found.source.sizes.tolist()) == (["a"], [[100, 200]])
    assert (found.faults, found.texts) == ([], ["two words", "", ""])
    assert found.objects.labels is not None
    assert list(found.objects.labels) == ["Text", "###", ""]
    assert found.objects.dont_care.tolist() == [False, True, False]
    corners = found.objects.outlines.ring(0).round(3).tolist()
    about_the_upper_left = [[20, 20], [71.962, 50], [69.462, 54.33], [17.5, 24.33]]
    assert corners == about_the_upper_left
    assert rounded(found)[1:] == [[20, 10, 100, 50], [90, 40, 110, 60]]
    assert [warning.partition(": ")[2] for warning in found.source.warnings] == [
        "1 circle, ellipse or mask taken for its bounding box",
        "2 points, lines or masks left out: they have no area that can be read",
    ]


@pytest.mark.parametrize(
    ("sets", "side", "boxes"),
    [
        ({"predictions": [{"result": [result(BOX | {"x": 50})]}]}, "det", [[100, 2, 106, 6]]),
        ({"predictions": [{"result": [result(BOX | {"x": 50})]}]}, "gt", [[2, 2, 8, 6]]),
        ({"annotations": [{"was_cancelled": True, "result": [result()] * 2}, {}]}, "gt", []),
        ({"annotations": [{"result": []}, {"result": [result()]}]}, "gt", []),
    ],
)
def test_which_results_are_read(tmp_path: Path, sets: Any, side: Any, boxes: Any) -> None:
    found = of(tmp_path, task(result()) | sets, side=side)
    assert (rounded(found), found.faults) == (boxes, [])
    several = ["1 task has several annotations, of which one not cancelled is read"]
    assert found.warnings == several * (sets.get("annotations", [{}])[0] == {"result": []})


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"image": "/data/upload/3/0a1b2c3d-img_7.jpg"}, "img_7"),
        ({"image": "/data/local-files/?d=sets/20240101-img%207.png"}, "20240101-img 7"),
        ({"image": "https://host/img_7.jpg?X-Signature=a/b"}, "img_7"),
        ({"image": "data:image/png;base64,AAAA"}, "1"),
    ],
)
def test_images_are_named_by_their_files(tmp_path: Path, data: dict[str, str], name: str) -> None:
    assert of(tmp_path, task(result(), data=data)).source.names == [name]


def test_detections_named_with_the_digits_of_an_upload(tmp_path: Path) -> None:
    """As the files in Label Studio's media folder are."""
    gt = [task(result(), data={"image": "/data/upload/7/0a1b2c3d-p1.png"})]
    folder = in_folder(tmp_path / "det", {})
    shape = {"label": "x", "shape_type": "rectangle", "points": [[2, 2], [8, 6]]}
    written(folder / "0a1b2c3d-p1.json", {"shapes": [shape]})
    assert evaluate(written(tmp_path / "gt.json", gt), folder, "iou").scores["hmean"] == 1


def test_without_sizes_it_is_in_fractions(tmp_path: Path) -> None:
    value = {"x": 10, "y": 20, "width": 30, "height": 40}
    found = of(tmp_path, task({"value": value}))
    assert found.source.fractions is not None and found.source.fractions.tolist() == [True]
    Image.new("L", (200, 50)).save(tmp_path / "a.png")
    boxes = with_sizes(found.source, tmp_path).objects.boxes
    assert boxes.round(6).tolist() == [[20, 10, 80, 30]]
    faults = of(tmp_path, task({"value": value | {"rotation": 5}})).faults
    assert "a turned shape without size; expected original_width" in faults[0]


ONE, TWO = SIZE | BOX, SIZE | BOX | {"x": 50}
CORNERS = SIZE | {"points": [[1, 1], [9, 1], [9, 9]]}
TEMPLATE = {
    "bbox": [ONE, ONE],
    "label": [ONE | {"labels": ["A"]}, ONE | {"labels": ["B"]}, CORNERS | {"labels": ["A"]}],
    "poly": [CORNERS],
}
"""The template for OCR has each shape twice; two equal boxes of one list are two objects."""


@pytest.mark.parametrize(
    ("lists", "transcription", "texts", "labels"),
    [
        ({"bbox": [ONE, TWO]}, ["one", "###"], ["one", "###"], None),
        ({"bbox": [ONE]}, ONE | {"text": ["one", "two"]}, ["one two"], None),
        (TEMPLATE, ["one", "two", "three"], ["one", "two", "three"], ["A", "B", "A"]),
        ({"bbox": [ONE, TWO]}, ["one", TWO], ["one", ""], None),
        ({"bbox": [ONE, TWO]}, ["one"], ["", ""], None),
    ],
)
def test_minimal(tmp_path: Path, lists: Any, transcription: Any, texts: Any, labels: Any) -> None:
    ids = {"ocr": "/data/upload/1/a.png", "id": 1, "annotator": 1, "annotation_id": 2}
    found = of(tmp_path, ids | lists | {"transcription": transcription})
    assert (found.source.format, found.source.names) == ("label-studio", ["a"])
    assert (found.faults, found.texts) == ([], texts)
    assert found.objects.dont_care.tolist() == [text == "###" for text in texts]
    assert labels == (found.objects.labels and list(found.objects.labels))
    lost = "1 task of JSON-MIN lost texts, which fit no list of shapes: export JSON"
    assert found.warnings == [lost] * (texts == ["", ""])
