"""COCO annotations and results, and AdelaiDet's: what each key means, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_documents import CURVE, FLAT_CURVE, FLAT_QUAD, QUAD, changed
from reading import Read, described, read
from written_files import written

COCO: dict[str, Any] = {
    "info": {"year": 2024},
    "images": [
        {"id": 7, "file_name": "train/one.jpg", "width": 640, "height": 480},
        {"id": 8, "file_name": "train/two.jpg", "width": 320, "height": None},
        {"id": 9, "file_name": "train/empty.jpg"},
    ],
    "annotations": [
        {"id": 12, "image_id": 8, "category_id": 3, "bbox": [5, 6, 7, 8.5], "text": "box"},
        {"id": 0, "image_id": 7, "category_id": 1, "bbox": [1, 1, 5, 2], "segmentation": [FLAT_QUAD]},
        {"id": 4, "image_id": 7, "bbox": [1, 2, 3, 4], "segmentation": {"counts": "x"}, "iscrowd": 1},
        {"id": 5, "image_id": 7, "bbox": [100, 2, 3, 4], "segmentation": [], "ignore": True},
    ],
    "categories": [{"id": 1, "name": "text"}, {"id": 2, "name": "logo"}],
}  # fmt: skip
RESULTS = [
    {"image_id": 8, "category_id": 1, "bbox": [10, 10, 50, 20], "score": 0.5},
    {"image_id": 7, "segmentation": [FLAT_CURVE], "score": 1, "utf8_string": "word"},
    {"image_id": "8", "category_id": 2, "bbox": [10, 60, 50, 20]},
]


def labels(found: Read) -> list[str]:
    assert found.objects.labels is not None
    return list(found.objects.labels)


def places(found: Read) -> list[str]:
    return [found.source.location(row)[2] for row in range(found.objects.count)]


def test_annotations(tmp_path: Path) -> None:
    found = read(written(tmp_path / "gt.json", COCO))
    assert (found.source.format, found.source.names) == ("coco", ["one", "two", "empty"])
    assert found.faults == []
    assert (found.source.ids, found.source.has_file_names) == (["7", "8", "9"], True)
    assert found.source.sizes.tolist() == [[480, 640], [0, 320], [0, 0]]
    assert found.objects.offsets.tolist() == [0, 3, 4, 4]
    assert found.objects.ids.tolist() == found.objects.regions.tolist() == [0, 4, 5, 12]
    assert found.objects.dont_care.tolist() == [False, True, True, False]
    assert found.rings == [QUAD, [], [], []]
    assert described(found)[2:] == [([100, 2, 103, 6], ""), ([5, 6, 12, 14.5], "box")]
    assert labels(found) == ["text", "", "", "3"]
    assert places(found) == [f"annotations[{k}]" for k in (1, 2, 3, 0)]
    one = "1 object of several polygons or a mask taken for its box"
    assert found.warnings == [one]
    assert not read(tmp_path / "gt.json", "det").objects.dont_care.any()
    assert read(tmp_path / "gt.json", "det").objects.ids.tolist() == [1, 2, 3, 1]


def test_results(tmp_path: Path) -> None:
    found = read(written(tmp_path / "det.json", RESULTS), "det")
    assert (found.source.format, found.source.names, found.faults) == ("coco-res", ["8", "7"], [])
    assert (found.source.ids, found.source.has_file_names) == (["8", "7"], False)
    assert described(found)[:2] == [([10, 10, 60, 30], ""), ([10, 60, 60, 80], "")]
    assert (found.texts[2], found.rings[2]) == ("word", CURVE)
    assert found.objects.confidences is not None
    assert np.isnan(found.objects.confidences[1])
    assert found.objects.confidences[[0, 2]].tolist() == [0.5, 1]
    assert labels(found) == ["1", "2", ""]
    assert places(found) == ["[0]", "[2]", "[1]"]


@pytest.mark.parametrize(
    ("files", "names", "warned"),
    [
        (["a/x.jpg", "b\\x.jpg", "z.jpg"], ["a/x", "b/x", "z"], None),
        (["x.jpg", "x.png", "page.1"], ["x.jpg", "x.png", "page.1"], None),
        (["gt_7.jpg", "8", "9"], ["7", "8", "9"], None),
        (["x.jpg", "x.jpg", "y.jpg"], ["7", "8", "9"], "image name 'x.jpg' again"),
        (["../x.jpg", "y/x.jpg", "z.jpg"], ["7", "8", "9"], "image name '../x.jpg'"),
        (["x.jpg", None, "y.jpg"], ["7", "8", "9"], ""),
    ],
)
def test_images_are_named_by_file_if_they_can_be(
    tmp_path: Path, files: list[Any], names: list[str], warned: str | None
) -> None:
    document = changed(COCO, "annotations", to=[])
    for k, file in enumerate(files):
        document = changed(document, "images", k, "file_name", to=file)
    found = read(written(tmp_path / "gt.json", document))
    assert (found.source.names, found.source.ids, found.faults) == (names, ["7", "8", "9"], [])
    assert found.source.has_file_names == (warned is None)
    how = f"images are named by their IDs, not by their files: {warned}"
    assert found.warnings == ([how] if warned else [])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([9, 7, 8, 4], [9, 8, 4, 7]),
        ([9, None, 8, 4], [1, 2, 3, 1]),
        ([9, 1 << 70, 8, 4], [1, 2, 3, 1]),
        ([..., ..., ..., ...], [1, 2, 3, 1]),
    ],
)
def test_ids_that_are_no_whole_numbers_are_replaced(
    tmp_path: Path, ids: list[Any], expected: list[int]
) -> None:
    document: Any = {"images": [{"id": 1}, {"id": 2}], "annotations": []}
    for k, one in enumerate(ids):
        own = {} if one is ... else {"id": one}
        document["annotations"].append({"image_id": 1 + (k == 1), "bbox": [k, 0, 2, 2], **own})
    found = read(written(tmp_path / "gt.json", document))
    assert (found.objects.ids.tolist(), found.faults) == (expected, [])
    assert found.objects.boxes[:, 0].tolist() == [0, 2, 3, 1]


TOP, BOTTOM = [0, 200, 40, 160, 80, 160, 120, 200], [120, 230, 80, 190, 40, 190, 0, 230]
CURVED = {"id": 1, "image_id": 0, "bbox": [0, 160, 120, 70], "bezier_pts": TOP + BOTTOM}
WORD = [52, 50, 33, 51, 40, 0, 95]


def test_adelaidets_curves_are_sampled(tmp_path: Path) -> None:
    document = {"images": [{"id": 0, "file_name": "0.jpg"}], "annotations": [CURVED]}
    found = read(written(tmp_path / "gt.json", document))
    assert (found.source.names, found.faults) == (["0"], [])
    [ring] = np.array(found.rings)
    assert ring[[0, 19, 20, 39]].tolist() == [[0, 200], [120, 200], [120, 230], [0, 230]]
    assert ring[:, 1].min() == pytest.approx(170, abs=0.1)
    x, y = ring.T
    assert abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2 == pytest.approx(3600)


@pytest.mark.parametrize(
    ("codes", "texts", "warned"),
    [
        ([[*WORD, 96, 96], [94, 96]], ["TRASH 口", "~"], False),
        ([[0, 25, 26, 35, 37], []], ["az09", ""], False),
        ([[4000, 5462], [1]], ["", ""], True),
        (["word", None], ["word", ""], False),
    ],
)
def test_adelaidets_texts_may_be_codes(
    tmp_path: Path, codes: list[Any], texts: list[str], warned: bool
) -> None:
    polys = [[[0, 0], [9, 0], [9, 5]], [0, 0, 9, 0, 9, 5]]
    results = [{"image_id": 0, "polys": polys[k % 2], "rec": rec} for k, rec in enumerate(codes)]
    found = read(written(tmp_path / "det.json", results), "det")
    assert (found.texts, found.faults) == (texts, [])
    assert found.flat_rings == [[0, 0, 9, 0, 9, 5]] * len(texts)
    unknown = "2 texts in codes (rec) of an unknown alphabet"
    assert [warning[: len(unknown)] for warning in found.warnings] == [unknown] * warned


FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("annotations", 0, "image_id"), 99, "annotations[0]: image_id 99; expected the ID of"),
    (("annotations", 0, "id"), 4, "annotations[2]: ID 4 again; expected IDs used once"),
    (("annotations", 0, "bbox"), ..., "annotations[0]: no key 'bbox'; expected it, or a segmentation"),
    (("annotations", 0, "bbox", 2), -1, "annotations[0]: width -1, height 8.5; expected both"),
    (("annotations", 0, "bbox", 0), float("nan"), "annotations[0]: 'nan'; expected a finite number"),
    (("annotations", 0, "bezier_pts"), [1] * 12, "annotations[0]: 12 numbers; expected 16"),
    (("annotations", 0, "polys"), [[1, 2], [3, "4"]], "annotations[0].polys[1][1]: "),
    (("annotations", 1, "segmentation"), [[1, 2, 3, 4]], "annotations[1]: 2 vertices; expected three"),
    (("images", 0, "id"), 8, "images[1]: ID 8 again; expected IDs used once"),
    (("images",), {}, "images: an object; expected a list"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "to", "message"), FAULTS)
def test_faults_name_the_place_and_what_was_expected(
    tmp_path: Path, where: tuple[Any, ...], to: Any, message: str
) -> None:
    path = written(tmp_path / "gt.json", changed(COCO, *where, to=to))
    found = read(path)
    assert found.faults[0].startswith(message), found.faults
    if where[0] == "annotations":
        assert len(found.faults) == 1
        assert found.objects.count == 3


def test_attributes_of_cvat(tmp_path: Path) -> None:
    document = changed(COCO, "annotations", to=[])
    for values in ({"rotation": 90, "Text": "w"}, {"rotation": 0.0, "illegible": True}, ["any"]):
        one = {"image_id": 7, "bbox": [10, 10, 40, 20], "segmentation": [], "attributes": values}
        document["annotations"].append(one)
    found = read(written(tmp_path / "gt.json", document))
    boxes = [[20, 0, 40, 40], [10, 10, 50, 30], [10, 10, 50, 30]]
    assert found.objects.boxes.round(9).tolist() == boxes
    assert (found.texts, found.faults) == (["w", "", ""], [])
    assert found.objects.dont_care.tolist() == [False, True, False]


@pytest.mark.parametrize("first", ["images", "annotations"])
def test_long_documents_are_recognised_by_their_beginning(tmp_path: Path, first: str) -> None:
    images = [{"id": k, "file_name": f"{k:064d}.jpg"} for k in range(2000)]
    annotations = [{"id": k, "image_id": k, "bbox": [1, 2, 30, 40]} for k in range(2000)]
    document = {"images": images, "annotations": annotations}
    ordered = {first: document.pop(first), **document}
    found = read(written(tmp_path / "gt.json", ordered))
    assert (found.source.format, len(found.source.names)) == ("coco", 2000)
    assert found.objects.count == 2000
    assert found.source.why.startswith(f"recognised by the key {first}.0.")
    path = written(tmp_path / "gt.json", {first: ordered[first]})
    other = "annotations" if first == "images" else "images"
    assert read(path).faults[0].startswith(f"no key '{other}'")
