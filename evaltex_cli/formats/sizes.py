"""Sizes of the images' pictures, read from the pictures' headers alone; fractions of the page
become pixels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem
from evaltex_cli.progress import tracked
from evaltex_cli.records import Floats, Ints, Outlines

SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".jpe", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".jp2"),
    *(".ppm", ".pgm"),
)
IN_FRACTIONS = (
    "coordinates that are fractions of the page, whose size in pixels is not known",
    "the size of its picture: give the pictures by --images FOLDER",
)
"""What is found, and expected, if coordinates are fractions in the end."""
_ORIENTATION = 0x0112
_TURNED_BY_90 = (5, 6, 7, 8)
_ORIENTATION_IN_HEADER = ("JPEG", "MPO", "TIFF", "WEBP")


def find_pictures(
    folder: Path, names: Sequence[str], suffixes: Sequence[str] = SUFFIXES
) -> list[Path | None]:
    """Find each image's picture in a folder or below it.

    A picture is an image's whose path from the folder is the image's name, with or without
    extension; else whose file name is; else whose stem is (`names.stem`: without ``gt_``, ``res_``
    and the like). The one nearest to the folder counts, then the one whose extension comes first in
    `suffixes`. Names are looked up in the folder's listing, so none leads out of it.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of the images' pictures")
    listed = (Path(root, file) for root, _, files in os.walk(folder) for file in files)
    known = [path for path in listed if path.suffix.lower() in suffixes]
    by_name: dict[str, Path] = {}
    by_stem: dict[str, Path] = {}
    for path in sorted(
        known,
        key=lambda path: (len(path.parts), suffixes.index(path.suffix.lower()), path.as_posix()),
    ):
        inside = path.relative_to(folder)
        for name in (inside.as_posix(), inside.with_suffix("").as_posix(), path.name, path.stem):
            by_name.setdefault(name, path)
        by_stem.setdefault(stem(path.name), path)
    return [by_name.get(name) or by_stem.get(stem(name)) for name in names]


def picture_size(picture: Path) -> tuple[int, int] | None:
    """Return height and width of a picture as it is shown; None where it cannot be read.

    A photograph that lies on its side (Exif orientation 5 to 8) is turned, as viewers and OpenCV
    do.
    """
    from PIL import Image

    from evaltex_cli.formats.masks import unlimited_and_silent

    try:
        with unlimited_and_silent(), Image.open(picture) as image:
            width, height = image.size
            turns = (
                image.format in _ORIENTATION_IN_HEADER
                and image.getexif().get(_ORIENTATION) in _TURNED_BY_90
            )
            return (width, height) if turns else (height, width)
    except Exception:  # decoders raise anything at all on broken files
        return None


def sizes_from_pictures(folder: Path, names: Sequence[str]) -> Floats:
    """Return (n, 2) heights and widths of the images' pictures (`find_pictures`), of which only the
    headers are read; 0, 0 where an image has no picture, or one that cannot be read.
    """
    label = f"reading {folder.name}"
    pictures = tracked(find_pictures(folder, names), label, "pictures", len(names))
    sizes = [(picture_size(path) if path else None) or (0, 0) for path in pictures]
    return np.array(sizes, np.float64).reshape(-1, 2)


def with_sizes(source: Source, folder: Path) -> Source:
    """Return the input with the sizes of the images' pictures where it has none of its own, and
    with fractions of the page as pixels by them.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    unknown = np.flatnonzero((source.sizes <= 0).any(axis=1))
    sizes = source.sizes.copy()
    sizes[unknown] = sizes_from_pictures(folder, [source.names[k] for k in unknown.tolist()])
    return replace(in_pixels(source, sizes), sizes=sizes)


def with_sizes_of_each_other(
    gt: Source, det: Source, paired: Ints, faults: FaultLog, folder: Path | None = None
) -> tuple[Source, Source]:
    """Return both sides with coordinates that are fractions of the page made pixels by the size on
    the other side.

    Parameters
    ----------
    paired : (images,) int64
        Position in `det` of each image of `gt`; below 0 where it has none.
    faults : FaultLog
        Gets a fault if a detection's picture has another size than the ground truth states, for it
        is not known which of them its fractions are of.
    folder : Path, optional
        Of the pictures, if there are any.

    Raises
    ------
    InputError
        When the folder cannot be read.
    """
    ours = np.flatnonzero(paired >= 0)
    theirs = paired[ours]
    gt_sizes, det_sizes = np.zeros_like(gt.sizes), np.zeros_like(det.sizes)
    gt_sizes[ours], det_sizes[theirs] = det.sizes[theirs], gt.sizes[ours]
    if folder is not None and det.fractions is not None:
        _refuse_other_sizes(det, det_sizes, folder, faults)
    return in_pixels(gt, gt_sizes), in_pixels(det, det_sizes)


def _refuse_other_sizes(det: Source, sizes: Floats, folder: Path, faults: FaultLog) -> None:
    known = (sizes > 0).all(axis=1) & (det.fractions if det.fractions is not None else False)
    rows = np.flatnonzero(known).tolist()
    for k, picture in zip(rows, find_pictures(folder, [det.names[k] for k in rows]), strict=True):
        own, stated = picture and picture_size(picture), tuple(sizes[k].tolist())
        if own and own != stated:
            found = (
                f"a picture of height,width {own[0]},{own[1]}, while"
                f" {stated[0]:g},{stated[1]:g} are stated"
            )
            expected = "one size of an image in which coordinates are fractions of the page"
            faults.add(str(picture), None, found, expected)


def in_pixels(source: Source, sizes: Floats) -> Source:
    """Multiply coordinates that are fractions of the page by its size in pixels, where it is known.

    Parameters
    ----------
    sizes : (images, 2) float64
        Heights and widths, 0 where unknown.

    Returns
    -------
    Source
        Its `fractions` has the images that are left; the others have these sizes.
    """
    if source.fractions is None:
        return source
    known = source.fractions & (sizes > 0).all(axis=1)
    if not known.any():
        return source
    scale = np.where(known[:, None], sizes[:, ::-1], 1.0)[source.objects.image]
    old = source.objects.outlines
    boxes, vertices = old.boxes * np.tile(scale, 2), old.vertices * scale.repeat(old.counts, axis=0)
    left = source.fractions & ~known
    return replace(
        source,
        sizes=np.where(known[:, None], sizes, source.sizes),
        objects=replace(source.objects, outlines=Outlines(boxes, vertices, old.offsets)),
        fractions=left if left.any() else None,
    )


def refuse_fractions(source: Source, faults: FaultLog) -> None:
    """Log the images with objects whose coordinates are still fractions of the page."""
    if source.fractions is not None:
        has_objects = np.diff(source.objects.offsets) > 0
        for k in np.flatnonzero(source.fractions & has_objects).tolist():
            faults.add(source.files[k] if source.files else source.path, None, *IN_FRACTIONS)
