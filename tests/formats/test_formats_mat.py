"""Total-Text's .mat files."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import read

from evaltex_cli import evaluate
from evaltex_cli.formats import matlab

CURVE = [[10, 30, 50, 50, 30, 10], [10, 5, 10, 30, 25, 30]]
SHORT = [[100, 120], [10, 10]]


def cells(*rows: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        for j, value in enumerate(row):
            array[k, j] = value
    return array


def row(
    vertices: list[list[int]], text: Any, orientation: Any = "c", kind: Any = np.int16
) -> list[Any]:
    xs, ys = (np.array([values], kind) for values in vertices)
    return ["x:", xs, "y:", ys, text, orientation]


def saved(path: Path, do_compression: bool = False, **variables: Any) -> Path:
    reason = "scipy, which writes the samples, is not installed"
    scipy = pytest.importorskip("scipy", reason=reason)
    scipy.io.savemat(path, variables, do_compression=do_compression)
    return path


def gt_of(path: Path, do_compression: bool = False) -> Path:
    empty = np.zeros((0, 0))
    rows = cells(
        row(CURVE, "Caf\u00e9 \u2019"),
        row(SHORT, "#", empty),
        row(CURVE, "any", "#", np.uint8),
        row(CURVE, empty, "m"),
    )
    return saved(path, do_compression, other=1, polygt=rows)


def test_ground_truth(tmp_path: Path) -> None:
    found = read(gt_of(tmp_path / "poly_gt_img1.mat"))
    assert (found.source.format, found.source.names) == ("totaltext-mat", ["img1"])
    assert (found.faults, found.texts) == ([], ["Caf\u00e9 \u2019", "#", "any", ""])
    assert found.objects.dont_care.tolist() == [False, True, True, False]
    assert found.rings[0] == [list(point) for point in zip(*CURVE, strict=True)]


def test_detections(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "img1.mat", accuInf=cells([np.array(CURVE, float).T], [np.array(CURVE).T + 100])
    )
    found = read(path, "det")
    assert (found.source.names, found.faults) == (["img1"], [])
    assert found.objects.boxes.tolist() == [[10, 5, 50, 30], [110, 105, 150, 130]]
    gt = saved(tmp_path / "poly_gt_img1.mat", polygt=cells(row(CURVE, "a")))
    scores = evaluate(gt, path).scores
    assert scores["recall"] == 1 and scores["precision"] < 1
    none = saved(tmp_path / "img1.mat", accuInf=np.empty((0, 0), dtype=object))
    assert read(none, "det").objects.count == 0


def test_ground_truth_of_the_annotation_tool_and_given_as_detections(tmp_path: Path) -> None:
    path = saved(tmp_path / "img1.mat", gt=cells(row(CURVE, "a"), row(SHORT, "#")))
    assert read(path).objects.dont_care.tolist() == [False, True]
    found = read(path, "det")
    assert (found.faults, found.objects.dont_care.tolist()) == ([], [False, False])


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"other": 1}, "the variables 'other'; expected accuInf"),
        ({"polygt": np.zeros((3, 3))}, "polygt is no cell array; expected one of two dimensions"),
        ({"polygt": cells(["x:", "y:"])}, "polygt[0]: 2 cells; expected 'x:', xs, 'y:', ys"),
        ({"gt": cells(row([[1, 2, 3], [1, 2]], "x"))}, "gt[0]: 3 x and 2 y; expected as many x"),
        ({"polygt": cells(row(SHORT, "x"))}, "polygt[0]: 2 vertices; expected three or more"),
        ({"gt": cells(["x:", "text", "y:", 1, "x"])}, "gt[0][1]: a cell without numbers; expected"),
        (
            {"gt": cells(row([[1, np.nan, 2], [1, 2, 3]], "x", kind=float))},
            "gt[0]: 'nan'; expected",
        ),
        ({"accuInf": cells([np.zeros((2, 3))])}, "accuInf[0]: an array of shape (2, 3); expected"),
    ],
)
def test_faults(tmp_path: Path, variables: dict[str, Any], message: str) -> None:
    (fault,) = read(saved(tmp_path / "img1.mat", **variables), "det").faults
    assert fault.startswith(message)


def element(kind: int, data: bytes, order: str = "<") -> bytes:
    return np.array([kind, len(data)], f"{order}u4").tobytes() + data + b"\0" * (-len(data) % 8)


def array(
    kind: int, shape: tuple[int, ...], content: bytes, name: bytes = b"", order: str = "<"
) -> bytes:
    """A MATLAB 5 array as an element."""
    flags = element(6, np.array([kind, 0], f"{order}u4").tobytes(), order)
    dimensions = element(5, np.array(shape, f"{order}i4").tobytes(), order)
    return element(14, flags + dimensions + element(1, name, order) + content, order)


def mat_file(path: Path, *content: bytes, ending: bytes = b"\0\1IM") -> Path:
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + ending + b"".join(content))
    return path


def test_damaged_files(tmp_path: Path) -> None:
    """Cut anywhere they are a fault; with other bytes, and nested, at most that."""
    path = gt_of(tmp_path / "img1.mat")
    whole = path.read_bytes()
    for length in range(100, len(whole) - 8, 97):
        path.write_bytes(whole[:length])
        assert read(path, "det").fault_count == 1
    rng = random.Random(1)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(124, len(whole))] = rng.choice((0, 1, 5, 14, 15, 200, 255))
        path.write_bytes(damaged)
        assert read(path, "det", "totaltext-mat").objects.count <= 4
    nested = array(6, (1, 1), element(9, bytes(8)))
    for _ in range(2000):
        nested = array(1, (1, 1), nested, b"polygt")
    (fault,) = read(mat_file(path, nested), "det").faults
    assert fault.startswith("a damaged file (") and "expected a whole MATLAB 5" in fault


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    bomb = zlib.compress(b"\x0e\0\0\0\0\0\0\x7f" + b"\0" * (matlab.MAX_UNPACKED + 9), 9)
    path = mat_file(tmp_path / "img1.mat", np.array([15, len(bomb)], "<u4").tobytes() + bomb)
    (fault,) = read(path, "det").faults
    assert fault.startswith(f"more than {matlab.MAX_UNPACKED} bytes, unpacked; expected the annot")


def test_a_file_of_the_other_byte_order(tmp_path: Path) -> None:
    points = np.array([[1, 9, 9], [1, 1, 5]], ">f8")
    polygon = array(6, (3, 2), element(9, points.tobytes(), ">"), order=">")
    path = mat_file(
        tmp_path / "img1.mat", array(1, (1, 1), polygon, b"accuInf", ">"), ending=b"\1\0MI"
    )
    assert read(path, "det").objects.boxes.tolist() == [[1, 1, 9, 5]]


def test_packed_variables(tmp_path: Path) -> None:
    path = gt_of(tmp_path / "img1.mat", do_compression=True)
    assert read(path).texts == ["Caf\u00e9 \u2019", "#", "any", ""]
