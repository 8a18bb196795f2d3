"""DetEval: the official programs' figures, the slow reference, and what must hold of any input."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_deteval import Box, image_totals, setting
from shared_data import DATA, cases_or_skipped, content

from evaltex_cli import Accumulator, ConfigError, evaluate, image_objects
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.geometry.overlaps import measure
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence, load
from evaltex_cli.protocols.matches import SideMatches
from evaltex_cli.records import ImageBatch
from evaltex_cli.records.rows import concatenate

LEFT_OUT = " (don't-care GT left out of the input)"
FAMILY = ["wolf", "rrc", "totaltext", "icdar2013"]

Scene = tuple[list[Box], list[bool], list[Box]]


def entries(*protocols: str) -> list[Any]:
    """Every figure of the protocols as a test parameter."""
    found = [
        pytest.param(*pair.split(" | "), key, want, id=f"{pair.split(' | ')[1]} {key}")
        for pair, figures in content("figures.json").items()
        for key, want in figures.items()
        if key.split()[0] in protocols
    ]
    return cases_or_skipped(found, 4)


def assert_figures(
    gt: Path, det: Path, key: str, want: dict[str, Any], tolerance: float
) -> Evaluation:
    name, *assignments = key.split()
    result = evaluate(gt, det, name, **dict(assignment.split("=") for assignment in assignments))
    for score, value in want.items():
        if score != "curves":
            assert result.scores[score] == pytest.approx(value, abs=tolerance, rel=0), score
    return result


def without_dont_care(gt: Path, folder: Path) -> Path:
    """The same archive less the lines that end in ###."""
    with zipfile.ZipFile(gt) as old, zipfile.ZipFile(folder / "gt.zip", "w") as new:
        for name in old.namelist():
            lines = old.read(name).decode("utf-8").splitlines(keepends=True)
            new.writestr(
                name, "".join(line for line in lines if not line.rstrip().endswith(",###"))
            )
    return folder / "gt.zip"


@pytest.mark.few_fast(3)
@pytest.mark.parametrize(("gt", "det", "key", "want"), entries("deteval"))
def test_official_figures(
    gt: str, det: str, key: str, want: dict[str, Any], tmp_path: Path
) -> None:
    """To 1e-9, and to 1e-6 for Wolf's program, which prints six digits of every image."""
    gt_path = without_dont_care(DATA / gt, tmp_path) if LEFT_OUT in key else DATA / gt
    tolerance = 1e-6 if "variant=wolf" in key else 1e-9
    result = assert_figures(gt_path, DATA / det, key.replace(LEFT_OUT, ""), want, tolerance)
    for name, points in want.get("curves", {}).items():
        varied, what = name.split(":")
        column = {"Recall": "recall", "Precision": "precision", "Harmonic mean": "hmean"}[what]
        threshold = {"tr": "t_r", "tp": "t_p"}[varied]
        rows = [row for row in result.scores["curves"] if row["varied"] == threshold]
        expected = [pytest.approx(point, abs=1e-6, rel=0) for point in points]
        assert [[row[threshold], row[column]] for row in rows] == expected


# Against the reference ----------------------------------------------------------------------------


def random_box(rng: random.Random) -> Box:
    x, y = rng.randint(0, 24), rng.randint(0, 6)
    return x, y, x + rng.randint(0, 14), y + rng.randint(0, 5)


