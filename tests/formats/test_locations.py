"""Every problem is reported with file, line and column, in every format: what is there is wrong."""

from __future__ import annotations

import json
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sample_words import Sample
from samples import SAMPLES, written
from written_files import zipped

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.documents import json_scan
from evaltex_cli.formats.locations import _coordinate_column
from evaltex_cli.records.rows import concatenate, take
from evaltex_cli.validation.findings import Problem
from evaltex_cli.validation.validation import validate

AT_COORDINATE = {
    "evaltex": "50,20\n",
    "icdar2013-train": '120 30 "two',
    "icdar2013-test": "120, 30, ",
    "icdar2015": "120,10,120,30,70,30,two",
    "mlt": "120,10,120,30,70,30,Latin",
    "rctw": "120,10,120,30,70,30,0",
    "totaltext-commas": "120,10,120,30",
    "ctw1500": "120,10,120,30",
    "popeval": "120 10 120 30",
}
"""Of the coordinate that is beyond the picture, which is less than 120 wide."""
AT_OBJECT = {
    "icdar2003-xml": '<taggedRectangle x="70"',
    "icdar2013-seg": '10 0 9 82 20 70 10 95 30 "a"',
    "totaltext-brackets": "x: [[70 120",
    "ctw1500-xml": '<box height="20" left="70"',
    "voc": "<object><name>text</name><difficult>0</difficult>\n    <bndbox><xmin>70<",
    "msra-td500": "0 0 70 10",
    "msra-td500-five": "70,10,120,30",
    "dota": "70 10 120 10",
    "class-xywh": "word 70 10",
    "class-ltrb": "word 70 10",
    "box-polygon": "120,10,120,30,70,30,two",
    "page": '<Word id="w2"',
    "page-line": '<TextLine id="l2"',
    "alto": '<String HPOS="70"',
    "alto-mm10": '<String HPOS="70"',
    "alto-line": '<TextLine HPOS="70"',
    "hocr": "<span class='ocrx_word' title='bbox 70",
    "hocr-line": '<span class="ocr_line" title="bbox 70',
    "cvat": '<box label="text" xtl="70"',
    "labelme-xml": "<object><name>two, 2",
    "abbyy-line": '<line l="70"',
}
AT_LINE = {
    "tesseract-tsv": "5\t1\t1\t1\t2\t1\t70\t",
    "tesseract-tsv-line": "4\t1\t1\t1\t2\t0\t70\t",
    "table": '1,70,10,120,30,"two',
    "via-csv": '1.jpg,1,"{}",3,1,"{""name"": ""rect"", ""x"": 70',
}
"""Rows of a table, whose columns are not counted."""
FRACTIONS = ("doctr", "doctr-line", "textract", "textract-line", "azure-read", "chat-boxes")
"""Of the page, or inches: no object is beyond the page that the file states, if it states any."""
ELSEWHERE = {*AT_COORDINATE, *AT_OBJECT, *AT_LINE, *FRACTIONS}
JSON = [name for name in SAMPLES if name not in ELSEWHERE]


def narrow(sample: Sample) -> Sample:
    """The first picture 100 wide, where a format says how wide it is."""
    files = {
        name: content.replace("640", "100") if isinstance(content, str) else content
        for name, content in sample.gt.items()
        if not name.endswith(".bmp")
    }
    return Sample(files, gt_format=sample.gt_format, many_in_one=sample.many_in_one)


def outside(path: Path, format_name: str | None, images: Path) -> Problem:
    found = validate(path, gt_format=format_name, images=images).problems
    (problem,) = [problem for problem in found if problem.kind == "outside-picture"]
    assert problem.image == "1"
    return problem


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, size in ((1, (100, 480)), (2, (320, 240))):
        Image.new("L", size).save(folder / f"{number}.png")
    return folder


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in FRACTIONS])
def test_an_object_beyond_the_picture(tmp_path: Path, images: Path, name: str) -> None:
    """In text the coordinate, else the object; the same in an archive."""
    sample = narrow(SAMPLES[name])
    problem = outside(written(tmp_path / "gt", sample, "gt"), sample.gt_format, images)
    assert problem.line is not None and (problem.column is None) == (name in AT_LINE)
    lines = Path(problem.file).read_text("utf-8-sig").split("\n")
    rest = "\n".join(
        [
            lines[problem.line - 1].lstrip("\ufeff")[(problem.column or 1) - 1 :],
            *lines[problem.line :],
        ]
    )
    if name in JSON:
        assert _first_number(json.JSONDecoder().raw_decode(rest)[0]) == 70
    else:
        assert rest.startswith((AT_COORDINATE | AT_OBJECT | AT_LINE)[name])
    if not sample.many_in_one:
        packed = zipped(
            tmp_path / "gt.zip", {f"a/{file}": data for file, data in sample.gt.items()}
        )
        again = outside(packed, sample.gt_format, images)
        assert again.file.startswith(f"{packed}/a/")
        assert (again.line, again.column) == (problem.line, problem.column)


