"""The images of a result as columns of numbers, which comparisons and reports work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluation import ImageResult, defined
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.protocols.matching import FALSE_POSITIVE, MATCH_TYPES
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints, offsets_of


class ObjectColumns(NamedTuple):
    """The ground-truth objects of all images."""

    ids: Ints
    """(n,) int64."""
    types: NDArray[np.uint8]
    """(n,) uint8. Indices into `MATCH_TYPES`."""
    values: Mapping[str, Floats]
    """Mapping of (n,) float64. The protocol's own values; NaN where undefined."""


class ImageTable(NamedTuple):
    """Columns with one row per image."""

    rows: EvidenceRows
    scores: Mapping[str, Floats]
    """Mapping of (images,) float64. The headline scores; NaN where undefined."""
    counts: Ints
    """(images, match types) int64. Objects of each match type; of false positives, the detections.
    """
    offsets: Ints
    """(images + 1,) int64. Image i's objects are ``offsets[i]:offsets[i + 1]`` of `objects`."""
    objects: ObjectColumns


def of_images(images: Sequence[ImageResult], protocol: Protocol) -> ImageTable:
    """Return the table of some images; raises `KeyError`, `TypeError` or `ValueError` when they are
    not results of the protocol.
    """
    if not images:
        return NO_IMAGES
    entries = [(k, entry) for k, image in enumerate(images) for entry in image.objects]
    rows, objects = [k for k, _ in entries], [entry for _, entry in entries]
    types = np.array([MATCH_TYPES.index(one.match) for one in objects], np.uint8)
    counts = np.zeros((len(images), len(MATCH_TYPES)), np.int64)
    np.add.at(counts, (np.array(rows, np.intp), types), 1)
    counts[:, FALSE_POSITIVE] = [
        sum(one.match == MATCH_TYPES[FALSE_POSITIVE] for one in image.detections)
        for image in images
    ]
    columns = {name: [image.totals[name] for image in images] for name in images[0].totals}
    scores = [defined(image.scores, image.totals) for image in images]
    names = objects[0].values if objects else ()
    return ImageTable(
        EvidenceRows([image.name for image in images], protocol.tally.from_columns(columns)),
        {
            name: np.array([one.get(name) for one in scores], np.float64)
            for name in protocol.headline
        },
        counts,
        offsets_of(np.array([len(image.objects) for image in images], np.int64)),
        ObjectColumns(
            np.array([one.id for one in objects], np.int64),
            types,
            {name: np.array([one.values[name] for one in objects], np.float64) for name in names},
        ),
    )


_NOTHING = np.zeros(0, np.int64)
NO_IMAGES = ImageTable(
    EvidenceRows([], Tally()),
    {},
    np.zeros((0, len(MATCH_TYPES)), np.int64),
    offsets_of(_NOTHING),
    ObjectColumns(_NOTHING, _NOTHING.astype(np.uint8), {}),
)
