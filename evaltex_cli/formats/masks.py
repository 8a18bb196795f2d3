"""Label pictures: one file an image, whose pixel values are object IDs and 0 is background.

The value of a pixel is the stored sample of a bilevel or grey picture (1, 2, 4, 8, 16 or 32 bits;
floating point where it is whole and small enough to be exact), the index of a palette, or
R + 256 G + 65536 B of 8-bit RGB. Alpha is left out where every pixel is opaque. All else is refused
rather than guessed at: 16-bit colour, white-is-zero grey, colours in planes, rotated TIFFs, several
pages or frames. tifffile reads TIFFs, Pillow all others, and the TIFFs whose compression tifffile
does not know.
"""

from __future__ import annotations

import logging
import os
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
from evaltex_cli.geometry.picture_runs import NO_OBJECT, PictureRuns, find_runs, join, object_of
from evaltex_cli.records import Bools, Floats, Ints, LabelRuns, Objects

SUFFIXES = (".tif", ".tiff", ".png", ".bmp", ".gif")
_FORMATS = ("PNG", "BMP", "GIF")
_LOSSY = (".jpg", ".jpeg", ".JPG", ".JPEG")
_TIFF_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_GREY_RGB_PALETTE = (1, 2, 3)
_SPREAD_BY = {"L;2": 85, "L;4": 17}
"""Pillow spreads samples of 2 and 4 bits over 0..255."""
_GREY = 0x010101
"""Pixels of three equal channels, read as one number, are its multiples."""
_LISTED_IDS = 5
_lock = threading.RLock()

Labels = NDArray[Any]
"""(height, width) bool, integers or floating-point numbers."""


class PictureFolder(NamedTuple):
    """A folder of label pictures."""

    folder: Path
    """As messages name it."""
    base: Path = Path()
    """The folder that a relative `folder` is in."""
    max_pixels: int = 100_000_000
    """Larger pictures are not decoded."""

    def find(self, name: str) -> str:
        """Return the file name of an image's picture: its own name, if that ends in one of
        `SUFFIXES`, else with one of them, in lower or upper case. Empty if there is none.

        Raises `FormatError` for several, and for names that lead out of the folder.
        """
        if leaves_result_folder(name):
            expected = "a name that stays in the folder of label pictures"
            raise FormatError(f"image name {quote(name)}", expected)
        if name.lower().endswith(SUFFIXES):
            return name if self._has(name) else ""
        pictures = []
        for suffix in SUFFIXES:  # where case does not matter, one file answers to both
            cases = (name + suffix, name + suffix.upper())
            pictures += [file for file in cases if self._has(file)][:1]
        if len(pictures) > 1:
            found = f"{len(pictures)} pictures of image {quote(name)}: {', '.join(pictures)}"
            raise FormatError(found, "one; remove the others")
        return pictures[0] if pictures else ""

    def missing(self, name: str) -> FormatError:
        """Return what is wrong if an image has no picture."""
        found = f"no picture of image {quote(name)}"
        if any(self._has(f"{name}{ending}") for ending in _LOSSY):
            found += " but a JPEG, whose compression changes labels"
        endings = "" if name.lower().endswith(SUFFIXES) else f" plus one of {' '.join(SUFFIXES)}"
        return FormatError(found, f"a file of that name{endings}")

    def _has(self, file: str) -> bool:
        return os.path.exists(self.base / self.folder / file)  # noqa: PTH110 (false for long names)


