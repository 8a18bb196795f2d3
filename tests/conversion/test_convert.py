"""`convert`: any readable source to a target, what it is taken for, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from PIL import Image
from reading import read_or_raise
from shared_data import DATA, content, needs
from written_files import contents, in_folder

from evaltex_cli.cli import main
from evaltex_cli.conversion import FILE_PER_IMAGE
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import InputError
from evaltex_cli.formats.options import InputOptions

pytestmark = pytest.mark.usefixtures("here")

BOXES = {
    "gt_img_1.txt": '10,20,60,40,"say \\"hi\\", you"\n65,21,90,41,###\n10,60.5,30.25,80.75,\n',
    "gt_img_2.txt": "",
}
ALTO = (
    '<alto><Page><TextLine><String HPOS="1" VPOS="1" WIDTH="9" HEIGHT="9" CONTENT="a" {}/>'
    "</TextLine></Page></alto>"
)
EVALTEX = 'img_1\n99,99\n1,1,"a",f,10,10,20,20\n\nimg_2\n99,99\n1,1,"b",f,10,10,20,20\n'


def run(arguments: str) -> Result:
    result = CliRunner().invoke(main, ["convert", *shlex.split(arguments)])
    assert "internal error" not in result.stderr
    return result


# What is written ----------------------------------------------------------------------------------


def test_options_that_change_objects() -> None:
    words = "0,0,50,10,55,5,0,10,a\n55,0,90,0,90,10,55,10,b\n0,30,50,30,50,40,0,40,c\n"
    in_folder(Path("src"), {"1.txt": words, "2.txt": words})
    cases: tuple[tuple[Any, bool, list[int]], ...] = (
        ("own", True, [1, 2, 3] * 2),
        ("lines", False, [1, 1, 2] * 2),
    )
    for regions, boxes, expected in cases:
        convert(Path("src"), Path("gt.txt"), "gt", regions=regions, boxes=boxes)
        objects = read_or_raise(Path("gt.txt")).objects
        assert (objects.regions.tolist(), objects.outlines.all_boxes) == (expected, boxes)
    convert(Path("gt.txt"), Path("again.txt"), "gt")
    assert Path("again.txt").read_bytes() == Path("gt.txt").read_bytes(), "regions stay"


# Ground truth or detections -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "sign"),
    [
        ({"in/1.txt": "0,0,9,0,9,9,0,9,###"}, "for ground truth"),
        ({"in/1.txt": "0,0,9,0,9,9,0,9,0.5"}, "for detections"),
        ({"in": '1\n1,"",0,0,9,9\n'}, "for detections"),
        ({"in": ALTO.format("")}, ""),
        ({"in": ALTO.format('WC="0.5"')}, ""),
    ],
)
def test_what_an_input_is_taken_for(files: dict[str, str], sign: str) -> None:
    in_folder(Path(), files)
    result = run("in out.json")
    if sign:
        assert f"in is taken {sign}; --kind says otherwise" in result.stderr
    else:
        assert "may be ground truth or detections; give --kind gt or --kind det" in result.stderr
    assert (result.exit_code, Path("out.json").exists()) == ((0, True) if sign else (2, False))


def test_options_of_formats_are_used_where_the_kind_is_not_named() -> None:
    Path("a.json").write_text('[{"bbox": [1, 1, 500, 500], "score": 0.5}]')
    Path("pictures").mkdir()
    Image.new("L", (100, 100)).save("pictures/a.png")
    run("a.json out.txt --coordinates xyxy:1000 --images pictures")
    assert Path("out.txt").read_text() == 'a\n1,"",0.1,0.1,49.9,49.9\n\n'
    Path("t.csv").write_text("page;a;b;c;d;no\nx;1;1;5;5;1\n")
    result = run("t.csv table.txt --columns image=page,x0=a,y0=b,x1=c,y1=d,dont_care=no")
    assert "is taken for ground truth" in result.stderr, result.stderr
    in_folder(Path("src"), BOXES)
    result = run("src o.txt --coordinates xyxy:1")
    assert "no input has a format that uses it" in result.stderr, result.stderr


NO_SIGN = ("mmocr/instances_test_0x.jsonl", "object-detection-metrics/abs_xywh")  # not read
NO_SIGN += ("adelaidet/testr_det.zip",)  # has texts ### and no confidences
FACTS = [fact for fact in content("formats/facts.json") if fact["path"] not in NO_SIGN]


@pytest.mark.few_fast(20)
@needs("data/formats")
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["path"])
def test_no_real_file_is_taken_for_the_other_side(fact: dict[str, Any]) -> None:
    try:
        note = convert(DATA / "formats" / fact["path"], Path("out.csv")).notes[0]
    except InputError as error:
        note = str(error)
    other = {"gt": "for detections", "det": "for ground truth"}[fact["side"]]
    assert f"is taken {other}" not in note


# What is refused ----------------------------------------------------------------------------------


def test_the_source_is_never_its_own_target() -> None:
    source, text = in_folder(Path("gt"), {"1.txt": "0,0,9,9,word\n"}), Path("gt.txt")
    convert(source, text, "gt")
    before = text.read_bytes()
    Path("link.txt").symlink_to(text)
    same = [("gt.txt", name) for name in ("gt.txt", "gt/../gt.txt", "link.txt")]
    for origin, target in (*same, ("g*.txt", "gt.txt"), ("gt", "gt/1.txt")):
        with pytest.raises(InputError, match="is the source itself, or in it"):
            convert(Path(origin), Path(target), "gt")
    assert text.read_bytes() == before


@pytest.mark.parametrize("files", [{}, {"picture.jpg": ""}], ids=str)
@pytest.mark.parametrize("side", ["gt", "det", None])
def test_a_source_without_images_is_an_error(files: dict[str, str], side: Any) -> None:
    """An empty target would look like success."""
    in_folder(Path("src"), files)
    with pytest.raises(InputError, match="src: "):
        convert(Path("src"), Path("out.zip"), side)
    assert [path.name for path in Path().iterdir()] == ["src"]


@pytest.mark.parametrize("target", ["out/gt.txt", "out/gt.json", "out"])
def test_a_faulty_source_leaves_the_target_alone(target: str) -> None:
    in_folder(Path("src"), {"1.txt": "0 0.5 0.5 0.5 0.5\n"})
    with pytest.raises(InputError, match=r"src/1\.txt: coordinates that are fractions"):
        convert(Path("src"), Path("new.txt"), "gt", options=InputOptions("yolo"))
    in_folder(Path("src"), {"1.txt": "0,0,9,9,a\n9,9,0,0,b\n"})
    in_folder(Path("out"), {"gt.txt": "what stood there\n"})
    to = "page" if target == "out" else None
    with pytest.raises(InputError, match=r"1\.txt:2: a box from"):
        convert(Path("src"), Path(target), "gt", to)
    assert contents(Path("out")) == {"gt.txt": "what stood there\n"}


QUAD = {"points": [[1, 2], [30, 2], [30, 40], [1, 40]], "illegibility": False, "language": "Latin"}


@pytest.mark.parametrize("name", ["a\ud800b", "x" * 100_000, "../up"])
@pytest.mark.parametrize("target", ["o.txt", "o.zip", "o.json"])
def test_names_that_no_target_can_have(name: str, target: str) -> None:
    Path("gt.json").write_text(json.dumps({name: [QUAD | {"transcription": "a"}]}, indent=0))
    result = run(f"gt.json {target} --kind gt")
    assert result.exit_code == 2
    assert re.match(r"evaltex: error: gt\.json: (an )?image name", result.stderr), result.stderr
    assert [path.name for path in Path().iterdir()] == ["gt.json"]


# Folders ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILE_PER_IMAGE)
def test_a_folder_has_the_files_of_the_archive(name: str) -> None:
    """Another file that would be read with them is refused."""
    Path("gt.txt").write_text(EVALTEX)
    arguments = f"--kind gt --to {name}"
    assert run(f"gt.txt pages {arguments}").exit_code == 0
    assert run(f"gt.txt pages.zip {arguments}").exit_code == 0
    before = contents(Path("pages"))
    assert before == contents(Path("pages.zip"))
    assert len(before) == 2
    assert run(f"gt.txt pages {arguments}").exit_code == 0, "the same bytes"
    Path("gt.txt").write_text(EVALTEX.replace('"a"', '"c"').replace("10,10,20", "10,11,20"))
    assert run(f"gt.txt pages {arguments} --force").exit_code == 0
    assert contents(Path("pages")).keys() == before.keys()
    assert contents(Path("pages")) != before
    Path(f"pages/other{FILE_PER_IMAGE[name]}").touch()
    message = run(f"gt.txt pages {arguments} --force").stderr
    assert "which would be read as one of its images; give an empty folder" in message
