"""Types of options that are numbers: a percent sign or a decimal comma is answered by what to
write.
"""

from __future__ import annotations

import math
from typing import Any

import click

from evaltex_cli.errors import quote
from evaltex_cli.errors.suggestions import number_meant


def _expected(kind: str, low: float | None, high: float | None, is_open: bool = False) -> str:
    if low is None or high is None:
        return kind if low is None else f"{kind} of at least {low:g}"
    return f"{kind} between {low:g} and {high:g}" if is_open else f"{kind} from {low:g} to {high:g}"


class Number(click.FloatRange):
    """Numbers of a range; NaN, which no comparison keeps out, is not one of them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = super().convert(value, param, ctx)
        except click.BadParameter:
            number = math.nan
        if math.isnan(number):
            expected = _expected("a number", self.min, self.max, self.min_open)
            meant = number_meant(str(value), self.min, self.max)
            advice = "" if meant is None else f"; write {meant:g}"
            self.fail(f"{quote(str(value))} is not {expected}{advice}.", param, ctx)
        return number


class WholeNumber(click.IntRange):
    """Whole numbers of a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            expected = _expected("a whole number", self.min, self.max)
            is_percent = str(value).strip().endswith("%")
            advice = "; write it without a percent sign" if is_percent else ""
            self.fail(f"{quote(str(value))} is not {expected}{advice}.", param, ctx)


class Level(Number):
    """The value of an option that needs none, and takes the word after it for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no level between 0 and 1; {self._advice(value)}", param, ctx)

    @staticmethod
    def _advice(value: Any) -> str:
        try:
            share = float(str(value).rstrip("%")) / 100
        except ValueError:
            meant = number_meant(str(value), 0, 1)
            if meant is None:
                return "for 0.95, put the option after the paths."
            return f"did you mean {meant:g}?"
        return f"did you mean {share:g}?" if 0 < share < 1 else "expected one such as 0.95."
