"""Scores are the same before and after a conversion, under every protocol, unless a note says why
not.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import close
from PIL import Image
from writing import INEXACT, READ_AS, ending

from evaltex_cli.api.arrays import image_objects
from evaltex_cli.conversion import WRITERS
from evaltex_cli.conversion.convert import convert
from evaltex_cli.conversion.write_text import MIXED
from evaltex_cli.errors import counted
from evaltex_cli.evaluation import hints
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import shapes
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Convention

GOLDEN = Path(__file__).parents[1] / "golden"
SETS = [
    *(GOLDEN / "scenes" / f"{kind}-gt.zip" for kind in ("boxes", "quads", "curves")),
    GOLDEN / "totaltext" / "gt.zip",
]
IMAGES = slice(2, 5)
"""Images of a set; in others the centre of a character lies on an outline, and rounding decides."""
BY_TEXTS = ("iou-crw", "cleval", "tedeval", "popeval")
"""Protocols that use transcriptions."""
PICTURES = (3000, 4000)
"""Width and height of the pictures of sets here, for YOLO: larger than any of them."""
LOSING_ALL = (
    r"written as (its|their) bounding|without area|moved by rounding|became don't care"
    r"|don't-care objects? counts? now|transcriptions? left out: the format"
)
LOSING = {"evaltex": "lost (its|their) region", "cleval": "confidences? left out"}
"""Protocol -> notes on what it depends on, besides those of all."""


@pytest.fixture(autouse=True)
def _nothing_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what explains low scores, which takes a seventh of the time."""
    monkeypatch.setattr(hints, "explained", lambda evaluations, *_: list(evaluations))


def scores(gt: Path, det: Path, options: InputOptions) -> dict[str, Any]:
    """Every protocol's, from one pass; nothing of those that are left out without texts."""
    runs = [Run(load(name), config.checked(name, {})) for name in PROTOCOLS]
    scored = evaluate_inputs(open_inputs(gt, det, options), runs)
    found = {one.protocol.name: one.scores for one in scored}
    return {name: found.get(name, {}) for name in PROTOCOLS}


def converted(
    paths: Sequence[Path], folder: Path, target: str, options: InputOptions, images: Path
) -> tuple[dict[str, Any], list[str]]:
    """Convert both sides to a target; return the scores there, and the notes."""
    folder.mkdir()
    notes: list[str] = []
    there = []
    for side, path in zip(("gt", "det"), paths, strict=True):
        there.append(folder / f"{side}{ending(target)}")
        pictures = images if target == "yolo" else None
        how = InputOptions(options.gt_format, options.det_format, images=pictures)
        notes += convert(path, there[-1], side, target, how).notes  # type: ignore[arg-type]
    is_mixed = any(note in (counted(1, MIXED), counted(2, MIXED)) for note in notes)
    form = None if target == "icdar2015" else READ_AS.get(target)
    gt_form = "polygon" if is_mixed else form
    pictures = images if target == "yolo" else None
    return scores(*there, InputOptions(gt_form, form, images=pictures)), notes


def changed(
    before: dict[str, Any], after: dict[str, Any], notes: list[str], target: str
) -> set[str]:
    """The protocols whose scores changed, of which a note must say why."""
    tolerance = 1e-9 if target in INEXACT else 0
    others = {name for name in before if not close(after[name], before[name], tolerance)}
    for name in others:
        pattern = f"{LOSING_ALL}|{LOSING[name]}" if name in LOSING else LOSING_ALL
        assert re.search(pattern, "\n".join(notes)), (name, target, notes)
    return others


def holds_all(target: str, protocol: str, sides: Sequence[Source]) -> bool:
    """Whether a format holds everything of both sides that a protocol's scores depend on."""
    holds, objects = WRITERS[target], [source.objects for source in sides]
    numbers = np.concatenate(
        [part.ravel() for one in objects for part in (one.boxes, one.outlines.vertices)]
    )
    return (
        (holds.polygons or all(one.outlines.all_boxes for one in objects))
        and not (holds.whole and (numbers != np.maximum(np.floor(numbers), 0)).any())
        and (holds.dont_care or not any(one.dont_care.any() for one in objects))
        and (holds.texts or protocol not in BY_TEXTS)
    )


@pytest.mark.slow
@pytest.mark.parametrize("gt", SETS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_sets_score_the_same_in_every_format_that_holds_them(tmp_path: Path, gt: Path) -> None:
    """To the last bit, or to 1e-9 where a format has fractions, percent or confidences in percent."""
    det = gt.with_name(gt.name.replace("gt", "det"))
    paths = [_chosen(path, tmp_path / f"{path.stem}-here.zip") for path in (gt, det)]
    inputs = open_inputs(paths[0], paths[1], InputOptions())
    before = scores(paths[0], paths[1], InputOptions())
    (tmp_path / "pictures").mkdir()
    for name in inputs.gt.names:
        Image.new("1", PICTURES).save(tmp_path / "pictures" / f"{name}.png")
    held = 0
    for target in WRITERS:
        after, notes = converted(
            paths, tmp_path / target, target, InputOptions(), tmp_path / "pictures"
        )
        others = changed(before, after, notes, target)
        expected = {name for name in PROTOCOLS if holds_all(target, name, [inputs.gt, inputs.det])}
        assert not expected & others, (target, expected & others)
        held += len(expected)
    assert held > len(PROTOCOLS) * len(WRITERS) // 3


def _chosen(source: Path, target: Path) -> Path:
    """Write the archive of some images of another one."""
    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(target, "w") as some:
        by_number = {int(re.sub(r"\D", "", name)): name for name in packed.namelist()}
        for number in sorted(by_number)[IMAGES]:
            some.writestr(by_number[number], packed.read(by_number[number]))
    return target


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 3).map(float) | st.sampled_from([0.25, 2.75]), min_size=8, max_size=8),
    st.booleans(),
)
def test_a_box_drawn_by_its_corners_is_measured_as_a_box(
    numbers: list[float], truncated: bool
) -> None:
    """In either direction and from any corner; nothing else is."""
    (a, b), (c, d) = numbers[:2], numbers[2:4]
    for ring in (np.reshape(numbers, (4, 2)), np.array([[a, b], [c, b], [c, d], [a, d]])):
        found = shapes.from_objects(image_objects(polygons=[ring]), Convention(truncated=truncated))
        taken = np.trunc(ring) if truncated else ring
        x0, y0, x1, y1 = *taken.min(axis=0).tolist(), *taken.max(axis=0).tolist()
        corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
        orders = [(corners[k:] + corners[:k])[::step] for k in range(4) for step in (1, -1)]
        assert (found.polygons is None) == (taken.tolist() in orders and x0 < x1 and y0 < y1)
        assert found.boxes.tolist() == [[x0, y0, x1, y1]]
