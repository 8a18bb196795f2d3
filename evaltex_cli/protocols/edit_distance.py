"""Edit distances (Levenshtein 1966): how many characters, or words, one text must lose, gain or
change to be another.

>>> edit_distances(["kitten", "abc"], ["sitting", ""]).tolist()
[3, 3]
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints

CELLS_AT_ONCE = 1 << 20

Codes = NDArray[np.int32]


def edit_distances(one: Sequence[Sequence[Hashable]], other: Sequence[Sequence[Hashable]]) -> Ints:
    """Return the edit distance of each pair of sequences: of characters, or of words.

    Returns
    -------
    (n,) int64
    """
    pairs = [(a, b) if len(a) <= len(b) else (b, a) for a, b in zip(one, other, strict=True)]
    lengths = np.array([(len(a), len(b)) for a, b in pairs], np.int64).reshape(-1, 2)
    result = np.zeros(len(pairs), np.int64)
    order = np.argsort(lengths[:, 1], kind="stable")
    while len(order):
        # The longest is the last, so that texts of a chunk have about the same length.
        chunk = order[-max(CELLS_AT_ONCE // (int(lengths[order[-1], 1]) + 1), 1) :]
        order = order[: len(order) - len(chunk)]
        result[chunk] = _distances([pairs[k] for k in chunk.tolist()], lengths[chunk])
    return result


def _distances(
    pairs: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], lengths: Ints
) -> Ints:
    """The distances of some pairs, row by row of their tables of distances of
    beginnings, all tables together.
    """
    number: dict[Hashable, int] = {}
    shorter, longer = (_codes([pair[k] for pair in pairs], number, -1 - k) for k in (0, 1))
    columns = np.arange(longer.shape[1] + 1, dtype=np.int32)
    row = np.tile(columns, (len(pairs), 1))
    for i in range(shorter.shape[1]):
        below = row + np.int32(1)
        np.minimum(below[:, 1:], row[:, :-1] + (shorter[:, i, None] != longer), out=below[:, 1:])
        # A step to the right costs 1: the least of all cells to the left, each with its steps.
        below = np.minimum.accumulate(below - columns, axis=1) + columns
        row = np.where(i < lengths[:, :1], below, row)
    return row[np.arange(len(pairs)), lengths[:, 1]].astype(np.int64)


def _codes(texts: Sequence[Sequence[Hashable]], number: dict[Hashable, int], filler: int) -> Codes:
    """(n, longest) a number for each character; `filler` after the last."""
    codes = np.full((len(texts), max(map(len, texts), default=0)), filler, np.int32)
    for k, text in enumerate(texts):
        codes[k, : len(text)] = [number.setdefault(one, len(number)) for one in text]
    return codes
