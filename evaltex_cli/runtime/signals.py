"""The signals that end a run, and how they are made to wait where something
must not be left half done.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def blocked() -> Iterator[None]:
    """Let them wait until the block is done; processes that are started in it have them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
