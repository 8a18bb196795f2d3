"""The XML formats of one image a file: what each element means, and how each is recognised."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from written_files import written, zipped
from xml_documents import CTW1500, SAMPLES, VOC, Read

from evaltex_cli import evaluate
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.old_formats.options import InputOptions


def test_voc(tmp_path: Path) -> None:
    found = Read(written(tmp_path / "gt_img_1.xml", VOC))
    assert (found.source.format, found.source.names, found.faults) == ("voc", ["img_1"], [])
    assert found.images.sizes.tolist() == [[480, 640]]
    assert found.objects.boxes.tolist() == [[10, 20.5, 110, 50], [200, 5, 230, 9], [1, 100, 9, 150]]
    assert found.objects.dont_care.tolist() == [False, True, False]
    assert found.texts == ["", "", ""]


def test_voc_with_empty_flags_and_turned_boxes(tmp_path: Path) -> None:
    text = VOC.replace("<difficult>0</difficult>", "<difficult/>").replace(
        "<bndbox><xmin>1</xmin><ymin>100</ymin><xmax>9</xmax><ymax>150</ymax></bndbox>",
        f"<robndbox><cx>100</cx><cy>50</cy><w>40</w><h>20</h><angle>{math.pi / 2}</angle></robndbox>",
    )
    found = Read(written(tmp_path / "1.xml", text))
    assert (found.faults, found.objects.dont_care.tolist()) == ([], [False, True, False])
    assert found.objects.boxes[2].tolist() == pytest.approx([90, 30, 110, 70])
    assert found.objects.outlines.ring(2)[0].tolist() == pytest.approx(
        [110, 30]
    )  # its own upper left corner
    (fault,) = Read(written(tmp_path / "1.xml", text.replace("<w>40</w>", "<w>-4</w>"))).faults
    assert fault == ":15: width -4, height 20; expected both at least 0"


def test_ctw1500(tmp_path: Path) -> None:
    found = Read(written(tmp_path / "0200.xml", CTW1500))
    assert (found.source.format, found.source.names, found.faults) == ("ctw1500-xml", ["0200"], [])
    assert found.texts == ["ÉCOLE", "###", "box"]
    assert found.objects.dont_care.tolist() == [False, True, False]
    assert found.objects.boxes.tolist() == [
        [10, 30, 100, 50],
        [10, 90, 100, 110],
        [10, 190, 100, 210],
    ]
    assert found.objects.outlines.vertices[:3].tolist() == [[10, 30], [40, 30], [70, 35]]
    assert not Read(tmp_path / "0200.xml", "det").objects.dont_care.any()


@pytest.mark.parametrize("name", list(SAMPLES))
def test_each_is_recognised_by_content_in_folder_and_archive(tmp_path: Path, name: str) -> None:
    folder, archived = tmp_path / "gt", tmp_path / "gt.zip"
    folder.mkdir()
    for number in (10, 2):
        written(folder / f"img_{number}.XML", SAMPLES[name])
    written(folder / "readme.txt", "1,2,3,4")
    zipped(archived, {f"labels/img_{number}.xml": SAMPLES[name] for number in (10, 2)})
    found = [Read(folder, "gt"), Read(archived, "gt", name)]
    for one in found:
        assert (one.source.format, one.source.names, one.faults) == (name, ["img_2", "img_10"], [])
        assert one.texts == found[0].texts and len(one.texts) in (2, 4, 6)
    assert "1 file that is not .xml was left out: 'readme.txt'" in found[0].source.warnings[0]
    scores = evaluate(folder, archived, gt_format=name, det_format=name).scores
    assert scores["recall"] == scores["precision"] == 1


@pytest.mark.parametrize("name", list(SAMPLES))
def test_each_converted_is_the_same_evaluated(tmp_path: Path, name: str) -> None:
    path, target = written(tmp_path / "img.xml", SAMPLES[name]), tmp_path / "gt.txt"
    objects = Read(path, "gt", name).objects
    assert convert(path, target, "gt", options=InputOptions(name)).objects == objects.count > 0
    copied = Read(target).objects
    for column in ("ids", "regions", "dont_care", "boxes"):
        assert getattr(copied, column).tolist() == getattr(objects, column).tolist()
    for gt, gt_format in ((path, name), (target, None)):
        scores = evaluate(gt, path, gt_format=gt_format, det_format=name).scores
        assert scores["recall"] == scores["precision"] == 1
