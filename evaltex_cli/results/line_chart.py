"""A line chart as an SVG file, readable in black and white and by the colour-blind."""

from __future__ import annotations

import math
from html import escape

from evaltex_cli.protocols.base import Plot
from evaltex_cli.runtime.marks import comment

WIDTH, HEIGHT = 640, 420
LEFT, TOP, RIGHT, BOTTOM = 64, 48, 616, 356
"""The area between the axes, in the file's units."""
STYLES = (("#0072b2", "none"), ("#d55e00", "7 4"), ("#009e73", "2 3"), ("#cc79a7", "9 3 2 3"))
"""Okabe and Ito's colours, each with a dash pattern of its own."""
MOST_X_TICKS = 10


def svg(plot: Plot) -> str:
    """Return the chart; its y axis runs from 0 to 1, its x axis over the values of x."""
    low, high = min(plot.x, default=0.0), max(plot.x, default=1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5

    def across(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 2)

    def up(value: float) -> float:
        return round(BOTTOM - value * (BOTTOM - TOP), 2)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="sans-serif" font-size="13" role="img">',
        comment("plot"),
        f"<title>{escape(plot.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, 20, plot.title, 'font-size="15" font-weight="bold"'),
    ]
    if plot.band is not None:
        left, right = map(across, plot.band)
        parts.append(
            f'<rect x="{left}" y="{TOP}" width="{max(right - left, 1):.2f}"'
            f' height="{BOTTOM - TOP}" fill="#f0e442" fill-opacity="0.35"/>'
        )
    middle = 'text-anchor="middle"'
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        parts.append(f'<path d="M{LEFT} {up(tick)}H{RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, up(tick) + 4, f"{tick:.1f}", 'text-anchor="end"'))
    for tick in _ticks(low, high):
        parts.append(f'<path d="M{across(tick)} {BOTTOM}v5" stroke="#333"/>')
        parts.append(_text(across(tick), BOTTOM + 19, f"{tick:.6g}", middle))
    parts += [
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#333"/>',
        _text((LEFT + RIGHT) / 2, HEIGHT - 16, plot.x_label, middle),
        _text(0, 0, plot.y_label, f'{middle} transform="translate(18 {up(0.5)}) rotate(-90)"'),
    ]
    for k, (label, values) in enumerate(plot.lines.items()):
        color, dashes = STYLES[k % len(STYLES)]
        stroke = f'fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dashes}"'
        pairs = zip(plot.x, values, strict=True)
        points = " ".join(f"{across(x)},{up(y)}" for x, y in pairs if math.isfinite(y))
        legend = LEFT + 150 * k
        parts += [
            f'<polyline points="{points}" {stroke}/>',
            f'<path d="M{legend} 36h28" {stroke}/>',
            _text(legend + 34, 40, label),
        ]
    if plot.mark is not None:
        x, y, label = across(plot.mark[0]), up(plot.mark[1]), plot.mark[2]
        side, anchor = (-10, "end") if x > (LEFT + RIGHT) / 2 else (10, "start")
        parts += [
            f'<circle cx="{x}" cy="{y}" r="5" fill="#fff" stroke="#000" stroke-width="2"/>',
            _text(x + side, min(y + 18, BOTTOM - 6), label, f'text-anchor="{anchor}"'),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.6g}" y="{y:.6g}" {attributes}>{escape(text)}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """Return round values within the range, at most ten steps."""
    step = 10 ** math.floor(math.log10((high - low) / MOST_X_TICKS))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= MOST_X_TICKS)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]
