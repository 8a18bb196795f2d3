"""Some images of an input only, by their names."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from evaltex_cli.errors import InputError, counted, listed, nearest
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem, unique
from evaltex_cli.runtime.input_files import read_text

SOME_IMAGES = "evaluated (--only)"
"""The end of the warning that not all images are evaluated."""


def only_images(source: Source, names: Collection[str]) -> Source:
    """Return an input with those of its images that have one of these names, in its order."""
    wanted = set(names)
    return source.part(np.flatnonzero([name in wanted for name in source.names]))


def some_images(gt: Source, names: Collection[str]) -> str:
    """Return the warning that only images of these names of a ground truth are evaluated."""
    return f"{len(names)} of {counted(len(gt.names), '{count} image[s]')} {SOME_IMAGES}"


def names_in(gt: Source, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return an input's names for these images, which may be their `stem`, where only one image has
    it, or the IDs of all in COCO; raises `InputError` for unknown ones.
    """
    if not wanted:
        raise InputError(f"{gt.path}: the list of images (--only) is empty; list one at least")
    known = dict(zip(gt.names, gt.names, strict=True))
    if not known.keys() >= set(wanted):
        by_id = dict(zip(gt.ids or gt.names, gt.names, strict=True))
        by_stem = unique(gt.names, stem)
        known |= {name: by_stem.get(stem(name), "") for name in wanted if name not in known}
        known = by_id if by_id.keys() >= set(wanted) else known
    unknown = [name for name in wanted if not known[name]]
    if unknown:
        found = f"{listed(unknown)}{nearest(unknown[0], gt.names)}"
        raise InputError(f"{gt.path}: has no image {found}; list images that it has")
    names = {known[name] for name in wanted}
    return tuple(name for name in gt.names if name in names)


def read_names(path: Path) -> tuple[str, ...]:
    """Return the names of images in a file, one per line, each once."""
    lines = read_text(path, "list one image per line").splitlines()
    return tuple(dict.fromkeys(filter(None, map(str.strip, lines))))


def digest(names: Sequence[str]) -> str:
    """Return eight digits that stand for these names, in any order."""
    text = "\n".join(sorted(names))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
