"""Names of images that a target cannot have: faults with their lines, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaltex_cli.errors import FaultLog, quote
from evaltex_cli.formats import locations
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.files.image_names import bytes_of, is_unicode, leaves_result_folder, unfit_for_files

MOST_BYTES = 255
"""Of a file's name; no common file system takes more."""


def refuse(source: Source, side: Side, unfit: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
    """Refuse images by their names, if there are any; `unfit` has what is wrong and what is expected.

    Raises
    ------
    InputError
        With what the reader has recorded of the names, if it has.
    """
    if unfit:
        if not faults.count:
            locations.log_names(source, side, unfit, faults)
        faults.raise_if_any()


def not_unicode(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the names that no text can have: from files whose names are not UTF-8, or from lone surrogates."""
    return {name: ("is not Unicode", "a name in UTF-8; rename the image") for name in names if not is_unicode(name)}


def unfit_as_files(files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the names of which no file can be made, on any file system.

    Parameters
    ----------
    files : mapping
        Image name -> the file, with folders.
    """
    unfit: dict[str, tuple[str, str]] = {}
    first: dict[str, str] = {}
    for name, file in files.items():
        longest = max(map(bytes_of, file.split("/")))
        if leaves_result_folder(file):
            unfit[name] = (
                "is no file name",
                "no absolute path, drive letter, '..' or control character; rename the image",
            )
        elif longest > MOST_BYTES:
            unfit[name] = f"makes a file name of {longest} bytes", f"at most {MOST_BYTES}; shorten it"
        elif first.setdefault(file, name) != name:
            made = f"makes the file {quote(file)}, which is that of image {quote(first[file])}"
            unfit[name] = made, "names that differ by more than an ending; rename one of the images"
    return unfit


def unfit_in(folder: Path, files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the names of which no file can be made in an existing folder, or none together with the others'."""
    unfit = unfit_for_files(files.values(), folder.parent, folder.name, "")
    return {name: unfit[file] for name, file in files.items() if file in unfit}
