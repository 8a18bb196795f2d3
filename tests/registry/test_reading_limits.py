"""What is made to fill memory or time is refused in one message: bombs of several kinds."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reading import read

from evaltex_cli.formats import base, files
from evaltex_cli.formats.names import MAX_NAME

pytestmark = pytest.mark.usefixtures("here")

MOST_BYTES, MOST_MEMORY, MOST_SECONDS = 10 << 20, 2 << 30, 60
GT = 'img_1\n1000,1000\n1,1,"a",f,10,10,50,20\n'
DET = 'img_1\n1,"a",10,10,50,20\n'
BLOCK = b"\0" * (1 << 20)


def xml(declared: str, content: str = "&a;", attribute: str = "") -> str:
    return f'<!DOCTYPE annotation [{declared}]><annotation a="{attribute}">{content}</annotation>'


def star(count: int, objects: int = 1) -> str:
    """Polygons of random vertices, which cross themselves everywhere."""
    points = np.random.default_rng(0).uniform(0, 999, (objects, 2 * count)).round(1)
    return "img_1\n" + "".join(
        f'{k},"a",{",".join(map(str, one))}\n' for k, one in enumerate(points.tolist(), 1)
    )


def archive(entries: int, megabytes: int, block: bytes = BLOCK) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for k in range(entries):
            packed.writestr(f"gt_{k}.txt", block * megabytes)
    return data.getvalue()


LAUGHS = '<!ENTITY a0 "lol">' + "".join(
    f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12)
)
LONG = f'<!ENTITY a "{"a" * 20_000}">'
BOMBS: dict[str, tuple[str, Callable[[], bytes | str], str]] = {
    "zip-one": ("det.zip", lambda: archive(1, 300), "bytes, unpacked; unpack it"),
    "zip-many": (
        "det.zip",
        lambda: archive(20, 15, b"\n" * (1 << 20)),
        "bytes, unpacked; unpack it",
    ),
    "gzip": ("det.json.gz", lambda: gzip.compress(b"[]," * (100 << 20)), "unpacked; unpack it"),
    "json-lists": ("det.json", lambda: "[" * 10_000_000, "maximum recursion depth exceeded"),
    "xml-laughs": ("det.xml", lambda: xml(LAUGHS, "&a11;"), "entit"),
    "xml-attribute": ("det.xml", lambda: xml(LONG, "", "&a;" * 100_000), "entit"),
    "xml-depth": ("det.xml", lambda: "<annotation>" + "<a>" * 3_000_000, "Excessive depth"),
    "vertices": ("det.txt", lambda: star(800_000), "det.txt:2: a polygon of 800000 vertices"),
    "crossings": ("det.txt", lambda: star(10_000, 20), "crosses itself more than 500 times"),
}


MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, done.stdout)
"""
"""Runs a command in a process of its own: what a child of this one has used begins with what this
one has."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_one_message(name: str) -> None:
    file, content, message = BOMBS[name]
    path = Path(file)
    data = content()
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    assert path.stat().st_size <= MOST_BYTES
    Path("gt.txt").write_text(GT)
    command = [sys.executable, "-m", "evaltex_cli", "gt.txt", file, "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], stdout=subprocess.PIPE, text=True, check=True
    )
    status, seconds, kilobytes, *words = done.stdout.split()
    text = " ".join(words)
    assert status == "2", text
    assert message in text and "Traceback" not in text and len(text) < 2000
    assert float(seconds) < MOST_SECONDS
    assert int(kilobytes) << 10 < MOST_MEMORY


def test_limits_of_names_and_vertices() -> None:
    assert files.MAX_BYTES == 2 << 30
    assert base.MAX_VERTICES == 10_000
    for length in (MAX_NAME, MAX_NAME + 1):
        Path("gt.txt").write_text(GT.replace("img_1", "a" * length))
        image = {"id": "a" * length, "width": 9, "height": 9}
        document = {"images": [image], "annotations": [], "categories": []}
        Path("gt.json").write_text(json.dumps(document))
        with zipfile.ZipFile("gt.zip", "w") as packed:
            packed.writestr(f"{'a' * length}.txt", "0,0,9,9,a\n")
        for name in ("gt.txt", "gt.json", "gt.zip"):
            assert read(Path(name)).fault_count == (length > MAX_NAME), name
    angles = np.linspace(0, 2 * np.pi, base.MAX_VERTICES, endpoint=False)
    ring = np.stack([500 + 400 * np.cos(angles), 500 + 400 * np.sin(angles)], axis=1).ravel()
    Path("det.txt").write_text(f'{DET}2,"",{",".join(map(str, ring.tolist()))}\n')
    assert read(Path("det.txt"), "det").faults == []
    for count, is_refused in ((20, False), (100, True)):
        Path("det.txt").write_text(star(count, 2))
        found = read(Path("det.txt"), "det")
        assert (found.fault_count, found.objects.count) == ((2, 0) if is_refused else (0, 2))
