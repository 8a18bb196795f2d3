"""What pages say, as JSON that markup cannot break out of."""

from __future__ import annotations

import json
from typing import Any

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
