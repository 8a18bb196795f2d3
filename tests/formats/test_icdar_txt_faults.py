"""ICDAR-style folders and archives: every fault of a line, of a text and of a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from line_shapes import COORDINATES, LTRB
from reading import folder, read
from written_files import zipped

from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.base import Side


@pytest.mark.parametrize(
    ("kind", "side", "line", "found", "expected"),
    [
        ("ltrb", "gt", "1,2,3", "3 numbers at the start of '1,2,3'", ("x0,y0,x1,y1,transcription" " (format" " ltrb)")),
        ("ltrb", "gt", "img_1", "0 numbers at the start of 'img_1'", "x0,y0,x1,y1"),
        ("ltrb", "gt", '1,2,3,4,5,"w"', "5 numbers at the start of '1,2,3,4,5,\"w\"'", "x0,y0,x1,y1,transcription"),
        ("ltrb", "gt", "1,nan,3,4,w", "'nan'", "a finite number"),
        ("ltrb", "gt", "1,2,-inf,4,w", "'-inf'", "a finite number"),
        ("ltrb", "gt", "1,2,3e12,4,w", "'3e12'", "at most 1e12 in magnitude"),
        ("ltrb", "gt", "1,2,1e999,4,w", "'1e999'", "a finite number"),
        ("ltrb", "gt", "5,2,3,4,w", "a box from (5, 2) to (3, 4)", "x0 <= x1 and y0 <= y1"),
        ("ltrb", "gt", "1,5,3,4,w", "a box from (1, 5) to (3, 4)", "x0 <= x1 and y0 <= y1"),
        ("ltrb", "det", "1,2,3,4,5", "5 numbers", "x0,y0,x1,y1 (format ltrb)"),
        ("quad", "gt", "1,2,3,4,5,6,7,w", "7 numbers", ("x1,y1,x2,y2,x3,y3,x4,y4,transcription" " (format" " quad)")),
        ("quad", "gt", '1,2,3,4,5,6,7,8,0,"w"', "9 numbers", "x4,y4,transcription"),
        ("quad", "det", "1,2,3,4,5,6,7,8,9,10", "10 numbers", ("x1,y1,x2,y2,x3,y3,x4,y4 (format" " quad)")),
        ("quad", "det", "1,2,3,4,5,6,7,8,9x", None, None),
        ("polygon", "det", "1,2,3,4,5,6,7", "7 numbers", "x1,y1,x2,y2,x3,y3,... (format polygon)"),
        ("polygon", "det", "1,2,3,4", "4 numbers as coordinates", "three vertices or more"),
        ("polygon", "gt", "1,2,w", "2 numbers as coordinates", "three vertices or more"),
        ("polygon", "gt", "1,2,3,4,5,nan,7,8,w", "'nan'", "a finite number"),
        ("polygon", "gt", '1,2,3,4,5,6,7,"w"', "7 numbers", "x3,y3,...,transcription"),
        ("polygon", "gt", "###", "0 numbers as coordinates", "three vertices or more"),
    ],
)  # fmt: skip
def test_faults_name_file_line_and_both_sides(
    tmp_path: Path, kind: str, side: Side, line: str, found: str | None, expected: str | None
) -> None:
    good = COORDINATES[kind] + (",word" if side == "gt" else "")
    result = read(folder(tmp_path / "a", good, f"{good}\r\n\n{line}\n{good}"), side, kind)
    if found is None:
        assert result.faults == [] and result.objects.count == 4
        return
    (fault,) = result.faults
    assert fault.startswith(f"2.txt:3: {found}")
    assert str(expected) in fault.split("; expected ", 1)[1]
    assert result.objects.count == 3


def test_a_missing_confidence_is_a_fault(tmp_path: Path) -> None:
    lines = [f"{LTRB},0.{k}" for k in range(40)]
    result = read(folder(tmp_path / "a", "\n".join([*lines, LTRB, f"{LTRB},7"])), "det")
    assert result.faults[0].startswith(
        f"1.txt:41: 4 numbers at the start of '{LTRB}'; expected x0,y0,x1,y1,confidence"
    )
    assert result.faults[1].startswith(
        "1.txt:42: '7' where the other lines have a confidence; expected a number in [0, 1]"
    )


def test_only_the_first_faults_are_shown(tmp_path: Path) -> None:
    result = read(folder(tmp_path / "a", LTRB + "\n" * 3 + "1,2\n" * 100), "det", "ltrb")
    assert len(result.faults) == 100 and result.fault_count == 100


@pytest.mark.parametrize(
    ("content", "line", "byte"),
    [
        (f"{LTRB},caf\xe9".encode("latin-1"), 1, "0xe9"),
        (f"{LTRB},a\n\n{LTRB},".encode() + b"\xff", 3, "0xff"),
        (f"{LTRB},a\n".encode("utf-16"), 1, "0xff"),
    ],
)  # fmt: skip
def test_text_that_is_not_utf8(tmp_path: Path, content: bytes, line: int, byte: str) -> None:
    result = read(folder(tmp_path / "a", f"{LTRB},a", content), "gt", "ltrb")
    (fault,) = result.faults
    assert fault.startswith(
        f"2.txt:{line}: byte {byte}, which is not UTF-8; expected text in UTF-8"
    )


def test_unsafe_and_repeated_names_are_faults(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    names = ("../gt_1.txt", "gt_2.txt", "res_2.txt")
    result = read(zipped(path, dict.fromkeys(names, f"{LTRB},a")))
    assert sorted(fault.split(":")[0] for fault in result.faults) == ["../gt_1.txt", "res_2.txt"]


def test_without_any_text_file(tmp_path: Path) -> None:
    """Neither side: a folder of detections without a file is another folder, or of a failed run."""
    path = tmp_path / "empty"
    path.mkdir()
    none = r"empty: no \.txt file in it; expected one for each image"
    with pytest.raises(InputError, match=none):
        read(path)
    with pytest.raises(InputError, match=none + r" \(an image without detections has an empty one"):
        read(path, "det")
    with pytest.raises(InputError, match=r"empty: no \.json file in it; expected one for each"):
        read(path, "det", "labelme")
    (path / "1.unknown").write_text("1,2,3,4")
    found = (
        r"empty: no \.txt file in it \(1 file that is not \.txt was left out: '1\.unknown'\);"
        r" expected one"
    )
    for side in ("gt", "det"):
        with pytest.raises(InputError, match=found):
            read(path, side)