def random_scene(rng: random.Random) -> Scene:
    """Words in lines; detections of them, cut in pieces, merged, moved by a
    pixel, and anything else.
    """
    gt = [random_box(rng) for _ in range(rng.choice((0, 1, 2, 4, 6)))]
    if rng.random() < 0.5:
        gt = [(8.0 * k, 0.0, 8.0 * k + rng.randint(4, 9), 4.0) for k in range(len(gt))]
    det: list[Box] = []
    for x0, y0, x1, y1 in gt:
        kind = rng.choice(("same", "pieces", "merge", "moved", "any", "none", "cut"))
        half = (x0 + x1) // 2
        det += {
            "same": [(x0, y0, x1, y1)],
            "pieces": [(x0, y0, half, y1), (half + rng.choice((0, 1)), y0, x1, y1)],
            "merge": [(x0, y0, x1 + 10, y1)],
            "moved": [(x0 + 1, y0, x1 + 1, y1)],
            "any": [random_box(rng)],
            "none": [],
            "cut": [(x0, y0, x0 + int(0.8 * (x1 - x0 + 1)) - (x1 > x0), y1)],
        }[kind]
    det += [random_box(rng) for _ in range(rng.choice((0, 0, 1, 3)))]
    det = [(a, b, max(a, c), d) for a, b, c, d in det]
    rng.shuffle(det)
    return gt, [rng.random() < 0.15 for _ in gt], det


def evidence_of(
    scenes: list[Scene], protocol: str, with_matches: bool = False, **parameters: Any
) -> Evidence:
    """The evidence of several images as one batch."""
    gt = concatenate([image_objects(np.reshape(g, (-1, 4)), dont_care=d) for g, d, _ in scenes])
    det = concatenate([image_objects(np.reshape(d, (-1, 4))) for _, _, d in scenes])
    batch = ImageBatch([str(k) for k in range(len(scenes))], np.zeros((len(scenes), 2)), gt, det)
    found, checked = load(protocol), config.checked(protocol, parameters)
    return found.evidence(batch, measure(batch, found.convention(checked)), checked, with_matches)


