"""Suspects of real ground truths, with the detections of real detectors."""

from __future__ import annotations

import pytest
from shared_data import DATA, needs

from evaltex_cli.audit.audit import audit
from evaltex_cli.audit.places import read
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions

NAMES = ("CTD", "DRRG", "TextBPN", "TextBPN-Plus-Plus", "TextPMs")


@pytest.mark.slow
@needs("data/ctw1500")
def test_ctw1500_by_its_five_detectors() -> None:
    """At 79 places of four detectors or more objects cover less than a tenth. No detector finds 208
    objects at an IoU of 0.5, and 80 of these have no detection on 30 % of their area either.
    """
    folder = DATA / "ctw1500"
    inputs = {
        name: open_inputs(folder / "gt.zip", folder / f"{name}.zip", InputOptions())
        for name in NAMES
    }
    found = audit(inputs, {})
    assert (len(found.independent), found.copies) == (5, {})
    missing = [one for one in found.suspects if one.kind == "missing"]
    counts = [len(one.detectors) for one in missing]
    assert counts[:79] == sorted(counts[:79], reverse=True), "the more agree, the earlier"
    assert (counts.count(5), counts.count(4), counts.count(3)) == (43, 36, 50)
    assert [one.kind for one in found.suspects[:83]].count("missing") == 79
    assert read([*inputs.values()]).finders.count(0) == 208
    assert len([one for one in found.suspects if one.kind == "unfound"]) == 80
