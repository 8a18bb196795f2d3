"""Reads the images of an input part by part, here or in other processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from evaltex_cli.old_formats.base import ReadImages, Source, SourcePart
from evaltex_cli.progress import phase
from evaltex_cli.runtime import OrderedMap


def read_parts(
    source: Source, ranges: Iterable[tuple[int, int]], label: str, ordered_map: OrderedMap = map
) -> Iterator[tuple[tuple[int, int], ReadImages]]:
    """Yield ranges of images and what is read of them, in their order.

    Parameters
    ----------
    ranges : iterable of (int, int)
        First image of each part, and the one after its last.
    label : str
        What is done with the images, as the progress says it.
    ordered_map : callable
        What does the work (`workers`); `map` does it here.

    Raises
    ------
    InputError
        As `Source.read`.
    """
    listed = list(ranges)
    parts = (source.part(np.arange(start, stop)) for start, stop in listed)
    read = zip(listed, ordered_map(_read, parts), strict=True)
    with phase(label, "images", len(source.names)) as advance:
        for (start, stop), images in read:
            yield (start, stop), images
            advance(stop - start)


def _read(part: SourcePart) -> ReadImages:
    return part.read()
