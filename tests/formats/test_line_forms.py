"""Text files of the field's data sets: what a line means, how each form is
detected, and every fault.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from line_shapes import CURVE, OFFSETS, QUAD
from reading import folder, read
from written_files import zipped

from evaltex_cli.errors import InputError
from evaltex_cli.geometry import outlines
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.collected import columns
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.filters import at_least
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Objects


def test_mlt(tmp_path: Path) -> None:
    lines = (
        f'\ufeff{QUAD},Latin,word\r\n{QUAD},None,###\r\n{QUAD},Arabic,"as, it'
        f' stands"\r\n{QUAD}, Symbols,50,5\r\n'
    )
    found = read(folder(tmp_path / "a", lines))
    assert (found.source.format, found.faults) == ("mlt", [])
    assert found.texts == ["word", "###", '"as, it stands"', "50,5"]
    assert found.objects.dont_care.tolist() == [False, True, False, False]
    assert found.flat_rings == [[10, 20, 30, 20, 30, 40, 10, 40]] * 4


@pytest.mark.parametrize("other", [1, 2])
def test_nearly_all_lines_must_name_a_script(tmp_path: Path, other: int) -> None:
    found = read(
        folder(tmp_path / "a", f"{QUAD},Latin,word\n" * 19 + f"{QUAD},Latim,word\n" * other)
    )
    assert found.source.format == ("mlt" if other == 1 else "quad")
    assert found.texts[0] == ("word" if other == 1 else "Latin,word")


def test_rctw(tmp_path: Path) -> None:
    found = read(
        folder(
            tmp_path / "a",
            f'{QUAD},0,"say \\"hi\\", you"\n{QUAD},1,"word"\n{QUAD},0,"###"\n{QUAD},0,""\n',
        )
    )
    assert (found.source.format, found.faults) == ("rctw", [])
    assert found.texts == ['say "hi", you', "word", "###", ""]
    assert found.objects.dont_care.tolist() == [False, True, True, False]


def test_confidences_of_one_before_quotes_are_not_rctw(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", f'{QUAD},1,"a"\n{QUAD},1,"b"\n'), "det")
    assert (found.source.format, found.texts) == ("quad", ["a", "b"])
    assert found.objects.confidences is not None and found.objects.confidences.tolist() == [1, 1]


def test_ctw1500(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", f"{CURVE},####one, two\n{CURVE},#######\n{CURVE},####\n"))
    assert (found.source.format, found.faults) == ("ctw1500", [])
    assert found.texts == ["one, two", "###", ""] and found.objects.dont_care.tolist() == [
        False,
        True,
        False,
    ]
    assert found.flat_rings == [[float(value) for value in CURVE.split(",")]] * 3


@pytest.mark.parametrize("side", ["gt", "det"])
def test_ctw1500_offsets(tmp_path: Path, side: Side) -> None:
    found = read(folder(tmp_path / "a", f"{OFFSETS}\n{OFFSETS}\n"), side)
    assert (found.source.format, found.faults) == ("ctw1500-offsets", [])
    expected = [float(value) + (100, 200)[k % 2] for k, value in enumerate(CURVE.split(","))]
    assert found.flat_rings == [expected] * 2 and found.objects.boxes[0].tolist() == [
        100,
        200,
        160,
        209,
    ]
    absolute = ",".join(f"{value:g}" for value in [*expected, *expected[-4:]])
    assert read(folder(tmp_path / "b", absolute), side).source.format == "polygon"


@pytest.mark.parametrize("side", ["gt", "det"])
def test_popeval(tmp_path: Path, side: Side) -> None:
    blanks = QUAD.replace(",", " ")
    found = read(
        folder(tmp_path / "a", f"{blanks}##::word\n{blanks} ##::###\n{QUAD}##::a##::b, c\n"), side
    )
    assert (found.source.format, found.faults) == ("popeval", [])
    assert (
        found.texts == ["word", "###", "a##::b, c"]
        and found.flat_rings == [[10, 20, 30, 20, 30, 40, 10, 40]] * 3
    )
    assert found.objects.dont_care.tolist() == [False, side == "gt", False]


@pytest.mark.parametrize(
    ("kind", "good", "bad", "message"),
    [
        ("mlt", f"{QUAD},Latin,word", f"{QUAD},word", ("'word' and no transcription after the" " coordinates")),
        ("mlt", f"{QUAD},Latin,word", "1,2,3,4,Latin,word", "4 numbers at the start"),
        ("mlt", f"{QUAD},Latin,word", "1,2,3,4,5,6,7,1e13,Latin,word", ("'1e13'; expected a finite" " number")),
        ("rctw", f'{QUAD},0,"word"', f'{QUAD},2,"word"', "'2' as the difficult flag"),
        ("rctw", f'{QUAD},0,"word"', f'{QUAD},"word"', "8 numbers at the start"),
        ("ctw1500", f"{CURVE},####word", "1,2,3,####word", "3 numbers at the start"),
        ("ctw1500", f"{CURVE},####word", "1,2,3,4,####word", ("4 numbers as coordinates; expected" " three" " vertices")),
        ("ctw1500-offsets", OFFSETS, CURVE, "28 numbers at the start"),
        ("ctw1500-offsets", OFFSETS, f"{OFFSETS},word", "32 numbers at the start"),
        ("popeval", "1 2 3 2 3 4 1 4##::word", "1 2 3 2 3 4 1##::word", "7 numbers before ##::"),
        ("popeval", "1 2 3 2 3 4 1 4##::word", "1 2 3 2 3 4 1 4 word", ("'1 2 3 2 3 4 1 4 word';" " expected" " x1" " y1")),
    ],
)  # fmt: skip
def test_faults_of_lines(tmp_path: Path, kind: str, good: str, bad: str, message: str) -> None:
    found = read(folder(tmp_path / "a", "\n".join([*[good] * 30, bad, good])))
    assert found.source.format == kind and found.objects.count == 31
    (fault,) = found.faults
    assert fault.startswith("1.txt:31: ") and message in fault


# Total-Text ---------------------------------------------------------------------------------------


TOTAL_TEXT = """x: [[153 161 179 195 184 177]], y: [[347 323 305 315 331 357]], ornt: [u'c'], transcriptions: [u'the']
x: [[ 80 100
 120 80]], y: [[  1   2   3
   4]], ornt: [u'm'], transcriptions: [u"it's"]
