"""What OCR engines write: every form of their objects, what is don't care, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading import Read, read
from written_files import written

from evaltex_cli import evaluate
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.image_sizes import with_sizes
from evaltex_cli.validation.validation import validate

QUAD = [[10, 10], [60, 12.5], [60, 30], [10, 28]]
FLAT = [value for point in QUAD for value in point]
BOX = [[10, 10], [60, 30]]


def shapes(path: Path, side: Side = "det") -> list[list[float]]:
    """The vertices of polygons, and the corners of boxes."""
    found = read(path, side)
    assert not found.faults
    return [
        ring or box
        for ring, box in zip(found.flat_rings, found.objects.boxes.tolist(), strict=True)
    ]


def confidences(found: Read) -> list[float] | None:
    return None if found.objects.confidences is None else found.objects.confidences.tolist()


def fault(path: Path, side: Side = "det", name: str | None = None) -> str:
    (only,) = read(path, side, name).faults
    return only


# PaddleOCR ----------------------------------------------------------------------------------------


def test_paddleocr_labels_are_dont_care_as_in_training(tmp_path: Path) -> None:
    words = [
        {"transcription": "a", "points": QUAD, "difficult": False},
        {"transcription": "b", "points": QUAD, "difficult": True},
        {"transcription": "###", "points": QUAD},
        {"transcription": "*", "points": QUAD},
        {"transcription": "c", "points": QUAD, "illegibility": True},
    ]
    path = written(
        tmp_path / "Label.txt",
        f"\ufeffset/img 1.v2.jpg\t{json.dumps(words)}\r\n\r\nset/img_2.png\t[]\r\n",
    )
    gt = read(path)
    assert (gt.source.format, list(gt.source.names)) == ("paddleocr", ["img 1.v2", "img_2"])
    assert gt.objects.dont_care.tolist() == [False, True, True, True, True]
    assert not read(path, "det").objects.dont_care.any()


def test_paddleocr_results_of_every_script(tmp_path: Path) -> None:
    """Shapes alone, words with a score, and the results of key information extraction."""
    found = [
        {"transcription": "a", "points": QUAD, "score": 0.5},
        {"points": QUAD, "transcription": "b", "recscore": 1},
    ]
    lines = [f"a.jpg\t{json.dumps([QUAD, QUAD])}", f"b.jpg\t{json.dumps(found)}"]
    lines.append(
        "c.jpg\t" + json.dumps({"ocr_info": [{"transcription": "c", "points": QUAD, "pred": "O"}]})
    )
    path = written(tmp_path / "system_results.txt", "\n".join(lines))
    assert shapes(path) == [FLAT] * 5
    found_again = read(path, "det")
    assert found_again.texts == ["", "", "a", "b", "c"]
    assert (confidences(found_again) or [])[2:4] == [0.5, 1]


def test_a_folder_of_ppocrlabel(tmp_path: Path) -> None:
    """The two files that PPOCRLabel writes next to the labels are left out, and said."""
    folder = tmp_path / "labelled"
    written(
        folder / "Label.txt",
        f"labelled/a.jpg\t{json.dumps([{'transcription': 'a', 'points': QUAD}])}\n",
    )
    written(folder / "fileState.txt", "labelled/a.jpg\t1\n")
    written(folder / "rec_gt.txt", "crop_img/a_crop_0.jpg\ta\n")
    source = read(folder).source
    assert (source.format, list(source.names)) == ("paddleocr", ["a"])
    assert "2 .txt files of another format were left out" in source.warnings[-1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.jpg [[1]]", r"labels.txt:2: 'a.jpg \[\[1\]\]' without a tab"),
        (
            "a.jpg\t[[[1, 2], [3, 4]]]",
            r"labels.txt:2: \[0\]: 2 vertices; expected three or more",
        ),
        (
            'é.jpg\t[{"points": [[1, 2], [3, "x"], [5, 6]]}]',
            r"labels.txt:2: \[0\]\.points\[1\]\[1\]: 'x'",
        ),
        ("a.jpg\t[[1, 2]", r"labels.txt:2: .* at column"),
        ('a.jpg\t"x"', r"labels.txt:2: 'x'; expected a list"),
    ],
)
def test_faults_of_lines_have_their_line(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path / "labels.txt", f"first.jpg\t[]\n{line}\n")
    assert re.search(message, str(path) + fault(path).removeprefix(str(path)))
    problem = next(one for one in validate(path).problems if one.kind == "input")
    assert problem.line == 2


def test_a_name_with_a_tab_is_none_of_evaltex(tmp_path: Path) -> None:
    """So the first line decides, without a look at all other formats."""
    path = written(
        tmp_path / "gt.txt", f"img_1.jpg\t{json.dumps([{'transcription': 'a', 'points': QUAD}])}\n"
    )
    assert read(path).source.format == "paddleocr"


def test_paddleocr_3_before_and_after_recognition(tmp_path: Path) -> None:
    detected = {"input_path": "a.png", "dt_polys": [QUAD, QUAD], "dt_scores": [0.25, 0.5]}
    assert shapes(written(tmp_path / "a_res.json", detected)) == [FLAT, FLAT]
    done = {
        "res": {
            "dt_polys": [QUAD, QUAD],
            "rec_polys": [QUAD],
            "rec_texts": ["a"],
            "rec_scores": [0.75],
        }
    }
    both = read(written(tmp_path / "b_res.json", done), "det")
    assert (both.objects.count, both.texts) == (1, ["a"])
    assert confidences(both) == [0.75]
    page = {"layout_det_res": {}, "overall_ocr_res": done["res"]}
    assert read(written(tmp_path / "c.json", page), "det").source.format == "paddleocr-json"
    short = {"rec_polys": [QUAD], "rec_texts": [], "rec_scores": [1]}
    assert re.search(
        r"rec_texts: a list of 0; expected 1 values, one for each shape",
        fault(written(tmp_path / "d.json", short)),
    )


def test_the_names_of_paddleocr_3_pair_with_those_of_the_pictures(tmp_path: Path) -> None:
    for name in ("img_1", "img_2"):
        written(tmp_path / "gt" / f"{name}.txt", "10,10,60,10,60,30,10,30,word\n")
        result = {
            "rec_polys": [[[10, 10], [60, 10], [60, 30], [10, 30]]],
            "rec_texts": ["a"],
            "rec_scores": [1],
        }
        written(tmp_path / "det" / f"{name}_res.json", result)
    assert evaluate(tmp_path / "gt", tmp_path / "det", "iou").scores["hmean"] == 1


# MMOCR --------------------------------------------------------------------------------------------


def test_mmocr_annotations_with_boxes_alone(tmp_path: Path) -> None:
    instances = [
        {"bbox": [10, 10, 60, 30], "bbox_label": 0, "ignore": True},
        {"polygon": FLAT, "text": "a"},
    ]
    images = [{"img_path": "x/a.jpg", "height": 480, "width": 640, "instances": instances}]
    gt = read(written(tmp_path / "gt.json", {"metainfo": {}, "data_list": images}))
    assert shapes(tmp_path / "gt.json", "gt") == [[10, 10, 60, 30], FLAT]
    assert gt.objects.dont_care.tolist() == [True, False]
    assert gt.images.sizes.tolist() == [[480, 640]]
    images[0]["instances"] = [{"text": "cropped"}]
    assert re.search(
        r"data_list\[0\].instances\[0\]: no polygon and no bbox; expected one of them",
        fault(written(tmp_path / "gt.json", {"data_list": images})),
    )


def test_images_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    images = [{"img_path": f"imgs/{part}/a.jpg", "instances": []} for part in ("train", "test")]
    assert list(read(written(tmp_path / "gt.json", {"data_list": images})).source.names) == [
        "train/a",
        "test/a",
    ]


@pytest.mark.parametrize(
    "result",
    [
        {"rec_texts": ["a"], "rec_scores": [0.75], "det_polygons": [FLAT], "det_scores": [0.5]},
        {"polygons": [FLAT], "scores": [0.5], "texts": ["a"]},
        {"polygons": [[FLAT]], "scores": [0.5], "texts": ["a"]},
    ],
)
def test_mmocr_results(tmp_path: Path, result: dict[str, Any]) -> None:
    found = read(written(tmp_path / "img_1.json", result), "det")
    assert shapes(tmp_path / "img_1.json") == [FLAT]
    assert confidences(found) == [0.5]
    assert found.texts == ["a"]


# EasyOCR, RapidOCR, PaddleOCR 2 -------------------------------------------------------------------

READ = [[QUAD, "a", 0.5], [QUAD, "b", 0.25]]


@pytest.mark.parametrize(
    ("value", "texts", "scores"),
    [
        (READ, ["a", "b"], [0.5, 0.25]),
        ([[QUAD, "a", "0.5"], [QUAD, "b", "0.25"]], ["a", "b"], [0.5, 0.25]),  # RapidOCR 1.x
        ([[[QUAD, ["a", 0.5]], [QUAD, ["b", 0.25]]]], ["a", "b"], [0.5, 0.25]),  # PaddleOCR 2.x
        ([[QUAD, "a"], [QUAD, "b"]], ["a", "b"], None),  # EasyOCR by paragraphs
        ([QUAD, QUAD], ["", ""], None),
        ([[QUAD, QUAD]], ["", ""], None),  # PaddleOCR 2.x without recognition
        ([None], [], None),  # PaddleOCR 2.x: nothing found
    ],
)
def test_lists_of_readings(
    tmp_path: Path, value: Any, texts: list[str], scores: list[float] | None
) -> None:
    found = read(written(tmp_path / "img_1.json", value), "det")
    assert (found.source.format, found.texts) == ("easyocr", texts)
    assert shapes(tmp_path / "img_1.json") == [FLAT] * len(texts)
    assert confidences(found) == scores


@pytest.mark.parametrize(
    "value",
    [
        [{"box": QUAD, "txt": "a", "score": 0.5}],
        [{"boxes": QUAD, "text": "a", "confident": 0.5}],
        {"0": {"rec_txt": "a", "dt_boxes": QUAD, "score": "0.5"}},
    ],
)
def test_objects_of_readings(tmp_path: Path, value: Any) -> None:
    found = read(written(tmp_path / "img_1.json", value), "det")
    assert (found.source.format, found.texts) == ("rapidocr", ["a"])
    assert confidences(found) == [0.5]


def test_an_image_without_text_does_not_hide_the_format(tmp_path: Path) -> None:
    """The first file of a folder may be an empty list, which any format could have written."""
    for name, value in (("img_1", []), ("img_2", READ)):
        written(tmp_path / "det" / f"{name}.json", value)
    found = read(tmp_path / "det", "det")
    assert (found.source.format, found.objects.count) == ("easyocr", 2)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[[QUAD, ["a", 1]]], "b"], r"\[1\]: 'b'; expected a list \[box, text, confidence\]"),
        ([[QUAD, "a", 1], "b"], r"\[1\]: 'b'; expected a list \[box, text, confidence\]"),
        ([[QUAD, "a", 1.5]], r"\[0\]\[2\]: 1.5; expected a confidence in \[0, 1\]"),
    ],
)
def test_lists_that_are_refused(tmp_path: Path, value: Any, message: str) -> None:
    assert re.search(message, fault(written(tmp_path / "img_1.json", value)))


# docTR, Surya -------------------------------------------------------------------------------------


def doctr(geometry: Any, **page: Any) -> dict[str, Any]:
    word = {"value": "a", "confidence": 0.5, "geometry": geometry}
    lines = [{"geometry": geometry, "words": [word, word]}, {"geometry": geometry, "words": [word]}]
    return {"pages": [{"dimensions": [200, 100], "blocks": [{"lines": lines}], **page}]}


def test_doctr_fractions_of_the_page(tmp_path: Path) -> None:
    path = written(tmp_path / "img_1.json", doctr([[0.25, 0.5], [0.75, 1]]))
    assert shapes(path) == [[25, 100, 75, 200]] * 3
    assert read(path).objects.regions.tolist() == [1, 1, 2]
    lines = read(path, "gt", "doctr-line")
    assert lines.texts == ["a a", "a"]
    assert lines.images.sizes.tolist() == [[200, 100]]
    turned = [[0.25, 0.5], [0.75, 0.5], [0.75, 1], [0.25, 1]]
    assert shapes(written(tmp_path / "img_2.json", doctr(turned)))[0] == [
        25,
        100,
        75,
        100,
        75,
        200,
        25,
        200,
    ]
    word = {"value": "a", "confidence": 0.5, "geometry": [[0.25, 0.5], [0.75, 1]]}
    kie = {"pages": [{"dimensions": [200, 100], "predictions": {"total": [word], "date": [word]}}]}
    assert shapes(written(tmp_path / "img_3.json", kie)) == [[25, 100, 75, 200]] * 2


def test_pages_of_a_document_are_images(tmp_path: Path) -> None:
    page, lists = (
        doctr(BOX)["pages"][0],
        [[[QUAD, ["a", 1]]], None, [[QUAD, ["b", 1]], [QUAD, ["c", 1]]]],
    )
    pages = read(written(tmp_path / "doctr" / "scan.json", {"pages": [page, page]}), "det")
    assert list(pages.source.names) == ["scan-1", "scan-2"]
    assert np.diff(pages.objects.offsets).tolist() == [3, 3]
    written(tmp_path / "paddle" / "scan.json", lists)
    written(tmp_path / "paddle" / "one.json", lists[:1])
    pages = read(tmp_path / "paddle", "det")
    assert list(pages.source.names) == ["one", "scan-1", "scan-2", "scan-3"]
    assert pages.texts == ["a", "a", "b", "c"]


def test_a_doctr_page_without_size_is_a_fault(tmp_path: Path) -> None:
    expected = (
        "pages[0].dimensions: dimensions 0, 5; expected height and width of the page in pixels"
    )
    assert fault(written(tmp_path / "b.json", doctr(BOX, dimensions=[0, 5]))) == expected


def test_surya_lines_words_and_pages(tmp_path: Path) -> None:
    line = {"polygon": QUAD, "bbox": [10, 10, 60, 30], "text": "a b", "confidence": 0.5}
    page = {"text_lines": [line], "image_bbox": [0, 0, 640, 480], "page": 1}
    lines = read(
        written(tmp_path / "results.json", {"img_1": [page], "img_2": [page, page]}), "det"
    )
    assert lines.source.format == "surya-line"
    assert list(lines.source.names) == ["img_1", "img_2-1", "img_2-2"]
    assert lines.images.sizes.tolist() == [[480, 640]] * 3
    with_words = {
        **page,
        "text_lines": [{**line, "words": [{"bbox": [10, 10, 30, 30], "text": "a"}] * 2}],
    }
    words = read(written(tmp_path / "words.json", {"img_1": [with_words]}))
    assert (words.source.format, words.objects.regions.tolist()) == ("surya", [1, 1])
    detected = {
        "img_1": [{"bboxes": [{"polygon": QUAD, "confidence": 0.5}], "image_bbox": [0, 0, 9, 9]}]
    }
    assert shapes(written(tmp_path / "detected.json", detected)) == [FLAT]
    empty = read(written(tmp_path / "empty.json", {"img_1": [{**page, "text_lines": []}]}), "det")
    assert (empty.source.format, np.diff(empty.objects.offsets).tolist()) == ("surya-line", [0])


def test_ocrmac_boxes_from_the_bottom(tmp_path: Path) -> None:
    path = written(
        tmp_path / "det" / "img_1.json",
        [["a", 0.5, [0.25, 0.125, 0.5, 0.25]], ["b", 1.0, [0, 0, 1, 1]]],
    )
    assert fault(path).startswith("coordinates that are fractions of the page")
    Image.new("L", (200, 400)).save(tmp_path / "img_1.png")
    found = with_sizes(read(path, "det").source, tmp_path).read(np.arange(1))
    assert found.objects.boxes.tolist() == [[50, 250, 150, 350], [0, 0, 200, 400]]
    in_pixels = [["a", 1, [10, 10, 60, 30]], ["b", 1, [0, 0, 1, 1]]]
    assert shapes(written(tmp_path / "pixels.json", in_pixels)) == [[10, 10, 60, 30], [0, 0, 1, 1]]
    assert "[0][2]: a list of 3; expected" in fault(
        written(tmp_path / "c.json", [["a", 1, [1, 2, 3]]]), name="ocrmac"
    )
