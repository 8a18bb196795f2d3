"""Boxes of vision-language models: their order and scale are declared, or evident, or refused;
never guessed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import folder, read
from written_files import written

from evaltex_cli.errors import InputError
from evaltex_cli.formats.coordinates import decided
from evaltex_cli.records import Labels


def boxes(path: Path, coordinates: str | None = None) -> tuple[Any, bool, list[str]]:
    """What is read as detections: the boxes, whether they are fractions of the page, and warnings."""
    found = read(path, "det", coordinates=coordinates)
    assert (found.source.format, found.faults) == ("chat-boxes", [])
    source = decided(found.source, None, np.zeros(0, np.int64))
    rounded = np.round(source.objects.boxes, 6).tolist()
    warnings = [text.removeprefix(f"{path}: ") for text in source.warnings]
    return rounded, source.fractions is not None, warnings


@pytest.mark.parametrize(
    ("item", "coordinates", "box"),
    [
        ({"box_2d": [100, 200, 300, 400]}, "yxyx:1000", [0.2, 0.1, 0.4, 0.3]),
        ({"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, "xyxy:1", [0.1, 0.2, 0.3, 0.4]),
        ({"bbox_2d": [100, 200, 300, 1400]}, "xyxy:pixels", [100, 200, 300, 1400]),
    ],
)
def test_a_key_that_fixes_the_coordinates_is_a_default(
    tmp_path: Path, item: Any, coordinates: str, box: list[float]
) -> None:
    found, are_fractions, (warning,) = boxes(written(tmp_path / "a.json", [item]))
    assert (found, are_fractions) == ([box], not coordinates.endswith("pixels"))
    assert f"boxes are read as {coordinates}, the default for the key '{min(item)}'" in warning


@pytest.mark.parametrize(
    "items",
    [
        [{"bbox_2d": [100, 200, 300, 400]}],  # pixels or 1000
        [{"bbox_2d": [0, 0, 1, 1]}],
        [[0.1, 0.2, 0.3, 0.4]],
        [{"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, {"box_2d": [0.1, 0.2, 0.3, 0.4]}],
    ],
)
def test_what_is_not_known_is_refused_without_another_side(tmp_path: Path, items: Any) -> None:
    with pytest.raises(InputError, match=r"a.json: the scale and order .* --coordinates"):
        boxes(written(tmp_path / "a.json", items))


@pytest.mark.parametrize(
    ("coordinates", "box"),
    [
        ("xyxy:1000", [0.1, 0.2, 0.3, 0.4]),
        ("xywh:1000", [0.1, 0.2, 0.4, 0.6]),
        ("xyxy:pixels", [100, 200, 300, 400]),
    ],
)
def test_what_is_declared_is_taken_without_a_word(
    tmp_path: Path, coordinates: str, box: list[float]
) -> None:
    numbers = [100, 200, 300, 400]
    for item in ({"bbox_2d": numbers}, {"box": numbers}, numbers):
        path = written(tmp_path / "a.json", [item])
        assert boxes(path, coordinates) == ([box], not coordinates.endswith("pixels"), [])


def test_all_files_of_an_input_decide(tmp_path: Path) -> None:
    small, large = (json.dumps([{"bbox_2d": [100, 200, 300, last]}]) for last in (400, 1400))
    found, are_fractions, _ = boxes(folder(tmp_path / "a", "[]", small, large, suffix=".json"))
    assert (found, are_fractions) == ([[100, 200, 300, 400], [100, 200, 300, 1400]], False)


@pytest.mark.parametrize(
    ("item", "text", "label", "score"),
    [
        ({"text_content": "a", "label": "word", "confidence": 0.5}, "a", "word", 0.5),
        ({"label": "b", "score": "0.25"}, "b", "", 0.25),
        ({"category": "Section-header", "text": "c"}, "c", "Section-header", None),  # dots.ocr
    ],
)
def test_texts_classes_and_confidences(
    tmp_path: Path, item: Any, text: str, label: str, score: float | None
) -> None:
    document = json.dumps([{"bbox": [1, 2, 3, 4]} | item, {"bbox": [1, 2, 3, 4]}], indent=1)
    path = written(tmp_path / "a.md", f"\ufeff```json\n{document}\n```\n")
    objects = read(path, "det", coordinates="xyxy:pixels").objects
    assert list(objects.texts) == [text, ""]
    assert list(objects.labels if isinstance(objects.labels, Labels) else ["", ""]) == [label, ""]
    assert (None if objects.confidences is None else objects.confidences[0]) == score


def test_pictures_of_dots_ocr_are_left_out(tmp_path: Path) -> None:
    items = [{"bbox": [1, 2, 3, 4], "category": "Picture"} | one for one in ({}, {"text": "a"})]
    found = read(written(tmp_path / "a.json", items), "det", coordinates="xyxy:pixels")
    assert (found.texts, found.faults) == (["a"], [])
    assert found.warnings == ["1 box of category Picture without text was left out"]


def test_faults_have_their_place(tmp_path: Path) -> None:
    items = [
        {"bbox_2d": [0, 0, 2000, 5]},
        {"bbox_2d": [1, 2, 3]},
        {"bbox_2d": [3, 2, 1, 4]},
        {"label": "a"},
        "b",
        {"bbox_2d": [1, 2, 3, 4], "score": []},
        {"bbox_2d": None, "text": "without a box"},
    ]
    answer = read(written(tmp_path / "a.json", items), "det", coordinates="xyxy:1000")
    assert answer.warnings == ["1 object without a box was left out"]
    found = answer.faults
    expected = [
        "[0]: 2000; expected 0 to 1000, as xyxy:1000 declares",
        "[1]: a list of 3; expected a list of length 4",
        "[2]: 3, 2, 1, 4 as xyxy:1000; expected no side below 0",
        "[3]: no key 'bbox_2d'; expected it next to 'label'",
        "[4]: 'b'; expected an object",
        "[5]",
    ]
    assert [fault[: len(start)] for fault, start in zip(found, expected, strict=True)] == expected
    edge = written(tmp_path / "b.json", [[1, 2, 3, 1005]])
    assert boxes(edge, "xyxy:1000")[0] == [[0.001, 0.002, 0.003, 1.005]]


ITEM = '{"bbox_2d": [10, 20, 30, 40], "text": "a"}'
OTHER = '{"bbox_2d": [50, 60, 70, 80], "text": "b"}'
PROSE = "A lake (with 2 boats), some trees and [perhaps] a tent. " * 60


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"choices": [{"message": {"content": f"Sure: [{ITEM}, {OTHER}]"}}]}),
        f"```python\n[{ITEM}, {OTHER}]\n```".replace('"', "'"),
        '{"boxes": [[10, 20, 30, 40], [50, 60, 70, 80]], "texts": ["a", "b"]}',
        '[{"bbox": {"x1": 10, "y1": 20, "x2": 30, "y2": 40}, "text": "a"},'
        ' {"bbox": {"x": "50", "y": "60", "width": 20, "height": 20}, "text": "b"}]',
        "</s><s>a<loc_10><loc_20><loc_30><loc_40>b<loc_50><loc_60><loc_70><loc_80></s>",
        '<div data-bbox="10 20 30 40" data-label="Text"><p>a<br/></p></div>'
        "<div data-bbox='[50, 60, 70, 80]'><b>b</b></div><div data-bbox=\"1 2 3 4\"><p>trunca",
    ],
)
def test_forms_of_answers(tmp_path: Path, answer: str) -> None:
    """Besides those of `tests/samples/chat-*`."""
    path = written(tmp_path / "a.txt", answer)
    found = read(path, "det", coordinates="xyxy:pixels")
    assert (found.source.format, found.texts, found.faults) == ("chat-boxes", ["a", "b"], [])
    assert found.objects.boxes.tolist() == [[10, 20, 30, 40], [50, 60, 70, 80]]


def test_damaged_json_and_several_lists_are_faults(tmp_path: Path) -> None:
    path = folder(tmp_path / "a", f"[{ITEM}]", f"[{ITEM} {OTHER}]", f"[{ITEM}]\n\n[{OTHER}]")
    _, second, third = ["", *read(path, "det", coordinates="xyxy:pixels").faults]
    assert "expected well-formed JSON" in second
    assert "2 lists of boxes; expected one in each answer" in third


def test_records_of_images(tmp_path: Path) -> None:
    lines = [
        json.dumps({"image": "x/p2.jpg", "response": "There is no text."}),
        json.dumps({"image": "x/p1.jpg", "response": f"Sure: [{ITEM}]"}),
        json.dumps({"image": "x/p1.jpg", "response": f"[{OTHER}]"}),
    ]
    path = written(tmp_path / "a.json", f"[{', '.join(lines)}]")
    assert read(path, "det", coordinates="xyxy:pixels").texts == ["a"]
    path = written(tmp_path / "a.jsonl", "\n".join(lines))
    found = read(path, "det", coordinates="xyxy:pixels")
    assert (list(found.source.names), found.texts) == (["p2", "p1"], ["a"])
    assert sorted(found.warnings) == [
        "1 answer without a box is taken for no detections",
        "1 further answer for an image that already has one was left out",
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"p1.jpg": f"[{ITEM}]", "p2.png": []},
        {
            "model": "m",
            "results": [{"image": "p1.jpg", "boxes": [json.loads(ITEM)], "size": [9, 9]}],
        },
    ],
)
def test_records_of_images_in_one_document(tmp_path: Path, document: Any) -> None:
    found = read(written(tmp_path / "a.json", document), "det", coordinates="xyxy:pixels")
    assert (found.source.names[0], found.texts, found.faults) == ("p1", ["a"], [])


def test_boxes_outside_of_a_list_are_a_fault(tmp_path: Path) -> None:
    two = {"left": [json.loads(ITEM)], "right": [json.loads(OTHER)]}
    path = folder(tmp_path / "a", f"[{ITEM}, {OTHER}]", json.dumps(two))
    (fault,) = read(path, "det", coordinates="xyxy:pixels").faults
    assert "boxes outside of a list; expected one list in each answer" in fault


@pytest.mark.parametrize("first", [PROSE, f"1. {PROSE}", f"<think>{PROSE}</think>None.", "[]"])
@pytest.mark.parametrize("suffix", [".txt", ".md", ".json", "list", "lines"])
def test_the_first_answer_may_be_long_and_without_boxes(
    tmp_path: Path, first: str, suffix: str
) -> None:
    answers = [first, f"[{ITEM}]", f"[{OTHER}]"]
    records = [{"image": f"{k}.png", "response": text} for k, text in enumerate(answers, 1)]
    if suffix == "list":
        path = written(tmp_path / "a.json", records)
    elif suffix == "lines":
        path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))
    else:
        path = folder(tmp_path / "a", *answers, suffix=suffix)
    found = read(path, "det", coordinates="xyxy:pixels")
    assert (found.source.format, list(found.source.names)) == ("chat-boxes", ["1", "2", "3"])
    assert (found.texts, found.faults) == (["a", "b"], [])
    assert found.warnings == ["1 answer without a box is taken for no detections"]


@pytest.mark.parametrize("content", ['{"p1": [200, 100]}', "image,width,height\np1.jpg,200,100\n"])
def test_pixels_of_resized_pictures(tmp_path: Path, content: str) -> None:
    sizes = written(tmp_path / "sizes", content)
    path = written(tmp_path / "p1.json", [{"bbox_2d": [10, 20, 30, 40]}])
    assert boxes(path, f"xyxy:resized={sizes}") == ([[0.05, 0.2, 0.15, 0.4]], True, [])
    path = written(tmp_path / "p2.json", [{"bbox_2d": [10, 20, 30, 40]}])
    assert "has no size in" in read(path, "det", coordinates=f"xyxy:resized={sizes}").faults[0]


def test_a_document_of_one_block_has_the_text_after_it(tmp_path: Path) -> None:
    answer = "<|ref|>text<|/ref|><|det|>[[10, 20, 30, 40]]<|/det|>\nSome words"
    assert read(written(tmp_path / "a.md", answer), "det").texts == ["Some words"]
