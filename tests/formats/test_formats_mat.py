"""Total-Text's .mat files."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaltex_cli import InputError, evaluate
from evaltex_cli import old_formats as formats
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import ReadImages, Source
from evaltex_cli.old_formats.documents import total_text_mat

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


def saved(path: Path, **variables: Any) -> Path:
    pytest.importorskip(
        "scipy", reason="scipy, which writes the samples, is not installed"
    ).io.savemat(path, variables)
    return path


def gt_of(path: Path) -> Path:
    empty = np.zeros((0, 0))
    rows = cells(
        row(CURVE, "Café"),
        row(SHORT, "#", empty),
        row(CURVE, "any", "#", np.uint8),
        row(CURVE, empty, "m"),
    )
    return saved(path, polygt=rows)


def read(path: Path, side: Any = "gt") -> tuple[Source, ReadImages, list[str]]:
    log = FaultLog()
    source = formats.open_source(path, side, log)
    images = source.read(np.arange(len(source.names)))
    log.extend(images.faults)
    return source, images, [str(fault) for fault in log.shown]


def test_ground_truth(tmp_path: Path) -> None:
    source, images, faults = read(gt_of(tmp_path / "poly_gt_img1.mat"))
    assert (source.format, source.names, faults) == ("totaltext-mat", ["img1"], [])
    assert list(images.objects.texts) == ["Café", "#", "any", ""]
    assert images.objects.dont_care.tolist() == [False, True, True, False]
    assert images.objects.outlines.vertices[:6].tolist() == [
        list(point) for point in zip(*CURVE, strict=True)
    ]
    assert images.repairs.zero_area == 1


def test_detections(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "img1.mat", accuInf=cells([np.array(CURVE, float).T], [np.array(CURVE).T + 100])
    )
    source, images, faults = read(path, "det")
    assert (source.names, faults) == (["img1"], [])
    assert images.objects.boxes.tolist() == [[10, 5, 50, 30], [110, 105, 150, 130]]
    gt = saved(tmp_path / "poly_gt_img1.mat", polygt=cells(row(CURVE, "a")))
    scores = evaluate(gt, path).scores
    assert scores["recall"] == 1 and scores["precision"] < 1
    none = saved(tmp_path / "img1.mat", accuInf=np.empty((0, 0), dtype=object))
    assert read(none, "det")[1].objects.count == 0


def test_ground_truth_of_the_annotation_tool_and_given_as_detections(tmp_path: Path) -> None:
    rows = cells(row(CURVE, "a"), row(SHORT, "#"))
    path = saved(tmp_path / "img1.mat", gt=rows)
    assert read(path)[1].objects.dont_care.tolist() == [False, True]
    _, images, faults = read(path, "det")
    assert (faults, images.objects.dont_care.tolist()) == ([], [False, False])
    assert evaluate(path, path, "iou").scores["recall"] == 1


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
        (
            {"polygt": np.zeros((3, 3))},
            "img1.mat: polygt: polygt of type float64; expected a cell array",
        ),
        (
            {"polygt": cells(["x:", "y:"])},
            "img1.mat: polygt[0]: 2 cells; expected 'x:', xs, 'y:', ys",
        ),
        (
            {"polygt": cells(row([[1, 2, 3], [1, 2]], "x"))},
            "img1.mat: polygt[0]: 3 x and 2 y; expected as many x as y",
        ),
        (
            {"polygt": cells(row(SHORT, "x"))},
            "img1.mat: polygt[0]: 2 vertices; expected three or more",
        ),
        (
            {"polygt": cells(row(CURVE, "x"), ["x:", "text", "y:", 1, "x", "c"])},
            "img1.mat: polygt[1][1]: a cell of type <U4; expected numbers",
        ),
        (
            {
                "polygt": cells(
                    ["x:", np.array([1, np.nan, 2]), "y:", np.array([1, 2, 3]), "x", "c"]
                )
            },
            "img1.mat: polygt[0][1]: a number that is not finite or beyond 1e12",
        ),
        (
            {"accuInf": cells([np.zeros((2, 3))])},
            "img1.mat: accuInf[0]: an array of shape (2, 3); expected rows x, y",
        ),
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
    for data in (
        whole[:300],
        whole[:140],
        whole[:128] + b"\xff" * 400,
        whole[:200] + b"\0\0\xff\xff" + whole[204:],
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"img1\.mat: "):
            evaluate(path, path)
    path.write_bytes(whole)
    monkeypatch.setattr(total_text_mat, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="expected at most 100 of one image"):
        evaluate(path, path)


def test_without_scipy_one_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gt_of(tmp_path / "img1.mat")
    monkeypatch.setattr(total_text_mat, "find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        evaluate(path, path)
    expected = f"{path}: .mat files need the package scipy; install it (pip install 'evaltex[mat]')"
    assert str(caught.value) == expected


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


EIGHT = element(9, b"\0" * 8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            array(6, (1, 1), element(8, b"12345678"), b"polygt"),
            r"damaged file \(an array without numbers",
        ),
        (
            array(6, (1, 1), array(6, (1, 1), EIGHT), b"polygt"),
            r"damaged file \(an array without numbers",
        ),
        (array(0x806, (1, 1), EIGHT, b"polygt"), r"damaged file \(an array of kind 2054"),
        (array(2, (1, 1), EIGHT, b"polygt"), r"damaged file \(an array of kind 2,"),
        (
            array(1, (20_000, 20_000), b"", b"polygt"),
            r"damaged file \(an array of dimensions \(20000, 20000\)",
        ),
        (
            array(1, (1, 2), array(6, (1, 1), EIGHT), b"polygt"),
            r"damaged file \(a cell array without 2 cells",
        ),
        (
            array(1, (1, 1), array(6, (1, 1), EIGHT) * 2, b"polygt"),
            r"damaged file \(a cell array without 1 cells",
        ),
        (array(1, (1, 1), EIGHT, b"polygt"), r"damaged file \(a cell array without 1 cells"),
        (array(1, (1, 1), array(1, (1, 1), element(14, b"1234")), b"polygt"), r"damaged file"),
        (array(6, (2, 2), EIGHT, b"polygt"), r"damaged file \(cannot reshape"),
        (element(14, b""), "the variables ''; expected polygt"),
        (element(9, b""), r"damaged file \(an element of type 9 where"),
    ],
)
def test_what_would_crash_scipy_or_fill_the_memory_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = mat_file(tmp_path / "img1.mat", content)
    with pytest.raises(InputError, match=rf"img1\.mat: (a )?{message}"):
        evaluate(path, path)


def test_a_file_of_the_other_byte_order(tmp_path: Path) -> None:
    points = np.array([[1, 9, 9], [1, 1, 5]], ">f8")
    polygon = array(6, (3, 2), element(9, points.tobytes(), ">"), order=">")
    path = mat_file(
        tmp_path / "img1.mat", array(1, (1, 1), polygon, b"accuInf", ">"), ending=b"\1\0MI"
    )
    assert read(path, "det")[1].objects.boxes.tolist() == [[1, 1, 9, 5]]


@pytest.mark.parametrize("packed", [False, True])
def test_packed_and_plain_variables(tmp_path: Path, packed: bool) -> None:
    io = pytest.importorskip("scipy", reason="scipy, which writes the samples, is not installed").io
    path = tmp_path / "img1.mat"
    io.savemat(
        path, {"other": 1, "polygt": cells(row(CURVE, "Caf\u00e9 \u2019"))}, do_compression=packed
    )
    assert list(read(path)[1].objects.texts) == ["Caf\u00e9 \u2019"]


@pytest.mark.slow
def test_what_unpacks_to_too_much_or_nests_too_deep_is_refused(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(total_text_mat.MAX_DEPTH + 2):
        deep = cells([deep])
    path = saved(tmp_path / "img1.mat", polygt=deep)
    with pytest.raises(InputError, match="nested deeper than 20"):
        evaluate(path, path)
    bomb = zlib.compress(b"\x0e\0\0\0\0\0\0\x7f" + b"\0" * (total_text_mat.MAX_UNPACKED + 9), 9)
    mat_file(path, np.array([15, len(bomb)], "<u4").tobytes() + bomb)
    with pytest.raises(
        InputError, match=f"more than {total_text_mat.MAX_UNPACKED} bytes, unpacked"
    ):
        evaluate(path, path)
