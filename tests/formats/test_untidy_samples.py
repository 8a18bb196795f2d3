"""Every sample, untidy as files are in practice: it is read alike, refused, or warned of."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from reading import read
from written_files import in_folder

from evaltex_cli.errors import InputError
from evaltex_cli.formats import load

SAMPLES = Path(__file__).parents[1] / "samples"
ROWS = [
    row | {"path": next(SAMPLES.glob(f"{row['sample'].partition('/')[0]}/*"))}
    for row in json.loads((SAMPLES / "expected.json").read_text())
    if not row["faults"] and not ("-det" in row["sample"] and row["side"] == "gt")
]
ONE_EACH = [row for row in ROWS if not load(row["format"]).one_document]
"""Samples of formats with a file for each image."""

CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: b"\xff\xfe" + data.decode().encode("utf-16-le"),
    "UTF-16 BE": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "Latin-1": lambda data: data.decode().replace("word", "w\xf6rd").encode("latin-1", "replace"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data: re.sub(rb"\r?\n", b"\r\n", data),
    "CR": lambda data: re.sub(rb"\r?\n", b"\r", data),
    "trailing blanks": lambda data: re.sub(rb"([^\r\n])(\r?\n)", rb"\1 \t \2", data),
}


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['sample'].partition('/')[0]}-{row['level']}-{row['side']}" for row in rows]


def objects(path: Path, row: dict[str, Any]) -> tuple[dict[str, Any], list[str]] | None:
    """The objects of each image, and warnings; None if it is refused, which names the file."""
    try:
        found = read(path, row["side"], row["format"], row["level"] or None)
    except InputError as error:
        assert path.name in str(error)
        return None
    if found.faults:
        return None
    columns, images = found.objects, {}
    confidences = columns.confidences
    for k, name in enumerate(found.source.names):
        images[name] = [
            (
                columns.boxes[i].round(3).tolist(),
                found.rings[i],
                bool(columns.dont_care[i]),
                found.texts[i].rstrip(" \t"),
                None if confidences is None else str(confidences[i]),
            )
            for i in range(columns.offsets[k], columns.offsets[k + 1])
        ]
    return images, found.warnings


@pytest.mark.few_fast(40)
@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_untidy_text_is_read_right_or_refused_or_warned_of(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    path = row["path"]
    clean, data = objects(path, row), path.read_bytes()
    assert clean is not None
    for label, change in ({} if path.suffix == ".mat" else CHANGES).items():
        untidy = in_folder(tmp_path / label, {path.name: change(data)}) / path.name
        found = objects(untidy, row)
        if found is None:
            assert label not in ("BOM", "CRLF"), label
        elif str(found[0]).replace("w\xf6rd", "word") != str(clean[0]):
            assert label == "trailing blanks" and "don't care" in str(found[1]), (label, found)


@pytest.mark.few_fast(25)
@pytest.mark.parametrize("row", ONE_EACH, ids=ids(ONE_EACH))
def test_folders_and_archives_as_programs_write_them(tmp_path: Path, row: dict[str, Any]) -> None:
    """Upper case, files of file managers, backslashes, and an image without any object."""
    path = row["path"]
    data, clean = path.read_bytes(), objects(path, row)
    assert clean is not None
    files = {f"{path.stem}{path.suffix.upper()}": data} | dict.fromkeys(
        (f"__MACOSX/._{path.name}", f"._{path.name}", ".DS_Store", "Thumbs.db"), b"\0\5\x16\7"
    )
    found = objects(in_folder(tmp_path / "folder", files), row)
    assert found and found[0] == clean[0]
    found = objects(windows_zip(tmp_path / "windows.zip", files), row)
    assert found and found[0] == clean[0]
    empty = path.name.replace("1", "77")
    found = objects(in_folder(tmp_path / "empty", {path.name: data, empty: b""}), row)
    assert found is None or "left out" in str(found[1]) or [] in found[0].values()


def windows_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.filename = entry.orig_filename = "data\\labels\\" + name.replace("/", "\\")
            packed.writestr(entry, data)
    return path


ODD = ("ltrb-blanks", "quad-det", "polygon", "popeval", "labelme", "document-ai", "doctr", "page")
"""Samples that are put among those of other formats with the same ending."""
PAIRS = [
    (row, other)
    for row, other in product(ONE_EACH, ONE_EACH)
    if other["sample"].partition("/")[0] in ODD
    and row["format"] != other["format"]
    and row["side"] == other["side"]
    and row["path"].suffix == other["path"].suffix
    and (row["format"], other["format"]) != ("msra-td500", "ltrb")  # an angle or a confidence
]


@pytest.mark.few_fast(40)
@pytest.mark.parametrize(
    ("row", "other"),
    PAIRS,
    ids=[
        f"{a['path'].parent.name}-{b['path'].parent.name}-{a['level']}-{b['level']}-{a['side']}"
        for a, b in PAIRS
    ],
)
def test_a_file_of_another_format_among_many(
    tmp_path: Path, row: dict[str, Any], other: dict[str, Any]
) -> None:
    """It is refused, read as it is alone, or counted as an answer without a box."""
    path, odd = row["path"], other["path"]
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as packed:
        for k in range(30):
            packed.writestr(f"{k}{path.suffix}", path.read_bytes())
        packed.writestr(f"odd{odd.suffix}", odd.read_bytes())
    detected = {"side": row["side"], "format": None, "level": ""}
    found, alone = objects(tmp_path / "many.zip", detected), objects(odd, other)
    assert alone is not None
    if found is not None and "answer without a box" not in str(found[1]):
        ((expected, *_),) = [[one[0] for one in image] for image in alone[0].values()]
        assert found[0]["odd"][0][0] == expected
