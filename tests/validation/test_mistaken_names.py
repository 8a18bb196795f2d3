"""Mistakes that users of evaluation tools are known to make with names and archives: what the user
did, and what the tool says.
"""

import pytest
from click.testing import CliRunner
from command_line import validated
from mistakes import ALL, QUADS, det_zip, gt_zip, refusal, scores
from PIL import Image
from written_files import zipped

from evaltex_cli.cli import main


@pytest.mark.parametrize(
    "name", ["submit/res_img_{}.txt", "a/b/res_img_{}.txt", "submit\\res_img_{}.txt"]
)
def test_zipped_the_folder_instead_of_the_files(tmp_path, name):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name=name)) == ALL


@pytest.mark.parametrize(
    "name", ["res_img_{}.txt", "img_{}.txt", "gt_img_{}.txt", "det_img_{}.txt"]
)
def test_named_the_files_by_another_convention(tmp_path, name):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name=name)) == ALL


def test_zipped_on_a_mac(tmp_path):
    files = {f"res_img_{k}.txt": f"{line}\n" for k, line in QUADS.items()}
    files |= {
        "__MACOSX/._res_img_1.txt": b"\x00\x05\x16\x07",
        ".DS_Store": b"\x00",
        "__MACOSX/x/img_9.txt": "1,2",
    }
    det = zipped(tmp_path / "det.zip", files)
    assert scores(gt_zip(tmp_path), det) == ALL
    status, text = validated(gt_zip(tmp_path), det)
    assert status == 0
    assert "MACOSX" not in text
    assert "DS_Store" not in text


def test_left_out_the_common_part_of_the_names(tmp_path):
    """No image pairs: the tool says which would, and what to rename."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="{}.txt")
    message = refusal(gt, det)
    assert "none of its 2 image names is in" in message
    assert "would pair by number" in message
    assert "rename '1' to 'img_1', '2' to 'img_2'" in message
    status, text = validated(gt, det)
    assert status == 2
    assert "2 that would if spelled alike" in text
    assert "rename it to 'img_1'" in text
    assert [row.split() for row in text.splitlines() if "(number)" in row] == [
        ["img_1", "1", "(number)", "1", "1"],
        ["img_2", "2", "(number)", "1", "1"],
    ]


@pytest.mark.parametrize("extension", [".jpg", ".PNG", ".jpg "])
def test_kept_the_pictures_extension_in_the_names(tmp_path, extension):
    """Also in upper case, and with a blank that nobody sees."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="img_{}" + extension + ".txt")
    assert scores(gt, det) == ALL
    status, text = validated(gt, det)
    assert status == 0
    assert f"paired without folders, endings and prefixes: 'img_1{extension}' with 'img_1'" in text


def test_a_blank_before_the_ending(tmp_path):
    """Which nobody sees."""
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="res_img_{} .txt")
    assert scores(gt, det) == ALL
    status, text = validated(gt, det)
    assert status == 0
    assert "paired without folders, endings and prefixes: 'img_1 ' with 'img_1'" in text


def test_an_archive_in_the_archive(tmp_path):
    inner = det_zip(tmp_path)
    status, text = validated(
        gt_zip(tmp_path), zipped(tmp_path / "submit.zip", {"det.zip": inner.read_bytes()})
    )
    assert status == 2
    assert "no .txt file in it (1 file that is not .txt was left out: 'det.zip')" in text


def test_endings_in_upper_case(tmp_path):
    assert scores(gt_zip(tmp_path), det_zip(tmp_path, name="RES_img_{}.TXT")) == ALL


def test_pictures_whose_ending_is_in_upper_case(tmp_path):
    """They are found, and the size is theirs."""
    (tmp_path / "pictures").mkdir()
    for k in QUADS:
        Image.new("L", (100, 100)).save(tmp_path / "pictures" / f"img_{k}.PNG")
    status, text = validated(gt_zip(tmp_path), det_zip(tmp_path), "--images", tmp_path / "pictures")
    assert status == 0
    assert "no picture" not in text
    assert (
        "gt_img_1.txt:1: image 'img_1', object 1: (10, 10) to (110, 40) reaches beyond the"
        " picture, 100 x 100"
    ) in text


def test_misspelled_one_name(tmp_path):
    det = zipped(tmp_path / "det.zip", {"res_img_1.txt": QUADS[1], "res_imgg_2.txt": QUADS[2]})
    message = refusal(gt_zip(tmp_path), det)
    assert "image 'imgg_2' is not in the ground truth (did you mean 'img_2'?)" in message


def test_a_trailing_blank_makes_no_other_name(tmp_path):
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text('img_1\n90,120\n1,1,"a",f,10,10,100,30\n')
    det.write_text('img_1 \t\n1,"a",10,10,100,30\n')
    assert scores(gt, det) == ALL


def test_the_message_blames_the_right_file(tmp_path):
    det = zipped(
        tmp_path / "det.zip",
        {"res_img_1.txt": f"{QUADS[1]}\n", "res_img_2.txt": f"{QUADS[2]}\nx,y\n"},
    )
    message = refusal(gt_zip(tmp_path), det)
    assert message.startswith(f"{det}/res_img_2.txt:2: ")
    assert "gt" not in message.partition(": ")[0].rpartition("/")[2]


def test_plain_command_reports_names_too(tmp_path):
    gt, det = gt_zip(tmp_path), det_zip(tmp_path, name="{}.txt")
    result = CliRunner().invoke(main, [str(gt), str(det), str(tmp_path / "results")])
    assert result.exit_code == 2
    assert "rename '1' to 'img_1'" in result.output
    assert not (tmp_path / "results").exists()