def _first_number(value: Any) -> float:
    """The first coordinate of an object."""
    while not isinstance(value, int | float):
        keys = ["polygon", "points", "box", "segmentation", "bbox", "mask", "vertices"]
        keys += ["shape_attributes", "layout", "boundingPoly", "boundingBox", "x"]
        value = (
            value[next(key for key in keys if key in value)]
            if isinstance(value, dict)
            else value[2 if isinstance(value[0], str) else 0]
        )
    return value


@pytest.mark.parametrize("name", JSON)
def test_a_fault_in_json(tmp_path: Path, name: str) -> None:
    """At the value, with the way to it."""
    sample = SAMPLES[name]
    broken = {file: str(content).replace(" 70", ' "x"') for file, content in sample.gt.items()}
    path = written(tmp_path / "gt", Sample(broken, many_in_one=sample.many_in_one), "gt")
    faults = [
        one for one in validate(path, gt_format=sample.gt_format).problems if one.kind == "input"
    ]
    problem = faults[0]
    assert problem.line is not None and problem.column is not None
    line = Path(problem.file).read_text().split("\n")[problem.line - 1]
    assert line[problem.column - 1 :].startswith('"x"')
    assert re.match(r"(\w|\[\d)\S*: 'x'", problem.found)


@pytest.mark.parametrize(
    ("name", "before", "at"),
    [
        ("icdar2003-xml", 'x="', "<taggedRectangle"),
        ("icdar2013-seg", "10 0 9 82 20 ", "7e99"),
        ("totaltext-brackets", "[[", "x: [[7e99"),
        ("ctw1500-xml", "<segs>", "<segs>"),
        ("voc", "<xmin>", "<xmin>"),
        ("msra-td500", "0 0 ", "7e99"),
        ("page", 'Coords points="', "<Coords"),
        ("alto", ' HPOS="', "<String"),
    ],
)
def test_a_fault_in_xml_or_another_record(tmp_path: Path, name: str, before: str, at: str) -> None:
    """At the element, or the number where the record is a line."""
    sample = SAMPLES[name]
    broken = {
        file: str(content).replace(f"{before}70", f"{before}7e99")
        for file, content in sample.gt.items()
    }
    broken = {file: content for file, content in broken.items() if not file.endswith(".bmp")}
    path = written(tmp_path / "gt", Sample(broken, many_in_one=sample.many_in_one), "gt")
    given = name if name == "icdar2013-seg" else None
    (problem,) = [one for one in validate(path, gt_format=given).problems if one.kind == "input"]
    assert problem.line is not None and problem.column is not None
    rest = Path(problem.file).read_text().split("\n")[problem.line - 1][problem.column - 1 :]
    assert rest.startswith(at) and "7e99" in rest


@pytest.mark.parametrize(
    ("files", "line", "column"),
    [
        ({"gt.json": '{"gt_1": [],\n  }'}, 2, 3),
        ({"gt.json": '{"gt_1": [\n {"points": []}]}'}, 2, 13),
        ({"gt.json": '{"gt_1": [\n {"points": [[0, 0], [1, NaN]]}]}'}, 2, 26),
        ({"gt.json": '{"gt_1": [],\n "gt_2": 7}'}, 2, 10),
        ({"gt.json": '{"gt_1": [],\n "gt_../x": []}'}, 2, 13),
        ({"gt.xml": "<tagset>\n <image>\n</tagset>"}, 3, 3),
        ({"gt.xml": "<tagset><image/>\n <image><imageName>a</imageName></image></tagset>"}, 1, 9),
        ({"1.xml": "<annotation>\n <object/></annotation>"}, 2, 2),
        ({"1.xml": "<annotation><object>\n"}, 2, 1),
        ({"1.txt": "1,2,3,4,a\n5,6,7,8,\u00e9\n"}, 2, 9),
        ({"1.txt": "1,2,3,4,a\n\n  5,6,7\n"}, 3, 3),
        ({"1.txt": "10,20,30,40,a\n1e15,6,7,8,b"}, 2, 1),
        ({"gt.txt": '1\n9,9\n1,1,"a",f,1,2,nan,4'}, 3, 15),
        ({"gt.txt": '1\n9,9\n1,1,"a",f,1,2,nan,nan'}, 3, 1),
    ],
)
def test_faults(tmp_path: Path, files: dict[str, str], line: int, column: int) -> None:
    (tmp_path / "gt").mkdir()
    for name, text in files.items():
        (tmp_path / "gt" / name).write_bytes(text.encode("latin-1"))
    alone = next(iter(files)).startswith("gt.")
    found = validate(tmp_path / "gt" / next(iter(files)) if alone else tmp_path / "gt").problems
    problem = next(problem for problem in found if problem.level == "error")
    assert (problem.line, problem.column) == (line, column), problem


