"""Text files of numbers: which layout an input has, what its lines mean, and every fault."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reading import Read, folder, read
from written_files import zipped

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats import reading
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.lines import LAYOUTS, NOT_READ
from evaltex_cli.formats.options import InputOptions

LTRB, QUAD, POLYGON = "10,20,30,40", "10,20,30,20,30,40,10,40", "10,20,30,20,30,40,20,50,10,40"
COORDINATES = {"ltrb": LTRB, "quad": QUAD, "polygon": POLYGON}
SHAPE = [10, 20, 30, 20, 30, 40, 10, 40]
CURVE = ",".join(f"{10 * k},{k % 2}" for k in range(14))
OFFSETS = f"100,200,230,201,{CURVE}"
TOTAL_TEXT = """x: [[153 161 179 195 184 177]], y: [[347 323 305 315 331 357]], ornt: [u'c'], transcriptions: [u'the']
x: [[ 80 100
 120 80]], y: [[  1   2   3
   4]], ornt: [u'm'], transcriptions: [u"it's"]
x: [[1, 2, 3]], y: [[4, 5, 7]], ornt: [u'h'], transcriptions: [u',']
x: [[1 2 3]], y: [[4 5 7]], ornt: [u'#'], transcriptions: [u'#']
x: [[1 2 3]], y: [[4 5 7]], ornt: [], transcriptions: [u'caf\\xe9 \\u2019\\\\ é']
x: [[1 2 3]], y: [[4 5 7]], ornt: ['c'], transcriptions: ['a']b']
"""


def read_lines(tmp_path: Path, *lines: str, side: Side = "gt", name: str | None = None) -> Read:
    return read(folder(tmp_path / "a", "\n".join(lines)), side, name)


# Which layout -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "lines", "layout"),
    [
        ("gt", '38, 43, 920, 215, "Tiredness"', "ltrb"),
        ("gt", "1,2,3,4,word\n1,2,3,4,word\n1,2,3,4,60,000\n1,2,3,4,1,2,3,4", "ltrb"),
        ("gt", "1,2,3,4,5,6,7,8,word\n" * 40 + "1,2,3,4,5,6,7,8,9,10,Downing Street", "quad"),
        ("gt", f"{QUAD},word\n1,2,###", "quad"),
        ("gt", f"{POLYGON},1996", "polygon"),
        ("det", "38\t43\t920\t215\t0.5", "ltrb"),
        ("det", "656,101,656,83,699,83,699,101,0.98,word", "quad"),
        ("det", "1,2,3,4,5,6,7,8,9,10,11,12,0.7\n1,2,3,4,5,6,7,8,0.7", "polygon"),
        ("det", "", "ltrb"),
        # a fifth number: angle, confidence or neither
        ("det", "10,20,50,30,0.2\n10,20,50,30,-0.4", "msra-td500"),
        ("det", "10,20,50,30,0.2\n10,20,50,30,0.4", "ltrb"),
        ("det", "10,20,50,30,0.2\n10,20,50,30,87.5", "ltrb"),
        ("det", "10,20,50,30,2\n10,20,50,30,3", "ltrb"),
        ("det", "10,20,50,30,3.2\n10,20,50,30,1.5\n" * 9 + "10,20,50,30,0.5", "ltrb"),
        ("det", "10,20,50,30,0.2\n" * 8 + "10,20,50,30,-0.2", "msra-td500"),
        ("det", "10 20 30 40 1984\n50 60 70 80 5", "ltrb"),
        ("det", "14 0.43 162 96 189 245\n" * 9 + "1 20 60 20 60 40", "polygon"),
        # a class and fractions
        ("det", "0 0.5 0.5 0.2 0.1", "yolo"),
        ("det", "0 0.1 0.1 0.3 0.1 0.3 0.2\n1 0.5 0.5 0.2 0.1", "yolo"),
        ("det", "0 0 0 1 1", "ltrb"),
        # DOTA
        ("gt", "imagesource:GoogleEarth\ngsd:0.2\n1 2 3 2 3 4 1 4 ground-track-field 0", "dota"),
        ("gt", "1 2 3 2 3 4 1 4 word 2", "dota"),
        # a mark after the numbers
        ("gt", f"1,2,3,2,3,4,1,4,####word\n{CURVE},#######", "ctw1500"),
        ("det", "1,2,3,2,3,4,1,4,0.9,####word", "ctw1500"),
        ("gt", f"{QUAD},Latin,word\n" * 19 + f"{QUAD},Latim,word\n" * 2, "mlt"),
        ("det", f"{QUAD},0.5\n" * 4 + f"{QUAD},Latin,x", "quad"),
        ("gt", f'{QUAD},1,"a"\n{QUAD},0,"b"', "rctw"),
        # boxes and polygons, as CVAT exports
        ("gt", '10 20 50 30 "word"\n10,20,50,20,50,30,10,30,"word"', "box-polygon"),
        ("gt", "10,20,50,30,a\n" * 30 + "10,20,50,20,50,30,10,30,a", "ltrb"),
        ("gt", ",".join(str(value) for value in range(100, 132)), "polygon"),
        ("gt", OFFSETS, "ctw1500-offsets"),
    ],
)  # fmt: skip
def test_all_lines_decide(tmp_path: Path, side: Side, lines: str, layout: str) -> None:
    assert read(folder(tmp_path / "a", lines), side).source.format == layout


def test_two_short_files_do_not_decide_the_layout(tmp_path: Path) -> None:
    """A line of seven numbers made the quad a triangle with the text '52,92'."""
    found = read(folder(tmp_path / "a", "1,2,3,4,5,6,7", "12,50,52,50,52,92,12,92", suffix=".csv"))
    assert found.source.format == "quad" and found.flat_rings == [[12, 50, 52, 50, 52, 92, 12, 92]]
    assert [fault.split(" at ")[0] for fault in found.faults] == ["1.csv:1: 7 numbers"]
    named = read(folder(tmp_path / "a", "1,2,3,4,5,6,7", f"{QUAD}"), "gt", "polygon")
    assert named.flat_rings == [SHAPE] and len(named.faults) == 1


@pytest.mark.parametrize(
    ("lines", "preferred", "layout", "is_noted"),
    [
        ("10,20,50,30,0.0,word", ("msra-td500",), "msra-td500", True),
        ("10,20,50,30,0.0,word\n10,20,50,30,word", ("msra-td500",), "ltrb", False),
        (f"{QUAD},Thai,word", ("mlt",), "mlt", True),
        (f"{QUAD},word", ("mlt",), "quad", False),
        ("0 0.5 0.5 0.2 0.1", ("ltrb",), "yolo", False),
    ],
)
def test_a_presets_formats_decide_between_layouts_that_read_as_many(
    tmp_path: Path, lines: str, preferred: tuple[str, ...], layout: str, is_noted: bool
) -> None:
    path = folder(tmp_path / "a", lines)
    source = reading.read(path, "gt", InputOptions(), FaultLog(), preferred=preferred)
    assert source.format == layout
    assert [f"is read as {layout}, a format of the preset" in note for note in source.warnings] == (
        [True] * is_noted
    )


# Text, confidences --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ltrb", "quad", "polygon"])
@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("word", "word"),
        (' "word" ', "word"),
        ('"say \\"hi\\", C:\\\\dir"', 'say "hi", C:\\dir'),
        ("C:\\\\dir", "C:\\\\dir"),
        ("one, two,", "one, two,"),
        ("1996", "1996"),
        ('half"', 'half"'),
        ('"', '"'),
        ("", ""),
        ("nan", "nan"),
        ("Ünï 日本語\u2028\x85", "Ünï 日本語\u2028\x85"),
        ("####", "####"),
    ],
)  # fmt: skip
def test_transcriptions(tmp_path: Path, name: str, written: str, text: str) -> None:
    lines = [f"{COORDINATES[name]},{written}", *[f"{COORDINATES[name]},word"] * 3]
    for side in ("gt", "det"):
        found = read_lines(tmp_path, *lines, side=side)
        assert (found.source.format, found.faults) == (name, [])
        assert found.texts == [text, "word", "word", "word"]
        assert not found.objects.dont_care.any()


@pytest.mark.parametrize("name", ["ltrb", "quad", "polygon"])
def test_exactly_three_hashes_in_ground_truth_are_dont_care(tmp_path: Path, name: str) -> None:
    texts = ["###", '"###"', " ###", "##", "###a", "x"]
    path = folder(tmp_path / "a", "\n".join(f"{COORDINATES[name]},{text}" for text in texts))
    found = read(path)
    assert found.objects.dont_care.tolist() == [True, True, False, False, False, False]
    assert found.warnings == [
        "1 transcription is ### with blanks or commas around, which is not don't care; delete these"
        " where it should be"
    ]
    det = read(path, "det")
    assert not det.objects.dont_care.any() and det.texts[0] == "###" and not det.warnings


def test_a_polygon_ends_before_a_transcription_that_is_a_number(tmp_path: Path) -> None:
    lines = [f"{POLYGON},1996", f"{QUAD},60,000", f'{QUAD},"7,8"', f"{QUAD},5,Downing Street"]
    found = read_lines(tmp_path, *lines, f"{POLYGON},word", f"{POLYGON},")
    assert found.texts == ["1996", "60,000", "7,8", "5,Downing Street", "word", ""]
    assert found.objects.outlines.counts.tolist() == [5, 4, 4, 4, 5, 5]


def test_byte_order_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    content = f"\ufeff{LTRB},a\r\n\r\n \t\r\n\ufeff{LTRB},b\n\n{LTRB},c"
    found = read(folder(tmp_path / "a", content, "", "\ufeff\r\n"))
    assert (found.texts, found.faults) == (["a", "b", "c"], [])
    assert found.objects.ids.tolist() == [1, 2, 3] == found.objects.regions.tolist()
    assert found.objects.offsets.tolist() == [0, 3, 3, 3]


def test_blanks_for_commas_leave_the_transcription_alone(tmp_path: Path) -> None:
    found = read_lines(tmp_path, '1 2 3 4 "60 000 years"', " 1\t2 3  4   5 years ago")
    assert found.texts == ["60 000 years", "5 years ago"]
    assert found.objects.boxes.tolist() == [[1, 2, 3, 4]] * 2
    found = read_lines(tmp_path, "1 2 3 4 0.5 two words", "1 2 3 4 1 7 8", side="det")
    assert found.texts == ["two words", "7 8"]
    assert found.objects.confidences is not None
    assert found.objects.confidences.tolist() == [0.5, 1]


WHOLE = (
    "all 3 lines end in a whole number after the coordinates, which is read as transcription; if it"
    " is a confidence, write it with a decimal point"
)
PERCENT = "its confidences are percent, up to 99; they were divided by 100"
BEYOND = (
    "its confidences are from -1.5 to 99.1, not in [0, 1]; they are used as they are (a least"
    " confidence is compared with them)"
)


@pytest.mark.parametrize("name", ["ltrb", "quad", "polygon"])
@pytest.mark.parametrize(
    ("tails", "confidences", "texts", "warnings"),
    [
        ([",0.5", ",1", ",1e-3"], [0.5, 1, 0.001], ["", "", ""], []),
        ([",0.5,word", ",1,1996", ',0,"6,7"'], [0.5, 1, 0], ["word", "1996", "6,7"], []),
        ([",1", ",0", ",1"], None, ["1", "0", "1"], [WHOLE]),
        ([",87.5", ",99", ",3.0"], [0.875, 0.99, 0.03], ["", "", ""], [PERCENT]),
        ([",-1.5", ",99.1,w", ",3"], [-1.5, 99.1, 3], ["", "w", ""], [BEYOND]),
    ],
)  # fmt: skip
def test_confidences(
    tmp_path: Path,
    name: str,
    tails: list[str],
    confidences: list[float] | None,
    texts: list[str],
    warnings: list[str],
) -> None:
    """All files of an input decide together."""
    files = {f"{k}.txt": COORDINATES[name] + tail for k, tail in enumerate(tails)}
    found = read(zipped(tmp_path / "a.zip", files), "det", name)
    assert (found.faults, found.texts, found.warnings) == ([], texts, warnings)
    read_back = found.objects.confidences
    assert confidences == (None if read_back is None else read_back.tolist())
    in_gt = read(tmp_path / "a.zip", "gt", "ltrb").objects
    assert in_gt.confidences is None


def test_a_missing_confidence_is_a_fault(tmp_path: Path) -> None:
    lines = [f"{LTRB},0.{k}" for k in range(40)]
    found = read_lines(tmp_path, *lines, LTRB, f"{LTRB},7", side="det")
    assert [fault.split(";")[0] for fault in found.faults] == [
        f"1.txt:41: 4 numbers at the start of '{LTRB}'",
        "1.txt:42: 7 as the confidence",
    ]


# Layouts of their own -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "lines", "texts", "dont_care"),
    [
        ("mlt", [f"{QUAD},Latin,word", f"{QUAD},None,###", f'{QUAD},Arabic,"as, it stands"',
                 f"{QUAD}, Symbols,50,5"], ["word", "###", '"as, it stands"', "50,5"], [1]),
        ("rctw", [f'{QUAD},0,"say \\"hi\\", you"', f'{QUAD},1,"word"', f'{QUAD},0,"###"',
                  f'{QUAD},0,""'], ['say "hi", you', "word", "###", ""], [1, 2]),
        ("ctw1500", [f"{QUAD},####one, two", f"{QUAD},#######", f"{QUAD},####"],
         ["one, two", "###", ""], [1]),
        ("popeval", ["10 20 30 20 30 40 10 40##::word", "10 20 30 20 30 40 10 40 ##::###",
                     f"{QUAD}##::a##::b, c"], ["word", "###", "a##::b, c"], [1]),
        ("quad", ["10 20 30 20 30 40 10 40 ,", "10 20 30 20 30 40 10 40 a, b",
                  "10 20 30 20 30 40 10 40 7"], [",", "a, b", "7"], []),
        ("dota", ["gsd:0.2", "10 20 30 20 30 40 10 40 storage-tank 0",
                  "10 20 30 20 30 40 10 40 small vehicle 2"], ["", ""], [1]),
    ],
)  # fmt: skip
def test_quads_and_what_follows(
    tmp_path: Path, layout: str, lines: list[str], texts: list[str], dont_care: list[int]
) -> None:
    for side in ("gt", "det"):
        found = read_lines(tmp_path, *lines, side=side)
        assert (found.source.format, found.faults, found.texts) == (layout, [], texts)
        assert found.flat_rings == [SHAPE] * len(texts)
        ignored = [k for k, is_ignored in enumerate(found.objects.dont_care) if is_ignored]
        assert ignored == (dont_care if side == "gt" else [])
    if layout == "dota":
        assert list(found.objects.labels or ()) == ["storage-tank", "small vehicle"]


def test_curves(tmp_path: Path) -> None:
    lines = [f"{QUAD},0.9,####word", f"{CURVE},0.5,####x"]
    found = read_lines(tmp_path, *lines, side="det")
    assert (found.faults, found.texts) == ([], ["word", "x"])
    assert found.objects.confidences is not None
    assert found.objects.confidences.tolist() == [0.9, 0.5]
    offsets = read_lines(tmp_path, OFFSETS, OFFSETS)
    shape = [float(value) + (100, 200)[k % 2] for k, value in enumerate(CURVE.split(","))]
    assert (offsets.faults, offsets.flat_rings) == ([], [shape] * 2)


def test_boxes_and_polygons(tmp_path: Path) -> None:
    lines = ['10 20 50 30 "a b"', "10,20,50,20,50,30,10,30", '0,0,9,0,9,9,"x"', "10,20,50,30,1984"]
    found = read_lines(tmp_path, *lines)
    assert (found.source.format, found.faults) == ("box-polygon", [])
    assert found.texts == ["a b", "", "x", "1984"]
    assert found.objects.outlines.counts.tolist() == [0, 4, 3, 0]
    assert found.objects.boxes[[0, 3]].tolist() == [[10, 20, 50, 30]] * 2


def test_total_text(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", TOTAL_TEXT, ""))
    assert (found.source.format, found.faults) == ("totaltext", [])
    assert found.texts == ["the", "it's", ",", "#", "café ’\\ é", "a']b"]
    assert found.objects.dont_care.tolist() == [False, False, False, True, False, False]
    assert found.flat_rings[:2] == [
        [153, 347, 161, 323, 179, 305, 195, 315, 184, 331, 177, 357],
        [80, 1, 100, 2, 120, 3, 80, 4],
    ]
    assert found.objects.offsets.tolist() == [0, 6, 6]
    assert not read(tmp_path / "a", "det").objects.dont_care.any()


TURNED = pytest.approx([35, 5, 35, 45, 25, 45, 25, 5])


@pytest.mark.parametrize(
    ("suffix", "lines", "texts", "dont_care"),
    [
        (".gt", "1 0 10 20 40 10 1.5707963267948966\n1 1 10 20 40 10 0.0", ["", ""], [1]),
        (".txt", "1 0 10 20 40 10 1.5707963267948966\n1 1 10 20 40 10 0.0", ["", ""], [1]),
        (".gt", "1 0 10 20 40 10 1.5707963267948966 2012 A, B\n2 1 10 20 40 10 0.0 Park",
         ["2012 A, B", "Park"], [1]),
        (".txt", f"10,20,50,30,{math.pi / 2},None\n10,20,50,30,0,###\n10,20,50,30,-0.5",
         ["", "###", ""], [1]),
    ],
)  # fmt: skip
def test_msra_td500(
    tmp_path: Path, suffix: str, lines: str, texts: list[str], dont_care: list[int]
) -> None:
    for side in ("gt", "det"):
        path = folder(tmp_path / "a", lines, suffix=suffix)
        found = read(path, side, None if suffix == ".gt" else "msra-td500")
        assert (found.source.format, found.source.names, found.faults) == ("msra-td500", ["1"], [])
        assert found.texts == texts and found.flat_rings[0] == TURNED
        ignored = [k for k, is_ignored in enumerate(found.objects.dont_care) if is_ignored]
        assert ignored == (dont_care if side == "gt" else [])


def test_yolo(tmp_path: Path) -> None:
    lines = ["0 0.5 0.5 0.2 0.5", "word 0.1 0.1 0.3 0.1 0.3 0.2", "0 0 0 0.1 0 0.1 0.1 0 0.1 0.75"]
    found = read_lines(tmp_path, *lines, side="det")
    assert found.faults == [] and found.source.fractions is not None
    assert found.source.fractions.tolist() == [True]
    assert found.objects.boxes[0] == pytest.approx([0.4, 0.25, 0.6, 0.75])
    assert found.flat_rings[1:] == [
        [0.1, 0.1, 0.3, 0.1, 0.3, 0.2],
        [0, 0, 0.1, 0, 0.1, 0.1, 0, 0.1],
    ]
    assert found.objects.confidences is not None and found.objects.confidences[2] == 0.75
    assert list(found.objects.labels or ()) == ["0", "word", "0"]


@pytest.mark.parametrize(
    "lines",
    [
        ["0 0.5 0.5 0.5 0.25 0.9"],
        ["0 0.9 0.5 0.5 0.5 0.25", "0 0.95 0.5 0.5 0.75 1"],
    ],
)
def test_where_yolos_confidence_is(tmp_path: Path, lines: list[str]) -> None:
    objects = read_lines(tmp_path, *lines, side="det").objects
    assert objects.boxes[0].tolist() == [0.25, 0.375, 0.75, 0.625]
    assert objects.confidences is not None and objects.confidences[0] == 0.9


# Faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "side", "good", "bad", "found", "expected"),
    [
        ("ltrb", "gt", f"{LTRB},w", "1,2,3", "3 numbers at the start of '1,2,3'", "x0,y0,x1,y1,transcription (format ltrb)"),
        ("ltrb", "gt", f"{LTRB},w", "1,2,3e12,4,w", "'3e+12'", "at most 1e12 in magnitude"),
        ("ltrb", "gt", f"{LTRB},w", "5,2,3,4,w", "a box from 5, 2 to 3, 4", "x0 <= x1, y0 <= y1"),
        ("polygon", "det", POLYGON, "1,2,3,4", "2 vertices", "three or more"),
        ("mlt", "gt", f"{QUAD},Latin,w", f"{QUAD},w", "8 numbers at the start", "script,transcription"),
        ("rctw", "gt", f'{QUAD},0,"w"', f'{QUAD},2,"w"', "9 numbers at the start", "difficult"),
        ("ctw1500", "gt", f"{CURVE},####w", "1,2,3,####w", "3 numbers at the start", "####transcription"),
        ("popeval", "gt", "1 2 3 2 3 4 1 4##::w", "1 2 3 2 3 4 1 4 w", "8 numbers at the start", "##::"),
        ("totaltext", "gt", TOTAL_TEXT, "x: [[1 2 3]], y: [[4 5]], ornt: [u'c'], transcriptions: [u'a']", "3 x and 2 y", "as many"),
        ("totaltext", "gt", TOTAL_TEXT, "x: [[1 2 z]], y: [[4 5 6]], ornt: [u'c'], transcriptions: [u'a']", "'z'", "a finite number"),
        ("msra-td500", "gt", "1,2,3,4,0.1", "5,2,3,4,0", "width -2, height 2", "both at least 0"),
        ("dota", "gt", "1 2 3 2 3 4 1 4 plane 2", "1 2 3 2 3 4 1 4 plane x", "8 numbers at the start", "class difficult"),
        ("yolo", "det", "0 0.5 0.5 0.1 0.1", "0 0.5 0.5 0.1 0.1 1.5", "1.5 as the confidence", "a number in [0, 1]"),
    ],
)  # fmt: skip
def test_faults_name_file_and_line(
    tmp_path: Path, name: str, side: Side, good: str, bad: str, found: str, expected: str
) -> None:
    few = "\n".join([good] * 3)
    result = read(folder(tmp_path / "a", few, f"{good}\r\n\n{bad}\n{good}"), side, name)
    (fault,) = result.faults
    line = good.count("\n") + 3
    assert fault.startswith(f"2.txt:{line}: {found}")
    assert expected in fault.split("; expected ", 1)[1]
    assert result.objects.count == 5 * (6 if name == "totaltext" else 1)


@pytest.mark.parametrize(
    ("content", "line", "byte"),
    [
        (f"{LTRB},caf\xe9".encode("latin-1"), 1, "0xe9"),
        (f"{LTRB},a\n\n{LTRB},".encode() + b"\xff", 3, "0xff"),
        (f"{LTRB},a\n".encode("utf-16"), 1, "0xff"),
    ],
)  # fmt: skip
def test_text_that_is_not_utf8(tmp_path: Path, content: bytes, line: int, byte: str) -> None:
    found = read(folder(tmp_path / "a", f"{LTRB},a", content), "gt", "ltrb")
    assert found.faults == [
        f"2.txt:{line}: byte {byte}; expected text in UTF-8: save the file as UTF-8"
    ]


# Inputs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [layout.name for layout in LAYOUTS if layout.name not in NOT_READ])
def test_images_without_objects(tmp_path: Path, name: str) -> None:
    found = read(folder(tmp_path / "a", "", ""), "det", name)
    assert found.source.names == ["1", "2"] and found.objects.offsets.tolist() == [0, 0, 0]
    assert found.faults == [] == found.warnings
