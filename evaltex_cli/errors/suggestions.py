"""Which known name was meant, as messages ask: did you mean this one?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from evaltex_cli.errors import quote

HINTS = 20
"""How many unknown names of an input get a suggestion."""
_MOST_CANDIDATES, _LONGEST = 1000, 80
"""How many names are compared, and the characters of the longest."""
_PERCENT = 10
"""From here on, a number that should be a share is one in percent."""


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message that a name is none of those known: the one most like it, and all."""
    return f"unknown {what} {quote(name)}{nearest(name, known)}; known: {', '.join(known)}"


def nearest(name: str, candidates: Sequence[str]) -> str:
    """Return ` (did you mean 'x'?)` for the candidate most like `name`, or nothing."""
    import difflib  # which a run without a fault does without

    if len(name) > _LONGEST:
        return ""
    known = [one for one in islice(candidates, _MOST_CANDIDATES) if len(one) <= _LONGEST]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {quote(close[0])}?)" if close else ""


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
