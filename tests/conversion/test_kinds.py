"""Whether an input is ground truth or detections: signs, in their order, and
what is asked if there are none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from samples import SAMPLES, written
from shared_data import DATA, content, needs

from evaltex_cli.cli import main
from evaltex_cli.conversion.kinds import ANNOTATIONS, EITHER, RESULTS, detect
from evaltex_cli.errors import InputError
from evaltex_cli.formats import FORMATS
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.options import InputOptions


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
def test_no_sample_with_a_sign_is_taken_for_the_other_side(
    tmp_path: Path, name: str, side: Side
) -> None:
    sample = SAMPLES[name]
    found, why = kind(written(tmp_path / "in", sample, side), sample.format(side))
    if found == "?":
        assert why.endswith("may be ground truth or detections; give --kind gt or --kind det")
    elif sample.has_dont_care if side == "gt" else sample.has_confidences:
        assert found == side


@pytest.mark.few_fast(20)
@needs("data/formats")
@pytest.mark.parametrize("fact", content("formats/facts.json"), ids=lambda fact: fact["path"])
def test_real_files(fact: dict[str, Any]) -> None:
    path, side = fact["path"], fact["side"]
    found, why = kind(DATA / "formats" / path)
    assert found == side or (found == "?" and "give --kind" in why)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"in/gt_1.txt": "0,0,9,0,9,9,0,9"}, ("gt", "names of files such as 'gt_1.txt'")),
        ({"in/res_1.txt": "0,0,9,0,9,9,0,9,word"}, ("det", "names of files such as 'res_1.txt'")),
        ({"my_results/1.txt": "0,0,9,0,9,9,0,9,word"}, ("det", "its name 'my_results'")),
        ({"in/1.txt": "0,0,9,0,9,9,0,9,###"}, ("gt", "its don't-care objects")),
        ({"in/1.txt": "0,0,9,0,9,9,0,9,0.5"}, ("det", "its confidences")),
        ({"in/1.txt": "0,0,9,0,9,9,0,9,word"}, ("gt", "its transcriptions")),
        ({"in.txt": '1\n1,"",0,0,9,9\n'}, ("det", "what can be read: nothing else fits")),
        ({"in.txt": '1\n9,9\n1,1,"",f,0,0,9,9\n'}, ("gt", "what can be read: nothing else fits")),
        (
            {"in/1.json": '{"shapes": [], "imageHeight": 9, "imageWidth": 9}'},
            ("gt", "its format labelme"),
        ),
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
    (tmp_path / "in.xml").rename(tmp_path / "gt_in.xml")
    assert kind(tmp_path / "gt_in.xml")[0] == "gt"


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


def test_the_formats_are_known() -> None:
    assert {*ANNOTATIONS, *RESULTS, *EITHER} <= FORMATS.keys()
