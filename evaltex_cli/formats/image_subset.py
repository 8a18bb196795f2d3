"""Some images of an input only, by their names."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from evaltex_cli.errors import InputError, counted, quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem, unique

SOME_IMAGES = "evaluated (--only)"
"""The end of the warning that not all images are evaluated."""


def only_images(source: Source, names: Collection[str]) -> Source:
    """Return an input with those of its images that have one of these names, in its order."""
    wanted = set(names)
    positions = np.array([k for k, name in enumerate(source.names) if name in wanted], np.int64)
    return source.part(positions)


def some_images(gt: Source, names: Collection[str]) -> str:
    """Return the warning that only images of these names of a ground truth are evaluated."""
    return f"{len(names)} of {counted(len(gt.names), '{count} image[s]')} {SOME_IMAGES}"


def names_in(gt: Source, wanted: Sequence[str], done: str = "evaluated") -> tuple[str, ...]:
    """Return the names that an input, most often the ground truth, has for these images.

    A name without its folders, ending and prefix (``gt_``) will do, if only one image has it; so
    will the images' IDs in COCO, if not all are names. Messages say what is to be `done`. Raises
    `InputError` for names that the input does not have, and if there is none at all.
    """
    if not wanted:
        raise InputError(f"{gt.path}: no image is to be {done}; list one at least")
    known = dict(zip(gt.names, gt.names, strict=True))
    by_id = dict(zip(gt.ids or gt.names, gt.names, strict=True))
    if not known.keys() >= set(wanted) and by_id.keys() >= set(wanted):
        known = by_id
    by_stem = {} if known.keys() >= set(wanted) else unique(gt.names, stem)
    chosen = {name: known.get(name) or by_stem.get(stem(name)) for name in wanted}
    unknown = [name for name, image in chosen.items() if image is None]
    if unknown:
        shown = ", ".join(map(quote, unknown[:3])) + (", ..." if unknown[3:] else "")
        found = counted(len(unknown), f"{{count}} image[s] that [is|are] to be {done}")
        hint = nearest(unknown[0], gt.names)
        raise InputError(
            f"{gt.path}: does not have {found} ({shown}){hint}; list images that it has"
        )
    names = set(chosen.values())
    return tuple(name for name in gt.names if name in names)


def read_names(path: Path) -> tuple[str, ...]:
    """Return the names of images in a file, one per line, each once; raises `InputError`."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(
            f"{quote(str(path))} cannot be read ({reason}); expected a file with the names of"
            " images, one per line."
        ) from error
    return tuple(dict.fromkeys(filter(None, map(str.strip, lines))))


def digest(names: Sequence[str]) -> str:
    """Return eight digits that stand for these names, in any order."""
    text = "\n".join(sorted(names)).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:8]
