"""Every object of every format has a place: its file and line, or its file and the way to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reading import read

from evaltex_cli.formats import FORMATS

SAMPLES = Path(__file__).parent.parent / "samples"
IN_DOCUMENT = r"[\w.\[\]-]*(?:\[\d+\]|\.\d+)[\w.\[\]-]*"
"""``annotations[3]``, or ``anns.3`` where annotations are by their IDs."""


@pytest.mark.parametrize("name", FORMATS)
def test_objects_have_places(name: str) -> None:
    (first, *others) = sorted((SAMPLES / name).iterdir())
    source = read(first.parent if others else first, "gt", name).source
    places = [source.location(row) for row in range(source.objects.count)]
    assert places and len(set(places)) == len(places)
    for file, line, inside in places:
        lines = len(Path(file).read_bytes().splitlines())
        assert re.fullmatch(IN_DOCUMENT, inside) if line is None else 1 <= line <= lines
