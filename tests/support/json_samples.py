"""The small data set in the JSON documents of data sets."""

from __future__ import annotations

from typing import Any

from sample_words import FOUND, SIZES, WORDS, Sample, corners, each, flat, json_of


def labelme(size: tuple[int, int], shapes: list[dict[str, Any]]) -> str:
    width, height = size
    return json_of(
        {"version": "5.4.1", "shapes": shapes, "imageHeight": height, "imageWidth": width}
    )


def hiertext(words: list[list[dict[str, Any]]], sizes: bool) -> str:
    """Every word a line and a paragraph of its own."""
    images = []
    for k, here in enumerate(words):
        record: dict[str, Any] = {"image_id": str(k + 1)}
        if sizes:
            record |= {"image_width": SIZES[k][0], "image_height": SIZES[k][1]}
        record["paragraphs"] = [word | {"lines": [word | {"words": [word]}]} for word in here]
        images.append(record)
    return json_of({"info": {}, "annotations": images})


def coco_words() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for k, words in enumerate(WORDS, 1):
        for (x0, y0, x1, y1), text in words:
            record = {
                "id": len(records) + 1,
                "image_id": k,
                "category_id": 1,
                "bbox": [x0, y0, x1 - x0, y1 - y0],
            }
            records.append(record | {"iscrowd": int(text == "###"), "utf8_string": text})
    return records


COCO = {
    "images": [
        {"id": k, "file_name": f"train/{k}.jpg", "width": width, "height": height}
        for k, (width, height) in enumerate(SIZES, 1)
    ],
    "annotations": coco_words(),
    "categories": [{"id": 1, "name": "text"}],
}
COCO_RESULTS = [
    {"image_id": k, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0], "score": confidence}
    for k, found in enumerate(FOUND, 1)
    for (x0, y0, x1, y1), confidence in found
]


def anns(shape: Any) -> dict[str, Any]:
    """COCO-Text's and TextOCR's annotations."""
    made: dict[str, Any] = {}
    for k, words in enumerate(WORDS, 1):
        for box, text in words:
            key = str(len(made) + 1)
            made[key] = {"id": key, "image_id": str(k), **shape(box, text)}
    return made


IMGS = {
    str(k): {"id": k, "width": w, "height": h, "set": "val"} for k, (w, h) in enumerate(SIZES, 1)
}
ART = {
    f"gt_{k}": [
        {
            "points": corners(box),
            "transcription": text,
            "language": "Latin",
            "illegibility": text == "###",
        }
        for box, text in words
    ]
    for k, words in enumerate(WORDS, 1)
}
ART_RESULTS = {
    f"res_{k}": [{"points": corners(box), "confidence": confidence} for box, confidence in found]
    for k, found in enumerate(FOUND, 1)
}


def json_samples() -> dict[str, Sample]:
    """The JSON documents of data sets."""
    made = {
        "art": Sample(
            {"gt.json": json_of(ART)},
            {"det.json": json_of(ART_RESULTS)},
            has_confidences=True,
            many_in_one=True,
        ),
        "coco": Sample(
            {"gt.json": json_of(COCO)},
            {"det.json": json_of(COCO_RESULTS)},
            has_confidences=True,
            many_in_one=True,
        ),
        "coco-text": Sample(
            {
                "gt.json": json_of(
                    {
                        "imgs": IMGS,
                        "anns": anns(
                            lambda box, text: {
                                "mask": flat(corners(box)),
                                "legibility": "illegible" if text == "###" else "legible",
                                "utf8_string": text,
                            }
                        ),
                    }
                )
            },
            many_in_one=True,
        ),
        "textocr": Sample(
            {
                "gt.json": json_of(
                    {
                        "imgs": IMGS,
                        "anns": anns(
                            lambda box, text: {
                                "points": flat(corners(box)),
                                "utf8_string": "." if text == "###" else text,
                            }
                        ),
                    }
                )
            },
            many_in_one=True,
        ),
        "labelme": Sample(
            each(
                "{}.json",
                lambda k: labelme(
                    SIZES[k], [{"label": t, "points": corners(b)} for b, t in WORDS[k]]
                ),
            ),
            each(
                "{}.json",
                lambda k: labelme(
                    SIZES[k],
                    [
                        {
                            "label": "x",
                            "points": [b[:2], b[2:]],
                            "shape_type": "rectangle",
                            "score": c,
                        }
                        for b, c in FOUND[k]
                    ],
                ),
            ),
            has_confidences=True,
        ),
    }
    for level in ("word", "line", "paragraph", "line-words", "paragraph-words"):
        gt = [
            [{"vertices": corners(b), "text": t, "legible": t != "###"} for b, t in words]
            for words in WORDS
        ]
        det = [
            [{"vertices": corners(b), "text": "x", "confidence": c} for b, c in found]
            for found in FOUND
        ]
        made[f"hiertext-{level}"] = Sample(
            {"gt.jsonl": hiertext(gt, True)},
            {"det.jsonl": hiertext(det, False)},
            level=level,
            has_confidences=True,
            many_in_one=True,
        )
    return made
