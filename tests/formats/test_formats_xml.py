"""The XML formats of one image a file: what each element means, and every fault."""

from __future__ import annotations

import gzip
import math
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaltex_cli import InputError, evaluate, formats
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.documents import safe_xml
from evaltex_cli.formats.image_sizes import with_sizes
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.records import Objects
from evaltex_cli.validation.validation import validate

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>somebody</Creator></Metadata>
  <Page imageFilename="page_1.tif" imageWidth="640" imageHeight="480">
    <TableRegion id="t"><TextRegion id="r1">
      <Coords points="0,0 300,0 300,90 0,90"/>
      <TextLine id="l1">
        <Coords points="0,0 300,0 300,40 0,40"/>
        <Word id="w1">
          <Coords points="0,0 99.5,0 99.5,40 0,40" conf="0.5"/>
          <Glyph id="g"><Coords points="0,0 9,0 9,40 0,40"/><TextEquiv><Unicode>T</Unicode></TextEquiv></Glyph>
          <TextEquiv index="1"><Unicode>Tw0</Unicode></TextEquiv>
          <TextEquiv index="0" conf="0.9"><Unicode>Two &amp; &#233;</Unicode></TextEquiv>
        </Word>
        <Word id="w2"><Coords points="110,0 300,0 300,40 110,40"/></Word>
        <TextEquiv><Unicode>Two words</Unicode></TextEquiv>
      </TextLine>
      <TextLine id="l2">
        <Coords points="0,50 300,50 300,90 0,90"/>
        <Word id="w3"><Coords>
          <Point x="0" y="50"/><Point x="300" y="50"/><Point x="300" y="90"/><Point x="0" y="90"/>
        </Coords><TextEquiv conf="0.25"><Unicode>three</Unicode></TextEquiv></Word>
      </TextLine>
    </TextRegion></TableRegion>
    <ImageRegion id="i"><Coords points="400,0 500,0 500,90"/></ImageRegion>
  </Page>
</PcGts>
"""
ALTO = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#">
  <Description>
    <MeasurementUnit>pixel</MeasurementUnit>
    <OCRProcessing ID="p"><ocrProcessingStep>
      <processingStepSettings>none</processingStepSettings>
    </ocrProcessingStep></OCRProcessing>
  </Description>
  <Layout><Page ID="p1" WIDTH="640" HEIGHT="480"><PrintSpace><TextBlock ID="b1">
    <TextLine ID="l1" HPOS="0" VPOS="0" WIDTH="300" HEIGHT="40">
      <String ID="s1" HPOS="0" VPOS="0" WIDTH="99.5" HEIGHT="40" CONTENT="Two" WC="0.5"/><SP WIDTH="10"/>
      <String ID="s2" HPOS="110" VPOS="0" WIDTH="190" HEIGHT="40" CONTENT="words">
        <Shape><Polygon POINTS="110,0 300,0 300,40 110,38.5"/></Shape>
      </String>
    </TextLine>
    <TextLine ID="l2" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40">
      <String ID="s3" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40" CONTENT="three" WC="1"/>
    </TextLine>
  </TextBlock></PrintSpace></Page></Layout>
</alto>
"""
VOC = """<annotation>
  <folder>images</folder>
  <filename>other.jpg</filename>
  <size><width>640</width><height>480</height><depth>3</depth></size>
  <object>
    <name>text</name>
    <difficult>0</difficult>
    <bndbox><xmin>10</xmin><ymin>20.5</ymin><xmax>110</xmax><ymax>50</ymax></bndbox>
  </object>
  <object>
    <name>text</name>
    <difficult>1</difficult>
    <bndbox><xmax>30</xmax><xmin>200</xmin><ymin>5</ymin><ymax>9</ymax></bndbox>
  </object>
  <object><name>text</name><bndbox><xmin>1</xmin><ymin>100</ymin><xmax>9</xmax><ymax>150</ymax></bndbox></object>
</annotation>
""".replace("<xmax>30</xmax><xmin>200</xmin>", "<xmax>230</xmax><xmin>200</xmin>")
CTW1500 = """<Annotations>
 <image file="0200.jpg">
  <box height="20" left="10" top="30" width="90">
   <label>ÉCOLE</label>
   <segs>10,30,40,30,70,35,100,30,100,50,70,50,40,45,10,50</segs>
   <pts x="20" y="40" />
  </box>
  <box height="20" left="10" top="90" width="90"><label>###</label><segs>10,90,100,90,100,110,10,110</segs></box>
  <box height="20" left="10" top="190" width="90"><label>box</label></box>
 </image>
</Annotations>
"""
SAMPLES = {"page": PAGE, "alto": ALTO, "voc": VOC, "ctw1500-xml": CTW1500}
LEVELS = [*SAMPLES, "page-line", "page-region", "alto-line"]
WORD_BOXES = [[0, 0, 99.5, 40], [110, 0, 300, 40], [0, 50, 300, 90]]


