"""Transcriptions as CLEval compares them: characters, and which are credited
to which object (Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from evaltex_cli.protocols.cleval.characters import Inclusions
from evaltex_cli.protocols.normalisation import normalised
from evaltex_cli.records import Bools, Ints

_ROWS_AT_ONCE = 10_000
"""Objects of which numbers become ones of Python at a time."""


def texts_of(
    texts: Iterable[str], normalisation: str = "none", case_sensitive: bool = True
) -> list[str]:
    """Return transcriptions as they are compared: a character is a code point.

    Parameters
    ----------
    texts : iterable of str
    normalisation : {"none", "nfc", "nfkc"}
        Unicode normalisation form, before and after texts become upper case.
    case_sensitive : bool
    """
    if not case_sensitive:
        texts = (normalised(text, normalisation).upper() for text in texts)
    return [normalised(text, normalisation) for text in texts]


def common_length(a: str, b: str) -> int:
    """Length of the longest common subsequence."""
    if a == b:
        return len(a)
    return len(b) - _rows(a, len(b), _places(b, a))[-1].bit_count()


def common_subsequence(rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """A longest common subsequence of two sequences of characters.

    Of several it is the one that the usual table, filled row by row and read from its last cell,
    gives when equal characters are always taken, and on equal lengths above and to the left the way
    goes left.
    """
    places = _places(columns, rows)
    unchanged = _rows(rows, len(columns), places)
    common = []
    i, j = len(rows), len(columns)
    while i and j:
        character = rows[i - 1]
        if columns[j - 1] == character:
            common.append(character)
            i, j = i - 1, j - 1
        elif unchanged[i] >> (j - 1) & 1:
            stops = (places[character] | ~unchanged[i]) & ((1 << j) - 1)
            j = stops.bit_length()
        else:
            i -= 1
    return common[::-1]


def _places(columns: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """The places of each wanted character in `columns`, one bit per place."""
    bits = {character: bytearray(len(columns) // 8 + 1) for character in wanted}
    for j, character in enumerate(columns):
        if character in bits:
            bits[character][j >> 3] |= 1 << (j & 7)
    return {character: int.from_bytes(places, "little") for character, places in bits.items()}


def _rows(rows: Sequence[str], width: int, places: dict[str, int]) -> list[int]:
    """Rows 0 to len(rows) of the table of lengths: bit j is set where cell j + 1 is as long as cell
    j.

    Bits are computed a whole row at a time (Hyyrö, Bit-parallel LCS-length computation revisited,
    2004).
    """
    every = (1 << width) - 1
    table = [every]
    for character in rows:
        row = table[-1]
        matches = row & places[character]
        table.append((row + matches | row - matches) & every)
    return table


class MatchedPairs(NamedTuple):
    """Pairs of objects and detections that match."""

    found: Inclusions
    matched: Bools
    """(p,) bool. Which pairs of `found`."""
    merges: Ints
    """(D,) int64. How many objects each detection is matched with."""


def credited_characters(
    pairs: MatchedPairs, gt_texts: Sequence[str], det_texts: Sequence[str], ties_left: bool
) -> tuple[Ints, Ints]:
    """Return how many characters are credited to each object (G,) and each detection (D,).

    Objects are visited in order. An object's detections are put in the order of its characters, and
    the longest common subsequence of its text and theirs is credited; each character of it is then
    taken from the first of them that has it.

    Parameters
    ----------
    ties_left : bool
        Which of several longest common subsequences: on equal lengths the table is read towards the
        left (the detections' text loses a character), else upwards (the object's text does).
    """
    gt_credit = np.zeros(len(gt_texts), np.int64)
    det_credit = np.zeros(len(det_texts), np.int64)
    found, merges = pairs.found, pairs.merges.tolist()
    left: dict[int, list[str]] = {}
    matched = np.flatnonzero(pairs.matched)
    starts = np.flatnonzero(np.diff(found.pair_gt[matched], prepend=-1))
    objects = found.pair_gt[matched[starts]]
    stops = np.concatenate([starts[1:], [len(matched)]])
    for gt, start, stop in _as_rows(objects, starts, stops):
        text, partners = gt_texts[gt], found.pair_det[matched[start:stop]].tolist()
        if len(partners) == 1 and merges[partners[0]] == 1:
            gt_credit[gt] = det_credit[partners[0]] = common_length(text, det_texts[partners[0]])
            continue
        if len(partners) > 1:
            centre, pair = found.characters_of(gt, pairs.matched)
            including = found.pair_det[pair]
            partners = _in_reading_order(partners, centre.tolist(), including.tolist())
        remaining = [left.setdefault(j, list(det_texts[j])) for j in partners]
        joined = remaining[0] if len(remaining) == 1 else list(chain.from_iterable(remaining))
        common = common_subsequence(text, joined) if ties_left else common_subsequence(joined, text)
        gt_credit[gt] = len(common)
        for character in common:
            k = next(k for k, characters in enumerate(remaining) if character in characters)
            remaining[k].remove(character)
            det_credit[partners[k]] += 1
    return gt_credit, det_credit


def _as_rows(*columns: Ints) -> Iterator[tuple[int, ...]]:
    """Yield the rows of columns."""
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        some = (column[start : start + _ROWS_AT_ONCE].tolist() for column in columns)
        yield from zip(*some, strict=True)


def _in_reading_order(partners: list[int], centres: list[int], including: list[int]) -> list[int]:
    """Order detections by the object's characters: each takes the first that includes it and is not
    yet taken.

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
