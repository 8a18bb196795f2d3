"""Memory of the conversion of one image of very many objects to every format, and of toys of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import Server
from memory_limits import FIXED

from evaltex_cli.conversion import WRITERS
from evaltex_cli.conversion.base import load

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage, pytest.mark.usefixtures("here")]
OBJECTS = 200_000


def write_objects(corners: bool) -> int:
    """Write a ground truth of one image; return its bytes. Five objects that follow each other are
    of one region if they are polygons."""
    lines = ["img_1\n6000,6000\n"]
    for k in range(OBJECTS):
        x, y = k % 450 * 13, k // 450 * 13
        if corners:
            ring = f"{x}.5,{y},{x + 10},{y + 1},{x + 9},{y + 9},{x},{y + 8}"
            lines.append(f'{k + 1},{k // 5 * 5 + 1},"word",f,{ring}\n')
        else:
            lines.append(f'{k + 1},{k + 1},"w",f,{x},{y},10,9\n')
    return Path("gt.txt").write_text("".join(lines))


@pytest.mark.parametrize(
    ("name", "corners"),
    [
        *((name, False) for name in WRITERS),
        *((name, True) for name in ("labelme", "page")),  # nearest to the limit
    ],
)
def test_memory_of_the_conversion_of_very_many_objects(
    server: Server, name: str, corners: bool
) -> None:
    size = write_objects(corners)
    target = f"target{load(name).ending}"
    status, peak, _, said = server.run("convert", "gt.txt", target, "--kind", "gt", "--to", name)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


@pytest.mark.parametrize("layout", ["txt", "zip"])
def test_memory_of_toys_of_very_many_objects(server: Server, layout: str) -> None:
    """Four quadrilaterals made of each one take somewhat more."""
    size = write_objects(corners=False)
    sets = ("--set", "split4", "--set", "e2e_replace1_rand")
    status, peak, _, said = server.run("toys", "gt.txt", "toys", "--layout", layout, *sets)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20
