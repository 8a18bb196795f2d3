"""Document parsers, detectors and services: pages, categories, origins, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read

BOX = [10, 10, 60, 30]
CORNERS = [{"x": x, "y": y} for x, y in ((10, 10), (60, 10), (60, 30), (10, 30))]


def source_of(
    folder: Path, document: Any, side: Side = "det", **options: Any
) -> tuple[Source, list[str]]:
    path, log = folder / "doc.json", FaultLog()
    path.write_text(json.dumps(document), encoding="utf-8")
    source = read(path, side, InputOptions(**options), log)
    return source, [f"{fault.found}; expected {fault.expected}" for fault in log]


def block(category: str, text: str | None = None) -> dict[str, Any]:
    return {"type": category, "bbox": BOX, "page_idx": 0, **({"text": text} if text else {})}


def test_blocks_without_text_are_left_out_by_their_category(tmp_path: Path) -> None:
    blocks = [block("Text", "a"), block("table"), block("equation", "x"), block("image")]
    source, faults = source_of(tmp_path, [*blocks, block("image"), block("discarded", "b")])
    assert (list(source.objects.texts), faults) == (["a", "x"], [])
    assert source.warnings == (
        f"{tmp_path / 'doc.json'}: 1 box of category table without text was left out",
        f"{tmp_path / 'doc.json'}: 2 boxes of category image without text were left out",
        f"{tmp_path / 'doc.json'}: 1 box of category discarded was left out",
    )


def test_pages_of_a_content_list_are_images_also_if_nothing_is_on_one(tmp_path: Path) -> None:
    source, _ = source_of(tmp_path, [block("text", "a"), {**block("text", "b"), "page_idx": 2}])
    assert source.names == ["doc-1", "doc-2", "doc-3"]
    assert source.objects.offsets.tolist() == [0, 1, 1, 2]


def test_version_2_of_a_content_list_has_a_list_for_each_page(tmp_path: Path) -> None:
    spans = [{"type": "text", "content": "a "}, {"type": "equation_inline", "content": "x"}]
    items = [{"item_type": "text", "item_content": spans}] * 2
    contents = {"paragraph": {"paragraph_content": spans}, "list": {"list_items": items},
                "image": {"image_source": {}, "content": "a cat", "image_caption": spans}}  # fmt: skip
    blocks = [{"type": kind, "content": one, "bbox": BOX} for kind, one in contents.items()]
    source, faults = source_of(tmp_path, [[], blocks])
    assert (source.format, source.names) == ("mineru-content-list", ["doc-1", "doc-2"])
    assert (list(source.objects.texts), faults) == (["a x", "a x\na x"], [])


def test_numbers_beyond_the_declared_scale_of_a_content_list_are_refused(tmp_path: Path) -> None:
    beyond = [{**block("text", "a"), "bbox": [0, 0, 1200, 30]}]
    _, faults = source_of(tmp_path, beyond, coordinates="xyxy:1000")
    assert faults == ["1200; expected 0 to 1000, as xyxy:1000 declares"]
    source, faults = source_of(tmp_path, beyond)
    assert source.reading is not None and str(source.reading.known[0]) == "xyxy:1000"


@pytest.mark.parametrize("page", [-1, 2_000_000_000])
def test_pages_that_cannot_be_are_refused(tmp_path: Path, page: int) -> None:
    _, faults = source_of(tmp_path, [block("text", "a"), {**block("text", "b"), "page_idx": page}])
    assert faults == [f"page_idx {page}; expected 0 to 99999"]


def test_a_service_answers_with_a_result_for_each_page(tmp_path: Path) -> None:
    lines = {"dt_polys": [[[10, 10], [60, 10], [60, 30], [10, 30]]], "rec_texts": ["a"]}
    pages = [{"prunedResult": lines}, {"prunedResult": {"dt_polys": []}}]
    source, faults = source_of(tmp_path, {"result": {"ocrResults": pages}})
    assert (source.format, source.names, faults) == ("paddleocr-json", ["doc-1", "doc-2"], [])
    blocks = {
        "parsing_res_list": [{"block_bbox": BOX, "block_content": "a", "block_label": "text"}]
    }
    pages = [{"prunedResult": blocks}, {"prunedResult": blocks}]
    source, faults = source_of(tmp_path, {"result": {"layoutParsingResults": pages}})
    assert (source.format, list(source.objects.texts), faults) == ("paddleocr-vl", ["a", "a"], [])
    page = tmp_path / "doc_1_res.json"
    page.write_text(json.dumps({**lines, "input_path": "doc.pdf", "page_index": 1}))
    assert read(page, "det", InputOptions(), FaultLog()).names == ["doc-2"]


def test_a_text_of_docling_in_two_columns_is_two_objects(tmp_path: Path) -> None:
    prov = [
        {"page_no": 1, "bbox": {"l": 10, "t": 90, "r": 20, "b": 80, "coord_origin": "BOTTOMLEFT"}},
        {"page_no": 2, "bbox": {"l": 10, "t": 10, "r": 20, "b": 20, "coord_origin": "TOPLEFT"}},
    ]
    prov[0]["charspan"], prov[1]["charspan"] = [0, 3], [4, 7]
    pages = {k: {"page_no": int(k), "size": {"width": 100, "height": 100}} for k in ("1", "2")}
    texts = [{"label": "text", "text": "one two", "prov": prov}]
    document = {"schema_name": "DoclingDocument", "texts": texts, "pages": pages}
    source, faults = source_of(tmp_path, document)
    assert (source.names, list(source.objects.texts), faults) == (
        ["doc-1", "doc-2"],
        ["one", "two"],
        [],
    )
    assert source.objects.boxes.tolist() == [pytest.approx([0.1, 0.1, 0.2, 0.2])] * 2


def test_what_omnidocbench_ignores_is_dont_care(tmp_path: Path) -> None:
    poly = [10, 10, 60, 10, 60, 30, 10, 30]
    dets = [
        {"category_type": "abandon", "poly": poly, "ignore": True},
        {"category_type": "text_block", "poly": poly, "ignore": False, "text": "a"},
    ]
    info = {"image_path": "a.jpg", "height": 100, "width": 100}
    source, _ = source_of(tmp_path, [{"layout_dets": dets, "page_info": info}], "gt")
    assert (source.names, source.objects.dont_care.tolist()) == (["a"], [True, False])


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"pages": [{"markdown": "a", "dimensions": {}}]}, "a page without blocks"),
        ({"words_result_num": 1, "words_result": [{"words": "a"}]}, "no vertexes_location"),
        ({"images": [{"inferResult": "ERROR"}]}, "no key 'fields'"),
        ([{"Blocks": []}, {"JobStatus": "FAILED"}], "no key 'Blocks'"),
    ],
)
def test_answers_without_boxes_are_refused(tmp_path: Path, document: Any, fault: str) -> None:
    _, faults = source_of(tmp_path, document)
    assert len(faults) == 1 and faults[0].startswith(fault)


def test_tencent_answers_with_an_error_for_an_image_without_text(tmp_path: Path) -> None:
    answer = {"Response": {"Error": {"Code": "FailedOperation.ImageNoText"}}}
    source, faults = source_of(tmp_path, answer, det_format="tencent-ocr")
    assert (source.names, source.objects.count, faults) == (["doc"], 0, [])


@pytest.mark.parametrize(
    ("box", "points"),
    [
        ({"xmin": 10, "ymin": 10, "xmax": 60, "ymax": 30}, BOX),
        ({f"{v}{k}": p[v] for k, p in enumerate(CORNERS, 1) for v in "xy"}, BOX),
        ({"x1": 0.25, "y1": 0.5, "x2": 0.5, "y2": 0.75}, [0.25, 0.5, 0.5, 0.75]),
    ],
)
def test_boxes_of_detectors(tmp_path: Path, box: Any, points: list[float]) -> None:
    source, faults = source_of(tmp_path, [{"label": "text", "score": 0.5, "box": box}])
    assert (source.objects.boxes.tolist(), faults) == ([points], [])
    assert (source.fractions is not None) == (max(points) <= 1)

    for flat in ([box], [[{"score": 0.5, "box": box}]]) if "xmin" in box else ():
        assert source_of(tmp_path, flat)[0].objects.boxes.tolist() == [points]


def test_a_polygon_of_roboflow_is_taken_before_its_box(tmp_path: Path) -> None:
    item = {"x": 0, "y": 0, "width": 1, "height": 1, "points": CORNERS, "class": "text"}
    answer = {"image": {"width": 9, "height": 9}, "predictions": [item]}
    for document in (answer, [answer], {"outputs": [{"model": answer}]}):
        assert source_of(tmp_path, document)[0].objects.boxes.tolist() == [BOX]


def test_data_frames_of_pytesseract_are_read_as_columns_and_as_records(tmp_path: Path) -> None:
    names = "level page_num block_num par_num line_num word_num left top width height conf text"
    rows = [dict(zip(names.split(), (5, 1, 1, 1, 1, 1, 10, 10, 50, 20, 90, "a"), strict=True))]
    split = {"columns": names.split(), "index": [0], "data": [[*rows[0].values()]]}
    columns = {key: {"0": value} for key, value in rows[0].items()}
    for document in (
        rows,
        columns,
        split,
        {"schema": {"fields": []}, "data": rows},
        {"0": rows[0]},
    ):
        source, faults = source_of(tmp_path, document)
        assert (source.objects.boxes.tolist(), list(source.objects.texts)) == ([BOX], ["a"])
        assert faults == []


def test_words_of_cord_have_their_line_as_region(tmp_path: Path) -> None:
    quad = {f"{axis}{k}": point[axis] for k, point in enumerate(CORNERS, 1) for axis in "xy"}
    lines = [{"words": [{"quad": quad, "text": text} for text in texts]} for texts in ("a", "bc")]
    document = {"valid_line": lines, "dontcare": [[]]}
    source, faults = source_of(tmp_path, document, "gt")
    assert (source.objects.regions.tolist(), faults) == ([1, 2, 2], [])
    assert source.warnings[0].endswith("1 area of don't care in CORD was left out")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("docling", {"schema_name": "DoclingDocument", "body": {}, "texts": [{"text": "a", "prov": []}] * 3000, "pages": {}}),
        ("xfund", {"documents": [{"id": "a", "document": [{"box": BOX, "text": "a", "words": []}] * 1500, "img": {"fname": "a.jpg"}}]}),
        ("mistral-ocr", {"pages": [{"index": 0, "markdown": "a", "images": [{"image_base64": "A" * 70_000}], "dimensions": {}}]}),
        ("omnidocbench", [{"layout_dets": [{"category_type": "text_block", "poly": BOX}] * 1500, "page_info": {"image_path": "a.jpg"}}]),
    ],
)  # fmt: skip
def test_long_documents_are_recognised_by_their_beginning(
    tmp_path: Path, name: str, document: Any
) -> None:
    assert source_of(tmp_path, document)[0].format == name
