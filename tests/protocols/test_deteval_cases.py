"""DetEval: single cases, images without objects, and shapes other than boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deteval_scenes import WORD, Box, Scene, accumulated

from evaltex_cli import Accumulator, evaluate, image_objects

# Single cases -------------------------------------------------------------------------------------


TINY: dict[str, tuple[list[Box], list[Box], list[tuple[float, float]]]] = {
    "80 % of the width": ([WORD], [(0, 0, 79, 19)], [(1, 1), (1, 1), (1, 1)]),
    "2.5 times as wide": ([WORD], [(0, 0, 249, 19)], [(1, 1), (1, 1), (1, 1)]),
    "two halves": ([WORD], [(0, 0, 49, 19), (50, 0, 99, 19)], [(0.8, 0.8)] * 3),
    "and a false alarm": (
        [WORD],
        [(0, 0, 49, 19), (50, 0, 99, 19), (500, 500, 520, 520)],
        [(0.8, 1.6 / 3)] * 3,
    ),
    "two words in one": (
        [WORD, (110, 0, 199, 19)],
        [(0, 0, 199, 19)],
        [(0.8, 0.8), (1, 1), (0.4, 0.8)],
    ),
    "and 45 high": ([WORD, (110, 0, 199, 19)], [(0, 0, 199, 44)], [(0.8, 0.8), (1, 1), (1, 1)]),
    "twice": ([WORD], [WORD, WORD], [(0.8, 0.8)] * 3),
    "a word in a word": ([WORD, (10, 1, 89, 16)], [WORD, (10, 1, 89, 16)], [(0.4, 0.8)] * 3),
    "exact, and a sliver": ([WORD], [WORD, (98, 0, 197, 19)], [(1, 0.5)] * 3),
}
PROGRAMS = {
    "wolf": ("deteval", {"variant": "wolf"}),
    "rrc": ("deteval", {"variant": "rrc"}),
    "icdar2013": ("icdar2013", {}),
}


@pytest.mark.parametrize("case", TINY)
@pytest.mark.parametrize(("program", "column"), [("wolf", 0), ("rrc", 1), ("icdar2013", 2)])
def test_tiny_cases(case: str, program: str, column: int) -> None:
    gt, det, expected = TINY[case]
    protocol, parameters = PROGRAMS[program]
    scores = accumulated([(gt, [False] * len(gt), det)], protocol, **parameters).scores
    assert (scores["recall"], scores["precision"]) == pytest.approx(expected[column])


@pytest.mark.parametrize("preset", ["none", "relaxed", "auc"])
def test_shrinking_a_detection_inside_its_word(preset: str) -> None:
    """The paper of EvaLTex, Fig. 14: its recall falls in a line, relaxed
    DetEval's stays 1, DetEval's drops.
    """
    found, coverage = [], []
    for width in range(100, 9, -10):
        gt, det = [(0, 0, 99, 19)], [(0, 0, width - 1, 19)]
        scores = accumulated([(gt, [False], det)], preset=preset).scores
        found.append((scores["recall"], scores["precision"]))
        accumulator = Accumulator("evaltex", det_border=0.0)
        accumulator.update([[0, 0, 100, 20]], [[0, 0, width, 20]])
        evaltex = accumulator.compute().scores
        assert evaltex["precision"] == 1.0
        coverage.append(evaltex["recall"])
    assert coverage == pytest.approx([1 - 0.1 * k for k in range(10)])
    expected = {
        "none": [1.0] * 3 + [0.0] * 7,
        "relaxed": [1.0] * 10,
        # of the twenty points over t_r those up to the width pass, and all twenty over t_p if t_r =
        # 0.8 does
        "auc": [(2 * (10 - k) + 20 * (k <= 2)) / 40 for k in range(10)],
    }[preset]
    assert found == [pytest.approx((value, value)) for value in expected]


def test_a_relaxed_merge_is_punished() -> None:
    """Table 4 of the paper of EvaLTex: two words in one detection, 0.8 and 0.8."""
    gt = [WORD, (110, 0, 199, 19)]
    scores = accumulated([(gt, [False] * 2, [(0, 0, 199, 19)])], preset="relaxed").scores
    assert (scores["recall"], scores["precision"]) == (0.8, 0.8)


def test_border_verification_refuses_a_word_cut_on_one_side() -> None:
    """5 pixels of 100 may be cut on either side, not 6; a detection that
    reaches over on both sides passes.
    """
    for det, passes in (
        ((5, 0, 99, 19), 1),
        ((6, 0, 99, 19), 0),
        ((0, 0, 94, 19), 1),
        ((-20, 0, 119, 19), 1),
    ):
        assert accumulated([([WORD], [False], [det])], border=True).scores["recall"] == passes
        assert accumulated([([WORD], [False], [det])]).scores["recall"] == 1
    for cut, passes in ((8, 1), (9, 0)):  # of 300, 15 are 5 %
        assert (
            accumulated([([(0, 0, 299, 19)], [False], [(cut, 0, 299, 19)])], border=True).scores[
                "recall"
            ]
            == passes
        )


def test_sums_are_rounded_by_the_competition_only() -> None:
    """Two parts of a word of 25,000 pixels cover 10,000 and 9,999: 0.79996,
    which is 0.8 to 4 decimals.
    """
    scene: Scene = ([(0, 0, 249, 99)], [False], [(0, 0, 99, 99), (100, 0, 200, 98)])
    assert accumulated([scene], variant="rrc").scores["recall"] == 0.8
    assert accumulated([scene], variant="wolf").scores["recall"] == 0


@pytest.mark.parametrize(("det", "center"), [((0, 0, 100, 19), 0.001), ((1, 1, 100, 20), 0.012)])
def test_centres_are_whole_pixels_in_wolfs_program_only(det: Box, center: float) -> None:
    """Half a pixel apart is 0; a pixel right and down, 1.41 apart, is 1, of a diagonal of 102."""
    assert (
        accumulated([([WORD], [False], [det])], variant="wolf", center=center).scores["recall"] == 1
    )
    assert (
        accumulated([([WORD], [False], [det])], variant="rrc", center=center).scores["recall"] == 0
    )


def test_images_without_text_lower_precision_only() -> None:
    """Two images with a word each, found; three without text, of 2, 1 and 0
    detections: 1 more each on average.
    """
    with_text: Scene = ([WORD], [False], [WORD])
    void: list[Scene] = [([], [], [WORD] * 2), ([], [], [WORD]), ([], [], [])]
    scores = accumulated([void[0], with_text, void[1], with_text, void[2]]).scores
    rows = scores["generality_series"]
    assert [row["images"] for row in rows] == [2, 3, 4]
    assert [row["inverse_generality"] for row in rows] == [1.0, 1.5, 2.0]
    assert [row["recall"] for row in rows] == [1.0] * 3
    assert [row["precision"] for row in rows] == pytest.approx([2 / 2, 2 / 3, 2 / 4])
    assert [row["precision_overall"] for row in rows] == pytest.approx([2 / 2, 2 / 3, 2 / 4])
    assert scores["generality"] == 2 / 5
    assert accumulated([]).scores["generality"] is None


# Images, files, masks -----------------------------------------------------------------------------


def written(folder: Path, side: str, files: dict[str, str]) -> Path:
    (folder / side).mkdir()
    for name, text in files.items():
        (folder / side / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder / side


EMPTY_CASES = {
    "both": ("0,0,99,19,word\n", "0,0,99,19\n"),
    "gt": ("0,0,99,19,word\n", ""),
    "det": ("", "0,0,99,19\n"),
    "none": ("", ""),
    "only_dont_care": ("0,0,99,19,###\n", "0,0,99,19\n"),
    "not_named": ("", None),
}


@pytest.mark.parametrize(
    ("protocol", "parameters", "expected"),
    [
        ("deteval", {"variant": "wolf"}, [(1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1)]),
        ("deteval", {"variant": "rrc"}, [(1, 1), (0, 0), (1, 0), (1, 1), (1, 0), (0, 0)]),
        ("icdar2013", {}, [(1, 1), (0, 0), (1, 0), (1, 1), (1, 0), (0, 0)]),
        ("deteval", {"variant": "totaltext"}, [(1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]),
    ],
)
def test_images_without_objects(
    tmp_path: Path, protocol: str, parameters: dict[str, Any], expected: list[tuple[float, float]]
) -> None:
    gt = written(tmp_path, "gt", {name: texts[0] for name, texts in EMPTY_CASES.items()})
    det = written(
        tmp_path,
        "det",
        {name: texts[1] for name, texts in EMPTY_CASES.items() if texts[1] is not None},
    )
    result = evaluate(gt, det, protocol, per_image=True, **parameters)
    found = {
        image.name: (image.scores["recall"], image.scores["precision"]) for image in result.images
    }
    assert found == dict(zip(EMPTY_CASES, expected, strict=True))


def test_totaltext_counts_named_images_only(tmp_path: Path) -> None:
    square = "10,10,30,10,30,30,20,35,10,30"
    gt = written(tmp_path, "gt", {"a": f"{square},word\n", "b": f"{square},word\n"})
    det = written(tmp_path, "det", {"a": f"{square}\n"})
    totaltext = evaluate(gt, det, "deteval", per_image=True, variant="totaltext")
    assert totaltext.scores["recall"] == 1
    assert [entry.match for image in totaltext.images for entry in image.objects] == [
        "one-to-one",
        "ignored",
    ]
    assert evaluate(gt, det, "deteval", shape="polygon").scores["recall"] == 0.5


def test_totaltext_takes_invalid_outlines_as_its_script() -> None:
    """A bow-tie of two triangles of 100: the signed area is 0 and one lobe is
    left in pairs, so nothing matches.
    """
    bow_tie, square = [(0, 0), (20, 20), (20, 0), (0, 20)], [(0, 0), (20, 0), (20, 20), (0, 20)]
    accumulator = Accumulator("deteval", variant="totaltext")
    accumulator.update(image_objects(polygons=[square]), image_objects(polygons=[bow_tie]))
    assert accumulator.compute().scores["recall"] == 0
    accumulator = Accumulator("deteval", variant="totaltext")
    accumulator.update(image_objects(polygons=[bow_tie, square]), image_objects(polygons=[square]))
    assert accumulator.compute().totals["counted_gt_objects"] == 1
    assert accumulator.compute().scores["recall"] == 1


def test_polygons_count_as_bounding_boxes_unless_set_otherwise() -> None:
    """A triangle that covers half of its bounding box, found by that box: τ
    of the shapes themselves is 0.5.
    """
    gt, det = image_objects(polygons=[[(0, 0), (40, 0), (0, 40)]]), image_objects([[0, 0, 40, 40]])
    for options, recall in (({}, 1), ({"shape": "polygon"}, 0)):
        accumulator = Accumulator("deteval", t_p=0.6, **options)
        accumulator.update(gt, det)
        assert accumulator.compute().scores["recall"] == recall


def test_dont_care_is_left_out_by_every_variant() -> None:
    for variant in ("wolf", "rrc", "totaltext"):
        scene: Scene = ([WORD, (200, 0, 299, 19)], [False, True], [WORD, (200, 0, 299, 19)])
        result = accumulated([scene], variant=variant)
        assert (result.totals["counted_gt_objects"], result.totals["counted_detections"]) == (1, 1)
        assert result.scores["hmean"] == 1
