"""Which images count for intervals: those with an object or a detection, for every protocol."""

from __future__ import annotations

import pytest

from evaltex_cli import compare, image_objects, rank, sweep
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.results.significance import few_units

WORD = [10, 10, 50, 30]
OTHER = [10, 50, 50, 70]
NAMES = [f"img_{k}" for k in range(30)]
GT = dict.fromkeys(NAMES, image_objects()) | {
    "img_0": image_objects([WORD, OTHER], texts=["a", "b"]),
    "img_1": image_objects([WORD], texts=["a"]),
    "img_2": image_objects([WORD], texts=["c"], dont_care=[True]),
}
DET = dict.fromkeys(NAMES, image_objects()) | {
    "img_0": image_objects([WORD], texts=["a"], confidences=[0.9]),
    "img_1": image_objects([WORD], texts=["a"], confidences=[0.8]),
    "img_3": image_objects([WORD], texts=["a"], confidences=[1.0]),
}
LESS = DET | {"img_0": image_objects()}
FOUR = "only 4 images: intervals and p-values are rough with fewer than 20"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_images_without_objects_and_detections_do_not_count(protocol: str) -> None:
    assert few_units(4) == FOUR
    with pytest.warns(match=FOUR):
        compared = compare(GT, {"all": DET, "less": LESS}, protocol, resamples=100)
    assert compared.compared_images == 4
    assert {reason for one in compared.scores for reason in one.interval_reasons} == {
        "4 images cannot show a difference with p < 0.05; at least 6 are needed"
    }
    with pytest.warns(match=FOUR):
        ranking = rank(GT, {"all": DET, "less": LESS}, protocol, resamples=100)
    assert ranking.datasets[0].protocols[protocol].compared_images == 4
    with pytest.warns(match=FOUR):
        swept = sweep(GT, DET, protocol, ci=0.95, resamples=100)
    point = swept.operating_point
    assert point.intervals is not None
    assert point.intervals[load(protocol).main_score] is None
