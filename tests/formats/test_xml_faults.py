"""The XML formats of one image a file: every fault, and documents made to harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import written
from xml_documents import CTW1500, SAMPLES, VOC, Read

from evaltex_cli import InputError, evaluate
from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.documents import safe_xml

FAULTS = [
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
    [("voc", "<annot"), ("ctw1500-xml", "<A")],
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
    with pytest.raises(InputError, match="XML of no known layout; expected a format that"):
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
