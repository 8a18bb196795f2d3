"""The JSON of OCR in clouds: what is read, pages, fractions of the page, and places of faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading import described, read
from written_files import written

from evaltex_cli import evaluate
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.base import IN_FRACTIONS
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.validation.validation import validate

SHAPE = [(0.1, 0.1), (0.2, 0.1), (0.2, 0.3), (0.1, 0.3)]
BOUNDING_BOX = {"Left": 0.5, "Top": 0.5, "Width": 0.25, "Height": 0}


def textract(*pages: int) -> dict[str, Any]:
    polygon = [{"X": x, "Y": y} for x, y in SHAPE]
    blocks: list[dict[str, Any]] = [{"BlockType": "KEY_VALUE_SET", "Page": pages[0]}]
    for page in pages:
        geometry = {"Polygon": polygon} if page == 1 else {"BoundingBox": BOUNDING_BOX}
        blocks.append(
            {"BlockType": "WORD", "Text": "a", "Confidence": 50, "Geometry": geometry, "Page": page}
        )
    return {"DocumentMetadata": {"Pages": len(pages)}, "Blocks": blocks}


def normalized() -> dict[str, Any]:
    return {"normalizedVertices": [{"x": x, "y": y} for x, y in SHAPE]}


def vision(shape: dict[str, Any], **page: float) -> dict[str, Any]:
    word = {"boundingBox": shape, "symbols": [{"text": "h"}, {"text": "i"}], "confidence": 0.5}
    return {
        "fullTextAnnotation": {"pages": [{**page, "blocks": [{"paragraphs": [{"words": [word]}]}]}]}
    }


AZURE_INCH = {
    "analyzeResult": {
        "pages": [
            {
                "width": 10,
                "height": 10,
                "unit": "inch",
                "words": [
                    {"content": "a", "polygon": [{"x": 10 * x, "y": 10 * y} for x, y in SHAPE]}
                ],
            }
        ]
    }
}
IN_FRACTIONS_OF_PAGE = {
    "textract": textract(1),
    "google-vision": vision(normalized()),
    "document-ai": {
        "text": "a",
        "pages": [
            {
                "tokens": [
                    {"layout": {"boundingPoly": normalized(), "textAnchor": {"textSegments": [{}]}}}
                ]
            }
        ],
    },
    "azure": AZURE_INCH,
}


@pytest.mark.parametrize("name", IN_FRACTIONS_OF_PAGE)
def test_fractions_of_the_page(tmp_path: Path, name: str) -> None:
    """By the picture, by the size that the other side states, and a fault
    without either; in every command.
    """
    path = written(tmp_path / "img_1.json", IN_FRACTIONS_OF_PAGE[name])
    found = read(path, "det")
    assert found.source.format == name
    assert found.faults == [f"{IN_FRACTIONS[0]}; expected {IN_FRACTIONS[1]}"]
    gt = tmp_path / "gt.txt"
    gt.write_text('img_1\n200,100\n1,1,"a",f,10,20,10,40\n')
    assert evaluate(gt, path, "iou").scores["hmean"] == 1
    assert not [one for one in validate(gt, path).problems if one.level == "error"]
    with pytest.raises(InputError, match="--images"):
        convert(path, tmp_path / "out.txt", "det")
    (tmp_path / "pictures").mkdir()
    Image.new("L", (100, 200)).save(tmp_path / "pictures" / "img_1.png")
    convert(path, tmp_path / "out.txt", "det", options=InputOptions(images=tmp_path / "pictures"))
    assert evaluate(gt, tmp_path / "out.txt", "iou").scores["hmean"] == 1
    (tmp_path / "unsized").mkdir()
    (tmp_path / "unsized" / "gt_img_1.txt").write_text("10,20,20,60,a\n")
    with pytest.raises(InputError, match="--images"):
        evaluate(tmp_path / "unsized", path, "iou")
    assert (
        evaluate(tmp_path / "unsized", path, "iou", images=tmp_path / "pictures").scores["hmean"]
        == 1
    )
    (problem,) = [
        one for one in validate(tmp_path / "unsized", path).problems if one.level == "error"
    ]
    assert (problem.side, problem.file) == ("det", str(path))
    assert not [
        one
        for one in validate(tmp_path / "unsized", path, images=tmp_path / "pictures").problems
        if one.level == "error"
    ]
    assert not validate(path).passed
    assert validate(path, images=tmp_path / "pictures").passed


def test_pages_of_textract_are_images(tmp_path: Path) -> None:
    found = read(written(tmp_path / "doc.json", textract(1, 2)), "det")
    assert list(found.source.names) == ["doc-1", "doc-2"]
    np.testing.assert_allclose(found.objects.boxes, [[0.1, 0.1, 0.2, 0.3], [0.5, 0.5, 0.75, 0.5]])
    assert found.objects.confidences is not None
    assert found.objects.confidences.tolist() == [0.5, 0.5]


def test_responses_of_vision(tmp_path: Path) -> None:
    """In pixels, where a coordinate of 0 is left out; normalized with a size;
    without pages; with keys of Python.
    """
    in_pixels = {"vertices": [{"y": 1}, {"x": 5, "y": 1}, {"x": 5, "y": 3}, {"y": 3}]}
    text = {"boundingPoly": in_pixels, "description": "hi"}
    snake = json.loads(
        json.dumps(vision(in_pixels))
        .replace("fullText", "full_text_")
        .replace("_A", "_a")
        .replace("gBox", "g_box")
    )
    responses = [
        vision(in_pixels),
        vision(normalized(), width=100, height=200),
        {"textAnnotations": [text, text]},
        {},
    ]
    found = read(written(tmp_path / "a.json", {"responses": [*responses, snake]}), "det")
    assert (found.source.format, len(found.source.names), found.faults) == ("google-vision", 5, [])
    np.testing.assert_allclose(
        found.objects.boxes, [[0, 1, 5, 3], [10, 20, 20, 60], [0, 1, 5, 3], [0, 1, 5, 3]]
    )
    assert found.texts == ["hi"] * 4
    assert found.images.sizes[1].tolist() == [200, 100]
    failed = read(
        written(
            tmp_path / "b.json",
            {"responses": [{"textAnnotations": []}, {"error": {"message": "no"}}]},
        )
    )
    assert failed.faults == [
        "responses[1]: an error in the place of a result: 'no'; expected a result"
    ]


def test_shapes_of_one_page_are_in_one_unit(tmp_path: Path) -> None:
    page = vision(normalized())
    words = page["fullTextAnnotation"]["pages"][0]["blocks"][0]["paragraphs"][0]["words"]
    words.append({"boundingBox": {"vertices": [{}, {"x": 5}, {"x": 5, "y": 3}]}})
    assert (
        "coordinates in pixels and in fractions"
        in read(written(tmp_path / "a.json", page), "det").faults[0]
    )


def test_text_of_document_ai(tmp_path: Path) -> None:
    segments = [{"endIndex": "3"}, {"startIndex": 4, "endIndex": "6"}]
    layout = {
        "boundingPoly": normalized(),
        "confidence": 0.5,
        "textAnchor": {"textSegments": segments},
    }
    page = {"dimension": {"width": 100, "height": 100}, "lines": [{"layout": layout}]}
    path = written(tmp_path / "a.json", {"document": {"text": "é \nxyz", "pages": [page]}})
    assert described(read(path, "det", "document-ai-line"))[0][1] == "é \nyz"
    layout["textAnchor"] = {"textSegments": [{"endIndex": "7"}]}
    path = written(tmp_path / "b.json", {"document": {"text": "é \nxyz", "pages": [page]}})
    assert read(path, "det", "document-ai-line").faults == [
        "document.pages[0].lines[0].layout.textAnchor.textSegments[0]: characters 0 to 7; expected"
        " indices in the text of 6 characters"
    ]


def test_layouts_of_azure(tmp_path: Path) -> None:
    """The Read API, Document Intelligence bare and without text, and Image Analysis."""
    flat, points = (
        [10, 10, 60, 10, 60, 30, 10, 30],
        [{"x": x, "y": y} for x, y in ((10, 10), (60, 10), (60, 30))],
    )
    size = {"width": 640, "height": 480}
    word = {"text": "hi", "boundingBox": flat, "boundingPolygon": points, "confidence": 0.5}
    lines = [{**word, "text": "hi there", "words": [word]}]
    documents = [
        {"analyzeResult": {"readResults": [{**size, "unit": "pixel", "lines": lines}]}},
        {"recognitionResults": [{**size, "lines": lines}]},
        {
            "content": "hi",
            "pages": [{**size, "words": [{"content": "hi", "polygon": points}], "lines": []}],
        },
        {"metadata": size, "readResult": {"blocks": [{"lines": lines}]}},
    ]
    for document in documents:
        found = read(written(tmp_path / "a.json", document), "det")
        assert (found.source.format, found.faults) == ("azure", [])
        assert described(found) == [([10, 10, 60, 30], "hi")]
        assert found.images.sizes.tolist() == [[480, 640]]
    assert read(tmp_path / "a.json", "det", "azure-line").texts == ["hi there"]
    blank = {"analyzeResult": {"pages": [{**size, "unit": "pixel", "spans": []}]}}
    assert read(written(tmp_path / "b.json", blank), "det").objects.count == 0


def test_a_blank_page_of_document_ai(tmp_path: Path) -> None:
    blank = {"mimeType": "image/png", "pages": [{"pageNumber": 1, "image": {"content": ""}}]}
    found = read(written(tmp_path / "a.json", blank), "det")
    assert (found.source.format, found.objects.count) == ("document-ai", 0)


@pytest.mark.parametrize(
    ("name", "document", "fault"),
    [
        (
            "textract",
            {"Blocks": [{"BlockType": "WORD", "Text": "a"}]},
            "Blocks[0]: no key 'Geometry'",
        ),
        (
            "textract",
            {"Blocks": [{"BlockType": "WORD", "Geometry": {}}]},
            "Blocks[0].Geometry: neither Polygon nor",
        ),
        (
            "textract",
            {"Blocks": [{"BlockType": "WORD", "Geometry": {"Polygon": [{"X": 1}]}}]},
            "Blocks[0].Geometry",
        ),
        (
            "azure",
            {"analyzeResult": {"pages": [{"unit": "cm", "words": []}]}},
            "analyzeResult.pages[0].unit: 'cm'",
        ),
        (
            "azure",
            {"analyzeResult": {"pages": [{"unit": "inch", "words": []}]}},
            "analyzeResult.pages[0]: a page in",
        ),
        (
            "azure",
            {"analyzeResult": {"readResults": [{"lines": [{"words": [{"boundingBox": [1, 2]}]}]}]}},
            "analyzeResult.readResults[0].lines[0].words[0].boundingBox: 1 vertices",
        ),
        (
            "document-ai",
            {"text": "", "pages": [{"tokens": [{"layout": {}}]}]},
            "pages[0].tokens[0].layout: no key",
        ),
        (
            "google-vision",
            vision({}),
            "fullTextAnnotation.pages[0].blocks[0].paragraphs[0].words[0].boundingBox: no",
        ),
    ],
)
def test_faults_have_their_place(tmp_path: Path, name: str, document: Any, fault: str) -> None:
    path = written(tmp_path / "a.json", document)
    found = read(path, "det")
    assert (found.source.format, len(found.faults)) == (name, 1)
    assert found.faults[0].startswith(fault)
    (problem,) = [one for one in validate(path).problems if one.level == "error"]
    assert problem.line is None
    assert problem.where and (problem.where in fault or fault in problem.where)
