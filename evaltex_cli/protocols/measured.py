"""A batch and its overlaps, each measured once, and the evidence that protocols make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.geometry.overlaps import CONTINUOUS, measure
from evaltex_cli.protocols.base import Evidence, Protocol, parameter
from evaltex_cli.protocols.matching import Matches, side_matches
from evaltex_cli.records import Bools, Convention, ImageBatch, Ints, Overlaps
from evaltex_cli.records.rows import rows_of_images, some_images, take


def order_field(default: str = "file") -> Any:
    """Return the parameter `order`: the competition's scripts sort detections by confidence when
    their option ``CONFIDENCES`` is on, which changes what a first-fit pairing finds.
    """
    return parameter(
        default,
        "detections are taken in the order of the file (file), or by falling confidence"
        " (confidence)",
        choices=("file", "confidence"),
    )


class Measured:
    """A batch of images, measured once for each convention that protocols have."""

    def __init__(self, batch: ImageBatch) -> None:
        self.batch = batch
        self._overlaps: dict[Convention, Overlaps] = {}

    def overlaps(self, convention: Convention = CONTINUOUS) -> Overlaps:
        """Return the overlaps; those of masks are the same for all conventions."""
        convention = CONTINUOUS if self.batch.has_masks else convention
        if convention not in self._overlaps:
            self._overlaps[convention] = measure(self.batch, convention)
        return self._overlaps[convention]

    def some(self, images: Ints, kept: Bools) -> Measured:
        """Return some images, ascending, with the detections that are kept, (D,) bool; what was
        measured is not measured again.
        """
        result = Measured(some_images(self.batch, images, kept))
        gt, det = (rows_of_images(side, images) for side in (self.batch.gt, self.batch.det))
        det = det[kept[det]]
        gt_place, det_place = np.full(self.batch.gt.count, -1), np.full(self.batch.det.count, -1)
        gt_place[gt], det_place[det] = np.arange(len(gt)), np.arange(len(det))
        for convention, overlaps in self._overlaps.items():
            pairs = overlaps.some((gt_place[overlaps.gt] >= 0) & (det_place[overlaps.det] >= 0))
            result._overlaps[convention] = Overlaps(
                *(gt_place[pairs.gt], det_place[pairs.det], pairs.area),
                *(overlaps.gt_area[gt], overlaps.det_area[det]),
                *(overlaps.gt_shapes.take(gt), overlaps.det_shapes.take(det)),
            )
        return result

    def with_dont_care(self, dont_care: Bools) -> Measured:
        """Return the batch with other don't-care objects, (G,) bool; what was measured is not
        measured again.
        """
        gt = replace(self.batch.gt, dont_care=dont_care)
        result = Measured(replace(self.batch, gt=gt))
        result._overlaps = self._overlaps
        return result

    def evidence(self, protocol: Protocol, parameters: Any) -> Evidence:
        """Return a protocol's evidence of the batch; objects are in the order of the files.

        Raises
        ------
        InputError
            Where images do not have what the parameters ask for.
        """
        if getattr(parameters, "order", "file") == "file":
            convention = protocol.convention(parameters)
            overlaps = None if convention is None else self.overlaps(convention)
            return protocol.evidence(self.batch, overlaps, parameters)
        is_asked_for = parameters.order != type(parameters)().order
        order = _by_confidence(self.batch, is_asked_for)
        rank = np.argsort(order, kind="stable")
        masks = self.batch.masks
        ranked = replace(
            self.batch,
            det=take(self.batch.det, order, self.batch.det.offsets),
            masks=None if masks is None else (masks[0], masks[1].take(order)),
        )
        evidence = Measured(ranked).evidence(protocol, replace(parameters, order="file"))
        return evidence._replace(matches=_in_order_of_file(evidence.matches, order, rank))


def _by_confidence(batch: ImageBatch, is_asked_for: bool) -> Ints:
    """(D,) detections by image and falling confidence, equal ones in the order of the file; those
    without come last, or are refused if it `is_asked_for`.
    """
    det = batch.det
    confidences = np.full(det.count, np.nan) if det.confidences is None else det.confidences
    without = np.isnan(confidences)
    for k in np.flatnonzero(without & is_asked_for)[:1].tolist():
        raise InputError(
            f"image {quote(batch.names[int(det.image[k])])}: detection {det.ids[k]} has no"
            " confidence, which order=confidence needs of every detection; give confidences, or set"
            " order=file"
        )
    return np.lexsort((np.where(without, np.inf, -confidences), det.image))


def _in_order_of_file(matches: Matches, order: Ints, rank: Ints) -> Matches:
    gt, det = matches
    partner = order[gt.partners]
    owner = np.repeat(np.arange(len(gt.types)), np.diff(gt.offsets))
    values = {name: column[rank] for name, column in det.values.items()}
    types = det.types[rank]
    return Matches(
        side_matches(gt.types, owner, partner, True, gt.values),
        side_matches(types, partner, owner, True, values),
    )
