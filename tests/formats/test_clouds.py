"""The JSON of OCR in clouds: what is read, pages, fractions of the page, and places of faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import described, read
from written_files import written

SHAPE = [(0.1, 0.1), (0.2, 0.1), (0.2, 0.3), (0.1, 0.3)]
BOX = [0.1, 0.1, 0.2, 0.3]
BOUNDING_BOX = {"Left": 0.5, "Top": 0.5, "Width": 0.25, "Height": 0}
POINTS = [{"x": x, "y": y} for x, y in SHAPE]
NORMALIZED = {"normalizedVertices": POINTS}
IN_PIXELS = {"vertices": [{"y": 1}, {"x": 5, "y": 1}, {"x": 5, "y": 3}, {"y": 3}]}


def textract(*pages: int) -> dict[str, Any]:
    polygon = [{"X": x, "Y": y} for x, y in SHAPE]
    blocks: list[dict[str, Any]] = [{"BlockType": "KEY_VALUE_SET", "Page": pages[0]}]
    for page in pages:
        geometry = {"Polygon": polygon} if page == 1 else {"BoundingBox": BOUNDING_BOX}
        word = {"Text": "hi", "Confidence": 5, "Geometry": geometry, "Page": page}
        blocks += [{"BlockType": kind, **word} for kind in ("LINE", "WORD")]
    return {"DocumentMetadata": {"Pages": len(pages)}, "Blocks": blocks}


def vision(*shapes: dict[str, Any], **page: float) -> dict[str, Any]:
    symbols = [{"text": "h"}, {"text": "i"}]
    words = [{"boundingBox": one, "symbols": symbols, "confidence": 0.05} for one in shapes]
    page_of_words = {**page, "blocks": [{"paragraphs": [{"words": words}]}]}
    return {"fullTextAnnotation": {"pages": [page_of_words]}}


def document_ai(*segments: Any, shape: Any = NORMALIZED, **page: Any) -> dict[str, Any]:
    anchor = {"textSegments": list(segments)}
    token = {"layout": {"boundingPoly": shape, "textAnchor": anchor, "confidence": 0.05}}
    return {"text": "hi \nxé", "pages": [{"tokens": [token], "lines": [token], **page}]}


def azure(unit: str = "pixel", scale: float = 1, **page: Any) -> dict[str, Any]:
    points = [{"x": scale * x, "y": scale * y} for x, y in SHAPE]
    word = {"content": "hi", "polygon": points, "confidence": 0.05}
    size = {"width": 10, "height": 10, "unit": unit}
    return {"analyzeResult": {"pages": [{**size, "words": [word], "lines": [word], **page}]}}


def in_snake_case(document: Any) -> Any:
    text = json.dumps(document)
    for key in ("fullTextAnnotation", "boundingBox", "boundingPoly", "normalizedVertices",
                "textAnchor", "textSegments", "endIndex", "analyzeResult"):  # fmt: skip
        snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
        text = text.replace(f'"{key}"', f'"{snake}"')
    return json.loads(text)


OF_THE_PAGE = {
    "textract": textract(1),
    "google-vision": vision(NORMALIZED),
    "document-ai": document_ai({"endIndex": "2"}),
    "azure": azure("inch", 10),
}


@pytest.mark.parametrize("name", OF_THE_PAGE)
@pytest.mark.parametrize("as_written", [lambda document: document, in_snake_case])
def test_fractions_of_the_page(tmp_path: Path, name: str, as_written: Any) -> None:
    path = written(tmp_path / "img_1.json", as_written(OF_THE_PAGE[name]))
    found = read(path, "det")
    assert (found.source.format, found.faults) == (name, [])
    np.testing.assert_allclose(found.objects.boxes, [BOX])
    assert found.objects.confidences is not None
    assert (found.texts, found.objects.confidences.tolist()) == (["hi"], [0.05])
    assert found.source.fractions is not None
    assert found.source.sizes.tolist() == [[0, 0]]
    if name != "google-vision":
        assert read(path, "det", level="line").texts == ["hi"]


SIZE = {"width": 640, "height": 480}
FLAT = [10, 10, 60, 10, 60, 30, 10, 30]
CORNERS = [{"x": x, "y": y} for x, y in ((10, 10), (60, 10), (60, 30))]
WORD = {"text": "hi", "boundingBox": FLAT, "boundingPolygon": CORNERS, "confidence": 0.5}
LINES = [{**WORD, "text": "hi there", "words": [WORD]}]
CONTENT = [{"content": "hi", "polygon": CORNERS}]
TEXT = {"boundingPoly": IN_PIXELS, "description": "hi"}


@pytest.mark.parametrize(
    ("name", "document", "box", "size"),
    [
        ("google-vision", vision(IN_PIXELS, **SIZE), [0, 1, 5, 3], [480, 640]),
        ("google-vision", vision(NORMALIZED, width=100, height=200), [10, 20, 20, 60], [200, 100]),
        ("google-vision", {"responses": [{"textAnnotations": [TEXT, TEXT]}]}, [0, 1, 5, 3], [0, 0]),
        ("document-ai", {"document": document_ai({"endIndex": 2}, dimension=SIZE)}, [64, 48, 128, 144], [480, 640]),
        ("azure", {"analyzeResult": {"readResults": [{**SIZE, "unit": "pixel", "lines": LINES}]}}, [10, 10, 60, 30], [480, 640]),
        ("azure", {"recognitionResults": [{**SIZE, "lines": LINES}]}, [10, 10, 60, 30], [480, 640]),
        ("azure", {"content": "hi", "pages": [{**SIZE, "words": CONTENT, "lines": []}]}, [10, 10, 60, 30], [480, 640]),
        ("azure", {"metadata": SIZE, "readResult": {"blocks": [{"lines": LINES}]}}, [10, 10, 60, 30], [480, 640]),
    ],
)  # fmt: skip
def test_in_pixels(tmp_path: Path, name: str, document: Any, box: Any, size: Any) -> None:
    found = read(written(tmp_path / "a.json", document), "det")
    assert (found.source.format, found.faults, found.source.fractions) == (name, [], None)
    ((read_box, text),) = described(found)
    np.testing.assert_allclose(read_box, box)
    assert (text, found.source.sizes.tolist()) == ("hi", [size])


@pytest.mark.parametrize(
    ("document", "names", "counts"),
    [
        (textract(1, 2), ["a-1", "a-2"], [1, 1]),
        ({"Blocks": [{"BlockType": "PAGE", "Page": 1}]}, ["a"], [0]),
        ({"responses": [vision(IN_PIXELS), {}, {"labelAnnotations": []}, {"textAnnotations": [TEXT] * 3}]}, ["a-1", "a-2", "a-3", "a-4"], [1, 0, 0, 2]),
        ({"mimeType": "image/png", "pages": [{"pageNumber": 1, "image": {"content": ""}}]}, ["a"], [0]),
        ({"analyzeResult": {"pages": [{**SIZE, "unit": "inch", "spans": []}] * 2}}, ["a-1", "a-2"], [0, 0]),
    ],
)  # fmt: skip
def test_pages_are_images(tmp_path: Path, document: Any, names: Any, counts: Any) -> None:
    found = read(written(tmp_path / "a.json", document), "det")
    assert (list(found.source.names), found.faults) == (names, [])
    assert np.diff(found.objects.offsets).tolist() == counts


def test_text_of_document_ai(tmp_path: Path) -> None:
    segments = [{"endIndex": "2"}, {"startIndex": 4, "endIndex": "6"}]
    assert read(written(tmp_path / "a.json", document_ai(*segments)), "det").texts == ["hixé"]


def test_lines_of_azure_without_words_are_counted(tmp_path: Path) -> None:
    lines = [*LINES, {**WORD, "words": []}]
    document = {"analyzeResult": {"readResults": [{**SIZE, "lines": lines}]}}
    (warning,) = read(written(tmp_path / "a.json", document), "det").warnings
    assert warning.startswith("1 line with text but without words was left out (--det-level line")
    assert read(tmp_path / "a.json", "det", level="line").texts == ["hi there", "hi"]


def blocks(**word: Any) -> dict[str, Any]:
    return {"Blocks": [{"BlockType": "WORD", "Text": "a", **word}, *textract(1)["Blocks"]]}


PAGE = "fullTextAnnotation.pages[0].blocks[0].paragraphs[0].words"


@pytest.mark.parametrize(
    ("name", "document", "fault"),
    [
        ("textract", blocks(), "Blocks[0].Geometry: neither Polygon nor BoundingBox"),
        ("textract", blocks(Geometry={"Polygon": [{"X": 1}]}), "Blocks[0].Geometry.Polygon: 1 vertices"),
        ("textract", blocks(Confidence="x"), "Blocks[0].Confidence: 'x'; expected a number"),
        ("textract", {"a": 1}, "no key 'Blocks'"),
        ("google-vision", vision({}, IN_PIXELS), f"{PAGE}[0].boundingBox: no vertices"),
        ("google-vision", vision(NORMALIZED, IN_PIXELS), f"{PAGE}[1].boundingBox: coordinates in pixels and in fractions"),
        ("google-vision", {"responses": [vision(IN_PIXELS), {"error": {"message": "no"}}]}, "responses[1]: an error in the place of a result: 'no'"),
        ("google-vision", {"a": 1}, "no key 'fullTextAnnotation'; expected it next to 'a'"),
        ("google-vision", {"fullTextAnnotation": {"pages": [{"blocks": [5]}]}}, "fullTextAnnotation.pages[0].blocks[0]: 5; expected an object"),
        ("document-ai", document_ai(shape=None), "pages[0].tokens[0].layout.boundingPoly: no vertices"),
        ("document-ai", document_ai({"endIndex": "7"}), "pages[0].tokens[0].layout.textAnchor: characters 0 to 7; expected indices in the text of 6"),
        ("document-ai", document_ai({"endIndex": "x"}), "pages[0].tokens[0].layout.textAnchor: characters 0 to x"),
        ("document-ai", {"pages": [{"a": 1}]}, "pages[0]: no key 'tokens'"),
        ("azure", azure("cm"), "analyzeResult.pages[0].unit: 'cm'; expected pixel or inch"),
        ("azure", azure("inch", width=0), "analyzeResult.pages[0]: a page in inches of unknown width"),
        ("azure", {"analyzeResult": {}}, "analyzeResult: no key 'pages'"),
        ("azure", {"readResults": [{"lines": [{"words": [{"boundingBox": [1, 2]}]}]}]}, "readResults[0].lines[0].words[0].boundingBox: 1 vertices"),
    ],
)  # fmt: skip
def test_faults_have_their_place(tmp_path: Path, name: str, document: Any, fault: str) -> None:
    found = read(written(tmp_path / "a.json", document), "det", name)
    assert len(found.faults) == 1
    assert found.faults[0].startswith(fault)
