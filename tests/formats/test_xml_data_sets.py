"""The XML formats of one image a file: what each element means, and how each is recognised."""

from __future__ import annotations

import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from written_files import written, zipped
from xml_documents import ALTO, CTW1500, PAGE, SAMPLES, VOC, Read

from evaltex_cli import evaluate
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.old_formats.image_sizes import with_sizes
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.validation.validation import validate

LEVELS = [*SAMPLES, "page-line", "page-region", "alto-line"]
WORD_BOXES = [[0, 0, 99.5, 40], [110, 0, 300, 40], [0, 50, 300, 90]]


def sample(name: str) -> str:
    return SAMPLES[name.removesuffix("-line").removesuffix("-region")]


def test_page_words(tmp_path: Path) -> None:
    found = Read(written(tmp_path / "page_1.xml", PAGE))
    assert (found.source.format, found.source.names, found.faults) == ("page", ["page_1"], [])
    assert found.images.sizes.tolist() == [[480, 640]]
    assert found.texts == ["Two & é", "", "three"]
    assert found.objects.boxes.tolist() == WORD_BOXES
    assert (found.objects.ids.tolist(), found.objects.regions.tolist()) == ([1, 2, 3], [1, 1, 2])
    assert found.objects.confidences is not None
    assert found.objects.confidences.tolist() == pytest.approx(
        [0.5, float("nan"), 0.25], nan_ok=True
    )
    assert Read(tmp_path / "page_1.xml", "det").objects.regions.tolist() == [1, 2, 3]


def test_page_lines_and_regions(tmp_path: Path) -> None:
    path = written(tmp_path / "page_1.xml", PAGE)
    lines, regions = Read(path, "gt", "page-line"), Read(path, "gt", "page-region")
    assert (lines.texts, regions.texts) == (["Two words", ""], [""])
    assert lines.objects.boxes.tolist() == [[0, 0, 300, 40], [0, 50, 300, 90]]
    assert lines.objects.regions.tolist() == [1, 2]
    assert regions.objects.boxes.tolist() == [[0, 0, 300, 90]]


def test_lines_or_regions_are_read_if_no_page_has_words(tmp_path: Path) -> None:
    lines, regions = (
        PAGE.replace("Word", "Sentence"),
        PAGE.replace("Word", "Sentence").replace("TextLine", "Other"),
    )
    found = Read(written(tmp_path / "p.xml", f"{lines}<!-- <Word> -->"))
    assert (found.source.format, found.texts, found.faults) == ("page-line", ["Two words", ""], [])
    assert found.warnings == [": no file has words, so lines are read (format page-line)"]
    assert validate(tmp_path / "p.xml").gt.reason == "recognised by root PcGts; no file has words"
    found = Read(written(tmp_path / "p.xml", regions))
    assert (found.source.format, found.objects.count) == ("page-region", 1)
    assert found.warnings == [": no file has words, so regions are read (format page-region)"]
    found = Read(written(tmp_path / "p.xml", regions.replace("TextRegion", "Other")))
    assert (found.source.format, found.objects.count, found.warnings) == ("page", 0, [])


def test_the_level_is_that_of_the_whole_input(tmp_path: Path) -> None:
    lines, regions = (
        PAGE.replace("Word", "Sentence"),
        PAGE.replace("Word", "Sentence").replace("TextLine", "Other"),
    )
    folder = tmp_path / "gt"
    folder.mkdir()
    for name, text in (("a", regions), ("b", lines), ("c", lines)):
        written(folder / f"{name}.xml", text)
    found = Read(folder)
    assert (found.source.format, found.faults) == ("page-line", [])
    assert np.diff(found.objects.offsets).tolist() == [0, 2, 2]
    assert found.warnings == [
        ": no file has words, so lines are read (format page-line)",
        ": 1 file has regions but no lines, so no objects (format page-region reads regions)",
    ]
    written(folder / "d.xml", PAGE)
    found = Read(folder)
    assert (found.source.format, np.diff(found.objects.offsets).tolist()) == ("page", [0, 0, 0, 3])
    assert found.warnings == [
        ": 2 files have lines but no words, so no objects (format page-line reads lines)"
    ]


def test_a_level_that_was_named_and_is_not_there(tmp_path: Path) -> None:
    text = ALTO.replace("TextLine", "Line")
    found = Read(written(tmp_path / "p.xml", text), "gt", "alto-line")
    assert found.warnings == [
        ": no file has lines, so there are no objects (format alto reads words)"
    ]


def test_levels_are_found_in_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_bytes(PAGE.replace("UTF-8", "UTF-16").replace("Word", "Sentence").encode("utf-16"))
    found = Read(path, "gt", "page")
    assert (found.source.format, found.texts, found.faults) == ("page-line", ["Two words", ""], [])


