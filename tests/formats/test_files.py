"""The files of an input: what is listed, in which order, under which names, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read
from written_files import in_folder, zipped

from evaltex_cli.errors import InputError
from evaltex_cli.formats import files
from evaltex_cli.formats.files import open_listing
from evaltex_cli.runtime.input_files import natural_key

FILES = {"gt_img_10.txt": b"ten", "gt_img_2.txt": b"", "deep/gt_img_1.txt": b"1,2,3,4,word\n" * 50}
FLAGS, CRC, SIZE, OFFSET = (8, "<H"), (16, "<I"), (24, "<I"), (42, "<I")
"""Where fields of a central directory header stand, and their types (APPNOTE 4.3.12)."""
VOC = "<annotation><object><bndbox>{}</bndbox></object></annotation>".format(
    "<xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax>"
)


def both(folder: Path, content: dict[str, bytes]) -> tuple[Path, Path]:
    """The same files in an archive and in a folder."""
    return zipped(folder / "a.zip", content), in_folder(folder / "a", content)


def images(path: Path, *endings: str) -> list[str]:
    listing, _ = open_listing(path).chosen(endings or (".txt",))
    return [entry.image for entry in listing.entries]


def contents(path: Path) -> dict[str, bytes]:
    listing, _ = open_listing(path).chosen((".txt",))
    return dict(zip([entry.image for entry in listing.entries], listing.read(), strict=True))


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        contents(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


def patched(path: Path, field: tuple[int, str], value: int) -> Path:
    """Overwrite a field of the first entry in the central directory."""
    data = bytearray(path.read_bytes())
    struct.pack_into(field[1], data, data.index(b"PK\x01\x02") + field[0], value)
    path.write_bytes(data)
    return path


def test_folder_and_archive_agree(tmp_path: Path) -> None:
    packed, folder = both(tmp_path, FILES)
    assert contents(packed) == contents(folder)
    assert list(contents(packed)) == ["img_1", "img_2", "img_10"]
    assert sorted(contents(packed).values()) == sorted(FILES.values())


def test_order_is_natural() -> None:
    names = ["9999999999999999999", "a", "b2c10", "b10c2", "img_1", "img_2", "img_010"]
    assert sorted(set(names), key=lambda name: (natural_key(name), name)) == names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gt_img_1.txt", "img_2.TXT"], ["img_1", "img_2"]),
        (["res_img_1.txt", "DET_img_2.txt", "poly_gt_img3.txt"], ["img3", "img_1", "img_2"]),
        (["top/a/1.txt", "top/b/1.txt", "top/b/2.txt"], ["a/1", "b/1", "b/2"]),
        (["1.txt", "a/1.txt"], ["1", "a/1"]),
        (["no\u00e9l \u65e5\u672c.txt"], ["no\u00e9l \u65e5\u672c"]),
    ],
)
def test_images_are_named_without_prefix_and_ending(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    for path in both(tmp_path, dict.fromkeys(names, b"x")):
        assert images(path) == expected


@pytest.mark.parametrize(("placeholder", "name"), [("XX_1", "é_1".encode()), ("X_1", b"\x82_1")])
def test_names_without_the_flag_of_utf8(tmp_path: Path, placeholder: str, name: bytes) -> None:
    """UTF-8 if they are, else the code page of archives, where byte 82 is an accented e."""
    path = zipped(tmp_path / "a.zip", {f"{placeholder}.txt": b"x"})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name))
    assert images(path) == ["é_1"]


def test_what_is_no_data_is_passed_over_or_told(tmp_path: Path) -> None:
    clutter = ["__MACOSX/._gt_1.txt", "__MACOSX/gt_1.txt", "._gt_1.txt", ".DS_Store", "a/Thumbs.db"]
    clutter += ["README.md", "README.roboflow.txt", "a/readme"]
    others = ["1.json", "2.json", "3.json", "4.json", "image.png"]
    for path in both(tmp_path, dict.fromkeys([*clutter, *others, "classes.txt", "gt_1.txt"], b"")):
        listing, note = open_listing(path).chosen((".txt",))
        assert [entry.image for entry in listing.entries] == ["1"]
        assert note == (
            "6 files besides the .txt files of images were left out: '1.json', '2.json', '3.json'"
            " and 3 more"
        )


def test_lists_of_pictures_are_left_out(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "gt", dict.fromkeys(["train.txt", "obj.names", "img.txt"], b"x"))
    _, note = open_listing(folder).chosen((".txt",))
    assert images(folder) == ["img"] and "2 files besides" in note
    (folder / "obj.names").unlink()  # without it, train may be an image
    assert images(folder) == ["img", "train"]


@pytest.mark.parametrize("name", ["mets.xml", "metadata.xml", "zz_mets.xml"])
def test_mets_next_to_documents_is_left_out(tmp_path: Path, name: str) -> None:
    root = "trpDocMetadata" if "meta" in name else "mets:mets xmlns:mets='m'"
    mets = f"<{root}></{root.partition(' ')[0]}>"
    found = read(in_folder(tmp_path / "gt", {name: mets, "p.xml": VOC}))
    assert (found.source.names, found.objects.count, found.faults) == (["p"], 1, [])
    assert found.source.warnings == (f"{tmp_path / 'gt'}: 1 file of METS or metadata was left out",)


def test_two_files_of_one_image_are_a_fault(tmp_path: Path) -> None:
    found = read(in_folder(tmp_path / "gt", {"gt_1.xml": VOC, "res_1.xml": VOC, "2.xml": VOC}))
    assert found.faults == ["res_1.xml: image name '1' again; expected image names used once"]


def test_names_that_leave_the_folder_of_results_are_faults(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a\x1b[31m.xml": VOC, "../b.xml": VOC})
    found = read(path)
    assert found.source.names == ["a\x1b[31m", "b"]  # the folders of b are no part of its name
    (fault,) = found.faults
    assert "a name that stays in the result folder" in fault and fault.isprintable()


def test_sha256_is_of_the_archive_the_content_or_names_and_contents(tmp_path: Path) -> None:
    content = {f"{k}.xml": VOC.replace("30", str(30 + k)).encode() for k in range(9)}
    packed, folder = both(tmp_path, content)
    assert read(packed).source.sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    lines = sorted(f"{digest}  {name}\n" for name, digest in digests.items())
    assert read(folder).source.sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    (tmp_path / "1.xml.gz").write_bytes(gzip.compress(content["1.xml"]))
    alone = read(tmp_path / "1.xml.gz").source
    assert (alone.names, alone.sha256) == (["1"], digests["1.xml"])


def test_encrypted_entries_are_refused(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "a.zip", {"gt_1.txt": b"x"}), FLAGS, 1)
    assert "is damaged or encrypted (File" in refusal(path)


@pytest.mark.parametrize(
    ("field", "value"), [(SIZE, 999), (CRC, 1), (OFFSET, 5), (OFFSET, 1 << 30)]
)
def test_lying_headers_are_refused(tmp_path: Path, field: tuple[int, str], value: int) -> None:
    path = zipped(tmp_path / "a.zip", {"gt_1.txt": random.Random(1).randbytes(1000)})
    message = refusal(patched(path, field, value))
    assert "is damaged" in message and "pack or download it again" in message


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_harmless_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, change: int
) -> None:
    content = {"gt_1.txt": b"1,2,3,4\n" * 9, "gt_2.txt": b"5,6,7,8"}
    path = zipped(tmp_path_factory.mktemp("zip") / "a.zip", content)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= change
    path.write_bytes(data)
    try:
        found = contents(path)
    except InputError as error:
        assert str(error).startswith(str(path))
    else:
        assert set(found.values()) <= {*content.values(), bytes(data)}


@pytest.mark.parametrize("damage", ["cut", "checksum", "stream"])
def test_a_damaged_file_packed_by_gzip_is_refused(tmp_path: Path, damage: str) -> None:
    """Each is another class of error: EOFError, gzip.BadGzipFile and zlib.error."""
    data = bytearray(gzip.compress(b"1,2,3,4\n" * 9))
    if damage == "cut":
        del data[-6:]
    else:
        data[-8 if damage == "checksum" else 10] ^= 0xFF
    (tmp_path / "a.txt.gz").write_bytes(data)
    assert "is damaged" in refusal(tmp_path / "a.txt.gz")


def test_missing_and_too_large_inputs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot be read (No such file" in refusal(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or device; write what it gives to a file" in refusal(tmp_path / "pipe")
    packed, folder = both(tmp_path, {f"gt_{k}.txt": b"x" * 10 for k in range(5)})
    monkeypatch.setattr(files, "MAX_BYTES", 49)
    assert "has more than 49 bytes, unpacked" in refusal(packed)
    assert len(contents(folder)) == 5


def test_an_input_without_files_of_its_format_is_refused(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "det", {"a.png": b"x"})
    with pytest.raises(
        InputError, match=r"no \.xml file in it, .*; 1 file besides the \.xml files"
    ):
        read(folder, "det", "voc")
    (folder / "a.png").unlink()
    with pytest.raises(InputError, match="no file in it"):
        read(folder)
