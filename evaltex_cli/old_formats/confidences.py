"""The scale of confidences, decided over a whole input: in [0, 1], in
percent, or of any other range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.old_formats.narrow import Records

_PERCENT = 100.0
_LEAST_PERCENT = 10.0
"""Confidences beyond 1 are taken for percent if the highest is above this."""


class Scale(NamedTuple):
    """The range of the confidences as they are in the input, and what they are divided by."""

    lowest: float = 0.0
    highest: float = 1.0
    divisor: float = 1.0

    def has(self, value: float) -> bool:
        """Whether a confidence is in the range."""
        return self.lowest <= value <= self.highest

    def warning(self) -> str | None:
        """Say what is made of confidences that are not in [0, 1]; None if all are."""
        if (self.lowest, self.highest) == (0, 1):
            return None
        if self.divisor != 1:
            return (
                f"its confidences are percent, up to {self.highest:g}; they were divided by"
                f" {self.divisor:g}"
            )
        return (
            f"its confidences are from {self.lowest:g} to {self.highest:g}, not in [0, 1]; they are"
            " used as they are (a least confidence is compared with them)"
        )


UNIT = Scale()


def scale_of(lowest: float, highest: float) -> Scale:
    """Return the scale of an input with these lowest and highest confidences.

    They are percent if none is negative and the highest is above 10 and at most 100; what is in
    neither range is of an unknown scale, and remains as it is.
    """
    if lowest >= 0 and _LEAST_PERCENT < highest <= _PERCENT:
        return Scale(0.0, highest, _PERCENT)
    return Scale(min(lowest, 0.0), max(highest, 1.0))


def settle(objects: Records) -> str | None:
    """Divide the confidences of records by 100 if they are percent; return a warning of those that
    are not in [0, 1], None if all are.
    """
    confidences = objects.column("confidence")
    if not len(confidences) or np.isnan(confidences).all():
        return None
    scale = scale_of(float(np.nanmin(confidences)), float(np.nanmax(confidences)))
    if scale.divisor != 1:
        objects.set("confidence", confidences.astype(np.float64) / scale.divisor)
    return scale.warning()
