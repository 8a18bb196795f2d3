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
from evaltex_cli.records import Labels


def boxes(path: Path, coordinates: str | None = None) -> tuple[Any, bool, list[str]]:
    """What is read as detections: the boxes, whether they are fractions of the page, and warnings."""
    found = read(path, "det", coordinates=coordinates)
    assert (found.source.format, found.faults) == ("chat-boxes", [])
    rounded = np.round(found.objects.boxes, 6).tolist()
    return rounded, found.source.fractions is not None, found.warnings


@pytest.mark.parametrize(
    ("item", "coordinates", "box"),
    [
        ({"box_2d": [100, 200, 300, 400]}, "yxyx:1000", [0.2, 0.1, 0.4, 0.3]),
        ({"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, "xyxy:1", [0.1, 0.2, 0.3, 0.4]),
        ({"bbox_2d": [100, 200, 300, 1400]}, "xyxy:pixels", [100, 200, 300, 1400]),
    ],
)
def test_what_the_key_and_the_numbers_say_is_taken_with_a_warning(
    tmp_path: Path, item: Any, coordinates: str, box: list[float]
) -> None:
    found, are_fractions, (warning,) = boxes(written(tmp_path / "a.json", [item]))
    assert (found, are_fractions) == ([box], not coordinates.endswith("pixels"))
    assert f"boxes are read as {coordinates}, as the key {min(item)} and the range" in warning


@pytest.mark.parametrize(
    "items",
    [
        [{"bbox_2d": [100, 200, 300, 400]}],  # pixels, 999 or 1000
        [{"bbox_2d": [0, 0, 1, 1]}],
        [{"box_2d": [100, 200, 300, 1400]}],
        [[0.1, 0.2, 0.3, 0.4]],
        [{"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, {"box_2d": [0.1, 0.2, 0.3, 0.4]}],
    ],
)
def test_what_is_not_evident_is_refused(tmp_path: Path, items: Any) -> None:
    with pytest.raises(InputError, match=r"a.json: boxes .* --coordinates"):
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
    ]
    found = read(written(tmp_path / "a.json", items), "det", coordinates="xyxy:1000").faults
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
