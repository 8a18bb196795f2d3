"""Files that no format reads are called by their names, with what to do."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pytest
from reading import read

from evaltex_cli import InputError


def opened(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        read(path, "det")
    return str(raised.value).removeprefix(f"{path}: ")


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


PICKLE = pickle.dumps({"boxes": [1]})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pkl", PICKLE, "a pickle, which is not read; loading it can run"),
        ("model.pth", zipped("archive/data.pkl", PICKLE), "a pickle, which is not read"),
        ("a.mat", b"MATLAB 7.3 MAT-file".ljust(512), "a MATLAB 7.3 file, which is not read; save"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0", "a picture, which is not read; give label pictures"),
        ("a.pdf", b"%PDF-1.7\n", "a PDF, which is not read; give what an OCR engine wrote"),
        (
            "a.tar",
            b"1.txt".ljust(257, b"\0") + b"ustar\0",
            "an archive that is not .zip, which is not read; unpack it, and",
        ),
        ("a.txt", b'<point x="1" y="2">a</point>', "a list of points, without an area, which"),
        ("a.bin", b"\1\2\0\0\3", "a binary file, which is not read; give text, JSON or XML"),
        ("a.box", b"T 36 92 53 122 0\n", "a Tesseract box file, whose y counts from the bottom"),
        (
            "a.json",
            b'{"a": 1,\n "b": }\n',
            "Expecting value: line 2 column 7 (char 15); expected well-formed JSON",
        ),
        ("a.html", b"<!DOCTYPE html>\n<html>word</html>", "HTML without any class of hOCR, which"),
        ("a.txt", b"1.jpg 10,20,30,40,0 50,60,70,80,0\n", "a list of pictures, which is not read"),
        ("a.txt", b"1.png,10,20,30,40\n", "a table without a header, which is not read; begin it"),
        ("a.txt", b"14 0.43 162 96 189 245\n", "lines of a class and a box in pixels, which no"),
        ("1_GT.txt", b'2 0 9 82 20 70 10 95 30 "a"\n', "ICDAR 2013's ground truth of segm"),
        (
            "a.json",
            b'{"a": 1, "points": [], "b": ""}',
            "JSON of no known layout; expected a format",
        ),
        (
            "a.jsonl",
            b'{"file_name": "a.jpg", "annotations": [{"iscrowd": 1, "bbox": [260, 138, 24, 20]}]}',
            "JSON of no known layout",
        ),
        ("a.xml", b'<?xml version="1.0"?><x:boxes/>', "XML of no known layout; expected a format"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # archives have the time in them
)
def test_what_is_not_read_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert message in opened(path)


@pytest.mark.parametrize("name", ["[1", "<1>", "a b 1 2 3 4"])
def test_names_that_begin_as_json_or_xml_do_are_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / "det.txt"
    path.write_text(f'{name}\n1,"word",10,10,50,20\n')
    assert read(path, "det").source.names == [name]