def random_options(rng: random.Random, variant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the package, and the same for the reference."""
    t_r, t_p = rng.choice(
        ((0.8, 0.4), (0.7, 0.6), (0.5, 0.5), (0.0, 0.0), (1.0, 0.2), (rng.random(), rng.random()))
    )
    own: dict[str, Any] = {"t_r": t_r, "t_p": t_p}
    plain: dict[str, Any] = {}
    if variant != "icdar2013":
        own["variant"] = variant
        if rng.random() < 0.3:
            names = {
                "one_to_one_recall": "oo_r", "one_to_one_precision": "oo_p", "one_to_many_recall": "om_sum_r",
                "one_to_many_precision": "om_each_p", "many_to_one_precision": "mo_sum_p",
                "many_to_one_recall": "mo_each_r",
            }  # fmt: skip
            for name, short in names.items():
                own[name] = plain[short] = rng.choice((0.0, 0.3, 0.5, 0.8, 1.0))
        if variant != "totaltext" and rng.random() < 0.3:
            own["border"] = plain["border"] = True
        if rng.random() < 0.3:
            own["scatter"], plain["logarithm"] = "logarithm", True
    if rng.random() < 0.3:
        own["center"] = plain["center"] = rng.choice((0.0, 0.05, 0.3))
    if rng.random() < 0.3:
        own["split_weight"] = plain["split_weight"] = own["merge_weight"] = plain[
            "merge_weight"
        ] = 0.5
    if rng.random() < 0.3:
        own["dont_care_overlap"] = plain["theta"] = rng.choice((0.0, 0.5, 0.9))
    return own, plain


@pytest.mark.slow
@pytest.mark.parametrize("variant", FAMILY)
@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.integers(0, 10**9))
def test_agrees_with_the_reference(variant: str, seed: int) -> None:
    """Counts and credits of every image, for thresholds that random boxes sit
    on exactly, 0 and 1 among them.
    """
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(12)]
    own, plain = random_options(rng, variant)
    slow = setting(variant, own["t_r"], own["t_p"], **plain)
    if variant == "icdar2013":
        found = evidence_of(scenes, "icdar2013", **own)
    else:
        found = evidence_of(scenes, "deteval", curve_points=0, **own)
    for k, scene in enumerate(scenes):
        expected = image_totals(*scene, slow)
        row = list(found.tally.rows())[k].as_dict()
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-12), (
            scene,
            own,
        )


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**9), st.sampled_from(["wolf", "rrc", "totaltext"]), st.integers(1, 7))
def test_graphs_and_grid_are_runs_at_their_thresholds(seed: int, variant: str, points: int) -> None:
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(6)]
    own, _ = random_options(rng, variant)
    result = accumulated(scenes, curve_points=points, grid=True, **own)
    names = {
        "t_r": ["one_to_one_recall", "one_to_many_recall"]
        + ["many_to_one_recall"] * (variant != "totaltext"),
        "t_p": ["one_to_one_precision", "one_to_many_precision", "many_to_one_precision"]
        + ["many_to_one_recall"] * (variant == "totaltext"),
    }
    rows = [(row, [row["varied"]]) for row in result.scores["curves"]]
    rows += [(row, ["t_r", "t_p"]) for row in result.scores["grid"][:: max(1, points)]]
    theta = {
        "dont_care_overlap": own.get(
            "dont_care_overlap", 0.5 if variant == "totaltext" else own["t_p"]
        )
    }
    for row, varied in rows:
        replaced = {name for key in varied for name in names[key]}
        options = {key: value for key, value in own.items() if key not in replaced} | theta
        single = accumulated(
            scenes, curve_points=0, **(options | {"t_r": row["t_r"], "t_p": row["t_p"]})
        )
        for score in ("recall", "precision", "hmean"):
            assert row[score] == pytest.approx(single.scores[score], abs=1e-12)
    assert len(result.scores["curves"]) == 2 * points
    assert len(result.scores["grid"]) == points**2
    mean = np.mean([row["recall"] for row in result.scores["curves"]])
    assert result.scores["recall_overall"] == pytest.approx(mean, abs=1e-12)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**9), st.sampled_from(["wolf", "rrc", "totaltext"]), st.booleans())
def test_graphs_at_the_default_thresholds_are_the_plain_scores(
    seed: int, variant: str, logarithm: bool
) -> None:
    """To the last bit: the same matches, and credits added in the same order."""
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(20)]
    weights = {"scatter": "logarithm"} if logarithm else {"split_weight": 0.7, "merge_weight": 0.9}
    scores = accumulated(scenes, variant=variant, curve_points=20, grid=True, **weights).scores
    t_r, t_p = (0.7, 0.6) if variant == "totaltext" else (0.8, 0.4)
    at_defaults = [
        row
        for row in (*scores["curves"], *scores["grid"])
        if (row["t_r"], row["t_p"]) == (t_r, t_p)
    ]
    assert len(at_defaults) == 3
    for row in at_defaults:
        assert [row[name] for name in ("recall", "precision", "hmean")] == [
            scores[name] for name in ("recall", "precision", "hmean")
        ]


def accumulated(scenes: list[Scene], protocol: str = "deteval", **parameters: Any) -> Evaluation:
    accumulator = Accumulator(protocol, **parameters)
    for gt, dont_care, det in scenes:
        accumulator.update(
            image_objects(np.reshape(gt, (-1, 4)), dont_care=dont_care), np.reshape(det, (-1, 4))
        )
    return accumulator.compute()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(FAMILY))
def test_no_object_is_credited_twice_and_partners_are_mutual(seed: int, variant: str) -> None:
    """Every credit within [0, 1], whatever the thresholds, and every
    partner's partner is the object itself.
    """
    rng = random.Random(seed)
    scenes = [random_scene(rng) for _ in range(8)]
    own, _ = random_options(rng, variant)
    found = evidence_of(scenes, "icdar2013" if variant == "icdar2013" else "deteval", True, **own)
    assert (found.tally.recall_credit <= found.tally.counted_gt_objects).all()
    assert (found.tally.precision_credit <= found.tally.counted_detections).all()
    matches = found.matches
    assert matches is not None
    assert links(matches.gt) == {(i, j) for j, i in links(matches.det)}
    for side in (matches.gt, matches.det):
        credit = np.nan_to_num(side.values["credit"])
        assert ((credit >= 0) & (credit <= 1)).all()
        assert ((credit > 0) == (np.diff(side.offsets) > 0)).all()


def links(side: SideMatches) -> set[tuple[int, int]]:
    own = np.repeat(np.arange(len(side.types)), np.diff(side.offsets))
    return set(zip(own.tolist(), side.partners.tolist(), strict=True))


def test_images_can_come_in_any_order_and_batching() -> None:
    rng = random.Random(1)
    scenes = [random_scene(rng) for _ in range(40)]
    whole = accumulated(scenes)
    rng.shuffle(scenes)
    parts = accumulated(scenes[:7])
    accumulator = Accumulator("deteval")
    other = Accumulator("deteval")
    for target, some in ((accumulator, scenes[:7]), (other, scenes[7:])):
        for gt, dont_care, det in some:
            target.update(
                image_objects(np.reshape(gt, (-1, 4)), dont_care=dont_care),
                np.reshape(det, (-1, 4)),
            )
    accumulator.merge(other)
    assert accumulator.compute().totals == whole.totals
    assert accumulator.compute().scores == whole.scores
    assert parts.totals["images"] == 7


# Single cases -------------------------------------------------------------------------------------

WORD = (0, 0, 99, 19)
TINY: dict[str, tuple[list[Box], list[Box], list[tuple[float, float]]]] = {
    "80 % of the width": ([WORD], [(0, 0, 79, 19)], [(1, 1), (1, 1), (1, 1)]),
    "79 %": ([WORD], [(0, 0, 78, 19)], [(0, 0), (0, 0), (0, 0)]),
    "2.5 times as wide": ([WORD], [(0, 0, 249, 19)], [(1, 1), (1, 1), (1, 1)]),
    "a pixel wider": ([WORD], [(0, 0, 250, 19)], [(0, 0), (0, 0), (0, 0)]),
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


def test_overall_scores_are_those_of_the_preset_auc() -> None:
    rng = random.Random(5)
    scenes = [random_scene(rng) for _ in range(20)]
    plain, auc = (
        accumulated(scenes).scores,
        accumulated(scenes, preset="auc", curve_points=0).scores,
    )
    for score in ("recall", "precision", "hmean"):
        assert auc[score] == plain[f"{score}_overall"]
        assert plain[score] != plain[f"{score}_overall"]


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


def test_without_graphs() -> None:
    scores = accumulated([([WORD], [False], [WORD])], curve_points=0, grid=True).scores
    assert scores["recall"] == 1
    assert scores["recall_overall"] is None
    assert scores["curves"] == scores["grid"] == []


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


def test_masks_are_counted_in_pixels(tmp_path: Path) -> None:
    """An object of 10 by 10 pixels; 8 columns of it pass, 7 do not."""
    from PIL import Image

    for width, recall in ((8, 1), (7, 0)):
        folder = tmp_path / str(width)
        for side, columns in (("gt", 10), ("det", width)):
            labels = np.zeros((20, 20), np.uint8)
            labels[5:15, 5 : 5 + columns] = 1
            (folder / side).mkdir(parents=True)
            Image.fromarray(labels).save(folder / side / "img.png")
            line = f'1,1,"",f,5,5,{columns},10' if side == "gt" else f'1,"",5,5,{columns},10'
            (folder / f"{side}.txt").write_text(
                f"img\n20,20\n{line}\n" if side == "gt" else f"img\n{line}\n"
            )
        pictures = {"gt_images": folder / "gt", "det_images": folder / "det"}
        assert (
            evaluate(folder / "gt.txt", folder / "det.txt", "deteval", **pictures).scores["recall"]
            == recall
        )


def test_dont_care_is_left_out_by_every_variant() -> None:
    for variant in ("wolf", "rrc", "totaltext"):
        scene: Scene = ([WORD, (200, 0, 299, 19)], [False, True], [WORD, (200, 0, 299, 19)])
        result = accumulated([scene], variant=variant)
        assert (result.totals["counted_gt_objects"], result.totals["counted_detections"]) == (1, 1)
        assert result.scores["hmean"] == 1


def test_a_threshold_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"t_r is '1\.5'; expected a number from -1 to 1"):
        Accumulator("deteval", t_r=1.5)
