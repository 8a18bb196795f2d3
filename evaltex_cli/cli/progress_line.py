"""One line on the terminal that says what a command is doing and how long it
still takes; gone at the end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from evaltex_cli.cli.messages import columns
from evaltex_cli.runtime import progress

AFTER_SECONDS = 0.7
"""A command that ends before shows nothing."""
EVERY_SECONDS = 0.25
_ENOUGH = 0.5
"""Seconds of a phase from which on its pace is known."""


def text_of(
    phase: progress.Phase | None,
    now: float,
    began: float,
    within: progress.Phase | None = None,
) -> str:
    """Return what the line says.

    Parameters
    ----------
    now, began : float
        Seconds of `time.monotonic`; `began` of the command.
    within : Phase, optional
        What is under way of the next of the phase's units, such as a detector's images.
    """
    if phase is None:
        return f"working  {_clock(now - began)}"
    taken = now - phase.began
    if not phase.total:
        return f"{phase.label}  {_clock(taken)}"
    done = min(phase.done, phase.total)
    part = min(within.done / within.total, 1.0) if within is not None else 0.0
    exact = min(done + part, phase.total)
    parts = [
        phase.label,
        f"{int(100 * exact / phase.total)} %",
        f"{done:,} of {phase.total:,} {phase.unit}",
    ]
    if within is not None:
        parts.append(f"{within.label}: {within.done:,} of {within.total:,} {within.unit}")
    if exact and taken >= _ENOUGH:
        parts.append(f"{_clock(taken / exact * (phase.total - exact))} left")
    return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class _Line:
    """The line, which a thread rewrites."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._shown = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        wait = AFTER_SECONDS
        while not self._ended.wait(wait):
            wait = EVERY_SECONDS
            with self._lock:
                if not self._ended.is_set():
                    one = progress.current()
                    text = text_of(one, time.monotonic(), self._began, progress.within(one))
                    self._write(text[: columns() - 1])

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"\r{text:<{self._shown}}" + ("" if text else "\r"))
            sys.stderr.flush()
            self._shown = len(text)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the line away while the block writes to the terminal."""
        with self._lock:
            if self._shown:
                self._write("")
            yield

    def end(self) -> None:
        """Take the line away for good."""
        self._ended.set()
        with self.away():
            pass


_lines: list[_Line] = []
"""The line of the running command, if it has one."""


@contextmanager
def shown(quiet: bool) -> Iterator[None]:
    """Show the line while the block runs, if standard error is a terminal."""
    if not quiet and sys.stderr.isatty():
        _lines.append(_Line())
    try:
        yield
    finally:
        end()


@contextmanager
def away() -> Iterator[None]:
    """Take the line away, if there is one, while the block writes to standard error."""
    with _lines[0].away() if _lines else nullcontext():
        yield


def end() -> None:
    """Take the line away for good: the output of the command follows."""
    while _lines:
        _lines.pop().end()
