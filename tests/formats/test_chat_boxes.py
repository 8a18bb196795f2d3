"""Boxes of vision-language models: their order and scale are declared, or
evident, or refused; never guessed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import folder, read
from written_files import written

from evaltex_cli.errors import ConfigError, FaultLog, InputError
from evaltex_cli.old_formats import open_source
from evaltex_cli.old_formats.engines.chat_boxes import UndeclaredError
from evaltex_cli.old_formats.options import Coordinates, InputOptions

DECLARE = "--coordinates ORDER:SCALE"


def boxes(
    path: Path, coordinates: str | None = None
) -> tuple[list[list[float]], bool, tuple[str, ...]]:
    """What is read as detections: the boxes, whether they are fractions of
    the page, and warnings.
    """
    source = open_source(path, "det", FaultLog(), None, InputOptions(coordinates=coordinates))
    assert source.format == "chat-boxes"
    images = source.content.read()
    assert not images.faults.count
    return (
        np.round(images.objects.boxes, 6).tolist(),
        images.in_fractions is not None,
        source.warnings,
    )


@pytest.mark.parametrize(
    ("item", "coordinates", "box"),
    [
        ({"box_2d": [100, 200, 300, 400]}, "yxyx:1000", [0.2, 0.1, 0.4, 0.3]),
        ({"box_2d": [0.1, 0.2, 0.3, 0.4]}, "yxyx:1", [0.2, 0.1, 0.4, 0.3]),
        ({"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, "xyxy:1", [0.1, 0.2, 0.3, 0.4]),
        ({"bbox_2d": [100, 200, 300, 1400]}, "xyxy:pixels", [100, 200, 300, 1400]),
    ],
)
def test_what_the_key_and_the_numbers_say_is_taken_with_a_warning(
    tmp_path: Path, item: Any, coordinates: str, box: list[float]
) -> None:
    found, in_fractions, warnings = boxes(written(tmp_path / "a.json", [item]))
    assert (found, in_fractions) == ([box], not coordinates.endswith("pixels"))
    (warning,) = warnings
    assert (
        f"boxes are read as {coordinates}, as the key {next(iter(item))} and the range" in warning
    )


@pytest.mark.parametrize(
    "items",
    [
        [{"bbox_2d": [100, 200, 300, 400]}],  # pixels, 999 or 1000
        [{"bbox_2d": [0, 0, 1, 1]}],
        [{"box_2d": [100, 200, 300, 1400]}],
        [{"box_2d": [0, 0, 1, 1]}],
        [{"bbox": [100, 200, 300, 1400]}],
        [[0.1, 0.2, 0.3, 0.4]],
        [{"bbox_2d": [0.1, 0.2, 0.3, 0.4]}, {"box_2d": [0.1, 0.2, 0.3, 0.4]}],
    ],
)
def test_what_is_not_evident_is_refused(tmp_path: Path, items: Any) -> None:
    with pytest.raises(UndeclaredError, match=DECLARE):
        boxes(written(tmp_path / "a.json", items))


@pytest.mark.parametrize(
    ("coordinates", "box"),
    [
        ("xyxy:1000", [0.1, 0.2, 0.3, 0.4]),
        ("yxyx:1000", [0.2, 0.1, 0.4, 0.3]),
        ("xywh:1000", [0.1, 0.2, 0.4, 0.6]),
        ("xyxy:500", [0.2, 0.4, 0.6, 0.8]),
        ("xyxy:pixels", [100, 200, 300, 400]),
    ],
)
def test_what_is_declared_is_taken_without_a_word(
    tmp_path: Path, coordinates: str, box: list[float]
) -> None:
    for items in (
        [{"bbox_2d": [100, 200, 300, 400]}],
        [{"box": [100, 200, 300, 400]}],
        [[100, 200, 300, 400]],
    ):
        path = written(tmp_path / "a.json", items)
        assert boxes(path, coordinates) == ([box], not coordinates.endswith("pixels"), ())


def test_all_files_of_an_input_decide(tmp_path: Path) -> None:
    small, large = (json.dumps([{"bbox_2d": [100, 200, 300, last]}]) for last in (400, 1400))
    assert boxes(folder(tmp_path / "in", "[]", small, large, suffix=".json"))[0] == [
        [100, 200, 300, 400],
        [100, 200, 300, 1400],
    ]


def test_code_blocks_and_texts(tmp_path: Path) -> None:
    items = [
        {"bbox": [1, 2, 3, 4], "text_content": "a", "label": "word", "confidence": 0.5},
        {"bbox": [1, 2, 3, 4], "label": "b"},
    ]
    path = written(tmp_path / "a.md", f"```json\n{json.dumps(items)}\n```\n")
    source = open_source(path, "det", FaultLog(), None, InputOptions(coordinates="xyxy:pixels"))
    objects = source.content.read().objects
    assert list(objects.texts) == ["a", "b"]
    assert objects.confidences is not None
    np.testing.assert_array_equal(objects.confidences, [0.5, np.nan])


def test_results_of_coco_are_no_boxes_of_a_model(tmp_path: Path) -> None:
    items = [{"bbox": [1, 2, 3, 4], "image_id": 1, "score": 0.5}]
    assert read(written(tmp_path / "a.json", items), "det").source.format == "coco-res"


def test_numbers_beyond_the_declared_scale_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [[1, 2, 3, 1005]])
    assert boxes(path, "xyxy:1000")[0] == [[0.001, 0.002, 0.003, 1.005]]
    with pytest.raises(
        InputError, match="from 1 to 1005; expected numbers from 0 to 1, as --coordinates xyxy:1"
    ):
        boxes(path, "xyxy:1")
    with pytest.raises(InputError, match="from -5 to 4"):
        boxes(written(tmp_path / "b.json", [[-5, 2, 3, 4]]), "xyxy:4")


def test_faults_have_their_place(tmp_path: Path) -> None:
    items = [
        {"bbox_2d": [0, 0, 2000, 5]},
        {"bbox_2d": [1, 2, 3]},
        {"bbox_2d": [3, 2, 1, 4]},
        {"label": "a"},
        "b",
    ]
    found = read(written(tmp_path / "a.json", items), "det")
    assert found.faults == [
        "[1].bbox_2d: a list of 3; expected four numbers of a box",
        (
            "[2].bbox_2d: 3, 2, 1, 4, of which a side is below 0 as xyxy:pixels; expected the"
            " smaller coordinate first"
        ),
        "[3]: no key 'bbox_2d' or 'box_2d' or 'bbox' or 'box' or 'bounding_box'; expected one of"
        " them, with four numbers",
        "[4]: 'b'; expected a list [...]",
    ]


@pytest.mark.parametrize(
    "text", ["", "xyxy", "xyxy:", "xyxy:0", "xyxy:-1", "xyxy:nan", "xyxy:inf", "xyx:1", "xyxy:1e7"]
)
def test_other_coordinates_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected ORDER:SCALE"):
        InputOptions(coordinates=text)


def test_coordinates_are_written_as_they_are_read() -> None:
    for text in ("xyxy:pixels", "yxyx:1000", "xywh:0.5"):
        assert str(Coordinates.parse(text)) == text
