"""Sizes of the images' pictures, read from the pictures' headers alone;
fractions of the page become pixels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.geometry.outlines import from_numbers
from evaltex_cli.old_formats.base import ReadImages, Source, SourcePart
from evaltex_cli.old_formats.decoders import unlimited_and_silent
from evaltex_cli.old_formats.files.image_names import stem
from evaltex_cli.progress import tracked
from evaltex_cli.records import Floats, Ints

SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".jpe",
    ".webp",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".avif",
    ".jp2",
    ".ppm",
    ".pgm",
)
_ORIENTATION = 0x0112
_LIES_ON_ITS_SIDE = (5, 6, 7, 8)
_ORIENTATION_IN_HEADER = ("JPEG", "MPO", "TIFF", "WEBP")


def find_pictures(
    folder: Path, names: Sequence[str], suffixes: Sequence[str] = SUFFIXES
) -> list[Path | None]:
    """Find each image's picture in a folder or below it.

    A picture is an image's whose path from the folder is the image's name, with or without
    extension; else whose file name is; else whose stem is (`image_names.stem`: without ``gt_``,
    ``res_`` and the like). The one nearest to the folder counts, then the one whose extension comes
    first in `suffixes`. Names are looked up in the folder's listing, so none leads out of it. Pipes
    and devices are left out.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of the images' pictures")
    listed = (Path(root, file) for root, _, files in os.walk(folder) for file in files)
    known = (path for path in listed if path.suffix.lower() in suffixes)
    readable = (
        path for path in known if path.is_file() or not path.exists()
    )  # a broken link is reported
    by_name: dict[str, Path] = {}
    by_stem: dict[str, Path] = {}
    for path in sorted(
        readable,
        key=lambda path: (len(path.parts), suffixes.index(path.suffix.lower()), path.as_posix()),
    ):
        relative = path.relative_to(folder)
        for name in (
            relative.as_posix(),
            relative.with_suffix("").as_posix(),
            path.name,
            path.stem,
        ):
            by_name.setdefault(name, path)
        by_stem.setdefault(stem(path.name), path)
    return [by_name.get(name) or by_stem.get(stem(name)) for name in names]


def picture_size(picture: Path) -> tuple[int, int] | None:
    """Return height and width of a picture as it is shown; None where it cannot be read.

    A photograph that lies on its side (Exif orientation 5 to 8) is turned, as viewers and OpenCV
    do.
    """
    from PIL import Image

    try:
        with unlimited_and_silent(), Image.open(picture) as image:
            width, height = image.size
            turns = (
                image.format in _ORIENTATION_IN_HEADER
                and image.getexif().get(_ORIENTATION) in _LIES_ON_ITS_SIDE
            )
            return (width, height) if turns else (height, width)
    except Exception:  # decoders raise anything at all on broken files
        return None


def sizes_from_pictures(folder: Path, names: Sequence[str]) -> Floats:
    """Return heights and widths of the images' pictures.

    Parameters
    ----------
    folder : Path
        Pictures, in it or in folders below (`find_pictures`). Only their headers are read.
    names : sequence of str
        Image names.

    Returns
    -------
    (n, 2) float64
        0, 0 where an image has no picture, or one that cannot be read.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    pictures = tracked(
        find_pictures(folder, names), f"reading {folder.name}", "pictures", len(names)
    )
    sizes = [(picture_size(path) if path else None) or (0, 0) for path in pictures]
    return np.array(sizes, np.float64).reshape(-1, 2)


def with_sizes(source: Source, folder: Path) -> Source:
    """Return the input with the sizes of the images' pictures where it has none of its own.

    Parameters
    ----------
    folder : Path
        As for `sizes_from_pictures`; an image whose picture is missing or cannot be read keeps no
        size.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    return replace(source, filters=(*source.filters, _pictures_of(source, folder)))


def _pictures_of(source: Source, folder: Path) -> _Sizes:
    return _Sizes(find_pictures(folder, source.names), Path.cwd())


@dataclass(frozen=True, slots=True, eq=False)
class _Sizes:
    """A `base.Filter` that gives images without a size that of their picture, and makes fractions
    pixels by it.
    """

    pictures: Sequence[Path | None]
    """From `base`."""
    base: Path

    def part(self, positions: Ints) -> _Sizes:
        return _Sizes([self.pictures[k] for k in positions.tolist()], self.base)

    def apply(self, images: ReadImages) -> ReadImages:
        sizes = images.sizes.copy()
        for k in np.flatnonzero((sizes <= 0).any(axis=1)).tolist():
            sizes[k] = self.size(k)
        return replace(in_pixels(images, sizes), sizes=sizes)

    def size(self, k: int) -> tuple[int, int]:
        """Return height and width of an image's picture; 0, 0 if it has none,
        or one that cannot be read.
        """
        picture = self.pictures[k]
        if picture is None:
            return 0, 0
        return picture_size(self.base / picture) or (0, 0)