x: [[1, 2, 3]], y: [[4, 5, 7]], ornt: [u'h'], transcriptions: [u',']
x: [[1 2 3]], y: [[4 5 7]], ornt: [u'#'], transcriptions: [u'#']
x: [[1 2 3]], y: [[4 5 7]], ornt: [], transcriptions: [u'caf\\xe9 \\u2019\\\\ é']
x: [[1 2 3]], y: [[4 5 7]], ornt: ['c'], transcriptions: ['a']b']
"""


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
    assert not read(folder(tmp_path / "a", TOTAL_TEXT), "det").objects.dont_care.any()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("x: [[1 2 3]], y: [[4 5]], ornt: [u'c'], transcriptions: [u'a']", ("3 x and 2 y; expected" " as" " many")),
        ("x: [[1 2]], y: [[4 5]], ornt: [u'c'], transcriptions: [u'a']", ("2 vertices; expected" " three" " or" " more")),
        ("x: [[1 2 z]], y: [[4 5 6]], ornt: [u'c'], transcriptions: [u'a']", ("'z'; expected a" " finite" " number")),
        ("x: [[1 2 3]], y: [[4 5 6]], transcriptions: [u'a']", ("; expected x: [[...]], y: [[...]]," " ornt")),
    ],
)  # fmt: skip
def test_total_text_faults(tmp_path: Path, record: str, message: str) -> None:
    found = read(folder(tmp_path / "a", f"{TOTAL_TEXT}{record}\n{TOTAL_TEXT}"))
    (fault,) = found.faults
    assert fault.startswith("1.txt:9: ") and message in fault
    assert found.objects.count == 12


# MSRA-TD500 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".gt", ".txt"])
def test_msra_td500(tmp_path: Path, suffix: str) -> None:
    lines = "0 0 10 20 40 10 0.0\n1 1 10 20 40 10 1.5707963267948966\n"
    found = read(folder(tmp_path / "a", lines, suffix=suffix))
    assert (found.source.format, found.source.names, found.faults) == ("msra-td500", ["1"], [])
    assert found.flat_rings[0] == [10, 20, 50, 20, 50, 30, 10, 30]
    assert found.flat_rings[1] == pytest.approx([35, 5, 35, 45, 25, 45, 25, 5])
    assert found.objects.dont_care.tolist() == [False, True]


def test_the_place_of_what_is_not_utf8_after_a_byte_order_mark(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", b"\xef\xbb\xbf0 0 1 2 3 4 0\n\xff", suffix=".gt"))
    assert [fault.split("; ")[0] for fault in found.faults] == [
        "1.gt:2: byte 0xff, which is not UTF-8"
    ]


def test_msra_td500_results(tmp_path: Path) -> None:
    path = folder(
        tmp_path / "a", f"10,20,50,30,{math.pi / 2},None\n10,20,50,30,0,###\n10,20,50,30,-0.5"
    )
    found = read(path, "gt", "msra-td500")
    assert found.texts == ["", "###", ""] and found.objects.dont_care.tolist() == [
        False,
        True,
        False,
    ]
    assert found.flat_rings[0] == pytest.approx([35, 5, 35, 45, 25, 45, 25, 5])
    bad = read(folder(tmp_path / "b", "1,2,3,4\n5,2,3,4,0\n0 2 1 1 1 1 0"), "det", "msra-td500")
    assert [fault.split("; ")[0] for fault in bad.faults] == [
        "1.txt:1: 4 numbers at the start of '1,2,3,4'",
        "1.txt:2: width -2, height 2",
        "1.txt:3: '2' as the difficult flag",
    ]


# Hostile input ------------------------------------------------------------------------------------


HOSTILE = {
    "mlt": f"{QUAD},Latin,word",
    "rctw": f'{QUAD},0,"word"',
    "ctw1500": f"{CURVE},####word",
    "ctw1500-offsets": OFFSETS,
    "popeval": "1 2 3 2 3 4 1 4##::word",
    "totaltext": "x: [[1 2 3]], y: [[4 5 7]], ornt: [u'c'], transcriptions: [u'a']",
    "msra-td500": "0 0 10 20 40 10 0.0",
}


def test_every_form_is_reported(tmp_path: Path) -> None:
    for name, line in HOSTILE.items():
        assert read(folder(tmp_path / name, f"{line}\n" * 3)).source.format == name


@pytest.mark.parametrize("name", list(HOSTILE))
def test_large_entries_are_refused_before_they_are_read(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.zip", {"1.txt": HOSTILE[name] * 1000})
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="at most 1000 are read"):
        read(path)


@pytest.mark.parametrize("name", list(HOSTILE))
@pytest.mark.parametrize(
    "junk",
    [b"\0" * 50, b"\xff\xfe\0", b"9" * 300_000, b"1," * 9_000, b"[[" * 50_000, b'"' * 100_000],
    ids=["nul", "utf-16", "digits", "numbers", "brackets", "quotes"],
)
def test_junk_leaves_the_good_lines_and_the_message_short(
    tmp_path: Path, name: str, junk: bytes
) -> None:
    lines = [HOSTILE[name]] * 30
    path = folder(tmp_path / "a", "\n\n".join(lines), junk, HOSTILE[name].encode() + junk)
    found = read(path, "gt", name)
    assert np.diff(found.objects.offsets)[0] == 30
    assert all(fault.startswith(("2.txt", "3.txt")) and len(fault) < 600 for fault in found.faults)
    assert found.faults or junk.startswith(b"1,")


@pytest.mark.parametrize("name", list(HOSTILE))
def test_paths_out_of_the_archive_are_faults(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "a.zip", {"../1.txt": f"{HOSTILE[name]}\n"})
    assert any("entry name '../1.txt'" in fault for fault in read(path).faults)


# Confidences --------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([0, 0.25, 0.5, 1, math.nan]), st.booleans()), max_size=4
        ),
        max_size=4,
    ),
    st.sampled_from([0.0, 0.25, 0.3, 1.0]),
)
def test_detections_below_a_confidence_are_left_out(
    images: list[list[tuple[float, bool]]], minimum: float
) -> None:
    def collected(keep_all: bool) -> Objects:
        made = []
        for image in images:
            objects = []
            for k, (confidence, is_box) in enumerate(image, 1):
                shape = [k, 1, 9, 9] if is_box else [k, 0, 9, 0, 9, k]
                if keep_all or not confidence < minimum:
                    objects.append(
                        CollectedObject(shape, f"t{k}", id=10 * k, region=k, confidence=confidence)
                    )
            made.append(CollectedImage("", "").with_objects(objects))
        return columns(made).objects

    found, expected = at_least(collected(True), minimum), collected(False)
    for name in ("offsets", "ids", "boxes", "regions", "dont_care"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert list(found.texts) == list(expected.texts)
    assert found.outlines.vertices.tolist() == expected.outlines.vertices.tolist()
    assert found.outlines.offsets.tolist() == expected.outlines.offsets.tolist()
    assert len(outlines.polygons(found.outlines)) == found.count
    if expected.confidences is not None and found.confidences is not None:
        assert np.array_equal(found.confidences, expected.confidences, equal_nan=True)
