"""Folders and .zip archives: what is listed, in which order, and under which names."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
import zlib
from pathlib import Path

import pytest
from archives import METHOD, contents, patched
from hypothesis import given, settings
from hypothesis import strategies as st
from written_files import in_folder, zipped

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.fingerprint import Fingerprint
from evaltex_cli.runtime.input_files import natural_key


def images(path: Path) -> list[str]:
    return [entry.image for entry in archive.open_entries(path).entries]


def bad_names(path: Path) -> list[str]:
    faults = FaultLog()
    archive.open_entries(path).refuse_bad_names(faults)
    return [str(fault) for fault in faults.shown]


FILES = {"gt_img_10.txt": b"ten", "gt_img_2.txt": b"", "deep/gt_img_1.txt": b"1,2,3,4,word\n" * 500}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_folder_and_archive_agree(tmp_path: Path, method: int) -> None:
    packed, folder = zipped(tmp_path / "a.zip", FILES, method), in_folder(tmp_path / "a", FILES)
    assert archive.is_archive(packed) and archive.is_archive(folder)
    assert contents(packed) == contents(folder)
    assert list(contents(packed)) == ["img_1", "img_2", "img_10"]
    assert sorted(contents(packed).values()) == sorted(FILES.values())


def test_entries_are_read_in_the_order_asked_for(tmp_path: Path) -> None:
    for path in (zipped(tmp_path / "a.zip", FILES), in_folder(tmp_path / "a", FILES)):
        entries = archive.open_entries(path)
        assert list(entries.read_many(entries.entries[::-1])) == [
            b"ten",
            b"",
            FILES["deep/gt_img_1.txt"],
        ]
        assert entries.read(entries.entries[2]) == b"ten"


@settings(deadline=None, derandomize=True, max_examples=25)
@given(
    st.permutations(
        [
            "img_1",
            "img_2",
            "img_10",
            "img_10a",
            "img_010",
            "a",
            "b2c10",
            "b10c2",
            "999999999999999999999",
        ]
    )
)
def test_order_is_natural_and_does_not_depend_on_the_archive(names: list[str]) -> None:
    expected = [
        "999999999999999999999", "a", "b2c10", "b10c2", "img_1", "img_2", "img_010", "img_10", "img_10a",
    ]  # fmt: skip
    assert sorted(names, key=lambda name: (natural_key(name), name)) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gt_img_1.txt", "img_2.TXT"], ["img_1", "img_2"]),
        (["res_img_1.txt", "DET_img_2.txt", "poly_gt_img3.txt"], ["img3", "img_1", "img_2"]),
        (["top/res_1.txt", "top/res_2.txt"], ["1", "2"]),
        (["top/a/1.txt", "top/b/1.txt", "top/b/2.txt"], ["a/1", "b/1", "b/2"]),
        (["1.txt", "a/1.txt"], ["1", "a/1"]),
        (["./res_1.txt"], ["1"]),
        (["no\u00e9l \u65e5\u672c.txt"], ["no\u00e9l \u65e5\u672c"]),
    ],
)
def test_images_are_named_without_prefix_and_ending(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    packed = zipped(tmp_path / "a.zip", dict.fromkeys(names, b"x"))
    assert images(packed) == expected
    assert images(in_folder(tmp_path / "a", dict.fromkeys(names, b"x"))) == expected
    assert bad_names(packed) == []


def test_a_name_in_utf8_without_the_flag_is_read_as_utf8(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"XX_1.txt": b"x"})
    path.write_bytes(path.read_bytes().replace(b"XX_1.txt", "é_1.txt".encode()))
    assert images(path) == ["é_1"]


def test_a_name_that_is_not_utf8_is_read_in_the_code_page_of_archives(tmp_path: Path) -> None:
    """Byte 82 is an accented e in code page 437, which names without the flag
    are in (APPNOTE, appendix D).
    """
    path = zipped(tmp_path / "a.zip", {"X_1.txt": b"x"})
    path.write_bytes(path.read_bytes().replace(b"X_1.txt", b"\x82_1.txt"))
    assert images(path) == ["\u00e9_1"]


def test_clutter_is_passed_over_and_other_files_are_reported(tmp_path: Path) -> None:
    clutter = ["__MACOSX/._gt_1.txt", "__MACOSX/gt_1.txt", "._gt_1.txt", ".DS_Store", "a/Thumbs.db"]
    others = ["1.json", "2.json", "3.json", "4.json"]
    files = dict.fromkeys([*clutter, *others, "gt_1.txt"], b"x")
    for path in (zipped(tmp_path / "a.zip", files), in_folder(tmp_path / "a", files)):
        assert images(path) == ["1"]
        (warning,) = archive.open_entries(path).warnings
        assert (
            warning
            == f"{path}: 4 files that are not .txt were left out: '1.json', '2.json', '3.json', ..."
        )


def test_a_list_of_classes_is_no_image(tmp_path: Path) -> None:
    for path in (
        zipped(tmp_path / "a.zip", {"labels/classes.txt": b"text", "labels/1.txt": b"x"}),
        tmp_path / "b",
    ):
        if path.name == "b":
            in_folder(path, {"Classes.txt": b"text", "1.txt": b"x", "my_classes.txt": b"x"})
        entries = archive.open_entries(path)
        assert "classes" not in [entry.image.lower() for entry in entries.entries]
        (warning,) = entries.warnings
        assert "a list of classes was left out" in warning
    assert images(tmp_path / "b") == ["1", "my_classes"]


def test_entries_that_nothing_reads_may_be_of_any_kind(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"image.png": b"x", "gt_1.txt": b"y"})
    patched(path, METHOD, 97)
    assert contents(path) == {"1": b"y"}


@pytest.mark.parametrize(
    "name",
    [
        "../gt_1.txt", "a/../../gt_1.txt", "/etc/gt_1.txt", "C:\\gt_1.txt", "..\\gt_1.txt", "\\\\host\\gt_1.txt",
        "a//gt_1.txt", "gt_.txt", ".txt", "gt_...txt", "a\nb.txt", "a\x00b.txt", "gt_\x1b[31m.txt",
    ],
)  # fmt: skip
def test_names_that_leave_the_result_folder_are_faults(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zip"
    placeholder = "?" * len(name.encode())
    zipped(path, {placeholder: b"x", "gt_2.txt": b"y"})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name.encode()))
    (fault,) = bad_names(path)
    assert fault.startswith(f"{path}/") and "entry name" in fault and "rename it" in fault
    assert fault.isprintable()


def test_two_entries_of_one_image_are_a_fault(tmp_path: Path) -> None:
    (fault,) = bad_names(
        zipped(tmp_path / "a.zip", {"gt_1.txt": b"", "res_1.txt": b"", "2.txt": b""})
    )
    assert "entry 'res_1.txt' is of image '1', as entry 'gt_1.txt' is" in fault


def test_nothing_is_written_when_an_archive_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    path = zipped(tmp_path / "a.zip", {"../out.txt": b"x", "in.txt": b"y"})
    assert sorted(contents(path).values()) == [b"x", b"y"]
    assert sorted(item.name for item in tmp_path.rglob("*")) == ["a.zip", "inner"]


def test_files_are_named_once_for_all_formats_that_look_at_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = []
    inner = archive.image_names
    monkeypatch.setattr(
        archive, "image_names", lambda names, suffix: named.append(suffix) or inner(names, suffix)
    )
    files = {"gt_1.txt": b"1,2,3,4\n", "gt_2.txt": b"1,2,3,4\n"}
    for path in (zipped(tmp_path / "a.zip", files), in_folder(tmp_path / "a", files)):
        named.clear()
        assert formats.open_source(path, "gt", FaultLog()).names == ["1", "2"]
        assert named == [".txt"]
    zipped(tmp_path / "a.zip", files | {"gt_3.txt": b""})
    assert formats.open_source(tmp_path / "a.zip", "gt", FaultLog()).names == ["1", "2", "3"]


def test_a_relative_path_is_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped(tmp_path / "a.zip", {"gt_1.txt": b"1,2,3,4\n"})
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gt.zip").symlink_to(tmp_path / "a.zip")
        monkeypatch.chdir(tmp_path / name)
        opened = archive.open_entries(Path("gt.zip"))
        assert opened.file == str(tmp_path / name / "gt.zip")


def test_fingerprint_is_of_the_archive_or_of_the_names_and_contents(tmp_path: Path) -> None:
    def fingerprint(path: Path) -> str:
        entries = archive.open_entries(path)
        found = Fingerprint(entries)
        for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
            found.add(entry, data)
        return found.hexdigest()

    files = {f"{k}.txt": bytes([k]) for k in range(9)} | FILES
    packed, folder = zipped(tmp_path / "a.zip", files), in_folder(tmp_path / "a", files)
    assert fingerprint(packed) == hashlib.sha256(packed.read_bytes()).hexdigest()
    lines = sorted(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    assert fingerprint(folder) == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_state_changes_with_the_files(tmp_path: Path) -> None:
    folder, packed = in_folder(tmp_path / "a", FILES), zipped(tmp_path / "a.zip", FILES)
    states = [archive.state(folder)]
    assert archive.state(folder) == states[0]
    for change in (b"longer than before", b"shorter"):
        (folder / "deep" / "gt_img_1.txt").write_bytes(change)
        states.append(archive.state(folder))
    os.utime(folder / "gt_img_2.txt", (1, 1))
    states.append(archive.state(folder))
    (folder / "new.txt").write_bytes(b"")
    assert len({*states, archive.state(folder)}) == 5
    before = archive.state(packed)
    zipped(packed, {**FILES, "new.txt": b""})
    assert archive.state(packed) != before


def test_zip64_and_data_before_the_archive_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file, file.open("gt_1.txt", "w", force_zip64=True) as entry:
        entry.write(b"1,2,3,4")
    assert contents(path) == {"1": b"1,2,3,4"}
    stored = archive.open_entries(path).entries[0].stored
    assert stored is not None and stored.crc == zlib.crc32(b"1,2,3,4")
    path.write_bytes(b"PK\x03\x04, but not yet" + path.read_bytes())
    assert contents(path) == {"1": b"1,2,3,4"}


@given(st.lists(st.text(st.sampled_from("ab019_é "), max_size=6), max_size=8))
def test_numbers_compare_by_value_whatever_is_around_them(names: list[str]) -> None:
    def plain(name: str) -> list[object]:
        parts = re.split("([0-9]+)", name)
        return [
            (len(part.lstrip("0")), part.lstrip("0")) if k % 2 else part
            for k, part in enumerate(parts)
        ]

    assert sorted(names, key=natural_key) == sorted(names, key=plain)
