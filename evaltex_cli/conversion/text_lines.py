"""Words to lines: the region level of a ground truth that only has words
(EvaLTex paper, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import shapely

from evaltex_cli.records import Floats, Ints

HEIGHT_RATIO = 0.5
"""Heights are similar where the smallest of a line is at least this share of its largest."""
ALIGNMENT = 0.5
"""Words are aligned where they share at least this part of the smaller one's height."""
WIDEST_GAP = 1.0
"""Widest gap between neighbours, in heights of the larger one."""
_ROUNDING = 1e-9
"""A share of an area that rounding may make."""


def group_lines(boxes: Floats) -> Ints:
    """Group aligned words of similar height into lines.

    The paper groups by hand: words that are horizontally (vertically) aligned and of similar height
    (width), as long as the area of a region is more text than not. Here two words are neighbours
    where they are aligned (`ALIGNMENT`), of similar height (`HEIGHT_RATIO`) and close
    (`WIDEST_GAP`). From the closest pair of neighbours on, their lines become one if all its
    heights are similar and its words cover more than half of its bounding box. Then words still
    alone that are taller than wide are grouped likewise from top to bottom.

    Takes (n, 4) boxes of the words of one image. Returns (n,) region IDs from 1, in the order of
    each region's topmost word, the leftmost of these, whatever the order of the words.
    """
    order = np.lexsort(boxes.T[[2, 3, 0, 1]])
    words = boxes[order]
    line = _lines(words)
    alone = np.bincount(line, minlength=len(words))[line] == 1
    upright = np.flatnonzero(alone & (words[:, 3] - words[:, 1] > words[:, 2] - words[:, 0]))
    line[upright] = upright[_lines(words[upright][:, [1, 0, 3, 2]])]
    regions = np.empty(len(words), np.int64)
    regions[order] = np.unique(line, return_inverse=True)[1] + 1
    return regions


def _lines(words: Floats) -> Ints:
    """(n,) the smallest index of each word's line."""
    lines = [[k] for k in range(len(words))]
    for i, j in _neighbours(words):
        joined = lines[i] + lines[j]
        if lines[i] is not lines[j] and _is_line(words[joined]):
            for k in joined:
                lines[k] = joined
    return np.array([min(line) for line in lines], np.int64)


def _neighbours(words: Floats) -> Iterator[tuple[int, int]]:
    """Yield pairs of neighbours, by increasing gap."""
    heights = words[:, 3] - words[:, 1]
    reach = words + (WIDEST_GAP * heights)[:, None] * np.array([-1.0, 0.0, 1.0, 0.0])
    placed: Any = shapely.box(*words.T)
    pairs = shapely.STRtree(placed).query(shapely.box(*reach.T))
    # The tree finds most pairs twice, as (i, j) and (j, i).
    i, j = np.unique(np.sort(pairs, axis=0), axis=1)
    smaller, larger = np.minimum(heights[i], heights[j]), np.maximum(heights[i], heights[j])
    gap = np.maximum(words[i, 0], words[j, 0]) - np.minimum(words[i, 2], words[j, 2])
    shared = np.minimum(words[i, 3], words[j, 3]) - np.maximum(words[i, 1], words[j, 1])
    near = (
        (i < j)
        & (gap <= WIDEST_GAP * larger)
        & (shared >= ALIGNMENT * smaller)
        & (smaller >= HEIGHT_RATIO * larger)
    )
    i, j = i[near], j[near]
    by_gap = np.lexsort((j, i, gap[near]))
    return zip(i[by_gap].tolist(), j[by_gap].tolist(), strict=True)


def _is_line(words: Floats) -> bool:
    """Whether words are of similar height and cover more than half of the box around them."""
    height = words[:, 3] - words[:, 1]
    if height.min() < HEIGHT_RATIO * height.max():
        return False
    covered = shapely.union_all(shapely.box(*words.T)).area
    across, down = words[:, 2:].max(axis=0) - words[:, :2].min(axis=0)
    return bool(2 * covered > across * down * (1 + _ROUNDING))
