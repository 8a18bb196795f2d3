"""A board: detectors, data sets and protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaltex_cli.formats.options import (
    InputOptions,
)
from evaltex_cli.results import significance

CORRECTIONS = ("max-t", "holm")
"""How p-values are corrected for the number of pairs; the first is the default."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How detectors are ranked.

    Attributes
    ----------
    level : float
        Of intervals; pairs differ significantly if their corrected p-value is below 1 - level.
    resamples, seed : int
        Of the subsets of the images.
    correction : {'max-t', 'holm'}
    pooled : bool
        Whether evidence is also summed over all data sets.
    """

    level: float = significance.LEVEL
    resamples: int = significance.RESAMPLES
    seed: int = 0
    correction: str = CORRECTIONS[0]
    pooled: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """A ground truth, how it is read and scored, and the detections of each detector that has some.

    Attributes
    ----------
    name : str
    gt : Path
    options : InputOptions
    parameters : mapping
        Protocol -> parameters record.
    detections : mapping
        Detector -> path.
    reports : mapping
        Detector -> path of the report of its run, as far as there is one.
    only : Path or None
        The list of images that `options.only` is of.
    """

    name: str
    gt: Path
    options: InputOptions
    parameters: Mapping[str, Any]
    detections: Mapping[str, Path]
    reports: Mapping[str, Path] = field(default_factory=dict)
    only: Path | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """What is ranked."""

    datasets: Sequence[DataSet]
    settings: Settings = Settings()

    @property
    def paths(self) -> list[Path]:
        """Everything that is read."""
        return [
            path
            for one in self.datasets
            for path in (
                *(one.gt, one.options.images, one.options.lines, one.only),
                *one.detections.values(),
            )
            if path is not None
        ]

    @property
    def detectors(self) -> list[str]:
        """All detectors, in the order in which they were given."""
        return list(dict.fromkeys(label for one in self.datasets for label in one.detections))

    @property
    def reports(self) -> dict[tuple[str, str], Path]:
        """Data set and detector -> the report of its run."""
        return {
            (one.name, label): path for one in self.datasets for label, path in one.reports.items()
        }
