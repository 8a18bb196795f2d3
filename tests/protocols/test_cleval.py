"""CLEval against the official figures, a slow reference, and what must hold of any input."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_cleval
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, content, needs_data

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation import batches
from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.cleval import protocol as cleval
from evaltex_cli.protocols.cleval.shapes import shorter_sides, side_of
from evaltex_cli.protocols.cleval.text import common_length, common_subsequence, texts_of
from evaltex_cli.protocols.matches import MATCH_TYPES
from evaltex_cli.records import Convention, ImageBatch, Objects
from evaltex_cli.records.rows import concatenate

FIGURES = [
    (inputs, run)
    for inputs, runs in content("figures.json").items()
    for run in runs
    if run.split()[0] == "cleval"
]
"""Every entry of cleval: the inputs, and the protocol with its parameters."""


@needs_data
def test_there_are_figures() -> None:
    assert len(FIGURES) >= 40


@pytest.mark.few_fast(4)
@needs_data
@pytest.mark.parametrize(("inputs", "run"), FIGURES)
def test_prints_the_official_figures(inputs: str, run: str) -> None:
    gt, det, *settings = (part.strip() for part in inputs.split("|"))
    parameters: dict[str, Any] = dict(
        setting.split("=") for setting in [*settings, *run.split()[1:]]
    )
    result = evaluate(DATA / gt, DATA / det, "cleval", **parameters)
    expected = content("figures.json")[inputs][run]
    assert {name: result.scores[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert (result.scores["e2e_hmean"] is None) == ("e2e_hmean" not in expected)


PER_IMAGE = sorted((DATA / "cleval-per-image").glob("*.json"))


@pytest.mark.few_fast(1)
@needs_data
@pytest.mark.parametrize("path", PER_IMAGE, ids=lambda path: path.stem)
def test_gives_the_official_counts_and_matches_of_every_image(path: Path) -> None:
    dataset, name = path.stem.split("-", 1)
    det = DATA / dataset / ("cleval" if dataset == "icdar2013" else "") / f"{name}.zip"
    result = evaluate(DATA / dataset / "gt.zip", det, "cleval", per_image=True)
    official = json.loads(path.read_text(encoding="utf-8"))
    assert {image.name for image in result.images} == set(official)
    for image in result.images:
        stats, totals = official[image.name]["stats"], image.totals
        expected = official_columns(stats, name.startswith("e2e"))
        assert {key: totals[key] for key in expected} == expected, image.name
        for key in ("recall", "precision", "hmean"):
            assert image.scores[key] == pytest.approx(stats["det"][key], abs=1e-9), image.name
        pairs = {
            (i, j) for gts, dets, _ in official[image.name]["matches"] for i in gts for j in dets
        }
        assert {(one.id - 1, j - 1) for one in image.objects for j in one.partners} == pairs, (
            image.name
        )
        assert {(i - 1, one.id - 1) for one in image.detections for i in one.partners} == pairs, (
            image.name
        )
        types = {one.match for one in image.objects}
        kinds = {kind for _, _, kind in official[image.name]["matches"]}
        assert kinds == set() or types & {*kinds, "many-to-many"}, image.name


def official_columns(stats: dict[str, Any], end_to_end: bool) -> dict[str, float]:
    """The official counts of an image under our names."""
    det, e2e = stats["det"], stats["e2e"]
    found = det["num_char_tp_recall"]
    columns = {
        "gt_characters": det["num_char_gt"],
        "detected_characters": det["num_char_det"],
        "found_characters": found,
        "false_positive_characters": det["num_char_fp"],
        "overlapped_characters": stats["num_char_overlapped"],
        "splits": stats["num_splitted"],
        "merges": stats["num_merged"],
        "recall_credit": found - det["gran_score_recall"],
        "precision_credit": found - det["gran_score_precision"],
    }
    if end_to_end:
        columns |= {
            "recognised_characters": e2e["num_char_det"],
            "correct_characters": e2e["num_char_tp_recall"],
            "e2e_recall_credit": e2e["num_char_tp_recall"] - e2e["gran_score_recall"],
            "e2e_precision_credit": e2e["num_char_tp_precision"] - e2e["gran_score_precision"],
        }
    return columns


KINDS = ("ltrb", "quad", "polygon")
LETTERS = "abAB ß日"


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 7)))


def random_object(
    rng: random.Random, kind: str, box: tuple[float, ...], text: str, is_gt: bool
) -> dict[str, Any]:
    """An object around a box: the box, or a crooked quadrilateral or polygon,
    some of them crossed.
    """
    x0, y0, x1, y1 = box
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    if kind == "polygon":
        middle = [(x0 + (x1 - x0) * k / 3, y0 + 2 * math.sin(k)) for k in range(4)]
        lower = [(x, y + y1 - y0) for x, y in reversed(middle)]
        corners = rng.choice([corners, middle + lower, middle + lower[:3], corners[:3]])
    if kind != "ltrb":
        shake = rng.choice([0, 1, 3])
        corners = [
            (x + rng.uniform(-shake, shake), y + rng.uniform(-shake, shake)) for x, y in corners
        ]
        if kind == "quad" and rng.random() < 0.15:
            corners = rng.choice(
                [corners[1:] + corners[:1], [corners[1], corners[0], *corners[2:]]]
            )
    digits = rng.choice([0, 0, 1])
    points = [(float(round(x, digits)), float(round(y, digits))) for x, y in corners]
    if kind == "ltrb":
        (x0, y0), (x1, y1) = points[0], points[2]
        points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return {
        "points": points,
        "poly": kind == "polygon",
        "text": text,
        "dont_care": is_gt and text == "###",
    }


def random_detections(
    rng: random.Random, box: tuple[float, ...], text: str
) -> list[tuple[tuple[float, ...], str]]:
    """A word detected well, in pieces, with what follows, twice, or not; and
    perhaps a stray detection.
    """
    x0, y0, x1, y1 = box
    w, cut, slip = x1 - x0, rng.randint(0, len(text)), rng.uniform(-0.1, 0.2)
    share = cut / len(text)
    found: list[tuple[tuple[float, ...], str]] = rng.choice(
        [
            [(box, text)],
            [(box, random_text(rng))],
            [
                ((x0, y0, x0 + w * max(share + slip, 0.1), y1), text[:cut]),
                ((x0 + w * min(share - slip, 0.9), y0, x1, y1), text[cut:]),
            ],
            [((x0 - 2, y0 - 3, x0 + w * rng.uniform(1, 2.5), y1 + 3), text + random_text(rng))],
            [(box, text), ((x0 + 1, y0, x1 + 2, y1), text)],
            [],
        ]
    )
    stray = (x0, y0, x0 + rng.uniform(1, 40), y0 + rng.uniform(1, 40))
    return found + [(stray, rng.choice(["", random_text(rng)]))] * (rng.random() < 0.15)


def random_scene(
    rng: random.Random, kind: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Some lines of words, tall ones and don't care among them, and detections."""
    gt: list[dict[str, Any]] = []
    det: list[dict[str, Any]] = []
    for line in range(rng.randint(1, 3)):
        x, y, h = rng.uniform(0, 20), 22.0 * line, rng.uniform(6, 18)
        for _ in range(rng.randint(1, 4)):
            text = "###" if rng.random() < 0.2 else random_text(rng)
            w = h / 3 if rng.random() < 0.15 else max(4.0, len(text) * h * rng.uniform(0.3, 0.8))
            box = (x, y, x + w, y + h)
            gt.append(random_object(rng, kind, box, text, True))
            det += [
                random_object(rng, kind, *found, False)
                for found in random_detections(rng, box, text)
            ]
            x += w + rng.uniform(-3, 5)
    rng.shuffle(det)
    return gt, det