class Read:
    """What came of an input."""

    def __init__(self, path: Path, side: Side = "gt", format_name: str | None = None) -> None:
        log = FaultLog()
        self.source: Source = formats.open_source(path, side, log, format_name)
        self.images = self.source.read(np.arange(len(self.source.names)))
        log.extend(self.images.faults)
        self.objects: Objects = self.images.objects
        self.texts = list(self.objects.texts)
        self.warnings = [warning.removeprefix(str(path)) for warning in self.source.warnings]
        self.faults = [str(fault).removeprefix(str(path)) for fault in log.shown]


def sample(name: str) -> str:
    return SAMPLES[name.removesuffix("-line").removesuffix("-region")]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


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


@pytest.mark.parametrize(
    ("name", "other"), [("voc", ALTO), ("labelme-xml", PAGE), ("page", VOC), ("alto", CTW1500)]
)
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
    with zipfile.ZipFile(archived, "w") as file:
        for number in (10, 2):
            file.writestr(f"labels/img_{number}.xml", sample(name))
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


FAULTS = [
    ("page", "110,0 300,0 300,40 110,40", "110,0 300,0", ":15: 2 vertices; expected three or more"),
    (
        "page",
        "110,0 300,0 300,40 110,40",
        "110,0 300,nan 3,4",
        ":15: points = 'nan'; expected a finite number",
    ),
    (
        "page",
        '<Coords points="110,0 300,0 300,40 110,40"/>',
        "",
        ":15: Word without Coords; expected one Coords in each",
    ),
    ("page", 'conf="0.5"', 'conf="50"', ":10: conf = '50'; expected a confidence in [0, 1]"),
    (
        "page",
        '<Point x="0" y="50"/>',
        '<Point x="0"/>',
        ":21: Point without attribute y; expected a number there",
    ),
    (
        "page",
        'imageWidth="640"',
        'imageWidth="wide"',
        ":4: imageWidth = 'wide'; expected a finite number",
    ),
    ("page", "Page>", "Pages>", ":26: mismatched tag; expected well-formed XML"),
    ("voc", "<xmin>10</xmin>", "", ":8: bndbox without xmin; expected one xmin in each bndbox"),
    ("voc", "<xmin>10</xmin>", "<xmin>ten</xmin>", ":8: xmin = 'ten'; expected a finite number"),
    ("voc", "<xmin>10</xmin>", "<xmin>1e13</xmin>", ":8: xmin = '1e13'; expected a finite number"),
    (
        "voc",
        "<xmin>10</xmin>",
        "<xmin>111</xmin>",
        ":8: a box from (111, 20.5) to (110, 50); expected xmin <= xmax",
    ),
    ("voc", "<difficult>1<", "<difficult>yes<", ":12: difficult 'yes'; expected 0 or 1"),
    ("ctw1500-xml", "<segs>10,90,", "<segs>10,x,", ":8: segs = 'x'; expected a finite number"),
    ("ctw1500-xml", "<segs>10,90,", "<segs>10,", ":8: 7 coordinates; expected an even count"),
    ("ctw1500-xml", "<segs>10,30,", "<segs>10,30,9" + "9" * 400 + ",", ":5: segs = '9999"),
    (
        "ctw1500-xml",
        "</image>",
        "</image><image/>",
        ":10: 2 image elements; expected one image in each file",
    ),
    ("ctw1500-xml", 'top="190"', "", ":9: box without attribute top; expected a number there"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), FAULTS)
def test_faults_name_line_and_expectation(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    assert old in SAMPLES[name]
    path = written(tmp_path / "p.xml", SAMPLES[name].replace(old, new))
    (fault,) = Read(path, "gt", name).faults
    assert fault.startswith(message)
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "a.xml", SAMPLES[name])
    written(folder / "b.xml", path.read_text(encoding="utf-8"))
    with pytest.raises(InputError) as caught:
        evaluate(folder, folder)
    assert f"b.xml{message}" in str(caught.value) and "a.xml" not in str(caught.value)


