"""The reference of EvaLTex: polygons, masks, faults of its input, and random scenes."""

import math
from typing import Any

import numpy as np
import pytest
import reference_evaltex
from evaltex_cases import PLAIN, det, gt, local, objects_of
from reference_evaltex import evaluate
from scenes import random_masks, random_scene

# Polygons -----------------------------------------------------------------------------------------


def test_diamond_with_margin():
    """|x - 10| + |y - 10| ≤ 10 and D = [0, 20] × [0, 10], its upper half.

    Area 200, extent 20, me = 0.1 · 200 / 20 = 1. Gr is a smaller diamond, half of it in D: 1/2. Ge
    is
    |x - 10| + |y - 10| ≤ r = 10 + √2 (mitred corners); its upper half, r², loses 2 above D and 1 on each side of it:
    accuracy (r² - 4) / 200.
    """
    result = evaluate(gt("10,0,20,10,10,20,0,10"), det("0,0,20,10"), {"det_border": 0.1})
    assert local(result, 1) == ("one-to-one", 0.5, ((10 + math.sqrt(2)) ** 2 - 4) / 200)


def test_empty_inner_offset_leaves_the_object():
    """A T of a bar [0, 100] × [0, 1] and a stem [59, 60] × [1, 60]: area 159, extent 100, me = 0.49
    · 1.59 = 0.78.

    Nothing is 0.78 from the outline of strokes 1 wide: Gr = G, of which D, half the bar, holds 50
    of 159.
    """
    result = evaluate(
        gt("0,0,100,0,100,1,60,1,60,60,59,60,59,1,0,1"), det("0,0,50,1"), {"det_border": 0.49}
    )
    assert local(result, 1) == ("one-to-one", 50 / 159, 1)


def test_polygons_turn_regions_off():
    """The merge of two words of one region, the second word written as four
    vertices: 80 of 100, not 1.
    """
    words = gt("0,0,40,10", "60,0,100,0,100,10,60,10")
    assert local(evaluate(words, det("0,0,100,10"), {"det_border": 0}), 1) == (
        "many-to-one",
        1,
        0.8,
    )
    boxes = gt("0,0,40,10", "60,0,40,10")
    polygon = det("0,0,100,0,100,10,0,10")
    assert local(evaluate(boxes, polygon, {"det_border": 0}), 1) == ("many-to-one", 1, 1)


# Masks --------------------------------------------------------------------------------------------


def picture(
    *boxes: tuple[int, int, int, int, int], size: tuple[int, int] = (20, 30)
) -> dict[str, np.ndarray]:
    """A label picture of boxes (id, x, y, width, height)."""
    labels = np.zeros(size, np.uint8)
    for i, x, y, width, height in boxes:
        labels[y : y + height, x : x + width] = i
    return {"img_1": labels}


def mask_texts(gt_ids: str, det_ids: str) -> tuple[str, str]:
    """Texts with objects of the given one-digit IDs; their boxes do not matter."""
    objects = [f'{i},{i},"",f,0,0,1,1' for i in gt_ids]
    return "\n".join(["img_1", "20,30", *objects]), "\n".join(
        ["img_1", *(f'{i},"",0,0,1,1' for i in det_ids)]
    )


def test_mask_with_margin():
    """G = 10 × 6 pixels at (10, 8), D its left 5 columns and 4 more to the left.

    me = 0.25 · 60 / 10 = 1.5, r = floor(2.0) = 2: Gr = 6 × 2 from x = 12, of which D (to x = 14)
    has 3 columns: 1/2. Ge starts at x = 8, D at 6: 7 of D's 9 columns.
    """
    result = evaluate(
        *mask_texts("7", "9"),
        {"det_border": 0.25},
        picture((7, 10, 8, 10, 6)),
        picture((9, 6, 8, 9, 6)),
    )
    assert objects_of(result)["7"] == {
        "id": "7", "match": "one-to-one", "detections": ["9"], "coverage": pytest.approx(1 / 2),
        "coverage_no_split": pytest.approx(1 / 2), "accuracy": pytest.approx(7 / 9), "split": 1,
    }  # fmt: skip


def test_mask_is_eroded_at_the_border_of_the_picture():
    """The same object in the corner, D its first two columns: Gr starts at x
    = 2, so nothing of it is found.
    """
    result = evaluate(
        *mask_texts("7", "9"),
        {"det_border": 0.25},
        picture((7, 0, 0, 10, 6)),
        picture((9, 0, 0, 2, 6)),
    )
    assert objects_of(result)["7"]["coverage"] == 0
    assert objects_of(result)["7"]["match"] == "one-to-one"


def test_mask_that_erosion_removes_stays():
    """4 × 4 pixels, me = 0.49 · 4 = 1.96, r = 2 leaves none: Gr = G, of which
    D has 3 columns of 4.
    """
    result = evaluate(
        *mask_texts("7", "9"),
        {"det_border": 0.49},
        picture((7, 5, 5, 4, 4)),
        picture((9, 5, 5, 3, 4)),
    )
    assert objects_of(result)["7"]["coverage"] == 0.75