def objects_of(side: list[dict[str, Any]], kind: str) -> Objects:
    shapes = [one["points"] for one in side]
    return image_objects(
        [[*points[0], *points[2]] for points in shapes] if kind == "ltrb" else None,
        None if kind == "ltrb" else [np.array(points) for points in shapes],
        texts=[one["text"] for one in side],
        dont_care=[one["dont_care"] for one in side],
    )


def batch_of(images: list[tuple[Objects, Objects]], size: float = 0.0) -> ImageBatch:
    names = [f"image {k}" for k in range(len(images))]
    gt, det = (concatenate([image[side] for image in images]) for side in (0, 1))
    return ImageBatch(names, np.full((len(images), 2), size), gt, det)


def evidence_of(batch: ImageBatch, **parameters: Any) -> Evidence:
    checked = config.checked("cleval", parameters)
    measured = overlaps.measure(batch, cleval.convention(checked))
    return cleval.evidence(batch, measured, checked, with_matches=True)


CONFIGURATIONS: list[dict[str, Any]] = [
    {},
    {"area_precision": 0.5, "case_sensitive": False},
    {"reference": "paper", "recall_granularity_penalty": 2.0, "precision_granularity_penalty": 0.5},
]


@pytest.mark.few_fast(3)
@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_reference(kind: str, parameters: dict[str, Any]) -> None:
    """Every count of every image, and the matches and characters of every object."""
    rng = random.Random(f"{kind}{parameters}")
    scenes = [random_scene(rng, kind) for _ in range(60)]
    annotation = "polygon" if kind == "polygon" else "quad"
    batch = batch_of([(objects_of(g, kind), objects_of(d, kind)) for g, d in scenes])
    found = evidence_of(batch, annotation=annotation, **parameters)
    options = {
        "official": parameters.get("reference") != "paper",
        "threshold": parameters.get("area_precision"),
        "recall_penalty": parameters.get("recall_granularity_penalty", 1.0),
        "precision_penalty": parameters.get("precision_granularity_penalty", 1.0),
        "case_sensitive": parameters.get("case_sensitive", True),
    }
    assert found.matches is not None
    first_gt = first_det = 0
    kinds = set()
    for k, (gt, det) in enumerate(scenes):
        expected = reference_cleval.evaluate(gt, det, **options)
        row = list(found.tally.rows())[k].as_dict()
        assert {name: row[name] for name in expected["columns"]} == expected["columns"], k
        is_read = any(d["text"] for d in det)
        side = found.matches.gt
        for i in range(len(gt)):
            own = first_gt + i
            partners = side.partners[side.offsets[own] : side.offsets[own + 1]] - first_det
            assert partners.tolist() == [j for a, j in expected["matched"] if a == i]
            kinds.add(MATCH_TYPES[side.types[own]])
            if not gt[i]["dont_care"]:
                assert side.values["found_characters"][own] == expected["found"][i]
                credited = expected["gt_credit"][i] if is_read else math.nan
                np.testing.assert_equal(side.values["credited_characters"][own], credited)
        side = found.matches.det
        for j in range(len(det)):
            own = first_det + j
            assert (MATCH_TYPES[side.types[own]] == "ignored") == (j in expected["dropped"])
            if j not in expected["dropped"]:
                credited = expected["det_credit"][j] if is_read else math.nan
                np.testing.assert_equal(side.values["credited_characters"][own], credited)
        first_gt += len(gt)
        first_det += len(det)
    assert kinds >= {"one-to-one", "one-to-many", "many-to-one", "missed", "ignored"}


