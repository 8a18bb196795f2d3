"""The XML of ICDAR 2003 to 2011."""

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
        ('width="7"', 'width="-7"', "gt.xml:9: a box from 5, 6 to -3, 13; expected x0 <= x1"),
        (">empty<", ">../x<", "image name '../x'; expected a name that stays"),
        ("</tagset>", "", "gt.xml:14: Premature end of data"),
        ("<tagset>", '<!DOCTYPE t [<!ENTITY a "aa">]>\n<tagset>', "entities of a document type"),
    ],
)
def test_faults_name_line_and_expectation(tmp_path, old, new, message):
    assert old in DOCUMENT
    text = DOCUMENT.replace(old, new)
    (fault,) = read(write(tmp_path, text.replace("Bar", "&a;") if "ENTITY" in new else text)).faults
    assert message in fault
