"""Coordinates of an object from what documents have: polygons, boxes by width
and height, boxes that are turned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaltex_cli.errors import FormatError, Steps


def polygon(vertices: Sequence[float], dont_care: bool, where: Steps = ()) -> Sequence[float]:
    """Return x1, y1, x2, y2, ... as an object's coordinates; fewer than three vertices are a don't
    care's only.

    `where` leads to the vertices in a JSON object.

    Raises
    ------
    FormatError
        When they are no polygon.
    """
    if len(vertices) % 2:
        raise FormatError(f"{len(vertices)} coordinates", "an even count: x1,y1,x2,y2,...", where)
    if len(vertices) >= 6:
        return vertices
    if not dont_care or not vertices:
        raise FormatError(f"{len(vertices) // 2} vertices", "three or more", where)
    return [*vertices, *vertices[-2:], *vertices[-2:]][:6]


def box(
    x: float, y: float, width: float, height: float, *, where: Steps = ()
) -> tuple[float, float, float, float]:
    """Return x, y, width, height as an object's coordinates.

    Raises
    ------
    FormatError
        When width or height is below 0.
    """
    if width < 0 or height < 0:
        raise FormatError(f"width {width:g}, height {height:g}", "both at least 0", where)
    return x, y, x + width, y + height


def turned(
    values: Sequence[float], angle: float, pivot: tuple[float, float] | None = None
) -> list[float]:
    """Return the corners of a box that is turned, from its own upper left one on.

    Parameters
    ----------
    values : (4,) float
        x0, y0, x1, y1 before it is turned.
    angle : float
        In radians, clockwise as seen, since y points down.
    pivot : (float, float) or None
        What it is turned about; None for its centre.
    """
    x0, y0, x1, y1 = values
    centre_x, centre_y = pivot or ((x0 + x1) / 2, (y0 + y1) / 2)
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = []
    for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)):
        right, down = x - centre_x, y - centre_y
        corners += [
            centre_x + right * cosine - down * sine,
            centre_y + right * sine + down * cosine,
        ]
    return corners