def scored(gt: Any, det: Any, **parameters: Any) -> dict[str, Any]:
    accumulator = Accumulator("cleval", **parameters)
    accumulator.update(gt, det)
    return accumulator.compute().scores


def word(*box: float, text: str = "abcdef", dont_care: bool = False) -> Objects:
    return image_objects([box], texts=[text], dont_care=[dont_care])


def words(*entries: tuple[tuple[float, float, float, float], str]) -> Objects:
    return image_objects(
        [box for box, _ in entries],
        texts=[text for _, text in entries],
        dont_care=[text == "###" for _, text in entries],
    )


WORD = (0.0, 0.0, 60.0, 10.0)
HALVES = ((0.0, 0.0, 30.0, 10.0), (30.0, 0.0, 60.0, 10.0))


class TestTable3:
    """The paper's examples: abcdef, 60 wide."""

    def test_split(self) -> None:
        """Recall (6 - 1)/6, precision 6/6; end-to-end with abc and deg (5 - 1)/6 and 5/6."""
        scores = scored(words((WORD, "abcdef")), words((HALVES[0], "abc"), (HALVES[1], "deg")))
        assert (scores["recall"], scores["precision"]) == (5 / 6, 1.0)
        assert (scores["e2e_recall"], scores["e2e_precision"]) == (4 / 6, 5 / 6)
        assert (scores["splits"], scores["merges"]) == (1, 0)

    def test_merge(self) -> None:
        """Recall 6/6, precision (6 - 1)/6; end-to-end with abcdeg 5/6 and (5 - 1)/6."""
        scores = scored(words((HALVES[0], "abc"), (HALVES[1], "def")), words((WORD, "abcdeg")))
        assert (scores["recall"], scores["precision"]) == (1.0, 5 / 6)
        assert (scores["e2e_recall"], scores["e2e_precision"]) == (5 / 6, 4 / 6)
        assert (scores["splits"], scores["merges"]) == (0, 1)

    def test_overlap(self) -> None:
        """c and d are found twice: recall (6 - 1)/6, precision 6/8;
        end-to-end abcd, cdeg: 4/6 and 5/8.
        """
        det = words(((0, 0, 40, 10), "abcd"), ((20, 0, 60, 10), "cdeg"))
        scores = scored(words((WORD, "abcdef")), det)
        assert (scores["recall"], scores["precision"]) == (5 / 6, 6 / 8)
        assert (scores["e2e_recall"], scores["e2e_precision"]) == (4 / 6, 5 / 8)
        assert scores["overlapped_characters"] == 2

    def test_miss(self) -> None:
        """Half of it: recall 3/6, precision 3/3; end-to-end abg: 2/6 and 2/3,
        and 2 of 3 characters recognised.
        """
        scores = scored(words((WORD, "abcdef")), words((HALVES[0], "abg")))
        assert (scores["recall"], scores["precision"]) == (3 / 6, 1.0)
        assert (scores["e2e_recall"], scores["e2e_precision"]) == (2 / 6, 2 / 3)
        assert (scores["missed_characters"], scores["recognition_score"]) == (3, 2 / 3)

    def test_false_positive(self) -> None:
        """30 by 10 is one character officially, 10 by 30 three; the other way
        round in the paper.
        """
        wide, tall = image_objects([[0, 0, 30, 10]]), image_objects([[0, 0, 10, 30]])
        nothing = image_objects()
        for reference, lengths in (("official", (1, 3)), ("paper", (3, 1))):
            found = [
                scored(nothing, det, reference=reference)["false_positive_characters"]
                for det in (wide, tall)
            ]
            assert tuple(found) == lengths


