"""What a reader does not take: long lines and names, tangled polygons; and its work for much else."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from limits import counting
from one_word import DET, GT
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats import open_source
from evaltex_cli.formats.files.image_names import MAX_NAME_BYTES
from evaltex_cli.formats.files.text_lines import MAX_LINE_BYTES, MAX_OBJECTS, without_blank_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("here")]


def test_faults_after_very_many_blank_lines_have_their_line() -> None:
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET + "\n" * 70_000 + '1,"a",nonsense\n')
    with pytest.raises(InputError, match=r"det\.txt:70003: "):
        evaluate("gt.txt", "det.txt")
    Path("gt").mkdir()
    Path("det").mkdir()
    Path("gt/1.txt").write_text("0,0,10,10,a\n")
    Path("det/1.txt").write_text("0,0,10,10\n" + " \r\n" * 70_000 + "0,0,nonsense\n")
    with pytest.raises(InputError, match=r"det/1\.txt:70002: "):
        evaluate("gt", "det")


def test_an_image_has_a_limit_of_objects_and_a_line_one_of_bytes() -> None:
    Path("gt").mkdir()
    Path("det").mkdir()
    Path("gt/1.txt").write_text("0,0,10,10,a\n")
    Path("det/1.txt").write_text("20,20,40,40\n" * (MAX_OBJECTS + 1))
    with pytest.raises(
        InputError, match=rf"det/1\.txt:{MAX_OBJECTS + 1}: more than {MAX_OBJECTS} lines"
    ):
        evaluate("gt", "det")
    Path("det/1.txt").write_text("20,20,40,40\n20,20,40,40," + "1" * MAX_LINE_BYTES)
    with pytest.raises(
        InputError, match=rf"det/1\.txt:2: a line of more than {MAX_LINE_BYTES} bytes"
    ):
        evaluate("gt", "det")
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET + "a" * MAX_LINE_BYTES * 6 + "\n" + DET)
    with pytest.raises(
        InputError, match=rf"det\.txt:3: a line of more than {MAX_LINE_BYTES} bytes"
    ):
        evaluate("gt.txt", "det.txt")


@pytest.mark.parametrize("length", [MAX_NAME_BYTES, MAX_NAME_BYTES + 1])
@pytest.mark.parametrize("letter", ["a", "!"])
def test_names_have_a_limit(length: int, letter: str) -> None:
    Path("gt.txt").write_text(GT.replace("img_1", letter * length))
    Path("det.txt").write_text(DET.replace("img_1", letter * length))
    image = {"id": letter * length, "width": 9, "height": 9}
    Path("gt.json").write_text(json.dumps({"images": [image], "annotations": [], "categories": []}))
    with zipfile.ZipFile("gt.zip", "w") as packed:
        packed.writestr(f"{letter * length}.txt", "0,0,9,9,a\n")
    for name in ("gt.txt", "det.txt", "gt.json", "gt.zip"):
        faults = FaultLog()
        open_source(Path(name), "det" if name == "det.txt" else "gt", faults)
        reported = [f"{fault.found}; {fault.expected}" for fault in faults.shown]
        assert faults.count == (length > MAX_NAME_BYTES), (name, reported)
        assert all(
            one.startswith(f"an image name of more than {MAX_NAME_BYTES} bytes") for one in reported
        ), reported


def test_lines_that_are_left_have_their_numbers() -> None:
    text = b"a\n" + b"\n" * 70_000 + b"  b\r\n \t\n\r\nc"
    left, numbers = without_blank_lines(text)
    assert left == b"a\n  b\r\nc\n"
    assert numbers is not None
    assert numbers.tolist() == [0, 70_001, 70_004]
    for same in (b"\na\n", b"a\n" * 70_000, b"a\n" * 70_000 + b"b"):
        assert without_blank_lines(same) == (same, None)
    assert without_blank_lines(b"a\n" * 70_000 + b"\n")[0] == b"a\n" * 70_000


def test_validation_does_work_in_proportion_to_the_objects_of_an_image() -> None:
    calls = []
    Path("det").mkdir()
    Path("pictures").mkdir()
    Image.new("L", (50, 50)).save("pictures/1.png")
    for count in (100, 5_000, 20_000):  # the first imports what is needed
        # every object is beyond the picture and there twice, a fault is among them
        lines = [f"{k // 2},-5,{k // 2 + 10},-5,{k // 2 + 10},20,{k // 2},20" for k in range(count)]
        Path("det/1.txt").write_text("\n".join([*lines, "1,2,x"]))
        with counting() as counted:
            result = CliRunner().invoke(
                main, ["validate", "det", "--images", "pictures", "--gt-format", "quad"]
            )
        assert result.exit_code == 2, result.output
        calls.append(counted.count)
    assert calls[2] < 4.5 * calls[1], calls
