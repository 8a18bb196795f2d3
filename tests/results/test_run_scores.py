"""scores.json and scores.csv: all protocols of a run, and no result of any of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_inputs import write_inputs
from command_line import run

from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.results import reader

GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_1\n1,"a",10,20,15,40\nimg_2\n1,"",0,0,10,10\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_inputs(tmp_path, monkeypatch, GT, DET)


def document(place: str) -> dict:
    return json.loads(Path(place, "scores.json").read_text())


def rows(place: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(place, "scores.csv").read_text().splitlines()))


def test_of_all_protocols_what_their_own_results_say() -> None:
    run("gt.txt", "det.txt", "res", "--protocol", "all", "--ci", "0.5", "--quiet")
    document_, table = document("res"), rows("res")
    assert (document_["schema"], document_["kind"]) == (2, "scores")
    names = sorted(path.stem for path in reader.files(Path("res")))
    assert sorted(row["protocol"] for row in table) == names
    assert [one["protocol"] for one in document_["protocols"]] == [row["protocol"] for row in table]
    for entry, row in zip(document_["protocols"], table, strict=True):
        own = json.loads(Path("res", f"{row['protocol']}.json").read_text())
        assert entry == {key: own[key] for key in own if key in entry}
        headline = document_["headline"][row["protocol"]]
        assert len(headline) >= 3
        assert headline == {name: own["scores"][name] for name in headline}
        assert {"scores", "signature", "intervals", "totals"} <= entry.keys()
        assert row["signature"] == own["signature"]
        for name in scalars(own["scores"]):
            assert (None if row[name] == "" else float(row[name])) == own["scores"][name], (
                row["protocol"],
                name,
            )
        others = [name for name, value in row.items() if value and name not in own["scores"]]
        assert all(
            name in ("protocol", "signature") or name.endswith(("_low", "_high")) for name in others
        )
        for name, ends in own["intervals"].items():
            shown = [row[f"{name}_{end}"] for end in ("low", "high")]
            assert shown == (["", ""] if ends is None else list(map(str, ends)))


def test_the_same_bytes_as_printed_and_by_any_number_of_processes() -> None:
    chosen = ("--protocol", "iou,cleval,evaltex")
    run("gt.txt", "det.txt", "one", *chosen)
    run("gt.txt", "det.txt", "two", *chosen, "--jobs", "2")
    for form in ("csv", "json"):
        file = f"scores.{form}"
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes()
        printed = run("gt.txt", "det.txt", *chosen, "--format", form).stdout
        stored = Path("one", file).read_text()
        if form == "json":
            printed, stored = json.loads(printed), json.loads(stored)
            assert {"scores.json", "scores.csv", "iou.json", "iou.txt"} <= {*stored.pop("files")}
        assert printed == stored
