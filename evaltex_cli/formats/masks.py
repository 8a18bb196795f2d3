"""Label pictures: one file an image, whose pixel values are object IDs and 0 is background.

The value of a pixel is the stored sample of a bilevel or grey picture (1, 8, 16 or 32 bits;
floating point where it is whole and small enough to be exact), the index of a palette, or
R + 256 G + 65536 B of 8-bit RGB. Alpha is left out where every pixel is opaque. All else is refused
rather than guessed at. tifffile reads TIFFs, Pillow all others, and the TIFFs whose compression
tifffile does not know.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, FormatError, InputError, quote
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.formats.options import MAX_PIXELS
from evaltex_cli.geometry.picture_runs import NO_OBJECT, PictureRuns, find_runs, join, object_of
from evaltex_cli.records import Bools, Floats, Ints, LabelRuns, Objects

SUFFIXES = (".tif", ".tiff", ".png", ".bmp", ".gif")
_PILLOW_FORMATS = ("PNG", "BMP", "GIF")
_PILLOW_MODES = ("1", "L", "P", "I", "I;16", "F", "LA", "RGB", "RGBA")
_SCALED = re.compile(r"L;[24]|(?:BGR|RGBA?|LA);1")
"""What Pillow scales to 8 bits: grey of 2 and 4, colours of 5 and 16."""
_EXACT = 1 << 24
"""From which on floating-point numbers skip some."""
_KINDS = "8-, 16- or 32-bit grey, palette or 8-bit RGB, whose pixel values are object IDs"
_GREY = 0x010101
"""Pixels of three equal channels, read as one number, are its multiples."""
_lock = threading.RLock()
for _name in ("PIL", "tifffile"):  # our messages say what is wrong
    logging.getLogger(_name).addHandler(logging.NullHandler())

Size = tuple[int, int]
"""Height and width."""
Labels = NDArray[Any]
"""(height, width) bool, integers or floating-point numbers."""


class PictureFolder(NamedTuple):
    """A folder of label pictures."""

    folder: Path
    """As messages name it."""
    base: Path = Path()
    """The folder that a relative `folder` is in."""
    max_pixels: int = MAX_PIXELS
    """Larger pictures are not decoded."""

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.base / self.folder

    def find(self, name: str) -> str:
        """Return the file name of an image's picture, its name with one of `SUFFIXES` in lower or
        upper case, if it has none; empty if there is none. Raises `FormatError`.
        """
        if leaves_result_folder(name):
            expected = "a name that stays in the folder of label pictures"
            raise FormatError(f"image name {quote(name)}", expected)
        has_ending = name.lower().endswith(SUFFIXES)
        endings = ("",) if has_ending else (*map(str.upper, SUFFIXES), *SUFFIXES)
        there = [name + end for end in endings if os.path.exists(self.path / (name + end))]  # noqa: PTH110 (false for long names)
        # Where case does not matter, one file answers to both.
        pictures = list({file.lower(): file for file in there}.values())
        if len(pictures) > 1:
            found = f"{len(pictures)} pictures of image {quote(name)}: {', '.join(pictures)}"
            raise FormatError(found, "one; remove the others")
        return pictures[0] if pictures else ""


def read_runs(
    folder: PictureFolder,
    names: Sequence[str],
    objects: Objects,
    sizes: Floats,
    has_picture: Bools,
    faults: FaultLog,
) -> LabelRuns:
    """Read the label pictures of one side of a batch, whose IDs are the labels.

    `sizes`, (images, 2), are heights and widths that the pictures must have, 0 for any. There must
    be a picture where `has_picture`, (images,) bool, says so; elsewhere one has no labels. `faults`
    gets what is wrong with a picture, whose objects then have no runs. Raises `InputError` when
    there is no such folder.
    """
    if not folder.path.is_dir():
        expected = f"expected a folder of label pictures, {' '.join(SUFFIXES)}"
        raise InputError(f"{folder.folder}: no such folder; {expected}")
    pictures: list[tuple[PictureRuns, Ints] | None] = [None] * len(names)
    shapes = np.minimum(sizes, folder.max_pixels).astype(np.int64)
    with unlimited_and_silent():
        for k, name in enumerate(names):
            file = ""
            try:
                file = folder.find(name)
                if file:
                    height, width = sizes[k].astype(int)
                    size = (height, width) if height and width else None
                    runs = find_runs(read_labels(folder.path / file, size, folder.max_pixels))
                    start, stop = objects.offsets[k : k + 2].tolist()
                    pictures[k] = runs, _owners(runs.label, objects.ids[start:stop]) + start
                    shapes[k] = runs.shape
                elif has_picture[k]:
                    found = f"no picture of image {quote(name)}"
                    raise FormatError(found, f"a file of that name, one of {' '.join(SUFFIXES)}")
            except FormatError as error:
                faults.add(str(folder.folder / file), None, error.found, error.expected)
    return join(pictures, shapes, objects.count)


def _owners(labels: Labels, ids: Ints) -> Ints:
    """Return (r,) which of an image's objects each run belongs to; raises `FormatError`."""
    if labels.dtype.kind == "f":
        bad = labels[(labels != np.rint(labels)) | (np.abs(labels) >= _EXACT)]
        if len(bad):
            expected = f"whole numbers below {_EXACT}; save the labels as integers"
            raise FormatError(f"floating-point value {bad[0]}", expected)
    labels = labels.astype(np.int64)
    owners = object_of(labels, ids)
    strange = np.unique(labels[owners == NO_OBJECT])
    if len(strange):
        expected = "0 and the IDs of the image's objects; set these pixels to 0 or add the objects"
        if (strange % _GREY == 0).all():
            expected = "labels in one channel: save the grey picture as grey, not as RGB"
        raise FormatError(f"{_listed(strange, 'label')} without an object of this ID", expected)
    hidden = np.setdiff1d(ids, ids[owners])
    if len(hidden):
        expected = "some pixels of each object; draw these or remove their lines"
        raise FormatError(f"no pixel of {_listed(hidden, 'ID')}", expected)
    return owners


