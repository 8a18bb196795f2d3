"""Whether an input is ground truth or detections: the signs, and what is asked without any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from evaltex_cli.conversion.kinds import detect
from PIL import Image
from samples import SAMPLES, written
from shared_data import DATA, content, needs

from evaltex_cli.cli import main
from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.options import InputOptions

FACTS = [
    fact
    for fact in content("formats/facts.json")
    if fact["path"]
    not in (
        "mmocr/instances_test_0x.jsonl",  # of formats that are not read
        "object-detection-metrics/abs_xywh",
        "adelaidet/testr_det.zip",  # has texts ### and no confidences
    )
]


def kind(path: Path, format_name: str | None = None) -> tuple[str, str]:
    try:
        return detect(path, InputOptions(format_name, format_name))
    except InputError as error:
        return "?", str(error)


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(
    ("name", "side"),
    [(name, side) for name in SAMPLES for side in ("gt", "det") if SAMPLES[name].files(side)],
)
def test_no_sample_is_taken_for_the_other_side(tmp_path: Path, name: str, side: Side) -> None:
    sample = SAMPLES[name]
    found, why = kind(written(tmp_path / "in", sample, side), sample.format(side))
    assert found == side or why.endswith(
        "may be ground truth or detections; give --kind gt or --kind det"
    )


@pytest.mark.few_fast(20)
@needs("data/formats")
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["path"])
def test_real_files(fact: dict[str, Any]) -> None:
    found, why = kind(DATA / "formats" / fact["path"])
    assert found == fact["side"] or (found == "?" and "give --kind" in why)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"in/1.txt": "0,0,9,0,9,9,0,9,###"}, ("gt", "its don't-care objects")),
        ({"in/1.txt": "0,0,9,0,9,9,0,9,0.5"}, ("det", "its confidences")),
        ({"in.txt": '1\n1,"",0,0,9,9\n'}, ("det", "what can be read: nothing else fits")),
        ({"in.txt": '1\n9,9\n1,1,"",f,0,0,9,9\n'}, ("gt", "what can be read: nothing else fits")),
    ],
)
def test_signs(tmp_path: Path, files: dict[str, str], expected: tuple[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert kind(tmp_path / next(iter(files)).split("/")[0]) == expected


@pytest.mark.parametrize("attribute", ['WC="0.5"', ""])
def test_nothing_in_alto_is_a_sign(tmp_path: Path, attribute: str) -> None:
    word = f'<String HPOS="1" VPOS="1" WIDTH="9" HEIGHT="9" CONTENT="a" {attribute}/>'
    (tmp_path / "in.xml").write_text(f"<alto><Page><TextLine>{word}</TextLine></Page></alto>")
    assert kind(tmp_path / "in.xml")[0] == "?"


def test_options_of_formats_are_those_of_the_conversion(tmp_path: Path) -> None:
    """Boxes whose order and scale are declared, and columns that are named."""
    (tmp_path / "a.json").write_text('[{"bbox": [1, 1, 500, 500], "score": 0.5}]')
    (tmp_path / "pictures").mkdir()
    Image.new("L", (100, 100)).save(tmp_path / "pictures" / "a.png")
    target = str(tmp_path / "out.txt")
    pictures = ["--coordinates", "xyxy:1000", "--images", str(tmp_path / "pictures")]
    done = CliRunner().invoke(main, ["convert", str(tmp_path / "a.json"), target, *pictures])
    assert done.exit_code == 0, done.stderr
    assert "is taken for detections by its confidences" in done.stderr
    (tmp_path / "b.csv").write_text("page;a;b;c;d;score\np;1;2;3;4;0.5\n")
    columns = ["--columns", "image=page,x0=a,y0=b,x1=c,y1=d"]
    done = CliRunner().invoke(
        main, ["convert", str(tmp_path / "b.csv"), target, *columns, "--force"]
    )
    assert done.exit_code == 0, done.stderr
    assert "is taken for detections by its confidences" in done.stderr


def test_the_command_says_what_it_takes_an_input_for(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text('1\n9,9\n1,1,"a",f,0,0,9,9\n')
    done = CliRunner().invoke(
        main, ["convert", str(tmp_path / "words.txt"), str(tmp_path / "out.json")]
    )
    assert done.exit_code == 0
    assert (
        "is taken for ground truth by what can be read: nothing else fits; --kind says otherwise"
        in done.stderr
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.txt").write_text("0,0,9,0,9,9,0,9\n")
    done = CliRunner().invoke(main, ["convert", str(tmp_path / "in"), str(tmp_path / "other.json")])
    assert done.exit_code == 2
    assert "may be ground truth or detections; give --kind gt or --kind det" in done.stderr
    assert not (tmp_path / "other.json").exists()
