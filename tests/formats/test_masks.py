"""Label pictures: how each is found, every kind of pixels, and whether the labels are the objects'."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from label_pictures import (
    HEIGHT,
    LABELS,
    WIDTH,
    Writer,
    assert_reads,
    only_fault,
    painted,
    palette,
    read,
    with_pillow,
    with_tifffile,
)
from PIL import Image

GREY = with_pillow("u1")


# Finding pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".tif", ".tiff", ".png", ".bmp", ".gif", ".PNG", ".TIF"])
def test_the_picture_of_an_image(tmp_path: Path, suffix: str) -> None:
    """The image's name with a suffix, or the name itself where it has one; in folders too."""
    (tmp_path / "a").mkdir()
    GREY(tmp_path / f"a/img.v2{suffix}", LABELS)
    assert_reads(tmp_path, LABELS, "a/img.v2")
    assert_reads(tmp_path, LABELS, f"a/img.v2{suffix}")


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("img", (), "no picture of image 'img'; expected a file of that name, one of .tif"),
        (
            "img",
            ("img.png", "img.tif"),
            "2 pictures of image 'img': img.tif, img.png; expected one",
        ),
    ],
)
def test_no_picture(tmp_path: Path, name: str, files: tuple[str, ...], message: str) -> None:
    (tmp_path / "in").mkdir()
    for file in files:
        GREY(tmp_path / "in" / file, LABELS)
    runs, [fault] = read(tmp_path / "in", [name], [[1, 2, 3]])
    assert message in fault
    assert len(runs.start) == 0


# Sizes and limits ---------------------------------------------------------------------------------


def test_size(tmp_path: Path) -> None:
    """Both are reported as in the .txt: height,width. A format without sizes takes any."""
    GREY(tmp_path / "img.png", LABELS)
    fault = only_fault(tmp_path, [1, 2, 3], size=(WIDTH, HEIGHT))
    assert f"height,width {HEIGHT},{WIDTH}; expected {WIDTH},{HEIGHT}" in fault
    assert read(tmp_path, ["img"], [[1, 2, 3]], size=(0, 0))[1] == []


def chunk(name: bytes, content: bytes) -> bytes:
    """A chunk of a PNG."""
    crc = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + crc


def png(width: int, height: int, bits: int, data: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def bmp(width: int, height: int, bits: int, content: bytes) -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(content), 0, 0, 54) + header + content


@pytest.mark.parametrize("side", [60_000, 2**31 - 1])
def test_most_pixels(tmp_path: Path, side: int) -> None:
    """The header decides, before anything is decoded."""
    path = tmp_path / "img.png"
    path.write_bytes(png(side, side, 8, zlib.compress(bytes(1 << 20))))
    fault = only_fault(tmp_path, [1], size=(side, side), max_pixels=100_000_000)
    assert side > 60_000 or f"{side**2} pixels ({side},{side}); expected at most 100000000" in fault
    path.unlink()
    (tmp_path / "img.bmp").write_bytes(bmp(side, side, 8, b""))
    fault = only_fault(tmp_path, [1], size=(side, side), max_pixels=100_000_000)
    assert f"{side**2} pixels" in fault and "--max-pixels" in fault


# Labels and objects -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "ids", "message"),
    [
        (LABELS, [3, 1], "labels '2' without an object of this ID; expected 0 and the IDs"),
        (np.arange(120).reshape(8, 15), [], "labels '1', '2', '3' and 116 more without"),
        (LABELS, [1, 0, 2, 7, -5, 3], "no pixel of the IDs '-5', '0', '7'; expected"),
    ],
)
def test_labels_that_are_not_the_objects(
    tmp_path: Path, labels: np.ndarray, ids: list[int], message: str
) -> None:
    GREY(tmp_path / "img.png", labels)
    assert message in only_fault(tmp_path, ids)


def test_other_pictures_are_still_checked(tmp_path: Path) -> None:
    """One fault each; the good one in the middle has its runs, at its objects' places."""
    GREY(tmp_path / "a.png", LABELS * 2)
    GREY(tmp_path / "b.png", LABELS)
    runs, [a, c] = read(tmp_path, ["a", "b", "c"], [[1, 2], [3, 2, 1], [1]])
    assert "a.png: " in a and "no picture of image 'c'" in c
    assert (painted(runs, [0, 0, 3, 2, 1, 0]) == LABELS).all()
    assert np.bincount(runs.owner, minlength=6).tolist() == [0, 0, 4, 4, 4, 0]


# Pixels -------------------------------------------------------------------------------------------


EXACT: dict[str, tuple[str, Writer, int]] = {
    "PNG 16": (".png", with_pillow("u2", 20_000), 20_000),
    "BMP 8": (".bmp", with_pillow("u1", 80), 80),
    "GIF palette": (".gif", palette(), 1),
    "TIFF 32": (".tif", with_pillow("i4", 700_000_000), 700_000_000),
    "TIFF LZW 16": (".tif", with_pillow("u2", 20_000, compression="tiff_lzw"), 20_000),
    "TIFF tiled": (".tif", with_tifffile("<u2", tile=(16, 16)), 1),
    "BigTIFF": (".tif", with_tifffile("<u2", bigtiff=True), 1),
    "TIFF big endian ZIP": (".tif", with_tifffile(">i4", byteorder=">", compression="zlib"), 1),
}


