"""The JSON formats of data sets: what each record means, and how a document's kind is detected."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_documents import (
    ART,
    ART_RESULTS,
    COCO,
    COCO_RESULTS,
    COCO_TEXT,
    CURVE,
    FLAT_CURVE,
    FLAT_QUAD,
    HIERTEXT,
    LABELME,
    QUAD,
    SAMPLES,
    TEXTOCR,
    changed,
)
from reading import read
from written_files import written, zipped

from evaltex_cli import InputError, evaluate
from evaltex_cli import old_formats as formats
from evaltex_cli.conversion.convert import convert


def test_art(tmp_path: Path) -> None:
    found = read(written(tmp_path / "gt.json", ART))
    assert (found.source.format, found.source.names, found.faults) == ("art", ["1", "20", "3"], [])
    assert found.objects.offsets.tolist() == [0, 2, 3, 3]
    assert found.objects.dont_care.tolist() == [False, True, False]
    assert found.texts == ["one, two", "###", "日本"]
    assert found.rings == [QUAD, CURVE, QUAD]
    assert found.objects.ids.tolist() == found.objects.regions.tolist() == [1, 2, 1]
    det = read(written(tmp_path / "det.json", ART_RESULTS), "det")
    assert det.source.names == ["1", "20"]
    assert det.objects.confidences is not None and det.objects.confidences.tolist() == [0.75]


def test_in_detections_nothing_is_dont_care(tmp_path: Path) -> None:
    for name, document in SAMPLES.items():
        found = read(written(tmp_path / f"{name}.json", document), "det")
        assert found.objects.count and not found.objects.dont_care.any()
        assert not found.faults


def test_coco(tmp_path: Path) -> None:
    found = read(written(tmp_path / "gt.json", COCO))
    assert (found.source.format, found.source.names, found.faults) == (
        *("coco", ["one", "two", "empty"], []),
    )
    assert list(found.source.ids or ()) == ["7", "8", "9"]
    assert found.images.sizes.tolist() == [[480, 640], [240, 320], [24, 32]]
    assert found.objects.ids.tolist() == found.objects.regions.tolist() == [0, 4, 5, 12]
    assert found.objects.dont_care.tolist() == [False, True, True, False]
    assert found.rings == [QUAD, [], [], []]
    assert found.objects.boxes.tolist() == [
        [10, 10, 60, 30],
        [1, 2, 4, 6],
        [100, 2, 103, 6],
        [5, 6, 12, 14.5],
    ]
    assert found.texts == ["", "", "", "box"]
    (warning,) = found.source.warnings
    assert "1 object of several polygons or run-length masks taken for its bounding box" in warning


@pytest.mark.parametrize(
    ("files", "names", "warned"),
    [
        (["a/x.jpg", "b/y.PNG", "z"], ["x", "y", "z"], None),
        (["a/x.jpg", "b\\x.jpg", "z.jpg"], ["a/x", "b/x", "z"], None),
        (["x.jpg", "x.png", "page.1"], ["x.jpg", "x.png", "page.1"], None),
        (["gt_7", "8", "9"], ["7", "8", "9"], None),
        (["x.jpg", "x.jpg", "y.jpg"], ["7", "8", "9"], "image name 'x.jpg' again"),
        (["../x.jpg", "y/x.jpg", "z.jpg"], ["7", "8", "9"], "image name '../x.jpg'"),
        (["x.jpg", None, "y.jpg"], ["7", "8", "9"], None),
        (["x.jpg", 5, ""], ["7", "8", "9"], None),
        (["x.jpg", ..., "y.jpg"], ["7", "8", "9"], None),
    ],
)
def test_coco_images_are_named_by_file_if_they_can_be(
    tmp_path: Path, files: list[Any], names: list[str], warned: str | None
) -> None:
    document = COCO
    for k, file in enumerate(files):
        document = changed(document, "images", k, "file_name", to=file)
    found = read(written(tmp_path / "gt.json", document))
    assert (list(found.source.names), found.faults) == (names, [])
    assert list(found.source.ids or ()) == ["7", "8", "9"]
    how = "images are named by their IDs, not by their files"
    warnings = [one for one in found.source.warnings if "mask" not in one]
    assert warnings == ([f"{tmp_path}/gt.json: {how}: {warned}"] if warned else [])


def test_coco_several_polygons_are_taken_for_their_box(tmp_path: Path) -> None:
    several = changed(COCO, "annotations", 1, "segmentation", to=[FLAT_QUAD, FLAT_CURVE])
    without = changed(several, "annotations", 1, "bbox", to=...)
    assert read(written(tmp_path / "a.json", several)).objects.boxes[0].tolist() == [10, 10, 60, 30]
    found = read(written(tmp_path / "b.json", without))
    assert found.objects.boxes[0].tolist() == [10, 10, 140, 120]
    assert "2 objects" in found.source.warnings[0]


def test_results_of_adelaidet(tmp_path: Path) -> None:
    word = {
        "image_id": 3,
        "category_id": 1,
        "polys": [[0, 0], [9, 0], [9, 5], [0, 5]],
        "rec": "word",
        "score": 0.5,
    }
    path = tmp_path / "text_results.json"
    path.write_text(json.dumps([word, word | {"polys": [[0, 0]]}]))
    found = read(path, "det")
    assert (found.source.format, found.source.names, found.texts) == ("coco-res", ["3"], ["word"])
    assert (found.flat_rings, found.faults) == (
        [[0, 0, 9, 0, 9, 5, 0, 5]],
        ["[1].polys: 1 vertices; expected three or more"],
    )


def test_coco_results_pair_with_annotations_by_image_id(tmp_path: Path) -> None:
    gt, det = written(tmp_path / "gt.json", COCO), written(tmp_path / "det.json", COCO_RESULTS)
    found = read(det, "det")
    assert (found.source.format, found.source.names, found.faults) == ("coco-res", ["7", "8"], [])
    assert found.objects.confidences is not None and found.objects.confidences.tolist() == [
        0.5,
        0.25,
        1,
    ]
    assert found.objects.boxes.tolist() == [[10, 10, 60, 30], [10, 60, 60, 80], [100, 90, 140, 120]]
    assert found.texts == ["", "", "word"]
    evaluation = evaluate(gt, det)
    assert (evaluation.gt.format, evaluation.det.format) == ("coco", "coco-res")
    assert evaluation.det.missing == 1
    assert 0 < evaluation.scores["recall"] < 1
    text_results = [{"image_id": 5, "bbox": [10, 10, 50, 20], "score": 0.5}]
    gt = written(tmp_path / "text.json", COCO_TEXT)
    assert evaluate(gt, written(det, text_results)).scores["recall"] > 0.5


def test_coco_text_reads_val_or_train(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.json", COCO_TEXT)
    found = read(path)
    assert (found.source.format, found.source.names, found.faults) == ("coco-text", ["5"], [])
    assert found.objects.ids.tolist() == [45346, 45347]
    assert found.objects.dont_care.tolist() == [False, True]
    assert found.rings == [QUAD, []]
    assert found.texts == ["the", ""]
    assert found.images.sizes.tolist() == [[480, 640]]
    assert "1 image that is not of the set 'val' was left out" in found.source.warnings[0]
    train = read(path, "gt", "coco-text-train")
    assert (train.source.names, train.rings) == (["6"], [CURVE])
    whole = read(written(path, changed(COCO_TEXT, "imgs", "5", "set", to="test")))
    assert (whole.source.names, whole.source.warnings) == (["5", "6"], ())


@pytest.mark.parametrize("key", ["imgToAnns", "img2Anns", None])
def test_textocr(tmp_path: Path, key: str | None) -> None:
    document = changed(TEXTOCR, "imgToAnns", to=...) | ({key: {}} if key else {})
    found = read(written(tmp_path / "gt.json", document))
    assert (found.source.format, found.source.names, found.faults) == ("textocr", ["a4ea"], [])
    assert found.rings == [QUAD, CURVE]
    assert found.objects.ids.tolist() == [1, 2]
    assert found.objects.dont_care.tolist() == [False, True]


def test_hiertext_levels(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.jsonl", HIERTEXT)
    words = read(path)
    assert (words.source.format, words.source.names, words.faults) == ("hiertext", ["000e"], [])
    assert words.images.sizes.tolist() == [[480, 640]]
    assert words.texts == ["two", "", "three"]
    assert words.objects.dont_care.tolist() == [False, True, False]
    assert (words.objects.ids.tolist(), words.objects.regions.tolist()) == ([1, 2, 3], [1, 1, 2])
    assert read(path, "det").objects.regions.tolist() == [1, 1, 2]
    lines = read(path, "gt", "hiertext-line")
    assert (lines.texts, lines.objects.dont_care.tolist()) == (
        ["two words", "three"],
        [True, False],
    )
    assert lines.objects.regions.tolist() == [1, 2]
    paragraphs = read(path, "gt", "hiertext-para")
    assert paragraphs.objects.boxes.tolist() == [[0, 0, 200, 50]]
    for level in ("hiertext", "hiertext-line", "hiertext-para"):
        scores = evaluate(path, path, gt_format=level, det_format=level).scores
        assert scores["recall"] == scores["precision"] == 1


def test_hiertext_words_that_make_lines_and_paragraphs(tmp_path: Path) -> None:
    """Lines and paragraphs say whether they count; a line without words is its own polygon."""
    box = {"vertices": [[0, 0], [9, 0], [9, 9], [0, 9]]}
    far = {"vertices": [[50, 0], [59, 0], [59, 9], [50, 9]]}
    lines = [box | {"legible": False, "words": [box, far]}, box | {"legible": True, "words": []}]
    paragraphs = [
        {"legible": True, "lines": [{"legible": True, "words": [box | {"legible": False}, far]}]},
        box | {"legible": False, "lines": lines},
        box | {"legible": True, "lines": []},
    ]
    path = written(
        tmp_path / "gt.jsonl", {"annotations": [{"image_id": "i", "paragraphs": paragraphs}]}
    )
    words = read(path, "gt", "hiertext-line-words")
    assert words.faults == []
    assert words.objects.regions.tolist() == [1, 1, 2, 2, 3]
    assert words.objects.dont_care.tolist() == [False, False, True, True, False]
    words = read(path, "gt", "hiertext-para-words")
    assert words.faults == []
    assert words.objects.regions.tolist() == [1, 1, 2, 3]
    assert words.objects.dont_care.tolist() == [False, False, True, False]
    assert words.objects.boxes[:, 0].tolist() == [0, 50, 0, 0]
    assert not read(path, "det", "hiertext-para-words").objects.dont_care.any()
    paragraphs[0]["lines"][0]["words"][1] = {"vertices": 5}
    faulty = read(
        written(path, {"annotations": [{"image_id": "i", "paragraphs": paragraphs}]}),
        "gt",
        "hiertext-para-words",
    )
    assert faulty.faults == [
        "annotations[0].paragraphs[0].lines[0].words[1].vertices: 5; expected a list [...]"
    ]


def test_hiertext_packed_by_gzip(tmp_path: Path) -> None:
    path = tmp_path / "validation.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(HIERTEXT).encode()))
    assert read(path).source.format == "hiertext"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged gzip data"):
        read(path)


def test_labelme_shapes_of_other_kinds(tmp_path: Path) -> None:
    def shape(kind: str, *points: list[float]) -> dict[str, Any]:
        return {"label": kind, "points": points, "shape_type": kind, "score": None, "flags": {}}

    corners = [[0, 0], [9, 0], [9, 5], [0, 5]]
    turned = [[5, 0], [10, 5], [5, 10], [0, 5]]
    shapes = [
        shape("rectangle", *corners),
        shape("rectangle", *turned),
        shape("quadrilateral", *turned),
    ]
    shapes += [
        shape("circle", [50, 60], [53, 64]),
        shape("mask", [1, 2], [3, 4]),
        shape("line", [1, 2], [3, 4]),
    ]
    path = tmp_path / "img.json"
    path.write_text(json.dumps({"shapes": shapes}))
    found = read(path)
    assert (found.faults, found.texts) == (
        [],
        ["rectangle", "rectangle", "quadrilateral", "circle", "mask"],
    )
    assert found.objects.boxes.tolist() == [
        *([0, 0, 9, 5], [0, 0, 10, 10], [0, 0, 10, 10]),
        *([45, 55, 55, 65], [1, 2, 3, 4]),
    ]
    assert found.objects.outlines.counts.tolist() == [0, 4, 4, 0, 0]
    assert found.source.warnings == (
        f"{path}: 2 circles, ellipses or masks taken for their bounding boxes",
        f"{path}: 1 point, line or mask left out: it has no area that can be read",
    )


def test_labelme(tmp_path: Path) -> None:
    folder = tmp_path / "gt"
    folder.mkdir()
    written(folder / "img_10.json", LABELME)
    written(folder / "img_2.json", {"shapes": [], "imageHeight": None})
    written(folder / "classes.txt", "text")
    found = read(folder)
    assert (found.source.format, found.source.names, found.faults) == (
        "labelme",
        ["img_2", "img_10"],
        [],
    )
    assert found.objects.offsets.tolist() == [0, 0, 4]
    assert found.images.sizes.tolist() == [[0, 0], [480, 640]]
    assert found.texts == ["word", "Café", "###", "hard"]
    assert found.objects.boxes[1].tolist() == [70, 60, 90, 80]
    assert found.objects.dont_care.tolist() == [False, False, True, True]
    assert found.rings == [QUAD, [], CURVE, []]
    assert "1 file that is not .json was left out: 'classes.txt'" in found.source.warnings[0]
    single = read(folder / "img_10.json")
    assert (single.source.names, single.texts) == (["img_10"], found.texts)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_is_recognised_by_content_in_file_folder_and_archive(
    tmp_path: Path, name: str
) -> None:
    text = json.dumps(SAMPLES[name], indent=1)
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    archived = {"inner/img.json": text, "__MACOSX/inner/._img.json": "x"}
    paths = [
        written(tmp_path / "img.txt", "\ufeff" + text),
        written(folder / "img.json", text).parents[1],
        zipped(tmp_path / "a.zip", archived),
    ]
    found = [read(path) for path in paths]
    assert [one.source.format for one in found] == [name] * 3
    assert [one.source.names for one in found] == [found[0].source.names] * 3
    assert [one.texts for one in found] == [found[0].texts] * 3
    assert len({one.source.sha256 for one in found}) == 3
    assert not any(one.faults for one in found)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_converted_is_the_same_evaluated(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "img.json", SAMPLES[name])
    target = tmp_path / "gt.txt"
    objects = read(path).objects
    done = convert(path, target, "gt")
    assert done.objects == objects.count
    copied = read(target).objects
    for column in ("ids", "regions", "dont_care", "boxes"):
        assert getattr(copied, column).tolist() == getattr(objects, column).tolist()
    convert(path, tmp_path / "det.txt", "det")
    for det in (path, tmp_path / "det.txt"):
        for gt in (path, target):
            scores = evaluate(gt, det).scores
            assert scores["recall"] == scores["precision"] == 1


@pytest.mark.parametrize(
    ("document", "name"), [("[]", "coco-res"), ("{}", "art"), ('{"annotations": []}', "hiertext")]
)
def test_empty_detections(tmp_path: Path, document: str, name: str) -> None:
    det = written(tmp_path / "det.json", document)
    assert read(det, "det").source.format == name
    evaluation = evaluate(written(tmp_path / "gt.json", ART), det)
    assert evaluation.scores["recall"] == 0
    with pytest.raises(InputError, match="no image; expected at least one in ground truth"):
        evaluate(det, det)


@pytest.mark.parametrize(
    ("scores", "expected", "warning"),
    [
        ([0.5, 1], [0.5, 1], None),
        (
            [99.5, 0.5],
            [0.995, 0.005],
            "its confidences are percent, up to 99.5; they were divided by 100",
        ),
        (
            [0.3, 3],
            [0.3, 3],
            "its confidences are from 0 to 3, not in [0, 1]; they are used as they are",
        ),
        (
            [-8, 0.5],
            [-8, 0.5],
            "its confidences are from -8 to 1, not in [0, 1]; they are used as they are",
        ),
        (
            [150, None],
            [150, np.nan],
            "its confidences are from 0 to 150, not in [0, 1]; they are used as they are",
        ),
    ],
)
def test_confidences_of_other_scales(
    tmp_path: Path, scores: list[float | None], expected: list[float], warning: str | None
) -> None:
    results = [
        {"image_id": k, "bbox": [1, 2, 3, 4], "score": score} for k, score in enumerate(scores)
    ]
    path = written(tmp_path / "det.json", results)
    found = read(path, "det")
    assert found.faults == []
    assert found.objects.confidences is not None
    np.testing.assert_allclose(found.objects.confidences, expected)
    assert [one.startswith(f"{path}: {warning}") for one in found.source.warnings] == (
        [True] if warning else []
    )


def test_text_is_not_taken_for_json(tmp_path: Path) -> None:
    folder = tmp_path / "det"
    folder.mkdir()
    written(folder / "res_1.txt", "1,2,3,4")
    written(folder / "config.json", ART)
    assert read(folder, "det").source.format == "ltrb"
    for name in ("[1]", "{a}", "[[1]", '"x"'):
        text = written(tmp_path / "gt.txt", f'{name}\n10,10\n1,1,"",f,1,2,3,4\n')
        assert read(text).source.format == "evaltex"


def test_the_documentation_names_every_format() -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [name for name in formats.FORMATS if f"`{name}`" not in text] == []
