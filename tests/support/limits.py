"""What a test may bound: the work that is done, never the time it takes,
which a busy machine decides.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HANG_SECONDS = 1800
"""After this time a process that is waited for hangs; no process that ends
takes so long on any machine.
"""


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, which it does sooner or later."""
    deadline = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


class Calls:
    """How many functions were called, those of Python and those of libraries counted alike."""

    count = 0


@contextmanager
def counting() -> Iterator[Calls]:
    """Count the calls in the block."""
    calls = Calls()

    def count(frame: FrameType, event: str, argument: object) -> None:
        calls.count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Assert that no more functions are called than this."""
    with counting() as counted:
        yield
    assert counted.count <= calls, f"{counted.count} calls, {calls} were expected at most"
