"""JSON documents: how large they may be, how much memory their values take, and how often they are read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from json_documents import ART, HIERTEXT
from reading import read
from written_files import written, zipped

from evaltex_cli import InputError, formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.files import archive


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(ART)
    assert document_files.MAX_BYTES == 1 << 30
    monkeypatch.setattr(document_files, "MAX_BYTES", len(text) - 1)
    with pytest.raises(InputError, match=f"larger than {len(text) - 1} bytes"):
        read(written(tmp_path / "gt.json", text))
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b'{"gt_1": []' + b" " * (1 << 22) + b"}"))
    with pytest.raises(InputError, match="larger than"):
        read(bomb)
    with pytest.raises(InputError, match="at most"):
        read(zipped(tmp_path / "a.zip", {"gt": text, "gt.json": text}))


def test_a_document_is_parsed_once_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    inner = safe_json.parse
    monkeypatch.setattr(safe_json, "parse", lambda data: parsed.append(len(data)) or inner(data))
    path = written(tmp_path / "gt.json", HIERTEXT)
    read(path)
    assert len(parsed) == 1
    assert read(written(path, ART)).source.format == "art"
    assert len(parsed) == 2


def test_a_folder_is_looked_through_once_to_detect_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    inner = archive.walk
    monkeypatch.setattr(archive, "walk", lambda folder: looks.append(folder) or inner(folder))
    written(tmp_path / "res_1.txt", "1,2,3,4")
    formats.open_source(tmp_path, "det", FaultLog())
    assert len(looks) < 8 < len(formats.FORMATS)
