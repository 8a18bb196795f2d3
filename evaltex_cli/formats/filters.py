"""Objects that are left out: of low confidence, of other classes, don't care, invalid polygons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.errors import InputError, quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Bools, GeometryCounts, Objects, Outlines, offsets_of
from evaltex_cli.records.rows import take

NOWHERE = -COORDINATE_LIMIT
"""x and y of a point that no detection covers: the lower bound of what is read."""


def only_confident(source: Source, minimum: float) -> Source:
    """Return the input without the objects whose confidence is below a minimum in [0, 1].

    Objects of exactly the minimum stay, as do those without a confidence. Images may be left empty.
    """
    objects, confidences = source.objects, source.objects.confidences
    below = np.zeros(0, np.bool_) if confidences is None else confidences < minimum
    return replace(
        source,
        objects=take(objects, ~below) if below.any() else objects,
        unconfident=source.unconfident + int(below.sum()),
    )


def only_classes(source: Source, classes: Sequence[str]) -> Source:
    """Return the input with only the objects of these classes; raises `InputError` for a class that
    no object has.
    """
    labels, known = source.objects.labels, class_counts(source)
    for name in classes:
        if name not in known:
            found = ", ".join(known) or "none at all"
            hint = nearest(name, list(known))
            raise InputError(
                f"{source.path}: no object of class {quote(name)}{hint}; its classes: {found}"
            )
    if labels is None:
        return source
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
    if policy == "ignore" or not objects.dont_care.any():
        return source
    if policy == "drop":
        return replace(source, objects=take(objects, ~objects.dont_care))
    return replace(source, objects=replace(objects, dont_care=np.zeros(objects.count, np.bool_)))


def treat_invalid(
    objects: Objects, policy: str, side: Side
) -> tuple[Objects, GeometryCounts, dict[int, str]]:
    """Repair invalid polygons, or do what else the policy says.

    Parameters
    ----------
    objects : Objects
    policy : {'repair', 'drop', 'skip', 'error'}
        Keep the repaired polygons; leave these objects out; leave out detections, and let nothing
        match objects of the ground truth, which count; or refuse them.
    side : {'gt', 'det'}

    Returns
    -------
    Objects
        With `drop` and `skip` without these objects, or with them `NOWHERE`.
    GeometryCounts
        How many polygons were repaired or dropped, and how many objects have no area.
    dict
        With `error` why, by object; otherwise empty.
    """
    counts = outlines.checked(objects.outlines)
    if (
        policy == "repair"
        or objects.outlines.all_boxes
        or not (counts.repaired or counts.zero_area)
    ):
        return objects, counts, {}
    invalid = geometry.polygons.describe_invalid(objects.outlines)
    if policy == "error" or not invalid:
        return objects, counts, {row: one.why for row, one in invalid.items()}
    gone = np.zeros(objects.count, dtype=bool)
    gone[list(invalid)] = True
    flat = sum(not one.has_area for one in invalid.values())
    counts = GeometryCounts(0, counts.dropped + len(invalid), counts.zero_area - flat)
    if policy == "skip" and side == "gt":
        return _unreachable(objects, gone), counts, {}
    return take(objects, ~gone), counts, {}


def _unreachable(objects: Objects, gone: Bools) -> Objects:
    """Return all objects, some, (n,) bool, as points `NOWHERE`, each in a region of its own."""
    drawn = objects.outlines
    boxes, regions = drawn.boxes.copy(), objects.regions.copy()
    boxes[gone] = NOWHERE
    regions[gone] = np.setdiff1d(np.arange(len(gone) + gone.sum()), regions)[: gone.sum()]
    remain = ~np.repeat(gone, drawn.counts)
    without = Outlines(boxes, drawn.vertices[remain], offsets_of(np.where(gone, 0, drawn.counts)))
    pixels = None if objects.pixels is None else np.where(gone[:, None], NOWHERE, objects.pixels)
    return replace(objects, outlines=without, regions=regions, pixels=pixels)
