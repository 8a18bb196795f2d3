"""The shared data sets, if they are next to the repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[3] / "shared"
DATA = SHARED / "data"


def needs(path: str) -> pytest.MarkDecorator:
    """Skip a test if a file or folder of the shared data is missing."""
    return pytest.mark.skipif(not (SHARED / path).exists(), reason=f"no ../shared/{path}")


needs_data = needs("data")


@cache
def content(path: str) -> Any:
    """What a JSON file of the shared data contains; an empty dictionary if it is missing."""
    file = DATA / path
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
