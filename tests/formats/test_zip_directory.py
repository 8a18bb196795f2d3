"""The bulk reader of a .zip's directory against `zipfile`: what it takes, it reads the same; what is odd, it leaves."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import InputError
from evaltex_cli.formats.files import zip_directory

TIMES = struct.pack("<HHBL", 0x5455, 5, 3, 1_700_000_000)
OWNER = struct.pack("<HHBBLBL", 0x7875, 11, 1, 4, 1000, 4, 1000)
UNKNOWN = struct.pack("<HHL", 0x9999, 4, 7)
ZIP64 = struct.pack("<HHQ", 0x0001, 8, 7)


def packed(
    path: Path,
    names: list[str],
    extra: bytes = b"",
    comment: bytes = b"",
    file_comment: bytes = b"",
    before: bytes = b"",
) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for k, name in enumerate(names):
            info = zipfile.ZipInfo(name)
            info.extra, info.comment = extra, file_comment
            info.compress_type = zipfile.ZIP_DEFLATED if k % 2 else zipfile.ZIP_STORED
            archive.writestr(info, b"1,2,3,4,word\n" * (k % 5))
        archive.comment = comment
    path.write_bytes(before + path.read_bytes())
    return path


NAMES = ["gt_img_1.txt", "deep/gt_img_2.txt", "deep/", "a b.png"]


@pytest.mark.parametrize("names", [NAMES[:1], NAMES, [f"{k}.txt" for k in range(1000)]])
@pytest.mark.parametrize("extra", [b"", TIMES, TIMES + OWNER])
def test_usual_directories_are_read_in_bulk(tmp_path: Path, names: list[str], extra: bytes) -> None:
    path = packed(tmp_path / "a.zip", names, extra, file_comment=b"of a file")
    found = zip_directory._usual(path)
    assert found is not None and found == zip_directory._any(path)
    assert [item.name for item in found] == names


def test_more_files_than_16_bits_count_are_read_in_bulk(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", [f"{k}.txt" for k in range(65_536)][::-1])
    found = zip_directory._usual(path)
    assert found is not None and found == zip_directory._any(path)


@pytest.mark.parametrize(
    "given",
    [
        {"names": []},
        {"names": ["é.txt"]},
        {"extra": UNKNOWN},
        {"extra": ZIP64},
        {"extra": TIMES[:-1]},
        {"comment": b"of all"},
        {"file_comment": b"PK\x01\x02"},
        {"before": b"PK\x03\x04 and more"},
    ],
)
def test_all_others_are_left_to_zipfile(tmp_path: Path, given: dict[str, object]) -> None:
    path = packed(tmp_path / "a.zip", **{"names": NAMES, **given})  # type: ignore[arg-type]
    assert zip_directory._usual(path) is None


def test_a_version_of_the_format_that_zipfile_refuses_is_left_to_it(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", NAMES)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 6] = 64
    path.write_bytes(bytes(content))
    assert zip_directory._usual(path) is None


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=1500)
@given(st.data())
def test_whatever_is_changed_both_read_the_same(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = packed(
        tmp_path_factory.getbasetemp() / "changed.zip", NAMES, data.draw(st.sampled_from([b"", TIMES + OWNER]))
    )
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\x01\x02")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(directory, len(content) - 1) | st.integers(len(content) - 22, len(content) - 1))
        content[at] = data.draw(st.sampled_from([0, 1, 0xFF]) | st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.none() | st.integers(0, len(content)))]))
    found = zip_directory._usual(path)
    if found is not None:
        assert found == zip_directory._any(path)
    else:
        try:
            zip_directory._any(path)
        except InputError as error:
            assert "the archive is damaged" in str(error)
