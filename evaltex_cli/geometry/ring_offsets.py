"""Offsets of simple rings: their sides moved in parallel, where none is consumed on the way."""

from __future__ import annotations

import numpy as np

from evaltex_cli.geometry import rounding
from evaltex_cli.geometry.convex_offsets import MITRE_LIMIT, outwards, tangent_of_half
from evaltex_cli.geometry.edges import of_rings, signed_area
from evaltex_cli.geometry.rings import dot, following, preceding
from evaltex_cli.geometry.simple_rings import are_simple
from evaltex_cli.records import Bools, Floats, Ints, blocks

_BLOCK = 1 << 15
"""Vertices of rings that are moved at once."""


def moved(vertices: Floats, offsets: Ints, margin: Floats) -> tuple[Floats, Bools]:
    """Move the sides of rings outwards (margin > 0) or inwards (margin < 0).

    Parameters
    ----------
    vertices : (v, 2) float64
    offsets : (n + 1,) int64
        Simple rings, of either orientation.
    margin : (n,) float64
        How far, in pixels.

    Returns
    -------
    (v, 2) float64
        The same rings, moved as far as they can be.
    (n,) bool
        Which of them are. Not: a ring of which a side is consumed, or a corner moves by more than
        `MITRE_LIMIT` margins, or that would perhaps not be simple any more.
    """
    result, moves = vertices.copy(), np.zeros(len(margin), dtype=bool)
    for start, stop in blocks(np.diff(offsets), _BLOCK):
        rows = slice(offsets[start], offsets[stop])
        if rows.start < rows.stop:
            some = offsets[start : stop + 1] - offsets[start]
            result[rows], moves[start:stop] = _moved(vertices[rows], some, margin[start:stop])
    return result, moves


def _moved(vertices: Floats, offsets: Ints, margin: Floats) -> tuple[Floats, Bools]:
    """The same of rings with a vertex or more in all."""
    owner = np.repeat(np.arange(len(margin)), np.diff(offsets))
    steps = following(vertices, offsets) - vertices
    lengths = np.sqrt(dot(steps, steps))
    with np.errstate(all="ignore"):  # a vertex that is repeated has no side
        sides = steps / lengths[:, None]
        before = preceding(sides, offsets)
        tangent = tangent_of_half(
            preceding(steps, offsets), steps, preceding(lengths, offsets) * lengths
        )
        each = (margin * np.sign(signed_area(of_rings(vertices, offsets))))[owner]
        result = vertices + each[:, None] * (outwards(before) + tangent[:, None] * before)
        along = dot(following(result, offsets) - result, sides)
        least = rounding.STEP * np.maximum(*np.abs(result).T)
        good = (along > 2 * np.maximum(least, following(least, offsets))) & (
            (each * tangent <= 0) | (1 + tangent * tangent <= MITRE_LIMIT**2)
        )
    moves = np.bincount(owner[~good], minlength=len(margin)) == 0
    moves &= are_simple(result, offsets)
    return np.where(moves[owner, None], result, vertices), moves
