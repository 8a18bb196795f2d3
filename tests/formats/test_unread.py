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

from evaltex_cli import InputError, formats
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
        (
            "a.pkl",
            pickle.dumps({"boxes": [1]}),
            "a pickle, which is not read; loading one can run any code",
        ),
        ("a", pickle.dumps([1]), "a pickle, which is not read"),
        ("model.pth", zipped("archive/data.pkl"), "a pickle, which is not read"),
        ("a.npy", npy(), "an array of NumPy, which is not read; write its boxes as CSV"),
        ("a.npz", zipped("a.npy"), "an array of NumPy, which is not read"),
        (
            "a.xlsx",
            zipped("[Content_Types].xml", "xl/workbook.xml"),
            "an Office document, which is not read; save its",
        ),
        ("a.parquet", b"PAR1" + bytes(20), "a Parquet table, which is not read; write it as CSV"),
        (
            "a.mat",
            b"MATLAB 7.3 MAT-file".ljust(512),
            "a MATLAB 7.3 file, which is not read; save it with -v7",
        ),
        (
            "a.png",
            png(),
            "a picture, which is not read; give label pictures as GT_IMG_DIR and DET_IMG_DIR",
        ),
        ("a.pdf", b"%PDF-1.7\n", "a PDF, which is not read; give what an OCR engine wrote of it"),
        (
            "a.tar",
            tarred(),
            "an archive that is not .zip, which is not read; unpack it, and give the folder",
        ),
        (
            "a.box",
            b"T 36 92 53 122 0\n",
            "a box file of Tesseract, whose y counts from the bottom, which is not read",
        ),
        ("a.yaml", b"a: 1\n", "YAML, which is not read"),
        (
            "a.json",
            b'{"form": [{"box": [1, 2, 3, 4]}]}',
            "FUNSD, which is not read; convert it to one of the formats",
        ),
        ("a.json", b'[{"samples": []}]', "FiftyOne, which is not read"),
        (
            "a.json",
            b'{"name": 1, "b": 2}',
            "JSON of no known layout (an object with the keys 'name', 'b'); expected",
        ),
        (
            "a.json",
            b'[{"c": 1}, 2]',
            "JSON of no known layout (a list of 2, the first an object with the keys 'c');",
        ),
        (
            "a.json",
            b'{"image_id": 1, "bbox": []}',
            "JSON of no known layout (an object with the keys 'image_id', 'bbox');",
        ),
        (
            "a.html",
            b"<!DOCTYPE html>\n<html><body>word</body></html>",
            "HTML without any class of hOCR, which is not",
        ),
        (
            "a.txt",
            b"1.jpg 10,20,30,40,0 50,60,70,80,0\n",
            "a list of pictures with their boxes, which is not read",
        ),
        (
            "a.txt",
            b'1.png, "a"\n2.png, "b"\n',
            "a list of pictures with their labels, not boxes, which is not read",
        ),
        ("a.txt", b"1,1,10,20,30,40,1,-1,-1,-1\n", "tracks of MOTChallenge, which is not read"),
        (
            "a.json",
            b"[1, 2]",
            "JSON of no known layout (a list of 2, the first 1); expected that of one of",
        ),
        (
            "a.xml",
            b"<dataset><images/></dataset>",
            "dlib's XML, which is not read; convert it to one of the formats",
        ),
        (
            "a.xml",
            b'<?xml version="1.0"?><x:boxes/>',
            "XML of no known layout (root boxes); expected that of one of",
        ),
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
    assert opened(folder).startswith("CORD, which is not read")


def test_messages_name_the_nearest_formats_and_not_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"imgs": {}, "image_id": 1, "utf8_string": "word"}')
    assert (
        "); nearest: coco-text, textocr; expected that of one of the formats that `evaltex formats`"
        in opened(path)
    )
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert "or one document per line as MMOCR 0.x and PaddleOCR have" in opened(path)
    path = tmp_path / "gt.txt"
    path.write_text("a/1.jpg\n2\n10 20 30 40\n1 2 3 4\n")
    with pytest.raises(
        InputError, match=r"a list of pictures, counts and boxes \(FDDB, WIDER FACE\), which is not"
    ):
        formats.open_source(path, "gt", FaultLog())
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
