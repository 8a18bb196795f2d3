"""A result is read whatever the layout of its .json; what is damaged is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evaltex_cli import InputError
from evaltex_cli.cli import main
from evaltex_cli.evaluation.evaluation import ImageResult
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument, json_of

WORDS = Path(__file__).parents[2] / "examples" / "words"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("result")
    arguments = [
        str(WORDS / "gt.txt"),
        str(WORDS / "det.txt"),
        str(folder),
        "-a",
        "--protocol",
        "all",
        "--quiet",
    ]
    extras = ["--ci", "--resamples", "5", "--fail-if", "iou.recall<1e-6"]
    assert CliRunner().invoke(main, [*arguments, *extras]).exit_code == 0
    return folder


def as_json(image: ImageResult) -> Any:
    return json.loads(json.dumps(json_of(image)))


def assert_is(document: ResultDocument, whole: dict[str, Any]) -> None:
    """The record says what the JSON does."""
    assert list(map(as_json, document.images)) == whole["images"]
    assert {"gt": asdict(document.gt), "det": asdict(document.det)} == whole["inputs"]
    for name in ("protocol", "signature", "parameters", "totals", "scores", "warnings"):
        assert getattr(document, name) == whole[name]
    assert json.loads(json.dumps(document.extras.members())) == {
        name: value
        for name, value in whole.items()
        if name in ("intervals", "bootstrap", "gates", "merged_from")
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_result_is_read_as_its_json_is(result: Path, protocol: str) -> None:
    path = result / f"{protocol}.json"
    document, whole = reader.read(path), json.loads(path.read_bytes())
    table = document.table
    assert_is(document, whole)
    assert list(table.rows.names) == [image["name"] for image in whole["images"]]
    assert sum(table.counts.tolist()[0][:-2]) <= len(whole["images"][0]["objects"])
    assert table.objects.ids.tolist() == [
        one["id"] for image in whole["images"] for one in image["objects"]
    ]


def test_any_layout_is_read(result: Path, tmp_path: Path) -> None:
    whole = json.loads((result / "evaltex.json").read_bytes())
    path = tmp_path / "evaltex.json"
    path.write_text("\t" + json.dumps(whole, indent="\t", sort_keys=True) + "\n")
    assert reader.is_document(result / "evaltex.json")
    assert_is(reader.read(path), whole)


def lines_of(result: Path) -> list[str]:
    return (result / "evaltex.json").read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-3], "is not JSON"),
        (lambda lines: ["[" * 100_000], "is not JSON"),
        (lambda lines: [], "is not JSON"),
        (lambda lines: ["[\n", *lines, "]\n"], "is not a result of evaltex"),
        (lambda lines: [*lines[:1], *lines[2:]], "has schema 'None'"),
        (lambda lines: [lines[0], '"kind": "ranking",\n', *lines[1:]], "of the kind 'ranking'"),
        (lambda lines: [line.replace("signature", "x") for line in lines], "'signature' is"),
        (lambda lines: [line.replace('"name":', '"x":') for line in lines], "'name' is missing"),
        (lambda lines: [line.replace('"det":', '"x":') for line in lines], "'det' is missing"),
        (lambda lines: [line.replace('"match":"', '"match":"x') for line in lines], "damaged"),
    ],
)
def test_what_is_damaged_is_refused(
    result: Path, damage: Callable[[list[str]], list[str]], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "evaltex.json"
    path.write_text("".join(damage(lines_of(result))), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        reader.read(path)
    assert str(path) in str(raised.value)
