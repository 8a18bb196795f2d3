"""Label pictures of every pixel format, and every fault a picture can have."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.formats.label_images import read_runs
from evaltex_cli.formats.picture_folders import PictureFolder
from evaltex_cli.records import LabelRuns
from evaltex_cli.records.rows import concatenate

LABELS = np.kron(np.array([[0, 1, 2], [3, 3, 0]]), np.ones((4, 5), np.int64))
HEIGHT, WIDTH = LABELS.shape
Writer = Callable[[Path, np.ndarray], None]


def read(
    folder: Path,
    names: list[str],
    ids: list[list[int]],
    *,
    size: tuple[int, int] = (HEIGHT, WIDTH),
    has_picture: bool = True,
    max_pixels: int = 10_000,
) -> tuple[LabelRuns, list[str]]:
    """Runs, and the faults as the user sees them."""
    faults = FaultLog()
    runs = read_runs(
        PictureFolder(folder, max_pixels=max_pixels),
        names,
        concatenate(
            [
                image_objects(np.tile([0, 0, 9, 9], (len(own), 1)), ids=np.array(own, int))
                for own in ids
            ]
        ),
        np.tile(np.array(size, np.float64), (len(names), 1)),
        np.full(len(names), has_picture),
        faults,
    )
    return runs, [str(fault) for fault in faults.shown]


def painted(runs: LabelRuns, ids: list[int]) -> np.ndarray:
    """What all pictures show, laid over each other."""
    picture = np.zeros((HEIGHT, WIDTH), np.int64)
    for owner, start, stop in zip(runs.owner, runs.start, runs.stop, strict=True):
        picture.reshape(-1)[np.arange(start, stop) % LABELS.size] = ids[owner]
    return picture


def assert_reads(folder: Path, labels: np.ndarray, name: str = "img") -> None:
    ids = [int(v) for v in np.unique(labels) if v]
    runs, faults = read(folder, [name], [ids])
    assert faults == []
    assert (painted(runs, ids) == labels).all()


def only_fault(folder: Path, ids: list[int], **options: Any) -> str:
    runs, faults = read(folder, ["img"], [ids], **options)
    assert len(runs.start) == 0
    [fault] = faults
    assert fault.startswith(str(folder))
    return fault


def with_pillow(dtype: str, factor: int = 1, **options: Any) -> Writer:
    def write(path: Path, labels: np.ndarray) -> None:
        Image.fromarray((labels * factor).astype(dtype)).save(path, **options)

    return write


def with_tifffile(dtype: str, **options: Any) -> Writer:
    def write(path: Path, labels: np.ndarray) -> None:
        tifffile.imwrite(path, labels.astype(dtype), **{"photometric": "minisblack", **options})

    return write


def palette(**options: Any) -> Writer:
    """Colours that are nobody's index."""

    def write(path: Path, labels: np.ndarray) -> None:
        image = Image.new("P", labels.shape[::-1])
        image.putdata(labels.ravel().tolist())
        image.putpalette([9, 200, 9, 7, 7, 70, 200, 30, 1, 90, 90, 200])
        image.save(path, **options)

    return write


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


