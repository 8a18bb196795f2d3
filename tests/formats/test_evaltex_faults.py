"""EvaLTex files: every fault in full."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evaltex_texts import DET, GT
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read_or_raise

from evaltex_cli import InputError, evaluate
from evaltex_cli.errors import FaultLog, FaultsError
from evaltex_cli.old_formats.evaltex import format as evaltex_txt
from evaltex_cli.old_formats.files.image_names import leaves_result_folder


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


@pytest.mark.parametrize("empty", ["", "\n\n", "\ufeff", "\r\n"])
def test_empty_detections_are_a_warning(tmp_path: Path, empty: str) -> None:
    assert faults(tmp_path, GT, empty) == []
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    assert found.warnings == ["det.txt: no image in the detection file, as if nothing was detected"]
    assert found.scores["recall"] == 0


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
            names, images = read_or_raise(path, side, "evaltex")  # type: ignore[arg-type]
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
            read_or_raise(path, side, "evaltex")  # type: ignore[arg-type]
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
