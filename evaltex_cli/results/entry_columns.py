"""The objects of a batch as columns, of which result files and reports are made: in bulk,
without an object in Python for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.tally import BatchImages, or_none
from evaltex_cli.protocols.matches import MATCH_TYPES, SideMatches
from evaltex_cli.records import Floats, Ints, Objects

_ENCODER = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))


class EntryColumns(NamedTuple):
    """One side of a batch: n objects."""

    ids: Ints
    types: NDArray[np.uint8]
    """Indices into `MATCH_TYPES`."""
    linked: Ints
    """IDs of what they were matched with, one object after the other."""
    links: Ints
    """Those of object k are ``linked[links[k]:links[k + 1]]``."""
    values: Mapping[str, Floats]
    """The protocol's own values; NaN where undefined."""
    offsets: Ints
    """Image k's are ``offsets[k]:offsets[k + 1]``."""

    @property
    def matches(self) -> list[str]:
        """The names of the match types."""
        return [MATCH_TYPES[code] for code in self.types.tolist()]

    @property
    def partners(self) -> list[str]:
        """IDs of what each was matched with, with commas between them."""
        linked, links = list(map(str, self.linked.tolist())), self.links.tolist()
        return [",".join(linked[start:stop]) for start, stop in pairwise(links)]

    def images(
        self, texts_of: Callable[[EntryColumns], list[str]], separator: str = ","
    ) -> Iterator[str]:
        """Yield the texts of each image's objects, joined."""
        texts = texts_of(self)
        for start, stop in pairwise(self.offsets.tolist()):
            yield separator.join(texts[start:stop])


Sides: TypeAlias = tuple[EntryColumns, EntryColumns]
"""Objects and detections."""


def sides(images: BatchImages) -> Sides:
    """Return objects and detections of a batch."""
    batch, matches = images.batch, images.matches
    return (
        _side(matches.gt, batch.gt, batch.det.ids),
        _side(matches.det, batch.det, batch.gt.ids),
    )


def _side(matches: SideMatches, own: Objects, partner_ids: Ints) -> EntryColumns:
    links = partner_ids[matches.partners], matches.offsets
    return EntryColumns(own.ids, matches.types, *links, matches.values, own.offsets)


def json_numbers(values: Floats) -> list[str]:
    """Return numbers as JSON, null where they are undefined."""
    return _ENCODER.encode(or_none(values))[1:-1].split(",")


def json_entries(partners: str, side: EntryColumns) -> list[str]:
    """Return what a result's .json says of each object, as `stored_images.entry_of`; `partners` is
    the name of its partners there.
    """
    template = f'{{"id":%d,"match":"%s","{partners}":[%s]'
    template += "".join(f',"{name}":%s' for name in side.values) + "}"
    columns = map(json_numbers, side.values.values())
    rows = zip(side.ids.tolist(), side.matches, side.partners, *columns, strict=False)
    return list(map(template.__mod__, rows))
