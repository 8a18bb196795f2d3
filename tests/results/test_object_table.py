"""`--objects`: one row for each object of either side, which are those of the
results of the images.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.results.object_table import BOX, FIRST, LAST

TEXTS = ["=1+1", "-5", "@x", "'a", '""q""', "é", "+", "a,b", "plain"]
PROTOCOLS = ["iou", "evaltex", "cleval"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gt, det = [], []
    for k in range(40):
        text, x = TEXTS[k % len(TEXTS)], k / 7
        gt.append(f'=img_{k}\n100,200\n1,1,"{text}",f,{x},20,30,40\n2,2,"###",t,60,20,30,40\n')
        det.append(
            f'=img_{k}\n1,"{text}",{x},20,15,40\n2,"",{x + 15},20,15,40\n7,"z",150,20,15,40\n'
            if k % 5
            else ""
        )
    Path("gt.txt").write_text("".join(gt))
    Path("det.txt").write_text("".join(det))


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(
        main, ["gt.txt", "det.txt", "--protocol", ",".join(PROTOCOLS), *arguments]
    )
    assert result.exit_code == status, result.stderr
    return result


def rows(file: str) -> list[dict[str, Any]]:
    """Read the rows again, as docs/cli.md says."""

    def cell(name: str, text: str) -> Any:
        if name in ("image", "text"):
            return text.removeprefix("'")
        if name == "partners":
            return [int(one) for one in text.split()]
        return text if name in FIRST and name != "id" else float(text) if text else math.nan

    table = csv.DictReader(Path(file).read_text().splitlines())
    return [{name: cell(name, text) for name, text in row.items()} for row in table]


def expected() -> list[dict[str, Any]]:
    """The same rows, from the results that Python returns."""
    found = []
    for name, evaluation in evaluate("gt.txt", "det.txt", PROTOCOLS, per_image=True).items():
        for image in evaluation.images:
            for side, objects in (("gt", image.objects), ("det", image.detections)):
                for one in objects:
                    first = (name, image.name, side, one.id, one.match, one.partners)
                    values = {
                        key: math.nan if value is None else value
                        for key, value in one.values.items()
                    }
                    assert one.box is not None
                    box = dict(zip(BOX, one.box, strict=True))
                    found.append(
                        dict(zip(FIRST, first, strict=True)) | values | {"text": one.text} | box
                    )
    return found


def same(one: Any, other: Any) -> bool:
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


def assert_same(read: list[dict[str, Any]]) -> None:
    wanted = expected()
    assert len(read) == len(wanted) > 300
    for row, known in zip(read, wanted, strict=True):
        assert all(same(row[name], known.get(name, math.nan)) for name in row), (row, known)
        assert known.keys() <= row.keys()


def test_the_rows_are_those_of_the_results_of_the_images() -> None:
    run("--objects", "objects.csv")
    read = rows("objects.csv")
    heads = list(read[0])
    assert (tuple(heads[: len(FIRST)]), tuple(heads[-len(LAST) :])) == (FIRST, LAST)
    assert_same(read)


def test_no_cell_is_a_formula() -> None:
    run("--objects", "objects.csv")
    cells = [
        cell
        for row in csv.DictReader(Path("objects.csv").read_text().splitlines())
        for cell in (row["image"], row["text"])
    ]
    assert "'=1+1" in cells
    assert "''a" in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_the_same_bytes_however_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    run("res", "-a", "--objects", "one.csv")
    run("--objects", "two.csv", "--jobs", "2")
    monkeypatch.setattr("evaltex_cli.evaluation.evaluate.BATCH_OBJECTS", 3)
    run("--objects", "many.csv")
    assert len({Path(f"{name}.csv").read_bytes() for name in ("one", "two", "many")}) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("table.xlsx", "give a file with one of these endings"),
        ("o.parquet", "pip install pyarrow"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setattr("evaltex_cli.formats.reading.read", lambda *_: pytest.fail("work was done"))
    assert message in " ".join(run("--objects", name, status=2).stderr.split())


def test_parquet_has_the_same_rows() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run("--objects", "objects.parquet")
    table = parquet.read_table("objects.parquet").to_pylist()
    assert_same(
        [{name: math.nan if cell is None else cell for name, cell in row.items()} for row in table]
    )
    before = Path("objects.parquet").read_bytes()
    run("--objects", "objects.parquet", "--jobs", "2")  # it is recognised as its own
    assert Path("objects.parquet").read_bytes() == before
    parquet.write_table(
        parquet.read_table("objects.parquet").select(["id"]).replace_schema_metadata(),
        "mine.parquet",
    )
    assert "mine.parquet: already exists" in run("--objects", "mine.parquet", status=2).stderr
