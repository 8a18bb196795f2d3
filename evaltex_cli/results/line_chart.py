"""A line chart as an SVG file, readable in black and white and by the colour-blind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from evaltex_cli.protocols.base import Plot
from evaltex_cli.runtime.marks import comment

WIDTH, HEIGHT = 640, 420
LEFT, TOP, RIGHT, BOTTOM = 64, 48, 24, 64
STYLES = (("#0072b2", ""), ("#d55e00", "7 4"), ("#009e73", "2 3"), ("#cc79a7", "9 3 2 3"))
"""Okabe and Ito's colours, each with a dash pattern of its own."""
Y_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST_X_TICKS = 10


def svg(plot: Plot) -> str:
    """Return the chart; its y axis runs from 0 to 1, its x axis over the values of x."""
    return "\n".join(_lines(plot)) + "\n"


def _lines(plot: Plot) -> Iterator[str]:
    low, high = _range(plot.x)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="sans-serif" font-size="13" role="img">'
        f"\n{comment('plot')}"
    )
    yield f"<title>{escape(plot.title)}</title>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    yield f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold">{escape(plot.title)}</text>'
    if plot.band is not None:
        left, right = (_x(end, low, high) for end in plot.band)
        yield (
            f'<rect x="{left:.2f}" y="{TOP}" width="{max(right - left, 1):.2f}"'
            f' height="{HEIGHT - BOTTOM - TOP}" fill="#f0e442" fill-opacity="0.35"/>'
        )
    yield from _axes(plot, low, high)
    for k, (label, values) in enumerate(plot.lines.items()):
        colour, dashes = STYLES[k % len(STYLES)]
        stroke = (
            f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
        )
        points = " ".join(
            f"{_x(x, low, high):.2f},{_y(y):.2f}"
            for x, y in zip(plot.x, values, strict=True)
            if math.isfinite(y)
        )
        yield f'<polyline points="{points}" {stroke}/>'
        legend_x = LEFT + 150 * k
        yield f'<line x1="{legend_x}" y1="36" x2="{legend_x + 28}" y2="36" {stroke}/>'
        yield f'<text x="{legend_x + 34}" y="40">{escape(label)}</text>'
    if plot.mark is not None:
        x, y, label = plot.mark
        yield from _mark(label, _x(x, low, high), _y(y))
    yield "</svg>"


def _mark(label: str, x: float, y: float) -> Iterator[str]:
    """A circle, and its label where there is room."""
    yield f'<circle cx="{x:.2f}" cy="{y:.2f}" r="5" fill="#fff" stroke="#000" stroke-width="2"/>'
    is_left = x > (LEFT + WIDTH - RIGHT) / 2
    side, anchor = (-10, "end") if is_left else (10, "start")
    yield (
        f'<text x="{x + side:.2f}" y="{min(y + 18, HEIGHT - BOTTOM - 6):.2f}"'
        f' text-anchor="{anchor}">{escape(label)}</text>'
    )


def _axes(plot: Plot, low: float, high: float) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in Y_TICKS:
        y = _y(tick)
        yield f'<line x1="{LEFT}" y1="{y:.2f}" x2="{right}" y2="{y:.2f}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.2f}" text-anchor="end">{tick:.1f}</text>'
    for tick in _ticks(low, high):
        x = _x(tick, low, high)
        yield f'<line x1="{x:.2f}" y1="{bottom}" x2="{x:.2f}" y2="{bottom + 5}" stroke="#333"/>'
        yield f'<text x="{x:.2f}" y="{bottom + 19}" text-anchor="middle">{tick:.6g}</text>'
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#333"/>'
    middle = (TOP + bottom) / 2
    yield (
        f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 16}"'
        f' text-anchor="middle">{escape(plot.x_label)}</text>'
    )
    yield (
        f'<text x="18" y="{middle:g}" text-anchor="middle" transform="rotate(-90 18 {middle:g})">'
        f"{escape(plot.y_label)}</text>"
    )


def _range(x: Sequence[float]) -> tuple[float, float]:
    low, high = (min(x), max(x)) if x else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _ticks(low: float, high: float) -> list[float]:
    """Round values within the range, at most ten steps."""
    step = 10 ** math.floor(math.log10((high - low) / MOST_X_TICKS))
    step = next(
        step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= MOST_X_TICKS
    )
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _x(value: float, low: float, high: float) -> float:
    return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)
