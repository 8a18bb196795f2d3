"""Label pictures: one file an image, whose pixel values are object IDs and 0 is background.

========================== ======================================================================
pixels                     value
========================== ======================================================================
bilevel, grey              the stored sample, of 1, 2, 4, 8, 16 or 32 bits
floating point             the sample, where whole and small enough to be exact
palette                    the index
RGB of 8 bits              R + 256 G + 65536 B
grey or RGB with alpha     as without, where every pixel is opaque
========================== ======================================================================

All else is refused rather than guessed at: 16-bit colour, white-is-zero grey, colours in planes,
rotated TIFFs, several pages or frames. tifffile reads TIFFs, Pillow all others, and the TIFFs whose
compression tifffile does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from evaltex_cli.errors import Fault, FaultLog, FormatError, InputError, quote
from evaltex_cli.geometry.picture_runs import (
    NO_OBJECT,
    PictureRuns,
    find_runs,
    join,
    object_of,
)
from evaltex_cli.old_formats.decoders import unlimited_and_silent
from evaltex_cli.old_formats.picture_folders import SUFFIXES, PictureFolder, is_picture
from evaltex_cli.records import Bools, Floats, Ints, LabelRuns, Objects

FORMATS = ("PNG", "BMP", "GIF")
LISTED_IDS = 5
_TIFF_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_TIFF_GREY_RGB_PALETTE = (1, 2, 3)
_TIFF_BITS = (1, 8, 16, 32, 64)
_STRETCHED_BY = {"L;2": 85, "L;4": 17}
"""Pillow spreads samples of 2 and 4 bits over 0..255."""
_KINDS = "8-, 16- or 32-bit grey, palette or 8-bit RGB"


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
    folder : PictureFolder
    names : sequence of str
        Image names. A picture's file is the name with one of `SUFFIXES`, unless it ends in one
        already.
    objects : Objects
        Of these images; their IDs are the labels.
    sizes : (images, 2) float64
        Heights and widths that the pictures must have; 0 for any.
    has_picture : (images,) bool
        Where there must be one. Elsewhere there may be one, without labels.
    faults : FaultLog
        Gets what is wrong with a picture; its objects then have no runs.

    Returns
    -------
    LabelRuns
        One object an ID, in the order of `objects`.

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

    def read(k: int) -> tuple[PictureRuns, Ints] | Fault | None:
        found: tuple[PictureRuns, Ints] | Fault
        path: Path | None = None
        try:
            path = folder.find(names[k])
            if path is None:
                return _missing(folder.folder, names[k]) if has_picture[k] else None
            found = _owned_runs(
                path, sizes[k], objects.ids, objects.offsets[k : k + 2], folder.max_pixels
            )
        except FormatError as error:
            found = Fault(folder.shown(path), None, error.found, error.expected)
            if path is None:
                return found
        return found

    with unlimited_and_silent():
        results = [read(k) for k in range(len(names))]
    for result in results:
        if isinstance(result, Fault):
            faults.add(result.file, result.line, result.found, result.expected)
    pictures = [None if isinstance(result, Fault) else result for result in results]
    shapes = np.minimum(sizes, folder.max_pixels).astype(np.int64)
    for k, picture in enumerate(pictures):
        if picture is not None:
            shapes[k] = picture[0].shape
    return join(pictures, shapes, objects.count)


_LOSSY = (".jpg", ".jpeg", ".JPG", ".JPEG")
_GREY = 0x010101
"""Pixels of three equal channels, read as one number, are its multiples."""


def _missing(folder: Path, name: str) -> Fault:
    expected = name if is_picture(name) else f"{name} plus one of {' '.join(SUFFIXES)}"
    found = f"no picture of image {quote(name)}"
    if any((folder / f"{name}{suffix}").exists() for suffix in _LOSSY):
        found += " but a JPEG, whose compression changes labels"
    return Fault(str(folder), None, found, f"a file {expected}")


def read_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> NDArray[Any]:
    """Decode a label picture.

    Parameters
    ----------
    path : Path
    size : (height, width) or None
        What the picture must have; checked before it is decoded, as `max_pixels` is.
    max_pixels : int

    Returns
    -------
    (height, width) array of bool, integers or floating-point numbers

    Raises
    ------
    FormatError
        When it cannot be read, or its pixels are not plain labels.
    """
    if not path.is_file():
        raise FormatError("not a file", "a label picture")
    try:
        with path.open("rb") as file:
            is_tiff = file.read(4) in _TIFF_MAGIC
        return (_tiff_labels if is_tiff else _pillow_labels)(path, size, max_pixels)
    except UnidentifiedImageError as error:
        raise FormatError(
            "not a picture", f"a label picture in one of {', '.join(FORMATS)}, TIFF"
        ) from error
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # decoders raise anything at all on broken files
        reason = str(
            getattr(error, "strerror", None) or error or type(error).__name__
        ).splitlines()[0]
        raise FormatError(
            f"cannot be read ({reason})", "a whole, readable picture; write it again"
        ) from error


def _owned_runs(
    path: Path, size: Floats, ids: Ints, own: Ints, max_pixels: int
) -> tuple[PictureRuns, Ints]:
    """Runs of a picture and the batch's object of each; the image owns rows
    ``own[0]:own[1]`` of the batch.
    """
    ids = ids[own[0] : own[1]]
    height, width = (int(side) for side in size)
    labels = read_labels(path, (height, width) if height and width else None, max_pixels)
    runs = find_runs(labels)
    label = _whole(runs.label)
    owner = object_of(label, ids)
    strange = owner == NO_OBJECT
    if strange.any():
        labels_left = np.unique(label[strange])
        if (labels_left % _GREY == 0).all():
            raise FormatError(
                f"a grey picture stored as RGB, so {_listed(labels_left, 'label')}",
                "labels in one channel; save it as grey (in Pillow, mode L or I;16)",
            )
        raise FormatError(
            f"{_listed(labels_left, 'label')} without an object of this ID",
            "0 and the IDs of the image's objects; set these pixels to 0 or add the objects' lines"
            " to the .txt",
        )
    hidden = np.bincount(owner, minlength=len(ids)) == 0
    if hidden.any():
        raise FormatError(
            f"no pixel of {_listed(np.sort(ids[hidden]), 'ID')}",
            "some pixels of each of the image's objects; draw these or remove their lines from the"
            " .txt",
        )
    return runs, owner + own[0]


def _listed(ids: Ints, what: str) -> str:
    listed = ", ".join(str(value) for value in ids[:LISTED_IDS].tolist())
    if len(ids) == 1:
        return f"{what} {listed}"
    return f"{what}s {listed}" + (f", ... ({len(ids)} in all)" if len(ids) > LISTED_IDS else "")


def _whole(label: NDArray[Any]) -> Ints:
    """Labels as integers; floating-point ones must be, below the limit where
    they begin to skip some.
    """
    if label.dtype.kind == "f":
        limit = 2.0 ** (np.finfo(label.dtype).nmant + 1)
        bad = label[~((label == np.rint(label)) & (np.abs(label) < limit))]
        if len(bad):
            raise FormatError(
                f"{label.dtype.itemsize * 8}-bit floating-point value {bad[0]}",
                f"whole numbers below {limit:.0f}; save the labels as integers",
            )
    return label.astype(np.int64)


def _check_size(found: tuple[int, int], size: tuple[int, int] | None, max_pixels: int) -> None:
    height, width = found
    if size is not None and found != size:
        raise FormatError(
            f"height,width {height},{width}", f"{size[0]},{size[1]}, as the ground truth says"
        )
    if height * width > max_pixels:
        raise FormatError(
            f"{height * width} pixels ({height},{width})",
            f"at most {max_pixels}; where the picture is right, raise the limit with --max-pixels",
        )


def _check_pages(pages: int) -> None:
    if pages == 0:
        raise ValueError("no picture in it")
    if pages != 1:
        raise FormatError(f"{pages} pages or frames", "a picture of one")


def _unreadable(what: str) -> FormatError:
    return FormatError(what, f"{_KINDS}, whose pixel values are object IDs")


def _without_channels(values: NDArray[Any]) -> NDArray[Any]:
    """(height, width) labels of pixels that may have channels: grey, RGB, and alpha after them."""
    if values.ndim == 2:
        return values
    channels = values.shape[2]
    if channels in (2, 4) and (values[..., -1] < 255).any():
        raise _unreadable("transparent pixels")
    if channels == 2:
        return np.ascontiguousarray(values[..., 0])
    labels = values[..., 0].astype(np.uint32)
    labels |= values[..., 1].astype(np.uint32) << np.uint32(8)
    labels |= values[..., 2].astype(np.uint32) << np.uint32(16)
    return labels


def _pillow_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> NDArray[Any]:
    with Image.open(path, formats=FORMATS) as image:
        if getattr(image, "is_animated", False):  # known at once, counting the pages is slow
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
    if raw_mode[:3] in _STRETCHED_BY:
        return labels // np.uint8(_STRETCHED_BY[raw_mode[:3]])
    return labels


def _tiff_labels(path: Path, size: tuple[int, int] | None, max_pixels: int) -> NDArray[Any]:
    import tifffile  # pictures of other formats do without

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
                what = f"{page.compression.name} compression of {page.bitspersample}-bit samples"
                raise FormatError(what, "none, or ZIP; write the picture again") from error
            with Image.open(path, formats=("TIFF",)) as image:
                values = np.asarray(image)
            if values.ndim == 2 and values.dtype.itemsize == page.dtype.itemsize:
                values = values.view(page.dtype)  # Pillow has 32 bits as signed numbers
    channels = page.samplesperpixel
    return _without_channels(values.reshape(shape if channels == 1 else (*shape, channels)))


def _check_tiff(page: Any) -> None:
    """Refuse what is not among the usual kinds of pixels."""
    bits, channels = page.bitspersample, page.samplesperpixel
    photometric = int(page.photometric)
    if photometric == 0:
        raise _unreadable("white-is-zero grey")
    if photometric not in _TIFF_GREY_RGB_PALETTE:
        raise _unreadable(f"other colours than grey, RGB or a palette (photometric {photometric})")
    if channels > 1 and (bits != 8 or channels > 4):
        raise _unreadable(f"{channels} channels of {bits} bits")
    if channels > 1 and int(page.planarconfig) != 1:
        raise _unreadable("colours in planes")
    if page.dtype is None or page.dtype.kind not in "buif" or bits not in _TIFF_BITS:
        raise _unreadable(f"samples of a kind that is not read ({bits} bits)")
    orientation = int(page.tags.valueof(274, 1))
    if orientation != 1:
        raise FormatError(
            f"a TIFF turned by its orientation tag ({orientation})", "rows from top to bottom"
        )
