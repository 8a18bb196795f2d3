"""A board: detectors, data sets and protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaltex_cli.formats.options import InputOptions
from evaltex_cli.results import significance

CORRECTIONS = ("max-t", "holm")
"""How p-values are corrected for the number of pairs; the first is the default."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How detectors are ranked."""

    level: float = significance.LEVEL
    """Of intervals; pairs differ significantly if their corrected p-value is below 1 - level."""
    resamples: int = significance.RESAMPLES
    seed: int = 0
    """`resamples` and `seed`: of the subsets of the images."""
    correction: str = CORRECTIONS[0]
    """'max-t' or 'holm'."""
    pooled: bool = False
    """Whether evidence is also summed over all data sets."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A ground truth, how it is read and scored, and the detections of its detectors."""

    name: str
    gt: Path
    options: InputOptions
    parameters: Mapping[str, Any]
    """Protocol -> parameters record."""
    detections: Mapping[str, Path]
    """Detector -> path."""
    reports: Mapping[str, Path] = field(default_factory=dict)
    """Detector -> path of the report of its run, as far as there is one."""
    files: Sequence[Path] = ()
    """What else is read: the list of images, the file of parameters."""


@dataclass(frozen=True, slots=True)
class Board:
    """What is ranked."""

    datasets: Sequence[DataSet]
    settings: Settings = Settings()

    @property
    def paths(self) -> list[Path]:
        """Everything that is read."""
        return [*self.inputs, *self.pictures]

    @property
    def inputs(self) -> list[Path]:
        """What is read as a whole."""
        return [
            path
            for one in self.datasets
            for path in (one.gt, one.options.lines, *one.files, *one.detections.values())
            if path is not None
        ]

    @property
    def pictures(self) -> list[Path]:
        """The folders of pictures."""
        return [one.options.images for one in self.datasets if one.options.images is not None]

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
