"""A batch and its overlaps, each measured once, and the evidence that protocols make of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry.overlaps import CONTINUOUS, measure
from evaltex_cli.protocols.base import Evidence, Protocol, parameter
from evaltex_cli.protocols.matching import IGNORED, Matches, matches
from evaltex_cli.records import (
    Bools,
    Convention,
    ImageBatch,
    Ints,
    Overlaps,
    rows_of_images,
    some_images,
    take,
)


def order_field(default: str = "file") -> Any:
    """Return the parameter `order`; the competition's scripts have it as ``CONFIDENCES``."""
    text = "detections are taken in the order of the file (file), or by falling confidence"
    return parameter(default, f"{text} (confidence)", choices=("file", "confidence"))


@dataclass(frozen=True, eq=False)
class Measured:
    """A batch of images, measured once for each convention that protocols have."""

    batch: ImageBatch
    known: dict[Convention, Overlaps] = field(default_factory=dict)
    """What was measured; it stays if only texts, don't care and confidences are replaced."""

    def overlaps(self, convention: Convention = CONTINUOUS) -> Overlaps:
        """Return the overlaps; those of masks are the same for all conventions."""
        convention = CONTINUOUS if self.batch.has_masks else convention
        if convention not in self.known:
            self.known[convention] = measure(self.batch, convention)
        return self.known[convention]

    def some(self, images: Ints, kept: Bools) -> Measured:
        """Return some images, ascending, with the detections that are kept, (D,) bool; what was
        measured is not measured again.
        """
        gt, det = (rows_of_images(side, images) for side in (self.batch.gt, self.batch.det))
        det = det[kept[det]]
        measured = {}
        for convention, overlaps in self.known.items():
            pairs = overlaps.some(np.isin(overlaps.gt, gt) & np.isin(overlaps.det, det))
            measured[convention] = Overlaps(
                *(np.searchsorted(gt, pairs.gt), np.searchsorted(det, pairs.det), pairs.area),
                *(overlaps.gt_area[gt], overlaps.det_area[det]),
                *(overlaps.gt_shapes.take(gt), overlaps.det_shapes.take(det)),
            )
        return Measured(some_images(self.batch, images, kept), measured)

    def evidence(self, protocol: Protocol, parameters: Any) -> Evidence:
        """Return a protocol's evidence of the batch, objects in the order of the files; raises
        `InputError` where images do not have what the parameters ask for.
        """
        if getattr(parameters, "order", "file") == "file":
            convention = protocol.convention(parameters)
            overlaps = None if convention is None else self.overlaps(convention)
            return protocol.evidence(self.batch, overlaps, parameters)
        batch = self.batch
        order = _by_confidence(batch, is_asked_for=parameters.order != type(parameters)().order)
        det = take(batch.det, order, batch.det.offsets)
        masks = batch.masks and (batch.masks[0], batch.masks[1].take(order))
        ranked = Measured(replace(batch, det=det, masks=masks))
        evidence = ranked.evidence(protocol, replace(parameters, order="file"))
        return evidence._replace(matches=_in_order_of_file(evidence.matches, order))


def _by_confidence(batch: ImageBatch, is_asked_for: bool) -> Ints:
    """(D,) detections by image and falling confidence, equal ones in the order of the file; those
    without come last, or are refused if it `is_asked_for`.
    """
    det = batch.det
    confidences = np.full(det.count, np.nan) if det.confidences is None else det.confidences
    for k in np.flatnonzero(np.isnan(confidences) & is_asked_for)[:1].tolist():
        place = f"image {quote(batch.names[int(det.image[k])])}: detection {det.ids[k]}"
        needs = "has no confidence, which order=confidence needs of every detection"
        raise InputError(f"{place} {needs}; give confidences, or set order=file")
    return np.lexsort((-confidences, det.image))  # NaN is the last


def _in_order_of_file(found: Matches, order: Ints) -> Matches:
    """Return matches of detections that were taken in an order, in that of the file."""
    gt, det = found
    rank = np.argsort(order)
    types, values = det.types[rank], {name: column[rank] for name, column in det.values.items()}
    counts, owner = gt.types != IGNORED, np.repeat(np.arange(len(gt.types)), np.diff(gt.offsets))
    result = matches(owner, order[gt.partners], counts, types != IGNORED, gt.values, values)
    result.gt.types[:], result.det.types[:] = gt.types, types
    return result
