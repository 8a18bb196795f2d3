"""`--objects`: one row for each object of either side, which are those of the images' results."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from command_line import run as run_command

from evaltex_cli import evaluate
from evaltex_cli.evaluation.evaluation import BOX

TEXTS = ["=1+1", "-5", "@x", "'a", '""q""', "é", "+", "a,b", "plain"]
PROTOCOLS = ["iou", "evaltex", "cleval"]
FIRST = ("protocol", "image", "side", "id", "match", "partners")


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


def run(*arguments: str, status: int = 0) -> str:
    protocols = ("--protocol", ",".join(PROTOCOLS))
    return run_command("gt.txt", "det.txt", *protocols, *arguments, status=status).stderr


def test_the_rows_are_those_of_the_results_of_the_images() -> None:
    run("res", "--objects", "objects.csv")
    assert not Path("res/iou").exists()
    read = list(csv.DictReader(Path("objects.csv").read_text().splitlines()))
    assert (tuple(read[0])[:6], tuple(read[0])[-5:]) == (FIRST, ("text", *BOX))
    known = [
        (name, image.name, side, one)
        for name, evaluation in evaluate("gt.txt", "det.txt", PROTOCOLS, per_image=True).items()
        for image in evaluation.images
        for side, objects in (("gt", image.objects), ("det", image.detections))
        for one in objects
    ]
    assert len(read) == len(known) > 300
    for row, (*place, one) in zip(read, known, strict=True):
        cells: dict[str, Any] = {
            name: float(text or "nan")
            for name, text in row.items()
            if name in one.values or name in BOX
        }
        assert [row[name] for name in FIRST[:3]] == [place[0], f"'{place[1]}", place[2]]
        assert row["text"] in (one.text, f"'{one.text}")
        assert row["partners"] == " ".join(map(str, one.partners))
        assert (int(row["id"]), row["match"]) == (one.id, one.match)
        assert one.box is not None
        for name, value in {**one.values, **dict(zip(BOX, one.box, strict=True))}.items():
            assert cells[name] == value or (math.isnan(cells[name]) and value is None)


def test_the_same_bytes_however_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    run("res", "-a", "--objects", "one.csv")
    run("--objects", "two.csv", "--jobs", "2")
    monkeypatch.setattr("evaltex_cli.evaluation.evaluate.BATCH_OBJECTS", 3)
    run("--objects", "many.csv")
    assert len({Path(f"{name}.csv").read_bytes() for name in ("one", "two", "many")}) == 1


def test_only_csv_is_written() -> None:
    assert "--objects writes CSV" in run("--objects", "objects.parquet", status=2)