def read_runs(
    folder: PictureFolder,
    names: Sequence[str],
    objects: Objects,
    sizes: Floats,
    has_picture: Bools,
    faults: FaultLog,
) -> LabelRuns:
    """Read the label pictures of one side of a batch.

    Parameters
    ----------
    names : sequence of str
        Image names.
    objects : Objects
        Of these images; their IDs are the labels.
    sizes : (images, 2) float64
        Heights and widths that the pictures must have; 0 for any.
    has_picture : (images,) bool
        Where there must be one. Elsewhere there may be one, without labels.
    faults : FaultLog
        Gets what is wrong with a picture; its objects then have no runs.

    Raises
    ------
    InputError
        When there is no such folder.
    """
    if not (folder.base / folder.folder).is_dir():
        raise InputError(
            f"{folder.folder}: no such folder; expected a folder of label pictures,"
            f" {' '.join(SUFFIXES)}"
        )
    pictures: list[tuple[PictureRuns, Ints] | None] = [None] * len(names)
    shapes = np.minimum(sizes, folder.max_pixels).astype(np.int64)
    with unlimited_and_silent():
        for k, name in enumerate(names):
            file = ""
            try:
                file = folder.find(name)
                if file:
                    path, (height, width) = folder.base / folder.folder / file, sizes[k].astype(int)
                    size = (height, width) if height and width else None
                    runs = find_runs(read_labels(path, size, folder.max_pixels))
                    start, stop = objects.offsets[k : k + 2].tolist()
                    pictures[k] = runs, _owners(runs.label, objects.ids[start:stop]) + start
                    shapes[k] = runs.shape
                elif has_picture[k]:
                    raise folder.missing(name)
            except FormatError as error:
                faults.add(str(folder.folder / file), None, error.found, error.expected)
    return join(pictures, shapes, objects.count)


def _owners(labels: Labels, ids: Ints) -> Ints:
    """Return (r,) which of an image's objects each run belongs to; raises `FormatError`."""
    if labels.dtype.kind == "f":
        limit = 2.0 ** (np.finfo(labels.dtype).nmant + 1)  # from which on some are skipped
        bad = labels[~((labels == np.rint(labels)) & (np.abs(labels) < limit))]
        if len(bad):
            raise FormatError(
                f"{labels.dtype.itemsize * 8}-bit floating-point value {bad[0]}",
                f"whole numbers below {limit:.0f}; save the labels as integers",
            )
    labels = labels.astype(np.int64)
    owners = object_of(labels, ids)
    strange = np.unique(labels[owners == NO_OBJECT])
    if len(strange) and (strange % _GREY == 0).all():
        raise FormatError(
            f"a grey picture stored as RGB, so {_listed(strange, 'label')}",
            "labels in one channel; save it as grey (in Pillow, mode L or I;16)",
        )
    if len(strange):
        raise FormatError(
            f"{_listed(strange, 'label')} without an object of this ID",
            "0 and the IDs of the image's objects; set these pixels to 0 or add the objects' lines"
            " to the .txt",
        )
    hidden = np.bincount(owners, minlength=len(ids)) == 0
    if hidden.any():
        raise FormatError(
            f"no pixel of {_listed(np.sort(ids[hidden]), 'ID')}",
            "some pixels of each of the image's objects; draw these or remove their lines from the"
            " .txt",
        )
    return owners


def _listed(ids: Ints, what: str) -> str:
    shown = ", ".join(map(str, ids[:_LISTED_IDS].tolist()))
    more = f", ... ({len(ids)} in all)" if len(ids) > _LISTED_IDS else ""
    return f"{what}{'s' if len(ids) > 1 else ''} {shown}{more}"


# Decoding -----------------------------------------------------------------------------------------


@contextmanager
def unlimited_and_silent() -> Iterator[None]:
    """Let pictures be of any size, and ignore what decoders log and warn of; callers have limits
    and messages. These are settings of the whole process, so one thread at a time is in such a
    block.
    """
    from PIL import Image

    loggers = [logging.getLogger(name) for name in ("PIL", "tifffile")]
    with _lock, warnings.catch_warnings():
        levels = [logger.level for logger in loggers]
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        warnings.simplefilter("ignore")
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL + 1)
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def read_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> Labels:
    """Decode a label picture of this height and width, if they are given, and at most so many
    pixels, which is checked before. Raises `FormatError`.
    """
    from PIL import UnidentifiedImageError

    if not path.is_file():
        raise FormatError("not a file", "a label picture")
    try:
        with path.open("rb") as file:
            is_tiff = file.read(4) in _TIFF_MAGIC
        return (_tiff_labels if is_tiff else _pillow_labels)(path, size, max_pixels)
    except UnidentifiedImageError as error:
        expected = f"a label picture in one of {', '.join(_FORMATS)}, TIFF"
        raise FormatError("not a picture", expected) from error
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # decoders raise anything at all on broken files
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        found = f"cannot be read ({str(reason).splitlines()[0]})"
        raise FormatError(found, "a whole, readable picture; write it again") from error


