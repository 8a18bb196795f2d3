"""Sizes of images that are taken from their pictures."""

import struct
import zlib

import pytest
from PIL import Image
from validate_inputs import places

from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.image_sizes import find_pictures, picture_size, sizes_from_pictures
from evaltex_cli.validation.validation import validate


@pytest.mark.parametrize(
    "suffix", [".png", ".PNG", ".jpg", ".JPEG", ".bmp", ".gif", ".tif", ".webp"]
)
def test_size_of_a_picture(tmp_path, suffix):
    Image.new("L", (31, 17)).save(tmp_path / f"img_1{suffix}")
    assert sizes_from_pictures(tmp_path, ["img_1", "img_2"]).tolist() == [[17, 31], [0, 0]]


def test_only_the_header_is_read(tmp_path):
    header = b"IHDR" + struct.pack(">IIBBBBB", 40_000, 30_000, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", len(header) - 4) + header + struct.pack(">I", zlib.crc32(header))
    (tmp_path / "img.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 10**6) + b"IDAT"
    )
    assert picture_size(tmp_path / "img.png") == (30_000, 40_000)


@pytest.mark.parametrize(
    ("orientation", "size"), [(1, (17, 31)), (3, (17, 31)), (6, (31, 17)), (8, (31, 17))]
)
def test_a_photograph_on_its_side_is_turned(tmp_path, orientation, size):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (31, 17)).save(tmp_path / "img.jpg", exif=exif)
    assert picture_size(tmp_path / "img.jpg") == size


def test_pictures_are_found_by_name_then_by_stem(tmp_path):
    for name in ("img_1.jpg", "deep/img_1.png", "deep/gt_img_2.jpg", "deep/img_3.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    names = ["img_1", "img_1.jpg", "deep/img_1", "img_2", "img_3", "../img_1"]
    found = find_pictures(tmp_path, names)
    assert found == [
        tmp_path / "img_1.jpg",
        tmp_path / "img_1.jpg",
        tmp_path / "deep/img_1.png",
        tmp_path / "deep/gt_img_2.jpg",
        None,
        tmp_path / "img_1.jpg",
    ]
    assert picture_size(found[0]) is None
    with pytest.raises(InputError, match="no such folder; give the folder of the images' pictures"):
        sizes_from_pictures(tmp_path / "none", names)


def test_pictures_give_sizes_that_the_ground_truth_has_not_or_has_wrong(files, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    Image.new("L", (200, 100)).save(pictures / "img_1.png")
    gt, det = files()
    assert "picture" not in {
        problem.kind for problem in validate(gt, det, images=tmp_path).problems if problem.line
    }
    Image.new("L", (100, 200)).save(pictures / "img_2.png")
    (reported,) = [
        problem
        for problem in validate(gt, det, images=pictures).problems
        if problem.kind == "picture"
    ]
    assert "image 'img_2': height,width 100,200" in reported.found
    assert reported.advice == "200,100, as its picture has (height and width are swapped)"
    boxes = tmp_path / "boxes"
    boxes.mkdir()
    (boxes / "img_1.txt").write_text("10,10,190,90\n10,10,190,900\n")
    (boxes / "img_3.txt").write_text("10,10,190,90\n")
    found = validate(boxes, images=pictures)
    assert places(found, "outside-picture") == [("img_1.txt", 2, "img_1", 2)]
    (reported,) = [problem for problem in found.problems if problem.kind == "picture"]
    assert "1 of 2 images has no picture that can be read: 'img_3'" in reported.found
