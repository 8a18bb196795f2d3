"""The XML of ICDAR 2003 to 2011, and of CTW1500."""

import pytest
from reading import read

from evaltex_cli import evaluate

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<tagset>
  <image>
    <imageName>day_1/IMG_1.JPG</imageName>
    <resolution x="1280" y="960"/>
    <taggedRectangles>
      <taggedRectangle x="10" y="20.5" width="100" height="30"><tag>Caf&#233; &amp; Bar</tag></taggedRectangle>
      <taggedRectangle x="0" y="0" width="0" height="0"/>
      <taggedRectangle x="5" y="6" width="7" height="8"/>
    </taggedRectangles>
  </image>
  <image><imageName>empty</imageName><taggedRectangles/></image>
</tagset>
"""


def write(folder, text, name="gt.xml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_images_rectangles_and_words(tmp_path):
    found = read(write(tmp_path, DOCUMENT))
    assert (found.source.format, found.faults) == ("icdar-xml", [])
    assert found.source.names == ["day_1/IMG_1.JPG", "empty"]
    assert found.source.sizes.tolist() == [[960, 1280], [0, 0]]
    assert found.objects.offsets.tolist() == [0, 3, 3]
    assert found.objects.boxes.tolist() == [[10, 20.5, 109, 49.5], [0, 0, 0, 0], [5, 6, 11, 13]]
    assert found.objects.pixels.tolist() == [[10, 20, 109, 49], [0, 0, -1, -1], [5, 6, 11, 13]]
    assert found.objects.types is None
    assert found.objects.ids.tolist() == [1, 2, 3]
    assert found.texts == ["Café & Bar", "", ""]


def test_street_view_text_and_wolfs_types(tmp_path):
    """A capital letter in an element; whole numbers need no column of pixels."""
    text = DOCUMENT.replace("<resolution", "<Resolution").replace("20.5", "20.0")
    text = text.replace('width="0" height="0"', 'width="1" height="1" modelType="2"')
    found = read(write(tmp_path, text.replace('width="7"', 'width="7" typeModel="3"')))
    assert found.source.sizes.tolist() == [[960, 1280], [0, 0]]
    assert (found.objects.pixels, found.objects.types.tolist()) == (None, [-1, 2, 3])
    assert "1 image has rectangles with and without a modelType" in found.warnings[0]


@pytest.mark.parametrize("protocol", ["deteval", "icdar2003"])
def test_rectangles_of_zeros(tmp_path, protocol):
    path = write(tmp_path, DOCUMENT)
    found = evaluate(path, path, protocol)
    assert found.scores["recall"] == pytest.approx(2 / 3)
    assert "1 rectangle of four zeros is an object without area; zero_rect" in found.warnings[0]
    left_out = evaluate(path, path, protocol, zero_rectangles="ignored")
    assert left_out.scores["recall"] == left_out.scores["precision"] == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('x="5"', 'x="1e13"', "gt.xml:9: x '1e13'; expected a finite number"),
        ('x="5" ', "", "gt.xml:9: taggedRectangle without x; expected a number there"),
        ('x="5"', 'modelType="word" x="5"', "gt.xml:9: modelType 'word'; expected a finite number"),
        ('width="7"', 'width="-7"', "gt.xml:9: a box from 5, 6 to -3, 13; expected x0 <= x1"),
        ('x="1280"', 'x="wide"', "gt.xml:5: x 'wide'; expected a finite number"),
        (">empty<", ">../x<", "image name '../x'; expected a name that stays"),
        (">empty<", ">day_1/IMG_1.JPG<", "image name 'day_1/IMG_1.JPG' again"),
        ("</tagset>", "", "gt.xml:14: Premature end of data"),
        ("<tagset>", '<!DOCTYPE t [<!ENTITY a "aa">]>\n<tagset>', "entities of a document type"),
    ],
)
def test_faults_name_line_and_expectation(tmp_path, old, new, message):
    assert old in DOCUMENT
    text = DOCUMENT.replace(old, new)
    (fault,) = read(write(tmp_path, text.replace("Bar", "&a;") if "ENTITY" in new else text)).faults
    assert message in fault


# CTW1500 ------------------------------------------------------------------------------------------

CTW1500 = """<Annotations>
 <image file="0200.jpg">
  <box height="20" left="10" top="30" width="90">
   <label> École </label>
   <segs>10,30,40,30,70,35,100,30,100,50,70,50,40,45,10,50</segs>
   <pts x="20" y="40" />
  </box>
  <box height="20" left="10" top="90" width="90"><label>###</label><segs>1,9,10,9</segs></box>
 </image>
</Annotations>
"""


def test_ctw1500(tmp_path):
    path = write(tmp_path, CTW1500, "0200.xml")
    found = read(path)
    assert (found.source.format, found.source.names, found.faults) == ("ctw1500-xml", ["0200"], [])
    assert found.texts == ["École", "###"]
    assert found.objects.dont_care.tolist() == [False, True]
    assert found.objects.boxes.tolist() == [[10, 30, 100, 50], [1, 9, 10, 9]]
    assert found.objects.outlines.counts.tolist() == [8, 3]
    (fault,) = read(path, "det").faults
    assert "0200.xml:8: 2 vertices; expected three or more" in fault


@pytest.mark.parametrize(
    ("declared", "encoding", "fault"),
    [
        ("", "utf-8-sig", ""),
        ("", "utf-16", ""),
        ("iso-8859-1", "latin-1", ""),
        ("", "latin-1", "gt.xml:4: "),
        ("no-such", "utf-8", "gt.xml:1: "),
    ],
)
def test_encodings(tmp_path, declared, encoding, fault):
    text = f'<?xml version="1.0" encoding="{declared}"?>{CTW1500}' if declared else CTW1500
    path = tmp_path / "gt.xml"
    path.write_bytes(text.encode(encoding))
    found = read(path)
    assert found.texts[:1] == ([] if fault else ["École"])
    assert [fault in one for one in found.faults] == [True] * bool(fault)
