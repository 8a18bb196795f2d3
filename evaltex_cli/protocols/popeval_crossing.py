"""Crossing out of PopEval: characters of objects and detections of an image, pair by pair."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from evaltex_cli.records import Floats

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
    pairs: Sequence[tuple[int, int, float]],
    gt_texts: Mapping[int, Counter[str]],
    det_texts: Mapping[int, Counter[str]],
    distance: Floats,
) -> list[Crossed]:
    """Cross out the characters of one image.

    Parameters
    ----------
    pairs : sequence of (gt, det, share)
        Pairs that meet, sorted, and the share of the object that the detection covers.
    gt_texts, det_texts : mapping to Counter
        Characters of each object and detection; what is crossed out is taken off.
    distance : (G,) float64
        Of the objects from the origin.

    Returns
    -------
    list of (gt, det, characters)
        In the order of crossing out.
    """
    state = _Candidates(pairs, gt_texts, det_texts)
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

    A pair counts the different characters it still has in common, and is visited again only when
    one of them is used up on either side; so the work is proportional to the characters that all
    pairs have in common, each counted once.

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
        pairs: Sequence[tuple[int, int, float]],
        gt_texts: Mapping[int, Counter[str]],
        det_texts: Mapping[int, Counter[str]],
    ) -> None:
        self.gt_texts, self.det_texts = gt_texts, det_texts
        self.of: dict[int, dict[int, float]] = defaultdict(dict)
        self.left_with_one: list[int] = []
        self.crossed: list[Crossed] = []
        self._common: dict[tuple[int, int], int] = {}
        self._gts_by_character: dict[tuple[int, str], list[int]] = defaultdict(list)
        self._dets_by_character: dict[tuple[int, str], list[int]] = defaultdict(list)
        for i, j, share in pairs:
            shared = gt_texts[i].keys() & det_texts[j].keys()
            if shared:
                self.of[i][j] = share
                self._common[i, j] = len(shared)
            for character in shared:
                self._gts_by_character[j, character].append(i)
                self._dets_by_character[i, character].append(j)

    def take(self, i: int, j: int) -> None:
        """Cross out what object i and detection j have in common."""
        gt_text, det_text = self.gt_texts[i], self.det_texts[j]
        removed = 0
        for character in [c for c in gt_text if gt_text[c] and det_text[c]]:
            count = min(gt_text[character], det_text[character])
            removed += count
            gt_text[character] -= count
            if not gt_text[character]:
                for other in self._dets_by_character[i, character]:
                    if self.det_texts[other][character]:
                        self._lose(i, other)
            det_text[character] -= count
            if not det_text[character]:
                for other in self._gts_by_character[j, character]:
                    if self.gt_texts[other][character]:
                        self._lose(other, j)
        if removed:
            self.crossed.append((i, j, removed))

    def _lose(self, i: int, j: int) -> None:
        """One character less is common to object i and detection j."""
        self._common[i, j] -= 1
        if not self._common[i, j]:
            del self.of[i][j]
            if len(self.of[i]) == 1:
                self.left_with_one.append(i)
