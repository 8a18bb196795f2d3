"""Folders as programs export them and people keep them: what is not of the data is left out, and said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reading import read

from evaltex_cli.formats.documents import each_file
from evaltex_cli.formats.engines import hocr
from evaltex_cli.formats.files import archive

WORD = '<Word><Coords points="0,0 9,0 9,9"/></Word>'
PAGE = f"<PcGts><Page><TextRegion><TextLine>{WORD}</TextLine></TextRegion></Page></PcGts>"


def written(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["mets__xml", "metadata__xml", "zz_mets__xml"])
def test_mets_next_to_pages_is_left_out(tmp_path: Path, name: str) -> None:
    root = "trpDocMetadata" if "meta" in name else "mets:mets xmlns:mets='m'"
    found = read(written(tmp_path / "gt", **{name: f"<{root}></{root.split(maxsplit=1)[0]}>", "p__xml": PAGE}), "gt")
    assert (found.source.names, found.objects.count, found.faults) == (["p"], 1, [])
    assert found.source.warnings == (f"{tmp_path / 'gt'}: 1 file of METS or metadata was left out",)


def test_files_of_a_bag_are_left_out(tmp_path: Path) -> None:
    about = {"bagit__txt": "a", "bag-info__txt": "b", "manifest-sha512__txt": "c", "tagmanifest-md5__txt": "d"}
    found = read(written(tmp_path / "gt", **about, p__xml=PAGE), "gt")
    assert found.source.names == ["p"]
    assert "4 files about the data set were left out: 'bag-info.txt', 'bagit.txt', " in found.source.warnings[0]


def test_lists_of_darknet_are_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "gt", obj__names="text", train__txt="data/1.png", img__txt="0 0.5 0.5 0.2 0.1")
    assert [entry.name for entry in archive.open_entries(folder).entries] == ["img.txt"]
    (folder / "obj.names").unlink()  # without it, train may be an image
    assert [entry.name for entry in archive.open_entries(folder).entries] == ["img.txt", "train.txt"]


def test_fractions_that_reach_a_little_over_the_edge_are_of_yolo(tmp_path: Path) -> None:
    lines = ["7 0.94 0.5 0.5 0.8 0.8"] * 9 + ["7 0.9 0.65 0.68 0.7 0.69"]
    assert read(written(tmp_path / "det", a__txt="\n".join(lines)), "det").source.format == "yolo"


def test_a_document_of_pages_is_opened_once_for_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    events = hocr.events
    monkeypatch.setattr(hocr, "events", lambda data: opened.append(1) or events(data))
    word = "<span class='ocrx_word' title='bbox 0 0 {0} 9'>a</span>"
    pages = "".join(f"<div class='ocr_page'>{word.format(k)}</div>" for k in range(1, 6))
    source = read(written(tmp_path / "det", doc__hocr=f"<html>{pages}</html>"), "det").source
    opened.clear()
    boxes = [source.read(np.array([k])).objects.boxes[0, 2] for k in range(5)]
    assert (boxes, len(opened)) == ([1, 2, 3, 4, 5], 0)
    assert len(each_file._held) <= 2
    (tmp_path / "det" / "doc.hocr").write_text(f"<html>{pages}{pages}</html>")
    assert len(read(tmp_path / "det", "det").source.names) == 10