def test_recognition_score_counts_at_least_the_included_characters() -> None:
    """Eq. 11: 3 right of max(3, 6)."""
    assert scored(words((WORD, "abcdef")), words((WORD, "abc")))["recognition_score"] == 3 / 6


def test_a_dropped_detection_stands_in_the_way_of_a_one_to_one_match() -> None:
    """Two detections of one word, the second half on a don't-care object:
    officially neither matches.
    """
    gt = words((WORD, "abcdef"), ((60, 0, 120, 10), "###"))
    alone, both = words((WORD, "")), words((WORD, ""), ((20, 0, 100, 10), ""))
    assert scored(gt, alone)["recall"] == 1.0
    scores = scored(gt, both)
    assert (scores["recall"], scores["precision"], scores["false_positive_characters"]) == (
        0.0,
        0.0,
        1,
    )


def test_a_tall_word_is_read_from_its_bottom() -> None:
    """a b c d upwards: the upper half bears cd."""
    gt = words(((0, 0, 10, 40), "abcd"))
    upwards = words(((0, 0, 10, 20), "cd"), ((0, 20, 10, 40), "ab"))
    downwards = words(((0, 0, 10, 20), "ab"), ((0, 20, 10, 40), "cd"))
    assert scored(gt, upwards)["e2e_recall"] == 3 / 4
    assert scored(gt, downwards)["e2e_recall"] == 1 / 4
    assert scored(gt, downwards, vertical_aspect=0.1)["e2e_recall"] == 2 / 4


