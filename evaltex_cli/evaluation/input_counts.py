"""What was read of each side: its file, counts of its images and objects, and warnings of these."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from evaltex_cli.display import Record
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions
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
    def of(cls, objects: Objects, repairs: GeometryCounts) -> InputCounts:
        """Count the objects of some images."""
        return cls(
            images=len(objects.offsets) - 1,
            objects=objects.count,
            dont_care=int(objects.dont_care.sum()),
            transcriptions=count_texts(objects.texts),
            confidences=0
            if objects.confidences is None
            else int((~np.isnan(objects.confidences)).sum()),
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
    """One side's file, then the counts of all of it, as in a result's .json."""


def input_warnings(
    options: InputOptions, gt: InputSummary, det: InputSummary, lines: InputCounts
) -> list[str]:
    """Return what a user should know of what was read, whatever the protocol: polygons that were
    repaired, images without detections.
    """
    warnings = []
    for side, counts in {"ground truth": gt, "detections": det, "lines": lines}.items():
        dropped = "{count} invalid polygon[s] left out, as if [it was|they were] not in the file"
        if options.invalid == "skip" and counts is gt:
            dropped = (
                "{count} invalid polygon[s] skipped: [it counts|they count], and nothing matches"
                " [it|them]"
            )
        told = {
            "{count} invalid polygon[s] repaired, every lobe kept": counts.repaired,
            dropped: counts.dropped,
            "{count} object[s] without area; [it matches|they match] nothing": counts.zero_area,
        }
        warnings += [f"{side}: {counted(n, sentence)}" for sentence, n in told.items() if n]
    if options.min_confidence is not None and not det.confidences and not det.unconfident:
        warnings.append(
            f"no detection of {det.file} has a confidence, so all stay, whatever the least"
            " confidence"
        )
    elif options.min_confidence is not None:
        some = f"{det.unconfident} of {det.objects + det.unconfident} left out"
        warnings.append(f"detections: {some}, their confidence below {options.min_confidence}")
    if det.missing and det.images:
        in_all = counted(gt.images, "{count} image[s]")
        missing = f"{{count}} of {in_all} [has|have] no detections in "
        warnings.append(counted(det.missing, missing) + det.file)
    elif det.missing:
        warnings.append(f"{det.file}: no image in the detection file, as if nothing was detected")
    return warnings