def _pillow_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> Labels:
    from PIL import Image

    with Image.open(path, formats=_FORMATS) as image:
        if getattr(image, "is_animated", False):
            _check_pages(getattr(image, "n_frames", 1))
        if image.mode not in ("1", "L", "P", "I", "I;16", "LA", "RGB", "RGBA"):
            raise _unreadable(f"{image.mode} pixels")
        tiles: list[Any] = getattr(image, "tile", [])
        arguments = tiles[0][3] if tiles else ""
        raw_mode = str(arguments[0] if isinstance(arguments, tuple) else arguments)
        if image.mode in ("RGB", "RGBA") and ";1" in raw_mode:
            raise _unreadable("colours of other than 8 bits")
        _check_size((image.height, image.width), size, max_pixels)
        labels = _without_channels(np.asarray(image))
    spread = _SPREAD_BY.get(raw_mode[:3])
    return labels // np.uint8(spread) if spread else labels


def _tiff_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> Labels:
    import tifffile
    from PIL import Image

    with tifffile.TiffFile(path) as tiff:
        _check_pages(len(tiff.pages))
        page: Any = tiff.pages[0]
        _check_tiff(page)
        shape = (page.imagelength, page.imagewidth)
        _check_size(shape, size, max_pixels)
        try:
            values = np.asarray(page.asarray(maxworkers=1))
        except ValueError as error:
            if "imagecodecs" not in str(error):
                raise
            if tiff.byteorder == ">" or page.bitspersample > 32:
                found = f"{page.compression.name} compression of {page.bitspersample}-bit samples"
                raise FormatError(found, "none, or ZIP; write the picture again") from error
            with Image.open(path, formats=("TIFF",)) as image:
                values = np.asarray(image)
            if values.ndim == 2 and values.dtype.itemsize == page.dtype.itemsize:
                values = values.view(page.dtype)  # Pillow has 32 bits as signed numbers
    channels = page.samplesperpixel
    return _without_channels(values.reshape(shape if channels == 1 else (*shape, channels)))


def _check_tiff(page: Any) -> None:
    """Refuse what is not among the usual kinds of pixels."""
    bits, channels, photometric = page.bitspersample, page.samplesperpixel, int(page.photometric)
    if photometric == 0:
        raise _unreadable("white-is-zero grey")
    if photometric not in _GREY_RGB_PALETTE:
        raise _unreadable(f"other colours than grey, RGB or a palette (photometric {photometric})")
    if channels > 1 and (bits != 8 or channels > 4):
        raise _unreadable(f"{channels} channels of {bits} bits")
    if channels > 1 and int(page.planarconfig) != 1:
        raise _unreadable("colours in planes")
    if page.dtype is None or page.dtype.kind not in "buif" or bits not in (1, 8, 16, 32, 64):
        raise _unreadable(f"samples of a kind that is not read ({bits} bits)")
    orientation = int(page.tags.valueof(274, 1))
    if orientation != 1:
        found = f"a TIFF turned by its orientation tag ({orientation})"
        raise FormatError(found, "rows from top to bottom")


def _check_pages(pages: int) -> None:
    if pages == 0:
        raise ValueError("no picture in it")
    if pages != 1:
        raise FormatError(f"{pages} pages or frames", "a picture of one")


def _check_size(own: tuple[int, int], size: tuple[int, int] | None, max_pixels: int) -> None:
    height, width = own
    if size is not None and own != size:
        expected = f"{size[0]},{size[1]}, as the ground truth says"
        raise FormatError(f"height,width {height},{width}", expected)
    if height * width > max_pixels:
        raise FormatError(
            f"{height * width} pixels ({height},{width})",
            f"at most {max_pixels}; where the picture is right, raise the limit with --max-pixels",
        )


def _without_channels(values: Labels) -> Labels:
    """Return the labels of pixels that may have channels: grey or RGB, and alpha after them."""
    if values.ndim == 2:
        return values
    channels = values.shape[2]
    if channels in (2, 4) and (values[..., -1] < 255).any():
        raise _unreadable("transparent pixels")
    if channels == 2:
        return np.ascontiguousarray(values[..., 0])
    red, green, blue = (values[..., k].astype(np.uint32) for k in range(3))
    labels: Labels = red | green << np.uint32(8) | blue << np.uint32(16)
    return labels


def _unreadable(found: str) -> FormatError:
    kinds = "8-, 16- or 32-bit grey, palette or 8-bit RGB"
    return FormatError(found, f"{kinds}, whose pixel values are object IDs")