def with_sizes_of_each_other(
    gt: Source, det: Source, paired: Ints, folder: Path | None = None
) -> tuple[Source, Source]:
    """Return both sides with coordinates that are fractions of the page made pixels by the size on
    the other side.

    The other side's images have the size that it states, or that of the picture (`with_sizes`).

    Parameters
    ----------
    paired : (images,) int64
        Position in `det` of each image of `gt`; below 0 where it has none.
    folder : Path, optional
        Of the pictures, if there are any. It is a fault if a detection's picture has another size
        than the ground truth states, for it is not known which of them its fractions are of.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    back = np.full(len(det.names), -1, np.int64)
    back[paired[paired >= 0]] = np.flatnonzero(paired >= 0)
    pictures = None if folder is None else _pictures_of(det, folder)
    ours, theirs = SourcePart(gt.content, gt.filters), SourcePart(det.content, det.filters)
    return (
        replace(gt, filters=(*gt.filters, _SizesOfPartners(theirs, paired))),
        replace(det, filters=(*det.filters, _SizesOfPartners(ours, back, pictures))),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _SizesOfPartners:
    """A `base.Filter` that makes fractions pixels by the sizes of the same images on the other
    side.
    """

    others: SourcePart
    partners: Ints
    """(images,) int64. Positions in `others`, below 0 for an image that is not there."""
    pictures: _Sizes | None = None
    """The images' pictures, whose sizes must be the same."""

    def part(self, positions: Ints) -> _SizesOfPartners:
        partners = self.partners[positions]
        present = partners >= 0
        others = self.others.part(partners[present])
        pictures = self.pictures and self.pictures.part(positions)
        return _SizesOfPartners(others, np.where(present, np.cumsum(present) - 1, -1), pictures)

    def apply(self, images: ReadImages) -> ReadImages:
        if images.in_fractions is None:
            return images
        present = self.partners >= 0
        sizes = np.zeros((len(self.partners), 2))
        sizes[present] = self.others.read_in_any_unit().sizes[self.partners[present]]
        if self.pictures is not None:
            self._refuse_other_sizes(self.pictures, images, sizes)
        return in_pixels(images, sizes)

    def _refuse_other_sizes(self, pictures: _Sizes, images: ReadImages, sizes: Floats) -> None:
        known = (sizes > 0).all(axis=1)
        for k in np.flatnonzero(
            known if images.in_fractions is None else known & images.in_fractions
        ).tolist():
            own, stated = pictures.size(k), tuple(sizes[k].tolist())
            if all(own) and own != stated:
                found = (
                    f"a picture of height,width {own[0]},{own[1]}, while"
                    f" {stated[0]:g},{stated[1]:g} are stated"
                )
                expected = "one size of an image in which coordinates are fractions of the page"
                images.faults.add(str(pictures.pictures[k]), None, found, expected)


def in_pixels(images: ReadImages, sizes: Floats) -> ReadImages:
    """Multiply coordinates that are fractions of the page by its size in pixels, where it is known.

    Polygons are made again, so whether they are valid, and their repair, are those of pixels.

    Parameters
    ----------
    sizes : (images, 2) float64
        Heights and widths, 0 where unknown.

    Returns
    -------
    ReadImages
        `in_fractions` has the images that are left; the others have these sizes.
    """
    if images.in_fractions is None:
        return images
    known = images.in_fractions & (sizes > 0).all(axis=1)
    if not known.any():
        return images
    scale = np.where(known[:, None], sizes[:, ::-1], 1.0)[images.objects.image]
    old = images.objects.outlines
    is_box = old.counts == 0
    counts = np.where(is_box, 4, 2 * old.counts)
    numbers, of_box = np.empty(counts.sum()), np.repeat(is_box, counts)
    numbers[of_box] = (old.boxes * np.tile(scale, 2))[is_box].ravel()
    numbers[~of_box] = (old.vertices * np.repeat(scale, old.counts, axis=0)).ravel()
    outlines, repairs = from_numbers(numbers, counts, is_box)
    left = images.in_fractions & ~known
    return replace(
        images,
        sizes=np.where(known[:, None], sizes, images.sizes),
        objects=replace(images.objects, outlines=outlines),
        repairs=repairs,
        in_fractions=left if left.any() else None,
    )
