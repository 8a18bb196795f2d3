"""Folders as programs export them and people keep them: what is not of the
data is left out, and said.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reading import read

from evaltex_cli import evaluate
from evaltex_cli.old_formats.documents import each_file
from evaltex_cli.old_formats.engines import hocr
from evaltex_cli.old_formats.files import archive

WORD = '<Word><Coords points="0,0 9,0 9,9"/></Word>'
PAGE = f"<PcGts><Page><TextRegion><TextLine>{WORD}</TextLine></TextRegion></Page></PcGts>"


def written(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["mets__xml", "metadata__xml", "zz_mets__xml"])
def test_mets_next_to_pages_is_left_out(tmp_path: Path, name: str) -> None:
    root = "trpDocMetadata" if "meta" in name else "mets:mets xmlns:mets='m'"
    found = read(
        written(
            tmp_path / "gt", **{name: f"<{root}></{root.split(maxsplit=1)[0]}>", "p__xml": PAGE}
        ),
        "gt",
    )
    assert (found.source.names, found.objects.count, found.faults) == (["p"], 1, [])
    assert found.source.warnings == (f"{tmp_path / 'gt'}: 1 file of METS or metadata was left out",)


def test_files_of_a_bag_are_left_out(tmp_path: Path) -> None:
    about = {
        "bagit__txt": "a",
        "bag-info__txt": "b",
        "manifest-sha512__txt": "c",
        "tagmanifest-md5__txt": "d",
    }
    found = read(written(tmp_path / "gt", **about, p__xml=PAGE), "gt")
    assert found.source.names == ["p"]
    assert (
        "4 files about the data set were left out: 'bag-info.txt', 'bagit.txt', "
        in found.source.warnings[0]
    )


def test_lists_of_darknet_are_left_out(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "gt", obj__names="text", train__txt="data/1.png", img__txt="0 0.5 0.5 0.2 0.1"
    )
    assert [entry.name for entry in archive.open_entries(folder).entries] == ["img.txt"]
    (folder / "obj.names").unlink()  # without it, train may be an image
    assert [entry.name for entry in archive.open_entries(folder).entries] == [
        "img.txt",
        "train.txt",
    ]


def test_fractions_that_reach_a_little_over_the_edge_are_of_yolo(tmp_path: Path) -> None:
    lines = ["7 0.94 0.5 0.5 0.8 0.8"] * 9 + ["7 0.9 0.65 0.68 0.7 0.69"]
    assert read(written(tmp_path / "det", a__txt="\n".join(lines)), "det").source.format == "yolo"


def test_a_document_of_pages_is_opened_once_for_all_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    events = hocr.events
    monkeypatch.setattr(hocr, "events", lambda data: opened.append(1) or events(data))
    word = "<span class='ocrx_word' title='bbox 0 0 {0} 9'>a</span>"
    pages = "".join(f"<div class='ocr_page'>{word.format(k)}</div>" for k in range(1, 6))
    source = read(written(tmp_path / "det", doc__hocr=f"<html>{pages}</html>"), "det").source
    opened.clear()
    boxes = [source.read(np.array([k])).objects.boxes[0, 2] for k in range(5)]
    assert (boxes, len(opened)) == ([1, 2, 3, 4, 5], 0)
    assert len(each_file._held) <= 2
    (tmp_path / "det" / "doc.hocr").write_text(f"<html>{pages}{pages}</html>")
    assert len(read(tmp_path / "det", "det").source.names) == 10


def test_round_shapes_of_alto_and_words_of_blanks(tmp_path: Path) -> None:
    shape = '<Shape><Ellipse HPOS="50" VPOS="20" HLENGTH="40" VLENGTH="10"/></Shape>'
    blank = '<String HPOS="1" VPOS="1" WIDTH="5" HEIGHT="5" CONTENT="  "/>'
    line = f'<TextLine><String CONTENT="a">{shape}</String>{blank}</TextLine>'
    unit = "<MeasurementUnit>pixel</MeasurementUnit>"
    (tmp_path / "a.xml").write_text(f"<alto>{unit}<Page>{line}</Page></alto>")
    found = read(tmp_path / "a.xml", "det")
    assert (found.objects.boxes.tolist(), found.texts) == ([[10, 10, 90, 30]], ["a"])
    said = [warning.partition(": ")[2] for warning in found.source.warnings]
    assert said == [
        "1 String element of blanks alone was left out",
        "1 ellipse or circle is taken for its bounding box",
    ]


def test_words_of_blanks_in_hocr(tmp_path: Path) -> None:
    word = "<span class='ocrx_word' title='bbox 0 0 9 9'>{}</span>"
    (tmp_path / "a.hocr").write_text(
        f"<html>{word.format('a')}{word.format('<em> </em>')}{word.format('')}</html>"
    )
    found = read(tmp_path / "a.hocr", "det")
    assert found.texts == ["a", ""]
    assert found.source.warnings == (f"{tmp_path / 'a.hocr'}: 1 word of blanks alone was left out",)


def test_a_file_of_another_format_among_many_is_named(tmp_path: Path) -> None:
    boxes = {f"img_{k}__txt": "10,10,60,30,one\n1,2,3,4,two\n" for k in range(30)}
    found = read(written(tmp_path / "gt", **boxes, odd__txt="10,10,60,10,60,30,10,30,one\n"), "gt")
    assert found.source.format == "ltrb"
    assert [fault.partition("; ")[0] for fault in found.faults] == [
        "odd.txt:1: 8 numbers at the start of the line"
    ]
    (tmp_path / "gt" / "odd.txt").write_text("1 0.9 10 10 50 20\n")
    assert [fault.partition("; ")[0] for fault in read(tmp_path / "gt").faults] == [
        "odd.txt:1: a class, a confidence and four numbers"
    ]
    (tmp_path / "gt" / "odd.txt").write_text(
        '10,10,60,30,"60,10,60,30,10,30,one"\n'
    )  # quotes say that it is text
    assert read(tmp_path / "gt").faults == []


def test_a_document_of_another_service_is_no_image_without_text(tmp_path: Path) -> None:
    response = (
        '{"textAnnotations": [{}, {"description": "a", "boundingPoly": {"vertices": [{},'
        ' {"x": 9}, {"y": 9}]}}]}'
    )
    path = written(
        tmp_path / "det", a__json=response, b__json="{}", c__json='{"labelAnnotations": []}'
    )
    assert read(path, "det").faults == []
    (path / "d.json").write_text('{"Blocks": []}')
    assert read(path, "det").faults == [
        "d.json: no key 'fullTextAnnotation'; expected it next to 'Blocks'"
    ]
    words = '{"analyzeResult": {"pages": [%s]}}'
    path = written(
        tmp_path / "azure",
        a__json=words % '{"width": 9, "height": 9}',
        b__json=words % '{"tokens": []}',
    )
    assert read(path, "det").faults[0].startswith("b.json: analyzeResult.pages[0]: no key 'words'")


def test_an_angle_in_degrees(tmp_path: Path) -> None:
    found = read(written(tmp_path / "gt", a__txt="0 0 10 10 60 30 45\n"), "gt", "msra-td500")
    assert "an angle of 45; expected radians" in found.faults[0]


def test_fractions_read_as_pixels_are_warned_of(tmp_path: Path) -> None:
    lines = "".join(f"0.{k},0.1,0.{k}5,0.1,0.{k}5,0.2,0.{k},0.2\n" for k in range(1, 5))
    gt, det = (written(tmp_path / name, a__txt=lines) for name in ("gt", "det"))
    said = [text for text in evaluate(gt, det).warnings if "read as pixels" in text]
    assert [text.partition(": ")[0] for text in said] == [str(gt), str(det)]
