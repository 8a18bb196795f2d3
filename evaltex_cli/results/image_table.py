"""The images of a result as columns of numbers, which comparisons and reports work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluate import BatchImages, image_results
from evaltex_cli.evaluation.evaluation import ImageResult, defined
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.protocols.matching import FALSE_POSITIVE, MATCH_TYPES
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Floats, Ints, offsets_of

_CODE = {name: code for code, name in enumerate(MATCH_TYPES)}


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
    """Return the table of some images.

    Raises
    ------
    KeyError, TypeError, ValueError
        When they are not results of the protocol (`Tally.from_columns`).
    """
    if not images:
        return NO_IMAGES
    entries = [entry for image in images for entry in image.objects]
    offsets = offsets_of(np.array([len(image.objects) for image in images], np.int64))
    types = np.array([_CODE[one.match] for one in entries], np.uint8)
    false_positives = [
        sum(_CODE[one.match] == FALSE_POSITIVE for one in image.detections) for image in images
    ]
    columns = {name: [image.totals[name] for image in images] for name in images[0].totals}
    scores = [defined(image.scores, image.totals) for image in images]
    names = entries[0].values if entries else ()
    return ImageTable(
        EvidenceRows([image.name for image in images], protocol.tally.from_columns(columns)),
        {name: _floats([one.get(name) for one in scores]) for name in protocol.headline},
        _counts(types, offsets, np.array(false_positives, np.int64)),
        offsets,
        ObjectColumns(
            np.array([one.id for one in entries], np.int64),
            types,
            {name: _floats([one.values[name] for one in entries]) for name in names},
        ),
    )


def table_of(batch: BatchImages) -> ImageTable:
    """Return the table of the images of a batch that was measured with matches."""
    return of_images(list(image_results(batch)), batch.run.protocol)


def _counts(types: NDArray[np.uint8], offsets: Ints, false_positives: Ints) -> Ints:
    images = len(offsets) - 1
    image = np.repeat(np.arange(images), np.diff(offsets))
    # Image and match type as one number: one bincount counts both.
    counts = np.bincount(image * len(MATCH_TYPES) + types, minlength=images * len(MATCH_TYPES))
    counts = counts.reshape(images, len(MATCH_TYPES)).astype(np.int64)
    counts[:, FALSE_POSITIVE] = false_positives
    return counts


def _floats(values: Sequence[Any]) -> Floats:
    return np.array(
        [value if isinstance(value, int | float) else np.nan for value in values], np.float64
    )


def joined(parts: Sequence[ImageTable]) -> ImageTable:
    """Return the table of the images of all parts, one after the other."""
    if not parts:
        return NO_IMAGES
    rows, objects = [part.rows for part in parts], [part.objects for part in parts]
    return ImageTable(
        EvidenceRows(
            [name for part in rows for name in part.names],
            rows[0].tally.concatenate([part.tally for part in rows]),
        ),
        _concatenated([part.scores for part in parts]),
        np.concatenate([part.counts for part in parts]),
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        ObjectColumns(
            np.concatenate([part.ids for part in objects]),
            np.concatenate([part.types for part in objects]),
            _concatenated([part.values for part in objects]),
        ),
    )


def _concatenated(parts: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


_NOTHING = np.zeros(0, np.int64)
NO_IMAGES = ImageTable(
    EvidenceRows([], Tally()),
    {},
    np.zeros((0, len(MATCH_TYPES)), np.int64),
    offsets_of(_NOTHING),
    ObjectColumns(_NOTHING, _NOTHING.astype(np.uint8), {}),
)
