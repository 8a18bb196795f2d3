"""The objects of a batch as columns, of which result files and reports are made: in bulk,
without an object in Python for each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.evaluation.tally import BatchImages
from evaltex_cli.protocols.matches import MATCH_TYPES, SideMatches
from evaltex_cli.records import Floats, Ints, Objects

_ENCODER = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))


class EntryColumns(NamedTuple):
    """One side of a batch, in lists of n objects."""

    ids: list[int]
    types: list[int]
    """Indices into `MATCH_TYPES`."""
    partners: list[str]
    """IDs of what each was matched with, with commas between them."""
    values: Mapping[str, Floats]
    """The protocol's own values; NaN where undefined."""
    offsets: list[int]
    """Image k's are ``offsets[k]:offsets[k + 1]``."""

    @property
    def matches(self) -> list[str]:
        """The names of the match types."""
        return [MATCH_TYPES[code] for code in self.types]

    def images(self, texts: list[str], separator: str = ",") -> Iterator[str]:
        """Yield the texts of each image's objects, joined."""
        for start, stop in pairwise(self.offsets):
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
    linked = list(map(str, partner_ids[matches.partners].tolist()))
    partners, offsets = [""] * own.count, matches.offsets
    matched = np.flatnonzero(np.diff(offsets))
    bounds = zip(offsets[matched].tolist(), offsets[matched + 1].tolist(), strict=True)
    for k, (start, stop) in zip(matched.tolist(), bounds, strict=True):
        partners[k] = ",".join(linked[start:stop])
    return EntryColumns(
        own.ids.tolist(), matches.types.tolist(), partners, matches.values, own.offsets.tolist()
    )


def or_none(values: Floats) -> list[float | None]:
    """Return a column as a list, None where it is undefined."""
    mixed = values.astype(object)
    mixed[np.isnan(values)] = None
    listed: list[float | None] = mixed.tolist()
    return listed


def json_numbers(values: Floats) -> list[str]:
    """Return numbers as JSON, null where they are undefined."""
    return _ENCODER.encode(or_none(values))[1:-1].split(",")


def json_entries(side: EntryColumns, partners: str) -> list[str]:
    """Return what a result's .json says of each object, as `stored_images.entry_of`; `partners` is
    the name of its partners there.
    """
    template = f'{{"id":%d,"match":"%s","{partners}":[%s]'
    template += "".join(f',"{name}":%s' for name in side.values) + "}"
    columns = map(json_numbers, side.values.values())
    rows = zip(side.ids, side.matches, side.partners, *columns, strict=False)
    return list(map(template.__mod__, rows))