EXACT: dict[str, tuple[str, Writer]] = {
    "PNG 2": (".png", grey_png(2)),
    "PNG 4": (".png", grey_png(4)),
    "PNG 8": (".png", with_pillow("u1")),
    "PNG 16": (".png", with_pillow("u2", 20_000)),
    "PNG palette 2": (".png", palette(bits=2)),
    "PNG palette 4": (".png", palette(bits=4)),
    "PNG palette 8": (".png", palette(bits=8)),
    "BMP 8": (".bmp", with_pillow("u1", 80)),
    "BMP palette": (".bmp", palette()),
    "GIF grey": (".gif", with_pillow("u1")),
    "GIF palette": (".gif", palette()),
    "TIFF 8": (".tif", with_pillow("u1", 80)),
    "TIFF 16": (".tiff", with_pillow("u2", 20_000)),
    "TIFF 32": (".tif", with_pillow("i4", 700_000_000)),
    "TIFF float": (".tif", with_pillow("f4", 5_000_000)),
    "TIFF palette": (".tif", palette()),
    "TIFF LZW 16": (".tif", with_pillow("u2", 20_000, compression="tiff_lzw")),
    "TIFF LZW 32": (".tif", with_pillow("i4", 700_000_000, compression="tiff_lzw")),
    "TIFF PackBits": (".tif", with_pillow("u1", 80, compression="packbits")),
    "TIFF signed 16": (".tif", with_tifffile("<i2")),
    "TIFF unsigned 32": (".tif", with_tifffile("<u4")),
    "TIFF unsigned 64": (".tif", with_tifffile("<u8")),
    "TIFF half": (".tif", with_tifffile("<f2")),
    "TIFF double": (".tif", with_tifffile("<f8")),
    "TIFF tiled": (".tif", with_tifffile("<u2", tile=(16, 16))),
    "BigTIFF": (".tif", with_tifffile("<u2", bigtiff=True)),
    "TIFF big endian 16": (".tif", with_tifffile(">u2", byteorder=">")),
    "TIFF big endian 32": (".tif", with_tifffile(">u4", byteorder=">")),
    "TIFF big endian signed ZIP": (".tif", with_tifffile(">i4", byteorder=">", compression="zlib")),
    "TIFF big endian signed 16 ZIP": (
        ".tif",
        with_tifffile(">i2", byteorder=">", compression="zlib"),
    ),
    "TIFF big endian float ZIP": (".tif", with_tifffile(">f4", byteorder=">", compression="zlib")),
}
FACTOR = {
    "PNG 16": 20_000,
    "TIFF 16": 20_000,
    "TIFF LZW 16": 20_000,
    "TIFF 32": 700_000_000,
    "TIFF LZW 32": 700_000_000,
}
FACTOR |= dict.fromkeys(("BMP 8", "TIFF 8", "TIFF PackBits"), 80) | {"TIFF float": 5_000_000}


@pytest.mark.parametrize("kind", EXACT)
def test_pixel_formats(tmp_path: Path, kind: str) -> None:
    suffix, write = EXACT[kind]
    write(tmp_path / f"img{suffix}", LABELS)
    assert_reads(tmp_path, LABELS * FACTOR.get(kind, 1))


def test_the_largest_label_of_32_bits(tmp_path: Path) -> None:
    """Pillow holds 32 bits as signed numbers."""
    labels = LABELS * 1_431_655_765
    with_tifffile("<u4")(tmp_path / "img.tif", labels)
    assert labels.max() == 2**32 - 1
    assert_reads(tmp_path, labels)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif"])
def test_bilevel(tmp_path: Path, suffix: str) -> None:
    """Foreground is label 1."""
    Image.fromarray(LABELS > 0).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, (LABELS > 0).astype(np.int64))


