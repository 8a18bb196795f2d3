"""The order in which an image's detections are matched: that of the file, or by falling confidence.

The competition's scripts sort detections by confidence when their option ``CONFIDENCES`` is on,
which changes what a first-fit pairing or an end-to-end reading finds. A protocol's evidence is then
that of sorted detections; its results name them in the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.errors import InputError, quote
from evaltex_cli.protocols.base import Evidence, parameter
from evaltex_cli.protocols.matches import Matches, SideMatches, group_by
from evaltex_cli.records import ImageBatch, Ints, Objects, Overlaps
from evaltex_cli.records.rows import take

EvidenceOf: TypeAlias = Callable[[ImageBatch, Overlaps, Any, bool], Evidence]


def order_field(default: str = "file") -> Any:
    """Return the parameter `order`; ``CONFIDENCES`` is off by default in the official scripts."""
    return parameter(
        default,
        "detections are taken in the order of the file (file), or by falling confidence"
        " (confidence)",
        choices=("file", "confidence"),
    )


def in_order(evidence: EvidenceOf) -> EvidenceOf:
    """Return a protocol's `evidence` that takes detections in the order that
    the parameter `order` names.
    """

    @wraps(evidence)
    def ordered(
        batch: ImageBatch, overlaps: Overlaps, parameters: Any, with_matches: bool
    ) -> Evidence:
        if parameters.order == "file":
            return evidence(batch, overlaps, parameters, with_matches)
        needs_confidences(batch, parameters)
        order = by_confidence(batch)
        # The inverse of the order: where each detection of the file is among the sorted ones.
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        result = evidence(*_sorted(batch, overlaps, order, rank), parameters, with_matches)
        if result.matches is None:
            return result
        return result._replace(matches=_in_file_order(result.matches, order, rank))

    return ordered


def by_confidence(batch: ImageBatch) -> Ints:
    """(D,) detections by image and falling confidence, equal ones in the
    order of the file; all have a confidence.
    """
    det = batch.det
    confidences = np.zeros(det.count) if det.confidences is None else det.confidences
    return np.lexsort((-confidences, det.image))


def needs_confidences(batch: ImageBatch, parameters: Any) -> None:
    """Refuse a detection without a confidence where detections are taken by it, as the scripts do.

    Raises
    ------
    InputError
    """
    det = batch.det
    if parameters.order == "file" or not det.count:
        return
    without = (
        np.ones(det.count, dtype=bool) if det.confidences is None else np.isnan(det.confidences)
    )
    if without.any():
        first = int(np.argmax(without))
        name = batch.names[int(det.image[first])]
        raise InputError(
            f"image {quote(name)}: detection {det.ids[first]} has no confidence, which"
            " order=confidence needs of every detection; give confidences, or set order=file"
        )


def _sorted(
    batch: ImageBatch, overlaps: Overlaps, order: Ints, rank: Ints
) -> tuple[ImageBatch, Overlaps]:
    """Return a batch and its overlaps with the detections in another order;
    ``rank[order]`` is 0, 1, ...
    """
    det: Objects = take(batch.det, order, batch.det.offsets)
    runs = (
        None
        if batch.det_runs is None
        else batch.det_runs._replace(owner=rank[batch.det_runs.owner])
    )
    place = rank[overlaps.det]
    pairs = np.lexsort((place, overlaps.gt))
    sorted_overlaps = overlaps._replace(
        gt=overlaps.gt[pairs],
        det=place[pairs],
        area=overlaps.area[pairs],
        det_area=overlaps.det_area[order],
        det_boxes=None if overlaps.det_boxes is None else overlaps.det_boxes[order],
    )
    return replace(batch, det=det, det_runs=runs), sorted_overlaps


def _in_file_order(matches: Matches, order: Ints, rank: Ints) -> Matches:
    gt, det = matches.gt, matches.det
    partners = order[gt.partners]
    by_gt = group_by(_owners(gt), partners, len(gt.types))
    by_det = group_by(order[_owners(det)], det.partners, len(det.types))
    values = {name: column[rank] for name, column in det.values.items()}
    return Matches(
        SideMatches(gt.types, *by_gt, gt.values), SideMatches(det.types[rank], *by_det, values)
    )


def _owners(side: SideMatches) -> Ints:
    return np.repeat(np.arange(len(side.types)), np.diff(side.offsets))
