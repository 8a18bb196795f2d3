"""Edit distances, and what follows from them, written out plainly."""

from __future__ import annotations

from collections.abc import Sequence


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The Levenshtein distance of two texts, or of two lists of words."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b)
            )
    return table[len(one), len(other)]


def nearest(text: str, lexicon: Sequence[str]) -> tuple[str, int]:
    """The first word of the least distance, in capitals, and this distance."""
    distances = [distance(text.upper(), word.upper()) for word in lexicon]
    return lexicon[distances.index(min(distances))].upper(), min(distances)
