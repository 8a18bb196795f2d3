"""Rectangles as Wolf's program reads them from XML: integers, types, zeros."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_deteval import image_totals, pixels_of, setting
from reference_icdar2003 import plain_totals

from evaltex_cli import evaluate
from evaltex_cli.conversion.convert import convert


def write(folder, text, name="gt.xml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rectangle(numbers, kind=-1, name="modelType"):
    given_type = "" if kind == -1 else f' {name}="{kind}"'
    x, y, width, height = numbers
    return f'<taggedRectangle x="{x}" y="{y}" width="{width}" height="{height}"{given_type}/>'


def document(images):
    """Of lists of (x, y, width, height, type)."""
    parts = [
        f"<image><imageName>{k}</imageName><taggedRectangles>"
        + "".join(rectangle(one[:4], one[4]) for one in image)
        + "</taggedRectangles></image>"
        for k, image in enumerate(images)
    ]
    return "<tagset>" + "".join(parts) + "</tagset>"


def random_image(rng):
    """Words in a line of several types, found whole, in pieces, merged,
    twice; fractions; rectangles of zeros.
    """

    def fraction(value):
        return value + rng.choice((0, 0, 0.25, 0.5, 0.9))

    def one(x, y, width, height, kind):
        return fraction(x), fraction(y), fraction(width), fraction(height), kind

    gt, det = [], []
    for k in range(rng.choice((0, 1, 2, 4, 6))):
        x, y, width, height = (
            8 * k + rng.randint(-1, 2),
            rng.randint(-1, 6),
            rng.randint(3, 12),
            rng.randint(2, 8),
        )
        kind = rng.choice((-1, 1, 2))
        other = kind if rng.random() < 0.7 else rng.choice((-1, 1, 2))
        gt.append(one(x, y, width, height, kind))
        half = width // 2
        det += {
            "whole": [one(x, y, width, height, other)],
            "twice": [one(x, y, width, height, other), one(x, y, width, height, kind)],
            "pieces": [
                one(x, y, half, height, other),
                one(x + half, y, width - half, height, kind),
            ],
            "merged": [one(x, y, width + 9, height + 1, other)],
            "missed": [],
        }[rng.choice(("whole", "twice", "pieces", "merged", "missed"))]
    for side in (gt, det):
        if rng.random() < 0.3:
            side.insert(rng.randint(0, len(side)), (0, 0, 0, 0, rng.choice((-1, 1))))
    rng.shuffle(det)
    return gt, det


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 2**32))
def test_agrees_with_the_reference(tmp_path_factory, seed):
    rng = random.Random(seed)
    images = [random_image(rng) for _ in range(8)]
    folder = tmp_path_factory.mktemp("xml")
    paths = [
        write(folder, document(side), f"{k}.xml")
        for k, side in enumerate(zip(*images, strict=True))
    ]
    deteval, icdar2003, rrc = (
        evaluate(*paths, protocol, per_image=True, **parameters)
        for protocol, parameters in (
            ("deteval", {}),
            ("icdar2003", {}),
            ("deteval", {"variant": "rrc"}),
        )
    )
    for k, sides in enumerate(images):
        gt, det = ([pixels_of(*map(str, one[:4])) for one in side] for side in sides)
        types = tuple([one[4] for one in side] for side in sides)
        cared = [False] * len(gt)
        expected = image_totals(gt, cared, det, setting("wolf", 0.8, 0.4), types)
        assert {name: deteval.images[k].totals[name] for name in expected} == pytest.approx(
            expected, abs=1e-12
        )
        expected = image_totals(gt, cared, det, setting("rrc", 0.8, 0.4))
        assert {name: rrc.images[k].totals[name] for name in expected} == pytest.approx(
            expected, abs=1e-12
        )
        expected = plain_totals((gt, cared, det), "dice", 0.4)
        assert {name: icdar2003.images[k].totals[name] for name in expected} == pytest.approx(
            expected, abs=1e-12
        )


WORD = (0, 0, 100, 20)


@pytest.mark.parametrize(
    ("gt", "det", "name", "recall"),
    [
        (1, 1, "modelType", 1.0),
        (1, 2, "modelType", 0.0),
        (1, -1, "modelType", 1.0),
        (-1, 2, "typeModel", 1.0),
        (1, 2, "typeModel", 0.0),
    ],
)
def test_other_types_never_match(tmp_path, gt, det, name, recall):
    """In Wolf's program; all else takes no notice of types."""
    head, tail = "<tagset><image><imageName>1</imageName>", "</image></tagset>"
    paths = [
        write(tmp_path, head + rectangle(WORD, kind, name) + tail, f"{kind}.xml")
        for kind in (gt, det)
    ]
    found = evaluate(*paths, "deteval")
    assert found.scores["recall"] == found.scores["recall_overall"] == recall
    assert evaluate(*paths, "deteval", variant="rrc").scores["recall"] == 1.0
    assert evaluate(*paths, "icdar2003").scores["recall"] == 1.0


def test_a_detection_of_another_type_is_a_rival(tmp_path):
    """With it the object overlaps two: no one-to-one match, but a split whose
    only other part passes as one.
    """
    gt = write(tmp_path, document([[(*WORD, 1)]]), "a.xml")
    det = write(tmp_path, document([[(0, 0, 90, 20, 2), (0, 0, 90, 20, 1)]]), "b.xml")
    found = evaluate(gt, det, "deteval", per_image=True).images[0]
    assert [one.match for one in found.detections] == ["false-positive", "one-to-one"]
    det = write(tmp_path, document([[(0, 0, 50, 20, 2), (50, 0, 50, 20, 1)]]), "b.xml")
    assert evaluate(gt, det, "deteval").scores["recall"] == 0.0


def test_objects_with_and_without_a_type_are_a_warning(tmp_path):
    path = write(tmp_path, document([[(*WORD, 1), (200, 0, 50, 20, -1)], [(*WORD, 3)]]))
    expected = (
        f"{path}: 1 image has rectangles with and without a modelType; those without match any"
    )
    assert evaluate(path, path, "deteval").warnings[0].startswith(expected)


def test_conversion_says_that_types_are_lost(tmp_path):
    path = write(tmp_path, document([[(*WORD, 1), (200, 0, 50, 20, -1)]]))
    assert "1 object type left out" in convert(path, tmp_path / "gt.txt", "gt").notes
