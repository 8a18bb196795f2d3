"""Total-Text's .mat files."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaltex_cli import InputError, evaluate, formats
from evaltex_cli.convert.conversion import convert
from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.documents import matlab5, total_text_mat
from evaltex_cli.records import ReadImages

CURVE = [[10, 30, 50, 50, 30, 10], [10, 5, 10, 30, 25, 30]]
SHORT = [[100, 120], [10, 10]]


def cells(*rows: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        for j, value in enumerate(row):
            array[k, j] = value
    return array


def row(vertices: list[list[int]], text: Any, orientation: Any = "c", kind: Any = np.int16) -> list[Any]:
    xs, ys = (np.array([values], kind) for values in vertices)
    return ["x:", xs, "y:", ys, text, orientation]


def saved(path: Path, **variables: Any) -> Path:
    pytest.importorskip("scipy", reason="scipy, which writes the samples, is not installed").io.savemat(path, variables)
    return path


def gt_of(path: Path) -> Path:
    empty = np.zeros((0, 0))
    rows = cells(row(CURVE, "Café"), row(SHORT, "#", empty), row(CURVE, "any", "#", np.uint8), row(CURVE, empty, "m"))
    return saved(path, polygt=rows)


def read(path: Path, side: Any = "gt") -> tuple[Source, ReadImages, list[str]]:
    log = FaultLog()
    source = formats.open_source(path, side, log)
    return source, source.read(np.arange(len(source.names)), log), [str(fault) for fault in log.shown]


def test_ground_truth(tmp_path: Path) -> None:
    source, images, faults = read(gt_of(tmp_path / "poly_gt_img1.mat"))
    assert (source.format, source.names, faults) == ("totaltext-mat", ["img1"], [])
    assert list(images.objects.texts) == ["Café", "#", "any", ""]
    assert images.objects.dont_care.tolist() == [False, True, True, False]
    assert images.objects.outlines.vertices[:6].tolist() == [list(point) for point in zip(*CURVE, strict=True)]
    assert images.mended.zero_area == 1


def test_detections(tmp_path: Path) -> None:
    path = saved(tmp_path / "img1.mat", accuInf=cells([np.array(CURVE, float).T], [np.array(CURVE).T + 100]))
    source, images, faults = read(path, "det")
    assert (source.names, faults) == (["img1"], [])
    assert images.objects.boxes.tolist() == [[10, 5, 50, 30], [110, 105, 150, 130]]
    gt = saved(tmp_path / "poly_gt_img1.mat", polygt=cells(row(CURVE, "a")))
    scores = evaluate(gt, path).scores
    assert scores["recall"] == 1 and scores["precision"] < 1
    none = saved(tmp_path / "img1.mat", accuInf=np.empty((0, 0), dtype=object))
    assert read(none, "det")[1].objects.count == 0


def test_folder_evaluated_against_itself_and_converted(tmp_path: Path) -> None:
    folder = tmp_path / "gt"
    folder.mkdir()
    gt_of(folder / "poly_gt_img10.mat")
    saved(folder / "poly_gt_img2.mat", polygt=cells(row([[1, 9, 9], [1, 1, 5]], "x")))
    source, images, faults = read(folder)
    assert (source.format, source.names, faults) == ("totaltext-mat", ["img2", "img10"], [])
    assert images.objects.offsets.tolist() == [0, 1, 5]
    done = convert(folder, tmp_path / "gt.txt", "gt")
    assert (done.images, done.objects) == (2, 5)
    det = saved(tmp_path / "img2.mat", polygt=cells(row([[1, 9, 9], [1, 1, 5]], "x")))
    scores = evaluate(det, det).scores
    assert scores["recall"] == scores["precision"] == 1


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"other": 1}, "img1.mat: the variables 'other'; expected polygt"),
        ({"polygt": np.zeros((3, 3))}, "img1.mat: polygt: polygt of type float64; expected a cell array"),
        ({"polygt": cells(["x:", "y:"])}, "img1.mat: polygt[0]: 2 cells; expected 'x:', xs, 'y:', ys"),
        ({"polygt": cells(row([[1, 2, 3], [1, 2]], "x"))}, "img1.mat: polygt[0]: 3 x and 2 y; expected as many x as y"),
        ({"polygt": cells(row(SHORT, "x"))}, "img1.mat: polygt[0]: 2 vertices; expected three or more"),
        (
            {"polygt": cells(row(CURVE, "x"), ["x:", "text", "y:", 1, "x", "c"])},
            "img1.mat: polygt[1][1]: a cell of type <U4; expected numbers",
        ),
        (
            {"polygt": cells(["x:", np.array([1, np.nan, 2]), "y:", np.array([1, 2, 3]), "x", "c"])},
            "img1.mat: polygt[0][1]: a number that is not finite or beyond 1e12",
        ),
        ({"accuInf": cells([np.zeros((2, 3))])}, "img1.mat: accuInf[0]: an array of shape (2, 3); expected rows x, y"),
    ],
)
def test_faults(tmp_path: Path, variables: dict[str, Any], message: str) -> None:
    path = saved(tmp_path / "img1.mat", **variables)
    with pytest.raises(InputError) as caught:
        evaluate(path, path)
    assert message in str(caught.value)


def test_damaged_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gt_of(tmp_path / "img1.mat").read_bytes()
    path = tmp_path / "img1.mat"
    for data in (whole[:300], whole[:140], whole[:128] + b"\xff" * 400, whole[:200] + b"\0\0\xff\xff" + whole[204:]):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"img1\.mat: "):
            evaluate(path, path)
    path.write_bytes(whole)
    monkeypatch.setattr(total_text_mat, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="larger than 100 bytes"):
        evaluate(path, path)


def test_a_text_of_more_rows_than_characters_is_damaged(tmp_path: Path) -> None:
    """Found by fuzzing: millions of rows of nothing took seconds, and the memory of a list of them."""
    path = saved(tmp_path / "a.mat", text=np.array(["ab", "cd"]))
    assert [list(value) for value in matlab5.load(path.read_bytes()).values()] == [["ab", "cd"]]
    rows = np.array([2, 2], "<i4").tobytes()
    assert path.read_bytes().count(rows) == 1
    damaged = path.read_bytes().replace(rows, np.array([50_000_000, 0], "<i4").tobytes())
    with pytest.raises(FormatError, match=r"damaged file \(4 characters for dimensions \(50000000, 0\)\)"):
        matlab5.load(damaged)


@pytest.mark.parametrize("packed", [False, True])
def test_variables_are_what_scipy_says(tmp_path: Path, packed: bool) -> None:
    io = pytest.importorskip("scipy", reason="scipy, which writes the samples, is not installed").io
    rng = np.random.default_rng(1)
    numbers = {kind: (rng.random((3, 4)) * 100).astype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "f4", "f8")}
    values = {
        **numbers,
        "text": "Caf\u00e9 \u2019",
        "rows": np.array(["one", "two"]),
        "none": np.zeros((0, 0)),
        "cells": cells([numbers["f8"], "x", cells(["deep", 1])]),
    }
    path = tmp_path / "a.mat"
    io.savemat(path, values, do_compression=packed)
    found, expected = matlab5.load(path.read_bytes()), io.loadmat(path)
    assert set(found) == set(values)

    def assert_same(one: Any, other: Any) -> None:
        assert one.shape == other.shape
        if one.dtype == object:
            for a, b in zip(one.ravel(), other.ravel(), strict=True):
                assert_same(a, b)
        else:
            assert one.tolist() == other.tolist()

    for name in values:
        assert_same(found[name], expected[name])


def test_what_unpacks_to_too_much_or_nests_too_deep_is_refused(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(matlab5.MAX_DEPTH + 2):
        deep = cells([deep])
    path = saved(tmp_path / "img1.mat", polygt=deep)
    with pytest.raises(InputError, match="nested deeper than 20"):
        evaluate(path, path)
    bomb = zlib.compress(b"\x0e\0\0\0\0\0\0\x7f" + b"\0" * (matlab5.MAX_BYTES + 9), 9)
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + np.array([15, len(bomb)], "<u4").tobytes() + bomb)
    with pytest.raises(InputError, match=f"more than {matlab5.MAX_BYTES} bytes, unpacked"):
        evaluate(path, path)
