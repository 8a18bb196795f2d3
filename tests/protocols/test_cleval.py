"""CLEval: the paper's examples, its parameters, and what must hold of any input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Evidence
from evaltex_cli.protocols.cleval import PROTOCOL
from evaltex_cli.protocols.cleval_characters import polygon_centres, side_of
from evaltex_cli.protocols.cleval_text import common_subsequence
from evaltex_cli.records import ImageBatch, Objects

WORD = (0.0, 0.0, 60.0, 10.0)
HALVES = ((0.0, 0.0, 30.0, 10.0), (30.0, 0.0, 60.0, 10.0))


def evidence_of(gt: Objects, det: Objects, size: float = 0.0, **parameters: Any) -> Evidence:
    """Of a single image."""
    batch = ImageBatch(["image 0"], np.full((1, 2), size), gt, det)
    return PROTOCOL.evidence(batch, None, config.checked("cleval", parameters))


def scored(gt: Any, det: Any, **parameters: Any) -> dict[str, Any]:
    accumulator = Accumulator("cleval", **parameters)
    accumulator.update(gt, det)
    return accumulator.compute().scores


def words(*entries: tuple[tuple[float, float, float, float], str]) -> Objects:
    return image_objects(
        [box for box, _ in entries],
        texts=[text for _, text in entries],
        dont_care=[text == "###" for _, text in entries],
    )


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


def test_who_is_credited_with_a_character_found_twice() -> None:
    """c and d: the first detection officially; by the paper both have a half of each (Eq. 6)."""
    gt, det = words((WORD, "abcdef")), words(((0, 0, 40, 10), ""), ((20, 0, 60, 10), ""))
    for reference, correct in (("official", [4, 2]), ("paper", [3, 3])):
        values = evidence_of(gt, det, reference=reference).matches.det.values
        assert values["correct_characters"].tolist() == correct


def test_only_the_program_drops_a_detection_at_the_threshold_of_dont_care() -> None:
    """Half of it is on a don't-care object."""
    gt, det = words((HALVES[0], "###")), words((WORD, ""))
    dropped = [
        evidence_of(gt, det, reference=reference, area_precision=0.5).tally.counted_detections
        for reference in ("official", "paper")
    ]
    assert np.concatenate(dropped).tolist() == [0, 1]


def test_centres_of_a_polygon_with_an_odd_number_of_vertices() -> None:
    """The lower chain has three; its last is the end, wherever the others are."""
    ring = np.array([(0.0, 0.0), (40, 0), (40, 10), (20, 10), (0, 10)])
    assert polygon_centres(ring, 1).tolist() == [[20, 5]]


@pytest.mark.parametrize(("annotation", "area"), [("quad", 600.0), ("polygon", 800.0)])
def test_areas_of_a_crossed_outline(annotation: str, area: float) -> None:
    """Lobes of 800 and 200 pixels: those of a quadrilateral cancel, of a polygon one remains."""
    crossed = image_objects(polygons=[np.array([[0, 0], [60, 20], [60, 0], [0, 40]])], texts=[""])
    parameters = config.checked("cleval", {"annotation": annotation})
    side = side_of(crossed, np.array([False]), parameters)
    assert side.area == pytest.approx([area])


def test_a_dropped_detection_stands_in_the_way_of_a_one_to_one_match() -> None:
    """Two detections of one word, the second half on a don't-care object:
    officially neither matches.
    """
    gt = words((WORD, "abcdef"), ((60, 0, 120, 10), "###"))
    alone, both = words((WORD, "")), words((WORD, ""), ((20, 0, 100, 10), ""))
    assert scored(gt, alone)["recall"] == 1.0
    scores = scored(gt, both)
    names = "recall", "precision", "false_positive_characters"
    assert [scores[name] for name in names] == [0.0, 0.0, 1]


def test_a_tall_word_is_read_from_its_bottom() -> None:
    """a b c d upwards: cd is in the upper half."""
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


@pytest.mark.parametrize("reference", ["official", "paper"])
def test_nothing_scores_nothing(reference: str) -> None:
    """No object, no detection; no object; no detection; don't-care objects
    only; detections without text.
    """
    nothing, one = image_objects(), words((WORD, "abcdef"))
    ignored = words((WORD, "###"))
    pairs = [(nothing, nothing), (nothing, one), (one, nothing), (ignored, nothing), (ignored, one)]
    for gt, det in pairs:
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
    sides = image_objects(polygons=[ring]), image_objects(polygons=[ring])
    found = evidence_of(*sides, annotation="polygon")
    assert next(found.tally.rows()).gt_characters == 0
    assert len(found.warnings) == 1
    assert "'image 0'" in str(found.warnings[0])