def test_area_precision_is_least_at_the_threshold() -> None:
    """A detection of 100 by 10, of which 30 by 10 are the word's."""
    gt, det = words(((0, 0, 30, 10), "abc")), words(((0, 0, 100, 10), ""))
    assert scored(gt, det)["recall"] == 1.0
    assert scored(gt, det, area_precision=0.31)["recall"] == 0.0
    assert scored(gt, det, reference="paper")["recall"] == 0.0
    assert scored(gt, det, reference="paper", area_precision=0.3)["recall"] == 1.0


def test_a_word_on_a_dont_care_object_is_not_dropped() -> None:
    """The word's area is taken from the don't-care object around it."""
    gt = words((WORD, "abcdef"), ((-10, -10, 200, 100), "###"))
    det = words((WORD, ""), ((100, 50, 150, 60), ""))
    scores = scored(gt, det)
    assert (scores["recall"], scores["precision"]) == (1.0, 1.0)


@pytest.mark.parametrize("left", range(1, 30))
def test_shares_of_dont_care_objects_add_up_in_single_precision(left: int) -> None:
    """Two don't-care objects hold 30 of 100 columns of a detection; whether
    that is 0.3 hangs on how it is split.
    """
    gt = words(((0, 0, left, 10), "###"), ((70 + left, 0, 100, 10), "###"))
    holds = left not in (1, 4, 6, 24, 26, 29)
    assert scored(gt, words(((0, 0, 100, 10), "")))["false_positive_characters"] == (not holds)


def test_the_edges_of_boxes() -> None:
    """Left and top edges are inside, right and bottom ones outside; of polygons none is."""
    gt = image_objects(polygons=[np.array([[0, 0], [4, 0], [4, 4], [0, 4]])], texts=["a"])
    sides = ([2, 0, 6, 4], [0, 2, 4, 6], [-2, 0, 2, 4], [0, -2, 4, 2])
    boxes = [
        image_objects(polygons=[np.array([[a, b], [c, b], [c, d], [a, d]])], texts=[""])
        for a, b, c, d in sides
    ]
    assert [scored(gt, det)["recall"] for det in boxes] == [1.0, 1.0, 0.0, 0.0]
    assert [scored(gt, det, annotation="polygon")["recall"] for det in boxes] == [0.0] * 4


def test_a_polygon_anywhere_makes_polygons_of_four_vertices(tmp_path: Path) -> None:
    """The tall false positive counts 6 characters as a quadrilateral, but 1
    as a polygon; a triangle decides it.
    """
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text("a\n100,100\nb\n100,100\n", encoding="utf-8")
    quad = 'a\n1,"",0,0,10,0,10,60,0,60\nb\n'
    for triangle, decided, characters in (
        ("", "quad", 6),
        ('1,"",20,20,30,20,25,25\n', "polygon", 1 + 1),
    ):
        det.write_text(quad + triangle, encoding="utf-8")
        found = evaluate(gt, det, "cleval")
        assert found.totals["false_positive_characters"] == characters
        assert found.parameters.annotation == decided
        assert f"annotation:{decided}" in found.signature
        reported = evaluate(gt, det, "cleval", annotation="quad" if triangle else "polygon")
        assert reported.totals["false_positive_characters"] != characters


def test_boxes_are_read_once_to_see_that_there_is_no_polygon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
    gt.write_text('a\n100,100\n1,1,"a,b",f,0,0,10,10\n', encoding="utf-8")
    det.write_text('a\n1,"a",0,0,10,10\n', encoding="utf-8")
    monkeypatch.setattr(batches, "holds_polygons", lambda part: pytest.fail(f"read again: {part}"))
    assert evaluate(gt, det, "cleval").parameters.annotation == "quad"


