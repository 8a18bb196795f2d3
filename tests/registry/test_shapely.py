"""Runs on valid polygons do without shapely, which takes as long to import as all else."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import numpy as np
from evaltex_cli import evaluate, image_objects
from evaltex_cli.protocols import PROTOCOLS
rng = np.random.default_rng(0)
corner = rng.integers(0, 400, (60, 1, 2))
size = rng.integers(20, 60, (60, 1, 2))
leaning = np.array([[0, 0], [1, 0.1], [1, 1], [0, 0.9]]) * size + corner
for move in (0.0, 3.0, -7.25):
    sides = [image_objects(polygons=leaning + by, texts=["a"] * 60) for by in (0.0, move)]
    for name in PROTOCOLS:
        evaluate([sides[0]], [sides[1]], protocol=name)
        assert "shapely" not in sys.modules, name
"""


def test_quadrilaterals_need_no_shapely() -> None:
    """Under every protocol: crowded, exactly found and nearly."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], check=True)
