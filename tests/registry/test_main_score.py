"""The main score of a protocol, the last that is printed: levels and detectors are chosen, compared and ranked by it."""

from __future__ import annotations

from typing import Any

import pytest

from evaltex_cli import compare, diagnose, find_suspects, image_objects, rank, sweep
from evaltex_cli.protocols import pq

WORDS = [[x, 0, x + 80, 20] for x in range(0, 300, 100)]
GT = [WORDS] * 8
EXACT_BUT_FEW = [WORDS[:2]] * 8
"""RQ 0.8, SQ 1, PQ 0.8."""
ALL_BUT_ROUGH = [[[x, 0, x + 48, 20] for x, *_ in WORDS]] * 8
"""RQ 1, SQ 0.6, PQ 0.6."""
DETECTORS = {"few": EXACT_BUT_FEW, "rough": ALL_BUT_ROUGH}


def test_a_sweep_chooses_by_the_main_score() -> None:
    """The lower level adds a pair of IoU 0.51 and a false detection: RQ rises, PQ falls."""
    boxes = [WORDS[0], [100, 0, 140.8, 20], [200, 100, 280, 120]]
    both = image_objects(boxes, confidences=[0.9, 0.5, 0.5])
    perfect = image_objects(WORDS[:2], confidences=[0.9, 0.9])
    det = [both, perfect] * 10
    found = sweep([WORDS[:2]] * 20, det, "pq", folds=3, ci=0.95)
    assert found.main_score == "pq"
    rq, scores = found.scores["rq"], found.scores["pq"]
    assert rq[0] > rq[1] and scores[0] < scores[1]
    assert found.operating_point.level == 0.9
    assert found.operating_point.level_interval == (0.9, 0.9)
    assert found.operating_point.plateau == (0.9, 0.9)
    assert found.cross_validated is not None
    assert set(found.cross_validated.levels) == {0.9}
    assert found.cross_validated.optimism == 0


def test_the_last_of_the_printed_scores_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(map(str, _by_pq()))
    assert expected[0] == "[0.8, 0.6]"
    monkeypatch.setattr(pq, "PROTOCOL", pq.PROTOCOL._replace(headline=("recall", "pq")))
    assert list(map(str, _by_pq())) == expected


def _by_pq() -> list[Any]:
    """What each feature makes of two detectors that RQ and PQ rank differently."""
    with pytest.warns(match="only 8 images"):
        compared = compare(GT, DETECTORS, "pq")
    with pytest.warns(match="only 8 images"):
        (ranked,) = rank(GT, DETECTORS, "pq").datasets
    what_if = find_suspects(GT, DETECTORS, "pq").what_if["pq"]
    return [
        [round(value or 0, 4) for value in compared.main.values],
        [(one.image, one.after, one.change) for one in compared.images],
        [(one.label, one.rank, one.interval) for one in ranked.protocols["pq"].detectors],
        {label: (one.rank, one.rank_without) for label, one in what_if.items()},
        *[diagnose(GT, det, "pq").summary() for det in DETECTORS.values()],
    ]
