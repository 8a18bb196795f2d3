"""EvaLTex files: the bulk tokeniser against the exact parser, every fault in
full, whatever the file's form.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import InputError, evaluate, formats
from evaltex_cli.errors import FaultLog, FaultsError, FormatError
from evaltex_cli.formats.base import ReadImages, Side
from evaltex_cli.formats.evaltex import bulk as evaltex_bulk
from evaltex_cli.formats.evaltex import format as evaltex_txt
from evaltex_cli.formats.evaltex.lines import is_object_line, parse_object_line
from evaltex_cli.formats.files.image_names import leaves_result_folder
from evaltex_cli.formats.files.text_lines import line_ends
from evaltex_cli.formats.lines import ParsedLine
from evaltex_cli.records import offsets_of

GT = 'img_1\n100,200\n1,7,"Tiredness",f,10,20,30,40\n2,7,"",t,50,60,5,5\n'
DET = 'img_1\n1,"",10,20,30,40\n'
NUMBERS = ("0", "5", "12", "3.5", ".5", "7.", "-4", "+6", "1e2", "2E-1", "-0", "007", "1e11")
ODD_NUMBERS = (
    "",
    " 8 ",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "2e12",
    "1_0",
    "0x1",
    "--5",
    "5-",
    "1-2",
    "e5",
    "1e",
    "٣",
    "a",
)
TEXTS = (
    "",
    "a",
    "kills",
    "1,2,3,4",
    'say "hi"',
    '"',
    ",",
    "a,b",
    "日本",
    "\\",
    "'",
    '",f,1,2,3,4',
    "12",
    "f",
    "\t",
)


def read(path: Path, side: Side) -> tuple[list[str], ReadImages]:
    """All images of a file; raises its faults."""
    log = FaultLog()
    source = formats.open_source(path, side, log, "evaltex")
    images = source.read(np.arange(len(source.names)))
    log.extend(images.faults)
    log.raise_if_any()
    return source.names, images


def faults(tmp_path: Path, gt: str | bytes, det: str | bytes = DET) -> list[str]:
    """Every fault, without the folder; none if all is well."""
    for name, text in (("gt.txt", gt), ("det.txt", det)):
        (tmp_path / name).write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    try:
        evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    except InputError as error:
        lines = error.log.every() if isinstance(error, FaultsError) else [str(error)]
        return "\n".join(lines).replace(f"{tmp_path}/", "").split("\n")
    return []


# Bulk and exact -----------------------------------------------------------------------------------


@st.composite
def lines(draw: st.DrawFn, side: Side) -> str:
    """A line near the format: fields regular or odd, some missing, some too
    many, quotes where they belong or not.
    """
    odd = draw(st.booleans())
    number = st.sampled_from(NUMBERS + ODD_NUMBERS if odd else NUMBERS)
    whole = st.sampled_from(
        ("1", "22", "0", "345678") + (("-3", "+4", "1.0", "", "9" * 18, "9" * 19) if odd else ())
    )
    leading = (
        draw(st.lists(whole, min_size=1, max_size=3))
        if odd
        else [draw(whole) for _ in range(1 + (side == "gt"))]
    )
    text = draw(st.sampled_from(TEXTS))
    text = text if odd and draw(st.booleans()) else f'"{text}"'
    flag = draw(st.sampled_from(("t", "f", "x", " t", "") if odd else ("t", "f")))
    flags = [flag] if side == "gt" or (odd and draw(st.booleans())) else []
    count = draw(st.sampled_from((4, 4, 6, 8, 3, 5, 7, 0) if odd else (4, 4, 6, 8)))
    end = draw(st.sampled_from(("", "", " ", ",", "\r"))) if odd else ""
    return ",".join([*leading, text, *flags, *(draw(number) for _ in range(count))]) + end


def in_bulk(texts: list[str], side: Side) -> dict[int, ParsedLine]:
    buffer = "".join(f"{text}\n" for text in texts).encode()
    data = np.frombuffer(buffer, np.uint8)
    found = evaltex_bulk.read_plain(data, side)
    bounds = offsets_of(found.counts).tolist()
    return {
        line: ParsedLine(
            tuple(found.coordinates[bounds[k] : bounds[k + 1]].tolist()),
            buffer[found.text_start[k] : found.text_stop[k]].decode(),
            bool(found.dont_care[k]),
            id=int(found.ids[k]),
            region=int(found.regions[k]),
        )
        for k, line in enumerate(found.line.tolist())
    }


def exactly(text: str, side: Side) -> ParsedLine | None:
    try:
        return parse_object_line(text.strip(), side)
    except FormatError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("side", ["gt", "det"])
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=400)
def test_bulk_says_what_the_exact_parser_says(side: Side, data: st.DataObject) -> None:
    """Of every line that the bulk tokeniser takes; and it leaves lines that
    begin as others do to the index.
    """
    texts = data.draw(st.lists(lines(side), min_size=1, max_size=8))
    taken = in_bulk(texts, side)
    for line, found in taken.items():
        assert found == exactly(texts[line], side), texts[line]
    buffer = np.frombuffer("".join(f"{text}\n" for text in texts).encode(), np.uint8)
    starts = np.concatenate([[0], line_ends(buffer)[:-1] + 1])
    at_a_glance = re.compile('[0-9]{1,18},[0-9]{1,18},"' if side == "gt" else '[0-9]{1,18},"')
    for text, usual in zip(
        texts, evaltex_bulk.usual_object_lines(buffer, starts, side).tolist(), strict=True
    ):
        assert usual == bool(at_a_glance.match(text)), text
        assert not usual or is_object_line(text.strip(), side), text


@pytest.mark.parametrize("side", ["gt", "det"])
def test_bulk_takes_the_lines_that_files_are_made_of(side: Side) -> None:
    """Else all of this would be slow, and the test above empty."""
    texts = ['1,"",1,2,3,4', '20,"kills, 1",1.5,-2,31,4', '3,"é",0,0,9,0,9,9'] * 3
    texts = (
        [text.replace(",", ",5,", 1).replace('",', '",f,') for text in texts]
        if side == "gt"
        else texts
    )
    assert list(in_bulk(texts, side)) == list(range(9))


@pytest.mark.parametrize(
    ("side", "line"),
    [
        ("gt", '1,"abc",f,1,2,3,4,5'),
        ("gt", '1,2,3,"abc",f,2,3,4,5'),
        ("det", '1,2,"x",3,4,5,6,7'),
        ("det", '"x",1,2,3,4'),
    ],
)
def test_quotes_in_another_field_are_not_taken_in_bulk(side: Side, line: str) -> None:
    """A coordinate would be taken for the region that is missing."""
    assert in_bulk([line], side) == {}


# The file's form ----------------------------------------------------------------------------------


def columns(path: Path, side: Side) -> tuple[object, ...]:
    names, images = read(path, side)
    found = images.objects
    drawn = (found.boxes, found.outlines.vertices, found.outlines.offsets)
    numbers = (found.offsets, found.ids, found.regions, found.dont_care, *drawn, images.sizes)
    return names, *(column.tolist() for column in numbers), list(found.texts)


LONG = "".join(
    (
        f'img_{k}\n{100 + k},200\n1,1,"Ünï,'
        f' {k}",f,{k},2,3,4\n7,1,plain,t,1,{k}.5,30,4\n3,1,"",f,0,0,9,0,{k + 1},9\n'
    )
    for k in range(9)
)


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 22])
@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n \n\t\n"),
        lambda text: "\n\n" + text,
        lambda text: text[:-1],
        lambda text: "\ufeff" + text.replace("\n", "\r\n\r\n")[:-4],
    ],
    ids=[
        "lf",
        "bom",
        "crlf",
        "blank",
        "blank first",
        "no newline at the end",
        "bom, crlf, blank, no newline",
    ],
)
def test_form_and_blocks_do_not_matter(
    tmp_path: Path, form: object, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, other = tmp_path / "plain.txt", tmp_path / "other.txt"
    plain.write_bytes(LONG.encode())
    other.write_bytes(form(LONG).encode())  # type: ignore[operator]
    expected = columns(plain, "gt")
    assert expected[0] == [f"img_{k}" for k in range(9)]
    monkeypatch.setattr(evaltex_txt, "BLOCK_BYTES", block)
    assert columns(other, "gt") == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_windows_lines_are_read_in_bulk_too(
    tmp_path: Path, newline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_plain = evaltex_txt._LINES["gt"]._replace(exact=lambda _: pytest.fail("read line by line"))
    monkeypatch.setitem(evaltex_txt._LINES, "gt", only_plain)
    path = tmp_path / "gt.txt"
    path.write_bytes(GT.replace("\n", newline).encode())
    assert columns(path, "gt")[2] == [1, 2]


def test_images_can_be_read_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "gt.txt"
    path.write_bytes(LONG.encode())
    source = formats.open_source(path, "gt", FaultLog(), "evaltex")
    found = source.read(np.array([5, 0, 8, 0]))
    assert found.sizes[:, 0].tolist() == [105, 100, 108, 100]
    assert found.objects.offsets.tolist() == [0, 3, 6, 9, 12]
    assert found.objects.boxes[::3, 0].tolist() == [5, 0, 8, 0]
    assert source.read(np.zeros(0, np.int64)).objects.count == 0


@pytest.mark.parametrize(
    ("line", "text", "box"),
    [
        ('1,2,"say "hi", you",f,1,2,3,4', 'say "hi", you', [1, 2, 4, 6]),
        ('1,2,"",f,1,2,3,4', "", [1, 2, 4, 6]),
        ("1,2,,f,1,2,3,4", "", [1, 2, 4, 6]),
        ("1,2,plain,f,1,2,3,4", "plain", [1, 2, 4, 6]),
        ("1,2,with, comma,f,1,2,3,4", "with, comma", [1, 2, 4, 6]),
        ("1,2,12,f,1,2,3,4", "12", [1, 2, 4, 6]),
        (' 1 , 2 , "a" , f , 1.5 , 2 , 3 , 4 ', "a", [1.5, 2, 4.5, 6]),
        ('1,2,"a",f,-1,-2.25,3,4', "a", [-1, -2.25, 2, 1.75]),
        ('1,2,"a",f,0,0,10,0,10,5', "a", [0, 0, 10, 5]),
        ('1,2,"a",f,9,9,10,0,10,5,0,5', "a", [0, 0, 10, 9]),
        ('1,2,"1,2,3,4",f,1,2,3,4', "1,2,3,4", [1, 2, 4, 6]),
    ],
)
def test_object_lines(tmp_path: Path, line: str, text: str, box: list[float]) -> None:
    path = tmp_path / "gt.txt"
    path.write_text(f"img\n10,10\n{line}\n", encoding="utf-8")
    objects = read(path, "gt")[1].objects
    assert (objects.ids.tolist(), objects.regions.tolist(), objects.dont_care.tolist()) == (
        [1],
        [2],
        [False],
    )
    assert (list(objects.texts), objects.boxes.tolist()) == ([text], [box])
    assert (not objects.outlines.all_boxes) == (line.count(",") > 8 and "1,2,3,4" not in line)


@pytest.mark.parametrize(
    "name",
    [
        "12",
        "3.5",
        "img,1",
        "1,x",
        "img 1",
        "日本語",
        "a/b",
        "a.b..c",
        "#1",
        "[x]",
        "'q'",
        'a "b" c',
        "-",
        "...",
        "com1",
        "1;2",
    ],
)
def test_names_of_all_kinds(tmp_path: Path, name: str) -> None:
    """As names of both files, and as names of result files."""
    (tmp_path / "gt.txt").write_text(f'{name}\n10,10\n1,1,"",f,1,2,3,4\n', encoding="utf-8")
    (tmp_path / "det.txt").write_text(f'{name}\n1,"",1,2,3,4\n', encoding="utf-8")
    assert evaluate(tmp_path / "gt.txt", tmp_path / "det.txt").totals["true_positives"] == 1


@given(st.permutations(range(4)), st.permutations(range(4)))
@settings(deadline=None, derandomize=True, max_examples=20)
def test_order_of_images_may_differ(
    tmp_path_factory: pytest.TempPathFactory, one: list[int], other: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("order")
    gt = [f'i{k}\n99,99\n1,1,"",f,{10 * k},0,8,8\n' for k in range(4)]
    det = [f'i{k}\n1,"",{10 * k},0,8,{k + 4}\n' for k in range(4)]
    (folder / "gt.txt").write_text("".join(gt[k] for k in one))
    (folder / "det.txt").write_text("".join(det[k] for k in other))
    found = evaluate(folder / "gt.txt", folder / "det.txt", per_image=True)
    assert [image.name for image in found.images] == [f"i{k}" for k in one]
    assert found.totals["one_to_one"] == 4
    assert [round(image.scores["recall"], 2) for image in found.images] == [
        [0.5, 0.63, 0.76, 0.88][k] for k in one
    ]


def test_an_image_without_lines_or_without_mention_has_no_detections(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text(GT + 'b\n9,9\n\nc\n9,9\n1,1,"",f,1,1,2,2')
    (tmp_path / "det.txt").write_text("c\n\nb")
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    assert (found.totals["gt_objects"], found.totals["detections"], found.totals["missed"]) == (
        3,
        0,
        2,
    )
    assert (found.det.missing, found.det.empty, found.gt.empty) == (1, 2, 1)
    assert found.warnings == [
        "1 of 3 images has no detections in det.txt",
        "nothing matches; the detections have no object",
    ]


@pytest.mark.parametrize("empty", ["", "\n\n", "\ufeff", "\r\n"])
def test_empty_detections_are_a_warning(tmp_path: Path, empty: str) -> None:
    assert faults(tmp_path, GT, empty) == []
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    assert found.warnings == ["det.txt: no image in the detection file, as if nothing was detected"]
    assert found.scores["recall"] == 0


# Faults -------------------------------------------------------------------------------------------

_BEFORE = 'img_1\n100,200\n1,1,"",f,1,2,3,4\n'
_FINITE = "expected a finite number (integer or decimal, at most 1e12 in magnitude)"
_LAYOUT = 'expected ID,region,"transcription",t|f,x,y,width,height'
_COUNT = "expected x,y,width,height, or an even count of six or more: the vertices of a polygon"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('2,1,"",f,1,2,x,4', f"'x'; {_FINITE}"),
        ('2,1,"",f,1,2,,4', f"''; {_FINITE}"),
        ('2,1,"",f,1,2,1.2.3,4', f"'1.2.3'; {_FINITE}"),
        ('2,1,"",f,nan,2,3,4', f"'nan'; {_FINITE}"),
        ('2,1,"",f,1,-inf,3,4', f"'-inf'; {_FINITE}"),
        ('2,1,"",f,1e13,2,3,4', f"'1e13'; {_FINITE}"),
        ('2,1,"",f,1,2,0,4', "width 0; expected a width above 0"),
        ('2,1,"",f,1,2,3,-4', "height -4; expected a height above 0"),
        (
            '2,1,"",f,1e12,2,1e-9,4',
            "width 1e-09 at coordinate 1e+12; expected a width that is not lost in rounding",
        ),
        ('2,1,"",g,1,2,3,4', "reject flag 'g'; expected t (rejected) or f after the transcription"),
        ('2,1,"",T,1,2,3,4', "reject flag 'T'; expected t (rejected) or f after the transcription"),
        ('2,1,"",1,2,3,4', "reject flag '1'; expected t (rejected) or f after the transcription"),
        ('2,1,"",f,1,2,3', f"3 coordinates; {_COUNT}"),
        ('2,1,"",f,1,2,3,4,5', f"5 coordinates; {_COUNT}"),
        ('2,1,"",f,1,2,3,4,5,6,7', f"7 coordinates; {_COUNT}"),
        ('2,1,"",f', f"0 coordinates; {_COUNT}"),
        ('x,1,"",f,1,2,3,4', "ID 'x'; expected a whole number as ID"),
        ('2.0,1,"",f,1,2,3,4', "ID '2.0'; expected a whole number as ID"),
        ('2,r,"",f,1,2,3,4', "region 'r'; expected a whole number as region"),
        ('2,,"",f,1,2,3,4', "region ''; expected a whole number as region"),
        ("2,1,1,2,3,4", f"6 fields in '2,1,1,2,3,4'; {_LAYOUT}"),
        ("1,2,3,4", f"4 fields in '1,2,3,4'; {_LAYOUT}"),
        (
            '2,1,"word,f,1,2,3,4',
            (
                "no closing quote and comma after the transcription in '2,1,\"word,f,1,2,3,4';"
                f" {_LAYOUT}"
            ),
        ),
        (
            '1,1,"",f,1,2,3,4',
            "ID 1 again; expected IDs used once in an image (it stands in line 3 too)",
        ),
        (
            "img_1\n9,9",
            "image name 'img_1' again; expected image names used once (it stands in line 1 too)",
        ),
    ],
)
def test_faults_of_the_ground_truth(tmp_path: Path, line: str, message: str) -> None:
    assert faults(tmp_path, f"{_BEFORE}\n{line}\n") == [f"gt.txt:5: {message}"]
    assert faults(tmp_path, f"\ufeff{_BEFORE}\n{line}\n".replace("\n", "\r\n")) == [
        f"gt.txt:5: {message}"
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('2,"",1,2,x,4', f"'x'; {_FINITE}"),
        ('2,"",1,2,3,0', "height 0; expected a height above 0"),
        ('2,"",1,2,3', f"3 coordinates; {_COUNT}"),
        ('2,"",1,2,3,4,5', f"5 coordinates; {_COUNT}"),
        ("2,1,2,3,4", "5 fields in '2,1,2,3,4'; expected ID,\"transcription\",x,y,width,height"),
        (
            "2,a,9,1,2,3,4",
            "an unquoted transcription that cannot be separated from the numbers in"
            " '2,a,9,1,2,3,4';"
            ' expected the transcription in double quotes: ID,"transcription",x,y,width,height',
        ),
        ('"",1,2,3,4', '5 fields in \'"",1,2,3,4\'; expected ID,"transcription",x,y,width,height'),
        (
            '1,"",1,2,3,4',
            "ID 1 again; expected IDs used once in an image (it stands in line 2 too)",
        ),
        (
            "img_1",
            "image name 'img_1' again; expected image names used once (it stands in line 1 too)",
        ),
    ],
)
def test_faults_of_the_detections(tmp_path: Path, line: str, message: str) -> None:
    assert faults(tmp_path, GT, f"{DET}{line}\n") == [f"det.txt:3: {message}"]


@pytest.mark.parametrize(
    ("gt", "messages"),
    [
        (
            "",
            [
                (
                    "gt.txt: no image; expected at least one image name with its height,width and"
                    " objects"
                )
            ],
        ),
        (
            "\n \n",
            [
                (
                    "gt.txt: no image; expected at least one image name with its height,width and"
                    " objects"
                )
            ],
        ),
        (
            '1,1,"",f,1,2,3,4\nimg_1\n9,9\n',
            [
                (
                    "gt.txt:1: object line '1,1,\"\",f,1,2,3,4' before any image name; expected an"
                    " image name"
                )
            ],
        ),
        (
            'img_1\n1,1,"a",f,1,2,3,4\n',
            [
                (
                    "gt.txt:2: '1,1,\"a\",f,1,2,3,4'; expected the size line height,width of image"
                    " 'img_1' (960,1280, say)"
                )
            ],
        ),
        (
            "img_1\nimg_2\n9,9\n",
            [
                (
                    "gt.txt:2: 'img_2'; expected the size line height,width of image 'img_1'"
                    " (960,1280, say)"
                )
            ],
        ),
        (
            "img_1",
            ["gt.txt:1: the end of the file; expected the size line height,width of image 'img_1'"],
        ),
        (
            "img_1\n\n",
            ["gt.txt:3: the end of the file; expected the size line height,width of image 'img_1'"],
        ),
        ("img_1\n0,5\n", ["gt.txt:2: '0,5'; expected a height and a width above 0"]),
        ("img_1\n5,-1\n", ["gt.txt:2: '5,-1'; expected a height and a width above 0"]),
        ("img_1\n5,x\n", [f"gt.txt:2: 'x'; {_FINITE}"]),
        (
            "img_1\n960x1280\n",
            ["gt.txt:2: '960x1280'; expected the image's size, height,width, after its name"],
        ),
        (
            "img_1\n960,1280,3\n",
            ["gt.txt:2: '960,1280,3'; expected the image's size, height,width, after its name"],
        ),
    ],
)
def test_faults_of_the_layout(tmp_path: Path, gt: str, messages: list[str]) -> None:
    assert faults(tmp_path, gt, "img_1\n" if "img_1" in gt else "") == messages


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_text_of_wide_characters(tmp_path: Path, encoding: str) -> None:
    expected = (
        "gt.txt:1: byte 0xff, which is not UTF-8; expected text in UTF-8 (save the file in"
        " that encoding)"
    )
    assert faults(tmp_path, GT.encode(encoding))[0] == expected


def test_a_picture_is_no_text(tmp_path: Path) -> None:
    (message,) = faults(tmp_path, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert message.startswith(
        "gt.txt: a picture, which is not read; give label pictures as GT_IMG_DIR"
    )


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    text = 'img_1\n9,9\n1,1,"caf\xe9",f,1,2,3,4\n'.encode("latin-1")
    expected = (
        "byte 0xe9, which is not UTF-8; expected text in UTF-8 (save the file in that encoding)"
    )
    assert faults(tmp_path, text) == [f"gt.txt:3: {expected}"]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "..",
            ".",
            "../x",
            "a/../b",
            "a/..",
            "/etc/x",
            "\\x",
            "a\\..\\b",
            "..\\x",
            "C:x",
            "c:\\x",
            "a//b",
            "a/",
            "./a",
        ),
        *("a\0b", "a\tb", "a\x1bb", "a\x7fb"),
    ],
)
def test_names_that_leave_the_result_folder(tmp_path: Path, name: str) -> None:
    assert leaves_result_folder(name)
    expected = (
        "expected a name that stays in the result folder: no absolute path, drive letter,"
        " '..' or control character"
    )
    (message,) = faults(tmp_path, f"ok\n9,9\n{name}\n9,9\n", "")
    assert message.startswith("gt.txt:3: image name '")
    assert message.endswith(expected)
    assert message.isprintable()


@given(st.text(st.sampled_from("./\\aC: \0"), min_size=1, max_size=8))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_names_that_pass_stay_in_the_result_folder(name: str) -> None:
    """By either system's rules."""
    if not leaves_result_folder(name):
        parts = name.replace("\\", "/").split("/")
        assert ".." not in parts
        assert "" not in parts
        assert "\0" not in name
        assert name[1:2] != ":" or not name[0].isalpha()


