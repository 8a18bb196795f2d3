"""ICDAR-style folders and archives: what a line means, and how the kind of all
lines is detected.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from line_shapes import COORDINATES, LTRB, POLYGON, QUAD
from reading import folder, read

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.geometry import outlines
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.files.entries import Entries


@pytest.mark.parametrize(
    ("side", "lines", "detected"),
    [
        ("gt", '38, 43, 920, 215, "Tiredness"', "ltrb"),
        ("gt", '38 43 920 215 "Tiredness"', "ltrb"),
        ("gt", "38,43,920,215,1996", "ltrb"),
        ("gt", "1,2,3,4,word\n1,2,3,4,60,000\n1,2,3,4,1,2,3,4", "ltrb"),
        ("gt", "377,117,463,117,465,130,378,130,Genaxis Theatre", "quad"),
        ("gt", "377,117,463,117,465,130,378,130,1996", "quad"),
        ("gt", "1,2,3,4,5,6,7,8,word\n" * 40 + "1,2,3,4,5,6,7,8,9,10,Downing Street", "quad"),
        ("gt", "1,2,3,4,5,6,7,8,word\n" * 9 + "1,2,3,4,5,6,word", "polygon"),
        ("gt", f"{QUAD},word\n1,2,###", "quad"),
        ("gt", "206,633,251,811,386,931,PETROSAINS", "polygon"),
        ("det", "38,43,920,215", "ltrb"),
        ("det", "38\t43\t920\t215\t0.5", "ltrb"),
        ("det", "656, 101, 656, 83, 699, 83, 699, 101", "quad"),
        ("det", "656,101,656,83,699,83,699,101,0.98,word", "quad"),
        ("det", "1,2,3,4,5,6,7,8\n" * 99 + "1,2,3,4,5,6", "polygon"),
        ("det", "1,2,3,4,5,6,7,8,9,10,11,12,0.7\n1,2,3,4,5,6,7,8,0.7", "polygon"),
        ("det", "", "ltrb"),
        ("det", "img_1", "ltrb"),
    ],
)  # fmt: skip
def test_the_kind_is_recognised_by_content(
    tmp_path: Path, side: Side, lines: str, detected: str
) -> None:
    path = folder(tmp_path / "a", lines)
    assert formats.open_source(path, side, FaultLog()).format == detected


def test_an_archive_is_passed_over_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evaltex_cli.old_formats.engines import paddleocr
    from evaltex_cli.old_formats.files import archive

    monkeypatch.setattr(paddleocr, "FEW_FILES", 0)
    opened: list[Path] = []
    inner = archive.open_entries

    def open_entries(path: Path, *ending: str) -> Entries:
        opened.extend([] if ending else [path])  # with an ending, for a look at the first file
        return inner(path, *ending)

    monkeypatch.setattr(archive, "open_entries", open_entries)
    path = folder(tmp_path / "a", POLYGON)
    assert read(path, "det").source.format == "polygon"
    assert opened == [path]
    folder(path, LTRB)
    assert read(path, "det").source.format == "ltrb"
    assert opened == [path, path]


@pytest.mark.parametrize("kind", ["ltrb", "quad", "polygon"])
@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("word", "word"),
        ('"word"', "word"),
        (' "word" ', "word"),
        (" word ", " word "),
        ('"say \\"hi\\", C:\\\\dir"', 'say "hi", C:\\dir'),
        ('"\\n"', "\\n"),
        ("C:\\\\dir", "C:\\\\dir"),
        ("one, two,", "one, two,"),
        ('"60,000"', "60,000"),
        ('"1996"', "1996"),
        ("1996", "1996"),
        ("5 o'clock", "5 o'clock"),
        ('half"', 'half"'),
        ('"', '"'),
        ('""', ""),
        ("", ""),
        ("nan", "nan"),
        ("Ünï 日本語\u2028\x85", "Ünï 日本語\u2028\x85"),
        ("####", "####"),
    ],
)  # fmt: skip
def test_transcriptions(tmp_path: Path, kind: str, written: str, text: str) -> None:
    path = folder(
        tmp_path / "a",
        "\n".join([f"{COORDINATES[kind]},{written}", *[f"{COORDINATES[kind]},word"] * 3]),
    )
    for side in ("gt", "det"):
        found = read(path, side)  # type: ignore[arg-type]
        assert (found.source.format, found.texts, found.faults) == (
            kind,
            [text, "word", "word", "word"],
            [],
        )
        assert not found.objects.dont_care.any()


@pytest.mark.parametrize("kind", ["ltrb", "quad", "polygon"])
def test_exactly_three_hashes_in_ground_truth_are_dont_care(tmp_path: Path, kind: str) -> None:
    texts = ["###", '"###"', " ###", "##", "###a", "x"]
    path = folder(tmp_path / "a", "\n".join(f"{COORDINATES[kind]},{text}" for text in texts))
    found = read(path)
    assert found.objects.dont_care.tolist() == [True, True, False, False, False, False]
    assert (
        "1 transcription is ### with blanks or commas around, which is not don't care"
        in found.source.warnings[0]
    )
    det = read(path, "det")
    assert not det.objects.dont_care.any() and det.texts[0] == "###" and not det.source.warnings


@pytest.mark.parametrize("line", ['60,70,80,90,"60,000"', "60,70,80,90,60,000"])
def test_a_number_with_commas_is_a_transcription(tmp_path: Path, line: str) -> None:
    found = read(folder(tmp_path / "a", f"{LTRB},word\n{line}"))
    assert found.texts == ["word", "60,000"]
    assert found.objects.boxes.tolist() == [[10, 20, 30, 40], [60, 70, 80, 90]]


def test_a_polygon_ends_before_a_transcription_that_is_a_number(tmp_path: Path) -> None:
    lines = (
        f'{POLYGON},1996\n{QUAD},60,000\n{QUAD},"7,8"\n{QUAD},5,Downing'
        f" Street\n{POLYGON},word\n{POLYGON},"
    )
    found = read(folder(tmp_path / "a", lines))
    assert found.texts == ["1996", "60,000", "7,8", "5,Downing Street", "word", ""]
    assert found.objects.outlines.counts.tolist() == [5, 4, 4, 4, 5, 5]


def test_byte_order_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    content = f"\ufeff{LTRB},a\r\n\r\n \t\r\n\ufeff{LTRB},b\n\n{LTRB},c"
    found = read(folder(tmp_path / "a", content, "", "\ufeff\r\n"))
    assert found.texts == ["a", "b", "c"]
    assert found.objects.ids.tolist() == [1, 2, 3] == found.objects.regions.tolist()
    assert found.objects.offsets.tolist() == [0, 3, 3, 3]
    assert found.faults == []


def test_images_are_read_in_any_order(tmp_path: Path) -> None:
    source = formats.open_source(
        folder(tmp_path / "a", f"{LTRB},a\n{LTRB},b", f"{LTRB},c"), "gt", FaultLog()
    )
    images = source.read(np.array([1, 0]))
    assert list(images.objects.texts) == ["c", "a", "b"]
    assert images.objects.offsets.tolist() == [0, 1, 3] and images.objects.ids.tolist() == [1, 1, 2]
    assert images.sizes.tolist() == [[0, 0], [0, 0]]
    none = source.read(np.zeros(0, np.int64))
    assert none.objects.offsets.tolist() == [0] and none.objects.boxes.shape == (0, 4)


@pytest.mark.parametrize("kind", ["ltrb", "quad", "polygon"])
def test_images_without_objects(tmp_path: Path, kind: str) -> None:
    found = read(folder(tmp_path / "a", "", ""), "det", kind)
    assert found.source.names == ["1", "2"] and found.objects.offsets.tolist() == [0, 0, 0]
    assert found.objects.boxes.shape == (0, 4) and found.faults == []


@pytest.mark.parametrize("kind", ["ltrb", "quad", "polygon"])
@pytest.mark.parametrize(
    ("tails", "confidences", "texts"),
    [
        ([",0.5", ",1", ",1e-3"], [0.5, 1, 0.001], ["", "", ""]),
        ([",0.5,word", ",1,1996", ',0,"6,7"'], [0.5, 1, 0], ["word", "1996", "6,7"]),
        ([",1,a", ",0,b", ",1,"], [1, 0, 1], ["a", "b", ""]),
        ([",1", ",0", ",1"], None, ["1", "0", "1"]),
        ([",87.5", ",99", ",3.0"], [0.875, 0.99, 0.03], ["", "", ""]),
        ([",-1.5", ",99.1,w", ",3"], [-1.5, 99.1, 3], ["", "w", ""]),
        ([",87", ",99", ",3"], None, ["87", "99", "3"]),
        ([",a", ",b", ",c"], None, ["a", "b", "c"]),
        (["", "", ""], None, ["", "", ""]),
    ],
)  # fmt: skip
def test_confidences(
    tmp_path: Path, kind: str, tails: list[str], confidences: list[float] | None, texts: list[str]
) -> None:
    found = read(
        folder(tmp_path / "a", "\n".join(COORDINATES[kind] + tail for tail in tails)), "det", kind
    )
    assert found.faults == [] and found.texts == texts
    assert confidences == (
        None if found.objects.confidences is None else found.objects.confidences.tolist()
    )


def test_ground_truth_has_no_confidences(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", f"{LTRB},0.5,word"))
    assert found.objects.confidences is None and found.texts == ["0.5,word"]


def test_blanks_for_commas_leave_the_transcription_alone(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "a", '1 2 3 4 "60 000 years"\n 1\t2 3  4   5 years ago'))
    assert found.texts == ["60 000 years", "5 years ago"]
    assert found.objects.boxes.tolist() == [[1, 2, 3, 4]] * 2
    found = read(folder(tmp_path / "b", "1 2 3 4 0.5 two words\n1 2 3 4 1 7 8"), "det")
    assert found.texts == ["two words", "7 8"] and found.objects.confidences.tolist() == [0.5, 1]  # type: ignore[union-attr]


def test_a_named_format_overrides_the_vote(tmp_path: Path) -> None:
    path = folder(tmp_path / "a", f"{QUAD},a\n{QUAD},b\n{LTRB},c\n30,20,10,40,d")
    forced = read(path, "gt", "ltrb")
    assert forced.texts == ["30,40,10,40,a", "30,40,10,40,b", "c"] and len(forced.faults) == 1
    as_quads = read(path, "gt", "quad")
    assert as_quads.source.format == "quad" and as_quads.texts == ["a", "b"]
    assert [fault.split(":")[1] for fault in as_quads.faults] == ["3", "4"]
    assert read(folder(tmp_path / "b", QUAD), "det", "polygon").source.format == "polygon"


def test_a_bare_file_is_of_one_image(tmp_path: Path) -> None:
    path = tmp_path / "gt_img_1.txt"
    path.write_text(f"{QUAD},word\n1,2,3\n")
    found = read(path)
    assert (found.source.format, found.source.names, found.texts) == ("quad", ["img_1"], ["word"])
    assert found.faults[0].startswith(f"{path}:2: 3 numbers at the start of '1,2,3'")
    packed = tmp_path / "gt_img_2.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = read(packed, "gt")
    assert (again.source.format, again.source.names, again.texts) == ("quad", ["img_2"], ["word"])
    path.write_text("img_1\n1,1\n")
    assert (
        read(path, "gt", "quad")
        .faults[0]
        .startswith(f"{path}:1: 0 numbers at the start of 'img_1'")
    )
    assert read(path).source.format == "evaltex"


def test_shapes_without_area_or_crossing_themselves_are_kept_and_counted(tmp_path: Path) -> None:
    boxes = read(folder(tmp_path / "a", "1,2,1,4,a\n1,2,3,2,b\n1,2,3,4,c"))
    assert boxes.objects.count == 3 and boxes.images.repairs.zero_area == 2
    lines = [
        "0,0,10,10,10,0,0,10,bow tie",
        "0,0,5,5,10,10,line",
        "1,2,###",
        "1,2,3,4,###",
        f"{POLYGON},good",
    ]
    found = read(folder(tmp_path / "b", "\n".join(lines)))
    objects, repairs = found.objects, found.images.repairs
    assert (found.source.format, found.faults) == ("polygon", [])
    assert (repairs.repaired, repairs.zero_area, repairs.dropped) == (1, 3, 0)
    assert [polygon.area for polygon in outlines.polygons(objects.outlines)] == [50, 0, 0, 0, 500]
    assert objects.boxes.tolist() == [
        [0, 0, 10, 10],
        [0, 0, 10, 10],
        [1, 2, 1, 2],
        [1, 2, 3, 4],
        [10, 20, 30, 50],
    ]


NUMBERS = st.one_of(
    st.integers(-5000, 5000).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(["+3", "4.", ".5", "1e3", "-0"]),
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["###", "1996", "60,000", 'a"b', "\\", '\\"', ",", " ", "0.5"]),
)


@st.composite
def archives(draw: st.DrawFn, kind: str) -> tuple[str, list[tuple[list[str], str | None, str]]]:
    """Text of a file, and its objects: numbers, confidence, transcription."""
    separator = draw(
        st.sampled_from([",", ", ", " , ", "\t"] if kind == "ltrb" else [",", ", ", " , "])
    )
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n", "\n\ufeff"]))
    with_confidence = draw(st.booleans())
    objects, lines = [], []
    for _ in range(draw(st.integers(1, 6))):
        count = {"ltrb": 4, "quad": 8}.get(kind) or 2 * draw(st.integers(3, 9))
        numbers = draw(st.lists(NUMBERS, min_size=count, max_size=count))
        if kind == "ltrb":
            (x0, x1), (y0, y1) = sorted(numbers[::2], key=float), sorted(numbers[1::2], key=float)
            numbers = [x0, y0, x1, y1]
        confidence = draw(st.floats(0.001, 0.999).map(repr)) if with_confidence else None
        text = draw(TEXTS)
        quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        lines.append(separator.join([*numbers, *([confidence] if confidence else []), quoted]))
        objects.append((numbers, confidence, text))
    return end.join(lines), objects


@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("kind", ["ltrb", "quad", "polygon"])
@settings(deadline=None, derandomize=True, max_examples=25)
@given(data=st.data())
def test_objects_written_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, kind: str, side: Side, data: st.DataObject
) -> None:
    text, objects = data.draw(archives(kind))
    if side == "gt":
        objects = [
            (numbers, None, word) for numbers, confidence, word in objects if confidence is None
        ]
        if not objects:
            return
    found = read(folder(tmp_path_factory.mktemp("icdar"), text), side, kind)
    assert found.faults == []
    assert found.texts == [word for _, _, word in objects]
    values = [[float(number) for number in numbers] for numbers, _, _ in objects]
    if kind == "ltrb":
        assert found.objects.boxes.tolist() == values
    else:
        drawn = found.objects.outlines
        assert drawn.vertices.ravel().tolist() == [value for numbers in values for value in numbers]
        assert drawn.counts.tolist() == [len(numbers) // 2 for numbers in values]
        bounds = [[min(v[::2]), min(v[1::2]), max(v[::2]), max(v[1::2])] for v in values]
        assert found.objects.boxes.tolist() == bounds
    confidences = [confidence for _, confidence, _ in objects if confidence is not None]
    read_back = found.objects.confidences
    assert confidences == (
        [] if read_back is None else [repr(value) for value in read_back.tolist()]
    )
    assert found.objects.dont_care.tolist() == [
        side == "gt" and word == "###" for _, _, word in objects
    ]