@pytest.mark.parametrize("reference", ["official", "paper"])
def test_nothing_scores_nothing(reference: str) -> None:
    """No object, no detection; no object; no detection; don't-care objects
    only; detections without text.
    """
    nothing, one = image_objects(), words((WORD, "abcdef"))
    ignored = words((WORD, "###"))
    for gt, det in (
        (nothing, nothing),
        (nothing, one),
        (one, nothing),
        (ignored, nothing),
        (ignored, one),
    ):
        scores = scored(gt, det, reference=reference)
        assert [scores[name] for name in ("recall", "precision", "hmean")] == [0.0, 0.0, 0.0]
    assert scored(ignored, one, reference=reference)["false_positive_characters"] == 0
    assert scored(one, nothing, reference=reference)["e2e_hmean"] is None
    assert scored(one, one, reference=reference)["e2e_hmean"] == 1.0


def test_objects_without_transcription_match_nothing() -> None:
    """They add nothing, and their images are named; a polygon crashes the official program."""
    scores = scored(image_objects([WORD]), image_objects([WORD]))
    assert (scores["recall"], scores["false_positive_characters"]) == (0.0, 1)
    ring = np.array([[0, 0], [5, -1], [10, 0], [10, 5], [0, 5]])
    image = (image_objects(polygons=[ring]), image_objects(polygons=[ring]))
    found = evidence_of(batch_of([image]), annotation="polygon")
    assert next(found.tally.rows()).gt_characters == 0
    assert len(found.warnings) == 1
    assert "'image 0'" in str(found.warnings[0])


def test_penalty_weights() -> None:
    """A split in two costs the weight."""
    det = words((HALVES[0], ""), (HALVES[1], ""))
    assert scored(words((WORD, "abcdef")), det, recall_granularity_penalty=2.5)["recall"] == 3.5 / 6
    assert scored(words((WORD, "abcdef")), det, recall_granularity_penalty=100.0)["recall"] == 0.0
    assert (
        scored(det_as_gt := words((HALVES[0], "abc"), (HALVES[1], "def")), words((WORD, "")))[
            "precision"
        ]
        == 5 / 6
    )
    assert (
        scored(det_as_gt, words((WORD, "")), precision_granularity_penalty=0.0)["precision"] == 1.0
    )


def test_only_the_paper_clips_every_image() -> None:
    """One character in two pieces: 1 - 4 in one image, 6 in the other."""
    accumulators = [
        Accumulator("cleval", reference=r, recall_granularity_penalty=4.0)
        for r in ("official", "paper")
    ]
    for accumulator in accumulators:
        pieces = words(((0, 0, 8, 10), ""), ((2, 0, 10, 10), ""))
        accumulator.update(words(((0, 0, 10, 10), "a")), pieces)
        accumulator.update(words((WORD, "abcdef")), words((WORD, "")))
    assert [a.compute().scores["recall"] for a in accumulators] == [3 / 7, 6 / 7]


def test_confidences_order_the_detections(tmp_path: Path) -> None:
    """Of two detections of one character the surer comes first: AX + A
    against A leaves another A than A + AX.
    """
    (tmp_path / "gt").mkdir()
    (tmp_path / "gt" / "1.txt").write_text("0,0,20,10,AB\n20,0,40,10,XY\n", encoding="utf-8")
    credits = []
    for confidences in ((0.9, 0.1), (0.1, 0.9)):
        folder = tmp_path / f"det{confidences[0]}"
        folder.mkdir()
        lines = [f"0,0,40,10,{confidences[0]},ABXY", f"0,0,20,10,{confidences[1]},AB"]
        (folder / "1.txt").write_text("\n".join(lines), encoding="utf-8")
        result = evaluate(tmp_path / "gt", folder, "cleval", per_image=True)
        credits.append([one.values["credited_characters"] for one in result.images[0].detections])
    assert credits == [[4.0, 0.0], [2.0, 2.0]]


