"""The XML of ICDAR 2003 to 2011."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_deteval import image_totals, pixels_of, setting
from reference_icdar2003 import plain_totals

from evaltex_cli import InputError, evaluate
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.documents.icdar_xml import FORMAT

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<tagset>
  <image>
    <imageName>day_1/IMG_1.JPG</imageName>
    <resolution x="1280" y="960"/>
    <taggedRectangles>
      <taggedRectangle x="10" y="20.5" width="100" height="30"><tag>Caf&#233; &amp; Bar</tag></taggedRectangle>
      <taggedRectangle x="0" y="0" width="0" height="0"/>
      <taggedRectangle x="5" y="6" width="7" height="8"/>
    </taggedRectangles>
  </image>
  <image><imageName>empty</imageName><taggedRectangles/></image>
</tagset>
"""


def write(folder, text, name="gt.xml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_images_rectangles_and_words(tmp_path):
    faults = FaultLog()
    path = write(tmp_path, DOCUMENT)
    assert FORMAT.recognises(path)
    source = FORMAT.index(path, "gt", faults)
    read = source.read(np.array([1, 0]))
    faults.raise_if_any()
    assert source.names == ["day_1/IMG_1.JPG", "empty"]
    assert read.sizes.tolist() == [[0, 0], [960, 1280]]
    assert read.objects.offsets.tolist() == [0, 0, 3]
    assert read.objects.boxes.tolist() == [[10, 20.5, 109, 49.5], [0, 0, 0, 0], [5, 6, 11, 13]]
    assert read.objects.pixels.tolist() == [[10, 20, 109, 49], [0, 0, -1, -1], [5, 6, 11, 13]]
    assert read.objects.types is None
    assert read.objects.ids.tolist() == [1, 2, 3]
    assert list(read.objects.texts) == ["Café & Bar", "", ""]


def test_sizes_of_street_view_text(tmp_path):
    """Its element has a capital letter."""
    path = write(tmp_path, DOCUMENT.replace("<resolution", "<Resolution"))
    assert FORMAT.index(path, "gt", FaultLog()).read(np.array([0])).sizes.tolist() == [[960, 1280]]


def test_whole_numbers_and_no_types_need_no_columns(tmp_path):
    path = write(
        tmp_path,
        DOCUMENT.replace("20.5", "20.0").replace('width="0" height="0"', 'width="1" height="1"'),
    )
    objects = FORMAT.index(path, "gt", FaultLog()).read(np.array([0, 1])).objects
    assert objects.pixels is None
    assert objects.types is None


def test_evaluates_against_itself(tmp_path):
    path = write(tmp_path, DOCUMENT)
    found = evaluate(path, path)
    assert (found.totals["counted_gt_objects"], found.scores["recall"]) == (3, pytest.approx(2 / 3))
    assert found.warnings[0] == (
        "gt.xml: 1 rectangle of four zeros is an object without area; zero_rectangles=ignored of"
        " deteval and icdar2003 leaves it out"
    )
    for protocol in ("deteval", "icdar2003"):
        assert evaluate(path, path, protocol).scores["recall"] == pytest.approx(2 / 3)
        left_out = evaluate(path, path, protocol, zero_rectangles="ignored", per_image=True)
        assert left_out.scores["recall"] == left_out.scores["precision"] == 1
        assert [one.match for one in left_out.images[0].objects] == [
            "one-to-one",
            "ignored",
            "one-to-one",
        ]


# Rectangles as Wolf's program reads them ----------------------------------------------------------


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
        "gt.xml: 1 image has rectangles with and without a modelType; those without match any"
    )
    assert evaluate(path, path, "deteval").warnings[0].startswith(expected)


def test_conversion_says_that_types_are_lost(tmp_path):
    path = write(tmp_path, document([[(*WORD, 1), (200, 0, 50, 20, -1)]]))
    assert "1 object type left out" in convert(path, tmp_path / "gt.txt", "gt").notes


# Faults -------------------------------------------------------------------------------------------


def faults_of(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        evaluate(path, path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('x="5"', 'x="5px"', "gt.xml:9: x = '5px'; expected numbers x, y, width, height"),
        ('x="5"', 'x="nan"', "gt.xml:9: x = 'nan'; expected numbers"),
        ('x="5"', 'x="1e13"', "gt.xml:9: x = '1e13'; expected numbers"),
        ('x="5" ', "", "gt.xml:9: no attribute x; expected numbers"),
        ('x="5"', 'x="1_0"', "gt.xml:9: x = '1_0'; expected numbers"),
        (
            'x="5"',
            'modelType="word" x="5"',
            "gt.xml:9: modelType = 'word'; expected number modelType",
        ),
        ('width="7"', 'width="-7"', "gt.xml:9: width -7, height 8; expected both at least 1"),
        (
            "<imageName>empty",
            "<imageName>../../etc/x",
            "gt.xml:12: image name '../../etc/x'; expected a name that stays",
        ),
        (
            "<imageName>empty",
            "<imageName>day_1/IMG_1.JPG",
            "gt.xml:12: image name 'day_1/IMG_1.JPG' again",
        ),
        ("<imageName>empty", "<imageName>", "gt.xml:12: image name ''"),
        ("</tagset>", "", "gt.xml:14: no element found; expected well-formed XML"),
    ],
)
def test_faults_name_line_and_expectation(tmp_path, old, new, message):
    assert old in DOCUMENT
    assert message in faults_of(tmp_path, DOCUMENT.replace(old, new))


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t SYSTEM "http://localhost/x.dtd">',
    ],
)
def test_document_types_and_entities_are_refused(tmp_path, doctype):
    text = DOCUMENT.replace("<tagset>", f"{doctype}\n<tagset>").replace("empty<", "&a;<")
    assert "gt.xml:2: a document type declaration; expected none" in faults_of(tmp_path, text)
