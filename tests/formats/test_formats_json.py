"""The JSON formats: what each record means, how a document's kind is detected, and every fault."""

from __future__ import annotations

import copy
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read

from evaltex_cli import InputError, evaluate, formats
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.files import archive

QUAD = [[10, 10], [60, 12.5], [60, 30], [10, 28]]
CURVE = [[100, 100], [120, 90], [140, 100], [140, 120], [120, 110], [100, 120]]
FLAT_QUAD = [value for point in QUAD for value in point]
FLAT_CURVE = [value for point in CURVE for value in point]

ART = {
    "gt_1": [
        {"points": QUAD, "transcription": "one, two", "language": "Latin", "illegibility": False},
        {"points": CURVE, "transcription": "###", "language": "Latin", "illegibility": True},
    ],
    "gt_20": [{"points": QUAD, "transcription": "日本", "illegibility": False}],
    "gt_3": [],
}
ART_RESULTS = {"res_1": [{"points": QUAD, "confidence": 0.75}], "res_20": []}
COCO: dict[str, Any] = {
    "info": {"year": 2024},
    "images": [
        {"id": 7, "file_name": "train/one.jpg", "width": 640, "height": 480},
        {"id": 8, "file_name": "train/two.jpg", "width": 320, "height": 240},
        {"id": 9, "file_name": "train/empty.jpg", "width": 32, "height": 24},
    ],
    "annotations": [
        {
            "id": 12,
            "image_id": 8,
            "category_id": 1,
            "bbox": [5, 6, 7, 8.5],
            "iscrowd": 0,
            "text": "box",
        },
        {
            "id": 0,
            "image_id": 7,
            "category_id": 1,
            "bbox": [10, 10, 50, 20],
            "segmentation": [FLAT_QUAD],
            "iscrowd": 0,
        },
        {
            "id": 4,
            "image_id": 7,
            "bbox": [1, 2, 3, 4],
            "segmentation": {"size": [9, 9], "counts": "x"},
            "iscrowd": 1,
        },
        {"id": 5, "image_id": 7, "bbox": [100, 2, 3, 4], "segmentation": [], "ignore": 1},
    ],
    "categories": [{"id": 1, "name": "text"}],
}
COCO_RESULTS = [
    {"image_id": 7, "category_id": 1, "bbox": [10, 10, 50, 20], "score": 0.5},
    {
        "image_id": 8,
        "category_id": 1,
        "segmentation": [FLAT_CURVE],
        "score": 1,
        "utf8_string": "word",
    },
    {"image_id": 7, "category_id": 1, "bbox": [10, 60, 50, 20], "score": 0.25},
]
COCO_TEXT: dict[str, Any] = {
    "cats": {},
    "anns": {
        "45346": {
            "mask": FLAT_QUAD,
            "bbox": [10, 10, 50, 20],
            "image_id": 5,
            "id": 45346,
            "utf8_string": "the",
            "legibility": "legible",
        },
        "45347": {
            "mask": [],
            "bbox": [100, 10, 5, 2],
            "image_id": 5,
            "id": 45347,
            "legibility": "illegible",
        },
        "1": {
            "mask": FLAT_CURVE,
            "bbox": [1, 1, 5, 2],
            "image_id": 6,
            "id": 1,
            "legibility": "legible",
        },
    },
    "imgs": {
        "5": {
            "id": 5,
            "file_name": "COCO_train2014_000000000005.jpg",
            "width": 640,
            "height": 480,
            "set": "val",
        },
        "6": {
            "id": 6,
            "file_name": "COCO_train2014_000000000006.jpg",
            "width": 64,
            "height": 48,
            "set": "train",
        },
    },
    "imgToAnns": {"5": [45346, 45347], "6": [1]},
    "info": {},
}
TEXTOCR: dict[str, Any] = {
    "imgs": {
        "a4ea": {
            "id": "a4ea",
            "width": 640,
            "height": 480,
            "set": "val",
            "file_name": "train/a4ea.jpg",
        }
    },
    "anns": {
        "a4ea_1": {
            "id": "a4ea_1",
            "image_id": "a4ea",
            "bbox": [0, 0, 1, 1],
            "points": FLAT_QUAD,
            "utf8_string": "the",
        },
        "a4ea_2": {
            "id": "a4ea_2",
            "image_id": "a4ea",
            "bbox": [0, 0, 1, 1],
            "points": FLAT_CURVE,
            "utf8_string": ".",
        },
    },
    "imgToAnns": {"a4ea": ["a4ea_1", "a4ea_2"]},
}
HIERTEXT: dict[str, Any] = {
    "info": {"date": "release", "version": "v1"},
    "annotations": [
        {
            "image_id": "000e.jpg",
            "image_width": 640,
            "image_height": 480,
            "paragraphs": [
                {
                    "vertices": [[0, 0], [200, 0], [200, 50], [0, 50]],
                    "legible": True,
                    "lines": [
                        {
                            "vertices": [[0, 0], [200, 0], [200, 20], [0, 20]],
                            "text": "two words",
                            "legible": False,
                            "words": [
                                {
                                    "vertices": [[0, 0], [90, 0], [90, 20], [0, 20]],
                                    "text": "two",
                                    "legible": True,
                                },
                                {
                                    "vertices": [[99, 0], [199, 0], [199, 20], [99, 20]],
                                    "text": "",
                                    "legible": False,
                                },
                            ],
                        },
                        {
                            "vertices": [[0, 30], [90, 30], [90, 50], [0, 50]],
                            "text": "three",
                            "legible": True,
                            "words": [
                                {
                                    "vertices": [[0, 30], [90, 30], [90, 50], [0, 50]],
                                    "text": "three",
                                    "legible": True,
                                }
                            ],
                        },
                    ],
                }
            ],
        }
    ],
}
LABELME: dict[str, Any] = {
    "version": "5.4.1",
    "flags": {},
    "shapes": [
        {"label": "word", "points": QUAD, "group_id": None, "shape_type": "polygon", "flags": {}},
        {
            "label": "text",
            "description": "Café",
            "points": [[90, 80], [70, 60]],
            "shape_type": "rectangle",
        },
        {"label": "###", "points": CURVE, "flags": {}},
        {
            "label": "hard",
            "points": [[0, 0], [5, 5]],
            "shape_type": "rectangle",
            "flags": {"difficult": True},
        },
    ],
    "imagePath": "x.jpg",
    "imageData": "aGVsbG8=" * 1000,
    "imageHeight": 480,
    "imageWidth": 640,
}
SAMPLES: dict[str, Any] = {
    "art": ART,
    "coco": COCO,
    "coco-text": COCO_TEXT,
    "textocr": TEXTOCR,
    "hiertext": HIERTEXT,
    "labelme": LABELME,
}