@pytest.mark.parametrize(
    "namespace", ["http://www.loc.gov/standards/alto/ns-v2#", "http://schema.ccs-gmbh.com/ALTO"]
)
def test_alto(tmp_path: Path, namespace: str) -> None:
    text = ALTO.replace("http://www.loc.gov/standards/alto/ns-v3#", namespace)
    found = Read(written(tmp_path / "p.xml", text))
    assert (found.source.format, found.source.names, found.faults) == ("alto", ["p"], [])
    assert found.images.sizes.tolist() == [[480, 640]]
    assert found.texts == ["Two", "words", "three"]
    assert found.objects.boxes.tolist() == WORD_BOXES
    assert [bool(count) for count in found.objects.outlines.counts] == [False, True, False]
    assert found.objects.regions.tolist() == [1, 1, 2]
    assert found.objects.confidences is not None
    assert found.objects.confidences.tolist() == pytest.approx([0.5, float("nan"), 1], nan_ok=True)
    lines = Read(tmp_path / "p.xml", "gt", "alto-line")
    assert (lines.texts, lines.objects.boxes.tolist()) == (
        ["Two words", "three"],
        [[0, 0, 300, 40], [0, 50, 300, 90]],
    )


def test_alto_without_page_size(tmp_path: Path) -> None:
    found = Read(written(tmp_path / "p.xml", ALTO.replace('WIDTH="640" HEIGHT="480"', 'WIDTH=""')))
    assert (found.images.sizes.tolist(), found.faults) == ([[0, 0]], [])


