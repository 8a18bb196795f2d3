"""Lines that can be read in several ways: what all of an input together
decide, and what the formats of rows read.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reading import Read, folder, read
from written_files import zipped

from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.image_sizes import with_sizes

CURVE = ",".join(f"{10 * k},{k % 2}" for k in range(7))


def read_lines(tmp_path: Path, *lines: str, side: Side = "det", name: str | None = None) -> Read:
    return read(folder(tmp_path / "a", "\n".join(lines)), side, name)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # a fifth number: angle, confidence or neither
        (["10,20,50,30,0.2", "10,20,50,30,-0.4"], "msra-td500"),
        (["10,20,50,30,0.2", "10,20,50,30,1.3"], "msra-td500"),
        (["10 20 50 30 0.2", "10 20 50 30 -1.3"], "msra-td500"),
        (["10,20,50,30,0.2,None", "10,20,50,30,0.4,###"], "msra-td500"),
        (["10,20,50,30,0.2", "10,20,50,30,0.4"], "ltrb"),
        (["10,20,50,30,0.2", "10,20,50,30,87.5"], "ltrb"),
        (["10,20,50,30,2", "10,20,50,30,3"], "ltrb"),
        (["10,20,50,30,-0.2"] * 9 + ["10,20,50,30,word"], "ltrb"),
        (["10,20,50,30,0.2,None"] * 9 + ["10,20,50,30,0.5,word"], "ltrb"),
        (["10 20 30 40 0.9"] * 5, "ltrb"),
        (["10 20 30 40 1984", "50 60 70 80 5"], "ltrb"),
        (["10 20 60 20 60 40", "10 20 60 20 60 50"], "polygon"),
        (["14 0.43 162 96 189 245"] * 9 + ["1 20 60 20 60 40"], "polygon"),
        # a class and fractions
        (["0 0.5 0.5 0.2 0.1"], "yolo"),
        (["word 0.5 0.5 0.2 0.1"], "yolo"),
        (["0 0.5 0.5 0.2 0.1 0.9"], "yolo"),
        (["0 0.1 0.1 0.3 0.1 0.3 0.2 0.1 0.2"], "yolo"),
        (["0 0.1 0.1 0.3 0.1 0.3 0.2", "1 0.5 0.5 0.2 0.1"], "yolo"),
        (["0 0 0 1 1"], "ltrb"),
        # DOTA
        (["imagesource:GoogleEarth", "gsd:0.2", "1 2 3 2 3 4 1 4 ground-track-field 0"], "dota"),
        (["1 2 3 2 3 4 1 4 word 2"], "dota"),
        (["1 2 3 2 3 4 1 4 word"], "quad"),
        # AdelaiDet's family
        (["1,2,3,2,3,4,1,4,####word", f"{CURVE},#######"], "ctw1500"),
        (["1,2,3,2,3,4,1,4,0.9,####word"], "ctw1500"),
        (["1,2,3,2,3,4,1,4,#word"], "quad"),
        # boxes and polygons, as CVAT exports
        (['10 20 50 30 "word"', '10,20,50,20,50,30,10,30,"word"'], "box-polygon"),
        (["10,20,50,30", "10,20,50,20,50,30,10,30"], "box-polygon"),
        (["10,20,50,30,a"] * 30 + ["10,20,50,20,50,30,10,30,a"], "ltrb"),
    ],
)
def test_all_lines_decide(tmp_path: Path, lines: list[str], expected: str) -> None:
    path = folder(tmp_path / "a", "\n".join(lines))
    assert read(path, "det").source.format == expected


def test_angles_are_read_on_both_sides(tmp_path: Path) -> None:
    lines = [f"10,20,50,30,{math.pi / 2}", "10,20,50,30,-0.0"]
    for side in ("gt", "det"):
        found = read_lines(tmp_path, *lines, side=side)
        assert found.faults == [] and found.objects.confidences is None
        assert found.flat_rings[0] == pytest.approx([35, 5, 35, 45, 25, 45, 25, 5])


def test_a_transcription_after_the_angle(tmp_path: Path) -> None:
    lines = [
        "0 0 10 20 40 10 0.0 Wellington Park",
        "1 0 10 20 40 10 0.0 2012 A, B",
        "2 1 10 20 40 10 0.0",
    ]
    found = read(folder(tmp_path / "a", "\n".join(lines), suffix=".gt"))
    assert (found.source.format, found.faults) == ("msra-td500", [])
    assert found.texts == ["Wellington Park", "2012 A, B", ""]
    assert found.objects.dont_care.tolist() == [False, False, True]


def test_any_number_of_vertices_before_the_hashes(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path, "1,2,3,2,3,4,1,4,####wo,rd", f"{CURVE},#######", f"{CURVE},####", side="gt"
    )
    assert found.faults == [] and found.texts == ["wo,rd", "###", ""]
    assert found.objects.outlines.counts.tolist() == [4, 7, 7]
    assert found.objects.dont_care.tolist() == [False, True, False]
    det = read_lines(tmp_path, "1,2,3,2,3,4,1,4,0.9,####word", f"{CURVE},0.5,####x")
    assert det.faults == [] and det.texts == ["word", "x"]
    assert det.objects.confidences is not None and det.objects.confidences.tolist() == [0.9, 0.5]


def test_yolo(tmp_path: Path) -> None:
    lines = ["0 0.5 0.5 0.2 0.5", "1 0.1 0.1 0.3 0.1 0.3 0.2", "2 0 0 0.1 0 0.1 0.1 0 0.1 0.75"]
    path = folder(tmp_path / "a", "\n".join(lines))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    Image.new("1", (200, 100)).save(pictures / "1.png")
    assert read(path).faults[0].startswith("1.txt: coordinates that are fractions of the page")
    images = with_sizes(read(path).source, pictures).read(np.zeros(1, np.int64))
    images.faults.raise_if_any()
    objects = images.objects
    assert objects.boxes[0] == pytest.approx([80, 25, 120, 75])
    assert objects.outlines.ring(1).ravel() == pytest.approx([20, 10, 60, 10, 60, 20])
    assert objects.outlines.ring(2).ravel() == pytest.approx([0, 0, 20, 0, 20, 10, 0, 10])
    assert objects.confidences is not None and objects.confidences[2] == 0.75


@pytest.mark.parametrize(
    ("lines", "confidence", "box"),
    [
        (["0 0.5 0.5 0.5 0.25 0.9"], 0.9, [0.25, 0.375, 0.75, 0.625]),
        (["0 0.9 0.5 0.5 0.5 0.25", "0 0.95 0.5 0.5 0.75 1"], 0.9, [0.25, 0.375, 0.75, 0.625]),
    ],
)
def test_where_yolos_confidence_is(
    tmp_path: Path, lines: list[str], confidence: float, box: list[float]
) -> None:
    images = read_lines(tmp_path, *lines).source.part(np.zeros(1, np.int64)).read_in_any_unit()
    assert images.objects.boxes[0].tolist() == box
    assert images.objects.confidences is not None and images.objects.confidences[0] == confidence


def test_dota(tmp_path: Path) -> None:
    lines = [
        "imagesource:GoogleEarth",
        "gsd:0.2",
        "1 2 3 2 3 4 1 4 storage-tank 0",
        "1 2 3 2 3 4 1 4 plane 2",
    ]
    found = read_lines(tmp_path, *lines, side="gt")
    assert found.faults == [] and found.flat_rings == [[1, 2, 3, 2, 3, 4, 1, 4]] * 2
    assert found.objects.dont_care.tolist() == [False, True] and found.texts == ["", ""]
    bad = read_lines(
        tmp_path, *lines, *lines[2:] * 19, "1 2 3 2 3 4 1 4 plane x", "1 2 3", side="gt"
    )
    assert [fault.split(";")[0] for fault in bad.faults] == [
        "1.txt:43: 'x' as the difficult flag",
        "1.txt:44: '1 2 3'",
    ]


def test_boxes_and_polygons(tmp_path: Path) -> None:
    lines = ['10 20 50 30 "a b"', "10,20,50,20,50,30,10,30", '0,0,9,0,9,9,"x"', "10,20,50,30,1984"]
    found = read_lines(tmp_path, *lines, side="gt")
    assert (found.source.format, found.faults) == ("box-polygon", [])
    assert found.texts == ["a b", "", "x", "1984"]
    assert found.objects.outlines.counts.tolist() == [0, 4, 3, 0]
    assert found.objects.boxes[[0, 3]].tolist() == [[10, 20, 50, 30]] * 2


@pytest.mark.parametrize(
    ("tails", "confidences", "warning"),
    [
        (["0.5", "1"], [0.5, 1], None),
        (
            ["87.5", "3"],
            [0.875, 0.03],
            "a.zip: its confidences are percent, up to 87.5; they were divided by 100",
        ),
        (
            ["1.2", "3"],
            [1.2, 3],
            "a.zip: its confidences are from 0 to 3, not in [0, 1]; they are used as they are",
        ),
        (
            ["-4.5", "3"],
            [-4.5, 3],
            "a.zip: its confidences are from -4.5 to 3, not in [0, 1]; they are used as they are",
        ),
    ],
)
@pytest.mark.parametrize("start", ["1,2,3,2,3,4,1,4,{}", "1,2,3,2,3,4,1,4,{},word"])
def test_the_scale_of_confidences(
    tmp_path: Path, start: str, tails: list[str], confidences: list[float], warning: str | None
) -> None:
    files = {f"{k}.txt": start.format(tail) for k, tail in enumerate(tails)}
    path = zipped(tmp_path / "a.zip", files)
    found = read(path, "det")
    assert found.faults == [] and found.objects.confidences is not None
    assert found.objects.confidences.tolist() == confidences
    assert [text.split(" (")[0] for text in found.source.warnings] == (
        [] if warning is None else [warning]
    )


def test_whole_numbers_after_coordinates_are_transcriptions_with_a_warning(tmp_path: Path) -> None:
    found = read_lines(tmp_path, "1,2,3,4,87", "1,2,3,4,5")
    assert found.texts == ["87", "5"] and found.objects.confidences is None
    assert found.source.warnings == (
        "a: every line ends in a whole number after its coordinates, which is read as"
        " transcription; if it is a confidence, write it with a decimal point",
    )


def test_popevals_own_blanks_before_the_text(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path, "1 2 3 2 3 4 1 4 ,", "1 2 3 2 3 4 1 4 a, b", "1 2 3 2 3 4 1 4 7", side="gt"
    )
    assert (found.source.format, found.faults, found.texts) == ("quad", [], [",", "a, b", "7"])


@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("name", [None, "msra-td500", "voc"])
def test_files_of_which_none_can_be_read_are_an_error(
    tmp_path: Path, side: Side, name: str | None
) -> None:
    path = folder(tmp_path / "a", "nothing", suffix=".unknown")
    with pytest.raises(InputError, match=r"1 file that is not \.\w+ was left out: '1\.unknown'"):
        read(path, side, name)


BARE = {
    "gt_img_1.txt": ("1,2,3,4,word\n5,6,7,8,###\n", "ltrb"),
    "img_1.txt": ("imagesource:GoogleEarth\ngsd:0.2\n1 2 3 2 3 4 1 4 plane 0\n", "dota"),
    "img_1.gt": ("0 0 10 20 40 10 0.5\n", "msra-td500"),
    "poly_gt_img_1.txt": (
        "x: [[1 2 3]], y: [[4 5 7]], ornt: [u'c'], transcriptions: [u'a']\n",
        "totaltext",
    ),
    "img_1.csv": ("1,2,3,2,3,4,1,4,####word\n", "ctw1500"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", BARE)
def test_bare_files_of_one_image(tmp_path: Path, name: str, packed: bool) -> None:
    content, expected = BARE[name]
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    found = read(path)
    assert (found.source.format, list(found.source.names), found.faults) == (
        expected,
        ["img_1"],
        [],
    )
    assert found.objects.count >= 1
    assert found.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "content",
    [
        "1,2,3,4\n480,640\n1,1,\"word\",f,10,10,50,20\n",
        "1 2 3 4\n1,\"word\",10,10,50,20\n",
        "img_1\n480,640\n",
        "480,640\n",
        "",
    ],
)  # fmt: skip
def test_files_of_many_images_remain_evaltexs(tmp_path: Path, content: str) -> None:
    path = tmp_path / "det.txt"
    path.write_text(content)
    assert read(path, "det").source.format == "evaltex"
