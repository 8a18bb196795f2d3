"""What a test may bound: the work that is done, never the time it takes, which a busy machine decides."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HANG_SECONDS = 1800
"""After this time a process that is waited for hangs; no process that ends takes so long on any machine."""


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Assert that no more functions are called than this, those of Python and those of libraries counted alike."""
    found = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert found <= calls, f"{found} calls, {calls} were expected at most"
