"""Result files as JSON, against their schema."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import scenes
from page_sample import DET, GT, run

from evaltex_cli import save_results
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import result_document, writer

SCHEMA = json.loads(
    Path(result_document.__file__).with_name("evaltex.schema.json").read_text(encoding="utf-8")
)


def document(evaluation: Evaluation) -> dict[str, Any]:
    text = writer.document(evaluation)
    found: dict[str, Any] = json.loads(
        text, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
    )
    return found


def faults(instance: dict[str, Any]) -> list[str]:
    return [
        error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(instance)
    ]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == writer.SCHEMA


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("polygons", [False, True], ids=["boxes", "polygons"])
def test_json_is_what_the_schema_says(tmp_path: Path, protocol: str, polygons: bool) -> None:
    """And its numbers are the library's, to the last digit."""
    found = run(tmp_path, *scenes.random_scene(3, polygons=polygons), protocol)
    read = document(found)
    assert faults(read) == []
    assert list(read) == SCHEMA["required"]
    assert read["scores"] == found.scores
    assert read["totals"] == found.totals
    assert [image["scores"] for image in read["images"]] == [image.scores for image in found.images]
    assert read["images"] == list(map(result_document.json_of, found.images))
    assert [len(image["objects"]) for image in read["images"]] != [0] * len(read["images"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_json_of_nothing(tmp_path: Path, protocol: str) -> None:
    """An image without objects, detections without an image."""
    found = run(tmp_path, "empty\n9,9\n", "", protocol)
    assert faults(document(found)) == []
    assert document(found)["images"][0]["objects"] == []


def test_the_schema_refuses(tmp_path: Path) -> None:
    """Else the tests above would not mean much."""
    made = document(run(tmp_path, GT, DET))
    for change in ({"schema": 2}, {"images": None}, {"scores": {"recall": 1.0}}, {"extra": 1}):
        assert faults(made | change) != []


def test_names_that_are_not_unicode_do_not_break_a_result(tmp_path: Path) -> None:
    found = run(tmp_path, GT, DET)
    gt = replace(found.gt, file=os.fsdecode(b"gt\xff.txt"))
    save_results(replace(found, gt=gt, warnings=[os.fsdecode(b"\xff")], images=[]), tmp_path)
    read = json.loads((tmp_path / "evaltex.json").read_bytes())
    assert (read["inputs"]["gt"]["file"], read["warnings"]) == ("gt?.txt", ["?"])
    assert (list(read), read["images"]) == (SCHEMA["required"], [])
    assert str(tmp_path) not in (tmp_path / "evaltex.json").read_text()
