"""Sizes of images from their pictures' headers; fractions of the page become pixels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem
from evaltex_cli.records import Floats, Ints, Outlines
from evaltex_cli.runtime.progress import tracked

SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".jpe", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".jp2"),
    *(".ppm", ".pgm"),
)


def find_pictures(
    folder: Path, names: Sequence[str], suffixes: Sequence[str] = SUFFIXES
) -> list[Path | None]:
    """Find each image's picture in a folder or below it; raises `InputError` without the folder.

    The name of an image is its picture's path from the folder, or its file name, with or without
    extension; else their stems are the same (`names.stem`). The picture nearest to the folder
    counts, then the one whose extension comes first in `suffixes`.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of the images' pictures")
    listed = (Path(root, file) for root, _, files in os.walk(folder) for file in files)
    known = [path for path in listed if path.suffix.lower() in suffixes]
    known.sort(key=lambda one: (len(one.parts), suffixes.index(one.suffix.lower()), one.as_posix()))
    by_name: dict[str, Path] = {}
    by_stem: dict[str, Path] = {}
    for path in known:
        inside = path.relative_to(folder)
        for name in (inside.as_posix(), inside.with_suffix("").as_posix(), path.name, path.stem):
            by_name.setdefault(name, path)
        by_stem.setdefault(stem(path.name), path)
    return [by_name.get(name) or by_stem.get(stem(name)) for name in names]


def _picture_size(picture: Path) -> tuple[int, int]:
    """Return height and width of a picture as viewers show it; 0, 0 where it cannot be read."""
    from PIL import ExifTags, Image

    from evaltex_cli.formats.masks import unlimited_and_silent

    try:
        with unlimited_and_silent(), Image.open(picture) as image:
            has_exif = image.format in ("JPEG", "MPO", "TIFF", "WEBP")  # in the header
            turn = image.getexif().get(ExifTags.Base.Orientation) if has_exif else None
            return image.size if turn in (5, 6, 7, 8) else image.size[::-1]
    except Exception:  # decoders raise anything at all on broken files
        return 0, 0


def sizes_from_pictures(folder: Path, names: Sequence[str]) -> Floats:
    """Return (n, 2) heights and widths of the images' pictures; 0, 0 where there is none."""
    label = f"reading {folder.name}"
    pictures = tracked(find_pictures(folder, names), label, "pictures", len(names))
    sizes = [_picture_size(path) if path else (0, 0) for path in pictures]
    return np.array(sizes, np.float64).reshape(-1, 2)


def with_sizes(source: Source, folder: Path) -> Source:
    """Return the input with the sizes of the images' pictures where it has none of its own, and
    with fractions of the page as pixels by them; raises `InputError` without the folder.
    """
    unknown = np.flatnonzero((source.sizes <= 0).any(axis=1))
    sizes = source.sizes.copy()
    sizes[unknown] = sizes_from_pictures(folder, [source.names[k] for k in unknown.tolist()])
    return replace(in_pixels(source, sizes), sizes=sizes)


def with_sizes_of_each_other(gt: Source, det: Source, paired: Ints) -> tuple[Source, Source]:
    """Return both sides with coordinates that are fractions of the page made pixels by the size on
    the other side; `paired` is (images,) the position in `det` of each image of `gt`, or below 0.
    """
    ours = np.flatnonzero(paired >= 0)
    theirs = paired[ours]
    gt_sizes, det_sizes = np.zeros_like(gt.sizes), np.zeros_like(det.sizes)
    gt_sizes[ours], det_sizes[theirs] = det.sizes[theirs], gt.sizes[ours]
    return in_pixels(gt, gt_sizes), in_pixels(det, det_sizes)


def in_pixels(source: Source, sizes: Floats) -> Source:
    """Multiply coordinates that are fractions of the page by its size in pixels, where it is known.

    `sizes` are (images, 2) heights and widths, 0 where unknown.
    """
    if source.fractions is None:
        return source
    known = source.fractions & (sizes > 0).all(axis=1)
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
        found = "coordinates that are fractions of the page, whose size in pixels is not known"
        expected = "the size of its picture: give the pictures by --images FOLDER"
        has_objects = np.diff(source.objects.offsets) > 0
        for k in np.flatnonzero(source.fractions & has_objects).tolist():
            faults.add(source.file_of(k), None, found, expected)
