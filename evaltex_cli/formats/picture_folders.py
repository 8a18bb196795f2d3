"""Which file is the label picture of an image, and whether it is still the one that was indexed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ChangedError, FormatError, quote
from evaltex_cli.formats.files.image_names import leaves_result_folder
from evaltex_cli.records import Ints

SUFFIXES = (".tif", ".tiff", ".png", ".bmp", ".gif")


class Stamp(NamedTuple):
    """Bytes, and time of the last change in nanoseconds, modulo 2**64 from the year 2262 on; -1 and
    -1 where there is no such file.
    """

    size: int
    time: int


ABSENT = Stamp(-1, -1)


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """Return the stamp of what is at a path now."""
    try:
        status = os.stat(path)  # noqa: PTH116 (pathlib is slow)
    except (OSError, ValueError):
        return ABSENT
    return Stamp(status.st_size, (status.st_mtime_ns + (1 << 63)) % (1 << 64) - (1 << 63))


class PictureFolder(NamedTuple):
    """A folder of label pictures."""

    folder: Path
    """As messages name it."""
    base: Path = Path()
    """The folder that a relative `folder` is in."""
    stamps: Ints | None = None
    """(images, 2) int64. What `picture_stamps` has returned for the images that are read; None if
    any picture will do."""
    max_pixels: int = 100_000_000
    """Larger pictures are not decoded."""

    def shown(self, path: Path | None) -> str:
        """Return a picture, or the folder for None, as messages name it."""
        return str(
            self.folder if path is None else self.folder / path.relative_to(self.base / self.folder)
        )

    def find(self, name: str) -> Path | None:
        """Return the picture of an image; raises as `find_picture`."""
        return find_picture(self.base / self.folder, name)

    def refuse_changed(self, path: Path | None, name: str, k: int) -> None:
        """Raise a `ChangedError` if the picture of the image at this index is
        not the one that was indexed.
        """
        if self.stamps is None:
            return
        if (ABSENT if path is None else stamp_of(path)) != Stamp(*self.stamps[k].tolist()):
            raise ChangedError(str(self.folder / name) if path is None else self.shown(path))


def picture_stamps(folder: Path, names: Sequence[str]) -> Ints:
    """Return size and time of the images' pictures, for `read_runs`.

    Returns
    -------
    (n, 2) int64
        As `Stamp`; `ABSENT` also where `find_picture` raises.
    """
    stamps = np.full((len(names), 2), ABSENT, np.int64)
    usual = ""
    for k, name in enumerate(names):
        if leaves_result_folder(name):
            continue
        for suffix in sorted(_suffixes(name), key=lambda suffix: suffix != usual):
            stamp = stamp_of(os.path.join(folder, name + suffix))
            if stamp != ABSENT:
                stamps[k], usual = stamp, suffix
                break
    return stamps


def _suffixes(name: str) -> list[str]:
    return (
        [""]
        if is_picture(name)
        else [case for suffix in SUFFIXES for case in (suffix, suffix.upper())]
    )


def find_picture(folder: Path, name: str) -> Path | None:
    """Return the picture of an image, None where there is none; suffixes in upper case are taken
    too.

    Raises
    ------
    FormatError
        When there are several, or the name leads out of the folder.
    """
    if leaves_result_folder(name):
        raise FormatError(
            f"image name {quote(name)}", "a name that stays in the folder of label pictures"
        )
    stem = os.path.join(folder, name)
    pictures: dict[tuple[int, int], str] = {}
    for suffix in _suffixes(name):
        try:
            status = os.stat(stem + suffix)  # noqa: PTH116 (ten an image, and pathlib is slow)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            what = f"picture {quote(name + suffix)} cannot be read ({error.strerror})"
            raise FormatError(what, "a readable picture") from error
        # Where case does not matter, one file answers to both.
        pictures.setdefault((status.st_dev, status.st_ino), name + suffix)
    if len(pictures) > 1:
        listed = ", ".join(pictures.values())
        raise FormatError(
            f"{len(pictures)} pictures of image {quote(name)}: {listed}", "one; remove the others"
        )
    return folder / next(iter(pictures.values())) if pictures else None


def is_picture(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)
