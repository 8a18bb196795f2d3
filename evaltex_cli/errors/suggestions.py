"""Which known name was meant, as messages ask: did you mean this one?"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from evaltex_cli.errors import quote

LONGEST_HINTED = 255
"""Characters of the longest name that another is suggested for."""
HINT_WORK = 1_000_000
"""Pairs of characters that are compared for all suggestions of a run
together, a twentieth of them for one.
"""
_NEIGHBOURS = 10
_PERCENT = 10
"""From here on, a number that should be a share is one in percent."""


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message that a name is none of those known: the one most
    like it, and all of them.
    """
    return f"unknown {what} {quote(name)}{nearest(name, known)}; known: {', '.join(known)}"


def nearest(name: str, candidates: Sequence[str]) -> str:
    """Return ` (did you mean 'x'?)` for the candidate most like `name`, or nothing."""
    return Hints(candidates).nearest(name)


class Hints:
    """Which of some names is most like another, as far as that is found with bounded work.

    Only names with the same beginning, or the same end, are compared as a whole: those next to it
    in alphabetical order, read forwards and backwards.

    Parameters
    ----------
    candidates : sequence of str
        The first 10,000 are looked at, and of them those of at most `LONGEST_HINTED` characters.
    """

    def __init__(self, candidates: Sequence[str]) -> None:
        self._candidates = [name for name in candidates[:10_000] if len(name) <= LONGEST_HINTED]
        self._forwards: list[str] = []
        self._backwards: list[str] = []
        self._work = HINT_WORK

    def nearest(self, name: str) -> str:
        """Return ` (did you mean 'x'?)`, or nothing, as when `HINT_WORK` is used up."""
        if len(name) > LONGEST_HINTED or self._work < 0 or not self._candidates:
            return ""
        import difflib  # which a run without a fault does without

        close = difflib.get_close_matches(name, self._affordable(name), n=1, cutoff=0.6)
        return f" (did you mean {quote(close[0])}?)" if close else ""

    def _affordable(self, name: str) -> list[str]:
        work = 0
        chosen: list[str] = []
        for candidate in self._neighbours(name):
            work += max(len(name), 8) * max(len(candidate), 8)
            if chosen and work > HINT_WORK // 20:
                break
            chosen.append(candidate)
        self._work -= work
        return chosen

    def _neighbours(self, name: str) -> list[str]:
        if len(self._candidates) <= 4 * _NEIGHBOURS:
            return self._candidates
        if not self._forwards:
            self._forwards = sorted(self._candidates)
            self._backwards = sorted(candidate[::-1] for candidate in self._candidates)
        before, after = (
            _around(self._forwards, name),
            (one[::-1] for one in _around(self._backwards, name[::-1])),
        )
        return list(dict.fromkeys(one for pair in zip(before, after, strict=False) for one in pair))


def _around(ordered: Sequence[str], name: str) -> list[str]:
    """Return the names next to the place of one in an ordered list, the nearest first."""
    at = bisect_left(ordered, name)
    near = range(max(at - _NEIGHBOURS, 0), min(at + _NEIGHBOURS, len(ordered)))
    return [ordered[k] for k in sorted(near, key=lambda k: abs(k - at + 0.5))]


def number_meant(text: str, least: float | None, most: float | None) -> float | None:
    """Return the number from `least` to `most` that a text such as ``50%`` or ``0,5`` means; None
    for a text that means none.

    A percentage means a share, so there must be no number above 1; then 50 means 0.5, too, but 2
    may mean anything.
    """
    digits = text.strip().removesuffix("%").strip().replace(",", ".", 1)
    try:
        value = float(digits)
    except ValueError:
        return None
    is_share = most is not None and most <= 1
    if text.strip().endswith("%") or (value >= _PERCENT and "," not in text):
        value = value / 100 if is_share else math.nan
    elif "," not in text:
        return None
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    return value if low <= value <= high and math.isfinite(value) else None
