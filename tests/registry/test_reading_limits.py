"""What is made to fill memory or time is refused in one message: bombs of six kinds. Crowds are read."""

from __future__ import annotations

import gzip
import io
import json
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from reading import read

from evaltex_cli.formats import base, files
from evaltex_cli.formats.names import MAX_NAME_BYTES

pytestmark = pytest.mark.usefixtures("here")

MOST_BYTES, MOST_MEMORY, MOST_SECONDS = 10 << 20, 2 << 30, 60
GT = 'img_1\n1000,1000\n1,1,"a",f,10,10,50,20\n'
DET = 'img_1\n1,"a",10,10,50,20\n'
BLOCK = b"\0" * (1 << 20)


def xml(declared: str, content: str = "&a;", attribute: str = "") -> str:
    return f'<!DOCTYPE annotation [{declared}]><annotation a="{attribute}">{content}</annotation>'


def png(width: int, height: int) -> bytes:
    """A picture of one colour."""
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(b"\0" * (width + 1)) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def mat(megabytes: int) -> bytes:
    """A MATLAB 5 file of one packed matrix, ``polygt``, of zeros."""
    count = megabytes << 17
    flags = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, 1, count)
    head = flags + struct.pack("<II", 1, 6) + b"polygt\0\0"
    matrix = (
        struct.pack("<II", 14, len(head) + 8 + 8 * count) + head + struct.pack("<II", 9, 8 * count)
    )
    packer = zlib.compressobj(9)
    packed = packer.compress(matrix)
    packed += b"".join(packer.compress(BLOCK) for _ in range(megabytes)) + packer.flush()
    name = b"MATLAB 5.0 MAT-file".ljust(116) + b"\0" * 8 + struct.pack("<H2s", 0x0100, b"IM")
    return name + struct.pack("<II", 15, len(packed)) + packed


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
LINES = b"1,1,9,1,9,9,1,9,a\n" * 58_000
BOMBS: dict[str, tuple[str, Callable[[], bytes | str], str]] = {
    "zip-one": ("det.zip", lambda: archive(1, 300), "bytes, unpacked; unpack it"),
    "zip-many": (
        "det.zip",
        lambda: archive(20, 15, b"\n" * (1 << 20)),
        "bytes, unpacked; unpack it",
    ),
    "zip-lines": ("det.zip", lambda: archive(20, 15, LINES), "bytes, unpacked; unpack it"),
    "gzip": ("det.json.gz", lambda: gzip.compress(b"[]," * (100 << 20)), "unpacked; unpack it"),
    "json-lists": ("det.json", lambda: "[" * 10_000_000, "maximum recursion depth exceeded"),
    "xml-laughs": ("det.xml", lambda: xml(LAUGHS, "&a11;"), "entit"),
    "xml-text": ("det.xml", lambda: xml(LONG, "&a;" * 100_000), "entit"),
    "xml-attribute": ("det.xml", lambda: xml(LONG, "", "&a;" * 100_000), "entit"),
    "xml-file": ("det.xml", lambda: xml('<!ENTITY a SYSTEM "file:///dev/zero">'), "entities of a"),
    "xml-depth": ("det.xml", lambda: "<annotation>" + "<a>" * 3_000_000, "Excessive depth"),
    "picture": (
        "pictures/img_1.png",
        lambda: png(20_001, 5_000),
        "(5000,20001); expected at most 1",
    ),
    "mat": ("det.mat", lambda: mat(300), "MATLAB 5, at most 4 MB unpacked"),
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
    path.parent.mkdir(exist_ok=True)
    data = content()
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    assert path.stat().st_size <= MOST_BYTES
    Path("gt.txt").write_text(GT.replace("1000,1000", "5000,20001"))
    Path("of_picture.txt").write_text(DET)
    of_pictures = ["of_picture.txt", "res", "pictures", "pictures"]
    arguments = of_pictures if file.startswith("pictures") else [file]
    command = [sys.executable, "-m", "evaltex_cli", "gt.txt", *arguments, "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], stdout=subprocess.PIPE, text=True, check=True
    )
    status, seconds, kilobytes, *words = done.stdout.split()
    text = " ".join(words)
    assert status == "2", text
    assert message in text and "Traceback" not in text and len(text) < 2000
    assert float(seconds) < MOST_SECONDS
    assert int(kilobytes) << 10 < MOST_MEMORY


def crowd(kind: str, count: int) -> str:
    boxes = [(k % 999, k // 999, k % 999 + 5, k // 999 + 5) for k in range(count)]
    if kind == "page":
        words = "".join(
            f'<Word id="w{k}"><Coords points="{x0},{y0} {x1},{y0} {x1},{y1}"/></Word>'
            for k, (x0, y0, x1, y1) in enumerate(boxes)
        )
        line = f"<TextRegion><TextLine>{words}</TextLine></TextRegion>"
        return f'<PcGts><Page imageWidth="999" imageHeight="999">{line}</Page></PcGts>'
    quads = [[[x0, y0], [x1, y0], [x1, y1], [x0, y1]] for x0, y0, x1, y1 in boxes]
    return json.dumps([[quad, "a", 0.5] for quad in quads])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["page", "easyocr"])
def test_a_crowd_is_no_bomb(kind: str) -> None:
    path = Path("det.xml" if kind == "page" else "det.json")
    path.write_text(crowd(kind, 200_000))
    found = read(path, "det")
    assert (found.source.format, found.faults, found.objects.count) == (kind, [], 200_000)


def test_limits_of_names_and_vertices() -> None:
    assert files.MAX_BYTES == 2 << 30
    assert base.MAX_VERTICES == 10_000
    for length in (MAX_NAME_BYTES, MAX_NAME_BYTES + 1):
        Path("gt.txt").write_text(GT.replace("img_1", "a" * length))
        image = {"id": "a" * length, "width": 9, "height": 9}
        document = {"images": [image], "annotations": [], "categories": []}
        Path("gt.json").write_text(json.dumps(document))
        with zipfile.ZipFile("gt.zip", "w") as packed:
            packed.writestr(f"{'a' * length}.txt", "0,0,9,9,a\n")
        for name in ("gt.txt", "gt.json", "gt.zip"):
            assert read(Path(name)).fault_count == (length > MAX_NAME_BYTES), name
    angles = np.linspace(0, 2 * np.pi, base.MAX_VERTICES, endpoint=False)
    ring = np.stack([500 + 400 * np.cos(angles), 500 + 400 * np.sin(angles)], axis=1).ravel()
    Path("det.txt").write_text(f'{DET}2,"",{",".join(map(str, ring.tolist()))}\n')
    assert read(Path("det.txt"), "det").faults == []
    for count, is_refused in ((20, False), (100, True)):
        Path("det.txt").write_text(star(count, 2))
        found = read(Path("det.txt"), "det")
        assert (found.fault_count, found.objects.count) == ((2, 0) if is_refused else (0, 2))
