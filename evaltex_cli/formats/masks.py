"""Label pictures: one file an image, whose pixel values are object IDs and 0 is background.

The value of a pixel is the stored sample of a bilevel or grey picture (1, 8, 16 or 32 bits;
floating point where it is whole), the index of a palette, or R + 256 G + 65536 B of 8-bit RGB.
Alpha is left out where every pixel is opaque. All else is refused rather than guessed at. Pillow
reads TIFFs only if tifffile does not know their compression.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, FormatError, InputError, listed, quote
from evaltex_cli.formats.options import MaskFolders, Side
from evaltex_cli.geometry.masks import NO_OBJECT, Masks, PictureRuns, find_runs, join, object_of
from evaltex_cli.records import ImageBatch, Ints

SUFFIXES = (".tif", ".tiff", ".png", ".bmp", ".gif")
_PILLOW_FORMATS = ("PNG", "BMP", "GIF")
_PILLOW_MODES = ("1", "L", "P", "I", "I;16", "F", "LA", "RGB", "RGBA")
_SCALED = re.compile(r"L;[24]|(?:BGR|RGBA?|LA);1")
"""What Pillow scales to 8 bits: grey of 2 and 4, colours of 5 and 16."""
_KINDS = "8-, 16- or 32-bit grey, palette or 8-bit RGB, whose pixel values are object IDs"
_GREY = 0x010101  # pixels of three equal channels, read as one number, are its multiples
_lock = threading.RLock()
for _name in ("PIL", "tifffile"):  # our messages say what is wrong
    logging.getLogger(_name).addHandler(logging.NullHandler())


def read_runs(batch: ImageBatch, side: Side, masks: MaskFolders, faults: FaultLog) -> Masks:
    """Read the label pictures of one side of a batch, whose IDs are the labels.

    Pictures have the sizes of the batch, where it has some. Images that the detections do not name
    need none there. `faults` gets what is wrong with a picture, whose objects then have no runs.
    Raises `InputError` when there is no such folder.
    """
    objects, sizes = batch.gt if side == "gt" else batch.det, batch.sizes
    shown = masks.gt if side == "gt" else masks.det
    folder = masks.base / shown
    if not folder.is_dir():
        raise InputError(f"{shown}: no such folder; expected a folder of label pictures")
    pictures: list[tuple[PictureRuns, Ints] | None] = [None] * len(batch.names)
    shapes = np.minimum(sizes, masks.max_pixels).astype(np.int64)
    with unlimited_and_silent():
        for k, name in enumerate(batch.names):
            file = ""
            try:
                if side == "gt" and not sizes[k].all():
                    found = f"image {name} without height and width in the ground truth"
                    expected = "a ground truth that states them, as EvaLTex files do"
                    raise FormatError(found, f"{expected}, with label pictures")
                file = _find(folder, name)
                if file:
                    runs = find_runs(_read_labels(folder / file, masks.max_pixels))
                    if sizes[k].all() and runs.shape != tuple(sizes[k]):
                        found = "height,width {},{}".format(*runs.shape)
                        expected = "{:g},{:g}, as the ground truth says".format(*sizes[k])
                        raise FormatError(found, expected)
                    start, stop = objects.offsets[k : k + 2].tolist()
                    pictures[k] = runs, _owners(runs.label, objects.ids[start:stop]) + start
                    shapes[k] = runs.shape
                elif side == "gt" or batch.named_in_detections[k]:
                    found = f"no picture of image {quote(name)}"
                    raise FormatError(found, f"a file of that name, one of {' '.join(SUFFIXES)}")
            except FormatError as error:
                faults.add(str(shown / file), None, error.found, error.expected)
    return join(pictures, shapes, objects.count)


def _find(folder: Path, name: str) -> str:
    """Return the file name of an image's picture; empty if there is none."""
    has_ending = name.lower().endswith(SUFFIXES)
    endings = ("",) if has_ending else (*map(str.upper, SUFFIXES), *SUFFIXES)
    there = [name + end for end in endings if os.path.exists(folder / (name + end))]  # noqa: PTH110 (false for long names)
    pictures = {file.lower(): file for file in there}  # where case does not matter, two are one
    if len(pictures) > 1:
        files = ", ".join(pictures.values())
        raise FormatError(f"{len(pictures)} pictures of image {quote(name)}: {files}", "one")
    return "".join(pictures.values())


def _owners(values: NDArray[Any], ids: Ints) -> Ints:
    """Return (r,) which of an image's objects each run belongs to; raises `FormatError`."""
    labels = values.astype(np.int64)
    fractions = values[labels != values]
    if len(fractions):
        raise FormatError(f"value {fractions[0]}", "whole numbers; save the labels as integers")
    owners = object_of(labels, ids)
    strange = labels[owners == NO_OBJECT]
    if len(strange):
        strange = np.unique(strange)
        expected = "0 and the IDs of the image's objects; set these pixels to 0 or add the objects"
        if (strange % _GREY == 0).all():
            expected = "labels in one channel: save the grey picture as grey, not as RGB"
        found = f"labels {listed(strange.astype(str).tolist())} without an object of this ID"
        raise FormatError(found, expected)
    hidden = np.sort(ids[np.bincount(owners, minlength=len(ids)) == 0]).astype(str).tolist()
    if hidden:
        raise FormatError(f"no pixel of the IDs {listed(hidden)}", "some pixels of each object")
    return owners


@contextmanager
def unlimited_and_silent() -> Iterator[None]:
    """Let pictures be of any size, without warnings: callers have limits and messages. One thread
    at a time can be in such a block, since these are settings of the process.
    """
    from PIL import Image

    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def _read_labels(path: Path, max_pixels: int) -> NDArray[Any]:
    try:
        is_tiff = path.suffix.lower() in (".tif", ".tiff")
        values = _tiff(path, max_pixels) if is_tiff else _pillow(path, max_pixels, _PILLOW_FORMATS)
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # decoders raise anything at all on broken files
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"cannot be read ({reason})", "TIFF, PNG, BMP or GIF") from error
    if values.ndim == 2:
        return values
    colours = list(np.moveaxis(values, 2, 0))
    if len(colours) != 3 and (colours.pop() < 255).any():
        raise FormatError("transparent pixels", _KINDS)
    labels: NDArray[Any] = sum(one.astype(np.uint32) << 8 * k for k, one in enumerate(colours))
    return labels


def _pillow(path: Path, max_pixels: int, formats: tuple[str, ...]) -> NDArray[Any]:
    from PIL import Image

    with Image.open(path, formats=formats) as image:
        _check(getattr(image, "n_frames", 1), image.height, image.width, max_pixels)
        raw_mode = str(image.tile[0][3]) if image.tile else ""
        if image.mode not in _PILLOW_MODES or _SCALED.search(raw_mode):
            raise FormatError(f"{image.mode} pixels stored as {raw_mode}", _KINDS)
        return np.asarray(image)


def _tiff(path: Path, max_pixels: int) -> NDArray[Any]:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        page: Any = tiff.pages[0]
        shape, channels = (page.imagelength, page.imagewidth), page.samplesperpixel
        _check(len(tiff.pages), *shape, max_pixels)
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
            return _pillow(path, max_pixels, ("TIFF",))
    return np.asarray(values).reshape(shape if channels == 1 else (*shape, channels))


def _check(pages: int, height: int, width: int, max_pixels: int) -> None:
    if pages != 1:
        raise FormatError(f"{pages} pages or frames", "a picture of one")
    if height * width > max_pixels:
        expected = f"at most {max_pixels}; if it is right, raise the limit with --max-pixels"
        raise FormatError(f"{height * width} pixels ({height},{width})", expected)
