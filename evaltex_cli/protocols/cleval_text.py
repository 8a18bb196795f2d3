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
    includes. With `ties_left` the table of lengths is read towards the left where cells above and
    to the left are equal (the detections' text loses a character), else upwards.
    """
    gt_correct, det_correct = np.zeros(len(gt_texts), np.int64), np.zeros(len(det_texts), np.int64)
    remaining = list(det_texts)
    for i, pairs in by_gt(matched).items():
        detections = in_reading_order({j: included[i, j] for _, j in pairs})
        text, recognised = gt_texts[i], "".join(remaining[j] for j in detections)
        if ties_left:
            common = common_subsequence(text, recognised)
        else:
            common = common_subsequence(recognised, text)
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
        if len(waiting) == 1:
            break
        for j in waiting:
            if character in included[j]:
                ordered.append(j)
                waiting.remove(j)
                break
    return [*ordered, waiting[0]]


def common_subsequence(rows: str, columns: str) -> str:
    """A longest common subsequence of two texts.

    Of several it is the one that the usual table, filled row by row and read from its last cell,
    gives when equal characters are always taken, and on equal lengths above and to the left the way
    goes left. The table has a number a row: its bit j is set where cell j + 1 is as long as cell j
    (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    places: defaultdict[str, int] = defaultdict(int)
    for j, character in enumerate(columns):
        places[character] |= 1 << j
    every = (1 << len(columns)) - 1
    table = [every]
    for character in rows:
        row = table[-1]
        equal = row & places[character]
        table.append((row + equal | row - equal) & every)
    common = []
    i, j = len(rows), len(columns)
    while i and j:
        if rows[i - 1] == columns[j - 1]:
            common.append(rows[i - 1])
            i, j = i - 1, j - 1
        elif table[i] >> (j - 1) & 1:
            j -= 1
        else:
            i -= 1
    return "".join(reversed(common))
