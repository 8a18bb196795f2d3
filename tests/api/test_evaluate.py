"""`evaluate`: one protocol or several, paths or arrays, and what is said of
arrays that are no objects.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typed_use
from limits import HANG_SECONDS

from evaltex_cli import (
    ConfigError,
    EvaltexWarning,
    Evaluation,
    Evaluations,
    InputError,
    evaluate,
    image_objects,
)
from evaltex_cli.protocols import PROTOCOLS

WORDS = Path(__file__).parents[2] / "examples" / "words"
GT, DET = WORDS / "gt.txt", WORDS / "det.txt"
BOXES = [[0, 0, 100, 20], [0, 40, 60, 60]]
QUADS = [[0, 0, 100, 0, 100, 20, 0, 20], [0, 40, 60, 40, 60, 60, 0, 60]]


def masks(*boxes: list[int]) -> Any:
    found = np.zeros((len(boxes), 80, 120), bool)
    for mask, (x0, y0, x1, y1) in zip(found, boxes, strict=True):
        mask[y0:y1, x0:x1] = True
    return found


def test_one_name_gives_one_result_and_several_a_mapping() -> None:
    one = evaluate(GT, DET, "IoU")
    assert isinstance(one, Evaluation)
    several = evaluate(GT, DET, ["iou", "deteval"])
    assert isinstance(several, Evaluations)
    assert list(several) == ["iou", "deteval"]
    assert several["iou"].scores == one.scores
    assert list(evaluate(GT, DET, "all")) == list(PROTOCOLS)
    assert isinstance(evaluate(GT, DET, ["iou"]), Evaluations)
    assert evaluate(GT, DET).protocol.name == "evaltex"


def test_parameters_of_one_and_of_several() -> None:
    """Protocol and parameter may have one name, as iou's."""
    strict = evaluate(GT, DET, "iou", params={"iou": 0.9}).scores
    assert strict != evaluate(GT, DET, "iou").scores
    assert evaluate(GT, DET, "iou", iou=0.9).scores == strict  # type: ignore[call-overload]
    assert (
        evaluate(GT, DET, ["iou", "evaltex"], params={"iou": {"iou": 0.9}})["iou"].scores == strict
    )
    assert evaluate(GT, DET, "iou", params={"iou": {"iou": 0.9}}).scores == strict
    for params, message in (
        ({"iou": 0.9}, r"give params=\{'iou': \{'iou': \.\.\."),
        ({"pq": {}}, "params of 'pq', which is not among the protocols iou, evaltex"),
    ):
        with pytest.raises(ConfigError, match=message):
            evaluate(GT, DET, ["iou", "evaltex"], params=params)


