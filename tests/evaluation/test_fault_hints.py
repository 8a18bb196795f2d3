"""What many faults of one kind look like is said, and what to do: on one
screen, with the command that says more.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from written_files import zipped

from evaltex_cli.cli import main

IMAGES = 30


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
        "170 of 180 images of the detections are not in the ground truth; do both sides"
        " belong to the same part of the same data set?"
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


@pytest.mark.parametrize(("first", "how"), [(-1, "higher"), (1, "lower")])
def test_numbers_that_count_from_0_on_one_side(tmp_path: Path, first: int, how: str) -> None:
    gt = pack(tmp_path / "gt.zip", "gt_{:03d}.txt", "10,10,110,40,a", range(1, 31))
    other = pack(
        tmp_path / "other.zip", "res_{:03d}.txt", "10,10,110,40", range(1 + first, 31 + first)
    )
    assert f"if their numbers were {how} by one" in refused(gt, other)