def written(path: Path, document: Any) -> Path:
    path.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return path


def changed(document: Any, *where: Any, to: Any) -> Any:
    """A copy of a document with one value replaced; deleted where `to` is `...`."""
    copied = copy.deepcopy(document)
    *way, last = where
    inner = copied
    for step in way:
        inner = inner[step]
    if to is ...:
        del inner[last]
    else:
        inner[last] = to
    return copied


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
    assert (found.source.format, found.source.names, found.faults) == ("coco", ["7", "8", "9"], [])
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


def test_coco_images_may_be_named_by_file(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.json", COCO)
    assert read(path, "gt", "coco-file").source.names == ["one", "two", "empty"]
    apart = changed(COCO, "images", 1, "file_name", to="val/one.jpg")
    assert read(written(path, apart), "gt", "coco-file").source.names == [
        "train/one",
        "val/one",
        "train/empty",
    ]
    unnamed = changed(COCO, "images", 1, "file_name", to=...)
    assert "images[1]: no key 'file_name'; expected it next to 'id', 'width', 'height'" in (
        read(written(path, unnamed), "gt", "coco-file").faults
    )
    null = changed(COCO, "images", 1, "file_name", to=None)
    assert (
        "images[1].file_name: null; expected a string"
        in read(written(path, null), "gt", "coco-file").faults
    )


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


def packed(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(name.replace("__", "/"), text)
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_each_is_recognised_by_content_in_file_folder_and_archive(
    tmp_path: Path, name: str
) -> None:
    text = json.dumps(SAMPLES[name], indent=1)
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    archived = tmp_path / "a.zip"
    with zipfile.ZipFile(archived, "w") as file:
        file.writestr("inner/img.json", text)
        file.writestr("__MACOSX/inner/._img.json", "x")
    paths = [
        written(tmp_path / "img.txt", "\ufeff" + text),
        written(folder / "img.json", text).parents[1],
        archived,
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


WORD = ("annotations", 0, "paragraphs", 0, "lines", 0, "words", 1)
FAULTS: list[tuple[Any, tuple[Any, ...], Any, str]] = [
    (ART, ("gt_1", 1, "points"), ..., ("gt_1[1]: no key 'points'; expected it next to" " 'transcription'," " 'language'")),
    (ART, ("gt_1", 0, "points", 2), [1, 2, 3], ("gt_1[0].points[2]: a list of 3; expected a vertex" " [x," " y]")),
    (ART, ("gt_1", 0, "points", 2), 7, "gt_1[0].points[2]: 7; expected a vertex [x, y]"),
    (ART, ("gt_1", 0, "points", 2, 1), "7", "gt_1[0].points[2][1]: '7'; expected a finite number"),
    (ART, ("gt_1", 0, "points", 2, 1), float("nan"), ("gt_1[0].points[2][1]: NaN; expected a finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), float("-inf"), ("gt_1[0].points[2][0]: -Infinity; expected a" " finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), 10**400, "gt_1[0].points[2][0]: 1000"),
    (ART, ("gt_1", 0, "points", 2, 0), 1.1e12, ("gt_1[0].points[2][0]: 1100000000000.0; expected a" " finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), True, "gt_1[0].points[2][0]: true; expected a finite number"),
    (ART, ("gt_1", 0, "points"), QUAD[:2], "gt_1[0].points: 2 vertices; expected three or more"),
    (ART, ("gt_1", 1, "points"), [], "gt_1[1].points: 0 vertices; expected three or more"),
    (ART, ("gt_1", 0, "points"), None, "gt_1[0].points: null; expected a list [...]"),
    (ART, ("gt_1", 0, "transcription"), 5, "gt_1[0].transcription: 5; expected a string"),
    (ART, ("gt_1", 0, "illegibility"), "no", "gt_1[0].illegibility: 'no'; expected true or false"),
    (ART, ("gt_1", 0, "confidence"), "0.5", "gt_1[0].confidence: '0.5'; expected a finite number"),
    (ART, ("gt_1", 0), [], "gt_1[0]: a list of 0; expected an object {...}"),
    (ART, ("gt_20",), None, "gt_20: null; expected a list [...] of words"),
    (ART, ("../x",), [], "../x: image name '../x'; expected a name that stays in the result folder"),
    (ART, ("\ud800",), [], "image name '\\ud800'; expected a name that stays"),
    (ART, ("gt_",), [], "gt_: image name ''; expected a name"),
    (ART, ("res_1",), [], "res_1: image name '1' again; expected image names used once"),
    (COCO, ("annotations", 0, "image_id"), 99, ("annotations[0].image_id: image_id '99'; expected" " the" " ID" " of" " an" " image")),
    (COCO, ("annotations", 0, "image_id"), 8.0, "annotations[0].image_id: 8.0; expected an ID"),
    (COCO, ("annotations", 0, "image_id"), ..., ("annotations[0]: no key 'image_id'; expected it" " next to" " 'id'")),
    (COCO, ("annotations", 0, "id"), 4, "annotations[2].id: ID 4 again; expected IDs used once"),
    (COCO, ("annotations", 0, "id"), ..., ("annotations[0]: no key 'id'; expected it next to" " 'image_id'")),
    (COCO, ("annotations", 0, "id"), 1 << 70, ("annotations[0].id: 1180591620717411303424; expected" " a" " whole" " number")),
    (COCO, ("annotations", 0, "bbox"), ..., "annotations[0]: no key 'bbox'"),
    (COCO, ("annotations", 0, "bbox"), [1, 2, 3], ("annotations[0].bbox: a list of 3; expected x," " y," " width," " height")),
    (COCO, ("annotations", 0, "bbox", 2), -1, ("annotations[0].bbox: width -1, height 8.5; expected" " both" " at" " least" " 0")),
    (COCO, ("annotations", 1, "segmentation"), [[1, 2, 3]], ("annotations[1].segmentation[0]: 3" " coordinates;" " expected")),
    (COCO, ("annotations", 1, "segmentation"), [1, 2], ("annotations[1].segmentation[0]: 1;" " expected" " a" " polygon")),
    (COCO, ("annotations", 1, "segmentation"), "x", ("annotations[1].segmentation: 'x'; expected a" " list" " of" " polygons")),
    (COCO, ("annotations", 1, "segmentation", 0, 3), None, ("annotations[1].segmentation[0][3]:" " null;" " expected" " a")),
    (COCO, ("annotations", 1, "iscrowd"), 2, "annotations[1].iscrowd: 2; expected true or false"),
    (COCO, ("images", 0, "id"), 8, "images[1].id: ID '8' again; expected IDs used once"),
    (COCO, ("images", 0), 8, "images[0]: 8; expected an object {...}"),
    (COCO, ("images", 0, "width"), "wide", "images[0].width: 'wide'; expected a finite number"),
    (COCO, ("images",), {}, "images: an object; expected a list [...]"),
    (COCO_TEXT, ("anns", "1", "image_id"), 9, ("anns.1.image_id: image_id '9'; expected the ID of" " an" " image")),
    (COCO_TEXT, ("anns", "1", "mask"), "x", "anns.1.mask: 'x'; expected a list [...]"),
    (COCO_TEXT, ("anns", "1", "mask"), [1, 2, 3, 4], ("anns.1.mask: 2 vertices; expected three or" " more")),
    (COCO_TEXT, ("imgs", "5"), [], "imgs.5: a list of 0; expected an object {...}"),
    (COCO_TEXT, ("imgs",), [], "imgs: a list of 0; expected an object {...}"),
    (TEXTOCR, ("anns", "a4ea_2", "points"), ..., "anns.a4ea_2: no key 'points'"),
    (TEXTOCR, ("anns", "a4ea_2", "points", 1), {}, ("anns.a4ea_2.points[1]: an object; expected a" " finite" " number")),
    (HIERTEXT, (*WORD, "vertices"), ..., ("annotations[0].paragraphs[0].lines[0].words[1]: no key" " 'vertices'")),
    (HIERTEXT, (*WORD, "vertices", 0, 0), "", ("annotations[0].paragraphs[0].lines[0].words[1].vertices[0][0]:" " ''")),
    (HIERTEXT, WORD[:-1], None, ("annotations[0].paragraphs[0].lines[0].words: null; expected a" " list" " [...]")),
    (HIERTEXT, WORD[:-2], None, ("annotations[0].paragraphs[0].lines[0]: null; expected an object" " {...}")),
    (HIERTEXT, ("annotations", 0, "image_id"), ..., "annotations[0]: no key 'image_id'"),
    (LABELME, ("shapes", 0, "shape_type"), "cuboid", ("shapes[0].shape_type: shape_type 'cuboid';" " expected" " polygon" " or")),
    (LABELME, ("shapes", 1, "points"), QUAD[:3], ("shapes[1].points: 3 points; expected two" " opposite" " corners")),
    (LABELME, ("shapes",), {}, "shapes: an object; expected a list [...]"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "where", "to", "message"), FAULTS)
def test_faults_name_the_place_and_what_was_expected(
    tmp_path: Path, document: Any, where: tuple[Any, ...], to: Any, message: str
) -> None:
    path = written(tmp_path / "gt.json", changed(document, *where, to=to))
    faults = read(path).faults
    assert any(fault.startswith(message) or message in fault for fault in faults), faults
    with pytest.raises(InputError, match=r"gt\.json: "):
        evaluate(path, path)


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


def test_result_faults(tmp_path: Path) -> None:
    results = [
        {"image_id": True, "bbox": [1, 2, 3, 4]},
        {"bbox": [1, 2, 3, 4]},
        {"image_id": 7, "bbox": [1, 2, 3, 4], "score": 1e13},
        {"image_id": 7, "segmentation": {"size": [1, 1], "counts": ""}},
        5,
    ]
    found = read(written(tmp_path / "det.json", results), "det", "coco-res")
    assert found.faults == [
        "[0].image_id: true; expected an ID: a whole number or a string",
        "[1]: no key 'image_id'; expected it next to 'bbox'",
        "[2].score: 10000000000000.0; expected a finite number (at most 1e12 in magnitude)",
        "[3]: no key 'bbox'; expected it next to 'image_id', 'segmentation'",
        "[4]: 5; expected an object {...}",
    ]


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    document = changed(changed(ART, "gt_1", 0, "points", to=None), "gt_20", 0, "points", to=None)
    assert len(read(written(tmp_path / "gt.json", document)).faults) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"gt_1": [}',
            r"gt.json:1: Expecting value at column 11; expected one well-formed JSON document",
        ),
        ('{"gt_1": []}\n{"gt_2": []}', r"gt.json:2: Extra data at column 1"),
        (
            '{"a": ' + "[" * 100_000,
            r"gt.json: too deep a nesting; expected the nesting of an annotation",
        ),
        ('[{"a": ' * 100_000, r"gt.json: too deep a nesting"),
        ('{"a": ' * 100_000, r"gt.json: too deep a nesting"),
        (
            '{"unknown": 1}',
            (
                r"gt.json: JSON of no known layout \(an object with the keys 'unknown'\); expected"
                r" that"
                r" of one of the"
            ),
        ),
        ('[{"bbox": []}]', r"gt.json: JSON of no known layout"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "gt.json", text)
    with pytest.raises(InputError, match=message):
        evaluate(path, path)
    if "layout" not in message:
        with pytest.raises(InputError, match=message):
            read(path, "gt", "art")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_bytes(b'{"gt_1":\n[{"transcription": "caf\xe9"}]}')
    with pytest.raises(
        InputError, match=r"gt.json:2: byte 0xe9, which is not UTF-8; expected text in UTF-8"
    ):
        read(path)


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(ART)
    assert document_files.MAX_BYTES == 1 << 30
    monkeypatch.setattr(document_files, "MAX_BYTES", len(text) - 1)
    with pytest.raises(InputError, match=f"larger than {len(text) - 1} bytes"):
        read(written(tmp_path / "gt.json", text))
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b'{"gt_1": []' + b" " * (1 << 22) + b"}"))
    with pytest.raises(InputError, match="larger than"):
        read(bomb)
    with pytest.raises(InputError, match="at most"):
        read(packed(tmp_path / "a.zip", gt=text, **{"gt.json": text}))


def test_several_whole_documents_are_refused(tmp_path: Path) -> None:
    text = json.dumps(COCO)
    path = packed(tmp_path / "a.zip", **{"train.json": text, "val.json": text})
    with pytest.raises(
        InputError, match=r"2 \.json files in it; expected one of all images: give that file"
    ):
        read(path)


def test_archives_of_other_json_are_not_taken_for_empty(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", **{"a.json": '{"unknown": 1}'})
    with pytest.raises(InputError, match="JSON of no known layout"):
        read(path, "det")


def test_text_is_not_taken_for_json(tmp_path: Path) -> None:
    folder = tmp_path / "det"
    folder.mkdir()
    written(folder / "res_1.txt", "1,2,3,4")
    written(folder / "config.json", ART)
    assert read(folder, "det").source.format == "ltrb"
    for name in ("[1]", "{a}", "[[1]", '"x"'):
        text = written(tmp_path / "gt.txt", f'{name}\n10,10\n1,1,"",f,1,2,3,4\n')
        assert read(text).source.format == "evaltex"


def test_a_document_is_parsed_once_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    inner = safe_json.parse
    monkeypatch.setattr(safe_json, "parse", lambda data: parsed.append(len(data)) or inner(data))
    path = written(tmp_path / "gt.json", HIERTEXT)
    read(path)
    assert len(parsed) == 1
    assert read(written(path, ART)).source.format == "art"
    assert len(parsed) == 2


def test_a_folder_is_looked_through_once_to_detect_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    inner = archive.walk
    monkeypatch.setattr(archive, "walk", lambda folder: looks.append(folder) or inner(folder))
    written(tmp_path / "res_1.txt", "1,2,3,4")
    formats.open_source(tmp_path, "det", FaultLog())
    assert len(looks) < 8 < len(formats.FORMATS)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.data())
def test_any_value_in_any_place_is_read_or_a_fault(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*SAMPLES, "coco-res"]))
    document = copy.deepcopy(SAMPLES.get(name, COCO_RESULTS))
    inner = document
    while isinstance(inner, dict | list) and inner:
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or data.draw(st.integers(0, 4)) == 0:
            break
        inner = inner[key]
    else:
        return
    values = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({}),
        st.just([[]]), st.just(10**500), st.just("\ud800"), st.lists(st.integers(), max_size=4),
    )  # fmt: skip
    inner[key] = data.draw(values)
    path = written(tmp_path_factory.mktemp("json") / "img.json", document)
    for side in ("gt", "det"):
        try:
            found = read(path, side, name)  # type: ignore[arg-type]
        except InputError as error:
            assert str(error).startswith(str(path))
        else:
            assert np.isfinite(found.objects.boxes).all()
            assert (found.objects.boxes[:, :2] <= found.objects.boxes[:, 2:]).all()
            assert all(fault.isprintable() for fault in found.faults)


