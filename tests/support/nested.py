"""Comparison of nested values."""

from __future__ import annotations

import pytest


def close(got: object, wanted: object, tolerance: float) -> bool:
    """Whether two nested values are the same but for rounding of numbers; NaN is NaN."""
    if got == wanted:  # at once, as nearly all are
        return True
    if isinstance(wanted, dict) and isinstance(got, dict):
        return got.keys() == wanted.keys() and all(
            close(got[key], wanted[key], tolerance) for key in wanted
        )
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return len(got) == len(wanted) and all(
            close(*pair, tolerance) for pair in zip(got, wanted, strict=True)
        )
    if isinstance(wanted, float) and isinstance(got, float):
        return got == pytest.approx(wanted, rel=tolerance, abs=tolerance, nan_ok=True)
    return False
