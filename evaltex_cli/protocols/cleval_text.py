"""CLEval end-to-end: which characters of the transcriptions are credited to which object and which
detection (Algorithm 1, the subsequence elimination scoring process).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from evaltex_cli.protocols.matching import Pair, by_gt
from evaltex_cli.records import Ints


def credited_characters(
    matched: Iterable[Pair],
    included: Mapping[Pair, Sequence[int]],
    gt_texts: Sequence[str],
    det_texts: Sequence[str],
    ties_left: bool,
) -> tuple[Ints, Ints]:
    """Return how many characters are credited to each object (G,) and each detection (D,).

    `matched` is sorted, and `included` has the characters of the object that the detection
    includes. With `ties_left`, of several common subsequences that is taken for which the
    detections' text loses a character first, else the object's.
    """
    gt_correct, det_correct = np.zeros(len(gt_texts), np.int64), np.zeros(len(det_texts), np.int64)
    remaining = list(det_texts)
    for i, pairs in by_gt(matched).items():
        detections = in_reading_order({j: included[i, j] for _, j in pairs})
        texts = gt_texts[i], "".join(remaining[j] for j in detections)
        common = common_subsequence(*(texts if ties_left else reversed(texts)))
        gt_correct[i] = len(common)
        for character in common:
            j = next(j for j in detections if character in remaining[j])
            remaining[j] = remaining[j].replace(character, "", 1)
            det_correct[j] += 1
    return gt_correct, det_correct


def in_reading_order(included: Mapping[int, Sequence[int]]) -> list[int]:
    """Order detections by the object's characters: each takes the first that includes it and is not
    yet taken.

    When one is left it comes last; when characters run out before, only the first of the rest does.
    """
    waiting, ordered = list(included), list[int]()
    for character in sorted(set(chain.from_iterable(included.values()))):
        for j in [j for j in waiting if character in included[j] and len(waiting) > 1][:1]:
            ordered.append(j)
            waiting.remove(j)
    return [*ordered, waiting[0]]


def common_subsequence(rows: str, columns: str) -> str:
    """A longest common subsequence of two texts: the one read from the last cell of the usual
    table, where equal characters are always taken, and on equal lengths the way goes left.

    The table has a number a row: its bit j is set where cell j + 1 is as long as cell j (Hyyrö,
    Bit-parallel LCS-length computation revisited, 2004).
    """
    places: defaultdict[str, int] = defaultdict(int)
    for j, character in enumerate(columns):
        places[character] |= 1 << j
    every = (1 << len(columns)) - 1
    table = [every]
    for character in rows:
        row, equal = table[-1], table[-1] & places[character]
        table.append((row + equal | row - equal) & every)
    common, i, j = "", len(rows), len(columns)
    while i and j:
        if rows[i - 1] == columns[j - 1]:
            common, i, j = rows[i - 1] + common, i - 1, j - 1
        elif table[i] >> (j - 1) & 1:
            j -= 1
        else:
            i -= 1
    return common