def test_wrong_numbers() -> None:
    for item in (1.0, msgspec.Raw(b"1.0")):
        with pytest.raises(FormatError, match="whole number"):
            safe_json.take(item, safe_json.WholeNumber)
    for items in ([10**12, -0.5], msgspec.Raw(b"[1000000000000, -0.5]")):
        assert safe_json.take(items, list[safe_json.Number]) == [1e12, -0.5]


def test_a_number_of_thousands_of_digits(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.json", '{"gt_1": [{"points": [[' + "1" * 5000 + ", 2]]}]}")
    assert read(path).faults == [
        "gt_1[0]: a number of thousands of digits; expected numbers of at most 1e12 in magnitude"
    ]


def test_a_number_out_of_range_inside_an_object_of_any_keys(tmp_path: Path) -> None:
    mask = '[{"image_id": 1, "bbox": [1, 2, 3, 4], "segmentation": {"counts": [1e400]}}]'
    [fault] = read(written(tmp_path / "det.json", mask), "det").faults
    assert fault.startswith("[0].segmentation: an object; expected a finite number")
    flags = '{"shapes": [{"points": [[1, 2], [3, 4]], "flags": {"a": {"b": [1e400]}}}]}'
    [fault] = read(written(tmp_path / "gt.json", flags)).faults
    assert fault.startswith("shapes[0].flags: an object; expected a finite number")