def colours(labels: np.ndarray) -> np.ndarray:
    return np.stack([labels & 255, labels >> 8 & 255, labels >> 16], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif"])
@pytest.mark.parametrize("factor", [1, 256, 65536, 70_001])
def test_rgb(tmp_path: Path, suffix: str, factor: int) -> None:
    """R + 256 G + 65536 B."""
    Image.fromarray(colours(LABELS * factor)).save(tmp_path / f"img{suffix}")
    assert_reads(tmp_path, LABELS * factor)


def test_rgb_in_planes(tmp_path: Path) -> None:
    planes = np.moveaxis(colours(LABELS * 70_001), -1, 0)
    tifffile.imwrite(tmp_path / "img.tif", planes, photometric="rgb", planarconfig="separate")
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


def rgb16(path: Path, planes: bool = False) -> None:
    values = colours(LABELS).astype(np.uint16)
    config = {"planarconfig": "separate"} if planes else {}
    tifffile.imwrite(
        path, np.moveaxis(values, -1, 0) if planes else values, photometric="rgb", **config
    )


STORED = ("u1", "<u2", ">u2", "<i2", ">i2", "<u4", "<i4", ">i4", "<f4", ">f4")


def moved_strips(path: Path, order: list[int], gap: int) -> None:
    """Put the strips of an uncompressed TIFF at its end, in another order and
    with a gap between them.
    """
    with tifffile.TiffFile(path, mode="r+") as tiff:
        page: Any = tiff.pages[0]
        data = path.read_bytes()
        strips = [
            data[start : start + size]
            for start, size in zip(page.dataoffsets, page.databytecounts, strict=True)
        ]
        offsets = [0] * len(strips)
        with path.open("ab") as file:
            for k in order:
                offsets[k] = file.tell()
                file.write(strips[k] + b"\xff" * gap)
        page.tags["StripOffsets"].overwrite(offsets)


@pytest.mark.parametrize("rows", [1, 3, HEIGHT])
@pytest.mark.parametrize("dtype", STORED)
def test_uncompressed_strips(tmp_path: Path, dtype: str, rows: int) -> None:
    """In one piece, which is read at once, or not: the same labels, and the
    same refusal of a file that ends early.
    """
    path = tmp_path / "img.tif"
    with_tifffile(dtype, byteorder=">" if dtype[0] == ">" else "<", rowsperstrip=rows)(path, LABELS)
    assert_reads(tmp_path, LABELS)
    strips = -(-HEIGHT // rows)
    for order, gap in ((range(strips), 0), (range(strips), 5), (range(strips)[::-1], 0)):
        moved_strips(path, list(order), gap)
        assert_reads(tmp_path, LABELS)
    path.write_bytes(path.read_bytes()[:-1])
    assert "cannot be read" in only_fault(tmp_path, [1, 2, 3])


def test_one_job_works_in_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_pillow("u1")(tmp_path / "img.png", LABELS)
    monkeypatch.setattr("threading.Thread.start", None)
    assert_reads(tmp_path, LABELS)


def frames(path: Path) -> None:
    one, two = (Image.fromarray((LABELS * k).astype(np.uint8)) for k in (1, 2))
    one.save(path, save_all=True, append_images=[two])


REFUSED: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "16-bit RGB": (".tif", rgb16, "colours of 16 bits"),
    "16-bit RGB planes": (".tif", lambda path: rgb16(path, True), "colours of 16 bits"),
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


@pytest.mark.parametrize("suffix", [".tif", ".tiff", ".png", ".bmp", ".gif", ".PNG", ".TIF"])
def test_the_picture_of_an_image(tmp_path: Path, suffix: str) -> None:
    """The image's name with a suffix, or the name itself where it has one; in folders too."""
    (tmp_path / "a").mkdir()
    Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / f"a/img.v2{suffix}")
    assert_reads(tmp_path, LABELS, "a/img.v2")
    assert_reads(tmp_path, LABELS, f"a/img.v2{suffix}")


def test_no_picture(tmp_path: Path) -> None:
    assert "no picture of image 'img'; expected a file img plus one of .tif .tiff" in only_fault(
        tmp_path, [1]
    )
    _, [fault] = read(tmp_path, ["img.png"], [[1]])
    assert "expected a file img.png" in fault


def test_two_pictures(tmp_path: Path) -> None:
    for suffix in (".png", ".tif"):
        Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / f"img{suffix}")
    assert "2 pictures of image 'img': img.tif, img.png; expected one" in only_fault(
        tmp_path, [1, 2, 3]
    )
    assert_reads(tmp_path, LABELS, "img.png")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder; expected a folder of label pictures"):
        read(tmp_path / "nothing", ["img"], [[1]])


@pytest.mark.parametrize("name", ["../img", "/img", "a/../../img", "..\\img", "img\0"])
def test_no_lookup_leaves_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / "img.png")
    runs, [fault] = read(tmp_path / "in", [name], [[1, 2, 3]])
    assert "a name that stays in the folder" in fault
    assert len(runs.start) == 0


def test_a_name_too_long_for_a_file(tmp_path: Path) -> None:
    _, [fault] = read(tmp_path, ["i" * 5000], [[1]])
    assert "cannot be read (" in fault


def test_size(tmp_path: Path) -> None:
    """Both are reported as in the .txt: height,width. A format without sizes takes any."""
    Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / "img.png")
    fault = only_fault(tmp_path, [1, 2, 3], size=(WIDTH, HEIGHT))
    assert f"height,width {HEIGHT},{WIDTH}; expected {WIDTH},{HEIGHT}" in fault
    assert read(tmp_path, ["img"], [[1, 2, 3]], size=(0, 0))[1] == []


def test_most_pixels(tmp_path: Path) -> None:
    """The header decides: this picture could not be decoded."""
    path = tmp_path / "img.bmp"
    header = struct.pack("<IiiHHIIiiII", 40, 60_000, 60_000, 1, 8, 0, 0, 0, 0, 256, 0)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 1078, 0, 0, 1078) + header + bytes(1024))
    fault = only_fault(tmp_path, [1], size=(60_000, 60_000), max_pixels=100)
    assert "3600000000 pixels (60000,60000); expected at most 100;" in fault
    assert "--max-pixels" in fault


