"""Every sample, untidy as files are in practice: it is read with the same
objects, refused, or warned of.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from reading import read
from sample_words import Sample
from samples import SAMPLES
from written_files import in_folder

from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import Side

Files = Mapping[str, bytes]
Found = tuple[dict[str, Any], tuple[str, ...]]
"""The objects of each image, and warnings."""
LINES = (".txt", ".csv", ".tsv", ".gt")
CLUTTER = ("__MACOSX/._{}", ".DS_Store", "Thumbs.db", "._{}")
SIDES: tuple[Side, ...] = ("gt", "det")
CASES = [(name, side) for name, sample in SAMPLES.items() for side in SIDES if sample.files(side)]

CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: b"\xff\xfe" + data.decode().encode("utf-16-le"),
    "UTF-16 BE": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "Latin-1": lambda data: (
        data.decode().lstrip("\ufeff").replace("one", "on\xe9").encode("latin-1", "replace")
    ),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data: re.sub(rb"\r?\n", b"\r\n", data),
    "CR": lambda data: re.sub(rb"\r?\n", b"\r", data),
    "trailing commas": lambda data: re.sub(rb"([^\r\n])(\r?\n)", rb"\1,\2", data),
    "trailing blanks": lambda data: re.sub(rb"([^\r\n])(\r?\n)", rb"\1 \t \2", data),
}


def bytes_of(sample: Sample, side: Side) -> Files:
    return {
        name: data.encode() if isinstance(data, str) else data
        for name, data in sample.files(side).items()
    }


def put(folder: Path, sample: Sample, files: Files) -> Path:
    folder.mkdir()
    in_folder(folder, files)
    return folder / next(iter(files)) if sample.many_in_one else folder


def objects(path: Path, side: Side, sample: Sample) -> Found | None:
    """Return what is read; None if it is refused, which names the file."""
    try:
        found = read(path, side, sample.format(side), sample.level)
    except InputError as error:
        assert path.name in str(error)
        return None
    if found.faults:
        return None
    images: dict[str, Any] = {}
    columns = found.objects
    confidences = (
        [None] * columns.count if columns.confidences is None else columns.confidences.tolist()
    )
    for k, name in enumerate(found.source.names):
        rows = range(columns.offsets[k], columns.offsets[k + 1])
        shapes = [
            (columns.boxes[i].round(3).tolist(), found.rings[i], bool(columns.dont_care[i]))
            for i in rows
        ]
        images[name] = [
            (*shape, found.texts[i], confidences[i]) for i, shape in zip(rows, shapes, strict=True)
        ]
    return images, found.source.warnings


def without_blanks(images: dict[str, Any]) -> dict[str, Any]:
    """Drop the blanks at the ends of transcriptions, which are part of them."""
    return {
        name: [(*one[:3], one[3].rstrip(" \t"), one[4]) for one in here]
        for name, here in images.items()
    }


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(("name", "side"), CASES)
def test_untidy_text_is_read_right_or_refused_or_warned_of(
    tmp_path: Path, name: str, side: Side
) -> None:
    sample = SAMPLES[name]
    files = bytes_of(sample, side)
    clean = objects(put(tmp_path / "clean", sample, files), side, sample)
    assert clean is not None
    for label, change in CHANGES.items():
        if label == "trailing commas" and not next(iter(files)).endswith(LINES):
            continue
        untidy = {
            file: data if file.endswith((".bmp", ".mat")) else change(data)
            for file, data in files.items()
        }
        found = objects(put(tmp_path / label, sample, untidy), side, sample)
        if found is None:
            assert label not in ("BOM", "CRLF"), label
            continue
        images = without_blanks(found[0])
        as_clean = str(images).replace("oné", "one") if label == "Latin-1" else str(images)
        if as_clean != str(without_blanks(clean[0])):
            said = [
                text
                for text in found[1]
                if "which is not don't care" in text or "end in a comma" in text
            ]
            assert label.startswith("trailing") and said, (label, found[1])


@pytest.mark.few_fast(25)
@pytest.mark.parametrize(
    ("name", "side"), [case for case in CASES if not SAMPLES[case[0]].many_in_one]
)
def test_folders_and_archives_as_programs_write_them(tmp_path: Path, name: str, side: Side) -> None:
    sample = SAMPLES[name]
    files = bytes_of(sample, side)
    first = next(iter(files))
    clean = objects(put(tmp_path / "clean", sample, files), side, sample)
    upper = {
        f"{file.rpartition('.')[0]}.{file.rpartition('.')[2].upper()}": data
        for file, data in files.items()
    }
    extra = files | {pattern.format(first): b"\0\5\x16\7" for pattern in CLUTTER}
    for label, untidy in {"upper": upper, "clutter": extra}.items():
        found = objects(put(tmp_path / label, sample, untidy), side, sample)
        assert (found and found[0]) == (clean and clean[0]), label
    found = objects(windows_zip(tmp_path / "windows.zip", extra), side, sample)
    assert (found and found[0]) == (clean and clean[0])
    found = objects(
        put(tmp_path / "empty", sample, files | {first.replace("1", "77"): b""}),
        side,
        sample,
    )
    assert found is None or (clean is not None and found[0] == clean[0] | {"77": []})


def windows_zip(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.filename = entry.orig_filename = "data\\labels\\" + name.replace("/", "\\")
            packed.writestr(entry, data)
    return path


ODD = {
    ".txt": ("icdar2013-train", "icdar2015", "totaltext-commas", "popeval"),
    ".json": ("labelme", "document-ai", "doctr", "rapidocr"),
    ".xml": ("voc", "page"),
}
AMBIGUOUS = {("msra-td500", "icdar2013-train"), ("msra-td500-five", "icdar2013-train")}
"""Five numbers, of which the fifth may be an angle or a confidence."""


def odd_pairs() -> list[tuple[str, str, Side]]:
    folders = [
        (name, side, Path(next(iter(SAMPLES[name].files(side)))).suffix)
        for name, side in CASES
        if not SAMPLES[name].many_in_one
    ]
    known = {(name, side, suffix) for name, side, suffix in folders}
    return [
        (name, other, side)
        for name, side, suffix in folders
        for other in ODD.get(suffix, ())
        if other != name and (other, side, suffix) in known and (name, other) not in AMBIGUOUS
    ]


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(("name", "other", "side"), odd_pairs())
def test_a_file_of_another_format_among_many(
    tmp_path: Path, name: str, other: str, side: Side
) -> None:
    sample, odd = SAMPLES[name], bytes_of(SAMPLES[other], side)
    (first, data), (second, other_data) = (
        next(iter(bytes_of(sample, side).items())),
        next(iter(odd.items())),
    )
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as packed:
        for k in range(30):
            packed.writestr(f"{k}{Path(first).suffix}", data)
        packed.writestr(f"odd{Path(second).suffix}", other_data)
    found = objects(tmp_path / "many.zip", side, sample)
    if found is None:
        return
    alone = objects(
        in_folder(tmp_path, {f"odd{Path(second).suffix}": other_data})
        / f"odd{Path(second).suffix}",
        side,
        SAMPLES[other],
    )
    assert alone is not None
    assert [one[0] for one in found[0]["odd"]] == [one[0] for one in alone[0]["odd"]]
