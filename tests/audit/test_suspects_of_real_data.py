"""Suspects of real ground truths, with the detections of real detectors."""

from __future__ import annotations

import pytest
from shared_data import DATA, needs

from evaltex_cli.audit.audit import Audit, audited
from evaltex_cli.audit.evidence import Evidence, read
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats.options import InputOptions

OF_CTW1500 = needs("data/ctw1500")


def ctw1500_inputs() -> dict[str, Inputs]:
    folder = DATA / "ctw1500"
    names = ("CTD", "DRRG", "TextBPN", "TextBPN-Plus-Plus", "TextPMs")
    options = InputOptions()
    return {name: open_inputs(folder / "gt.zip", folder / f"{name}.zip", options) for name in names}


@pytest.fixture(scope="module")
def ctw1500() -> Audit:
    """CTW1500 as it is, by its five detectors."""
    return audited(ctw1500_inputs())


@pytest.fixture(scope="module")
def evidence_of_ctw1500() -> Evidence:
    return read([*ctw1500_inputs().values()])[0]


@pytest.mark.slow
@OF_CTW1500
def test_ctw1500_has_79_places_of_four_detectors_without_an_object(
    ctw1500: Audit, evidence_of_ctw1500: Evidence
) -> None:
    """Objects cover less than a tenth of 79; 75 share no area with any, and 73 if an IoU of 0.6
    instead of 0.5 is asked of detections that agree.
    """
    missing = [one for one in ctw1500.suspects if one.kind == "missing"]
    counts = [len(one.detectors) for one in missing]
    assert counts[:79] == sorted(counts[:79], reverse=True), "the more agree, the earlier"
    assert (counts.count(5), counts.count(4), counts.count(3)) == (43, 36, 50)
    assert [one.kind for one in ctw1500.suspects[:83]].count("missing") == 79
    det, names = evidence_of_ctw1500.scene.det, evidence_of_ctw1500.scene.names
    alone = evidence_of_ctw1500.places.centre[evidence_of_ctw1500.covered == 0]
    boxes = {(names[det.image[row]], *det.boxes[row].tolist()) for row in alone.tolist()}
    assert sum((one.image, *one.box) in boxes for one in missing[:79]) == 75


@pytest.mark.slow
@OF_CTW1500
def test_no_detector_of_ctw1500_finds_208_of_3068_objects(
    ctw1500: Audit, evidence_of_ctw1500: Evidence
) -> None:
    """At an IoU of 0.5; 80 of them have no detection on 30 % of their area either."""
    finders = evidence_of_ctw1500.finders
    assert (len(finders), int((finders == 0).sum())) == (3068, 208)
    assert len([one for one in ctw1500.suspects if one.kind == "unfound"]) == 80


@pytest.mark.slow
@OF_CTW1500
def test_ctw1500_has_five_independent_detectors(ctw1500: Audit) -> None:
    assert len(ctw1500.independent) == 5
    assert ctw1500.copies == {}