@pytest.mark.parametrize("kind", EXACT)
def test_pixels_of_one_channel(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoded in this thread alone, as one job promises."""
    monkeypatch.setattr("threading.Thread.start", None)
    suffix, write, factor = EXACT[kind]
    write(tmp_path / f"img{suffix}", LABELS)
    assert_reads(tmp_path, LABELS * factor)


def colours(labels: np.ndarray) -> np.ndarray:
    return np.stack([labels & 255, labels >> 8 & 255, labels >> 16], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif"])
def test_bilevel_and_rgb(tmp_path: Path, suffix: str) -> None:
    """Foreground is label 1; R + 256 G + 65536 B. A grey picture in RGB is told."""
    Image.fromarray(LABELS > 0).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, (LABELS > 0).astype(np.int64))
    Image.fromarray(colours(LABELS * 70_001)).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, LABELS * 70_001)
    Image.fromarray(LABELS.astype(np.uint8)).convert("RGB").save(tmp_path / f"img{suffix}")
    fault = only_fault(tmp_path, [1, 2, 3])
    assert "labels '65793', '131586', '197379' without an object" in fault and "not as RGB" in fault


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_alpha_must_be_opaque(tmp_path: Path, mode: str) -> None:
    values = colours(LABELS) if mode == "RGBA" else LABELS.astype(np.uint8)
    image = Image.fromarray(values).convert(mode)
    image.save(tmp_path / "img.png")
    assert_reads(tmp_path, LABELS)
    alpha = np.full(LABELS.shape, 255, np.uint8)
    alpha[3, 4] = 254
    image.putalpha(Image.fromarray(alpha))
    image.save(tmp_path / "img.png")
    assert "transparent pixels; expected" in only_fault(tmp_path, [1, 2, 3])


def frames(path: Path) -> None:
    one, two = (Image.fromarray((LABELS * k).astype(np.uint8)) for k in (1, 2))
    one.save(path, save_all=True, append_images=[two])


def pillow_of(values: np.ndarray) -> Callable[[Path], None]:
    return lambda path: Image.fromarray(values.astype(np.float32)).save(path)


def tiff_of(values: np.ndarray, **options: Any) -> Callable[[Path], None]:
    return lambda path: tifffile.imwrite(path, values, **options)


RGB, GREYS = colours(LABELS), LABELS.astype(np.uint8)
TURNED: dict[str, Any] = {"photometric": "minisblack", "extratags": [(274, 3, 1, 6, True)]}
FRAMES = "2 pages or frames; expected a picture of one"
BMP_16 = bmp(WIDTH, HEIGHT, 16, bytes(HEIGHT * 32))
CMYK = Image.new("CMYK", (WIDTH, HEIGHT))
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "1.tif": (tiff_of(RGB.astype("u2"), photometric="rgb"), "RGB of 3 x 16 bits"),
    "3.bmp": (lambda path: path.write_bytes(BMP_16), "RGB pixels stored as .*BGR;15"),
    "4.tif": (tiff_of(GREYS, photometric="miniswhite"), "MINISWHITE of 1 x 8 bits"),
    "5.tif": (CMYK.save, "SEPARATED of 4 x 8 bits"),
    "6.tif": (tiff_of(LABELS.astype("u2"), **TURNED), "orientation 6"),
    "9.tif": (pillow_of(LABELS / 2), "value 0.5; expected"),
    "11.tif": (frames, FRAMES),
    "15.tif": (lambda path: path.write_bytes(b"II*\0" + bytes(4)), r"cannot be read \("),
    "16.png": (lambda path: path.mkdir(), r"cannot be read \(Is a directory\)"),
    "18.gif": (
        lambda path: (GREY(path, LABELS), path.write_bytes(path.read_bytes()[:-40])),
        "cannot be read",
    ),
}


@pytest.mark.parametrize("file", REFUSED)
def test_pictures_that_are_no_labels(tmp_path: Path, file: str) -> None:
    write, message = REFUSED[file]
    path = tmp_path / f"img.{file.partition('.')[2]}"
    write(path)
    assert re.search(message, only_fault(tmp_path, [1, 2, 3]))


@pytest.mark.parametrize(
    ("suffix", "write"), [(".png", GREY), (".tif", with_pillow("u2")), (".gif", palette())]
)
def test_any_damage_ends_in_a_fault_or_is_harmless(
    tmp_path: Path, suffix: str, write: Writer
) -> None:
    """Whatever byte is wrong: no exception, no warning; a picture without runs has a fault."""
    rng, path = np.random.default_rng(0), tmp_path / f"img{suffix}"
    write(path, LABELS)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    for _ in range(60):
        damaged = whole.copy()
        damaged[rng.integers(0, min(len(whole), 300), 2)] = rng.integers(0, 256, 2)
        path.write_bytes(damaged.tobytes())
        runs, faults = read(tmp_path, ["img"], [[1, 2, 3]])
        assert bool(faults) == (len(runs.start) == 0)
