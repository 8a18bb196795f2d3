"""The XML of ICDAR 2003 to 2011."""

import numpy as np
import pytest

from evaltex_cli import InputError, evaluate
from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.icdar_xml import FORMAT

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
    faults = FaultLog()
    path = write(tmp_path, DOCUMENT)
    assert FORMAT.recognises(path)
    source = FORMAT.index(path, "gt", faults)
    read = source.read(np.array([1, 0]), faults)
    faults.raise_if_any()
    assert source.names == ["day_1/IMG_1.JPG", "empty"]
    assert read.sizes.tolist() == [[0, 0], [960, 1280]]
    assert read.objects.offsets.tolist() == [0, 0, 2]
    assert read.objects.boxes.tolist() == [[10, 20.5, 109, 49.5], [5, 6, 11, 13]]
    assert read.objects.ids.tolist() == [1, 2]
    assert list(read.objects.texts) == ["Café & Bar", ""]


def test_evaluates_against_itself(tmp_path):
    path = write(tmp_path, DOCUMENT)
    scores = evaluate(path, path).scores
    assert scores["recall"] == scores["precision"] == 1


def faults_of(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        evaluate(path, path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('x="5"', 'x="5px"', "gt.xml:9: x = '5px'; expected numbers x, y, width, height"),
        ('x="5"', 'x="nan"', "gt.xml:9: x = 'nan'; expected numbers"),
        ('x="5"', 'x="1e13"', "gt.xml:9: x = '1e13'; expected numbers"),
        ('x="5" ', "", "gt.xml:9: no attribute x; expected numbers"),
        ('width="7"', 'width="-7"', "gt.xml:9: width -7, height 8; expected both at least 1"),
        (
            "<imageName>empty",
            "<imageName>../../etc/x",
            "gt.xml:12: image name '../../etc/x'; expected a name that stays",
        ),
        ("<imageName>empty", "<imageName>day_1/IMG_1.JPG", "gt.xml:12: image name 'day_1/IMG_1.JPG' again"),
        ("<imageName>empty", "<imageName>", "gt.xml:12: image name ''"),
        ("</tagset>", "", "gt.xml:14: no element found; expected well-formed XML"),
    ],
)
def test_faults_name_line_and_expectation(tmp_path, old, new, message):
    assert old in DOCUMENT
    assert message in faults_of(tmp_path, DOCUMENT.replace(old, new))


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t SYSTEM "http://localhost/x.dtd">',
    ],
)
def test_document_types_and_entities_are_refused(tmp_path, doctype):
    text = DOCUMENT.replace("<tagset>", f"{doctype}\n<tagset>").replace("empty<", "&a;<")
    assert "gt.xml:2: a document type declaration; expected none" in faults_of(tmp_path, text)
