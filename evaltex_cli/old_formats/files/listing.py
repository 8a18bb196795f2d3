"""What files a folder or a .zip archive has, without those that macOS and Windows add."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import InputError, counted, listed, quote

_SHOWN_OTHERS = 3
_UTF8_FLAG = 0x800
_SLASH = re.compile(r"[/\\]")
_BAG = r"bagit\.txt|bag-info\.txt|(?:tag)?manifest-\w+\.txt|fetch\.txt"
_SPLIT = r"(?:train|valid|validation|val|test)\.txt"
_MARKS_DATA_SET = re.compile(r"bagit\.txt\Z|obj\.names\Z", re.IGNORECASE)
_MAY_BE_CLUTTER = re.compile(r"\._|__MACOSX|\.ds_store|thumbs\.db", re.IGNORECASE)


class Stored(NamedTuple):
    """A file as the archive's directory has it; sizes in bytes, the offset
    that of its local header.
    """

    name: str
    flags: int
    method: int
    crc: int
    packed_size: int
    size: int
    offset: int


def stored_files(path: Path) -> list[Stored]:
    """Return the files of an archive in the directory's order, without its folders.

    Raises
    ------
    InputError
        When the archive is damaged.
    OSError
        When it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    # zipfile also raises NotImplementedError for a later version of the format, and ValueError for
    # names that are not UTF-8 and offsets before the file (tests/formats/test_archive.py).
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(
            f"{path}: the archive is damaged ({error}); pack or download it again"
        ) from error
    found = []
    for info in infos:
        name = _name(info)
        if not name.endswith(("/", "\\")) and not _is_clutter(name):
            sizes = info.compress_size, info.file_size, info.header_offset
            found.append(Stored(name, info.flag_bits, info.compress_type, info.CRC, *sizes))
    return found


def _name(info: zipfile.ZipInfo) -> str:
    """The whole name, not cut at a NUL; UTF-8 where its bytes are, flagged as
    such or not (macOS does not flag it).
    """
    name: str = info.orig_filename
    if not info.flag_bits & _UTF8_FLAG and not name.isascii():
        try:
            return name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name


def walk(folder: Path) -> list[tuple[str, os.stat_result]]:
    """Return every regular file below a folder, sorted: its path from the folder, and its status.

    Links to folders are not followed.
    """

    def stop(error: OSError) -> None:
        raise error

    files: list[tuple[str, os.stat_result]] = []
    for base, _, names in os.walk(folder, onerror=stop):
        inner = Path(base).relative_to(folder).parts
        for name in names:
            path = "/".join([*inner, name])
            if not _is_clutter(path):
                status = Path(base, name).stat()
                if stat.S_ISREG(status.st_mode):
                    files.append((path, status))
    return sorted(files, key=lambda item: item[0])


def _is_clutter(name: str) -> bool:
    if not _MAY_BE_CLUTTER.search(name):
        return False
    *folders, last = _SLASH.split(name)
    return (
        "__MACOSX" in folders or last.startswith("._") or last.lower() in (".ds_store", "thumbs.db")
    )


def is_class_list(name: str) -> bool:
    """Whether a file is the list of classes that annotation tools write next to labels."""
    return _SLASH.split(name)[-1].lower() == "classes.txt"


def about_data_set(names: Sequence[str]) -> set[str]:
    """Return which text files are about a data set: BagIt's, and lists of pictures next to
    Darknet's list of classes.

    Darknet's list of classes is ``obj.names``; CVAT's exports for YOLO are of that layout.
    """
    if not any(_MARKS_DATA_SET.search(name) for name in names):
        return set()
    lower = {name: _SLASH.split(name)[-1].lower() for name in names}
    patterns = [_BAG] * ("bagit.txt" in lower.values())
    patterns += [_SPLIT] * ("obj.names" in lower.values())
    return {
        name
        for name, last in lower.items()
        if any(re.fullmatch(pattern, last) for pattern in patterns)
    }


def left_out(path: Path, names: list[str], suffix: str) -> tuple[str, ...]:
    """Return warnings about the files of a folder or archive that are left out."""
    lists = [name for name in names if is_class_list(name)] if suffix == ".txt" else []
    about = about_data_set(names)
    others = [name for name in names if name not in lists and name not in about]
    warnings = [f"{path}: a list of classes was left out: {quote(name)}" for name in lists]
    if about:
        count = counted(len(about), "{count} file[s] about the data set [was|were] left out")
        warnings.append(f"{path}: {count}: {listed(sorted(about), _SHOWN_OTHERS)}")
    if others:
        etc = ", ..." if len(others) > _SHOWN_OTHERS else ""
        count = counted(
            len(others), f"{{count}} file[s] that [is|are] not {suffix} [was|were] left out"
        )
        warnings.append(f"{path}: {count}: {', '.join(map(quote, others[:_SHOWN_OTHERS]))}{etc}")
    return tuple(warnings)
