"""The images of a result as columns of numbers: some hundred bytes per image, however many objects
it has.

Comparisons and reports of large data sets work on these columns. The images' full results, with the
partners of every object, are decoded one image at a time (`stored_images`) or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluate import BatchImages, image_scores
from evaltex_cli.evaluation.evaluation import ImageResult, defined, is_defined
from evaltex_cli.protocols.base import EvidenceRows
from evaltex_cli.protocols.matching import FALSE_POSITIVE, MATCH_TYPES
from evaltex_cli.protocols.scores import score_columns
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


class StoredRows(NamedTuple):
    """The evidence of all images in the form of JSON: columns by the names
    there, of whatever version wrote it.
    """

    names: Sequence[str]
    columns: Mapping[str, NDArray[Any]]

    def typed(self, kind: type[Tally]) -> EvidenceRows:
        """Return it as a protocol's evidence.

        Raises
        ------
        TypeError, ValueError
            When it is not (`Tally.from_columns`).
        """
        return EvidenceRows(self.names, kind.from_columns(self.columns))


class ImageTable(NamedTuple):
    """Columns with one row per image."""

    rows: StoredRows
    """Names and evidence."""
    scores: Mapping[str, Floats]
    """Mapping of (images,) float64. The headline scores; NaN where undefined."""
    counts: Ints
    """(images, match types) int64. Objects of each match type; of false positives, the detections.
    """
    offsets: Ints
    """(images + 1,) int64. Image i's objects are ``offsets[i]:offsets[i + 1]`` of `objects`."""
    detections: Ints
    """(images,) int64. How many there are, of whatever match type."""
    objects: ObjectColumns
    """Empty in the table that a run keeps for its report."""


def of_images(images: Sequence[ImageResult], headline: Sequence[str]) -> ImageTable:
    """Return the table of some images, all of one protocol."""
    entries = [entry for image in images for entry in image.objects]
    offsets = offsets_of(np.array([len(image.objects) for image in images], np.int64))
    types = np.array([_CODE[one.match] for one in entries], np.uint8)
    false_positives = [
        sum(_CODE[one.match] == FALSE_POSITIVE for one in image.detections) for image in images
    ]
    names = entries[0].values if entries else ()
    totals = images[0].totals if images else {}
    scores = [defined(image.scores, image.totals) for image in images]
    return ImageTable(
        StoredRows(
            [image.name for image in images],
            {name: _evidence([image.totals[name] for image in images]) for name in totals},
        ),
        {name: floats([one.get(name) for one in scores]) for name in headline},
        _counts(types, offsets, np.array(false_positives, np.int64)),
        offsets,
        np.array([len(image.detections) for image in images], np.int64),
        ObjectColumns(
            np.array([one.id for one in entries], np.int64),
            types,
            {name: floats([one.values[name] for one in entries]) for name in names},
        ),
    )


def table_of(images: BatchImages) -> ImageTable:
    """Return the table of the images of a batch that was measured with matches."""
    protocol, batch = images.run.protocol, images.batch
    gt, det = images.matches
    totals = images.evidence.tally.as_dict()
    scores = score_columns(partial(image_scores, images.run), images.evidence.tally)
    false_positives = np.bincount(
        batch.det.image[det.types == FALSE_POSITIVE], minlength=len(batch.names)
    )
    return ImageTable(
        StoredRows(list(batch.names), totals),
        {
            name: np.where(is_defined(name, totals), scores[name], np.nan)
            for name in protocol.headline
        },
        _counts(gt.types, batch.gt.offsets, false_positives),
        batch.gt.offsets,
        np.diff(batch.det.offsets),
        ObjectColumns(batch.gt.ids.copy(), gt.types, gt.values if len(gt.types) else {}),
    )


def _counts(types: NDArray[np.uint8], offsets: Ints, false_positives: Ints) -> Ints:
    images = len(offsets) - 1
    image = np.repeat(np.arange(images), np.diff(offsets))
    # Image and match type as one number: one bincount counts both.
    counts = np.bincount(image * len(MATCH_TYPES) + types, minlength=images * len(MATCH_TYPES))
    counts = counts.reshape(images, len(MATCH_TYPES)).astype(np.int64)
    counts[:, FALSE_POSITIVE] = false_positives
    return counts


def floats(values: Sequence[Any]) -> Floats:
    return np.array(
        [value if isinstance(value, int | float) else np.nan for value in values], np.float64
    )


def _evidence(values: Sequence[Any]) -> NDArray[Any]:
    column = np.array(values)
    return column if column.dtype.kind in "if" else column.astype(np.float64)


def joined(parts: Sequence[ImageTable]) -> ImageTable:
    """Return the table of the images of all parts, one after the other."""
    if len(parts) < 2:
        return parts[0] if parts else NO_IMAGES
    objects = [part.objects for part in parts if len(part.objects.ids)] or [parts[0].objects]
    return ImageTable(
        StoredRows(
            [name for part in parts for name in part.rows.names],
            _concatenated([part.rows.columns for part in parts]),
        ),
        _concatenated([part.scores for part in parts]),
        np.concatenate([part.counts for part in parts]),
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        np.concatenate([part.detections for part in parts]),
        ObjectColumns(
            np.concatenate([part.ids for part in objects]),
            np.concatenate([part.types for part in objects]),
            _concatenated([part.values for part in objects]),
        ),
    )


def _concatenated(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def first_difference(one: ImageTable, other: ImageTable) -> int | None:
    """Return the first image of which two tables have another name or other
    objects; None where there is none.
    """
    if len(one.rows.names) != len(other.rows.names):
        return 0
    same: Callable[[Any, Any], bool] = np.array_equal
    ours, theirs = one.objects, other.objects
    if (
        one.rows.names == other.rows.names
        and same(one.offsets, other.offsets)
        and same(ours.ids, theirs.ids)
    ):
        return None
    return next(
        k
        for k, names in enumerate(zip(one.rows.names, other.rows.names, strict=True))
        if names[0] != names[1]
        or not same(
            ours.ids[one.offsets[k] : one.offsets[k + 1]],
            theirs.ids[other.offsets[k] : other.offsets[k + 1]],
        )
    )


NO_IMAGES = of_images([], ())
