"""Total-Text's .mat files."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import read

from evaltex_cli.formats import matlab

CURVE = [[10, 30, 50, 50, 30, 10], [10, 5, 10, 30, 25, 30]]
SHORT = [[100, 120], [10, 10]]
EMPTY = np.zeros((0, 0))
POINTS = np.array(CURVE).T
NOT_ONE = "no cell array polygt, gt or accuInf; expected one of them"


def cells(*rows: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        for j, value in enumerate(row):
            array[k, j] = value
    return array


def row(vertices: Any, text: Any, orientation: Any = "c", kind: Any = np.int16) -> list[Any]:
    xs, ys = (np.array([values], kind) for values in vertices)
    return ["x:", xs, "y:", ys, text, orientation]


def saved(path: Path, do_compression: bool = False, **variables: Any) -> Path:
    reason = "scipy, which writes the samples, is not installed"
    scipy = pytest.importorskip("scipy", reason=reason)
    scipy.io.savemat(path, variables, do_compression=do_compression)
    return path


@pytest.mark.parametrize("variable", ["polygt", "gt"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_ground_truth(tmp_path: Path, variable: str, is_packed: bool) -> None:
    rows = cells(
        row(CURVE, "Caf\u00e9 \u2019"),
        row(SHORT, "#", EMPTY),
        row(CURVE, "any", "#", np.uint8),
        row(CURVE, EMPTY, "m"),
    )
    path = saved(tmp_path / "poly_gt_img1.mat", is_packed, other=1, **{variable: rows})
    found = read(path)
    assert (found.source.format, found.source.names) == ("totaltext-mat", ["img1"])
    assert (found.faults, found.texts) == ([], ["Caf\u00e9 \u2019", "#", "any", ""])
    assert found.objects.dont_care.tolist() == [False, True, True, False]
    assert found.rings[0] == POINTS.tolist()
    assert not read(path, "det").objects.dont_care.any()


def test_detections(tmp_path: Path) -> None:
    accuracies = cells([POINTS.astype(float)], [POINTS + 100])
    for column_or_row in (accuracies, accuracies.T):
        found = read(saved(tmp_path / "img1.mat", accuInf=column_or_row), "det")
        assert (found.source.names, found.faults) == (["img1"], [])
        assert found.objects.boxes.tolist() == [[10, 5, 50, 30], [110, 105, 150, 130]]
    none = read(saved(tmp_path / "img1.mat", accuInf=np.empty((0, 0), dtype=object)), "det")
    assert (none.faults, none.objects.count) == ([], 0)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"other": 1}, NOT_ONE),
        ({"gt": "text"}, NOT_ONE),
        ({"gt": cells(row([[1, 2, 3], [1, 2]], "x"))}, "gt[0]: other cells; expected polygt or"),
        ({"accuInf": cells(["12"])}, "accuInf[0]: other cells; expected polygt or"),
        ({"polygt": cells(row(SHORT, "x"))}, "polygt[0]: 2 vertices; expected three or more"),
        ({"gt": cells(row([[1, np.nan, 2], [1, 2, 3]], "x", kind=float))}, "gt[0]: 'nan';"),
    ],
)
def test_faults(tmp_path: Path, variables: dict[str, Any], message: str) -> None:
    (fault,) = read(saved(tmp_path / "img1.mat", **variables), "det").faults
    assert fault.startswith(message)


def test_damaged_files(tmp_path: Path) -> None:
    """Cut anywhere they are a fault; with other bytes at most that."""
    path = saved(tmp_path / "img1.mat", polygt=cells(row(CURVE, "a"), row(SHORT, "#", EMPTY)))
    whole = path.read_bytes()
    for length in range(128, len(whole) - 8, 211):
        path.write_bytes(whole[:length])
        assert read(path, "det").fault_count == 1
    rng = random.Random(1)
    for _ in range(80):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(128, len(whole))] = rng.choice((0, 1, 5, 14, 15, 200, 255))
        path.write_bytes(damaged)
        assert read(path, "det", "totaltext-mat").objects.count <= 2
    bomb = zlib.compress(b"\x0e\0\0\0\0\0\0\x7f" + b"\0" * (matlab.MAX_UNPACKED + 9), 9)
    path.write_bytes(whole[:128] + np.array([15, len(bomb)], "<u4").tobytes() + bomb)
    (fault,) = read(path, "det").faults
    assert "cut off); expected MATLAB 5, at most 4 MB unpacked" in fault
