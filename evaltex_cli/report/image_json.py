"""What pages say, as JSON that markup cannot break out of."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

DECIMALS = 5
"""Of what is shown of images and objects; the results' .json has full precision."""
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


def text(value: Any) -> str:
    """Return JSON for a script element that is not run; with `<` escaped, nothing in it can end the
    element.

    Lone surrogates, of file names that are no UTF-8, become JSON's escapes.
    """
    escaped = _ENCODER.encode(value).replace("<", "\\u003c")
    if escaped.isascii():
        return escaped
    return escaped.encode("utf-8", "backslashreplace").decode("utf-8")


def short(value: Any) -> Any:
    """Return a float with `DECIMALS`, as an integer if it is whole; anything else as it is."""
    if not isinstance(value, float) or not isfinite(value):
        return value
    # As numpy rounds.
    rounded = round(value * 10**DECIMALS) / 10**DECIMALS
    return int(rounded) if rounded.is_integer() else rounded
