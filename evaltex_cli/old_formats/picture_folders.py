"""Which file is the label picture of an image."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.old_formats.files.image_names import leaves_result_folder

SUFFIXES = (".tif", ".tiff", ".png", ".bmp", ".gif")


class PictureFolder(NamedTuple):
    """A folder of label pictures."""

    folder: Path
    """As messages name it."""
    base: Path = Path()
    """The folder that a relative `folder` is in."""
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