def test_scale_bins() -> None:
    """Words 10 and 20 high in a picture of 100: each is don't care in the
    other's bin, 0.2 counts in two.
    """
    gt = words(((0, 0, 60, 10), "abcdef"), ((0, 50, 60, 70), "abc"))
    det = words(((0, 0, 60, 10), "abcdef"))
    checked = config.checked("cleval", {"scale_bins": "0,0.15,0.2,1"})
    found = evidence_of(batch_of([(gt, det)], size=100.0), scale_bins="0,0.15,0.2,1")
    rows = cleval.scores(next(found.tally.rows()), checked)["scale_wise"]
    assert [(row["lowest_scale"], row["highest_scale"]) for row in rows] == [
        (0.0, 0.15),
        (0.15, 0.2),
        (0.2, 1.0),
    ]
    assert [row["recall"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["e2e_recall"] for row in rows] == [1.0, 0.0, 0.0]
    assert next(found.tally.rows()).scale_gt_characters == [6, 3, 3]


def test_shorter_sides() -> None:
    """A box, a rectangle turned by 45 degrees (corners rounded), and a line."""
    rings = [
        np.array([[0, 0], [30, 0], [30, 10.4], [0, 10.4]]),
        np.array([[0, 10], [10, 0], [30, 20], [20, 30]]),
    ]
    objects = image_objects(polygons=[*rings, np.array([[0, 0], [3, 3], [5, 5], [9, 9]])])
    side = side_of(objects, shapes.from_objects(objects, Convention()), Convention(), False)
    assert shorter_sides(side) == pytest.approx([10.0, math.hypot(10, 10), 0.0])


@pytest.mark.parametrize("edges", ["0", "0.5,0.1", "a,b", "0,,1", "0,nan"])
def test_refuses_scale_bins_that_are_none(edges: str) -> None:
    with pytest.raises(ConfigError, match="rising numbers"):
        config.checked("cleval", {"scale_bins": edges})


def test_scale_bins_need_sizes() -> None:
    with pytest.raises(InputError, match="'image 0' has no height and width"):
        evidence_of(batch_of([(word(*WORD), word(*WORD))]), scale_bins="0,1")


BOX = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 40), st.integers(0, 20))
SIDE = st.lists(st.tuples(BOX, st.sampled_from(["", "a", "ab", "abba", "###", "ß日b"])), max_size=6)


def boxes_of(entries: list[tuple[tuple[int, int, int, int], str]], is_gt: bool) -> Objects:
    return image_objects(
        [[x, y, x + w, y + h] for (x, y, w, h), _ in entries],
        texts=[text for _, text in entries],
        dont_care=[is_gt and text == "###" for _, text in entries],
    )


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    images=st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=4),
    reference=st.sampled_from(["official", "paper"]),
)
def test_scores_are_shares_and_evidence_adds_up(images: list[Any], reference: str) -> None:
    """Scores lie in [0, 1]; image order and batches do not matter."""
    pairs = [(boxes_of(g, True), boxes_of(d, False)) for g, d in images]
    whole, turned = (
        Accumulator("cleval", reference=reference),
        Accumulator("cleval", reference=reference),
    )
    for pair in pairs:
        whole.update(*pair)
    for pair in reversed(pairs):
        part = Accumulator("cleval", reference=reference)
        part.update(*pair)
        turned.merge(part)
    result = whole.compute()
    assert result.totals == turned.compute().totals
    counts = {
        "splits",
        "merges",
        "missed_characters",
        "overlapped_characters",
        "false_positive_characters",
    }
    for name, value in result.scores.items():
        assert value is None or (value >= 0 and (name in counts or value <= 1)), name


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    grid=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1),
    reference=st.sampled_from(["official", "paper"]),
    data=st.data(),
)
def test_ground_truth_against_itself_is_perfect(
    grid: set[tuple[int, int]], reference: str, data: st.DataObject
) -> None:
    """Where no two objects overlap."""
    texts = data.draw(
        st.lists(st.text("abß日", min_size=1), min_size=len(grid), max_size=len(grid))
    )
    gt = image_objects(
        [[30 * x, 20 * y, 30 * x + 28, 20 * y + 9] for x, y in sorted(grid)], texts=texts
    )
    scores = scored(gt, gt, reference=reference)
    perfect = (
        "recall",
        "precision",
        "hmean",
        "e2e_recall",
        "e2e_precision",
        "e2e_hmean",
        "recognition_score",
    )
    assert {scores[name] for name in perfect} == {1.0}


