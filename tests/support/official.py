"""The official figures of the protocols, where the shared data sets are here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"


LINES = "word+line"


def figures(protocol: str, of_lines: bool = False) -> list[Any]:
    """Every entry of the official figures of a protocol, of words or of words
    and lines: inputs, parameters, scores.
    """
    path = DATA / "figures.json"
    if not path.is_file():
        return [
            pytest.param(
                "", "", {}, {}, marks=pytest.mark.skip(reason="the official figures are not here")
            )
        ]
    entries = []
    for inputs, runs in json.loads(path.read_text(encoding="utf-8")).items():
        for title, expected in runs.items():
            name, *settings = title.split(" ")
            if name != protocol:
                continue
            if (LINES in settings) != of_lines:
                continue
            parameters = dict(setting.split("=") for setting in settings if "=" in setting)
            gt, det = inputs.split(" | ")
            entries.append(pytest.param(gt, det, parameters, expected, id=f"{det} {title}"))
    return entries
