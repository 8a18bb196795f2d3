"""Transcriptions of detections that repairs cut or unite."""

from __future__ import annotations

import numpy as np

from evaltex_cli.records import Floats, ImageBatch, Ints, Objects


def words_of_pieces(batch: ImageBatch, gt: Ints, det: Ints) -> list[str]:
    """The text of each piece of a cut detection: one word in reading order if
    there are as many, else all of it.
    """
    result = [batch.det.texts[j] for j in det.tolist()]
    groups: dict[int, list[int]] = {}
    for k, j in enumerate(det.tolist()):
        groups.setdefault(j, []).append(k)
    for j, members in groups.items():
        words = result[members[0]].split()
        if len(words) == len(members):
            boxes = batch.gt.boxes[gt[members]]
            for word, at in zip(words, _reading_order(boxes, batch.det.boxes[[j]]), strict=True):
                result[members[at]] = word
    return result


def joined_text(boxes: Floats, texts: list[str], gt: Objects, objects: Ints) -> str:
    """The texts of pieces, (n, 4) boxes, in reading order."""
    several_words = len(objects) > 1 or len(gt.texts[objects[0]].split()) > 1
    separator = " " if several_words else ""
    if not any(texts):
        return separator * (len(texts) - 1)
    return separator.join(texts[k] for k in _reading_order(boxes, gt.boxes[objects]))


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the
    left, or from the top.
    """
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    order: list[int] = np.lexsort(
        (boxes[:, 1 - axis], boxes[:, axis] + boxes[:, axis + 2])
    ).tolist()
    return order