def _listed(ids: Ints, what: str) -> str:
    shown = ", ".join(map(str, ids[:5].tolist()))
    return f"{what}{'s' * (len(ids) > 1)} {shown}{', ...' * (len(ids) > 5)}"


@contextmanager
def unlimited_and_silent() -> Iterator[None]:
    """Let pictures be of any size, without warnings: callers have limits and messages.

    These are settings of the whole process, so one thread at a time is in such a block.
    """
    from PIL import Image

    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def read_labels(path: Path, size: Size | None, max_pixels: int) -> Labels:
    """Decode a label picture of this height and width, if they are given, and at most so many
    pixels, which is checked before. Raises `FormatError`.
    """
    try:
        is_tiff = path.suffix.lower() in (".tif", ".tiff")
        values = (_tiff if is_tiff else _pillow)(path, size, max_pixels)
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # decoders raise anything at all on broken files
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        expected = f"a label picture in one of {', '.join(_PILLOW_FORMATS)}, TIFF; write it again"
        raise FormatError(f"cannot be read ({reason.splitlines()[0]})", expected) from error
    if values.ndim == 2:
        return values
    colours = list(np.moveaxis(values, 2, 0))
    if len(colours) != 3 and (colours.pop() < 255).any():
        raise FormatError("transparent pixels", _KINDS)
    labels: Labels = sum(one.astype(np.uint32) << 8 * k for k, one in enumerate(colours))
    return labels


def _pillow(
    path: Path, size: Size | None, max_pixels: int, formats: tuple[str, ...] = _PILLOW_FORMATS
) -> Labels:
    from PIL import Image

    with Image.open(path, formats=formats) as image:
        raw_mode = str(image.tile[0][3]) if image.tile else ""
        _check(getattr(image, "n_frames", 1), image.size[::-1], size, max_pixels)
        if image.mode not in _PILLOW_MODES or _SCALED.search(raw_mode):
            raise FormatError(f"{image.mode} pixels stored as {raw_mode}", _KINDS)
        return np.asarray(image)


def _tiff(path: Path, size: Size | None, max_pixels: int) -> Labels:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        page: Any = tiff.pages[0]
        shape, channels = (page.imagelength, page.imagewidth), page.samplesperpixel
        _check(len(tiff.pages), shape, size, max_pixels)
        colours, planes = tifffile.PHOTOMETRIC(page.photometric).name, int(page.planarconfig)
        turn = int(page.tags.valueof("Orientation", 1))
        if (
            colours not in ("MINISBLACK", "RGB", "PALETTE")
            or page.dtype.kind not in "buif"
            or (channels > 1 and (page.bitspersample != 8 or planes != 1))
            or turn != 1
        ):
            pixels = f"{channels} x {page.bitspersample} bits, planes {planes}, orientation {turn}"
            raise FormatError(f"{colours} of {pixels}", _KINDS)
        try:
            values = page.asarray(maxworkers=1)
        except ValueError as error:
            if "imagecodecs" not in str(error):
                raise
            return _pillow(path, size, max_pixels, ("TIFF",))
    return np.asarray(values).reshape(shape if channels == 1 else (*shape, channels))


def _check(pages: int, own: Size, size: Size | None, max_pixels: int) -> None:
    height, width = own
    if pages != 1:
        raise FormatError(f"{pages} pages or frames", "a picture of one")
    if size is not None and own != size:
        expected = f"{size[0]},{size[1]}, as the ground truth says"
        raise FormatError(f"height,width {height},{width}", expected)
    if height * width > max_pixels:
        raise FormatError(
            f"{height * width} pixels ({height},{width})",
            f"at most {max_pixels}; where the picture is right, raise the limit with --max-pixels",
        )
