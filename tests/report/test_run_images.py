"""The report of a run, whose images are gathered while they are evaluated, is the one made of its
results.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli.cli import main
from evaltex_cli.results import reader

GT = """\
one
100,200
1,1,"<b>",f,10,10,40,20
2,2,"caf\u00e9",f,60.25,10,90,12,88,30.5,61,28
3,3,"x",t,100,10,20,20

t\u00e9\u2028wo
40,40

three
50,50
1,1,"bow",f,10,10,30,30,30,10,10,30

four
10,10
"""
DET = """\
one
1,"b",12,10,40,20
2,"cafe",60,10,90,12,88,30,61,28

three
7,"",10.126,10,30,30
"""


def run(*arguments: object) -> None:
    done = CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    for path, content in zip(paths, (GT, DET), strict=True):
        path.write_text(content, encoding="utf-8", newline="\n")
    return paths


@pytest.mark.parametrize(
    "options",
    [(), ("--protocol", "all"), ("--protocol", "iou,evaltex", "--ci"), ("--invalid", "skip")],
    ids=["default", "all", "intervals", "skip"],
)
def test_it_is_the_report_of_its_results(tmp_path, sides, options):
    run(*sides, tmp_path / "res", "--report", *options)
    again = tmp_path / "again.html"
    run("report", tmp_path / "res", "--gt", sides[0], "--det", sides[1], "--output", again)
    assert again.read_bytes() == (tmp_path / "res" / "report.html").read_bytes()
    assert not [path for path in (tmp_path / "res").iterdir() if path.name.startswith(".")]


def test_left_out_protocols_are_not_in_it(tmp_path, sides):
    sides[1].write_text(DET.replace('"b"', '""').replace('"cafe"', '""'), encoding="utf-8")
    run(*sides, tmp_path / "res", "--report", "--protocol", "iou-crw,evaltex")
    again = tmp_path / "again.html"
    run("report", tmp_path / "res", "--gt", sides[0], "--det", sides[1], "--output", again)
    assert again.read_bytes() == (tmp_path / "res" / "report.html").read_bytes()


def test_neither_results_nor_inputs_of_images_are_read_again(tmp_path, sides, monkeypatch):
    def refuse(*_: object) -> None:
        pytest.fail("an image was read again")

    monkeypatch.setattr(reader, "_faults_of_images", refuse)
    monkeypatch.setattr("evaltex_cli.report.page.read_shapes", refuse)
    run(*sides, tmp_path / "res", "--report")
    assert "caf\u00e9" in (tmp_path / "res" / "report.html").read_text(encoding="utf-8")