def test_the_last_value_of_a_repeated_key_counts(tmp_path: Path) -> None:
    word = '{"points": [[0,0],[9,0],[9,9]], "transcription": "one", "transcription": "two"}'
    text = f'{{"gt_1": [], "gt_1": [{word}]}}'
    assert read(written(tmp_path / "gt.json", text)).texts == ["two"]
    beyond_json = text.replace("}]", ', "other": NaN}]')
    assert read(written(tmp_path / "gt.json", beyond_json)).texts == ["two"]


def test_the_documentation_names_every_format() -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [name for name in formats.FORMATS if f"`{name}`" not in text] == []


def test_numbers_beyond_json_are_faults_only_where_they_are_used(tmp_path: Path) -> None:
    text = (
        '{"gt_1": [{"points": [[1, 2], [30, 2], [30, 9]], "area": NaN, "transcription": "NaN'
        ' \\\\"}]}'
    )
    found = read(written(tmp_path / "gt.json", text))
    assert (found.faults, found.texts) == ([], ["NaN \\"])
    [fault] = read(
        written(tmp_path / "gt.json", text.replace("[30, 9]", "[-Infinity, NaN]"))
    ).faults
    assert (
        fault
        == "gt_1[0].points[2][0]: -Infinity; expected a finite number (at most 1e12 in magnitude)"
    )


