"""Arrays of numbers with twice the digits of a double: each the unevaluated sum of two.

Sums and products without error are those of Knuth, The Art of Computer Programming 2, 4.2.2, and
Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18
(1971).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaltex_cli.records import Bools, Floats

_SPLITTER = 2.0**27 + 1


def exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sums, and their errors."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded products and their errors, exact above 1e-290 and below 1e290."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


class DoubleDouble:
    """Numbers ``high + low``, of which `high` is the nearest double; with the operators of an
    array as far as `edge_pairs` needs them.
    """

    __slots__ = ("high", "low")

    def __init__(self, high: Floats, low: Floats) -> None:
        self.high = high
        self.low = low

    @classmethod
    def difference(cls, a: Floats, b: Floats) -> DoubleDouble:
        """Return a - b without error."""
        return cls(*exact_sum(a, -b))

    def __lt__(self, other: float) -> Bools:
        return np.asarray(self.high < other)

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        high, error = exact_sum(self.high, other.high)
        low, low_error = exact_sum(self.low, other.low)
        high, error = exact_sum(high, error + low)
        return DoubleDouble(*exact_sum(high, error + low_error))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + DoubleDouble(-other.high, -other.low)

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:
        high, error = exact_product(self.high, other.high)
        error = error + (self.high * other.low + self.low * other.high)
        return DoubleDouble(*exact_sum(high, error))

    def __truediv__(self, other: DoubleDouble) -> DoubleDouble:
        # Each step leaves a rest of 53 binary digits less.
        quotient = self._over(other)
        rest = self - other * quotient
        part = rest._over(other)
        return quotient + part + (rest - other * part)._over(other)

    def _over(self, other: DoubleDouble) -> DoubleDouble:
        return DoubleDouble(self.high / other.high, np.zeros_like(self.high))

    def rows(self) -> Iterator[DoubleDouble]:
        """Yield the rows."""
        return map(DoubleDouble, self.high, self.low)