def test_what_a_type_checker_reads_runs() -> None:
    assert typed_use.use() == 1


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("iou", {"gt_format_": "coco"}, r"did you mean 'gt_format'"),
        ("iou", {"thresholds": {}}, "unknown option 'thresholds'; parameters of iou: iou, "),
        ("iuo", {}, r"unknown protocol 'iuo' \(did you mean 'iou'\?\)"),
        ("icdar2015", {}, "is a preset, not a protocol; give it as preset='icdar2015'"),
        ([], {}, "expected a name, a list of names, or 'all'"),
        (
            "iou",
            {"gt_fromat": "coco"},
            r"unknown option 'gt_fromat' \(did you mean 'gt_format'\?\)",
        ),
        ("iou", {"jobs": -1}, "jobs='-1'; expected a number of processes"),
        (
            "iou",
            {"preset": "ctw1500", "invalid": "drop"},
            "invalid=drop: the preset ctw1500 has",
        ),
    ],
)
def test_what_is_asked_for_is_checked(protocol: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        evaluate(GT, DET, protocol, **options)


@pytest.mark.parametrize(
    "form",
    [
        np.array(BOXES),
        np.array(BOXES, np.float32),
        np.array(QUADS),
        np.array(QUADS).reshape(-1, 4, 2),
        [np.array(one).reshape(-1, 2) for one in QUADS],
        [BOXES[0], np.array(QUADS[1]).reshape(-1, 2).tolist()],
        [*QUADS[:1], QUADS[1] + [0, 50, 0, 45]],
        image_objects(BOXES),
    ],
    ids=["boxes", "float32", "flat", "quads", "polygons", "both", "flat polygons", "objects"],
)
def test_forms_of_the_same_objects_score_alike(form: Any) -> None:
    found = evaluate([BOXES, []], [form, np.zeros((0, 4))], "iou")
    assert (found.scores["recall"], found.scores["precision"]) == (1, 1)
    assert (found.gt.images, found.det.objects, found.det.empty) == (2, 2, 1)


def test_masks_are_counted_in_pixels() -> None:
    """Two words of which the second is found by a half, as label pictures would be."""
    gt = masks([0, 0, 100, 20], [0, 40, 60, 60])
    found = evaluate({"a": gt}, {"a": masks([0, 0, 100, 20], [0, 40, 30, 60])}, ["evaltex", "iou"])
    assert found["iou"].scores["recall"] == 0.5
    assert found["evaltex"].scores["precision"] == 1
    assert "|masks:yes|" in found["evaltex"].signature
    labels = gt[0] * 7 + gt[1] * 9
    as_labels = image_objects(masks=labels)
    assert as_labels.ids.tolist() == [7, 9]
    assert as_labels.boxes.tolist() == [[0, 0, 100, 20], [0, 40, 60, 60]]
    same = evaluate(
        {"a": as_labels}, {"a": masks([0, 0, 100, 20], [0, 40, 30, 60])}, ["evaltex", "iou"]
    )
    assert [one.scores for one in same.values()] == [one.scores for one in found.values()]
    every = evaluate([gt], [gt], "all")
    assert set(every.left_out) == {"iou-crw", "cleval", "tedeval", "popeval"}
    assert every["evaltex"].scores["recall"] == 1


@pytest.mark.parametrize(
    ("gt", "det", "message"),
    [
        ([BOXES], [BOXES, BOXES], "1 image in gt, 2 in det; expected as many"),
        (
            [BOXES],
            [[1, 2, 3, 4]],
            r"det, image '0': an array of shape \(4,\), .*expected \(n, 4\) boxes",
        ),
        (
            [np.zeros((2, 5))],
            [BOXES],
            r"gt, image '0': an array of shape \(2, 5\).*which takes confidences too",
        ),
        (
            [np.zeros((2, 4, 4), np.uint8)],
            [BOXES],
            r"shape \(2, 4, 4\), type uint8; expected .* masks of bool",
        ),
        (
            [[[5, 0, 1, 1]]],
            [BOXES],
            r"object 0: a box \[5.0, 0.0, 1.0, 1.0\]; expected .*corners, not width and height",
        ),
        ([[[0, 0, 1, float("nan")]]], [BOXES], "holds nan; expected finite"),
        ([["a"]], [BOXES], "object 0: not an array of numbers"),
        ([None], [BOXES], "image '0': "),
        ({"a": BOXES}, {"b": BOXES}, "image 'b' is not in the ground truth"),
        (GT, [BOXES], "det: images without names, and the other side is a file"),
        (7, [BOXES], "gt: int; expected a path, one array per image"),
        ([masks([0, 0, 5, 5])], [BOXES], "one side has masks, the other boxes or polygons"),
        (
            [masks([0, 0, 5, 5])],
            [masks([0, 0, 5, 5])[:, :40]],
            r"masks of shapes \(80, 120\) and \(40, 120\)",
        ),
        ([masks([0, 0, 5, 5], [0, 0, 9, 9])], [[]], "mask 1 shares pixels"),
        ([masks([0, 0, 0, 0])], [[]], "mask 0 has no pixel"),
        ([masks([0, 0, 5, 5]), BOXES], [[], []], "some images have masks, others boxes"),
    ],
    ids=str,
)
def test_what_is_no_objects_is_refused(gt: Any, det: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(gt, det, "iou")


def test_images_pair_by_name_and_options_apply_to_arrays() -> None:
    gt = {"b": image_objects(BOXES, dont_care=[False, True], texts=["one", "###"]), "a": BOXES}
    sure = image_objects(BOXES, confidences=[0.9, 0.1])
    found = evaluate(gt, {"a": sure, "b": BOXES}, "iou", min_confidence=0.5, per_image=True)
    assert [image.name for image in found.images] == ["b", "a"]
    assert (found.det.objects, found.det.unconfident) == (3, 1)
    assert [one.text for one in found.images[0].objects] == ["one", "###"]
    assert found.images[1].detections[0].box == (0, 0, 100, 20)
    sized = evaluate(
        [image_objects(BOXES, texts=["a", "b"])],
        [BOXES],
        "cleval",
        scale_bins="0,0.5,1",
        sizes=[(80, 120)],
    )
    assert len(sized.scores["scale_wise"]) == 2


def test_warnings_are_issued_and_kept() -> None:
    bow_tie = [[[0, 0], [10, 10], [10, 0], [0, 10]]]
    with pytest.warns(EvaltexWarning, match="detections: 1 invalid polygon repaired") as issued:
        found = evaluate([BOXES], [bow_tie], "iou")
    assert [str(one.message) for one in issued] == found.warnings
    assert issued[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate([BOXES], [BOXES], "iou")
    with pytest.raises(InputError, match=r"det: image '0', object 1: .*a valid polygon"):
        evaluate([BOXES], [bow_tie], "iou", invalid="error")


def test_a_result_is_a_dictionary_that_json_can_write() -> None:
    found = evaluate(GT, DET, "all", per_image=True)
    loaded = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert loaded["iou"]["scores"] == {
        name: pytest.approx(value) for name, value in found["iou"].scores.items()
    }
    assert loaded["iou"]["images"][0]["objects"][0]["match"] == "missed"


def test_tables() -> None:
    pytest.importorskip("pandas", reason="pandas is in the extra `tables`")
    found = evaluate(GT, DET, ["iou", "evaltex"], per_image=True)
    scores = found["iou"].to_pandas().set_index("score")["value"]
    assert scores["recall"] == found["iou"].scores["recall"]
    assert list(found["iou"].to_pandas("images")["image"]) == [
        image.name for image in found["iou"].images
    ]
    objects = found["iou"].to_pandas("objects")
    assert len(objects) == found["iou"].gt.objects + found["iou"].det.objects
    assert objects.loc[0, ["side", "id", "match", "text", "x0"]].tolist() == [
        "gt",
        1,
        "missed",
        "14",
        169.0,
    ]
    assert set(found.to_pandas("objects")["protocol"]) == {"iou", "evaltex"}


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path) -> None:
    code = (
        "from evaltex_cli import evaluate\n"
        "if __name__ == '__main__':\n"
        f"    one, two = (evaluate({str(GT)!r}, {str(DET)!r}, 'all', jobs=jobs, per_image=True) for"
        " jobs in (1, 2))\n"
        "    assert one.to_dict() == two.to_dict()\n"
        "    boxes = [[[0, 0, 9, 9]]] * 3\n"
        "    assert evaluate(boxes, boxes, 'iou', jobs=2).scores['recall'] == 1\n"
    )
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "script.py"], check=True, timeout=HANG_SECONDS)