@pytest.mark.parametrize(("unit", "per_inch"), [("mm10", 254), ("inch1200", 1200)])
@pytest.mark.parametrize(
    "settings", ["scanned at 300 dpi", "dpi: 300", "XResolution=300; YResolution=300", "300ppi"]
)
def test_alto_units_become_pixels(tmp_path: Path, unit: str, per_inch: int, settings: str) -> None:
    text = ALTO.replace(">pixel<", f">{unit}<").replace(">none<", f">{settings}<")
    found = Read(written(tmp_path / "p.xml", text))
    assert found.faults == []
    assert found.objects.boxes.tolist() == pytest.approx(np.array(WORD_BOXES) * 300 / per_inch)
    assert found.images.sizes.tolist() == pytest.approx(np.array([[480, 640]]) * 300 / per_inch)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (">pixel<", ">inch<", ":4: MeasurementUnit 'inch'; expected pixel, mm10 or inch1200"),
        ('"s3" HPOS="0" VPOS="50"', '"s3" VPOS="50"', ":17: String without attribute HPOS"),
        ("Page ", "Seite ", ":2: no Page element; expected one or more"),
        ('WC="1"', 'WC="1.5"', ":17: WC = '1.5'; expected a confidence in [0, 1]"),
        ("110,0 300,0 300,40 110,38.5", "110,0 300,0", ":12: 2 vertices; expected three or more"),
        (
            "110,0 300,0 300,40 110,38.5",
            "110,0 300,0 300",
            ":12: 5 coordinates; expected an even count",
        ),
        ("110,0 300,0 300,40 110,38.5", "", ":12: 0 vertices; expected three or more"),
        (
            'VPOS="50" WIDTH="300" HEIGHT="40" C',
            'VPOS="50" WIDTH="-3" HEIGHT="40" C',
            ":17: width -3, height 40; exp",
        ),
    ],
)
def test_alto_faults(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ALTO
    text = ALTO.replace(old, new).replace("</Page>", "</Seite>" if "Seite" in new else "</Page>")
    (fault,) = Read(written(tmp_path / "p.xml", text)).faults
    assert fault.startswith(message)


@pytest.mark.parametrize("settings", ["none", "300 dpi, binarised at 200 dpi"])
def test_alto_without_one_resolution_is_in_fractions_of_the_page(
    tmp_path: Path, settings: str
) -> None:
    text = ALTO.replace(">pixel<", ">mm10<").replace(">none<", f">{settings}<")
    path = written(tmp_path / "p.xml", text)
    (fault,) = Read(path).faults
    assert fault.startswith(
        ": coordinates that are fractions of the page, whose size in pixels is not known"
    )
    Image.new("L", (1280, 1920)).save(tmp_path / "p.png")
    images = with_sizes(Read(path).source, tmp_path).read(np.arange(1))
    assert images.objects.boxes.tolist() == pytest.approx(np.array(WORD_BOXES) * [2, 4, 2, 4])
    assert images.sizes.tolist() == [[1920, 1280]]
    (fault,) = Read(written(path, text.replace('WIDTH="640" HEIGHT="480"', ""))).faults
    assert fault.startswith(
        ":9: a MeasurementUnit other than pixel, no resolution of the scan, and a Page without"
    )


def test_alto_without_unit_is_in_pixels(tmp_path: Path) -> None:
    found = Read(
        written(tmp_path / "p.xml", ALTO.replace("<MeasurementUnit>pixel</MeasurementUnit>", ""))
    )
    assert (found.objects.boxes.tolist(), found.faults) == (WORD_BOXES, [])
    assert found.warnings == [": 1 file without MeasurementUnit is taken for pixels"]


def test_alto_strings_without_any_place_are_left_out(tmp_path: Path) -> None:
    text = ALTO.replace(
        'HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40" CONTENT="three"', 'CONTENT="HPOS = 3"'
    )
    found = Read(written(tmp_path / "p.xml", text))
    assert (found.texts, found.faults) == (["Two", "words"], [])
    assert found.warnings == [": 1 String element without a place was left out"]


def test_alto_pages_are_images(tmp_path: Path) -> None:
    first, end = ALTO.index("<Page "), ALTO.index("</Layout>")
    second = ALTO[first:end].replace("Two", "Three").replace("640", "1280")
    text = f"{ALTO[:end]}<!-- <Page> -->{second}{ALTO[end:]}"
    folder = tmp_path / "gt"
    folder.mkdir()
    written(folder / "a.xml", ALTO)
    path = written(folder / "b.xml", text)
    found = [Read(folder), Read(path)]
    assert [one.source.names for one in found] == [["a", "b-1", "b-2"], ["b-1", "b-2"]]
    for one in found:
        assert one.faults == []
        assert one.images.sizes.tolist()[-2:] == [[480, 640], [480, 1280]]
        assert one.texts[-6:] == ["Two", "words", "three", "Three", "words", "three"]
    part = found[0].source.read(np.array([2, 1]))
    assert list(part.objects.texts)[::3] == ["Three", "Two"]
    written(folder / "b-1.xml", ALTO)
    assert "image name 'b-1' again" in Read(folder).faults[0]


@pytest.mark.parametrize(("name", "other"), [("voc", ALTO), ("page", VOC), ("alto", CTW1500)])
def test_a_document_of_another_format_is_no_empty_image(
    tmp_path: Path, name: str, other: str
) -> None:
    fault, hint = Read(written(tmp_path / "1.xml", other), "gt", name).faults
    assert re.search(r"^:\d: root '\w+'; expected root \w+$", fault)
    assert re.search(
        rf"^: content of the format [a-z0-9-]+; expected {name}, which was named$", hint
    )


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


@pytest.mark.parametrize("name", LEVELS)
def test_each_is_recognised_by_content_in_folder_and_archive(tmp_path: Path, name: str) -> None:
    folder, archived = tmp_path / "gt", tmp_path / "gt.zip"
    folder.mkdir()
    for number in (10, 2):
        written(folder / f"img_{number}.XML", sample(name))
    written(folder / "readme.txt", "1,2,3,4")
    zipped(archived, {f"labels/img_{number}.xml": sample(name) for number in (10, 2)})
    found = [Read(folder, "gt", None if name in SAMPLES else name), Read(archived, "gt", name)]
    for one in found:
        assert (one.source.format, one.source.names, one.faults) == (name, ["img_2", "img_10"], [])
        assert one.texts == found[0].texts and len(one.texts) in (2, 4, 6)
    assert "1 file that is not .xml was left out: 'readme.txt'" in found[0].source.warnings[0]
    scores = evaluate(folder, archived, gt_format=name, det_format=name).scores
    assert scores["recall"] == scores["precision"] == 1


@pytest.mark.parametrize("name", LEVELS)
def test_each_converted_is_the_same_evaluated(tmp_path: Path, name: str) -> None:
    path, target = written(tmp_path / "img.xml", sample(name)), tmp_path / "gt.txt"
    objects = Read(path, "gt", name).objects
    assert convert(path, target, "gt", options=InputOptions(name)).objects == objects.count > 0
    copied = Read(target).objects
    for column in ("ids", "regions", "dont_care", "boxes"):
        assert getattr(copied, column).tolist() == getattr(objects, column).tolist()
    for gt, gt_format in ((path, name), (target, None)):
        scores = evaluate(gt, path, gt_format=gt_format, det_format=name).scores
        assert scores["recall"] == scores["precision"] == 1


def test_packed_by_gzip(tmp_path: Path) -> None:
    path = tmp_path / "page_1.xml.gz"
    path.write_bytes(gzip.compress(PAGE.encode()))
    assert Read(path).source.names == ["page_1"]
