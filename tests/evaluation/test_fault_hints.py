"""What many faults of one kind look like is said, and what to do: on one
screen, with the command that says more.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image
from written_files import zipped

from evaltex_cli.cli import main

IMAGES = 30
BOX = (10, 10, 110, 40)


def pack(path: Path, name: str, line: str, ids: range = range(IMAGES)) -> Path:
    """An archive with one file per image, of two lines."""
    return zipped(path, {name.format(k): f"{line}\n{line}\n" for k in ids})


@pytest.fixture(name="gt")
def _gt(tmp_path: Path) -> Path:
    return pack(tmp_path / "gt.zip", "gt_img_{}.txt", "10,10,110,40,word")


def refused(*arguments: object) -> str:
    """What a failed run says, in one line."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


def test_width_and_height_given_as_corners(tmp_path: Path, gt: Path) -> None:
    det = pack(tmp_path / "det.zip", "res_img_{}.txt", "110,100,100,30")
    reported = refused(gt, det, tmp_path / "res")
    assert f"60 such faults in {IMAGES} files" in reported
    assert "hint: 60 boxes look like x,y,width,height; write x,y,x+width,y+height" in reported
    one = zipped(tmp_path / "one.zip", {"res_img_0.txt": "10,10,110,40\n" * 9 + "110,100,100,30\n"})
    assert "look like" not in refused(gt, one, tmp_path / "res")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "image_{:05d}.txt",
            (
                "of the 30 names 30 would pair by number; spell the names alike on both sides: rename"
                " 'image_00000'"
            ),
        ),
        ("other.txt{}.txt", "30 would pair by number"),
    ],
)
def test_names_of_another_scheme(tmp_path: Path, gt: Path, name: str, words: str) -> None:
    assert words in refused(gt, pack(tmp_path / "det.zip", name, "10,10,110,40"), tmp_path / "res")


def test_some_names_of_another_scheme(tmp_path: Path, gt: Path) -> None:
    det = pack(tmp_path / "det.zip", "res_img_{}.txt", "10,10,110,40", range(20))
    with zipfile.ZipFile(det, "a") as packed:
        for k in range(20, IMAGES):
            packed.writestr(f"frame{k:04d}.txt", "10,10,110,40\n")
    reported = refused(gt, det, tmp_path / "res")
    assert "image 'frame0020' is not in the ground truth" in reported
    assert "10 such faults, also 'frame0021' and 'frame0022'" in reported
    assert "of the 10 names 10 would pair by number" in reported
    assert "reads well" not in reported


def test_two_data_sets(tmp_path: Path, gt: Path) -> None:
    det = pack(tmp_path / "det.zip", "res_tr_{}.txt", "10,10,110,40", range(4000, 4090))
    assert "90 of 90 images of the detections are not in" in refused(gt, det, tmp_path / "res")
    det = pack(tmp_path / "det2.zip", "res_img_{}.txt", "10,10,110,40", range(20, 200))
    reported = refused(gt, det, tmp_path / "res")
    assert (
        "170 of 180 images of the detections are not in the ground truth; are the two of one data"
        " set"
    ) in reported


