"""`evaluate`: one protocol or several, paths or arrays, and what is said of
arrays that are no objects.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
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
    assert evaluate(GT, DET, "iou", iou=0.9).scores == strict
    assert (
        evaluate(GT, DET, ["iou", "evaltex"], params={"iou": {"iou": 0.9}})["iou"].scores == strict
    )
    assert evaluate(GT, DET, "iou", params={"iou": {"iou": 0.9}}).scores == strict
    for params, message in (
        ({"iou": 0.9}, r"give params=\{'iou': \{'iou': \.\.\."),
        ({"pq": {"matches": 1}}, r"pq is not a protocol of this run \(iou, evaltex\)"),
    ):
        with pytest.raises(ConfigError, match=message):
            evaluate(GT, DET, ["iou", "evaltex"], params=params)


def test_what_a_type_checker_reads_runs() -> None:
    assert typed_use.use() == 1


@pytest.mark.parametrize(
    ("protocol", "options", "message"),
    [
        ("iuo", {}, r"unknown protocol 'iuo' \(did you mean 'iou'\?\)"),
        ("icdar2015", {}, "is a preset, not a protocol; give it as preset='icdar2015'"),
        ([], {}, "expected a name, a list of names, or 'all'"),
        ("iou", {"gt_fromat": "coco"}, r"'gt_fromat' \(did you mean 'gt_format'\?\)"),
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
        ([BOXES], [[1, 2, 3, 4]], r"det, image '0': object 0: shape \(\); expected \(4,\)"),
        ([np.zeros((2, 5))], [BOXES], r"shape \(5,\); .*image_objects\(...\) takes confidences"),
        ([np.zeros((2, 4, 4), np.uint8)], [BOXES], r"shape \(4, 4\); .*masks are of bool"),
        ([[[5, 0, 1, 1]]], [BOXES], r"a box \[5.0, .*expected .*corners, not width and height"),
        ([None], [BOXES], "image '0': NoneType; expected"),
        ({"a": BOXES}, {"b": BOXES}, "image 'b' is not in the ground truth"),
        (GT, [BOXES], "images without names, and the other side is a file"),
        (7, [BOXES], "gt: int; expected a path, one array per image"),
        ([], [], "gt: no images; expected at least one"),
        ([masks([0, 0, 5, 5])], [BOXES], "image '0': boxes or polygons, and other objects are"),
        ([masks([0, 0, 5, 5]), BOXES], [[], []], "image '1': boxes or polygons, and other"),
        ({"a": masks([0, 0, 5, 5])}, DET, "one side is a file, the other has masks"),
        ([masks([0, 0, 5, 5])], [masks([0, 0, 5, 5])[:, :40]], r"\(80, 120\) and \(40, 120\)"),
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
    with pytest.warns(EvaltexWarning, match="detections: 1 invalid polygon was repaired") as issued:
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
    first = objects.loc[0, ["side", "id", "match", "text", "x0"]].tolist()
    assert first == ["gt", 1, "missed", "14", 169.0]
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


def test_images_that_have_names_pair_by_them() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is in the extra `tables`")
    one, two = [[0, 0, 9, 9]], [[50, 0, 59, 9]]
    gt, det = pandas.Series({"a": one, "b": two}), pandas.Series({"b": two, "a": one})
    assert evaluate(gt, det, "iou").scores["hmean"] == 1.0
    for images in ({1: BOXES, "1": BOXES}, pandas.Series([BOXES, BOXES], ["1", "1"])):
        with pytest.raises(InputError, match="gt: name '1' is given twice; expected once"):
            evaluate(images, {"1": BOXES}, "iou")


def test_sizes_pair_as_images_do() -> None:
    size, two = (50, 150), {0: BOXES, 1: BOXES}
    for sizes in ({0: size, 1: size}, {"0": size}, [size, size], iter([size, size])):
        assert evaluate(two, two, "iou", sizes=sizes).scores["hmean"] == 1.0
    for wrong in ({"2": size}, [size, size, size]):
        with pytest.raises(InputError, match="sizes of images that are not there: '2'"):
            evaluate(two, two, "iou", sizes=wrong)