def test_masks_of_boxes_score_as_the_boxes():
    """A merge, a split and a false positive on 20 × 30 pixels, without margin and regions."""
    words = [(1, 0, 0, 6, 5), (2, 8, 0, 6, 5), (3, 0, 10, 12, 5)]
    found = [(1, 0, 1, 13, 5), (2, 0, 10, 4, 5), (3, 5, 9, 8, 6), (4, 20, 10, 3, 3)]
    lines = [[",".join(map(str, box[1:])) for box in boxes] for boxes in (words, found)]
    texts = gt(*lines[0]).replace("200,300", "20,30"), det(*lines[1])
    assert evaluate(*texts, PLAIN) == evaluate(*texts, PLAIN, picture(*words), picture(*found))


def test_label_pictures_must_fit_the_texts():
    """An ID without pixels, a label without line, another size."""
    texts, good = mask_texts("7", "9"), picture((9, 1, 1, 2, 2))
    for bad in (
        picture(),
        picture((7, 0, 0, 2, 2), (8, 5, 5, 2, 2)),
        picture((7, 0, 0, 2, 2), size=(20, 31)),
    ):
        with pytest.raises(ValueError, match="label"):
            evaluate(*texts, None, bad, good)


# Input --------------------------------------------------------------------------------------------


def test_transcriptions_with_commas_and_quotes():
    """BOM, CRLF, blank lines, commas and quotes in the transcription,
    decimals, spaces, images in another order.
    """
    gt_text = (
        "\ufeffb.png\r\n\r\n40, 50\r\n\r\n"
        '1,1,"a",f,1,2,3,4",t,0,0,5,5\r\n2,1,"say "hi", now", f , 10,0, 5.5 ,5\r\n'
        "a, the first\r\n40,50\r\n"
    )
    result = evaluate(gt_text, 'a, the first\n\nb.png\n1,"",",10,0,5.5,5\n')
    assert [o["match"] for o in result["images"]["b.png"]["objects"]] == ["ignored", "one-to-one"]
    assert result["scores"]["recall"] == 1
    assert list(result["images"]) == ["b.png", "a, the first"]


@pytest.mark.parametrize(
    ("gt_text", "det_text", "parameters"),
    [
        ("", "", {}),
        ("img_1", "", {}),
        ('1,1,"",f,0,0,9,9', "", {}),
        (gt("0,0,0,9"), "", {}),
        (gt("0,0,9,9,9"), "", {}),
        (gt("0,0,9,9,9,0,0,9"), "", {}),
        (gt() + gt(), "", {}),
        (gt() + '1,1,"",f,0,0,9,9\n' * 2, "", {}),
        (gt(), "img_2", {}),
        (gt(), "", {"det_bodrer": 0.1}),
    ],
)
def test_faults(gt_text: str, det_text: str, parameters: dict[str, Any]):
    with pytest.raises(ValueError):
        evaluate(gt_text, det_text, parameters)


# Random scenes ------------------------------------------------------------------------------------


SEEDS = range(30)


def in_range(scores: dict[str, Any]) -> bool:
    values = [
        v for value in scores.values() for v in (value if isinstance(value, list) else [value])
    ]
    return all(-1e-9 <= value <= 1 + 1e-9 for value in values)


@pytest.mark.slow
@pytest.mark.parametrize("polygons", [False, True])
def test_scenes_hold_every_case(polygons: bool):
    """Every match of objects and detections occurs, scores stay in range, and
    the seed decides the texts.
    """
    gt_matches, det_matches = set(), set()
    for seed in SEEDS:
        texts = random_scene(seed, polygons=polygons)
        assert texts == random_scene(seed, polygons=polygons)
        result = evaluate(*texts)
        assert in_range(result["scores"])
        for image in result["images"].values():
            gt_matches |= {o["match"] for o in image["objects"]}
            det_matches |= {d["match"] for d in image["detections"]}
    matched = {"one-to-one", "one-to-many", "many-to-one", "many-to-many", "ignored"}
    assert gt_matches == matched | {"missed"}
    assert det_matches == matched | {"false-positive"}


@pytest.mark.few_fast(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_exact_rectangles_agree_with_shapely(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Boxes as polygons (which have no regions) score the same to rounding."""
    texts = random_scene(seed, images=2)
    exact = evaluate(*texts, {"region": False})["scores"]
    monkeypatch.setattr(reference_evaltex.Image, "has_polygon", lambda self: True)
    rounded = evaluate(*texts, {"region": False})["scores"]
    for name, value in exact.items():
        assert rounded[name] == pytest.approx(value, abs=1e-9), name


@pytest.mark.few_fast(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_masks_are_well_formed(seed: int):
    """Every ID of the texts has pixels and every label a line (`evaluate`
    checks); boxes are the pixels' extents.
    """
    gt_text, det_text, gt_labels, det_labels = random_masks(seed)
    assert in_range(
        evaluate(gt_text, det_text, {"det_border": 0.1}, gt_labels, det_labels)["scores"]
    )
    for images, labels in ((reference_evaltex.parse(gt_text, True), gt_labels),
                           (reference_evaltex.parse(det_text, False), det_labels)):  # fmt: skip
        for name, image in images.items():
            for o in image.objects:
                ys, xs = np.nonzero(labels[name] == int(o.id))
                extent = (xs.min(), ys.min(), xs.max() - xs.min() + 1, ys.max() - ys.min() + 1)
                assert o.numbers == extent
