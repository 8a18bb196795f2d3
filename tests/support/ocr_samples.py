"""The small data set as OCR writes it, a file a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from sample_words import SIZES, Box, Sample, corners, each, flat, found_of, json_of, words_of, xy


def hocr(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """HOCR of one word a line, with a document type and an entity that HTML has."""
    made = "".join(
        f"""  <span class="ocr_line" title="bbox {bbox}">
   <span class='ocrx_word' title='bbox {bbox}{wconf}'>{text}</span></span>
"""
        for box, text, confidence in objects
        for bbox, wconf in [
            (" ".join(map(str, box)), f"; x_wconf {100 * confidence:g}" if confidence else "")
        ]
    )
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "xhtml1-transitional.dtd">
<html><head><title>A &amp; B</title><meta charset="utf-8"></head><body>
 <div class="ocr_page" title='image "1.png"; bbox 0 0 {size[0]} {size[1]}'>
{made} </div></body></html>
"""


def tesseract_tsv(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Tesseract's table of one word a line, and a word without text, which it has for a rule."""
    columns = ["level", *(f"{unit}_num" for unit in ("page", "block", "par", "line", "word"))]
    columns += ["left", "top", "width", "height", "conf", "text"]
    rows = [
        columns,
        [*"110000", "0", "0", *map(str, size), "-1", ""],
        [*"511991", *"0099", "95", " "],
    ]
    for k, ((x0, y0, x1, y1), text, confidence) in enumerate(objects, 1):
        box = [f"{value}" for value in (x0, y0, x1 - x0, y1 - y0)]
        rows.append([*"4111", str(k), "0", *box, "-1", ""])
        rows.append(
            [*"5111", str(k), "1", *box, f"{100 * confidence:g}" if confidence else "-1", text]
        )
    return "".join("\t".join(row) + "\n" for row in rows)


def abbyy(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Lines of FineReader's XML, whose words are divided by blanks."""
    lines = []
    for (x0, y0, x1, y1), text, _ in objects:
        xs = np.linspace(x0, x1, len(text) + 1).tolist()
        characters = "".join(
            (
                f'<charParams l="{left}" t="{y0}" r="{right}" b="{y1}"'
                f' charConfidence="90">{c}</charParams>'
            )
            for c, left, right in zip(text, xs, xs[1:], strict=False)
        )
        lines.append(
            f'<line l="{x0}" t="{y0}" r="{x1}"'
            f' b="{y1}"><formatting>{characters}</formatting></line>\n'
        )
    return (
        '<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml">'
        f'<page width="{size[0]}" height="{size[1]}" resolution="300"><block'
        ' blockType="Text"><text><par>\n'
        f"{''.join(lines)}</par></text></block></page></document>\n"
    )


def textract(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Fractions of the page, each word a line."""
    blocks: list[dict[str, Any]] = [{"BlockType": "PAGE", "Geometry": {}}]
    for kind in ("LINE", "WORD"):
        for box, text, confidence in objects:
            shape = [
                {"X": vertex[0] / size[0], "Y": vertex[1] / size[1]} for vertex in corners(box)
            ]
            more = {} if confidence is None else {"Confidence": 100 * confidence}
            blocks.append({"BlockType": kind, "Text": text, "Geometry": {"Polygon": shape}, **more})
    return json_of({"Blocks": blocks})


def google_vision(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Every word a paragraph, each character a symbol."""
    words = [
        {
            "boundingBox": {"vertices": xy(box)},
            "symbols": [{"text": c} for c in text],
            "confidence": confidence,
        }
        for box, text, confidence in objects
    ]
    page = {
        "width": size[0],
        "height": size[1],
        "blocks": [{"paragraphs": [{"words": [word]}]} for word in words],
    }
    return json_of({"responses": [{"fullTextAnnotation": {"pages": [page]}}]})


def document_ai(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Every word a line."""
    text, items = "", []
    for box, word, confidence in objects:
        anchor = {
            "textSegments": [
                {"startIndex": str(len(text)), "endIndex": str(len(text) + len(word) + 1)}
            ]
        }
        layout = {
            "textAnchor": anchor,
            "confidence": confidence,
            "boundingPoly": {"vertices": xy(box)},
        }
        items.append({"layout": layout})
        text += f"{word}\n"
    page = {
        "dimension": dict(zip(("width", "height"), size, strict=True)),
        "tokens": items,
        "lines": items,
    }
    return json_of({"text": text, "pages": [page]})


def chat_boxes(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Fractions of the page, as the key and the numbers say."""
    items: list[dict[str, Any]] = []
    for (x0, y0, x1, y1), text, confidence in objects:
        bbox = [x0 / size[0], y0 / size[1], x1 / size[0], y1 / size[1]]
        items.append({"bbox_2d": bbox, "text_content": text, "score": confidence})
    return json_of(items)


def azure(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Document Intelligence, every word a line."""
    items = [
        {"polygon": flat(corners(box)), "content": text, "confidence": confidence}
        for box, text, confidence in objects
    ]
    page = {
        "pageNumber": 1,
        "width": size[0],
        "height": size[1],
        "unit": "pixel",
        "words": items,
        "lines": items,
    }
    return json_of({"status": "succeeded", "analyzeResult": {"pages": [page]}})


def azure_read(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """The Read API, in inches on a page of 64 dots per inch: fractions of the page."""
    items = [
        {
            "boundingBox": [value / 64 for value in flat(corners(box))],
            "text": text,
            "confidence": confidence,
        }
        for box, text, confidence in objects
    ]
    lines = [{**item, "words": [item]} for item in items]
    page = {
        "page": 1,
        "width": size[0] / 64,
        "height": size[1] / 64,
        "unit": "inch",
        "lines": lines,
    }
    return json_of({"analyzeResult": {"readResults": [page]}})


OCR: dict[str, tuple[str, Any]] = {
    "hocr": (".hocr", hocr),
    "tesseract-tsv": (".tsv", tesseract_tsv),
    "textract": (".json", textract),
    "google-vision": (".json", google_vision),
    "document-ai": (".json", document_ai),
    "azure": (".json", azure),
    "chat-boxes": (".json", chat_boxes),
    "azure-read": (".json", azure_read),
}
"""Engines that write a file for each image: its ending, and what makes it of a size and objects."""
WITH_LINES = ("hocr", "tesseract-tsv", "textract", "document-ai", "azure")


def ocr_samples() -> dict[str, Sample]:
    """What OCR writes of a page, in each case a file an image."""
    made = {}
    for name, (ending, form) in OCR.items():
        for level in ("", "-line") if name in WITH_LINES else ("",):
            made[name + level] = Sample(
                each(f"{{}}{ending}", lambda k, form=form: form(SIZES[k], words_of(k))),
                each(f"{{}}{ending}", lambda k, form=form: form(SIZES[k], found_of(k))),
                level="line" if level else None,
                has_dont_care=False,
                has_confidences=not level or name in ("textract", "document-ai", "azure"),
            )
    made["abbyy-line"] = Sample(
        each("{}.xml", lambda k: abbyy(SIZES[k], words_of(k))),
        each("{}.xml", lambda k: abbyy(SIZES[k], found_of(k))),
        level="line",
        has_dont_care=False,
    )
    return made