def test_what_takes_much_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_json, "FEW_ITEMS", 100)
    monkeypatch.setattr(safe_json, "MOST_VALUES", 100)
    monkeypatch.setattr(safe_json, "LARGEST_BY_PYTHON", 100)
    word = json.dumps({"points": [[1, 2], [30, 2], [30, 9]]})
    path = tmp_path / "gt.json"
    assert read(written(path, f'{{"gt_1": [{", ".join([word] * 200)}]}}')).faults == []
    small = f'{{"gt_1": [{word}, {", ".join(["[]"] * 200)}]}}'
    assert read(written(path, small), "gt", "art").faults == [
        "gt_1: more than 100 values, with fewer than 16 bytes for each; expected annotations"
    ]
    with pytest.raises(InputError, match="more than 100 values, with fewer than 16 bytes for each"):
        read(
            written(
                path,
                f'{{"gt_1": [{word}],'
                f" {', '.join(f'{chr(34)}{k}{chr(34)}: []' for k in range(400))}}}",
            )
        )
    [fault] = read(
        written(path, f'{{"gt_1": [{{"points": [{", ".join(["[10, 10]"] * 101)}]}}]}}')
    ).faults
    assert fault == "gt_1[0]: more than 100 values in one item; expected an annotation"
    half = (
        f'{{"gt_1":\n [{word}, {{"points": [[1, 2], [30, 2], [30, 9]], "other":'
        f' "{"x" * 50}\\ud800"}}]}}'
    )
    with pytest.raises(
        InputError,
        match=r"gt\.json:2: Input data was truncated at column \d+; expected one well-formed",
    ):
        read(written(path, half))
    with pytest.raises(
        InputError,
        match=r"gt\.json:2: JSON is malformed: invalid character at column 3; expected one",
    ):
        read(written(path, f'{{"gt_1":\n [x{", 1" * 100}]}}'))
