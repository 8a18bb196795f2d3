"""Names of slices of the objects: those of a range of heights, aspect ratios or lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaltex_cli.errors import ConfigError, nearest, quote

QUANTITIES = ("height", "aspect_ratio", "length")
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_FORM = re.compile(rf"(?:{_NUMBER}<=)?([a-z_-]+)(?:(<|>=){_NUMBER})?", re.ASCII)
_EXPECTED = "height<B, height>=A or A<=height<B, and likewise aspect_ratio and length"


@dataclass(frozen=True, slots=True)
class Slice:
    """The objects with a quantity from `low` (None: no bound) to below `high`."""

    quantity: str
    low: float | None
    high: float | None

    @property
    def name(self) -> str:
        """As gates take it: ``8<=height<16``, or the quantity alone for all objects."""
        below = "" if self.high is None else f"<{self.high:g}"
        if self.low is not None and not below:
            return f"{self.quantity}>={self.low:g}"
        return f"{'' if self.low is None else f'{self.low:g}<='}{self.quantity}{below}"


def parse(text: str) -> Slice:
    """Return the slice that a text such as ``height<16`` or ``8 <= height < 16`` names; raises
    `ConfigError` with the slices that there are.
    """
    parts = _FORM.fullmatch("".join(text.split()).lower())
    low, typed, operator, bound = parts.groups() if parts else (None, "", None, None)
    quantity = typed.replace("-", "_")
    if quantity not in QUANTITIES:
        raise ConfigError(
            f"unknown slice {quote(text)}{nearest(quantity, QUANTITIES)}; expected {_EXPECTED}"
        )
    bounds = [float(one) for one in (low, bound) if one is not None]
    if operator == ">=" and low is None:
        return Slice(quantity, bounds[0], None)
    if operator != "<" or sorted(set(bounds)) != bounds:
        raise ConfigError(f"slice {quote(text)}: expected {_EXPECTED}, A below B")
    return Slice(quantity, bounds[0] if low else None, bounds[-1])
