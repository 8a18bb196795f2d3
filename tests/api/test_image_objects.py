"""Objects of one image in memory: what they are made of, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaltex_cli import InputError, image_objects
from evaltex_cli.geometry import outlines

BOXES = [[0, 0, 1, 1], [5, 0, 9, 1]]


def test_fields_and_their_defaults() -> None:
    found = image_objects(
        [[0, 0, 2, 1]], [[(3, 3), (5, 3), (4, 6)]], texts=["a", "日本"], dont_care=[0, 1]
    )
    assert found.offsets.tolist() == [0, 2]
    assert (found.ids.tolist(), found.regions.tolist()) == ([1, 2], [1, 2])
    assert found.boxes.tolist() == [[0, 0, 2, 1], [3, 3, 5, 6]]
    assert (found.dont_care.tolist(), list(found.texts)) == ([False, True], ["a", "日本"])
    polygons, _ = outlines.as_drawn(found.outlines)
    assert polygons[0] is None
    assert polygons[1].area == 3
    assert image_objects(ids=[], dont_care=[], texts=[]).count == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"boxes": [[0, 0, 1]]}, r"object 0: shape \(3,\); expected \(4,\) for a box"),
        ({"boxes": [[0, 0, 1, 1], [0]]}, "boxes: not an array of numbers"),
        ({"boxes": [["a", 0, 1, 1]]}, "boxes: not an array of numbers"),
        ({"boxes": [[0, 0, np.inf, 1]]}, "object 0: .*inf.*; expected finite numbers"),
        ({"boxes": [[0, 0, 1e300, 1]]}, "object 0: .*1e.300.*; expected .* pixels up to 1e12"),
        ({"boxes": [[0, 0, 1, 1], [5, 0, 1, 1]]}, r"object 1: a box \[5.0, .*x0 <= x1"),
        ({"polygons": [[(0, 0), (1, 1)]]}, r"object 0: shape \(2, 2\); expected .* three vertices"),
        ({"polygons": [[]]}, r"object 0: shape \(0,\); expected .*\(k, 2\) for a polygon"),
        ({"boxes": BOXES, "ids": [3, 3]}, "ids repeat; expected IDs used once in an image"),
        ({"boxes": BOXES, "ids": [1]}, r"ids: shape \(1,\), .*; expected \(2,\) integers, one an"),
        ({"boxes": BOXES, "ids": [1.5, 2]}, r"ids: .* type float64; expected .* integers"),
        ({"boxes": BOXES, "dont_care": ["f", "t"]}, r"dont_care: .* type <U1; expected .*booleans"),
        ({"boxes": BOXES, "texts": "ab"}, r"texts: shape \(\), type <U2; expected \(2,\) strings"),
        ({"boxes": BOXES, "texts": [None, "a"]}, "texts: .* type object; expected .* strings"),
        ({"boxes": BOXES, "confidences": [0.5]}, r"confidences: .*; expected \(2,\) numbers"),
        ({"boxes": BOXES, "confidences": ["sure", ""]}, "confidences: not an array of numbers"),
        ({"boxes": BOXES, "confidences": [97, 0]}, "confidences: .*97.*; expected .* from 0 to 1"),
        ({"masks": [[1, 2]], "ids": [1.0, 2.0]}, r"ids: .* type float64; expected .* integers"),
        ({"masks": [[1, 2]], "ids": [1, 3]}, r"masks: IDs \[1, 3\], but pixels of \[1, 2\]"),
        ({"masks": np.eye(2, dtype=bool)[:, None], "ids": [0, 1]}, "have the ID 0"),
        ({"masks": [[[True, False]], [[True, True]]], "ids": [-3, 5]}, "masks share pixels"),
        ({"masks": [[1, 2]], "boxes": BOXES}, "give all objects in one way"),
    ],
    ids=str,
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        image_objects(**given)
