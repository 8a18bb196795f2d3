"""Published figures, with the digits that were printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaltex_cli.errors import ConfigError, quote

NAMES = ("recall", "precision", "hmean")
_NUMBER = re.compile(r"(?=.*\d)(\d*\.?(\d*))\s*(%?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Figure:
    """A score as it was printed."""

    text: str
    value: float
    """In [0, 1]."""
    half_unit: float
    """Half a unit in the last digit."""

    @classmethod
    def parse(cls, text: str) -> Figure:
        """Return what ``0.8162``, ``81.6`` or ``81.6%`` says: above 1 it is per cent.

        Raises `ConfigError` when it is no number from 0 to 100.
        """
        parts = _NUMBER.fullmatch(text.strip())
        if parts is None:
            raise ConfigError(
                f"{quote(text)} is no figure; expected one such as 0.8162, 81.6 or 81.6%"
            )
        number = float(parts[1])
        scale = 0.01 if parts[3] or number > 1 else 1.0
        if number * scale > 1:
            raise ConfigError(f"{quote(text)} is above 100%; expected a recall, precision or hmean")
        return cls(text.strip(), number * scale, 0.5 * 10.0 ** -len(parts[2]) * scale)

    def agrees(self, score: float) -> bool:
        """Whether a score is this figure in all its digits."""
        return abs(score - self.value) <= self.half_unit + 1e-12


def parsed(given: Mapping[str, str | None]) -> dict[str, Figure]:
    """Return the figures that were given, by `NAMES`; raises `ConfigError` when there is none, or
    one is no figure.
    """
    figures = {name: Figure.parse(text) for name, text in given.items() if text is not None}
    if not figures:
        raise ConfigError("no figure to reconcile; give --recall, --precision or --hmean")
    return figures
