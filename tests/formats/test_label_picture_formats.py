"""Label pictures of every pixel format, and formats that are refused."""

from __future__ import annotations

import struct
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
    palette,
    read,
    with_pillow,
    with_tifffile,
)
from PIL import Image


def grey_png(bits: int) -> Writer:
    """A PNG of 2 or 4 bits of grey, which Pillow does not write: one of a
    palette, its header changed.
    """

    def write(path: Path, labels: np.ndarray) -> None:
        import zlib

        packed = [
            int(
                "".join(f"{int(v):0{bits}b}" for v in row).ljust(-(-len(row) * bits // 8) * 8, "0"),
                2,
            )
            for row in labels
        ]
        rows = b"".join(
            b"\0" + value.to_bytes(-(-labels.shape[1] * bits // 8), "big") for value in packed
        )
        header = struct.pack(">IIBBBBB", labels.shape[1], labels.shape[0], bits, 0, 0, 0, 0)
        with path.open("wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
                file.write(
                    struct.pack(">I", len(data))
                    + kind
                    + data
                    + struct.pack(">I", zlib.crc32(kind + data))
                )

    return write


EXACT: dict[str, tuple[str, Writer, int]] = {
    "PNG 2": (".png", grey_png(2), 1),
    "PNG 4": (".png", grey_png(4), 1),
    "PNG 16": (".png", with_pillow("u2", 20_000), 20_000),
    "PNG palette 4": (".png", palette(bits=4), 1),
    "BMP 8": (".bmp", with_pillow("u1", 80), 80),
    "BMP palette": (".bmp", palette(), 1),
    "GIF palette": (".gif", palette(), 1),
    "TIFF 8": (".tif", with_pillow("u1", 80), 80),
    "TIFF 16": (".tiff", with_pillow("u2", 20_000), 20_000),
    "TIFF 32": (".tif", with_pillow("i4", 700_000_000), 700_000_000),
    "TIFF float": (".tif", with_pillow("f4", 5_000_000), 5_000_000),
    "TIFF palette": (".tif", palette(), 1),
    "TIFF LZW 16": (".tif", with_pillow("u2", 20_000, compression="tiff_lzw"), 20_000),
    "TIFF LZW 32": (".tif", with_pillow("i4", 700_000_000, compression="tiff_lzw"), 700_000_000),
    "TIFF PackBits": (".tif", with_pillow("u1", 80, compression="packbits"), 80),
    "TIFF 32, the largest label": (".tif", with_tifffile("<u4", 1_431_655_765), 1_431_655_765),
    "TIFF tiled": (".tif", with_tifffile("<u2", tile=(16, 16)), 1),
    "BigTIFF": (".tif", with_tifffile("<u2", bigtiff=True), 1),
    "TIFF big endian ZIP": (".tif", with_tifffile(">i4", byteorder=">", compression="zlib"), 1),
}


@pytest.mark.parametrize("kind", EXACT)
def test_pixel_formats(tmp_path: Path, kind: str) -> None:
    suffix, write, factor = EXACT[kind]
    write(tmp_path / f"img{suffix}", LABELS)
    assert_reads(tmp_path, LABELS * factor)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif"])
def test_bilevel(tmp_path: Path, suffix: str) -> None:
    """Foreground is label 1."""
    Image.fromarray(LABELS > 0).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, (LABELS > 0).astype(np.int64))


def colours(labels: np.ndarray) -> np.ndarray:
    return np.stack([labels & 255, labels >> 8 & 255, labels >> 16], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif"])
def test_rgb(tmp_path: Path, suffix: str) -> None:
    """R + 256 G + 65536 B."""
    Image.fromarray(colours(LABELS * 70_001)).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, LABELS * 70_001)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_alpha_must_be_opaque(tmp_path: Path, mode: str) -> None:
    image = Image.fromarray(colours(LABELS) if mode == "RGBA" else LABELS.astype(np.uint8)).convert(
        mode
    )
    image.save(tmp_path / "img.png")
    assert_reads(tmp_path, LABELS)
    alpha = np.full(LABELS.shape, 255, np.uint8)
    alpha[3, 4] = 254
    image.putalpha(Image.fromarray(alpha))
    image.save(tmp_path / "img.png")
    assert "transparent pixels; expected" in only_fault(tmp_path, [1, 2, 3])


def test_one_job_works_in_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_pillow("u1")(tmp_path / "img.png", LABELS)
    monkeypatch.setattr("threading.Thread.start", None)
    assert_reads(tmp_path, LABELS)


def frames(path: Path) -> None:
    one, two = (Image.fromarray((LABELS * k).astype(np.uint8)) for k in (1, 2))
    one.save(path, save_all=True, append_images=[two])


def rgb_tiff(path: Path, dtype: str, **options: Any) -> None:
    values = colours(LABELS).astype(dtype)
    planes = options.get("planarconfig") == "separate"
    values = np.moveaxis(values, -1, 0) if planes else values
    tifffile.imwrite(path, values, photometric="rgb", **options)


REFUSED: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "16-bit RGB": (".tif", lambda path: rgb_tiff(path, "u2"), "3 channels of 16 bits"),
    "planes": (
        ".tif",
        lambda path: rgb_tiff(path, "u1", planarconfig="separate"),
        "colours in planes",
    ),
    "5-bit BMP": (".bmp", lambda path: path.write_bytes(bmp16()), "colours of other than 8 bits"),
    "white is zero": (
        ".tif",
        lambda path: tifffile.imwrite(path, LABELS.astype(np.uint8), photometric="miniswhite"),
        "white-is-zero grey",
    ),
    "CMYK": (".tif", lambda path: Image.new("CMYK", (WIDTH, HEIGHT)).save(path), "other colours"),
    "turned": (
        ".tif",
        lambda path: tifffile.imwrite(
            path,
            LABELS.astype(np.uint16),
            photometric="minisblack",
            extratags=[(274, 3, 1, 6, True)],
        ),
        "orientation tag (6)",
    ),
    "complex": (
        ".tif",
        lambda path: tifffile.imwrite(path, LABELS.astype(np.complex64)),
        "samples of a kind",
    ),
    "fractions": (
        ".tif",
        lambda path: Image.fromarray(LABELS.astype(np.float32) / 2).save(path),
        "value 0.5; expected",
    ),
    "NaN": (
        ".tif",
        lambda path: Image.fromarray(np.where(LABELS, np.nan, 0).astype(np.float32)).save(path),
        "value nan",
    ),
    "inexact": (
        ".tif",
        lambda path: Image.fromarray((LABELS * 2.0**24).astype(np.float32)).save(path),
        "whole numbers below 16777216",
    ),
    "TIFF pages": (".tif", frames, "2 pages or frames; expected a picture of one"),
    "GIF frames": (".gif", frames, "2 pages or frames; expected a picture of one"),
    "PNG frames": (".png", frames, "2 pages or frames; expected a picture of one"),
    "JPEG": (
        ".png",
        lambda path: Image.new("L", (WIDTH, HEIGHT)).save(path, "JPEG"),
        "not a picture; expected",
    ),
    "text": (".png", lambda path: path.write_text("img"), "not a picture; expected"),
    "empty": (".tif", lambda path: path.write_bytes(b""), "not a picture; expected"),
    "TIFF without pages": (
        ".tif",
        lambda path: path.write_bytes(b"II*\0" + bytes(4)),
        "cannot be read (",
    ),
    "folder": (".png", lambda path: path.mkdir(), "not a file"),
}


def bmp16() -> bytes:
    pixels = bytes(HEIGHT * (WIDTH * 2 + 2))
    header = struct.pack("<IiiHHIIiiII", 40, WIDTH, HEIGHT, 1, 16, 0, len(pixels), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) + header + pixels


@pytest.mark.parametrize("kind", REFUSED)
def test_pictures_that_are_no_labels(tmp_path: Path, kind: str) -> None:
    suffix, write, message = REFUSED[kind]
    write(tmp_path / f"img{suffix}")
    assert message in only_fault(tmp_path, [1, 2, 3])


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".gif", ".tif"])
def test_truncated_pictures(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"img{suffix}"
    noise = np.random.default_rng(0).integers(0, 200, (HEIGHT, WIDTH)).astype(np.uint8)
    Image.fromarray(noise).save(path)
    whole = path.read_bytes()
    for missing in (40, 60, 80):
        path.write_bytes(whole[:-missing])
        assert "cannot be read (" in only_fault(tmp_path, [1])


def test_any_damage_ends_in_a_fault_or_is_harmless(tmp_path: Path) -> None:
    """Whatever byte is wrong: no exception, no warning; a picture without runs has a fault."""
    rng = np.random.default_rng(0)
    writers: dict[str, Writer] = {
        ".png": with_pillow("u1"),
        ".tif": with_pillow("u2"),
        ".gif": palette(),
        ".bmp": palette(),
    }
    for suffix, write in writers.items():
        path = tmp_path / f"img{suffix}"
        write(path, LABELS)
        whole = np.frombuffer(path.read_bytes(), np.uint8)
        for _ in range(60):
            damaged = whole.copy()
            damaged[rng.integers(0, min(len(whole), 300), 2)] = rng.integers(0, 256, 2)
            path.write_bytes(damaged.tobytes())
            runs, faults = read(tmp_path, ["img"], [[1, 2, 3]])
            assert bool(faults) == (len(runs.start) == 0)
        path.unlink()


def test_compression_that_needs_another_library(tmp_path: Path) -> None:
    """LZW of 64-bit samples: Pillow cannot read the samples, and tifffile alone cannot read the compression."""
    with_tifffile("<u8")(tmp_path / "img.tif", LABELS)
    with tifffile.TiffFile(tmp_path / "img.tif", mode="r+") as tiff:
        tiff.pages[0].tags["Compression"].overwrite(5)  # type: ignore[union-attr]
    fault = only_fault(tmp_path, [1, 2, 3])
    if "cannot be read" not in fault:  # as it is with the library
        assert "LZW compression of 64-bit samples; expected none, or ZIP" in fault
