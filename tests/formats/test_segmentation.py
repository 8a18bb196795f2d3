"""Pixel-level ground truth of ICDAR 2013: its pictures and texts."""

from __future__ import annotations

import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading import read

from evaltex_cli import formats
from evaltex_cli.conversion import Target
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.entries import Entries
from evaltex_cli.formats.files.text_lines import MAX_OBJECTS

SEGMENTATION = """10 20 30 5 5 2 3 8 9 "A"
40 50 60 13 5 11 3 15 9 "\\""

#70 80 90 25 15 20 10 29 19 "c"
"""


def segmented(path: Path, packed: bool = False) -> Path:
    path.mkdir()
    pixels = np.full((30, 40, 3), 255, np.uint8)
    pixels[3:9, 2:8] = (10, 20, 30)
    pixels[3:9, 11:15] = (40, 50, 60)
    pixels[10:19, 20:29] = (70, 80, 90)
    Image.fromarray(pixels).save(path / "100_GT.bmp")
    (path / "100_GT.txt").write_text(SEGMENTATION)
    if not packed:
        return path
    with zipfile.ZipFile(path.with_suffix(".zip"), "w") as file:
        for name in ("100_GT.bmp", "100_GT.txt"):
            file.write(path / name, name)
    return path.with_suffix(".zip")


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_segmentation_by_word_and_character(tmp_path: Path, packed: bool) -> None:
    path = segmented(tmp_path / "a", packed)
    words = read(path)
    assert (words.source.format, words.source.names, words.faults) == ("icdar2013-seg", ["100"], [])
    assert words.texts == ['A"', "c"] and words.objects.dont_care.tolist() == [False, True]
    assert words.objects.boxes.tolist() == [[2, 3, 15, 9], [20, 10, 29, 19]]
    assert words.images.sizes.tolist() == [[30, 40]]
    characters = read(path, "gt", "icdar2013-seg-chars")
    assert characters.texts == ["A", '"', "c"] and characters.objects.boxes[1].tolist() == [
        11,
        3,
        15,
        9,
    ]


def test_segmentation_becomes_label_pictures(tmp_path: Path) -> None:
    done = convert(
        segmented(tmp_path / "a"), tmp_path / "gt.txt", "gt", Target(masks=tmp_path / "masks")
    )
    assert (
        tmp_path / "gt.txt"
    ).read_text() == '100\n30,40\n1,1,"A"",f,2,3,13,6\n2,2,"c",t,20,10,9,9\n\n'
    assert done.objects == 2
    expected = np.zeros((30, 40), int)
    expected[3:9, 2:8] = expected[3:9, 11:15] = 1
    expected[10:19, 20:29] = 2
    with Image.open(tmp_path / "masks" / "100.tif") as picture:
        assert np.asarray(picture).tolist() == expected.tolist()


def test_an_archive_of_pictures_is_listed_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = segmented(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        for number in range(1, 6):
            for ending in ("bmp", "txt"):
                file.write(folder / f"100_GT.{ending}", f"{number}_GT.{ending}")
    listed: list[str] = []
    open_entries = archive.open_entries

    def counting(path: Path, suffix: str = ".txt", *others: Any) -> Entries:
        listed.append(suffix)
        return open_entries(path, suffix, *others)

    monkeypatch.setattr(archive, "open_entries", counting)
    assert read(tmp_path / "a.zip").images.sizes.tolist() == [[30, 40]] * 5
    assert listed.count(".bmp") == 1


def test_segmentation_has_the_limit_of_lines_and_words_end_at_blank_ones(tmp_path: Path) -> None:
    line = '1 2 3 5 5 0 0 9 9 "x"\n'
    (tmp_path / "1_GT.txt").write_text(line * (MAX_OBJECTS + 1))
    faults = FaultLog()
    formats.open_source(tmp_path, "gt", faults, "icdar2013-seg")
    assert str(faults.shown[0]).startswith(
        f"{tmp_path}/1_GT.txt:{MAX_OBJECTS + 1}: more than {MAX_OBJECTS} lines"
    )
    assert faults.count == 1
    other = line.replace("1 2 3", "4 5 6").replace('"x"', '"y"')
    (tmp_path / "1_GT.txt").write_text("\n" + line + line + "\n" * 100_000 + other + " \t\r\n\n")
    tracemalloc.start()
    source = formats.open_source(tmp_path, "gt", FaultLog(), "icdar2013-seg")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(source.read(np.arange(1)).objects.texts) == ["xx", "y"]
    assert peak < 8 * 100_000


def test_segmentation_faults(tmp_path: Path) -> None:
    path = segmented(tmp_path / "a")
    lines = (
        '10 20 30 5 5 2 3 8 9 "A"\n256 0 0 5 5 2 3 8 9 "x"\n1 2 3 5 5 9 3 8 9 "y"\nword\n\n10'
        ' 20 30 5 5 2 3 8 9 "B"\n'
    )
    (path / "100_GT.txt").write_text(lines)
    found = read(path, "gt", "icdar2013-seg")
    assert [fault.split("; ")[0] for fault in found.faults] == [
        "100_GT.txt:2: '256 0 0 5 5 2 3 8 9 \"x\"'",
        "100_GT.txt:3: a box from (9, 3) to (8, 9)",
        "100_GT.txt:4: 'word'",
        "100_GT.txt: colour 10 20 30 of two objects",
    ]
    (path / "100_GT.txt").write_text(SEGMENTATION)
    (path / "100_GT.bmp").write_bytes(b"BM nothing")
    with pytest.raises(InputError, match=r"100_GT\.bmp: cannot be read"):
        read(path)
