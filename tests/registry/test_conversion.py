"""Scores are the same before and after a conversion, there and back, under
every protocol, unless it said why not.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaltex_cli.conversion.base import Holds
from evaltex_cli.conversion.base import load as load_writer
from hypothesis import given, settings
from hypothesis import strategies as st
from mat_sample import total_text_mat
from nested import close
from PIL import Image
from sample_words import SIZES, Sample
from samples import SAMPLES, written

from evaltex_cli.conversion import WRITERS, Target, holding, write_coco, write_evaltex, write_icdar
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import counted
from evaltex_cli.evaluation import likely_mistakes
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.evaluation.evaluate import evaluate_inputs
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.evaluation.tally import Run
from evaltex_cli.geometry import shapes
from evaltex_cli.old_formats import load as load_format
from evaltex_cli.old_formats.base import ReadImages, Side, Source
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Convention

GOLDEN = Path(__file__).parents[1] / "golden"
SETS = [
    *(GOLDEN / "scenes" / f"{kind}-gt.zip" for kind in ("boxes", "quads", "curves")),
    GOLDEN / "totaltext" / "gt.zip",
]
TURNS = 3
"""Samples take turns: each is written in one target of so many."""
IMAGES = slice(2, 5)
"""Images of a set; in others the centre of a character lies on an outline, and rounding decides."""
IN_FRACTIONS = ("textract", "textract-line", "azure-read", "chat-boxes")
"""Samples that need the pictures."""
BY_TEXTS = ("iou-crw", "cleval", "tedeval", "popeval")
"""Protocols that use transcriptions."""
PICTURES = (3000, 4000)
"""Width and height of the pictures of sets here, for YOLO: larger than any of them."""
LOSING = {
    "evaltex": [
        write_icdar.REGIONS_LOST,
        write_coco.REGIONS_LOST,
        holding.REGIONS_LOST,
        holding.RUNS_LOST,
    ],
    "cleval": [
        write_icdar.CONFIDENCES_LOST,
        write_evaltex.NO_CONFIDENCES,
        holding.CONFIDENCES_LOST,
    ],
}
"""Protocol -> notes on what it depends on."""
LOSING_ALL = [
    write_icdar.BOXED,
    write_icdar.SHORT,
    write_icdar.BECAME_DONT_CARE,
    write_coco.SHORT,
    write_coco.ROUNDED,
]
LOSING_ALL += [write_evaltex.WITHOUT_AREA, write_evaltex.ROUNDED]
LOSING_ALL += [
    holding.BOXED,
    holding.SHORT,
    holding.ROUNDED,
    holding.BECAME_DONT_CARE,
    holding.DONT_CARE_LOST,
]
LOSING_ALL += [holding.TEXTS_LOST]
WITHOUT_DONT_CARE = [
    name
    for name in WRITERS
    if (holds := load_writer(name).holds) is not None and not holds.dont_care
]
WITH_SIZES = [name for name in WRITERS if (load_writer(name).holds or Holds()).needs_sizes]
WITHOUT_SIZES = [name for name in WRITERS if name not in WITH_SIZES]
BACK = ("evaltex", "icdar2015", "icdar2013", "coco")
"""From these to each other, too."""
WAYS = list(itertools.permutations(BACK, 2))
_known: dict[str, dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def _nothing_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what explains low scores, which takes a seventh of the time."""
    monkeypatch.setattr(likely_mistakes, "explained", lambda evaluations, _: list(evaluations))


def scores(
    gt: Path, det: Path, gt_format: str | None, det_format: str | None, images: Path | None = None
) -> dict[str, Any]:
    """Every protocol's, from one pass; the same objects are scored once."""
    inputs = open_inputs(gt, det, InputOptions(gt_format, det_format, images))
    key = hashlib.sha256()
    for source in (inputs.gt, inputs.det):
        about = (
            source.names,
            load_format(source.format).four_corners,
            *columns_of(everything(source)),
        )
        key.update(repr(about).encode("utf-8", "surrogatepass"))
    if key.hexdigest() not in _known:
        runs = [Run(load(name), config.checked(name, {})) for name in PROTOCOLS]
        scored = {one.protocol.name: one.scores for one in evaluate_inputs(inputs, runs)}
        _known[key.hexdigest()] = {
            name: scored.get(name, {}) for name in PROTOCOLS
        }  # some are left out without texts
    return _known[key.hexdigest()]


def everything(source: Source) -> ReadImages:
    return source.part(np.arange(len(source.names))).read()


def columns_of(images: ReadImages) -> list[Any]:
    """All that is known of the objects of some images."""
    objects = images.objects
    confidences = [] if objects.confidences is None else objects.confidences.tolist()
    drawn = [objects.boxes, objects.outlines.vertices, objects.outlines.offsets, objects.offsets]
    columns = [*drawn, objects.ids, objects.regions, objects.dont_care, images.sizes]
    return [*(column.tolist() for column in columns), list(objects.texts), confidences]