def test_short_dont_care_polygons_have_no_area(tmp_path: Path) -> None:
    text = CTW1500.replace("10,90,100,90,100,110,10,110", "10,90,100,90")
    found = Read(written(tmp_path / "p.xml", text))
    assert found.faults == []
    assert found.objects.boxes[1].tolist() == [10, 90, 100, 90]
    assert found.images.repairs.zero_area == 1
    (fault,) = Read(tmp_path / "p.xml", "det").faults
    assert fault.startswith(":8: 2 vertices; expected three or more")


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t SYSTEM "http://localhost/x.dtd">',
    ],
)
@pytest.mark.parametrize(
    ("name", "root"),
    [("page", "<PcGts"), ("alto", "<alto"), ("voc", "<annot"), ("ctw1500-xml", "<A")],
)
def test_document_types_and_entities_are_refused(
    tmp_path: Path, name: str, root: str, doctype: str
) -> None:
    text = SAMPLES[name].replace(root, f"{doctype}\n{root}", 1)
    path = written(tmp_path / "p.xml", text)
    with pytest.raises(InputError, match=r"p\.xml:\d: a document type declaration; expected none"):
        evaluate(path, path)
    (fault,) = Read(path, "gt", name).faults
    assert "a document type declaration; expected none" in fault
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "a.xml", SAMPLES[name])
    written(folder / "b.xml", text)
    with pytest.raises(InputError, match=r"b\.xml:\d: a document type declaration"):
        evaluate(folder, folder)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "p.xml", "<annotation>" + "<a>" * 200_000)
    assert Read(path).faults == [
        ":1: elements nested deeper than 100; expected the nesting of an annotation"
    ]


@pytest.mark.parametrize("encoding", ["no-such", "rot13", "utf-7", "shift_jis", "punycode"])
def test_encodings_that_cannot_be_read_are_faults(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path / "p.xml", f'<?xml version="1.0" encoding="{encoding}"?>\n{VOC}')
    (fault,) = Read(path, "gt", "voc").faults
    assert fault.startswith(":1: ")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_bytes(CTW1500.encode("latin-1"))
    (fault,) = Read(path).faults
    assert fault == ":4: not well-formed (invalid token); expected well-formed XML"
    path.write_bytes(b'<?xml version="1.0" encoding="ISO-8859-1"?>' + CTW1500.encode("latin-1"))
    assert Read(path).texts[0] == "ÉCOLE"
    path.write_bytes(CTW1500.encode("utf-16"))
    assert Read(path, "gt", "ctw1500-xml").texts[0] == "ÉCOLE"


def test_long_texts_and_numbers_take_no_long_time(tmp_path: Path) -> None:
    text = CTW1500.replace("<segs>10,90,", "<segs>" + "9" * 3_000_000 + "x,").replace(
        "box<", "&amp;x" * 500_000 + "<"
    )
    found = Read(written(tmp_path / "p.xml", text))
    assert len(found.texts[1]) == 1_000_000
    (fault,) = found.faults
    assert fault.startswith(":8: segs = '9999") and len(fault) < 200


def test_unknown_xml_is_not_read_as_text(tmp_path: Path) -> None:
    path = written(tmp_path / "p.xml", '<?xml version="1.0"?>\n<boxes/>')
    with pytest.raises(
        InputError,
        match=r"XML of no known layout \(root boxes\); expected that of one of the formats that"
        r" `evaltex",
    ):
        evaluate(path, path)
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "p.xml", "<boxes/>")
    with pytest.raises(InputError, match="XML of no known layout"):
        evaluate(folder, folder)


def test_ground_truth_without_documents_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.xml file in it; expected one for each image$"):
        evaluate(tmp_path, tmp_path, gt_format="voc", det_format="voc")


def test_elements() -> None:
    root = safe_xml.tree(b'<a:r xmlns:a="x"><a:b n="1">text<c/>tail</a:b><b n="x"/></a:r>')
    assert (root.name, [b.name for b in root.all("b")], root.needed("b").text) == (
        "r",
        ["b", "b"],
        "text",
    )
    assert root.needed("b").number("n") == 1
    assert root.needed("b").number("missing", 2.5) == 2.5
    with pytest.raises(FormatError, match="r without d"):
        root.needed("d")
    assert safe_xml.root_name(b'\n<!-- c --><x:y a="1"') is None
    assert safe_xml.root_name(b'\n<!-- c --><x:y a="1"><cut') == "y"
