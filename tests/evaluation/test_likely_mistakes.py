"""What was probably not meant so is said by a run and by `validate`: sides swapped, coordinates read
in another way, values in the place of others, objects that are there twice.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_files import in_folder, written, zipped

from evaltex_cli import (
    diagnose,
    evaluate,
    find_suspects,
    image_objects,
    rank,
    sweep,
    validate,
)
from evaltex_cli.evaluation import hints
from evaltex_cli.evaluation.evaluation import AMOUNTS
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.reconciliation.figures import parsed
from evaltex_cli.reconciliation.search import search
from evaltex_cli.records import ImageBatch, Objects, Outlines, offsets_of

GOLDEN = Path(__file__).parents[1] / "golden"
SETS = [
    (GOLDEN / "scenes/boxes-gt.zip", GOLDEN / "scenes/boxes-det.zip"),
    (GOLDEN / "scenes/quads-gt.zip", GOLDEN / "scenes/quads-det.zip"),
    (GOLDEN / "totaltext/gt.zip", GOLDEN / "totaltext/det.zip"),
]
QUAD = "10,10,110,10,110,40,10,40"


def kinds(gt: Path, det: Path) -> list[tuple[str, str]]:
    """What `validate` suspects, by side."""
    suspicions = ("swapped-sides", "texts", "confidences", "coordinates")
    return [(one.side, one.kind) for one in validate(gt, det).problems if one.kind in suspicions]


# Sides that were swapped --------------------------------------------------------------------------

GT = {f"gt_{k}.txt": f"{QUAD},word\n200,10,290,10,290,40,200,40,###\n" for k in range(3)}


@pytest.mark.parametrize(
    ("det", "sign"),
    [
        (
            {f"res_{k}.txt": f"{QUAD}\n" for k in range(3)},
            "the images of the ground truth are named res_... ('res_0.txt')",
        ),
        (
            {f"a/res_{k}.txt": f"{QUAD}\n" for k in range(3)},
            "those of the detections are named gt_... ('gt_0.txt')",
        ),
        (
            {f"{k}.txt": f"{QUAD},0.{k}5\n" for k in range(3)},
            "the ground truth has confidences, and the detections have",
        ),
        (
            {f"{k}.txt": f"{QUAD}\n" for k in range(3)},
            "3 detections are '###', and no object of the ground truth is",
        ),
        ({f"{k}.txt": f"{QUAD}\n" for k in range(3)}, "all detections have the text 'CARE'"),
    ],
)
def test_ground_truth_and_detections_swapped(
    tmp_path: Path, det: dict[str, str], sign: str
) -> None:
    """Whatever the score, which is not low."""
    gt = dict.fromkeys(det, f"{QUAD},CARE\n") if "CARE" in sign else GT
    ours, theirs = zipped(tmp_path / "gt.zip", gt), zipped(tmp_path / "det.zip", det)
    assert ("gt", "swapped-sides") not in kinds(ours, theirs)
    assert not any("swapped" in one for one in evaluate(ours, theirs, "iou").warnings)
    (said,) = (one for one in evaluate(theirs, ours, "iou").warnings if "swapped" in one)
    assert said.startswith("ground truth and detections may have been swapped: ")
    assert sign in said and said.endswith("; give the ground truth first")
    assert ("gt", "swapped-sides") in kinds(theirs, ours)
    assert ("gt", "texts") not in kinds(theirs, ours), "confidences are told as the sign"


def test_a_side_against_itself_or_named_as_the_other_is_not_swapped(tmp_path: Path) -> None:
    gt = zipped(tmp_path / "gt.zip", GT)
    det = zipped(tmp_path / "det.zip", {f"res_{k}.txt": f"{QUAD},0.{k}5\n" for k in range(3)})
    prices = zipped(tmp_path / "prices.zip", {"0.txt": f"{QUAD},0.99\n{QUAD},word\n{QUAD},0.5\n"})
    plain = zipped(tmp_path / "plain.zip", {"0.txt": f"{QUAD}\n"})
    for ours, theirs in ((gt, gt), (det, det), (prices, plain)):
        assert ("gt", "swapped-sides") not in kinds(ours, theirs)


@pytest.mark.parametrize(("gt", "det"), SETS)
def test_whole_sets(gt: Path, det: Path) -> None:
    """Nothing is suspected of them as they are; what is done to them is seen."""
    assert kinds(gt, det) == []
    assert ("gt", "swapped-sides") in kinds(det, gt)
    inputs = open_inputs(gt, det, InputOptions())
    batch = hints.sample(inputs.gt, inputs.det, inputs.paired)
    assert guess(batch) == ""
    for side, title in (("gt", "ground truth"), ("det", "detections")):
        turned = with_boxes(getattr(batch, side), getattr(batch, side).boxes[:, [1, 0, 3, 2]])
        expected = f"x and y are swapped in the {title} "
        assert guess(replace(batch, **{side: turned})).startswith(expected)


# Values that are probably others ------------------------------------------------------------------

BOXES = [(10, 10 + 30 * k, 110, 30 + 30 * k) for k in range(6)]
WORDS = ["to", "be", "or", "not", "to", "be"]
DECIMALS = ["0.91", "0.87", "0.5", "0.99", "1.0", "0.31"]
CLASSES = ["1", "2", "1", "3", "1", "2"]


def table(path: Path, texts: Sequence[str]) -> Path:
    """A table of two images with the same boxes, which has a column of texts."""
    rows = [
        f"img_{image},{','.join(map(str, box))},{text}\n"
        for image in (1, 2)
        for box, text in zip(BOXES, texts, strict=False)
    ]
    return written(path, "image,x0,y0,x1,y1,text\n" + "".join(rows))


@pytest.mark.parametrize(
    ("gt", "det", "what"),
    [
        (WORDS, DECIMALS, "such as '0.91'; are they confidences, not texts?"),
        (WORDS, CLASSES, "such as '1'; are they IDs, classes or confidences, not texts?"),
        (CLASSES, CLASSES[::-1], ""),
        (WORDS, [*CLASSES[:5], "No"], ""),
    ],
)
def test_numbers_for_texts(
    tmp_path: Path, gt: Sequence[str], det: Sequence[str], what: str
) -> None:
    """They may be what was written, on both sides or if they are few."""
    paths = table(tmp_path / "gt.csv", gt), table(tmp_path / "det.csv", det)
    warned = [one for one in evaluate(*paths, "iou").warnings if "are numbers" in one]
    assert (f"{paths[1]}: all transcriptions are numbers, {what}" in warned) is bool(what)
    problems = [one for one in validate(*paths).problems if one.kind == "texts"]
    assert [f"{one.file}: {one.found}; {one.advice}" for one in problems] == warned


FRACTIONS = "all coordinates are in [0, 1], and are read as pixels; if they are fractions"


@pytest.mark.parametrize(
    ("line", "kind", "words", "sides"),
    [
        ("{f},word", "coordinates", FRACTIONS, {"gt", "det"}),
        ("0.9,{b}", "confidences", "the first coordinate of all boxes is in [0, 1]", {"det"}),
        ("{b},word,0.9", "confidences", "all transcriptions end in a number from 0 to 1", {"det"}),
    ],
)
def test_values_in_the_place_of_others(
    tmp_path: Path, line: str, kind: str, words: str, sides: set[str]
) -> None:
    def lines(form: str) -> str:
        of_boxes = [
            (",".join(map(str, box)), ",".join(f"{value / 1000:g}" for value in box))
            for box in BOXES
        ]
        return "".join(form.format(b=b, f=f) + "\n" for b, f in of_boxes)

    gt = in_folder(
        tmp_path / "gt", {"img_1.txt": lines("{f},word" if len(sides) == 2 else "{b},a")}
    )
    det = in_folder(tmp_path / "det", {"img_1.txt": lines(line)})
    warned = [one for one in evaluate(gt, det, "iou").warnings if words in one]
    assert {"gt" if one.startswith(f"{gt}:") else "det" for one in warned} == sides
    found = {side for side, one in kinds(gt, det) if one == kind}
    assert sides <= found


def test_sides_of_nothing(tmp_path: Path) -> None:
    gt, det = table(tmp_path / "gt.csv", WORDS), written(tmp_path / "det.txt", "img_1\n\nimg_2\n")
    assert [one.side for one in validate(gt, det).problems if one.kind == "no-objects"] == ["det"]
    assert "nothing matches; the detections have no object" in evaluate(gt, det, "iou").warnings
    empty = written(tmp_path / "gt.txt", "img_1\n90,120\n")
    assert [one.kind for one in validate(empty).problems] == ["no-objects"]
    nothing = written(tmp_path / "det.json", "[]")
    assert evaluate(gt, nothing, "iou").warnings == [
        "det.json: no image in the detection file, as if nothing was detected"
    ]


# Objects that are there twice ---------------------------------------------------------------------

SAME = "have the same box or polygon as an earlier object of their image"


def twice(warnings: Any) -> list[str]:
    return [one for one in warnings if SAME in one]


def test_objects_that_are_there_twice(tmp_path: Path) -> None:
    once = "".join(f"{','.join(map(str, box))},0.5\n" for box in BOXES[:4])
    gt = zipped(tmp_path / "gt.zip", {"a.txt": once, "b.txt": once})
    det = zipped(tmp_path / "det.zip", {"a.txt": once, "b.txt": once + once})
    said = (
        "detections: 4 of 12 objects have the same box or polygon as an earlier object of their"
        " image (object 5 as object 1 in image 'b'); each of them counts, so remove what is there"
        " twice (`evaltex validate` lists all)"
    )
    for warnings in (
        evaluate(gt, det, "iou").warnings,
        evaluate(gt, det, "evaltex", jobs=2).warnings,
        sweep(gt, det, "iou").warnings,
        diagnose(gt, det, "iou").warnings,
        rank(gt, {"one": det, "other": gt}, "iou").warnings,
        find_suspects(gt, {"one": det, "other": det}).warnings,
        search(gt, det, parsed({"recall": ".9"}), ["iou"], InputOptions()).warnings,
    ):
        assert [one for one in twice(warnings) if said in one], warnings
    listed = [one for one in validate(gt, det).problems if one.kind == "duplicate"]
    assert [(one.image, one.object) for one in listed] == [("b", k) for k in (5, 6, 7, 8)]


@pytest.mark.parametrize(
    ("again", "others", "is_said"),
    [(2, 2, False), (3, 24, True), (3, 25, False), (0, 9, False)],
)
def test_three_and_a_tenth_are_many(again: int, others: int, is_said: bool) -> None:
    boxes = [[20 * k, 0, 20 * k + 9, 9] for k in range(others + 3)]
    found = evaluate({"a": np.array(boxes)}, {"a": np.array(boxes + boxes[:again])}, "iou")
    assert bool(twice(found.warnings)) == is_said


def test_other_images_outlines_and_masks_are_not_the_same() -> None:
    box, quad = [10, 10, 60, 30], [10, 10, 60, 10, 60, 30, 10, 30]
    turned = [60, 10, 60, 30, 10, 30, 10, 10]
    each = {str(k): np.array([box]) for k in range(9)}
    assert not twice(evaluate(each, each, "iou").warnings)
    rings = {
        name: {"a": [np.reshape(one, (-1, 2)) for one in drawn]}
        for name, drawn in (
            ("others", (quad, turned, [*quad[:6], 10, 29])),
            ("same", (quad, turned, quad, quad, turned)),
        )
    }
    assert not twice(evaluate(rings["others"], rings["others"], "iou").warnings)
    (found,) = twice(evaluate(each | {"a": np.array([box])}, rings["same"], "iou").warnings)
    assert "3 of 5 objects" in found and "(object 3 as object 1 in image 'a')" in found
    corners = np.zeros((5, 20, 20), bool)
    for k in range(5):
        corners[k, [0, k, 19, 19 - k], [k, 19, 19 - k, 0]] = True
    assert not twice(evaluate({"a": corners}, {"a": corners}, "iou").warnings)


# Coordinates that were read in another way --------------------------------------------------------

SIZE = np.array([480.0, 640.0])


def scene(seed: int, images: int = 20) -> ImageBatch:
    """Words of some images, and detections near them: some missed, some false."""
    rng = np.random.default_rng(seed)
    sides = []
    corners = [rng.uniform((20, 20), (400, 440), (rng.integers(2, 9), 2)) for _ in range(images)]
    words = [np.column_stack([c, c + rng.uniform((60, 15), (200, 35), c.shape)]) for c in corners]
    for noise, share in ((0.0, 1.0), (2.0, 0.8)):
        parts = [w[: max(1, round(share * len(w)))] + rng.normal(0, noise, (1, 4)) for w in words]
        boxes = np.sort(np.concatenate(parts).reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        sides.append(replace(image_objects(boxes), offsets=offsets_of([len(p) for p in parts])))
    return ImageBatch([f"img_{k}" for k in range(images)], np.tile(SIZE, (images, 1)), *sides)


def guess(batch: ImageBatch) -> str:
    """The words of the best misreading."""
    return hints.best_misreading(batch)[0]


def with_boxes(objects: Objects, boxes: np.ndarray) -> Objects:
    return replace(objects, outlines=Outlines.of_boxes(boxes))


def changed(batch: ImageBatch, change: Callable[[Any], Any]) -> ImageBatch:
    """The batch with other boxes of the detections."""
    return replace(batch, det=with_boxes(batch.det, change(batch.det.boxes)))


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b[:, [1, 0, 3, 2]], "x and y are swapped in the detections"),
        (
            lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]]),
            "in the detections are x1,y1 rather than width,height",
        ),
        (lambda b: b + np.tile((b[:, 2:] - b[:, :2]) / 2, 2), "in the detections are its centre"),
        (
            lambda b: np.column_stack([b[:, 0], 480 - b[:, 3], b[:, 2], 480 - b[:, 1]]),
            "from the bottom",
        ),
        (lambda b: b / 2, "another scale: they fit when multiplied by about 2 "),
        (lambda b: b / [640, 480, 640, 480], "multiplied by about 6"),
    ],
)
def test_misread_coordinates_are_guessed(seed: int, change: Any, words: str) -> None:
    found = guess(changed(scene(seed), change))
    assert words in found
    before, after = map(float, re.findall(r"IoU ([0-9.]+) as read, ([0-9.]+) so", found)[0])
    assert after >= before + hints.LEAST_GAIN


def test_fractions_and_resized_pictures_of_many_sizes() -> None:
    batch = scene(4, images=40)
    factors = np.random.default_rng(4).uniform(0.5, 3, (40, 2))
    gt = with_boxes(batch.gt, batch.gt.boxes * np.tile(factors, 2)[batch.gt.image])
    grown = replace(batch, sizes=SIZE * factors[:, ::-1], gt=gt)
    fractions = changed(grown, lambda b: b / [640, 480, 640, 480])
    assert "fractions of the picture's width and height" in guess(fractions)
    assert re.search(r"pictures resized to about 6(39|4[01]) x 4(79|8[01]) ", guess(grown))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda b, size: b * [1.5, 0.4, 1.5, 0.4] / size[:, [1, 0, 1, 0]] * 600,
            "another scale in",
        ),
        (lambda b, size: b * [1, -1, 1, -1] + size[:, [0]] * [0, 1, 0, 1], "y is flipped"),
        (lambda b, size: b * [-1, 1, -1, 1] + size[:, [1]] * [1, 0, 1, 0], "x is mirrored"),
        (lambda b, size: b + size[:, [1, 0, 1, 0]] / 3, "are moved in each image"),
        (lambda b, size: (b + size[:, [1, 0, 1, 0]] / 3) * size[:, [0]] / 400, "resized and moved"),
        (lambda b, size: b + 40, "they fit when -40 (x) and -40 (y) are added"),
        (
            lambda b, size: b + (b[:, [3]] - b[:, [1]]) * [-0.5, -0.5, 0.5, 0.5],
            "are padded by about",
        ),
    ],
)
def test_pictures_of_unknown_sizes(change: Any, words: str) -> None:
    """What depends on the size of each picture is seen though the sizes are not known."""
    batch = replace(scene(7, images=40), sizes=np.zeros((40, 2)))
    sizes = SIZE * np.random.default_rng(7).uniform(0.8, 2.5, (40, 2))
    boxes = change(batch.det.boxes, sizes[batch.det.image]).reshape(-1, 2, 2)
    boxes = np.hstack([boxes.min(axis=1), boxes.max(axis=1)])
    assert words in guess(changed(batch, lambda _: boxes))
    other = scene(8, images=40).det
    assert guess(replace(batch, det=other)) == ""


@pytest.mark.parametrize(("step", "which"), [(1, "before"), (-1, "after")])
def test_shifted_images_are_guessed(step: int, which: str) -> None:
    batch = scene(5)
    counts = np.roll(np.diff(batch.det.offsets), step)
    rows = np.roll(batch.det.boxes, counts[0] if step == 1 else -counts[-1], axis=0)
    det = replace(image_objects(rows), offsets=offsets_of(counts))
    assert f"those of the image {which}" in guess(replace(batch, det=det))


@pytest.mark.parametrize("seed", range(2))
def test_no_guess_where_the_sides_agree_or_have_nothing_in_common(seed: int) -> None:
    batch = scene(seed)
    assert guess(batch) == ""
    assert guess(replace(batch, det=scene(seed + 100).det)) == ""


# What a run says of low scores --------------------------------------------------------------------

IMAGES = 40
Box = tuple[float, float, float, float]


def boxes_of(image: int) -> list[Box]:
    rng = random.Random(image)
    corners = [(rng.randrange(1000), rng.randrange(600)) for _ in range(8)]
    return [(x, y, x + 60 + 13 * k, y + 20 + 3 * k) for k, (x, y) in enumerate(corners)]


def archive(path: Path, read: Callable[[Box], Box], text: str = "", first: int = 0) -> Path:
    files = {
        f"img_{k}.txt": "".join(
            ",".join(f"{value:.6g}" for value in read(box)) + f"{text}\n"
            for box in boxes_of(k + first)
        )
        for k in range(IMAGES)
    }
    return zipped(path, files)


def as_drawn(box: Box) -> Box:
    return box


def reported(
    tmp_path: Path, det: Callable[[Box], Box], protocol: str = "iou", text: str = "", first: int = 0
) -> list[str]:
    gt = archive(tmp_path / "gt.zip", as_drawn, ",word")
    return evaluate(gt, archive(tmp_path / "det.zip", det, text, first), protocol).warnings


def padded(box: Box) -> Box:
    margin = 0.8 * (box[3] - box[1])
    return (box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin)


@pytest.mark.parametrize("protocol", ["evaltex", "cleval", "iou"])
@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda box: (box[1], box[0], box[3], box[2]), "; x and y are swapped in the detections"),
        (lambda box: (box[0] / 1280, box[1] / 720, box[2] / 1280, box[3] / 720), "about 1,280 (x)"),
        (padded, "the detections are padded by about 0.3"),
    ],
)
def test_boxes_that_disagree_are_explained_whatever_the_score(
    tmp_path: Path, protocol: str, read: Callable[[Box], Box], words: str
) -> None:
    """Some protocols are lenient, so that a score that a mistake made is not low."""
    (warning,) = reported(tmp_path, read, protocol)
    assert warning.startswith(AMOUNTS) and words in warning


def test_nothing_matches_and_nothing_explains_it(tmp_path: Path) -> None:
    """The command that finds the reason is named; if only the texts differ, this is said."""
    (warning,) = reported(tmp_path, as_drawn, first=1)
    assert "the detections named for one image are those of the image after" in warning
    (warning,) = reported(tmp_path, as_drawn, first=500)
    assert warning.endswith(
        "matches; no other reading of the coordinates makes both sides agree; see `evaltex validate"
        " GT DET`"
    )
    (warning,) = reported(tmp_path, as_drawn, "iou-crw", ",other")
    assert warning == (
        "nothing matches; the boxes agree (mean best IoU 1.00), but not the texts; see `evaltex"
        " diagnose GT DET --protocol iou-crw`"
    )
    assert reported(tmp_path, as_drawn) == []
