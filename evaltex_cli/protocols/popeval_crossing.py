"""Crossing out of PopEval: characters of objects and detections of an image, pair by pair."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from evaltex_cli.records import Floats, Ints

Crossed: TypeAlias = tuple[int, int, int]
"""Object, detection, and how many characters were crossed out of both."""


def common_characters(a: str, b: str) -> int:
    """How many characters two texts share, whatever their order."""
    return (
        len(a)
        if a == b
        else sum(min(a.count(character), b.count(character)) for character in set(a))
    )


def cross_out(
    gt: Ints,
    det: Ints,
    share: Floats,
    gt_texts: Mapping[int, Counter[str]],
    det_texts: Mapping[int, Counter[str]],
    distance: Floats,
) -> list[Crossed]:
    """Cross out the characters of one image.

    Parameters
    ----------
    gt, det : (p,) int64
        Pairs that meet, sorted.
    share : (p,) float64
        Share of the object that the detection covers.
    gt_texts, det_texts : mapping to Counter
        Characters of each object and detection; what is crossed out is taken off.
    distance : (G,) float64
        Of the objects from the origin.

    Returns
    -------
    list of (gt, det, characters)
        In the order of crossing out.
    """
    state = _Candidates(gt, det, share, gt_texts, det_texts)
    single = [(float(distance[i]), i) for i, partners in state.of.items() if len(partners) == 1]
    several = [(float(distance[i]), i) for i, partners in state.of.items() if len(partners) > 1]
    heapq.heapify(single)
    heapq.heapify(several)
    while single or several:
        if single:
            i = heapq.heappop(single)[1]
            taken = list(state.of[i])
        else:
            i = several[0][1]
            if len(state.of[i]) < 2:
                heapq.heappop(several)
                continue
            most = max(state.of[i].values())
            taken = [j for j, share in state.of[i].items() if share == most]
        for j in taken:
            state.take(i, j)
        while state.left_with_one:
            i = state.left_with_one.pop()
            heapq.heappush(single, (float(distance[i]), i))
    return state.crossed


class _Candidates:
    """The candidates of each object of an image, kept up to date while characters are crossed out.

    A pair is visited again only when a character of the object or of the detection is used up; so
    the work is proportional to the different characters of both sides of all pairs.

    Attributes
    ----------
    of : dict of dict
        Object -> its candidates, and the share of the object that each covers.
    left_with_one : list of int
        Objects that got down to a single candidate since this was emptied.
    crossed : list of (gt, det, characters)
    """

    def __init__(
        self,
        gt: Ints,
        det: Ints,
        share: Floats,
        gt_texts: Mapping[int, Counter[str]],
        det_texts: Mapping[int, Counter[str]],
    ) -> None:
        self.gt_texts, self.det_texts = gt_texts, det_texts
        self.of: dict[int, dict[int, float]] = {}
        self.left_with_one: list[int] = []
        self.crossed: list[Crossed] = []
        self._objects_of: dict[int, list[int]] = defaultdict(list)
        starts = np.flatnonzero(np.diff(gt, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(gt)]):
            i, text = int(gt[start]), gt_texts[int(gt[start])].keys()
            candidates = {
                j: covered
                for j, covered in zip(
                    det[start:stop].tolist(), share[start:stop].tolist(), strict=True
                )
                if not text.isdisjoint(det_texts[j])
            }
            if candidates:
                self.of[i] = candidates
            for j in candidates:
                self._objects_of[j].append(i)

    def take(self, i: int, j: int) -> None:
        """Cross out what object i and detection j have in common."""
        gt_text, det_text = self.gt_texts[i], self.det_texts[j]
        removed = 0
        for character in [c for c in gt_text if c in det_text]:
            count = min(gt_text[character], det_text[character])
            removed += count
            gt_text[character] -= count
            det_text[character] -= count
            if not gt_text[character]:
                del gt_text[character]
                for other in [k for k in self.of[i] if character in self.det_texts[k]]:
                    self._lose(i, other)
            if not det_text[character]:
                del det_text[character]
                for other in [k for k in self._objects_of[j] if character in self.gt_texts[k]]:
                    self._lose(other, j)
        if removed:
            self.crossed.append((i, j, removed))

    def _lose(self, i: int, j: int) -> None:
        """A character that object i and detection j had in common is used up."""
        if self.gt_texts[i].keys().isdisjoint(self.det_texts[j]):
            del self.of[i][j]
            if len(self.of[i]) == 1:
                self.left_with_one.append(i)