def test_names_that_only_the_detections_have(tmp_path: Path) -> None:
    assert faults(tmp_path, GT, DET + "img_l\nzzz\n") == [
        "det.txt: image 'img_l' is not in the ground truth (did you mean 'img_1'?);"
        " expected only image names of gt.txt",
        "det.txt: image 'zzz' is not in the ground truth; expected only image names of gt.txt",
    ]


def test_equal_faults_are_shown_once(tmp_path: Path) -> None:
    """Of both files; every one of them is recorded with its place."""
    bad = "".join(f'{k},1,"",f,1,2,0,4\n' for k in range(2, 27))
    found = faults(tmp_path, _BEFORE + bad, DET + "".join(f"other_{k}\n" for k in range(7)))
    assert len(found) == 32
    assert found[7] == "gt.txt:4: width 0; expected a width above 0"
    with pytest.raises(FaultsError) as refused:
        evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    assert str(refused.value).replace(f"{tmp_path}/", "").split("\n") == [
        (
            "det.txt: image 'other_0' is not in the ground truth; expected only image names of"
            " gt.txt"
        ),
        "  7 such faults, also 'other_1' and 'other_2'",
        "gt.txt:4: width 0; expected a width above 0",
        "  25 such faults, also at gt.txt:5 and gt.txt:6",
        "7 of 8 images of the detections are not in the ground truth; are the two of one data set,"
        " and of the same part of it?",
    ]


