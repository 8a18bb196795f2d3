"""JSON documents with faults: each is named with its place and what was expected."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_documents import (
    ART,
    COCO,
    COCO_RESULTS,
    COCO_TEXT,
    HIERTEXT,
    LABELME,
    QUAD,
    SAMPLES,
    TEXTOCR,
    changed,
)
from reading import read
from written_files import written, zipped

from evaltex_cli import InputError, evaluate
from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.documents import safe_json

WORD = ("annotations", 0, "paragraphs", 0, "lines", 0, "words", 1)
FAULTS: list[tuple[Any, tuple[Any, ...], Any, str]] = [
    (ART, ("gt_1", 1, "points"), ..., ("gt_1[1]: no key 'points'; expected it next to" " 'transcription'," " 'language'")),
    (ART, ("gt_1", 0, "points", 2), [1, 2, 3], ("gt_1[0].points[2]: a list of 3; expected a vertex" " [x," " y]")),
    (ART, ("gt_1", 0, "points", 2), 7, "gt_1[0].points[2]: 7; expected a vertex [x, y]"),
    (ART, ("gt_1", 0, "points", 2, 1), "7", "gt_1[0].points[2][1]: '7'; expected a finite number"),
    (ART, ("gt_1", 0, "points", 2, 1), float("nan"), ("gt_1[0].points[2][1]: NaN; expected a finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), float("-inf"), ("gt_1[0].points[2][0]: -Infinity; expected a" " finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), 10**400, "gt_1[0].points[2][0]: 1000"),
    (ART, ("gt_1", 0, "points", 2, 0), 1.1e12, ("gt_1[0].points[2][0]: 1100000000000.0; expected a" " finite" " number")),
    (ART, ("gt_1", 0, "points", 2, 0), True, "gt_1[0].points[2][0]: true; expected a finite number"),
    (ART, ("gt_1", 0, "points"), QUAD[:2], "gt_1[0].points: 2 vertices; expected three or more"),
    (ART, ("gt_1", 1, "points"), [], "gt_1[1].points: 0 vertices; expected three or more"),
    (ART, ("gt_1", 0, "points"), None, "gt_1[0].points: null; expected a list [...]"),
    (ART, ("gt_1", 0, "transcription"), 5, "gt_1[0].transcription: 5; expected a string"),
    (ART, ("gt_1", 0, "illegibility"), "no", "gt_1[0].illegibility: 'no'; expected true or false"),
    (ART, ("gt_1", 0, "confidence"), "0.5", "gt_1[0].confidence: '0.5'; expected a finite number"),
    (ART, ("gt_1", 0), [], "gt_1[0]: a list of 0; expected an object {...}"),
    (ART, ("gt_20",), None, "gt_20: null; expected a list [...] of words"),
    (ART, ("../x",), [], "../x: image name '../x'; expected a name that stays in the result folder"),
    (ART, ("\ud800",), [], "image name '\\ud800'; expected a name that stays"),
    (ART, ("gt_",), [], "gt_: image name ''; expected a name"),
    (ART, ("res_1",), [], "res_1: image name '1' again; expected image names used once"),
    (COCO, ("annotations", 0, "image_id"), 99, ("annotations[0].image_id: image_id '99'; expected" " the" " ID" " of" " an" " image")),
    (COCO, ("annotations", 0, "image_id"), 8.0, "annotations[0].image_id: 8.0; expected an ID"),
    (COCO, ("annotations", 0, "image_id"), ..., ("annotations[0]: no key 'image_id'; expected it" " next to" " 'id'")),
    (COCO, ("annotations", 0, "id"), 4, "annotations[2].id: ID 4 again; expected IDs used once"),
    (COCO, ("annotations", 0, "id"), ..., ("annotations[0]: no key 'id'; expected it next to" " 'image_id'")),
    (COCO, ("annotations", 0, "id"), 1 << 70, ("annotations[0].id: 1180591620717411303424; expected" " a" " whole" " number")),
    (COCO, ("annotations", 0, "bbox"), ..., "annotations[0]: no key 'bbox'"),
    (COCO, ("annotations", 0, "bbox"), [1, 2, 3], ("annotations[0].bbox: a list of 3; expected x," " y," " width," " height")),
    (COCO, ("annotations", 0, "bbox", 2), -1, ("annotations[0].bbox: width -1, height 8.5; expected" " both" " at" " least" " 0")),
    (COCO, ("annotations", 1, "segmentation"), [[1, 2, 3]], ("annotations[1].segmentation[0]: 3" " coordinates;" " expected")),
    (COCO, ("annotations", 1, "segmentation"), [1, 2], ("annotations[1].segmentation[0]: 1;" " expected" " a" " polygon")),
    (COCO, ("annotations", 1, "segmentation"), "x", ("annotations[1].segmentation: 'x'; expected a" " list" " of" " polygons")),
    (COCO, ("annotations", 1, "segmentation", 0, 3), None, ("annotations[1].segmentation[0][3]:" " null;" " expected" " a")),
    (COCO, ("annotations", 1, "iscrowd"), 2, "annotations[1].iscrowd: 2; expected true or false"),
    (COCO, ("images", 0, "id"), 8, "images[1].id: ID '8' again; expected IDs used once"),
    (COCO, ("images", 0), 8, "images[0]: 8; expected an object {...}"),
    (COCO, ("images", 0, "width"), "wide", "images[0].width: 'wide'; expected a finite number"),
    (COCO, ("images",), {}, "images: an object; expected a list [...]"),
    (COCO_TEXT, ("anns", "1", "image_id"), 9, ("anns.1.image_id: image_id '9'; expected the ID of" " an" " image")),
    (COCO_TEXT, ("anns", "1", "mask"), "x", "anns.1.mask: 'x'; expected a list [...]"),
    (COCO_TEXT, ("anns", "1", "mask"), [1, 2, 3, 4], ("anns.1.mask: 2 vertices; expected three or" " more")),
    (COCO_TEXT, ("imgs", "5"), [], "imgs.5: a list of 0; expected an object {...}"),
    (COCO_TEXT, ("imgs",), [], "imgs: a list of 0; expected an object {...}"),
    (TEXTOCR, ("anns", "a4ea_2", "points"), ..., "anns.a4ea_2: no key 'points'"),
    (TEXTOCR, ("anns", "a4ea_2", "points", 1), {}, ("anns.a4ea_2.points[1]: an object; expected a" " finite" " number")),
    (HIERTEXT, (*WORD, "vertices"), ..., ("annotations[0].paragraphs[0].lines[0].words[1]: no key" " 'vertices'")),
    (HIERTEXT, (*WORD, "vertices", 0, 0), "", ("annotations[0].paragraphs[0].lines[0].words[1].vertices[0][0]:" " ''")),
    (HIERTEXT, WORD[:-1], None, ("annotations[0].paragraphs[0].lines[0].words: null; expected a" " list" " [...]")),
    (HIERTEXT, WORD[:-2], None, ("annotations[0].paragraphs[0].lines[0]: null; expected an object" " {...}")),
    (HIERTEXT, ("annotations", 0, "image_id"), ..., "annotations[0]: no key 'image_id'"),
    (LABELME, ("shapes", 0, "shape_type"), "cuboid", ("shapes[0].shape_type: shape_type 'cuboid';" " expected" " polygon" " or")),
    (LABELME, ("shapes", 1, "points"), QUAD[:3], ("shapes[1].points: 3 points; expected two" " opposite" " corners")),
    (LABELME, ("shapes",), {}, "shapes: an object; expected a list [...]"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "where", "to", "message"), FAULTS)
def test_faults_name_the_place_and_what_was_expected(
    tmp_path: Path, document: Any, where: tuple[Any, ...], to: Any, message: str
) -> None:
    path = written(tmp_path / "gt.json", changed(document, *where, to=to))
    faults = read(path).faults
    assert any(fault.startswith(message) or message in fault for fault in faults), faults
    with pytest.raises(InputError, match=r"gt\.json: "):
        evaluate(path, path)


def test_result_faults(tmp_path: Path) -> None:
    results = [
        {"image_id": True, "bbox": [1, 2, 3, 4]},
        {"bbox": [1, 2, 3, 4]},
        {"image_id": 7, "bbox": [1, 2, 3, 4], "score": 1e13},
        {"image_id": 7, "segmentation": {"size": [1, 1], "counts": ""}},
        5,
    ]
    found = read(written(tmp_path / "det.json", results), "det", "coco-res")
    assert found.faults == [
        "[0].image_id: true; expected an ID: a whole number or a string",
        "[1]: no key 'image_id'; expected it next to 'bbox'",
        "[2].score: 10000000000000.0; expected a finite number (at most 1e12 in magnitude)",
        "[3]: no key 'bbox'; expected it next to 'image_id', 'segmentation'",
        "[4]: 5; expected an object {...}",
    ]


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    document = changed(changed(ART, "gt_1", 0, "points", to=None), "gt_20", 0, "points", to=None)
    assert len(read(written(tmp_path / "gt.json", document)).faults) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"gt_1": [}',
            r"gt.json:1: Expecting value at column 11; expected one well-formed JSON document",
        ),
        ('{"gt_1": []}\n{"gt_2": []}', r"gt.json:2: Extra data at column 1"),
        (
            '{"a": ' + "[" * 100_000,
            r"gt.json: too deep a nesting; expected the nesting of an annotation",
        ),
        ('[{"a": ' * 100_000, r"gt.json: too deep a nesting"),
        ('{"a": ' * 100_000, r"gt.json: too deep a nesting"),
        (
            '{"unknown": 1}',
            r"gt.json: JSON of no known layout; expected a format that",
        ),
        ('[{"bbox": []}]', r"gt.json: JSON of no known layout"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "gt.json", text)
    with pytest.raises(InputError, match=message):
        evaluate(path, path)
    if "layout" not in message:
        with pytest.raises(InputError, match=message):
            read(path, "gt", "art")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_bytes(b'{"gt_1":\n[{"transcription": "caf\xe9"}]}')
    with pytest.raises(
        InputError, match=r"gt.json:2: byte 0xe9, which is not UTF-8; expected text in UTF-8"
    ):
        read(path)


def test_several_whole_documents_are_refused(tmp_path: Path) -> None:
    text = json.dumps(COCO)
    path = zipped(tmp_path / "a.zip", {"train.json": text, "val.json": text})
    with pytest.raises(
        InputError, match=r"2 \.json files in it; expected one of all images: give that file"
    ):
        read(path)


def test_archives_of_other_json_are_not_taken_for_empty(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.json": '{"unknown": 1}'})
    with pytest.raises(InputError, match="JSON of no known layout"):
        read(path, "det")


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.data())
def test_any_value_in_any_place_is_read_or_a_fault(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*SAMPLES, "coco-res"]))
    document = copy.deepcopy(SAMPLES.get(name, COCO_RESULTS))
    inner = document
    while isinstance(inner, dict | list) and inner:
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or data.draw(st.integers(0, 4)) == 0:
            break
        inner = inner[key]
    else:
        return
    values = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({}),
        st.just([[]]), st.just(10**500), st.just("\ud800"), st.lists(st.integers(), max_size=4),
    )  # fmt: skip
    inner[key] = data.draw(values)
    path = written(tmp_path_factory.mktemp("json") / "img.json", document)
    for side in ("gt", "det"):
        try:
            found = read(path, side, name)  # type: ignore[arg-type]
        except InputError as error:
            assert str(error).startswith(str(path))
        else:
            assert np.isfinite(found.objects.boxes).all()
            assert (found.objects.boxes[:, :2] <= found.objects.boxes[:, 2:]).all()
            assert all(fault.isprintable() for fault in found.faults)


def test_wrong_numbers() -> None:
    for item in (1.0, msgspec.Raw(b"1.0")):
        with pytest.raises(FormatError, match="whole number"):
            safe_json.take(item, safe_json.WholeNumber)
    for items in ([10**12, -0.5], msgspec.Raw(b"[1000000000000, -0.5]")):
        assert safe_json.take(items, list[safe_json.Number]) == [1e12, -0.5]


def test_a_number_of_thousands_of_digits(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.json", '{"gt_1": [{"points": [[' + "1" * 5000 + ", 2]]}]}")
    assert read(path).faults == [
        "gt_1[0]: a number of thousands of digits; expected numbers of at most 1e12 in magnitude"
    ]


def test_a_number_out_of_range_inside_an_object_of_any_keys(tmp_path: Path) -> None:
    mask = '[{"image_id": 1, "bbox": [1, 2, 3, 4], "segmentation": {"counts": [1e400]}}]'
    [fault] = read(written(tmp_path / "det.json", mask), "det").faults
    assert fault.startswith("[0].segmentation: an object; expected a finite number")
    flags = '{"shapes": [{"points": [[1, 2], [3, 4]], "flags": {"a": {"b": [1e400]}}}]}'
    [fault] = read(written(tmp_path / "gt.json", flags)).faults
    assert fault.startswith("shapes[0].flags: an object; expected a finite number")


def test_the_last_value_of_a_repeated_key_counts(tmp_path: Path) -> None:
    word = '{"points": [[0,0],[9,0],[9,9]], "transcription": "one", "transcription": "two"}'
    text = f'{{"gt_1": [], "gt_1": [{word}]}}'
    assert read(written(tmp_path / "gt.json", text)).texts == ["two"]
    beyond_json = text.replace("}]", ', "other": NaN}]')
    assert read(written(tmp_path / "gt.json", beyond_json)).texts == ["two"]


def test_numbers_beyond_json_are_faults_only_where_they_are_used(tmp_path: Path) -> None:
    text = (
        '{"gt_1": [{"points": [[1, 2], [30, 2], [30, 9]], "area": NaN, "transcription": "NaN'
        ' \\\\"}]}'
    )
    found = read(written(tmp_path / "gt.json", text))
    assert (found.faults, found.texts) == ([], ["NaN \\"])
    [fault] = read(
        written(tmp_path / "gt.json", text.replace("[30, 9]", "[-Infinity, NaN]"))
    ).faults
    assert (
        fault
        == "gt_1[0].points[2][0]: -Infinity; expected a finite number (at most 1e12 in magnitude)"
    )
