"""End-to-end part of CLEval: which characters of which detection are credited to which object (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from evaltex_cli.protocols.characters import Text, common_length, common_subsequence
from evaltex_cli.records import Ints


@dataclass(frozen=True, slots=True, eq=False)
class MatchedPairs:
    """Matched pairs, sorted by object and the detections' order; of each, the characters it has in common.

    Attributes
    ----------
    gt, det : (p,) int64
        Indices into the batch.
    centre_pair, centre : (c,) int64
        Inclusions: the pair, and which of the object's characters (its number in the batch); sorted by object,
        character and the detections' order.
    merges : (D,) int64
        How many objects each detection is matched with.
    """

    gt: Ints
    det: Ints
    centre_pair: Ints
    centre: Ints
    merges: Ints


def credited_characters(
    pairs: MatchedPairs, gt_texts: Sequence[Text], det_texts: Sequence[Text], ties_left: bool
) -> tuple[Ints, Ints]:
    """Return how many characters are credited to each object (G,) and each detection (D,).

    Objects are visited in order. An object's detections are put in the order of its characters, and the longest common
    subsequence of its text and theirs is credited; each character of it is then taken from the first
    of them that has it.

    Parameters
    ----------
    ties_left : bool
        Which of several longest common subsequences: on equal lengths the table is read towards the left (the
        detections' text loses a character), else upwards (the object's text does).
    """
    gt_credit = np.zeros(len(gt_texts), np.int64)
    det_credit = np.zeros(len(det_texts), np.int64)
    merges, det = pairs.merges.tolist(), pairs.det.tolist()
    left: dict[int, list[str]] = {}
    objects, starts = np.unique(pairs.gt, return_index=True)
    inclusion_starts = np.searchsorted(pairs.gt[pairs.centre_pair], objects)
    bounds, inclusion_bounds = [*starts.tolist(), len(det)], [*inclusion_starts.tolist(), len(pairs.centre)]
    for gt, (start, stop), (first, last) in zip(
        objects.tolist(), pairwise(bounds), pairwise(inclusion_bounds), strict=True
    ):
        text, partners = gt_texts[gt], det[start:stop]
        if len(partners) == 1 and merges[partners[0]] == 1:
            gt_credit[gt] = det_credit[partners[0]] = common_length(text, det_texts[partners[0]])
            continue
        if len(partners) > 1:
            including = pairs.det[pairs.centre_pair[first:last]].tolist()
            partners = _in_reading_order(partners, pairs.centre[first:last].tolist(), including)
        remaining = [left.setdefault(j, list(det_texts[j])) for j in partners]
        joined = remaining[0] if len(remaining) == 1 else list(chain.from_iterable(remaining))
        common = common_subsequence(text, joined) if ties_left else common_subsequence(joined, text)
        gt_credit[gt] = len(common)
        for character in common:
            k = next(k for k, characters in enumerate(remaining) if character in characters)
            remaining[k].remove(character)
            det_credit[partners[k]] += 1
    return gt_credit, det_credit


def _in_reading_order(partners: list[int], centres: list[int], including: list[int]) -> list[int]:
    """Order detections by the object's characters: each takes the first that includes it and is not yet taken.

    When one is left it comes last; when characters run out before, only the first of the rest does.
    """
    unordered, ordered = list(partners), []
    served = -1
    for centre, det in zip(centres, including, strict=True):
        if len(unordered) == 1:
            break
        if centre != served and det in unordered:
            ordered.append(det)
            unordered.remove(det)
            served = centre
    return [*ordered, unordered[0]]
