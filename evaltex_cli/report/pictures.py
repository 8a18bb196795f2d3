"""Pictures of the images: found by name, then linked or embedded."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote as quote_url

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.image_sizes import by_name, list_pictures

KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Extension -> media type of what every browser shows."""
MOST_EMBEDDED_BYTES = 500_000_000


def find_pictures(folder: Path, names: Sequence[str]) -> list[Path | None]:
    """Find each image's picture, ``<name>.png`` or of another extension of `KINDS`, in a folder or below it.

    The picture nearest to the folder counts.

    Names are looked up in the folder's listing, so none leads out of it.

    Raises
    ------
    InputError
        When the folder cannot be read, or holds a picture of none of the images.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; give the folder of the images' pictures")
    found = by_name(folder, list_pictures(folder, list(KINDS)))
    pictures = [found.get(name) for name in names]
    if names and not any(pictures):
        raise InputError(
            f"{folder}: holds no picture of any image; expected {quote(names[0])} with one of {', '.join(KINDS)}"
        )
    return pictures


def refuse_too_large(pictures: Sequence[Path | None]) -> None:
    """Refuse to embed more than a browser opens.

    Raises
    ------
    InputError
    """
    size = sum(_size(path) for path in pictures if path is not None)
    if size > MOST_EMBEDDED_BYTES:
        raise InputError(
            f"pictures of {size / 1e6:.0f} MB are too much for one file (at most {MOST_EMBEDDED_BYTES / 1e6:.0f} MB);"
            " leave out --embed, then they are linked"
        )


def _size(picture: Path) -> int:
    try:
        return picture.stat().st_size
    except OSError as error:
        raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error


def link(picture: Path, page_folder: Path) -> str:
    """The URL of a picture, relative to the page where that is possible."""
    target, start = picture.resolve(), page_folder.resolve()
    try:
        relative = Path(os.path.relpath(target, start))
    except ValueError:
        return target.as_uri()
    return quote_url(relative.as_posix())


def data_url(picture: Path) -> str:
    """The picture itself, as a URL.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    try:
        content = picture.read_bytes()
    except OSError as error:
        raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error
    return f"data:{KINDS[picture.suffix.lower()]};base64,{base64.b64encode(content).decode('ascii')}"
