"""What was read of each side: its file, and counts of its images and objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from evaltex_cli.display import Record
from evaltex_cli.records import GeometryCounts, Objects, count_texts


@dataclass(frozen=True, repr=False)
class InputCounts(Record):
    """What was read of one side; counts of different images add up.

    `transcriptions` counts objects whose transcription is not empty, `confidences` those that have
    one, `unconfident` objects that were left out for theirs, `missing` ground-truth images the side
    does not have, `empty` its images without objects.
    """

    images: int = 0
    objects: int = 0
    dont_care: int = 0
    transcriptions: int = 0
    confidences: int = 0
    unconfident: int = 0
    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0
    missing: int = 0
    empty: int = 0

    @classmethod
    def of(cls, objects: Objects, repairs: GeometryCounts, unconfident: int = 0) -> InputCounts:
        """Count the objects of some images; see `formats.base.ReadImages` for the other counts."""
        return cls(
            images=len(objects.offsets) - 1,
            objects=objects.count,
            dont_care=int(objects.dont_care.sum()),
            transcriptions=count_texts(objects.texts),
            confidences=0
            if objects.confidences is None
            else int((~np.isnan(objects.confidences)).sum()),
            unconfident=unconfident,
            **asdict(repairs),
            empty=int((np.diff(objects.offsets) == 0).sum()),
        )

    def __add__(self, other: InputCounts) -> InputCounts:
        names = [field.name for field in fields(InputCounts)]
        return InputCounts(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, repr=False)
class InputFile(Record):
    """A side's file, as results name it."""

    file: str = ""
    format: str = "memory"
    sha256: str = ""


@dataclass(frozen=True, repr=False)
class InputSummary(InputCounts, InputFile):
    """One side's file (`InputFile`), then the counts of all of it
    (`InputCounts`), as in a result's .json.
    """

    @classmethod
    def of_file(cls, file: InputFile, counts: InputCounts) -> InputSummary:
        """Return the summary of a file."""
        return cls(**asdict(file), **asdict(counts))
