"""What is measured of processes, seconds and megabytes, and the ratios of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

try:
    import resource
except ImportError:  # Windows, where times are less exact
    resource = None  # type: ignore[assignment]

Work = Callable[[], object]
Clock = Callable[[], float]
SHARED = Path(__file__).parents[2] / "shared" / "data"
"""Real data sets, in a folder next to the repository, if they are there."""
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

    def shown(self, is_judged: bool) -> str:
        """Return two lines for the terminal, one for each side."""
        limit = "-" if self.limit is None else f"{self.limit:.2f}"
        verdict = "" if not is_judged or self.within_limit else "  beyond its limit"
        this, other = (
            f"{one.name:<76} {one.shown(one.least):>10} {one.shown(one.median):>10}"
            for one in (self.this, self.other)
        )
        return f"{this} {self.value:6.2f} {limit:>6}{verdict}\n  {other}"

    def row(self) -> str:
        """Return a row of a Markdown table."""
        limit = "" if self.limit is None else f"{self.limit:.2f}"
        value = f"{self.value:.2f}" if self.within_limit else f"**{self.value:.2f}**"
        sides = [
            cell for side in (self.this, self.other) for cell in (side.name, side.shown(side.least))
        ]
        return f"| {' | '.join([*sides, value, limit])} |"


@dataclass(frozen=True)
class Skipped:
    """A ratio that is not measured, with the reason."""

    name: str
    reason: str
    limit: float
    within_limit: bool = True

    def shown(self, is_judged: bool) -> str:
        """Return a line for the terminal."""
        return f"{self.name:<76} not measured: {self.reason}"

    def row(self) -> str:
        """Return a row of a Markdown table."""
        return f"| {self.name} | | not measured: {self.reason} | | | {self.limit:.2f} |"


def process(*arguments: object, folder: Path | None = None) -> None:
    """Run this Python with some arguments to its end."""
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)


def processor_clock() -> float:
    """Seconds of the processor that this process and all that it has waited for have used."""
    if resource is None:
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


wall_clock: Clock = time.perf_counter


def time_in_turn(
    works: Sequence[Work], runs: int, clock: Clock = processor_clock
) -> list[list[float]]:
    """Seconds of every work, run by run, after a run that is not counted, unless it is the only
    one.
    """
    seconds: list[list[float]] = [[] for _ in works]
    for run in range(runs + 1):
        for work, found in zip(works, seconds, strict=True):
            began = clock()
            work()
            if run or not runs:
                found.append(clock() - began)
    return seconds


def can_measure_memory() -> bool:
    """Whether the system has what `peak_memory` reads of processes; Linux has."""
    return (_PROC / "self" / "smaps_rollup").exists()


def peak_memory(*arguments: object) -> tuple[float, float]:
    """Run this Python with some arguments; return the peak memory in MB of its process, and of all
    that it starts.

    Memory that several processes share is counted once.
    """
    started = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
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
