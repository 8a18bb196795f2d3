"""Label pictures and their images: how each is found, its size, and whether its labels are those of the objects."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from label_pictures import (
    HEIGHT,
    LABELS,
    WIDTH,
    assert_reads,
    only_fault,
    painted,
    read,
    with_pillow,
)
from PIL import Image

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError


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
