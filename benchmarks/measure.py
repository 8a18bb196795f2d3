"""What is measured of processes, seconds and megabytes, and the ratios of them."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Work = Callable[[], object]
_PROC = Path("/proc")
_SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Measured:
    """One side of a ratio, run by run; divided by `share`, where the sides differ in size."""

    name: str
    values: list[float]
    share: float = 1
    unit: str = "s"

    @property
    def least(self) -> float:
        """The least value: what is above it was something else on the machine."""
        return min(self.values) / self.share

    @property
    def median(self) -> float:
        return statistics.median(self.values) / self.share

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        if self.unit == "MB":
            return f"{value:.0f} MB"
        return f"{value * 1e6:.1f} µs" if value < 1e-3 else f"{value:.3f} s"


@dataclass(frozen=True)
class Ratio:
    """The least value of one side over that of the other."""

    this: Measured
    other: Measured
    limit: float | None

    @property
    def value(self) -> float:
        return self.this.least / self.other.least

    @property
    def within_limit(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def row(self) -> str:
        """Return a row of a Markdown table."""
        limit = "" if self.limit is None else f"{self.limit:.2f}"
        value = f"{self.value:.2f}" if self.within_limit else f"**{self.value:.2f}**"
        sides = [
            cell for side in (self.this, self.other) for cell in (side.name, side.shown(side.least))
        ]
        return f"| {' | '.join([*sides, value, limit])} |"


def process(*arguments: object, folder: Path | None = None) -> None:
    """Run this Python with some arguments to its end."""
    subprocess.run(
        [sys.executable, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, cwd=folder
    )


def time_in_turn(works: Sequence[Work], runs: int) -> list[list[float]]:
    """Seconds of every work, run by run, after a run that is not counted."""
    seconds: list[list[float]] = [[] for _ in works]
    for run in range(runs + 1):
        for work, found in zip(works, seconds, strict=True):
            began = time.perf_counter()
            work()
            if run:
                found.append(time.perf_counter() - began)
    return seconds


def can_measure_memory() -> bool:
    """Whether the system tells of processes what `peak_memory` asks for; Linux does."""
    return (_PROC / "self" / "smaps_rollup").exists()


def peak_memory(*arguments: object) -> tuple[float, float]:
    """Run this Python with some arguments; return the peak memory in MB of its process, and of all
    that it starts.

    Memory that several processes share is counted once.
    """
    started = subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdout=subprocess.DEVNULL, start_new_session=True
    )
    alone = together = 0
    while started.poll() is None:
        alone = max(alone, _kilobytes(started.pid, "status", "VmHWM:"))
        together = max(
            together, sum(_kilobytes(pid, "smaps_rollup", "Pss:") for pid in _session(started.pid))
        )
        time.sleep(_SAMPLE_SECONDS)
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, started.args)
    return alone / 1024, together / 1024


def _kilobytes(pid: int, file: str, field: str) -> int:
    try:
        lines = (_PROC / str(pid) / file).read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(field))


def _session(leader: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(after_name[3]) == leader:
                found.append(int(entry.name))
    return found
