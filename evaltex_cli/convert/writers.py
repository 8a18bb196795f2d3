"""The registry of writers: what `evaltex convert` can write."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evaltex_cli.errors import InputError, unknown

if TYPE_CHECKING:
    from evaltex_cli.convert.base import Writer

WRITERS = {
    "evaltex": ("evaltex_cli.convert.write_evaltex", "WRITER"),
    "icdar2015": ("evaltex_cli.convert.write_icdar", "POLYGONS"),
    "icdar2013": ("evaltex_cli.convert.write_icdar", "BOXES"),
    "coco": ("evaltex_cli.convert.write_coco", "WRITER"),
}
"""Name -> module and attribute of its `Writer`."""

BY_SUFFIX = {".txt": "evaltex", ".zip": "icdar2015", ".json": "coco"}
"""Ending of the target -> the writer that it asks for."""


@dataclass(frozen=True, slots=True)
class Target:
    """How a conversion writes.

    Attributes
    ----------
    to : str or None
        A name in `WRITERS`; None where the target's ending decides.
    regions : {'own', 'lines'}
        ``lines`` groups aligned words of similar height into regions (paper, section 3.1); with ``own`` regions stay as
        they are, which is the object's own ID if the source has none.
    boxes : bool
        Whether polygons are written as their bounding boxes.
    masks : Path or None
        Folder for label pictures of the objects, 16 bits per pixel; later objects cover earlier ones.
    mask_format : {'tif', 'png'}
    """

    to: str | None = None
    regions: str = "own"
    boxes: bool = False
    masks: Path | None = None
    mask_format: str = "tif"


def load(name: str) -> Writer:
    """Return a writer by name.

    Raises
    ------
    InputError
        When the registry has none of that name.
    """
    if name not in WRITERS:
        raise InputError(unknown("target format", name, list(WRITERS)))
    module, attribute = WRITERS[name]
    found: Writer = getattr(import_module(module), attribute)
    return found


def for_target(target: Path) -> Writer:
    """Return the writer that a target's ending asks for.

    Raises
    ------
    InputError
        When it is none of `BY_SUFFIX`.
    """
    name = BY_SUFFIX.get(target.suffix.lower())
    if name is None:
        raise InputError(
            f"{target}: its ending does not tell what to write; end it in one of {', '.join(BY_SUFFIX)},"
            f" or name the format (--to {' or '.join(WRITERS)})"
        )
    return load(name)
