"""Tesseract's TSV, and pytesseract's table of it as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from reading import described, read
from written_files import in_folder, written

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
TSV = HEAD + (
    "1\t1\t0\t0\t0\t0\t0\t0\t640\t480\t-1\t\n"
    "4\t1\t1\t1\t1\t0\t10\t10\t90\t20\t-1\t\n"
    "5\t1\t1\t1\t1\t1\t10\t10\t40\t20\t96.5\tone\n"
    "5\t1\t1\t1\t1\t2\t60\t10\t40\t20\t-1\ttwo\n"
    "4\t1\t1\t1\t2\t0\t0\t90\t600\t3\t-1\t\n"
    "5\t1\t1\t1\t2\t1\t0\t90\t600\t3\t95\t \n"
    "1\t2\t0\t0\t0\t0\t0\t0\t320\t240\t-1\n"
    '5\t2\t1\t1\t1\t1\t1\t2\t3\t4\t50\t"\n'
)


def as_csv(delimiter: str = ",", index: bool = True) -> str:
    """What pandas writes of the table."""
    written_rows = io.StringIO()
    writer = csv.writer(written_rows, delimiter=delimiter, lineterminator="\n")
    for k, line in enumerate(TSV.splitlines()):
        writer.writerow([f"{k - 1}" if k else ""] * index + (line + "\t").split("\t")[:12])
    return written_rows.getvalue()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scan.tsv", TSV),
        ("scan.txt", f"\ufeff\n{TSV}".replace("\n", "\r\n")),
        ("scan.csv", as_csv()),
        ("scan.tsv", as_csv("\t")),
    ],
)
def test_words_and_lines(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    words, lines = read(path), read(path, level="line")
    assert (words.source.format, words.faults) == ("tesseract-tsv", [])
    assert words.source.names == ["scan-1", "scan-2"]
    assert words.source.sizes.tolist() == [[480, 640], [240, 320]]
    boxes = [[10, 10, 50, 30], [60, 10, 100, 30], [1, 2, 4, 6]]
    assert described(words) == list(zip(boxes, ["one", "two", '"'], strict=True))
    assert words.objects.confidences is not None
    assert words.objects.confidences.tolist() == pytest.approx(
        [0.965, float("nan"), 0.5], nan_ok=True
    )
    assert words.objects.regions.tolist() == [1, 1, 1]
    assert described(lines) == [([10, 10, 100, 30], "one two")]
    assert words.warnings == ["1 word without text was left out"]


def test_texts_next_to_the_tables_are_left_out(tmp_path: Path) -> None:
    found = read(
        in_folder(tmp_path / "det", {"a.tsv": TSV, "a.txt": "one two", "b.tsv": ""}), "det"
    )
    assert (found.source.names, found.faults) == (["a-1", "a-2", "b"], [])
    assert found.warnings[0] == "1 file besides the .tsv files of images was left out: 'a.txt'"


def test_a_table_of_several_images(tmp_path: Path) -> None:
    """Users add a column of images before they join their tables."""
    head, *rows = as_csv(index=False).splitlines()[:7]
    joined = [f"{row},{name}" for name in ("a/x.png", "a/y.png") for row in rows]
    path = written(tmp_path / "all.csv", "\n".join([f"{head},filename", *joined]))
    found = read(path, "det")
    assert (found.source.names, found.texts) == (["x", "y"], ["one", "two"] * 2)
    assert read(written(tmp_path / "none.tsv", HEAD), "det").source.names == ["none"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("5\t1\t1\t1\t1\t1\t10\t10\t40\t96", "''; expected a finite number"),
        ("5\t1\t1\t1\t1\t1\t10\t10\t-40\t20\t96\ta", "width -40, height 20; expected both"),
    ],
)
def test_faulty_rows(tmp_path: Path, row: str, message: str) -> None:
    path = written(tmp_path / "a.tsv", f"{HEAD}{row}\n5\t1\t1\t1\t1\t1\t1\t1\t4\t2\t96\tgood\n")
    found = read(path)
    assert found.faults[0].startswith(f"{path}:2: {message}")
    assert found.fault_count == 1
    assert found.texts == ["good"]