class TestCharacters:
    """What counts as one character."""

    E_ACUTE, DEVANAGARI, FAMILY = (
        "e\u0301",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "👩\u200d👩\u200d👧",
    )

    def test_code_points(self) -> None:
        assert [
            len(t) for t in texts_of(["é", self.E_ACUTE, "한국", "\u1112\u1161\u11ab", self.FAMILY])
        ] == [
            1,
            2,
            2,
            3,
            5,
        ]

    def test_grapheme_clusters(self) -> None:
        """A letter with its mark, a Hangul syllable in jamo, a family and a
        flag are one character each.
        """
        pytest.importorskip("regex", reason="the optional package regex is not installed")
        samples = [
            "ab",
            self.E_ACUTE,
            "\u1112\u1161\u11ab",
            "한국",
            self.FAMILY,
            "🇰🇷🇫🇷",
            "👍🏽",
            "\r\n",
            "",
        ]
        assert [len(t) for t in texts_of(samples, "grapheme")] == [2, 1, 1, 2, 1, 2, 1, 1, 0]
        assert texts_of([self.DEVANAGARI], "grapheme")[0][:2] == ("\u0928", "\u092e")
        assert len(texts_of([self.DEVANAGARI], "grapheme")[0]) < len(self.DEVANAGARI)

    def test_grapheme_clusters_in_scores(self) -> None:
        """Three clusters of which the second is wrong: 2 of 3, whatever its code points."""
        pytest.importorskip("regex", reason="the optional package regex is not installed")
        gt = words((WORD, f"a{self.E_ACUTE}{self.FAMILY}"))
        det = words((HALVES[0], "ae"), (HALVES[1], self.FAMILY))
        scores = scored(gt, det, character="grapheme", recall_granularity_penalty=0.0)
        assert (scores["recall"], scores["e2e_recall"], scores["e2e_precision"]) == (
            1.0,
            2 / 3,
            2 / 3,
        )

    def test_names_the_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "regex", None)
        with pytest.raises(ConfigError, match="needs the package regex"):
            scored(word(*WORD), word(*WORD), character="grapheme")

    @pytest.mark.parametrize(("form", "same"), [("none", False), ("NFC", True), ("NFKC", True)])
    def test_normalisation(self, form: str, same: bool) -> None:
        assert (
            texts_of(["é"], normalisation=form) == texts_of([self.E_ACUTE], normalisation=form)
        ) is same

    def test_compatibility_characters(self) -> None:
        assert texts_of(["ﬁＡ"], normalisation="NFKC") == ["fiA"]

    def test_case(self) -> None:
        """ß becomes SS in upper case, and ss folded; K of the Kelvin sign is
        a k only when folded.
        """
        assert texts_of(["Straße"], case_sensitive=False) == ["STRASSE"]
        assert texts_of(["Straße\u212a"], case_sensitive=False, case_mapping="fold") == ["strassek"]
        gt, det = words((WORD, "abcdef")), words((WORD, "ABCdef"))
        assert scored(gt, det)["e2e_recall"] == 3 / 6
        assert scored(gt, det, case_sensitive=False)["e2e_recall"] == 1.0

    @settings(deadline=None, derandomize=True, max_examples=200)
    @given(a=st.text("ab日", max_size=9), b=st.text("ab日", max_size=9))
    def test_common_subsequences_are_those_of_the_table(self, a: str, b: str) -> None:
        assert "".join(common_subsequence(a, b)) == reference_cleval.subsequence(
            a, b, ties_left=True
        )
        assert "".join(common_subsequence(b, a)) == reference_cleval.subsequence(
            a, b, ties_left=False
        )
        assert common_length(a, b) == len(reference_cleval.subsequence(a, b, ties_left=True))
        assert common_subsequence(tuple(a), list(b)) == common_subsequence(a, b)