def converted(
    source: Path,
    folder: Path,
    side: Side,
    target: str,
    format_name: str | None,
    images: Path | None = None,
) -> tuple[Path, list[str]]:
    """Convert, and return the sentences that say what was lost."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{side}{load_writer(target).ending}"
    notes = convert(
        source, path, side, Target(target), InputOptions(format_name, format_name, images)
    ).notes
    return path, list(notes)


def says(notes: list[str], sentence: str) -> bool:
    """Whether a sentence is among the notes, with whatever count."""
    counts = [int(re.match("[0-9]*", note)[0] or 0) for note in notes]
    return any(note == counted(count, sentence) for count, note in zip(counts, notes, strict=True))


def assert_neutral(
    gt: Path,
    det: Path,
    folder: Path,
    formats: tuple[str | None, str | None] = (None, None),
    images: Path | None = None,
    targets: Sequence[str] = WITHOUT_SIZES,
) -> set[tuple[str, str]]:
    """Convert to some targets, and from one to another; return protocols and ways whose scores
    changed, with a note.

    `images` has the pictures, for inputs in fractions of the page. Which way leads through two
    targets depends on the folder's name; all ways are taken by the tests together.
    """
    before = scores(gt, det, *formats, images)
    noted = set()
    two = way_of(folder.name)
    for target in dict.fromkeys([*targets, two[0]]):
        gt_there, lost = converted(gt, folder / target, "gt", target, formats[0], images)
        det_there, also_lost = converted(det, folder / target, "det", target, formats[1], images)
        there = "polygon" if says(lost, write_icdar.MIXED) else load_writer(target).format
        det_format = load_writer(target).format
        noted |= compared(
            before, scores(gt_there, det_there, there, det_format), lost + also_lost, target
        )
        for back in BACK:
            if (target, back) == two:
                gt_back, lost_back = converted(gt_there, folder / target / back, "gt", back, there)
                det_back, also_lost_back = converted(
                    det_there, folder / target / back, "det", back, None
                )
                lost_all = lost + also_lost + lost_back + also_lost_back
                gt_format = "polygon" if says(lost_back, write_icdar.MIXED) else None
                noted |= compared(
                    before,
                    scores(gt_back, det_back, gt_format, None),
                    lost_all,
                    f"{target}, {back}",
                )
    return noted


def way_of(name: str) -> tuple[str, str]:
    return WAYS[sum(map(ord, name)) % len(WAYS)]


def test_every_way_through_two_formats_is_taken_by_a_sample() -> None:
    assert set(map(way_of, SAMPLES)) == set(WAYS)


def compared(
    before: dict[str, Any], after: dict[str, Any], lost: list[str], way: str
) -> set[tuple[str, str]]:
    noted = set()
    for protocol, expected in before.items():
        holds = load_writer(way.partition(",")[0]).holds or Holds()
        if not close(after[protocol], expected, 0 if holds.exact else 1e-9):
            reasons = [says(lost, sentence) for sentence in LOSING_ALL + LOSING.get(protocol, [])]
            assert any(reasons), (protocol, way, lost)
            noted.add((protocol, way))
    return noted


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAMPLES, "totaltext-mat"])
def test_samples_score_the_same(tmp_path: Path, name: str) -> None:
    """A target knows nothing of the format that objects come from: so it gets those of every third
    sample."""
    if name == "totaltext-mat":
        pytest.importorskip("scipy", reason="scipy, which writes the samples, is not installed")
    gt: Sample = total_text_mat() if name == "totaltext-mat" else SAMPLES[name]
    det = gt if gt.det else SAMPLES["coco"]
    gt_path, det_path = written(tmp_path / "gt", gt, "gt"), written(tmp_path / "det", det, "det")
    images = tmp_path / "pictures" if name in IN_FRACTIONS else None
    if images is not None:
        images.mkdir()
        for k, size in enumerate(SIZES, 1):
            Image.new("L", size).save(images / f"{k}.png")
    noted = assert_neutral(
        gt_path,
        det_path,
        tmp_path / name,
        (gt.gt_format, det.det_format),
        images,
        WITHOUT_SIZES[[*SAMPLES, "totaltext-mat"].index(name) % TURNS :: TURNS],
    )
    assert all(way in WITHOUT_DONT_CARE for _, way in noted), (
        "words and rectangles: every target holds them"
    )
    assert gt.has_dont_care or not noted


def holds_all(target: str, protocol: str, sides: list[ReadImages]) -> bool:
    """Whether a format holds everything of both sides that a protocol's scores depend on."""
    holds = load_writer(target).holds or Holds(regions=True, dont_care=True)
    all_objects = [images.objects for images in sides]
    only_boxes = target == "icdar2013" or holds.most_vertices == 0
    if only_boxes and not all(objects.outlines.all_boxes for objects in all_objects):
        return False
    if holds.whole:
        numbers = np.concatenate(
            [part.ravel() for one in all_objects for part in (one.boxes, one.outlines.vertices)]
        )
        if (numbers != np.maximum(np.floor(numbers), 0)).any():
            return False
    has_dont_care = any(objects.dont_care.any() for objects in all_objects)
    return (holds.dont_care or not has_dont_care) and (holds.texts or protocol not in BY_TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize("gt", SETS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_sets_score_the_same_in_every_format_that_holds_them(tmp_path: Path, gt: Path) -> None:
    """To the last bit, or to 1e-9 where a format has fractions, percent or confidences in percent.

    Where a format does not hold a set, scores are the same or a note says why not.
    """
    det = gt.with_name(gt.name.replace("gt", "det"))
    numbers = sorted(_numbered(gt))[IMAGES]
    paths = [
        _chosen(path, tmp_path / f"{side}-here.zip", numbers)
        for path, side in ((gt, "gt"), (det, "det"))
    ]
    inputs = open_inputs(*paths, InputOptions())
    sides = [everything(inputs.gt), everything(inputs.det)]
    before = scores(*paths, None, None)
    images = pictures_of(tmp_path, inputs.gt.names)
    held = 0
    for target in WRITERS:
        writer = load_writer(target)
        sized = images if target in WITH_SIZES else None
        (gt_there, lost), (det_there, more_lost) = (
            converted(path, tmp_path / target, side, target, None, sized)
            for path, side in zip(paths, ("gt", "det"), strict=True)  # type: ignore[arg-type]
        )
        there = "polygon" if says(lost, write_icdar.MIXED) else writer.format
        after = scores(gt_there, det_there, there, writer.format, sized)
        noted = compared(before, after, lost + more_lost, target)
        for protocol in PROTOCOLS:
            is_held = holds_all(target, protocol, sides)
            assert not (is_held and (protocol, target) in noted), (
                protocol,
                target,
                after[protocol],
                before[protocol],
            )
            held += is_held
    assert held > len(PROTOCOLS) * len(WRITERS) // 3


def pictures_of(folder: Path, names: Sequence[str]) -> Path:
    """A folder with a picture of each image; only their sizes count."""
    (folder / "pictures").mkdir()
    for name in names:
        Image.new("1", PICTURES).save(folder / "pictures" / f"{name}.png")
    return folder / "pictures"


def _numbered(path: Path) -> dict[int, str]:
    with zipfile.ZipFile(path) as packed:
        return {int("".join(filter(str.isdigit, name))): name for name in packed.namelist()}


def _chosen(source: Path, target: Path, numbers: list[int]) -> Path:
    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(target, "w") as some:
        for number, name in _numbered(source).items():
            if number in numbers:
                some.writestr(name, packed.read(name))
    return target


@pytest.mark.slow
def test_a_set_in_which_one_object_has_more_vertices(tmp_path: Path) -> None:
    """CLEval takes all its quadrilaterals for polygons, whatever the format
    says, and wherever that object is.
    """
    far = "300,10,310,0,320,10,320,30,300,30"
    names = [f"{k}.txt" for k in range(40)]
    for kind in ("quad", "polygon"):
        (tmp_path / kind).mkdir()
        for k, name in enumerate(names):
            last = f"{far},far\n" if kind == "polygon" and k == 39 else ""
            (tmp_path / kind / name).write_text(f"10,10,110,12,110,40,10,40,word\n{last}")
    (tmp_path / "det").mkdir()
    for name in names:
        (tmp_path / "det" / name).write_text(
            "200,200,210,200,210,260,200,260\n10,10,110,12,110,40,10,40\n"
        )
    characters = {"quad": 6 * len(names), "polygon": len(names)}
    for kind, count in characters.items():
        noted = assert_neutral(
            tmp_path / kind, tmp_path / "det", tmp_path / f"{kind}-there", (kind, "quad")
        )
        assert all("icdar2013" in way or way in WITHOUT_DONT_CARE for _, way in noted)
        found = scores(tmp_path / kind, tmp_path / "det", kind, "quad")["cleval"]
        assert found["false_positive_characters"] == count


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 3).map(float) | st.sampled_from([0.25, 2.75]), min_size=8, max_size=8),
    st.booleans(),
)
def test_a_box_drawn_by_its_corners_is_measured_as_a_box(
    numbers: list[float], truncated: bool
) -> None:
    """In either direction and from any corner; nothing else is."""
    ring = np.array(numbers).reshape(4, 2)
    for drawn in (
        ring,
        np.array([ring[0], [ring[1, 0], ring[0, 1]], ring[1], [ring[0, 0], ring[1, 1]]]),
    ):
        found = shapes.from_objects(
            image_objects(polygons=[drawn]), Convention(truncated=truncated)
        )
        taken = np.trunc(drawn) if truncated else drawn
        x0, y0, x1, y1 = *taken.min(axis=0).tolist(), *taken.max(axis=0).tolist()
        corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
        orders = [(corners[k:] + corners[:k])[::step] for k in range(4) for step in (1, -1)]
        is_box = taken.tolist() in orders and x0 < x1 and y0 < y1
        assert (found.polygons is None) == is_box
        assert found.boxes.tolist() == [[x0, y0, x1, y1]]
