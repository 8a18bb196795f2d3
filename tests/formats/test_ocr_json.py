"""The JSON of OCR engines and clouds: every form, pages, don't care, units, and places of faults."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import Read, read
from written_files import in_folder, written

QUAD = [[10, 10], [60, 12.5], [60, 30], [10, 28]]
FLAT = [value for point in QUAD for value in point]
BOX = [10, 10, 60, 30]
READ = [[QUAD, "a", 0.5], [QUAD, "b", 0.25]]
COLUMNS = {"rec_polys": [QUAD], "rec_texts": ["a"], "rec_scores": [0.75]}
DETECTED = {"dt_polys": [QUAD, QUAD], "dt_scores": [0.25, 0.5]}
CORNERS = [{"x": x, "y": y} for x, y in QUAD]
IN_PIXELS = {"vertices": CORNERS}
NORMALIZED = {"normalizedVertices": [{"x": x / 100, "y": y / 100} for x, y in QUAD]}
OF_PAGE = [value / 100 for value in FLAT]
SIZE = {"width": 100, "height": 100}


def label(*words: Any, image: str = "set/img 1.v2.jpg") -> str:
    return f"{image}\t{json.dumps(list(words))}\n"


def word(text: str | None = "a", **others: Any) -> dict[str, Any]:
    return {"transcription": text, "points": QUAD, **others}


def mmocr(*instances: Any, path: str = "x/img_1.jpg") -> dict[str, Any]:
    images = [{"img_path": path, "height": 480, "width": 640, "instances": list(instances)}]
    return {"metainfo": {}, "data_list": images}


def doctr(geometry: Any, **page: Any) -> dict[str, Any]:
    one = {"value": "a", "confidence": 0.5, "geometry": geometry}
    lines = [{"geometry": geometry, "words": [one, one]}, {"geometry": geometry, "words": [one]}]
    return {"pages": [{"dimensions": [200, 100], "blocks": [{"lines": lines}], **page}]}


def surya(*lines: Any, key: str = "text_lines") -> dict[str, Any]:
    return {"img_1": [{key: list(lines), "image_bbox": [0, 0, 640, 480], "page": 1}]}


def textract(*words: dict[str, Any]) -> dict[str, Any]:
    polygon = [{"X": x / 100, "Y": y / 100} for x, y in QUAD]
    both = {"Text": "a", "Confidence": 50, "Geometry": {"Polygon": polygon}}
    kinds = [{"BlockType": kind, **both, **one} for one in words for kind in ("LINE", "WORD")]
    return {"Blocks": [{"BlockType": "KEY_VALUE_SET"}, *kinds]}


def vision(*shapes: dict[str, Any], **page: float) -> dict[str, Any]:
    symbols = [{"text": "h"}, {"text": "i"}]
    words = [{"boundingBox": one, "symbols": symbols, "confidence": 0.5} for one in shapes]
    page_of_words = {**page, "blocks": [{"paragraphs": [{"words": words}]}]}
    return {"fullTextAnnotation": {"pages": [page_of_words]}}


def document_ai(*segments: Any, shape: Any = NORMALIZED, **page: Any) -> dict[str, Any]:
    anchor = {"textSegments": list(segments)}
    token = {"layout": {"boundingPoly": shape, "textAnchor": anchor, "confidence": 0.5}}
    return {"text": "hi \nxé", "pages": [{"tokens": [token], "lines": [token], **page}]}


def azure(**page: Any) -> dict[str, Any]:
    items = [{"content": "a", "polygon": FLAT, "confidence": 0.5}]
    return {"analyzeResult": {"pages": [{**SIZE, "words": items, "lines": items, **page}]}}


LINE = {"polygon": QUAD, "bbox": BOX, "text": "a b", "confidence": 0.5}
WORDS = {**LINE, "words": [{"bbox": BOX, "text": "a"}, {"bbox": BOX, "text": "b"}]}
KIE = {"total": [{"value": "a", "geometry": [[0.125, 0.25], [0.75, 0.75]]}]}
AZURE_WORD = {"text": "a", "boundingBox": FLAT, "confidence": 0.5}
AZURE_LINES = [{**AZURE_WORD, "text": "a b", "words": [AZURE_WORD]}]
SEEN_LINES = [{"words": [{"text": "a", "boundingPolygon": CORNERS, "confidence": 0.5}]}]
TEXT = {"boundingPoly": IN_PIXELS, "description": "hi"}
BOUNDS = {"BoundingBox": {"Left": 0.5, "Top": 0.5, "Width": 0.25, "Height": 0}}


def shapes(found: Read) -> list[list[float]]:
    """The vertices of polygons, and the corners of boxes."""
    pairs = zip(found.flat_rings, found.objects.boxes.tolist(), strict=True)
    return [ring or box for ring, box in pairs]


def confidences(found: Read) -> list[float]:
    return [] if found.objects.confidences is None else found.objects.confidences.tolist()


@pytest.mark.parametrize(
    ("name", "document", "shape", "texts", "scores"),
    [
        ("paddleocr", label(QUAD, QUAD), FLAT, ["", ""], []),
        ("paddleocr", label(word(score=0.5), word(recscore=1)), FLAT, ["a", "a"], [0.5, 1]),
        ("paddleocr", "\ufeffa.jpg\t[]\r\n\r\n" + label(word(None)), FLAT, [""], []),
        ("paddleocr", "a.jpg\t" + json.dumps({"ocr_info": [word("c", pred="O")]}), FLAT, ["c"], []),
        ("paddleocr-json", DETECTED | {"input_path": "a.png"}, FLAT, ["", ""], [0.25, 0.5]),
        ("paddleocr-json", {"res": DETECTED | COLUMNS}, FLAT, ["a"], [0.75]),
        ("paddleocr-json", {"layout_det_res": {}, "overall_ocr_res": COLUMNS}, FLAT, ["a"], [0.75]),
        ("mmocr", mmocr({"bbox": BOX}, {"bbox": BOX, "text": "a"}), BOX, ["", "a"], []),
        ("mmocr", mmocr({"polygon": FLAT, "bbox": BOX, "score": 0.5}), FLAT, [""], [0.5]),
        ("mmocr-result", {"rec_texts": ["a"], "det_polygons": [FLAT], "det_scores": [0.5]}, FLAT, ["a"], [0.5]),
        ("mmocr-result", {"polygons": [[FLAT]], "scores": [0.5]}, FLAT, [""], [0.5]),
        ("easyocr", READ, FLAT, ["a", "b"], [0.5, 0.25]),
        ("easyocr", [[QUAD, "a", "0.5"]], FLAT, ["a"], [0.5]),  # RapidOCR 1.x
        ("easyocr", [[[QUAD, ["a", 0.5]], [QUAD, ["b", 0.25]]]], FLAT, ["a", "b"], [0.5, 0.25]),
        ("easyocr", [[QUAD, "a"], [QUAD, "b"]], FLAT, ["a", "b"], []),  # by paragraphs
        ("easyocr", [QUAD, QUAD], FLAT, ["", ""], []),
        ("easyocr", [[QUAD, QUAD]], FLAT, ["", ""], []),  # PaddleOCR 2 without recognition
        ("easyocr", [None], FLAT, [], []),  # PaddleOCR 2: nothing found
        ("rapidocr", [{"box": QUAD, "txt": "a", "score": 0.5}], FLAT, ["a"], [0.5]),
        ("rapidocr", [{"boxes": QUAD, "text": "a", "confident": 0.5}], FLAT, ["a"], [0.5]),
        ("rapidocr", [{"bbox": QUAD, "text": "a", "confidence": 0.5}], FLAT, ["a"], [0.5]),
        ("paddleocr-json", [{"res": DETECTED | COLUMNS}], FLAT, ["a"], [0.75]),
        ("textract", textract({})["Blocks"], OF_PAGE, ["a"], [0.5]),
        ("rapidocr", {"0": {"rec_txt": "a", "dt_boxes": QUAD, "score": "1"}}, FLAT, ["a"], [1]),
        ("ocrmac", [["a", 1, BOX], ["b", 0.5, BOX]], BOX, ["a", "b"], [1, 0.5]),
        ("ocrmac", [["a", 1, [0.25, 0.125, 0.5, 0.25]]], [0.25, 0.625, 0.75, 0.875], ["a"], [1]),
        ("doctr", doctr([[0.25, 0.5], [0.75, 1]]), [25, 100, 75, 200], ["a"] * 3, [0.5] * 3),
        ("doctr", doctr([[0, 0.5], [1, 0.5], [1, 1]]), [0, 100, 100, 100, 100, 200], ["a"] * 3, [0.5] * 3),
        ("doctr", {"pages": [{"dimensions": [40, 80], "predictions": KIE}]}, [10, 10, 60, 30], ["a"], []),
        ("surya", surya(WORDS), BOX, ["a", "b"], []),
        ("surya", surya(LINE), FLAT, ["a b"], [0.5]),
        ("surya", surya({"polygon": QUAD, "confidence": 0.5}, key="bboxes"), FLAT, [""], [0.5]),
        ("textract", textract({}), OF_PAGE, ["a"], [0.5]),
        ("textract", textract({"Geometry": BOUNDS}), [0.5, 0.5, 0.75, 0.5], ["a"], [0.5]),
        ("google-vision", vision(IN_PIXELS, **SIZE), FLAT, ["hi"], [0.5]),
        ("google-vision", vision({"vertices": [{"y": 1}, {"x": 5}, {"x": 5, "y": 3}]}), [0, 1, 5, 0, 5, 3], ["hi"], [0.5]),
        ("google-vision", vision(NORMALIZED), OF_PAGE, ["hi"], [0.5]),
        ("google-vision", vision(NORMALIZED, **SIZE), FLAT, ["hi"], [0.5]),
        ("google-vision", {"responses": [{"textAnnotations": [TEXT, TEXT]}]}, FLAT, ["hi"], []),
        ("document-ai", document_ai({"endIndex": "2"}), OF_PAGE, ["hi"], [0.5]),
        ("document-ai", {"document": document_ai({"endIndex": 2}, dimension=SIZE)}, FLAT, ["hi"], [0.5]),
        ("document-ai", document_ai({"endIndex": 2}, {"startIndex": 4, "endIndex": "6"}), OF_PAGE, ["hixé"], [0.5]),
        ("azure", azure(unit="inch"), OF_PAGE, ["a"], [0.5]),
        ("azure", {"analyzeResult": {"readResults": [{**SIZE, "unit": "pixel", "lines": AZURE_LINES}]}}, FLAT, ["a"], [0.5]),
        ("azure", {"recognitionResults": [{**SIZE, "lines": AZURE_LINES}]}, FLAT, ["a"], [0.5]),
        ("azure", {"content": "a", **azure()["analyzeResult"]}, FLAT, ["a"], [0.5]),
        ("azure", {"metadata": SIZE, "readResult": {"blocks": [{"lines": SEEN_LINES}]}}, FLAT, ["a"], [0.5]),
    ],
)  # fmt: skip
def test_every_form_is_read(
    tmp_path: Path, name: str, document: Any, shape: Any, texts: Any, scores: Any
) -> None:
    found = read(written(tmp_path / "img_1.json", document), "det")
    assert (found.source.format, found.faults) == (name, [])
    assert len(shapes(found)) == len(texts)
    for one in shapes(found):
        np.testing.assert_allclose(one, shape)
    assert (found.texts, confidences(found)) == (texts, scores)
    of_page = bool(texts) and max(shape) <= 1
    assert (found.source.fractions is not None) == of_page
    if "width" in str(document):
        size = [480, 640] if name == "mmocr" else [100, 100]
        assert found.source.sizes.tolist() == [[0, 0] if of_page else size]


@pytest.mark.parametrize(
    "document", [vision(NORMALIZED), document_ai({"endIndex": "2"}), azure(unit="inch")]
)
def test_keys_may_be_in_snake_case(tmp_path: Path, document: Any) -> None:
    text = re.sub(r"(?<=[a-z])[A-Z]", lambda letter: f"_{letter[0].lower()}", json.dumps(document))
    found = read(written(tmp_path / "a.json", text), "det")
    assert (found.faults, bool(found.texts[0]), confidences(found)) == ([], True, [0.5])


@pytest.mark.parametrize(
    ("document", "dont_care"),
    [
        (label(word(), word(difficult=True), word("###"), word("*"), word(illegibility=1)), [0, 1, 1, 1, 1]),
        (mmocr({"bbox": BOX, "ignore": True}, {"bbox": BOX, "text": "###"}, {"bbox": BOX}), [1, 1, 0]),
        ([[QUAD, "###", 1]], [0]),
    ],
)  # fmt: skip
def test_what_training_leaves_out_is_dont_care(
    tmp_path: Path, document: Any, dont_care: list[int]
) -> None:
    path = written(tmp_path / "a.json", document)
    assert read(path).objects.dont_care.tolist() == dont_care
    assert not read(path, "det").objects.dont_care.any()


PAGES = [[[QUAD, ["a", 1]]], None, [[QUAD, ["b", 1]], [QUAD, ["c", 1]]]]
TWO = [f"imgs/{part}/a.jpg" for part in ("train", "test")]


@pytest.mark.parametrize(
    ("documents", "names", "counts"),
    [
        ({"1.json": [], "2.json": READ}, ["1", "2"], [0, 2]),  # the first says nothing
        ({"1.json": {"responses": [{}]}, "2.json": {"responses": [vision(IN_PIXELS)]}}, ["1", "2"], [0, 1]),
        ({"one.json": PAGES[:1], "scan.json": PAGES}, ["one", "scan-1", "scan-2", "scan-3"], [1, 1, 0, 2]),
        ({"a.json": {"pages": doctr([[0, 0], [1, 1]])["pages"] * 2}}, ["a-1", "a-2"], [3, 3]),
        ({"r.json": {"b/img_1.png": surya(LINE)["img_1"], "c": surya(LINE)["img_1"] * 2}}, ["img_1", "c-1", "c-2"], [1, 1, 1]),
        ({"gt.json": {"data_list": [mmocr(path=path)["data_list"][0] for path in TWO]}}, ["train/a", "test/a"], [0, 0]),
        ({"Label.txt": "".join(label(QUAD, image=path) for path in TWO)}, ["train/a", "test/a"], [1, 1]),
        ({"a.json": {"responses": [vision(IN_PIXELS), {}, {"labelAnnotations": []}, {"textAnnotations": [TEXT] * 3}]}}, ["a-1", "a-2", "a-3", "a-4"], [1, 0, 0, 2]),
        ({"a.json": {"mimeType": "image/png", "pages": [{"pageNumber": 1}]}}, ["a"], [0]),
    ],
)  # fmt: skip
def test_images_and_their_names(
    tmp_path: Path, documents: dict[str, Any], names: list[str], counts: list[int]
) -> None:
    texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in documents.items()}
    path = in_folder(tmp_path / "in", texts)
    found = read(path / next(iter(texts)) if len(texts) == 1 else path, "det")
    assert (list(found.source.names), found.faults) == (names, [])
    assert np.diff(found.objects.offsets).tolist() == counts


def test_files_beside_the_labels_of_ppocrlabel_are_left_out(tmp_path: Path) -> None:
    files = {"Label.txt": label(word()), "fileState.txt": "labelled/a.jpg\t1\n"}
    found = read(in_folder(tmp_path / "a", files | {"rec_gt.txt": "crop/img 1.v2.jpg\ta\n"}))
    assert (found.source.format, list(found.source.names)) == ("paddleocr", ["img 1.v2"])
    assert found.warnings == ["2 files of another format were left out"]


LOST = {"recognitionResults": [{**SIZE, "lines": [*AZURE_LINES, {**AZURE_WORD, "words": []}]}]}


@pytest.mark.parametrize(
    ("document", "word_regions", "line_texts", "lost"),
    [
        (doctr([[0, 0], [1, 1]]), [1, 1, 2], ["a a", "a"], 0),
        (document_ai({"endIndex": 2}), [1], ["hi"], 0),
        (LOST, [1], ["a b", "a"], 1),
    ],
)
def test_words_and_lines(
    tmp_path: Path, document: Any, word_regions: list[int], line_texts: list[str], lost: int
) -> None:
    path = written(tmp_path / "a.json", document)
    assert read(path).objects.regions.tolist() == word_regions
    note = "1 line without words was left out (--det-level line reads lines)"
    assert read(path, "det").warnings == [note] * lost
    lines = read(path, level="line")
    assert (lines.texts, lines.source.level, lines.warnings) == (line_texts, "line", [])


IN_VISION = "fullTextAnnotation.pages[0].blocks[0].paragraphs[0].words"


@pytest.mark.parametrize(
    ("name", "document", "faults"),
    [
        ("paddleocr", "b.jpg\t[]\na.jpg [[1]]\n", ["2: "]),
        ("paddleocr", label(word(), 5, word(points=[[1, 2], [3, "x"], [5, 6]])), ["1: no points", "1: points[1][1]: 'x'"]),
        ("paddleocr-json", {"rec_polys": [QUAD], "rec_texts": [], "rec_scores": [1]}, ["no list rec_polys, or not as long as rec_texts and rec_scores"]),
        ("mmocr", mmocr({"text": "cropped"}, {"bbox": BOX}), ["data_list[0].instances[0]: no polygon or "]),
        ("easyocr", [*READ, "b", [QUAD, 5]], ["[2]: no 0 or box or ", "[3].1: 5; expected text"]),
        ("doctr", doctr([[0, 0]]), [f"pages[0].blocks[0].lines[{k}].words[{w}].geometry: 1 vertices" for k, w in ((0, 0), (0, 1), (1, 0))]),
        ("google-vision", vision(NORMALIZED, IN_PIXELS), [f"{IN_VISION}[0]: no boundingBox.vertices"]),
        ("google-vision", {"responses": [{"error": {"message": "no"}}]}, ["responses[0]: no key 'fullTextAnnotation'; expected it next to 'error'"]),
        ("document-ai", document_ai(shape=None), ["pages[0].tokens[0]: no boundingBox.normalizedVertices or boundingPoly."]),
        ("azure", azure(unit="inch", width=0), ["pages[0]: a page of width or height 0"]),
    ],
)  # fmt: skip
def test_faults_have_their_place(
    tmp_path: Path, name: str, document: Any, faults: list[str]
) -> None:
    path = written(tmp_path / "a", document)
    found = [fault.removeprefix(f"{path}:") for fault in read(path, "det", name).faults]
    assert len([one for one in found if "which was named" not in one]) == len(faults)
    for fault, expected in zip(found, faults, strict=False):
        assert fault.startswith(expected)
