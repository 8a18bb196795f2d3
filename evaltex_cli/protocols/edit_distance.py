"""The edit distance of two texts (Levenshtein 1966): how many characters, or words, one must lose,
gain or change to become the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Return the edit distance of two texts, or of two lists of words.

    The table of the distances of all beginnings is computed column by column. Neighbours in it
    differ by at most 1, so a column is two sets of rows, the bits of two numbers: those that are
    one more, and one less, than the row above (Myers, JACM 1999; in the form of Hyyrö 2003).

    >>> edit_distance("kitten", "sitting")
    3
    >>> edit_distance("to be or not".split(), "to be not".split())
    1
    """
    if not one:
        return len(other)
    rows = dict.fromkeys(one, 0)
    for k, item in enumerate(one):
        rows[item] |= 1 << k
    every, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, distance = every, 0, len(one)
    for item in other:
        equal = rows.get(item, 0)
        # Rows whose distance is that of the row above in the column before.
        diagonal = (((equal & more) + more) ^ more) | equal | less
        # The same sets, against the column before.
        right_more, right_less = less | ~(diagonal | more), more & diagonal
        distance += bool(right_more & last) - bool(right_less & last)
        right_more, right_less = (right_more << 1) | 1, right_less << 1
        more = (right_less | ~(diagonal | right_more)) & every
        less = right_more & diagonal & every
    return distance
