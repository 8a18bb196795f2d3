"""Files that no format reads are called by their names, with what to do."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaltex_cli import InputError
from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog


def opened(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        formats.open_source(path, "det", FaultLog())
    return str(raised.value).removeprefix(f"{path}: ")


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("1.txt"))
    return file.getvalue()


def png() -> bytes:
    file = io.BytesIO()
    Image.new("L", (9, 9)).save(file, "PNG")
    return file.getvalue()


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pkl", pickle.dumps({"boxes": [1]}), "a pickle, which is not read; loading it can run"),
        ("model.pth", zipped("archive/data.pkl"), "a pickle, which is not read"),
        ("a.npy", npy(), "a NumPy array, which is not read; write its boxes as CSV"),
        ("a.xlsx", zipped("[Content_Types].xml"), "an Office document, which is not read; save"),
        ("a.parquet", b"PAR1" + bytes(20), "a Parquet table, which is not read; write it as CSV"),
        ("a.mat", b"MATLAB 7.3 MAT-file".ljust(512), "a MATLAB 7.3 file, which is not read; save"),
        ("a.png", png(), "a picture, which is not read; give label pictures as GT_IMG_DIR and"),
        ("a.pdf", b"%PDF-1.7\n", "a PDF, which is not read; give what an OCR engine wrote"),
        ("a.tar", tarred(), "an archive that is not .zip, which is not read; unpack it, and"),
        ("a.box", b"T 36 92 53 122 0\n", "a Tesseract box file, whose y counts from the bottom"),
        ("a.yaml", b"a: 1\n", "YAML, which is not read"),
        ("a.json", b'{"form": [{"box": [1, 2, 3, 4]}]}', "FUNSD, which is not read; write its"),
        ("a.json", b'{"project": {"pid": "1"}}', "a project of VIA 3, which is not read; write"),
        ("a.json", b'{"name": 1, "b": 2}', "JSON of no known layout; expected a format that"),
        ("a.json", b"[1, 2]", "JSON of no known layout; expected a format that"),
        ("a.html", b"<!DOCTYPE html>\n<html>word</html>", "HTML without any class of hOCR, which"),
        ("a.txt", b"1.jpg 10,20,30,40,0 50,60,70,80,0\n", "a list of pictures, which is not read"),
        ("a.txt", b'1.png, "a"\n2.png, "b"\n', "a list of pictures, which is not read"),
        ("a.txt", b"1.png,10,20,30,40\n", "a table without a header, which is not read; begin it"),
        ("a.txt", b"14 0.43 162 96 189 245\n", "lines of a class and a box in pixels, which is"),
        ("1_GT.txt", b'2 0 9 82 20 70 10 95 30 "a"\n', "ICDAR 2013's ground truth of segm"),
        ("a.txt", b"word 162 96 18 24\n", "lines of a class and a box in pixels, which is"),
        ("a.xml", b'<?xml version="1.0"?><x:boxes/>', "XML of no known layout; expected a format"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives have the time in them
)
def test_what_is_not_read_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert opened(path).startswith(message)


def test_folders_of_documents_of_no_known_layout(tmp_path: Path) -> None:
    folder = tmp_path / "det"
    folder.mkdir()
    (folder / "1.json").write_text(json.dumps({"valid_line": [{"words": []}]}))
    assert opened(folder).startswith("JSON of no known layout; ")


def test_folders_of_boxes_with_a_class(tmp_path: Path) -> None:
    for count in (1, 20):
        folder = tmp_path / f"{count}"
        folder.mkdir()
        for k in range(count):
            (folder / f"{k}.txt").write_text("14 0.43 162 96 189 245\n" * 2)
        assert opened(folder).startswith("lines of a class and a box in pixels, which is not read")


def test_messages_name_the_nearest_formats_and_not_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"imgs": {}, "image_id": 1, "utf8_string": "word"}')
    assert "layout; nearest: coco-text, textocr; expected a format that" in opened(path)
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert "or one document per line as PaddleOCR has" in opened(path)
    with pytest.raises(
        InputError,
        match=r"unknown format 'cocoo' \(did you mean 'coco'\?\); `evaltex formats` lists",
    ):
        formats.load("cocoo")


def test_a_format_named_by_mistake(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_text(
        json.dumps(
            {"shapes": [{"label": "a", "points": [[0, 0], [9, 9]], "shape_type": "rectangle"}]}
        )
    )
    log = FaultLog()
    formats.open_source(path, "gt", log, "coco")
    assert [str(fault) for fault in log.shown][1:] == [
        f"{path}: content of the format labelme; expected coco, which was named"
    ]
    with pytest.raises(
        InputError, match="content of the format labelme; expected icdar-xml, which was named"
    ):
        formats.open_source(path, "gt", FaultLog(), "icdar-xml")
    log = FaultLog()
    path.write_text('{"images": [], "annotations": [{}]}')
    formats.open_source(path, "gt", log, "coco-res")  # of the same family
    assert not any("which was named" in str(fault) for fault in log.shown)


def test_names_that_begin_as_json_or_xml_do_are_names(tmp_path: Path) -> None:
    path = tmp_path / "det.txt"
    for name in ("[1", "<1>"):
        path.write_text(f'{name}\n1,"word",10,10,50,20\n')
        assert formats.open_source(path, "det", FaultLog()).names == [name]
