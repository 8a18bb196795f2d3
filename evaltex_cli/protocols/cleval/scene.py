"""What CLEval compares: outlines, characters and their centres, and which of them lie in which detections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaltex_cli.protocols.characters import Text, texts_of
from evaltex_cli.protocols.cleval.matching import Inclusions, inclusions
from evaltex_cli.protocols.cleval.parameters import Parameters, convention
from evaltex_cli.protocols.cleval.shapes import (
    Side,
    aspects,
    centres,
    centres_inside,
    false_positive_lengths,
    lengths_by_aspect,
    overlap_areas,
    side_of,
)
from evaltex_cli.records import Floats, ImageBatch, Ints, Overlaps, count_texts

DONT_CARE = "###"


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What of a batch does not depend on which objects are don't care.

    Attributes
    ----------
    owner : (c,) int64
        The object of each character.
    overlap : (o,) int64, int64, float64
        Pairs (gt, det) that overlap, and by which area.
    gt_length, det_length : (G,), (D,) int64
        Number of characters of each object, and of each detection's transcription.
    false_positive_length : (D,) int64
        Characters of each detection, were it a false positive.
    det_rank : (D,) int64
        The detections' order: that of the file, or by falling confidence, those without any last.
    gt_texts, det_texts : sequences of Text
    """

    gt: Side
    det: Side
    gt_image: Ints
    det_image: Ints
    images: int
    owner: Ints
    found: Inclusions
    overlap: tuple[Ints, Ints, Floats]
    gt_length: Ints
    det_length: Ints
    false_positive_length: Ints
    det_rank: Ints
    gt_texts: Sequence[Text]
    det_texts: Sequence[Text]


def scene_of(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Scene:
    """Take a batch as CLEval does: its outlines, the characters of its objects, and what they lie in."""
    taken = convention(parameters)
    all_polygons = parameters.annotation == "polygon"
    gt, det = side_of(batch.gt, taken, all_polygons), side_of(batch.det, taken, all_polygons)
    gt_aspect, det_aspect = aspects(gt, parameters.official), aspects(det, parameters.official)
    gt_texts, det_texts = (
        texts_of(
            texts,
            parameters.character,
            parameters.normalisation,
            parameters.case_sensitive,
            parameters.case_mapping,
        )
        for texts in (batch.gt.texts, _det_texts(batch, det_aspect))
    )
    gt_length, det_length = (np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (gt_texts, det_texts))
    gt_length = np.where(batch.gt.dont_care, lengths_by_aspect(gt_aspect), gt_length)
    if parameters.official:
        vertical = gt_aspect < (parameters.vertical_aspect or 0.5)
    else:
        vertical = gt_aspect >= (parameters.vertical_aspect or 1.5)
    owner, points = centres(gt, gt_length, vertical)
    centre, within = centres_inside(owner, points, gt.offsets, len(gt_length), det)
    return Scene(
        gt=gt,
        det=det,
        gt_image=batch.gt.image,
        det_image=batch.det.image,
        images=len(batch.names),
        owner=owner,
        found=inclusions(centre, within, owner, batch.det.count),
        overlap=overlap_areas(overlaps, gt, det),
        gt_length=gt_length,
        det_length=det_length,
        false_positive_length=false_positive_lengths(det_aspect),
        det_rank=_ranks(batch, parameters.order),
        gt_texts=gt_texts,
        det_texts=det_texts,
    )


def _det_texts(batch: ImageBatch, aspect: Floats) -> Sequence[str]:
    """Transcriptions of the detections; ``###`` stands for as many characters as fit in, as in ground truth."""
    texts = batch.det.texts
    if not count_texts(texts):
        return [""] * batch.det.count
    lengths = lengths_by_aspect(aspect).tolist()
    return ["#" * length if text == DONT_CARE else text for text, length in zip(texts, lengths, strict=True)]


def _ranks(batch: ImageBatch, order: str) -> Ints:
    ranks = np.arange(batch.det.count)
    if order == "file" or batch.det.confidences is None:
        return ranks
    falling = np.lexsort((ranks, np.nan_to_num(-batch.det.confidences, nan=np.inf), batch.det.image))
    result = np.empty_like(ranks)
    result[falling] = ranks
    return result
