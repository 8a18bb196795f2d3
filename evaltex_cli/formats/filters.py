"""Objects that are left out: of low confidence, of other classes, don't care, invalid polygons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Bools, Objects, Outlines, offsets_of, take

NOWHERE = -COORDINATE_LIMIT
"""x and y of a point that no detection covers: the lower bound of what is read."""


def only_confident(source: Source, minimum: float) -> Source:
    """Return the input without the objects whose confidence is below a minimum in [0, 1]; those
    without a confidence stay.
    """
    if source.objects.confidences is None:
        return source
    below = source.objects.confidences < minimum
    left = take(source.objects, ~below)
    return replace(source, objects=left, unconfident=source.unconfident + int(below.sum()))


def only_classes(source: Source, classes: Sequence[str]) -> Source:
    """Return the input with only the objects of these classes; raises `InputError` for a class that
    no object has.
    """
    labels, known = source.objects.labels, class_counts(source)
    missing = [name for name in classes if name not in known]
    if labels is None or missing:
        found = f", but {', '.join(known)}" if known else "; its objects have no classes"
        raise InputError(f"{source.path}: no object of class {quote(missing[0])}{found}")
    is_kept = np.array([name in classes for name in labels.names], np.bool_)[labels.codes]
    return replace(source, objects=take(source.objects, is_kept))


def class_counts(source: Source) -> dict[str, int]:
    """Return class -> how many objects of an input have it, most first; empty without classes."""
    labels = source.objects.labels
    if labels is None:
        return {}
    counts = np.bincount(labels.codes, minlength=len(labels.names)).tolist()
    return dict(Counter(dict(zip(labels.names, counts, strict=True))).most_common())


def with_dont_care(source: Source, policy: str) -> Source:
    """Return a ground truth with its don't-care objects treated by `InputOptions.dont_care`."""
    objects = source.objects
    if policy == "drop":
        objects = take(objects, ~objects.dont_care)
    elif policy == "count":
        objects = replace(objects, dont_care=np.zeros_like(objects.dont_care))
    return replace(source, objects=objects)


def treat_invalid(
    objects: Objects, policy: str, side: Side
) -> tuple[Objects, outlines.GeometryCounts, dict[int, str]]:
    """Treat invalid polygons by `InputOptions.invalid`: repair them, or drop these objects, or skip
    them (leave out detections, let nothing match objects of the ground truth, which count).

    Returns the objects, counts of what was done, and, by object, why 'error' refuses it.
    """
    drawn = objects.outlines
    counts = outlines.checked(drawn)
    if policy == "repair" or drawn.all_boxes or not (counts.repaired or counts.zero_area):
        return objects, counts, {}
    invalid = outlines.describe_invalid(drawn)
    if policy == "error" or not invalid:
        return objects, counts, {row: one.why for row, one in invalid.items()}
    gone = np.zeros(objects.count, dtype=bool)
    gone[list(invalid)] = True
    flat = sum(not one.has_area for one in invalid.values())
    counts = outlines.GeometryCounts(0, counts.dropped + len(invalid), counts.zero_area - flat)
    is_skipped = policy == "skip" and side == "gt"
    return _unreachable(objects, gone) if is_skipped else take(objects, ~gone), counts, {}


def _unreachable(objects: Objects, gone: Bools) -> Objects:
    """Return all objects, some, (n,) bool, as points `NOWHERE`, each in a region of its own."""
    drawn = objects.outlines
    boxes, regions = drawn.boxes.copy(), objects.regions.copy()
    boxes[gone] = NOWHERE
    regions[gone] = regions.max() + 1 + np.arange(gone.sum())
    remain = ~np.repeat(gone, drawn.counts)
    without = Outlines(boxes, drawn.vertices[remain], offsets_of(np.where(gone, 0, drawn.counts)))
    pixels = None if objects.pixels is None else np.where(gone[:, None], NOWHERE, objects.pixels)
    return replace(objects, outlines=without, regions=regions, pixels=pixels)
