"""Folders as programs export them and people keep them: what is not of the
data is left out, and said.
"""

from __future__ import annotations

from pathlib import Path

from reading import read

from evaltex_cli import evaluate


def written(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_fractions_that_reach_a_little_over_the_edge_are_of_yolo(tmp_path: Path) -> None:
    lines = ["7 0.94 0.5 0.5 0.8 0.8"] * 9 + ["7 0.9 0.65 0.68 0.7 0.69"]
    assert read(written(tmp_path / "det", a__txt="\n".join(lines)), "det").source.format == "yolo"


def test_a_file_of_another_format_among_many_is_named(tmp_path: Path) -> None:
    boxes = {f"img_{k}__txt": "10,10,60,30,one\n1,2,3,4,two\n" for k in range(30)}
    found = read(written(tmp_path / "gt", **boxes, odd__txt="10,10,60,10,60,30,10,30,one\n"), "gt")
    assert found.source.format == "ltrb"
    (fault,) = found.faults
    assert fault.startswith("odd.txt:1: 8 numbers at the start of '10,10,60,10")
    (tmp_path / "gt" / "odd.txt").write_text("1 0.9 10 10 50 20\n")
    (fault,) = read(tmp_path / "gt").faults
    assert fault.startswith("odd.txt:1: ")
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
