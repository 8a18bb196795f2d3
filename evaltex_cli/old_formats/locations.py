"""Where images and objects are in their files: a line, or what leads to a value in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import Fault, FaultLog, Steps, quote
from evaltex_cli.old_formats.base import Place, Source
from evaltex_cli.records import Objects


class Location(NamedTuple):
    """A file as messages name it, and a line or what leads to a value in JSON; neither in what is
    no text (.mat), and of a whole file.
    """

    file: str
    line: int | None = None
    where: Steps = ()


class ObjectLocation(NamedTuple):
    """Where an object is, its image's name and its ID."""

    at: Location
    image: str
    id: int


def _location(file: str, at: int | Steps) -> Location:
    return Location(file, at) if isinstance(at, int) else Location(file, None, at)


def of_images(source: Source, positions: Sequence[int]) -> dict[int, Location]:
    """Return where each of some images is, by position."""
    places = source.content.part(np.array(positions, np.int64)).places() if positions else ()
    return {k: _location(one.file, one.at) for k, one in zip(positions, places, strict=True)}


def log_names(source: Source, unfit: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
    """Record the images with these names, each with its place; `unfit` has
    what is wrong and what is expected.
    """
    positions = [k for k, name in enumerate(source.names) if name in unfit]
    for k, (file, line, where) in of_images(source, positions).items():
        wrong, expected = unfit[source.names[k]]
        faults.add(file, line, f"image name {quote(source.names[k])} {wrong}", expected, where)


def of_objects(
    source: Source, positions: Sequence[int], objects: Objects, rows: Sequence[int]
) -> Iterator[ObjectLocation]:
    """Yield where each of some objects is.

    Parameters
    ----------
    positions : sequence of int
        Of the images that `objects` holds, in `source`.
    rows : sequence of int
        Of `objects`.
    """
    images = (np.searchsorted(objects.offsets, np.asarray(rows), side="right") - 1).tolist()
    chosen = list(dict.fromkeys(images))
    content = source.content.part(np.array([positions[k] for k in chosen], np.int64))
    places = dict(zip(chosen, content.places(), strict=True))
    for row, k in zip(rows, images, strict=True):
        at = _location(places[k].file, _object_at(places[k], objects, k, row))
        yield ObjectLocation(at, source.names[positions[k]], int(objects.ids[row]))


def _object_at(place: Place, objects: Objects, image: int, row: int) -> int | Steps:
    """Return the line of an object, or its place among those of its image."""
    if objects.line is not None:
        return int(objects.line[row])
    start, stop = objects.offsets[image : image + 2].tolist()
    return place.objects[row - start] if len(place.objects) == stop - start else ()


def refused(
    source: Source, positions: Sequence[int], objects: Objects, found: Mapping[int, str]
) -> Iterator[Fault]:
    """Yield a fault for each object that is refused; `found` says why, by row."""
    places = of_objects(source, positions, objects, list(found))
    for (at, image, number), what in zip(places, found.values(), strict=True):
        text = f"image {quote(image)}, object {number}: {what}"
        expected = "a valid polygon; correct it, or have it repaired or dropped"
        yield Fault(at.file, at.line, text, expected, at.where)