def test_the_package_itself_loads_nothing() -> None:
    code = (
        "import sys, evaltex_cli; assert 'evaluate' in dir(evaltex_cli)\n"
        "loaded = [name for name in sys.modules if name.startswith('evaltex_cli.')]\n"
        "assert loaded == ['evaltex_cli.version'], loaded; assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Named:
    """What gives names as a mapping does and is none, such as a Series of pandas."""

    def __init__(self, *items: tuple[Any, Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._items)

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._items


def test_images_that_have_names_pair_by_them() -> None:
    one, two = [[0, 0, 9, 9]], [[50, 0, 59, 9]]
    gt, det = Named(("a", one), ("b", two)), Named(("b", two), ("a", one))
    assert evaluate(gt, det, "iou").scores["hmean"] == 1.0
    for images in ({1: BOXES, "1": BOXES}, Named(("1", BOXES), ("1", BOXES))):
        with pytest.raises(InputError, match="gt: name '1' is given twice; expected once"):
            evaluate(images, {"1": BOXES}, "iou")


@pytest.mark.parametrize("nothing", [[], {}, iter(())], ids=["list", "dict", "iterator"])
def test_no_images_are_an_error(nothing: Any) -> None:
    with pytest.raises(InputError, match="gt: no images; expected at least one"):
        evaluate(nothing, [], "iou")


def test_sizes_are_one_for_each_image() -> None:
    size, two = (50, 150), {0: BOXES, 1: BOXES}
    for sizes in ({0: size, 1: size}, {"0": size}, [size, size], iter([size, size])):
        assert evaluate(two, two, "iou", sizes=sizes).scores["hmean"] == 1.0
    for wrong, message in (
        ([size], "1 sizes for 2 images; expected one for each"),
        (itertools.repeat(size), "3 sizes for 2 images"),
        (5, r"sizes: '5'; expected \(height, width\) of each image"),
        ({"c": size}, "sizes of images that are not there: 'c'"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(two, two, "iou", sizes=wrong)  # type: ignore[call-overload]


def masked(values: Any) -> Any:
    """A masked array whose last value is hidden."""
    array = np.array(values)
    hidden = np.zeros(array.shape, bool)
    hidden.flat[-1] = True
    return np.ma.masked_array(array, hidden)


def test_what_a_masked_array_hides_is_no_data() -> None:
    for make in (
        lambda: evaluate([masked([[0.0, 0, 9, 9]])], [[]], "iou"),
        lambda: evaluate([[masked([0.0, 0, 9, 9]), [(0, 0), (9, 0), (9, 9)]]], [[]], "iou"),
        lambda: image_objects(masked([[0.0, 0, 9, 9]])),
        lambda: image_objects([[0, 0, 9, 9]], confidences=masked([0.5])),
        lambda: image_objects([[0, 0, 9, 9]], dont_care=masked([True])),
        lambda: image_objects(masks=masked([[1, 0]])),
        lambda: image_objects([masked([0.0, 0, 9, 9])]),
        lambda: evaluate([[masked([(0.0, 0), (9, 0), (9, 9)])]], [[]], "iou"),
        lambda: evaluate([BOXES], [BOXES], "iou", sizes=[masked([9, 9])]),
    ):
        with pytest.raises(InputError, match="a masked array with masked values; expected only"):
            make()
    nothing_hidden = np.ma.masked_array([[0.0, 0, 9, 9]], [[False] * 4])
    assert image_objects(nothing_hidden).count == 1


def test_dates_and_complex_numbers_are_not_coordinates() -> None:
    """Numpy makes numbers of them."""
    dates, real = np.array([["2020-01-01"] * 4], "M8[D]"), np.array([[0.0, 0, 9, 9]])
    for wrong in (dates, dates - dates, real + 1j, np.array([["0", "0", "9", "9"]])):
        for make in (
            lambda one=wrong: evaluate([one], [BOXES], "iou"),
            lambda one=wrong: image_objects(one),
            lambda one=wrong: image_objects(polygons=[one.reshape(2, 2)[[0, 1, 1]]]),
            lambda one=wrong: image_objects([*BOXES, *BOXES], confidences=one[0]),
            lambda one=wrong: evaluate([BOXES], [BOXES], "iou", sizes=[one[0, :2]]),
        ):
            with pytest.raises(InputError, match="not an array of numbers"):
                make()