def test_ground_truth_given_as_detections(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text("".join(f'img_{k}\n90,120\n1,1,"a",f,10,10,100,30\n' for k in range(IMAGES)))
    det.write_text("".join(f'img_{k}\n1,"a",10,10,100,30\n' for k in range(IMAGES)))
    reported = refused(det, gt, tmp_path / "res")
    assert (
        "hint: each side reads well as the other one; give the ground truth first, then the"
        " detections"
    ) in reported


def test_fractions_of_unknown_pictures_are_not_swapped_sides(tmp_path: Path) -> None:
    one, other = (pack(tmp_path / f"{k}.zip", "{}.txt", "0 0.5 0.5 0.1 0.1") for k in "ab")
    reported = refused(one, other, tmp_path / "res")
    assert "give the pictures by --images" in reported and "reads well" not in reported


def tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as packed:
        entry = tarfile.TarInfo("res_img_0.txt")
        entry.size = 12
        packed.addfile(entry, io.BytesIO(b"10,10,110,40"))


@pytest.mark.parametrize(
    ("name", "write", "words"),
    [
        (
            "det.tar.gz",
            tar,
            "an archive that is not .zip, which is not read; unpack it, and give the folder",
        ),
        ("det.zip", tar, "an archive that is not .zip"),
        (
            "det.csv",
            lambda path: path.write_text("img_0.jpg,10,10,110,40,0.9\n" * 9),
            "image,x0,y0,x1,y1",
        ),
        (
            "det.txt",
            lambda path: path.write_text("img_0.jpg,10,10,110,40,0.9\n" * 9),
            "a table without a header",
        ),
        (
            "det.zip",
            lambda path: path.write_bytes(b"PK\x03\x04" + bytes(99)),
            "is damaged",
        ),
        (
            "det.bin",
            lambda path: path.write_bytes(bytes(range(256)) * 9),
            "a binary file, which is not read; give text, JSON or XML",
        ),
    ],
)
def test_what_is_no_input(
    tmp_path: Path,
    gt: Path,
    name: str,
    write: Callable[[Path], object],
    words: str,
) -> None:
    write(tmp_path / name)
    assert words in refused(gt, tmp_path / name, tmp_path / "res")


@pytest.mark.parametrize(
    ("ending", "mode", "words"),
    [
        (
            ".png",
            "RGB",
            "labels '65793' without an object of this ID; expected labels in one channel: save the",
        ),
        (".jpg", "L", "no picture of image 'img_0'; expected a file of that name, one of .tif"),
    ],
)
def test_label_pictures(tmp_path: Path, ending: str, mode: str, words: str) -> None:
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text("".join(f'img_{k}\n90,120\n1,1,"a",f,10,10,100,30\n' for k in range(IMAGES)))
    det.write_text("".join(f'img_{k}\n1,"a",10,10,100,30\n' for k in range(IMAGES)))
    (tmp_path / "labels").mkdir()
    for k in range(IMAGES):
        picture = Image.new(mode, (120, 90))
        picture.paste((1, 1, 1) if mode == "RGB" else 1, BOX)
        picture.save(tmp_path / "labels" / f"img_{k}{ending}")
    reported = refused(gt, det, tmp_path / "res", tmp_path / "labels", tmp_path / "labels")
    assert words in reported
    assert f"{2 * IMAGES} such faults" in reported


@pytest.mark.parametrize(("first", "how"), [(-1, "higher"), (1, "lower")])
def test_numbers_that_count_from_0_on_one_side(tmp_path: Path, first: int, how: str) -> None:
    gt = pack(tmp_path / "gt.zip", "gt_{:03d}.txt", "10,10,110,40,a", range(1, 31))
    other = pack(
        tmp_path / "other.zip", "res_{:03d}.txt", "10,10,110,40", range(1 + first, 31 + first)
    )
    assert f"if their numbers were {how} by one" in refused(gt, other)


def test_text_that_is_not_utf8_has_no_other_names(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text("".join(f'img_{k}\n90,120\n1,1,"a",f,1,1,9,9\n' for k in range(9)))
    det.write_bytes("".join(f'img_{k}\n1,"a",1,1,9,9\n' for k in range(9)).encode("utf-16"))
    said = refused(gt, det)
    assert "expected text in UTF-8" in said and "rename" not in said


def test_json_that_is_damaged(tmp_path: Path, gt: Path) -> None:
    det = tmp_path / "det.json"
    det.write_text("{not json")
    assert "det.json:1: Expecting property name" in refused(gt, det)


def test_label_pictures_are_no_sign_of_swapped_sides(tmp_path: Path, gt: Path) -> None:
    det, pictures = pack(tmp_path / "det.zip", "res_img_{}.txt", "10,10,110,40"), tmp_path / "pics"
    pictures.mkdir()
    for k in range(IMAGES):
        Image.new("L", (120, 90)).save(pictures / f"img_{k}.png")
    said = refused(gt, det, tmp_path / "res", pictures, pictures)
    assert "without height and width" in said and "as the other one" not in said
