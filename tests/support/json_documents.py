"""One small JSON document of each data set that is annotated in JSON."""

from __future__ import annotations

import copy
from typing import Any

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
