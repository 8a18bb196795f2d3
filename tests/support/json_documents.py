"""One small document of each data set that is annotated in JSON."""

from __future__ import annotations

import copy
from typing import Any

QUAD = [[10, 10], [60, 12.5], [60, 30], [10, 28]]
CURVE = [[100, 100], [120, 90], [140, 100], [140, 120], [120, 110], [100, 120]]
FLAT_QUAD = [value for point in QUAD for value in point]
FLAT_CURVE = [value for point in CURVE for value in point]

ART: dict[str, Any] = {
    "gt_1": [
        {"points": QUAD, "transcription": "one, two", "language": "Latin", "illegibility": False},
        {"points": CURVE, "transcription": "日本", "illegibility": True},
    ],
    "gt_20": [{"points": [*map(list, QUAD)], "transcription": "###"}],
    "gt_3": [],
}
COCO_TEXT: dict[str, Any] = {
    "anns": {
        "45346": {"mask": FLAT_QUAD, "image_id": 5, "utf8_string": "the", "legibility": "legible"},
        "45347": {"mask": [], "bbox": [100, 10, 5, 2], "image_id": 5, "legibility": "illegible"},
        "1": {"mask": FLAT_CURVE, "image_id": 6},
    },
    "imgs": {
        "5": {"file_name": "COCO_5.jpg", "width": 640, "height": 480, "set": "val"},
        "6": {"file_name": "COCO_6.jpg", "width": 64, "height": 48, "set": "train"},
    },
}


def text(x0: int, y0: int, x1: int, y1: int, **more: Any) -> dict[str, Any]:
    """A word, line or paragraph of HierText."""
    return {"vertices": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]], "legible": True, **more}


_TWO = [text(0, 0, 90, 20, text="two"), text(99, 0, 199, 20, text="", legible=False)]
_LINES = [
    text(0, 0, 200, 20, text="two words", words=_TWO) | {"legible": False},
    text(0, 30, 90, 50, text="three", words=[text(0, 30, 90, 50, text="three")]),
]
HIERTEXT: dict[str, Any] = {
    "info": {"version": "v1"},
    "annotations": [
        {
            "image_id": "000e.jpg",
            "image_width": 640,
            "image_height": 480,
            "paragraphs": [text(0, 0, 200, 50, lines=_LINES)],
        }
    ],
}


def changed(document: Any, *where: Any, to: Any) -> Any:
    """A copy of a document with one value replaced; deleted where `to` is `...`."""
    inner = copied = copy.deepcopy(document)
    *way, last = where
    for step in way:
        inner = inner[step]
    if to is ...:
        inner.pop(last, None)
    else:
        inner[last] = to
    return copied
