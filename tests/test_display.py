"""Records in a prompt and in a notebook: short, whatever they contain, and
nothing in them is markup.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from records import assert_short

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.tables.record import Rows

WORDS = Path(__file__).parents[1] / "examples" / "words"


@pytest.mark.slow
def test_no_record_of_an_evaluation_is_long() -> None:
    many = np.random.default_rng(0).integers(0, 500, (300, 2))
    boxes = np.concatenate([many, many + 30], axis=1)
    words = image_objects(boxes, texts=["word"] * 300, confidences=[0.5] * 300)
    images = {f"image {k}": words for k in range(3)}
    found = evaluate(images, images, "all", per_image=True)
    assert assert_short(found) > 1000
    accumulator = Accumulator("all")
    accumulator.update(words, words)
    assert_short([accumulator, words])


def test_lines_and_tables() -> None:
    found = evaluate(WORDS / "gt.txt", WORDS / "det.txt", ["evaltex", "iou"], per_image=True)
    assert repr(found["iou"]) == (
        "iou: recall 0.5000, precision 0.5882, hmean 0.5405 (4 images, 22 objects, 18 detections)"
    )
    assert repr(found).splitlines() == [
        "4 images, 22 objects, 18 detections",
        "protocol  recall  precision   hmean",
        "evaltex   0.9143     0.6657  0.7704",
        "iou       0.5000     0.5882  0.5405",
    ]
    assert repr(found["iou"].images).startswith(
        "4 of ImageResult:\n  ImageResult 'street_sign': recall 0.5000, "
    )
    assert repr(Rows()) == "[]"
    assert repr(found["iou"].protocol).startswith("Protocol('iou', 'IoU (ICDAR 2015)")
    assert repr(image_objects()) == "ImageObjects(nothing)"
    two = image_objects([[0, 0, 1, 1]] * 2, dont_care=[True, False])
    assert repr(two) == "ImageObjects(2 boxes, 1 don't care)"


def test_text_is_no_markup() -> None:
    found = evaluate(
        {"<script>": [[0, 0, 9, 9]]}, {"<script>": [[0, 0, 9, 9]]}, "cleval", per_image=True
    )
    assert found.warnings
    assert "<script>" in found.warnings[0]
    for shown in (found._repr_html_(), found.images[0]._repr_html_()):
        assert "&lt;script&gt;" in shown
        assert "<script>" not in shown
