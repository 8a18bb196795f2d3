"""The small data set as MATLAB files."""

from __future__ import annotations

from typing import Any

import numpy as np
from sample_words import FOUND, WORDS, Box, Sample, corners


def mat(variable: str, rows: list[list[Any]]) -> bytes:
    """A MATLAB 5 file of one cell array; scipy writes it."""
    import io

    from scipy.io import savemat

    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        for j, value in enumerate(row):
            cells[k, j] = value
    buffer = io.BytesIO()
    savemat(buffer, {variable: cells})
    return buffer.getvalue()


def mat_word(box: Box, text: str) -> list[Any]:
    xs, ys = (np.array([[point[axis] for point in corners(box)]], np.int16) for axis in (0, 1))
    return ["x:", xs, "y:", ys, "#" if text == "###" else text, "#" if text == "###" else "c"]


def total_text_mat() -> Sample:
    """Needs scipy."""
    return Sample(
        {
            f"poly_gt_{k}.mat": mat("polygt", [mat_word(*word) for word in words])
            for k, words in enumerate(WORDS, 1)
        },
        {
            f"{k}.mat": mat("accuInf", [[np.array(corners(box), float)] for box, _ in found])
            for k, found in enumerate(FOUND, 1)
        },
    )
