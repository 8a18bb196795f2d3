"""What a reader does not take: files, archives, names and polygons beyond their limits."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from one_word import DET, GT

from evaltex_cli import evaluate
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.geometry.outlines import MAX_VERTICES
from evaltex_cli.old_formats import open_source
from evaltex_cli.old_formats.documents import document_files
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.image_names import MAX_NAME_BYTES

pytestmark = pytest.mark.usefixtures("here")


def refusal(path: str) -> str:
    with pytest.raises(InputError) as raised:
        open_source(Path(path), "gt", FaultLog())
    return str(raised.value)


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (document_files.MAX_BYTES, archive.MAX_TOTAL_BYTES) == (1 << 30, 2 << 30)
    assert MAX_VERTICES == 10_000


def test_a_document_packed_by_gzip_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_files, "MAX_BYTES", 1 << 20)
    Path("bomb.json.gz").write_bytes(gzip.compress(b'{"gt_1": []' + b" " * (1 << 22) + b"}"))
    assert "larger than 1048576 bytes" in refusal("bomb.json.gz")


def test_the_entries_of_an_archive_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 1 << 20)
    with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for k in range(3):
            packed.writestr(f"{k}.txt", b" " * (1 << 19))
    assert "its entries have 1572864 bytes; at most 1048576 are read" in refusal("bomb.zip")


def test_entities_of_xml_are_refused() -> None:
    Path("a.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><annotation>&b;</annotation>')
    faults = FaultLog()
    open_source(Path("a.xml"), "gt", faults, "voc")
    assert "a document type declaration" in faults.shown[0].found


@pytest.mark.parametrize("name", ["a.json", "a.xml"])
def test_deep_nesting_is_a_fault(name: str) -> None:
    opening = {
        "a.json": '{"annotations": [' + "[" * 200_000,
        "a.xml": "<annotation>" + "<a>" * 200_000,
    }
    Path(name).write_text(opening[name])
    faults = FaultLog()
    try:
        open_source(Path(name), "gt", faults)
    except InputError:
        return
    assert faults.count


@pytest.mark.parametrize("length", [MAX_NAME_BYTES, MAX_NAME_BYTES + 1])
def test_names_have_a_limit(length: int) -> None:
    Path("gt.txt").write_text(GT.replace("img_1", "a" * length))
    image = {"id": "a" * length, "width": 9, "height": 9}
    Path("gt.json").write_text(json.dumps({"images": [image], "annotations": [], "categories": []}))
    with zipfile.ZipFile("gt.zip", "w") as packed:
        packed.writestr(f"{'a' * length}.txt", "0,0,9,9,a\n")
    for name in ("gt.txt", "gt.json", "gt.zip"):
        faults = FaultLog()
        open_source(Path(name), "gt", faults)
        assert faults.count == (length > MAX_NAME_BYTES), name


def test_polygons_have_a_limit_of_vertices() -> None:
    Path("gt.txt").write_text(GT)
    for count in (MAX_VERTICES, MAX_VERTICES + 1):
        angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
        ring = np.stack([500 + 400 * np.cos(angles), 500 + 400 * np.sin(angles)], axis=1)
        drawn = ",".join(map(str, ring.ravel().tolist()))
        Path("det.txt").write_text(f'{DET}2,"",{drawn}\n')
        if count == MAX_VERTICES:
            assert evaluate("gt.txt", "det.txt").det.objects == 2
        else:
            with pytest.raises(InputError, match=r"det\.txt:3: a polygon of 10001 vertices"):
                evaluate("gt.txt", "det.txt")