def test_a_long_line_is_cut_in_the_message(tmp_path: Path) -> None:
    (message,) = faults(tmp_path, _BEFORE + f"2,1,{'x' * 5000},1,2,3,4\n")
    assert len(message) < 250
    assert faults(tmp_path, _BEFORE + f'{"9" * 100_000},1,"",f,1,2,3,4\n')[0].startswith(
        "gt.txt:4: ID '999"
    )


@given(st.binary(max_size=200))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_any_bytes_end_well_or_in_a_clear_message(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.txt"
    path.write_bytes(content)
    for side in ("gt", "det"):
        try:
            names, images = read(path, side)  # type: ignore[arg-type]
        except InputError as error:
            assert str(path) in str(error)
        else:
            assert len(images.sizes) == len(names)


@given(
    st.lists(
        st.sampled_from(
            [
                "img",
                "b",
                "9,9",
                '1,1,"a",f,1,2,3,4',
                '1,"b",1,2,3,4',
                "2,1,x,t,0,0,1",
                "",
                "5,,,,,",
                '"',
            ]
        )
    )
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_any_lines_end_well_or_in_a_clear_message(
    tmp_path_factory: pytest.TempPathFactory, found: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_text("\n".join(found))
    for side in ("gt", "det"):
        try:
            read(path, side)  # type: ignore[arg-type]
        except InputError as error:
            assert all(line.startswith((f"{path}:", "  ")) for line in str(error).split("\n"))


def test_a_ground_truth_line_is_no_detection(tmp_path: Path) -> None:
    (tmp_path / "det.txt").write_text('img\n1,1,"x",f,0,0,10,10\n')
    faults = FaultLog()
    source = evaltex_txt.FORMAT.index(tmp_path / "det.txt", "det", faults)
    faults.extend(source.read(np.array([0])).faults)
    (fault,) = faults.shown
    assert fault.line == 2
    assert fault.found.startswith("a ground-truth line")
