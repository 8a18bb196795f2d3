"""Files as engines write and data sets ship them, against facts that
independent parsers found in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from shared_data import DATA, content, needs

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.names import stem
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.formats.sizes import with_sizes
from evaltex_cli.records import Floats, Objects

LINES = ("page/ocrd_tesseract_lines_0001.xml",)
"""Inputs that have words and lines, where the facts are of the lines."""
FACTS = [
    fact
    for fact in content("formats/facts.json")
    if fact["path"]
    not in (
        "mmocr/instances_test_0x.jsonl",
        "object-detection-metrics/abs_xywh",
        "alto/escriptorium_cremma",
    )
]
"""Of files that are read; the first two are of formats that are not, and the facts of the third are
of words that have the box of their line, of which the lines are read.
"""
PICTURES = {
    "alto/ccs_docworks_mm10.xml": (1952, 2790),
    "alto/inch1200_float.xml": (2880, 3854),
    "azure/Invoice_1.pdf.ocr.json": (850, 1100),
    "textract/detect_document_text.json": (1000, 2000),
}
"""Width and height of the pictures of an input, whose coordinates are no pixels."""
PAGES = {"textract/detect_document_text.json": (1.0, 1.0)}
"""Width and height of a page in the unit of its coordinates, where the facts do not have them."""
NAMES: dict[str, dict[str, str]] = {
    "label-studio/rectangles_turned.json": {"10959": "image1", "10961": "image3"}
}
"""What images are called here, where the facts name them otherwise."""
TOLERANCE = 1e-4
"""Facts are rounded to four decimals, sums to two; of a polygon they have the first 30 vertices."""


def source_of(path: str, side: Side, folder: Path) -> Source:
    """Read an input; the folder gets a picture of each image if the input needs them."""
    log = FaultLog()
    options = InputOptions(**{f"{side}_level": "line" if path in LINES else None})
    source = read(DATA / "formats" / path, side, options, log)
    log.raise_if_any()
    if path not in PICTURES:
        return source
    for name in source.names:
        Image.new("1", PICTURES[path]).save(folder / f"{name}.png")
    return with_sizes(source, folder)


def first_x(objects: Objects) -> Floats:
    """(n,) x of each object's first vertex, or its box's left side."""
    drawn = objects.outlines
    found = drawn.boxes[:, 0].copy()
    is_polygon = drawn.counts > 0
    found[is_polygon] = drawn.vertices[drawn.offsets[:-1][is_polygon], 0]
    return found


def pixels_per_unit(fact: dict[str, Any]) -> Floats:
    """(2,) what the facts' x and y are multiplied by."""
    if fact["path"] not in PICTURES:
        return np.ones(2)
    sample = next(iter(fact["facts"]["samples"].values()))
    page = PAGES.get(fact["path"], (sample["width"], sample["height"]))
    return np.divide(PICTURES[fact["path"]], page)


def assert_object(
    objects: Objects, i: int, expected: dict[str, Any], scale: Floats, side: Side
) -> None:
    ring = objects.outlines.ring(i)
    found = ring if len(ring) else objects.boxes[i].reshape(2, 2)
    vertices = np.reshape(expected["coordinates"], (-1, 2)) * scale
    if len(vertices) < 3 and expected["vertices"] != "box":  # repeated up to three here
        vertices = vertices[np.minimum(np.arange(len(found)), len(vertices) - 1)]
    assert (len(ring) == 0) == (expected["vertices"] == "box")
    assert len(ring) == (0 if expected["vertices"] == "box" else max(expected["vertices"], 3))
    assert np.abs(found[: len(vertices)] - vertices).max() <= TOLERANCE * scale.max()
    assert objects.texts[i] == expected["text"]
    if side == "gt":
        assert objects.dont_care[i] == expected["dont_care"]
    confidence = float("nan") if objects.confidences is None else objects.confidences[i]
    assert confidence == pytest.approx(expected["confidence"] or np.nan, abs=TOLERANCE, nan_ok=True)


@needs("data/formats")
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["path"])
def test_facts(fact: dict[str, Any], tmp_path: Path) -> None:
    path, facts, side = fact["path"], fact["facts"], fact["side"]
    source = source_of(path, side, tmp_path)
    objects = source.objects
    assert (len(source.names), objects.count) == (facts["images"], facts["objects"])
    if side == "gt":
        assert objects.dont_care.sum() == facts["dont_care"]
    assert sum(map(bool, objects.texts)) == facts["with_text"]
    confidences = (
        np.full(objects.count, np.nan) if objects.confidences is None else objects.confidences
    )
    assert (~np.isnan(confidences)).sum() == facts["with_confidence"]
    scale = pixels_per_unit(fact)
    assert first_x(objects).sum() == pytest.approx(
        facts["sum_of_first_x"] * scale[0], abs=0.01 * scale[0]
    )
    names = source.ids or source.names
    positions = {name: k for k, name in enumerate(names)} | {
        stem(name): k for k, name in enumerate(names)
    }
    for name, sample in facts["samples"].items():
        here = NAMES.get(path, {}).get(name, name)
        k = positions[here] if here in positions else positions[stem(here)]
        start, stop = objects.offsets[k : k + 2].tolist()
        assert stop - start == sample["objects"]
        if sample["width"] is not None:
            assert source.sizes[k].tolist() == [
                sample["height"] * scale[1],
                sample["width"] * scale[0],
            ]
        assert_object(objects, start, sample["first"], scale, side)
        assert_object(objects, stop - 1, sample["last"], scale, side)
