"""Archives that are refused: encrypted, lying, damaged, too large."""

from __future__ import annotations

import gzip
import os
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from archives import CENTRAL_HEADER, CRC, FLAGS, OFFSET, SIZE, contents, patched, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from written_files import in_folder, zipped

from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.listing import stored_files


@pytest.mark.parametrize("flag", [0x1, 0x40, 0x2000])
def test_encrypted_entries_are_refused(tmp_path: Path, flag: int) -> None:
    path = patched(zipped(tmp_path / "a.zip", {"gt_1.txt": b"x"}), FLAGS, flag)
    assert "entry 'gt_1.txt' is encrypted; pack the files without a password" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packing_methods_are_refused(tmp_path: Path, method: int) -> None:
    assert f"packed by method {method};" in refusal(
        zipped(tmp_path / "a.zip", {"gt_1.txt": b"x" * 99}, method)
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (SIZE, 999, "longer than announced"),
        (SIZE, 1001, "shorter than announced"),
        (SIZE, 0, "longer than announced"),
        (CRC, 1, "its checksum is wrong"),
        (OFFSET, 5, "its header is not where"),
        (OFFSET, 1 << 30, "damaged"),
    ],
)
def test_lying_headers_are_refused(
    tmp_path: Path, method: int, field: tuple[int, str], value: int, reason: str
) -> None:
    path = zipped(tmp_path / "a.zip", {"gt_1.txt": random.Random(1).randbytes(1000)}, method)
    message = refusal(patched(path, field, value))
    assert reason in message and "pack or download it again" in message


def test_a_bomb_is_not_unpacked_beyond_what_it_announces(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "a.zip", {"gt_1.txt": bytes(1 << 26)}), SIZE, 100)
    tracemalloc.start()
    assert "longer than announced" in refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 23


def test_damage_is_reported(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", {"gt_1.txt": random.Random(2).randbytes(3000)}).read_bytes()
    truncated, garbled = tmp_path / "truncated.zip", tmp_path / "garbled.zip"
    truncated.write_bytes(whole[: len(whole) // 2])
    garbled.write_bytes(whole[:60] + bytes(40) + whole[100:])
    assert "the archive is damaged" in refusal(truncated)
    assert "the archive is damaged" in refusal(garbled)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_harmless_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, change: int
) -> None:
    path = tmp_path_factory.mktemp("zip") / "a.zip"
    data = bytearray(
        zipped(path, {"gt_1.txt": b"1,2,3,4\n" * 9, "gt_2.txt": b"5,6,7,8"}).read_bytes()
    )
    data[at % len(data)] ^= change
    path.write_bytes(data)
    try:
        found = contents(path)
    except InputError as error:
        assert str(error).startswith(str(path))
    else:
        assert set(found.values()) <= {b"1,2,3,4\n" * 9, b"5,6,7,8"}


@pytest.mark.parametrize("damage", ["cut", "checksum", "stream"])
def test_a_damaged_file_packed_by_gzip_is_refused(tmp_path: Path, damage: str) -> None:
    """Each is another class of error: EOFError, gzip.BadGzipFile and zlib.error."""
    data = bytearray(gzip.compress(b"1,2,3,4\n" * 9))
    if damage == "cut":
        del data[-6:]
    else:
        data[-8 if damage == "checksum" else 10] ^= 0xFF
    (tmp_path / "a.txt.gz").write_bytes(data)
    assert f"{tmp_path / 'a.txt.gz'}: damaged gzip data" in refusal(tmp_path / "a.txt.gz")


def test_no_archive_at_all(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_bytes(b"\0img_1\n")
    assert not archive.is_archive(text) and not archive.is_archive(tmp_path / "missing")
    assert "not a .zip archive" in refusal(text)
    assert "cannot be read (No such file" in refusal(tmp_path / "missing")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not archive.is_archive(tmp_path / "pipe")


def test_sizes_and_numbers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"gt_{k}.txt": b"x" * 10 for k in range(5)}
    paths = (zipped(tmp_path / "a.zip", files), in_folder(tmp_path / "a", files))
    for path in paths:
        assert len(contents(path)) == 5
        with monkeypatch.context() as patch:
            patch.setattr(archive, "MAX_BYTES", 9)
            assert "has 10 bytes; at most 9 are read" in refusal(path)
        with monkeypatch.context() as patch:
            patch.setattr(archive, "MAX_TOTAL_BYTES", 49)
            assert "its entries have 50 bytes; at most 49 are read" in refusal(path)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    entries = archive.open_entries(in_folder(tmp_path / "a", {"gt_1.txt": b"1,2,3,4"}))
    (tmp_path / "a" / "gt_1.txt").write_bytes(b"1,2,3,4\n5,6,7,8")
    with pytest.raises(InputError, match="changed while it was read"):
        list(entries.read_many(entries.entries))
    (tmp_path / "a" / "gt_1.txt").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        list(entries.read_many(entries.entries))


@pytest.mark.parametrize(
    ("offset", "change", "reason"), [(6, b"\x6e", "zip file version"), (8, b"\x00\x08", "codec")]
)
def test_what_zipfile_raises_besides_its_own_error_is_reported(
    tmp_path: Path, offset: int, change: bytes, reason: str
) -> None:
    """A version of the format that nobody reads, and a name flagged as UTF-8 that is none."""
    path = zipped(tmp_path / "a.zip", {"gt_\xe9.txt": b"1,2,3,4,x\n"})
    data = bytearray(path.read_bytes())
    at = data.rindex(CENTRAL_HEADER)
    data[at + offset : at + offset + len(change)] = change
    name = data.rindex("gt_\xe9".encode())
    data[name + 3 : name + 5] = b"\xff\xff" if reason == "codec" else data[name + 3 : name + 5]
    path.write_bytes(data)
    assert "the archive is damaged" in refusal(path) and reason in refusal(path)


def test_an_offset_that_older_versions_of_zipfile_seek_unchecked_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first releases of Python 3.11 hand it on to `seek`, which raises
    ValueError, however far before the file.
    """

    def beyond_an_offset(*_: object) -> None:
        with (tmp_path / "a.zip").open("rb") as file:
            file.seek(-(1 << 70))

    (tmp_path / "a.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    monkeypatch.setattr(zipfile, "ZipFile", beyond_an_offset)
    with pytest.raises(
        InputError, match=r"a\.zip: the archive is damaged \(.*\); pack or download it again"
    ):
        stored_files(tmp_path / "a.zip")
