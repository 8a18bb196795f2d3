"""A result is read as its .json says; what is damaged is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run

from evaltex_cli import InputError
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import json_of
from evaltex_cli.tables.record import plain

WORDS = Path(__file__).parents[2] / "examples" / "words"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("result")
    extras = ["--ci", "--resamples", "5", "--fail-if", "iou.recall<1e-6", "--protocol", "all"]
    run(str(WORDS / "gt.txt"), str(WORDS / "det.txt"), str(folder), "-a", "--quiet", *extras)
    return folder


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_result_is_read_as_its_json_is(result: Path, protocol: str) -> None:
    path = result / f"{protocol}.json"
    document, whole = reader.read(path), json.loads(path.read_bytes())
    known = plain(document) | {"images": list(map(json_of, document.images))}
    known["inputs"] = {"gt": known["gt"], "det": known["det"]}
    head = {key: whole.pop(key) for key in ("schema", "tool", "version")}
    assert (head["schema"], head["tool"]) == (1, "evaltex")
    assert {"intervals", "bootstrap"} <= whole.keys()
    assert json.loads(json.dumps({key: known[key] for key in whole})) == whole
    table = document.table
    assert list(table.rows.names) == [image["name"] for image in whole["images"]]
    assert sum(table.counts.tolist()[0][:-2]) <= len(whole["images"][0]["objects"])
    assert table.objects.ids.tolist() == [
        one["id"] for image in whole["images"] for one in image["objects"]
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("}", "", "is not JSON"),
        ("{", "[" * 100_000, "is not JSON"),
        ('"tool": "evaltex"', '"tool": "another"', "is not a result of evaltex"),
        ('"schema": 1', '"schema": 9', "has schema '9'"),
        ('"schema": 1', '"schema": 1, "kind": "ranking"', "of the kind 'ranking'"),
        ('"signature"', '"x"', "missing required field `signature`"),
        ('"name":', '"x":', "'name' is missing"),
        ('"det":', '"x":', "missing required field `det`"),
        ('"dont_care":', '"dont_care":"1","x":', "Expected `int`, got `str` - at `$.gt.dont_care"),
        ('"match":"', '"match":"x', "damaged"),
    ],
)
def test_what_is_damaged_is_refused(
    result: Path, old: str, new: str, message: str, tmp_path: Path
) -> None:
    path, text = tmp_path / "evaltex.json", (result / "evaltex.json").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        reader.read(path)
    assert str(path) in str(raised.value)
