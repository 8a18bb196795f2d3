"""Objects of one image in memory: what they are made of, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaltex_cli import InputError, image_objects
from evaltex_cli.geometry import outlines


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
        ({"boxes": [[0, 0, 1]]}, r"boxes: shape \(1, 3\); expected \(n, 4\)"),
        ({"boxes": [0, 0, 1, 1]}, r"boxes: shape \(4,\); expected \(n, 4\)"),
        ({"boxes": [[0, 0, 1, 1], [0]]}, "boxes: not an array of numbers"),
        ({"boxes": [["a", 0, 1, 1]]}, "boxes: not an array of numbers"),
        ({"boxes": [[0, 0, np.nan, 1]]}, "object 0: holds (nan|inf); expected finite numbers"),
        ({"boxes": [[0, 0, np.inf, 1]]}, "object 0: holds (nan|inf); expected finite numbers"),
        (
            {"boxes": [[0, 0, 1e300, 1]]},
            r"object 0: holds 1e\+300; expected finite numbers, pixels up to 1e12",
        ),
        (
            {"boxes": [[0, 0, 1, 1], [5, 0, 1, 1]]},
            r"object 1: a box \[5.0, 0.0, 1.0, 1.0\]; expected x0, y0, x1, y1 with",
        ),
        ({"polygons": [[(0, 0), (1, 1)]]}, r"object 0: shape \(2, 2\); expected .* three vertices"),
        ({"polygons": [[]]}, r"object 0: shape \(0,\); expected \(k, 2\) for a polygon"),
        (
            {"polygons": [[(0, 0, 1), (1, 1, 1), (2, 1, 1)]]},
            r"object 0: shape \(3, 3\); expected \(k, 2\)",
        ),
        (
            {"boxes": [[0, 0, 1, 1]] * 2, "ids": [3, 3]},
            "ids repeat; expected IDs used once in an image",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "ids": [1, 2]},
            r"ids: shape \(2,\), .*; expected \(1,\) integers, one an object",
        ),
        ({"boxes": [[0, 0, 1, 1]], "ids": [1.5]}, r"ids: .* type float64; expected .* integers"),
        (
            {"boxes": [[0, 0, 1, 1]], "regions": ["a"]},
            r"regions: .* type <U1; expected .* integers",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "dont_care": ["f"]},
            r"dont_care: .* type <U1; expected .* booleans",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "dont_care": []},
            r"dont_care: shape \(0,\), .*; expected \(1,\)",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "texts": ["a", "b"]},
            "texts: 2 of str; expected 1 strings, '' for none",
        ),
        ({"boxes": [[0, 0, 1, 1]] * 2, "texts": "ab"}, "texts: 1 of str; expected 2"),
        pytest.param({"boxes": [[0, 0, 10**400, 1]]}, "boxes: not an array of numbers", id="huge"),
        ({"masks": [[1, 2]], "ids": [1.0, 2.0]}, r"ids: .* type float64; expected .* integers"),
        ({"masks": [[1, 2]], "ids": [[1, 2]]}, r"ids: shape \(1, 2\), .*; expected \(2,\)"),
        ({"masks": np.eye(2, dtype=bool)[:, None], "ids": [0, 1]}, "ids: 0 is where no mask is"),
        ({"masks": np.eye(2, dtype=bool)[:, None], "ids": [3, 3]}, "ids repeat; expected IDs"),
        ({"masks": [[[True, False]], [[True, True]]], "ids": [-3, 5]}, "mask 1 shares pixels"),
        ({"boxes": [[0, 0, 1, 1]], "texts": [None]}, "texts: 1 of NoneType; expected 1 strings"),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [0.5, 0.5]},
            r"confidences: shape \(2,\), .*; expected \(1,\) numbers",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": ["sure"]},
            "confidences: not an array of numbers",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [97]},
            "confidences: holds 97; expected numbers from 0 to 1",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [-np.inf]},
            "confidences: holds -inf; expected numbers from 0 to 1",
        ),
    ],
    ids=str,
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        image_objects(**given)
