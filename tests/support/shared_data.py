"""The shared data sets, if they are next to the repository, and the official figures of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evaltex_cli import evaluate

SHARED = Path(__file__).parents[3] / "shared"
DATA = SHARED / "data"
LINES = "word+line"


def needs(path: str) -> pytest.MarkDecorator:
    """Skip a test if a file or folder of the shared data is missing."""
    return pytest.mark.skipif(not (SHARED / path).exists(), reason=f"no ../shared/{path}")


needs_data = needs("data")


@cache
def content(path: str) -> Any:
    """What a JSON file of the shared data contains; an empty dictionary if it is missing."""
    file = DATA / path
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def cases_or_skipped(cases: list[Any], width: int) -> list[Any]:
    """The cases of a test; if there are none, one of so many values that is skipped."""
    return cases or [pytest.param(*[{}] * width, marks=needs("data"))]


def figures(protocol: str, of_lines: bool = False) -> list[Any]:
    """Every entry of the official figures of a protocol, of words or of words
    and lines: inputs, parameters, scores.
    """
    entries = []
    for inputs, runs in content("figures.json").items():
        for title, expected in runs.items():
            name, *settings = title.split(" ")
            if name != protocol or (LINES in settings) != of_lines:
                continue
            parameters = dict(setting.split("=") for setting in settings if "=" in setting)
            gt, det = inputs.split(" | ")
            entries.append(pytest.param(gt, det, parameters, expected, id=f"{det} {title}"))
    return cases_or_skipped(entries, 4)


def assert_official(
    gt: str, det: str, protocol: str, parameters: dict[str, str], expected: dict[str, float]
) -> None:
    """Each official figure is our score, to 1e-9."""
    scores = evaluate(DATA / gt, DATA / det, protocol, **parameters).scores
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-9, rel=0)
