"""The edit distance of two texts (Levenshtein 1966): how many characters, or words, one must lose,
gain or change to become the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Return the edit distance of two texts, or of two lists of words.

    A column of the table of distances is two sets of rows, the bits of two numbers: those that are
    one more, and one less, than the row above (Myers, JACM 1999; in the form of Hyyrö 2003).

    >>> edit_distance("kitten", "sitting")
    3
    """
    rows = dict.fromkeys(one, 0)
    for k, item in enumerate(one):
        rows[item] |= 1 << k
    every = (1 << len(one)) - 1
    more, less = every, 0
    for item in other:
        equal = rows.get(item, 0)
        # Rows whose distance is that of the row above in the column before.
        diagonal = (((equal & more) + more) ^ more) | equal | less
        # The same sets, against the column before, one row down.
        right_more = (less | ~(diagonal | more)) << 1 | 1
        right_less = (more & diagonal) << 1
        more = (right_less | ~(diagonal | right_more)) & every
        less = right_more & diagonal & every
    return len(other) + more.bit_count() - less.bit_count()
