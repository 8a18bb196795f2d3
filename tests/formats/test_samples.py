"""Every format reads its sample as it always did: `tests/samples/expected.json` has all that is in them.

Points, texts, classes, don't care, confidences, IDs and regions, for both sides and every level; how
the boxes of models may be read, and warnings of these.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats import FORMATS, load
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.records import Labels

SAMPLES = Path(__file__).parent.parent / "samples"
EXPECTED = json.loads((SAMPLES / "expected.json").read_text())
NOT_RECOGNISED = ("coco-text-train", "msra-td500-five")
"""Samples whose format a user must name."""


def described(source: Source) -> list[dict[str, object]]:
    """Return the images of a source as `expected.json` has them."""
    objects = source.objects
    images = []
    for k, name in enumerate(source.names):
        described_objects = []
        for row in range(objects.offsets[k], objects.offsets[k + 1]):
            ring = objects.outlines.ring(row)
            points = ring.ravel() if len(ring) else objects.boxes[row]
            one = {"points": points.tolist(), "text": objects.texts[row], "id": objects.ids[row]}
            if objects.dont_care[row]:
                one["dont_care"] = True
            if objects.confidences is not None and not np.isnan(objects.confidences[row]):
                one["confidence"] = pytest.approx(objects.confidences[row], rel=1e-12)
            if objects.regions[row] != objects.ids[row]:
                one["region"] = objects.regions[row]
            if isinstance(objects.labels, Labels) and objects.labels[row]:
                one["label"] = objects.labels[row]
            described_objects.append(one)
        images.append(
            {"name": name, "size": source.sizes[k].tolist(), "objects": described_objects}
        )
    return images


@pytest.mark.parametrize(
    "row", EXPECTED, ids=[f"{row['format']}-{row['level']}-{row['side']}" for row in EXPECTED]
)
def test_sample_reads_as_recorded(row):
    side, faults = row["side"], FaultLog()
    options = {f"{side}_format": row["format"], f"{side}_level": row["level"] or None}
    source = read(SAMPLES / row["sample"], side, InputOptions(**options), faults)
    assert len(faults) == row["faults"]
    assert source.format == row["format"]
    if row["faults"]:
        return
    images = described(source)
    assert [image["name"] for image in images] == [image["name"] for image in row["images"]]
    for image, expected in zip(images, row["images"], strict=True):
        for one, other in zip(image["objects"], expected["objects"], strict=True):
            points = other.pop("points")
            assert one.pop("points") == pytest.approx(points, rel=1e-12, abs=1e-9)
            assert other == one
        assert image["size"] == expected["size"]
    known = source.reading.known if source.reading else ()
    assert list(map(str, known)) == row.get("reading", [])
    warnings = [text.partition(": ")[2] for text in source.warnings]
    assert warnings == row.get("warnings", [])


@pytest.mark.parametrize("name", FORMATS)
def test_every_object_has_a_place(name):
    """Its file and line, or the way to it: ``annotations[3]``; ``anns.3`` if they are by IDs."""
    (file,) = (SAMPLES / name).iterdir()
    source = read(file, "gt", InputOptions(name), FaultLog())
    places = [source.location(row) for row in range(source.objects.count)]
    assert places and len(set(places)) == len(places)
    for place, line, inside in places:
        way = re.fullmatch(r"[\w.\[\]-]*(?:\[\d+\]|\.\d+)[\w.\[\]-]*", inside)
        assert way if line is None else 1 <= line <= len(Path(place).read_bytes().splitlines())


@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_level_and_side_is_recorded(name, side):
    recorded = {row["level"] for row in EXPECTED if (row["format"], row["side"]) == (name, side)}
    assert recorded == {"", *load(name).levels[1:]}, "write its rows into expected.json"


@pytest.mark.parametrize(
    ("name", "form"),
    {row["sample"].partition("/")[0]: row["format"] for row in EXPECTED}.items(),
)
def test_sample_is_recognised_by_its_content(name, form):
    """Whether it is a file, or the only one of a folder."""
    (file,) = (SAMPLES / name).iterdir()
    for path in (file.parent, file) if file.suffix else (file,):
        source = read(path, "det" if name.startswith("chat-") else "gt", InputOptions(), FaultLog())
        assert source.format == form or name in NOT_RECOGNISED
        assert source.why
