"""Numbers as text files of every format have them."""

from __future__ import annotations

import math
import re

from evaltex_cli.errors import FormatError, quote

NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
COORDINATE_LIMIT = 1e12
"""Largest magnitude of a coordinate, in pixels: beyond it areas lose the pixel."""


def parse_number(field: str) -> float:
    """Parse a finite number of at most `COORDINATE_LIMIT` in magnitude.

    Raises
    ------
    FormatError
        For anything else, NaN and infinities among it.
    """
    value = float(field) if NUMBER.fullmatch(field) else math.nan
    if not abs(value) <= COORDINATE_LIMIT:
        raise FormatError(f"{quote(field.strip())}", "a finite number (integer or decimal, at most 1e12 in magnitude)")
    return value