def test_penalty_weights() -> None:
    """A split and a merge in two cost the weight."""
    whole, halves = words((WORD, "abcdef")), words((HALVES[0], "abc"), (HALVES[1], "def"))
    for weight, recall in ((2.5, 3.5 / 6), (100.0, 0.0)):
        assert scored(whole, halves, recall_granularity_penalty=weight)["recall"] == recall
    for weight, precision in ((1.0, 5 / 6), (0.0, 1.0)):
        scores = scored(halves, whole, precision_granularity_penalty=weight)
        assert scores["precision"] == precision


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


def test_scale_bins() -> None:
    """Words 10 and 20 high in a picture of 100: each is don't care in the
    other's bin, 0.2 counts in two.
    """
    gt = words(((0, 0, 60, 10), "abcdef"), ((0, 50, 60, 70), "abc"))
    det = words(((0, 0, 60, 10), "abcdef"))
    checked = config.checked("cleval", {"scale_bins": "0,0.15,0.2,1"})
    found = evidence_of(gt, det, size=100.0, scale_bins="0,0.15,0.2,1")
    rows = PROTOCOL.scores(next(found.tally.rows()), checked)["scale_wise"]
    names = "lowest_scale", "highest_scale", "recall", "e2e_recall"
    assert [[row[name] for name in names] for row in rows] == [
        *([0.0, 0.15, 1.0, 1.0], [0.15, 0.2, 0.0, 0.0], [0.2, 1.0, 0.0, 0.0])
    ]
    assert next(found.tally.rows()).scale_gt_characters == [6, 3, 3]


@pytest.mark.parametrize("edges", ["0", "0.5,0.1", "a,b", "0,,1", "0,nan"])
def test_refuses_scale_bins_that_are_none(edges: str) -> None:
    with pytest.raises(ConfigError, match="rising numbers"):
        config.checked("cleval", {"scale_bins": edges})


def test_scale_bins_need_sizes() -> None:
    with pytest.raises(InputError, match="'image 0' has no height and width"):
        evidence_of(words((WORD, "a")), words((WORD, "a")), scale_bins="0,1")


# Any input ---------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=20)
@given(
    grid=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1),
    reference=st.sampled_from(["official", "paper"]),
    data=st.data(),
)
def test_ground_truth_against_itself_is_perfect(
    grid: set[tuple[int, int]], reference: str, data: st.DataObject
) -> None:
    """Where no two objects overlap."""
    texts = data.draw(st.tuples(*(st.text("abß日", min_size=1) for _ in grid)))
    boxes = [[30 * x, 20 * y, 30 * x + 28, 20 * y + 9] for x, y in sorted(grid)]
    gt = image_objects(boxes, texts=texts)
    scores = scored(gt, gt, reference=reference)
    names = ("recall", "precision", "hmean")
    perfect = *names, *(f"e2e_{name}" for name in names), "recognition_score"
    assert {scores[name] for name in perfect} == {1.0}


# Texts --------------------------------------------------------------------------------------------


def test_case() -> None:
    gt, det = words((WORD, "abcdef")), words((WORD, "ABCdef"))
    assert scored(gt, det)["e2e_recall"] == 3 / 6
    assert scored(gt, det, case_sensitive=False)["e2e_recall"] == 1.0
    upper = evidence_of(words((WORD, "Straße")), det, case_sensitive=False).tally.sum()
    assert upper.gt_characters == len("STRASSE")


@settings(deadline=None, derandomize=True, max_examples=60)
@given(rows=st.text("ab日", max_size=9), columns=st.text("ab日", max_size=9))
def test_common_subsequences_are_those_of_the_table(rows: str, columns: str) -> None:
    """Of strings, which the official program fills; a tie goes left."""
    table = [[""] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i, a in enumerate(rows, 1):
        for j, b in enumerate(columns, 1):
            up, left = table[i - 1][j], table[i][j - 1]
            longer = up if len(up) > len(left) else left
            table[i][j] = table[i - 1][j - 1] + a if a == b else longer
    assert common_subsequence(rows, columns) == table[-1][-1]
