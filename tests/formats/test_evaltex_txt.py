"""EvaLTex files: what is read, usual lines against lines taken one by one, and every fault."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from reading import Read, read

from evaltex_cli.formats import evaltex
from evaltex_cli.formats.base import Side

GT = 'img_1\n100,200\n1,7,"Tiredness",f,10,20,30,40\n2,7,"",t,50,60,5,5\n'
DET = 'img_1\n1,"",10,20,30,40\n'


def read_text(tmp_path: Path, text: str | bytes, side: str = "gt") -> Read:
    path = tmp_path / f"{side}.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, side, "evaltex")  # type: ignore[arg-type]


def columns(found: Read) -> tuple[object, ...]:
    """All that is read."""
    objects, drawn = found.objects, found.objects.outlines
    arrays = (objects.offsets, objects.ids, objects.regions, objects.dont_care, found.source.sizes)
    numbers = [array.tolist() for array in (*arrays, drawn.boxes, drawn.vertices, drawn.offsets)]
    places = [found.source.location(row) for row in range(objects.count)]
    return found.source.names, numbers, found.texts, places, sorted(found.faults)


# What is read -------------------------------------------------------------------------------------

LONG = "".join(
    f'img_{k}\n{100 + k},200\n1,1,"Ünï, {k}",f,{k},2,3,4\n7,1,plain,t,1,{k}.5,30,4\n'
    f'3,1,"",f,0,0,9,0,{k + 1},9\n'
    for k in range(9)
)


@pytest.mark.parametrize("block", [7, 1 << 22])
@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\n\n \n\t\n"),
        lambda text: "\ufeff" + text.replace("\n", "\r\n\r\n")[:-4],
    ],
)
def test_form_and_blocks_do_not_matter(
    tmp_path: Path, form: Callable[[str], str], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    *expected, _, _ = columns(read_text(tmp_path, LONG))
    assert expected[0] == [f"img_{k}" for k in range(9)]
    monkeypatch.setattr(evaltex, "BLOCK", block)
    assert list(columns(read_text(tmp_path, form(LONG)))[:-2]) == expected


@pytest.mark.parametrize(
    ("line", "text", "box"),
    [
        ('1,2,"say "hi", you",f,1,2,3,4', 'say "hi", you', [1, 2, 4, 6]),
        ("1,2,,f,1,2,3,4", "", [1, 2, 4, 6]),
        ("1,2,with, comma,f,1,2,3,4", "with, comma", [1, 2, 4, 6]),
        (' 1 , 2 , "a" , f , 1.5 , 2 , 3 , +4e0 ', "a", [1.5, 2, 4.5, 6]),
        ('1,2,"a",f,-1,-2.25,3,4', "a", [-1, -2.25, 2, 1.75]),
        ('1,2,"a",f,0,0,10,0,10,5', "a", [0, 0, 10, 5]),
    ],
)
def test_object_lines(tmp_path: Path, line: str, text: str, box: list[float]) -> None:
    found = read_text(tmp_path, f"img\n10,10\n{line}\n")
    objects = found.objects
    assert not found.faults
    assert [objects.ids.tolist(), objects.regions.tolist()] == [[1], [2]]
    assert not objects.dont_care.any() and found.source.location(0)[1] == 3
    assert (found.texts, objects.boxes.tolist()) == ([text], [box])
    assert objects.outlines.all_boxes == ("0,0,10,0,10,5" not in line)


def test_ids_are_whole_numbers_of_any_length(tmp_path: Path) -> None:
    lines = "".join(f'{"9" * digits},"a",1,2,3,4\n' for digits in (15, 16, 18))
    found = read_text(tmp_path, f"img\n{lines}", "det")
    assert found.objects.ids.tolist() == [10**15 - 1, 10**16 - 1, 10**18 - 1]


@pytest.mark.parametrize(
    "name",
    ["12", "3.5", "img,1", "1,x", "日本語", "a/b", "#1", "[x]", 'a "b" c', "...", "1;2"],
)
@pytest.mark.parametrize("side", ["gt", "det"])
def test_names_of_all_kinds(tmp_path: Path, name: str, side: Side) -> None:
    lines = '10,10\n1,1,"",f,1,2,3,4' if side == "gt" else '1,"",1,2,3,4'
    found = read_text(tmp_path, f"{name}\n{lines}\n", side)
    assert (found.source.names, found.faults) == ([name], [])


@pytest.mark.parametrize("text", [GT, DET, "b\n9,9\n", f"\ufeff\n{GT}"])
def test_files_are_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert read(tmp_path / "file", "gt" if "9,9" in text else "det").source.format == "evaltex"


# Usual lines against others -----------------------------------------------------------------------

WORDS = (
    '"a"',
    '""',
    '"1,2,3,4"',
    '"say "hi""',
    '"日本"',
    '"",f,1,2,3,4"',
    '"',
    "bare",
    "12",
    "a,b",
    "",
)
NUMBERS = ("0", "5", "12", "3.5", "-4", "0.1", "-0", "99999999999.5")
ODD = (
    *(".5", "7.", "+6", "1e2", "007", "", " 8 ", "nan", "-inf", "1e400", "2e12", "9999999999999"),
    *("1_0", "0x1", "--5", "1-2", "1e", "٣", "a", "0.0000001", "-0.0"),
)
OTHERS = (
    *("img_1", "9/9", "été", "a,b", "-1", " lead", "a/../b", "/abs", "1280", "c:x", "5 5"),
    *("100,200", "0,5", " 5,6", "5.5,6", "5x6", "5,6,7", "a,5", "+5,6", ",", "", " ", "\t"),
)


def random_file(rng: random.Random, side: Side) -> str:
    """Images with oddities among them: fields, and lines left out, of any kind anywhere."""
    lines: list[str] = []
    for image in range(rng.randint(0, 5)):
        lines += [f"img_{image}", *(["100,200"] * (side == "gt"))]
        for row in range(rng.randint(0, 4)):
            numbers = NUMBERS + ODD * rng.choice((0, 0, 1))
            count = rng.choice((4, 4, 4, 6, 8, 3, 5, 0))
            fields = [rng.choice((str(row + 1), "1", "1.0"))] * (2 if side == "gt" else 1)
            fields += [rng.choice(WORDS[: rng.choice((2, len(WORDS)))])]
            fields += [rng.choice("ttffffx")] * (side == "gt")
            lines.append(",".join(fields + [rng.choice(numbers) for _ in range(count)]))
        if rng.random() < 0.3:
            lines[rng.randrange(len(lines))] = rng.choice(OTHERS)
    return "\n".join(lines) + rng.choice(("\n", "", "\n\n"))


@pytest.mark.parametrize("side", ["gt", "det"])
def test_usual_lines_say_what_single_lines_say(tmp_path: Path, side: Side) -> None:
    """Objects, names, sizes, places and faults, wherever blocks are cut."""
    for seed in range(30):
        content = random_file(random.Random(seed), side)
        with patch.object(evaltex, "_USUAL", dict.fromkeys(("gt", "det"), re.compile("(?!)"))):
            expected = columns(read_text(tmp_path, content, side))
        for block in (1 << 22, 7):
            with patch.object(evaltex, "BLOCK", block):
                assert columns(read_text(tmp_path, content, side)) == expected


# Faults -------------------------------------------------------------------------------------------

EXPECTED = {
    "FINITE": "expected a finite number (integer or decimal, at most 1e12 in magnitude)",
    "GT": 'expected ID,region,"transcription",t|f,x,y,width,height',
    "DET": 'expected ID,"transcription",x,y,width,height',
    "SIZE": "expected height,width (960,1280, say)",
    "UNFIT": "expected a name that stays in the result folder: no absolute path, drive letter or '..'",
}
FAULTS_OF_LINES = """
gt  : 2,1,"",f,1,2,x,4 : '2,1,"",f,1,2,x,4'; GT
gt  : 2,1,"",f,1,2,1.2.3,4 : '1.2.3'; FINITE
gt  : 2,1,"",f,nan,2,3,4 : '2,1,"",f,nan,2,3,4'; GT
gt  : 2,1,"",f,9000000000000,2,3,4 : '9000000000000'; FINITE
gt  : 2,1,"",f,1,2,0,4 : width 0, height 4; expected both above 0
gt  : 2,1,"",f,1000000000000,2,0.000000001,4 : width 1e-09, height 4; expected both above 0
gt  : 2,1,"",T,1,2,3,4 : '2,1,"",T,1,2,3,4'; GT
gt  : 2,1,"",f,1,2,3 : 3 coordinates; expected an even count
gt  : 2,1,"",f,1,2 : 1 vertices; expected three or more
gt  : 2.0,1,"",f,1,2,3,4 : '2.0,1,"",f,1,2,3,4'; GT
gt  : 2,1,"x,f,1,2,3,4 : '2,1,"x,f,1,2,3,4'; GT
gt  : 1,1,"",f,1,2,3,4 : ID 1 again; expected IDs used once in an image (it stands in line 3 too)
gt  : img_1\\n9,9 : image name 'img_1' again; expected image names used once
det : 2,"",1,2,3,0 : width 3, height 0; expected both above 0
det : 2,1,2,3,4 : 3 coordinates; expected an even count
det : 2,1,"x",f,0,0,9,9 : '2,1,"x",f,0,0,9,9'; DET
"""
FAULTS_OF_LAYOUT = """
\\n \\n : 0: no image; expected at least one in ground truth
1,1,"",f,1,2,3,4\\nimg\\n9,9 : 1: object line '1,1,"",f,1,2,3,4' before any image name; expected an
img_1\\n1,1,"a",f,1,2,3,4 : 1: image 'img_1' without a size; SIZE after its name
img_1 : 1: image 'img_1' without a size; SIZE
img_1\\n960x1280 : 2: '960x1280'; FINITE
ok\\n9,9\\n..\\n9,9 : 3: image name '..'; UNFIT
ok\\n9,9\\n/etc/x\\n9,9 : 3: image name '/etc/x'; UNFIT
ok\\n9,9\\nC:x\\n9,9 : 3: image name 'C:x'; UNFIT
"""


def cases(table: str) -> list[list[str]]:
    """The cells of each line, the fault in full."""
    for name, words in EXPECTED.items():
        table = table.replace(name, words)
    return [line.replace("\\n", "\n").split(" : ") for line in table.strip("\n").split("\n")]


@pytest.mark.parametrize(("side", "line", "message"), cases(FAULTS_OF_LINES))
def test_faults_of_lines(tmp_path: Path, side: str, line: str, message: str) -> None:
    """The fault has the line, and the other objects are read."""
    side = "gt" if side.strip() == "gt" else "det"
    before = 'img_1\n100,200\n1,1,"",f,1,2,3,4\n' if side == "gt" else 'img_1\n\n1,"",1,2,3,4\n'
    for text in (f"{before}\n{line}\n", f"\ufeff{before}\n{line}\n".replace("\n", "\r\n")):
        found = read_text(tmp_path, text, side)
        (fault,) = found.faults
        assert fault.removeprefix(f"{tmp_path}/{side}.txt:").startswith(f"5: {message}")
        assert found.objects.ids.tolist()[0] == 1


@pytest.mark.parametrize(("text", "message"), cases(FAULTS_OF_LAYOUT))
def test_faults_of_the_layout(tmp_path: Path, text: str, message: str) -> None:
    (fault,) = read_text(tmp_path, text).faults
    place, _, rest = message.partition(": ")
    assert fault.removeprefix(f"{tmp_path}/gt.txt").startswith(
        f":{place}: {rest}" if place != "0" else rest
    )