def test_our_limit_is_the_only_one(tmp_path: Path) -> None:
    """Pillow's own, which warns or refuses, is set aside while we read and is back afterwards."""
    Image.fromarray(LABELS.astype(np.uint8)).save(tmp_path / "img.png")
    before = Image.MAX_IMAGE_PIXELS
    try:
        for limit in (HEIGHT * WIDTH - 1, 10):
            Image.MAX_IMAGE_PIXELS = limit
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert_reads(tmp_path, LABELS)
            assert limit == Image.MAX_IMAGE_PIXELS
    finally:
        Image.MAX_IMAGE_PIXELS = before


def test_labels_without_object(tmp_path: Path) -> None:
    with_pillow("u1")(tmp_path / "img.png", LABELS)
    assert "label 2 without an object of this ID; expected 0 and the IDs" in only_fault(
        tmp_path, [3, 1]
    )
    assert "labels 1, 2, 3 without" in only_fault(tmp_path, [])
    with_pillow("u1")(tmp_path / "img.png", np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH))
    assert "labels 1, 2, 3, 4, 5, ... (119 in all) without" in only_fault(tmp_path, [])


def test_objects_without_pixel(tmp_path: Path) -> None:
    with_pillow("u1")(tmp_path / "img.png", LABELS)
    assert "no pixel of ID 900; expected" in only_fault(tmp_path, [1, 2, 900, 3])
    assert "no pixel of IDs -5, 0, 7; expected" in only_fault(tmp_path, [1, 0, 2, 7, -5, 3])


def test_an_image_without_detections_needs_no_picture(tmp_path: Path) -> None:
    """If there is one all the same, it is empty."""
    assert read(tmp_path, ["img"], [[]], has_picture=False)[1] == []
    with_pillow("u1")(tmp_path / "img.png", LABELS * 0)
    assert read(tmp_path, ["img"], [[]], has_picture=False)[1] == []
    with_pillow("u1")(tmp_path / "img.png", LABELS)
    assert "labels 1, 2, 3 without an object" in only_fault(tmp_path, [], has_picture=False)


def test_other_pictures_are_still_checked(tmp_path: Path) -> None:
    """One fault each; the good one in the middle has its runs, under its
    objects' places in the batch.
    """
    with_pillow("u1")(tmp_path / "a.png", LABELS * 2)
    with_pillow("u1")(tmp_path / "b.png", LABELS)
    runs, faults = read(tmp_path, ["a", "b", "c"], [[1, 2], [3, 2, 1], [1]])
    assert ["a.png: " in faults[0], "no picture of image 'c'" in faults[1], len(faults)] == [
        True,
        True,
        2,
    ]
    assert (painted(runs, [0, 0, 3, 2, 1, 0]) == LABELS).all()
    assert np.bincount(runs.owner, minlength=6).tolist() == [0, 0, 4, 4, 4, 0]


def test_evaluate_reports_all_pictures_at_once(tmp_path: Path) -> None:
    """Faults of both sides in one message, files named as the user would."""
    gt = f'a\n{HEIGHT},{WIDTH}\n1,1,"",f,0,0,1,1\nb\n{HEIGHT},{WIDTH}\n'
    (tmp_path / "gt.txt").write_text(gt, encoding="utf-8")
    (tmp_path / "det.txt").write_text('a\n1,"",0,0,1,1\n', encoding="utf-8")
    for side, label in (("gt", 2), ("det", 1)):
        (tmp_path / side).mkdir()
        with_pillow("u1")(tmp_path / side / "a.png", (LABELS == 1) * label)

    def run() -> Any:
        folders = {"gt_images": tmp_path / "gt", "det_images": tmp_path / "det"}
        return evaluate(
            tmp_path / "gt.txt",
            tmp_path / "det.txt",
            gt_format="evaltex",
            det_format="evaltex",
            **folders,
        )

    with pytest.raises(InputError) as caught:
        run()
    assert f"{tmp_path / 'gt' / 'a.png'}: label 2 without" in str(caught.value)
    assert f"{tmp_path / 'gt'}: no picture of image 'b'" in str(caught.value)
    assert "det" not in str(caught.value).replace(str(tmp_path), "")
    with_pillow("u1")(tmp_path / "gt" / "a.png", LABELS == 1)
    with_pillow("u1")(tmp_path / "gt" / "b.png", LABELS * 0)
    assert run().scores["fscore"] == 1
