"""Which known name was meant, as messages ask: did you mean this one?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaltex_cli.errors import quote

HINTS = 20
"""How many unknown names of an input get a suggestion."""
_MOST_CANDIDATES, _LONGEST = 1000, 80
"""How many names are compared, and the characters of the longest."""


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message that a name is none of those known: the one most like it, and all."""
    return f"unknown {what} {quote(name)}{nearest(name, known)}; known: {', '.join(known)}"


def nearest(name: str, candidates: Sequence[str]) -> str:
    """Return ` (did you mean 'x'?)` for the candidate most like `name`, or nothing."""
    import difflib  # which a run without a fault does without

    known = [each for each in candidates[:_MOST_CANDIDATES] if len(each) <= _LONGEST]
    close = difflib.get_close_matches(name[: _LONGEST + 1], known, n=1, cutoff=0.6)
    return f" (did you mean {quote(close[0])}?)" if close else ""


def number_meant(text: str, least: float, most: float) -> float | None:
    """Return the number from `least` to `most` that ``50%``, ``50`` or ``0,5`` means where shares
    are given; None for a text that means none.
    """
    if most > 1:
        return None  # a score that is no share
    digits = text.strip().removesuffix("%").replace(",", ".", 1)
    try:
        value = float(digits)
    except ValueError:
        return None
    if text.strip().endswith("%") or (value >= 10 and "," not in text):
        value /= 100
    elif "," not in text:
        return None
    return value if least <= value <= most and math.isfinite(value) else None
