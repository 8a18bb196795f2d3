"""Every sample, untidy as files are in practice: read with the same objects, refused or warned of."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from reading import described, read
from sample_words import Sample
from samples import SAMPLES
from written_files import in_folder

from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import Side

LINES = (".txt", ".csv", ".tsv", ".gt")
SIDES: tuple[Side, ...] = ("gt", "det")
CASES = [(name, side) for name, sample in SAMPLES.items() for side in SIDES if sample.files(side)]
FOLDERS = [case for case in CASES if not SAMPLES[case[0]].many_in_one]
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data: re.sub(rb"\r?\n", b"\r\n", data),
    "CR": lambda data: re.sub(rb"\r?\n", b"\r", data),
    "trailing commas": lambda data: re.sub(rb"([^\r\n])(\r?\n)", rb"\1,\2", data),
    "trailing blanks": lambda data: re.sub(rb"([^\r\n])(\r?\n)", rb"\1 \t \2", data),
}


def bytes_of(name: str, side: Side) -> dict[str, bytes]:
    files = SAMPLES[name].files(side)
    return {file: data.encode() if isinstance(data, str) else data for file, data in files.items()}


def put(folder: Path, name: str, files: Mapping[str, bytes]) -> Path:
    in_folder(folder, files)
    return folder / next(iter(files)) if SAMPLES[name].many_in_one else folder


def objects(path: Path, side: Side, sample: Sample) -> tuple[dict[str, Any], str] | None:
    """Return the objects of each image, and warnings; None if it is refused."""
    try:
        found = read(path, side, sample.format(side), sample.level)
    except InputError as error:
        assert path.name in str(error)
        return None
    if found.faults:
        return None
    columns = found.objects
    confidences = [None] * columns.count if columns.confidences is None else columns.confidences
    texts = [(box, text.rstrip(" \t")) for box, text in described(found)]
    rows = list(zip(texts, found.rings, columns.dont_care.tolist(), confidences, strict=True))
    ends = columns.offsets.tolist()
    images = {name: rows[ends[k] : ends[k + 1]] for k, name in enumerate(found.source.names)}
    return images, " ".join(found.warnings)


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(("name", "side"), CASES)
def test_text_is_read_right_or_refused_or_warned_of(tmp_path: Path, name: str, side: Side) -> None:
    files, sample = bytes_of(name, side), SAMPLES[name]
    clean = objects(put(tmp_path / "clean", name, files), side, sample)
    assert clean is not None
    for label, change in CHANGES.items():
        if label == "trailing commas" and not next(iter(files)).endswith(LINES):
            continue
        untidy = {
            file: data if file.endswith((".bmp", ".mat")) else change(data)
            for file, data in files.items()
        }
        found = objects(put(tmp_path / label, name, untidy), side, sample)
        assert found or label not in ("BOM", "CRLF"), label
        if found and found[0] != clean[0]:
            said = "which is not don't care" in found[1] or "end in a comma" in found[1]
            assert label.startswith("trailing") and said, (label, found[1])


@pytest.mark.few_fast(25)
@pytest.mark.parametrize(("name", "side"), FOLDERS)
def test_folders_and_archives_as_programs_write_them(tmp_path: Path, name: str, side: Side) -> None:
    files, sample = bytes_of(name, side), SAMPLES[name]
    clean = objects(put(tmp_path / "clean", name, files), side, sample)
    assert clean is not None
    upper = {re.sub(r"\.\w+$", lambda end: end[0].upper(), file): files[file] for file in files}
    clutter = ("__MACOSX/._a.txt", ".DS_Store", "Thumbs.db", f"._{next(iter(files))}")
    untidy = files | dict.fromkeys(clutter, b"\0\5\x16\7")
    with zipfile.ZipFile(tmp_path / "windows.zip", "w") as packed:
        for file, data in untidy.items():
            entry = zipfile.ZipInfo(file)
            entry.filename = entry.orig_filename = "data\\labels\\" + file.replace("/", "\\")
            packed.writestr(entry, data)
    for path in (
        put(tmp_path / "upper", name, upper),
        put(tmp_path / "clutter", name, untidy),
        tmp_path / "windows.zip",
    ):
        found = objects(path, side, sample)
        assert found and found[0] == clean[0], path


ODD = {
    ".txt": ("icdar2013-train", "icdar2015", "totaltext-commas", "popeval"),
    ".json": ("labelme", "document-ai", "doctr", "rapidocr"),
    ".xml": ("voc", "page"),
}
AMBIGUOUS = {("msra-td500", "icdar2013-train"), ("msra-td500-five", "icdar2013-train")}
"""Five numbers, of which the fifth may be an angle or a confidence."""
ODD_PAIRS = [
    (name, other, side)
    for name, side in FOLDERS
    for ending, others in ODD.items()
    for other in others
    if other != name and (other, side) in FOLDERS and (name, other) not in AMBIGUOUS
    if next(iter(SAMPLES[name].files(side))).endswith(ending)
]


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(("name", "other", "side"), ODD_PAIRS)
def test_a_file_of_another_format_among_many(
    tmp_path: Path, name: str, other: str, side: Side
) -> None:
    (first, data), *_ = bytes_of(name, side).items()
    (second, odd), *_ = bytes_of(other, side).items()
    files = {f"{k}{Path(first).suffix}": data for k in range(30)}
    files[f"odd{Path(second).suffix}"] = odd
    found = objects(in_folder(tmp_path / "many", files), side, SAMPLES[name])
    if found is not None:
        alone = in_folder(tmp_path / "odd", {f"odd{Path(second).suffix}": odd})
        expected = objects(alone, side, SAMPLES[other])
        assert expected is not None
        assert [row[0][0] for row in found[0]["odd"]] == [row[0][0] for row in expected[0]["odd"]]
