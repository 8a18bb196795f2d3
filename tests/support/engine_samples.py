"""The small data set as text detectors and readers of text lines write it."""

from __future__ import annotations

import json
from typing import Any

from sample_words import (
    FOUND,
    SIZES,
    WORDS,
    Box,
    Sample,
    corners,
    each,
    found_of,
    json_of,
    words_of,
)


def _reading(box: Box, text: str, score: float | None) -> dict[str, Any]:
    return {"points": corners(box), "transcription": text, "score": score}


def _columns(readings: list[dict[str, Any]], shapes: str, texts: str, scores: str) -> str:
    columns = {shapes: "points", texts: "transcription", scores: "score"}
    return json_of({name: [one[key] for one in readings] for name, key in columns.items()})


def _by_line(of_image: Any) -> str:
    return "".join(f"{of_image(k)}\n" for k in range(len(WORDS)))


def _doctr(k: int, words: list[tuple[Box, str, float | None]]) -> str:
    width, height = SIZES[k]

    def word(box: Box, text: str, score: float | None) -> dict[str, Any]:
        x0, y0, x1, y1 = box
        geometry = [[x0 / width, y0 / height], [x1 / width, y1 / height]]
        return {"value": text, "confidence": score, "geometry": geometry}

    found = [word(*one) for one in words]
    lines = [{"geometry": one["geometry"], "words": [one]} for one in found]
    return json_of(
        {"pages": [{"page_idx": 0, "dimensions": [height, width], "blocks": [{"lines": lines}]}]}
    )


def _surya(of_image: Any) -> str:
    pages = {}
    for k, (width, height) in enumerate(SIZES):
        lines = [
            {"polygon": corners(b), "bbox": b, "text": t, "confidence": c}
            for b, t, c in of_image(k)
        ]
        words = [line | {"words": [line]} for line in lines]
        pages[str(k + 1)] = [{"text_lines": words, "image_bbox": [0, 0, width, height], "page": 1}]
    return json_of(pages)


def _mmocr(k: int, objects: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    width, height = SIZES[k]
    return {name: f"imgs/{k + 1}.jpg", "height": height, "width": width, key: objects}


def engine_samples() -> dict[str, Sample]:
    """What engines write has no don't care, but for the formats that are ground truth too."""

    def words(k: int) -> list[dict[str, Any]]:
        return [_reading(b, t, None) for b, t, _ in words_of(k)]

    def found(k: int) -> list[dict[str, Any]]:
        return [_reading(b, "x", c) for b, c in FOUND[k]]

    def label(k: int) -> str:
        objects = [
            {"transcription": t, "points": corners(b), "difficult": t == "###"} for b, t in WORDS[k]
        ]
        return f"imgs/{k + 1}.jpg\t{json.dumps(objects)}"

    def instances(k: int) -> list[dict[str, Any]]:
        return [
            {"polygon": [v for xy in corners(b) for v in xy], "text": t, "ignore": t == "###"}
            for b, t in WORDS[k]
        ]

    def found_instances(k: int) -> list[dict[str, Any]]:
        return [
            {
                "polygon": [v for xy in corners(b) for v in xy],
                "text": "x",
                "ignore": False,
                "score": c,
            }
            for b, c in FOUND[k]
        ]

    forms = {
        "paddleocr-json": lambda made: _columns(made, "rec_polys", "rec_texts", "rec_scores"),
        "mmocr-result": lambda made: _columns(made, "polygons", "texts", "scores"),
        "easyocr": lambda made: json_of(
            [[o["points"], o["transcription"], o["score"]] for o in made]
        ),
        "ocrmac": lambda made: json_of(
            [[o["transcription"], o["score"], [*o["points"][0], *o["points"][2]]] for o in made]
        ),
        "rapidocr": lambda made: json_of(
            [{"box": o["points"], "txt": o["transcription"], "score": o["score"]} for o in made]
        ),
    }
    made = {
        name: Sample(
            each("{}.json", lambda k, form=form: form(words(k))),
            each("{}.json", lambda k, form=form: form(found(k))),
            has_dont_care=False,
            has_confidences=True,
        )
        for name, form in forms.items()
    }
    made["paddleocr"] = Sample(
        {"Label.txt": _by_line(label)},
        {"system_results.txt": _by_line(lambda k: f"{k + 1}.jpg\t{json.dumps(found(k))}")},
        has_confidences=True,
        many_in_one=True,
    )
    both = [
        [_mmocr(k, of(k), "instances", "img_path") for k in (0, 1)]
        for of in (instances, found_instances)
    ]
    made["mmocr"] = Sample(
        *(
            {f"{name}.json": json_of({"data_list": images})}
            for name, images in zip(("gt", "det"), both, strict=True)
        ),
        has_confidences=True,
        many_in_one=True,
    )
    for level in ("", "-line"):
        made[f"doctr{level}"] = Sample(
            each("{}.json", lambda k: _doctr(k, words_of(k))),
            each("{}.json", lambda k: _doctr(k, found_of(k))),
            level="line" if level else None,
            has_dont_care=False,
            has_confidences=not level,
        )
        made[f"surya{level}"] = Sample(
            {"gt.json": _surya(words_of)},
            {"det.json": _surya(found_of)},
            level="line" if level else None,
            has_dont_care=False,
            has_confidences=True,
            many_in_one=True,
        )
    return made
