"""What every measurement has in common: sizes, and a run of the command."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from measure import Work, process

OBJECTS = 10  # of an image


@dataclass(frozen=True)
class Sizes:
    """How much is measured, and how often."""

    images: int
    scaling: tuple[int, int]
    memory: tuple[int, int]
    shape_images: int
    analysis_images: int
    mask_images: int
    runs: int
    """After one that is not counted; with none, that one is."""


FULL = Sizes(
    images=100_000,
    scaling=(1_000, 100_000),
    memory=(100_000, 1_000_000),
    shape_images=10_000,
    analysis_images=10_000,
    mask_images=150,
    runs=3,
)
QUICK = Sizes(
    images=100,
    scaling=(10, 100),
    memory=(10, 100),
    shape_images=20,
    analysis_images=20,
    mask_images=2,
    runs=0,
)


def run_of(*arguments: object) -> Work:
    """Return a run of the command, in a process of its own."""
    return partial(process, "-m", "evaltex_cli", *arguments)
