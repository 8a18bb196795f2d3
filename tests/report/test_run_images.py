"""The report of a run, whose images are gathered while they are evaluated, is the one made of its
results.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from report_pages import islands

from evaltex_cli.cli import main

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


def report_of_results(folder: Path, sides: tuple[Path, Path]) -> bytes:
    """The page that is made of results, which must be of a run with -a."""
    again = folder.parent / "again.html"
    run("report", folder, "--gt", sides[0], "--det", sides[1], "--output", again)
    return again.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("work", [(), ("--jobs", "2")], ids=["one", "two"])
@pytest.mark.parametrize(
    "options",
    [(), ("--protocol", "all"), ("--protocol", "iou,evaltex", "--ci"), ("--invalid", "skip")],
    ids=["default", "all", "intervals", "skip"],
)
def test_it_is_the_report_of_results_with_images(tmp_path, sides, options, work):
    run(*sides, tmp_path / "alone" / "res", "--report", *options, *work)
    run(*sides, tmp_path / "both" / "res", "--report", "-a", *options, *work)
    page = report_of_results(tmp_path / "both" / "res", sides)
    assert (tmp_path / "alone" / "res" / "report.html").read_bytes() == page
    assert (tmp_path / "both" / "res" / "report.html").read_bytes() == page


def test_a_run_with_it_writes_no_other_results(tmp_path, sides):
    run(*sides, tmp_path / "plain", "--protocol", "iou,evaltex")
    run(*sides, tmp_path / "res", "--protocol", "iou,evaltex", "--report")
    found = contents(tmp_path / "res")
    expected = contents(tmp_path / "plain")
    assert found.pop("report.html")
    assert found.pop("scores.json") != expected.pop("scores.json")  # it lists the files
    assert found == expected


def test_left_out_protocols_are_not_in_it(tmp_path, sides):
    sides[1].write_text(DET.replace('"b"', '""').replace('"cafe"', '""'), encoding="utf-8")
    run(*sides, tmp_path / "res", "--report", "-a", "--protocol", "iou-crw,evaltex")
    page = report_of_results(tmp_path / "res", sides)
    assert (tmp_path / "res" / "report.html").read_bytes() == page


def test_neither_results_nor_inputs_of_images_are_read_again(tmp_path, sides, monkeypatch):
    def refuse(*_: object) -> None:
        pytest.fail("an image was read again")

    monkeypatch.setattr("evaltex_cli.results.reader.of_images", refuse)
    monkeypatch.setattr("evaltex_cli.report.image_columns.read_objects", refuse)
    run(*sides, tmp_path / "res", "--report")
    assert "caf\u00e9" in (tmp_path / "res" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("--invalid", "skip")], ids=["gathered", "read again"])
def test_no_cut_of_the_images_changes_them(tmp_path, sides, options, monkeypatch):
    """Neither that into batches nor that into blocks, of which some end within others."""
    command = *sides, "--report", "--protocol", "iou,evaltex", *options

    def page(batch, images, objects):
        monkeypatch.setattr("evaltex_cli.evaluation.evaluate.BATCH_IMAGES", batch)
        monkeypatch.setattr("evaltex_cli.report.image_columns.CHUNK_IMAGES", images)
        monkeypatch.setattr("evaltex_cli.report.image_columns.CHUNK_OBJECTS", objects)
        folder = tmp_path / f"{batch}-{images}-{objects}" / "res"
        run(*command[:2], folder, *command[2:])
        return folder / "report.html"

    whole = islands(page(8192, 100, 100))
    assert len(whole["images-0"]) == 4
    assert [len(one["gt"]["id"] + one["det"][0]["id"]) for one in whole["images-0"]] == [5, 0, 2, 0]
    for images, objects, starts in (
        (1, 100, [0, 1, 2, 3, 4]),
        (2, 100, [0, 2, 4]),
        (3, 100, [0, 3, 4]),
        (4, 100, [0, 4]),
        (100, 7, [0, 3, 4]),
        (100, 6, [0, 3, 4]),
        (100, 5, [0, 1, 4]),
        (2, 5, [0, 1, 3, 4]),
        (100, 1, [0, 1, 3, 4]),
    ):
        pages = [page(batch, images, objects) for batch in (1, 2, 3, 8192)]
        assert len({one.read_bytes() for one in pages}) == 1
        data = islands(pages[0])
        blocks = [data.pop(f"images-{k}") for k in range(len(starts) - 1)]
        assert [image for block in blocks for image in block] == whole["images-0"]
        assert data["overview"] == {**whole["overview"], "chunkStarts": starts}
        assert {name for name in data if name.startswith("images")} == set()