def test_images_of_a_document(tmp_path: Path) -> None:
    """An image that is missing from the ground truth is somewhere in the document, too."""
    gt, det = tmp_path / "gt.json", tmp_path / "det.json"
    gt.write_text('{"gt_1": [{"points": [[0,0],[9,0],[9,9]], "transcription": "a"}]}')
    det.write_text('{"res_1": [],\n   "res_2": [\n]}')
    extra, empty, none = [one for one in validate(gt, det).problems if one.side == "det"]
    assert none.kind == "no-objects"
    assert (extra.kind, extra.line, extra.column) == ("extra-image", 2, 13)
    assert (empty.kind, empty.line, empty.column) == ("empty-image", 1, 11)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_positions_in_json(value: Any, indent: int | None, mark: bool) -> None:
    """What stands at the position is the value; of what is missing, what it is missing from."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    ways = list(_ways(value, ()))
    missing = [(*way, "???") for way in ways]
    found = json_scan.positions(("\ufeff" * mark + text).encode(), ways + missing)
    for way in ways:
        inner = value
        for step in way:
            inner = inner[step]
        line, column = found[way]
        rest = "\n".join(
            [text.split("\n")[line - 1][(column or 0) - 1 :], *text.split("\n")[line:]]
        )
        assert json.JSONDecoder().raw_decode(rest)[0] == inner
        assert found[*way, "???"] == found[way]


def test_places_in_a_long_line_take_no_copy_of_it() -> None:
    """A wide character makes each character of a copy four bytes; it would be one for each place,
    too.
    """
    value = ["a" * 100 + "𝕏"] * 5_000
    data = json.dumps(value, ensure_ascii=False).encode()
    tracemalloc.start()
    try:
        found = json_scan.positions(data, [(k,) for k in range(0, len(value), 9)])
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data)
    finally:
        tracemalloc.stop()
    assert all(at == (1, 2 + 105 * k) for (k,), at in found.items())


def _ways(value: Any, here: tuple[Any, ...]) -> Any:
    yield here
    if isinstance(value, dict | list):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from _ways(value[step], (*here, step))


@pytest.mark.parametrize(
    ("line", "format_name", "columns"),
    [
        ("1,2,3,4,a b", "ltrb", [1, 3, 5, 7]),
        ('  10 20  30 40 "a"', "ltrb", [3, 6, 10, 13]),
        ("10, 20, 30, 40", "ltrb", [1, 5, 9, 13]),
        ("0,0,9,9,1,2,3,4", "ctw1500-offsets", [9, 11, 13, 15]),
        ('1,"a,b 5",10, 20,30,40', "evaltex", [11, 15, 18, 21]),
        ("1,2,a,f,1,2,3,4", "evaltex", [9, 11, 13, 15]),
    ],
)
def test_columns_of_coordinates(line: str, format_name: str, columns: list[int]) -> None:
    assert [_coordinate_column(line, format_name, 4, k) for k in range(4)] == columns


def test_objects_keep_their_lines_when_some_are_taken(tmp_path: Path) -> None:
    (tmp_path / "det").mkdir()
    (tmp_path / "det/1.txt").write_text("\n0,0,9,9,0.5\n\n0, 0,8,8,0.25\r\n0,0,7,7,+0.75\n")
    source = formats.open_source(tmp_path / "det", "det", FaultLog())
    objects = source.read(np.array([0])).objects
    some = take(objects, np.array([True, False, True]))
    unknown = replace(some, line=None)
    lines = [
        one.line.tolist()
        for one in (objects, some, concatenate([some, unknown]))
        if one.line is not None
    ]
    assert lines == [[2, 4, 5], [2, 5], [2, 5, 0, 0]]
