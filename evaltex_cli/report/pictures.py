"""Pictures of images on pages: found in a folder, linked, put into the page, or cut."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.masks import unlimited_and_silent
from evaltex_cli.formats.sizes import find_pictures

if TYPE_CHECKING:
    from PIL.Image import Image

MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Extension -> media type of what every browser shows."""
Region: TypeAlias = tuple[int, int, int, int]
"""x0, y0, x1, y1, whole pixels."""
MARGIN, LEAST_MARGIN = 0.35, 24
"""Around a place: a share of its longer side, and pixels."""
LONGEST_SIDE = 400
"""Larger crops are scaled down to so many pixels."""
JPEG_QUALITY = 60


def pictures_of(folder: Path, names: Sequence[str]) -> list[Path | None]:
    """Return each image's picture of `MEDIA_TYPES` in a folder or below it.

    Raises `InputError` when the folder cannot be read, or has a picture of none of the images.
    """
    pictures = find_pictures(folder, names, tuple(MEDIA_TYPES))
    if names and not any(pictures):
        raise InputError(
            f"{folder}: holds no picture of any image; expected {quote(names[0])} with one of"
            f" {', '.join(MEDIA_TYPES)}"
        )
    return pictures


def data_url(picture: Path) -> str:
    """Return the picture itself as a URL; raises `InputError` when it cannot be read."""
    try:
        return _url(MEDIA_TYPES[picture.suffix.lower()], picture.read_bytes())
    except OSError as error:
        raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error


def _url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


# Crops --------------------------------------------------------------------------------------------


def region(box: tuple[float, float, float, float]) -> Region:
    """Return a box with a margin, as whole pixels."""
    x0, y0, x1, y1 = box
    margin = max(LEAST_MARGIN, MARGIN * max(x1 - x0, y1 - y0))
    left, top = math.floor(x0 - margin), math.floor(y0 - margin)
    return left, top, math.ceil(x1 + margin), math.ceil(y1 + margin)


def decoded(path: Path) -> Image | None:
    """Return a picture turned as viewers show it; None if it cannot be read."""
    from PIL import Image, ImageOps

    try:
        with unlimited_and_silent(), Image.open(path) as opened:
            return ImageOps.exif_transpose(opened).convert("RGB")
    except Exception:  # decoders raise anything at all on broken files
        return None


def crop(picture: Image, region: Region) -> tuple[str, Region] | None:
    """Cut a region out of a picture; return its URL, and what of it is in the picture, if any."""
    x0, y0 = (max(0, value) for value in region[:2])
    x1, y1 = (min(value, size) for value, size in zip(region[2:], picture.size, strict=True))
    if x0 >= x1 or y0 >= y1:
        return None
    part = picture.crop((x0, y0, x1, y1))
    part.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    data = io.BytesIO()
    part.save(data, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return _url("image/jpeg", data.getvalue()), (x0, y0, x1, y1)
