"""The XML of ICDAR 2003 to 2011, and of CTW1500."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read
from reference_deteval import image_totals, pixels_of, setting
from reference_icdar2003 import plain_totals

from evaltex_cli import evaluate
from evaltex_cli.conversion.convert import convert

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
    found = read(write(tmp_path, DOCUMENT))
    assert (found.source.format, found.faults) == ("icdar-xml", [])
    assert found.source.names == ["day_1/IMG_1.JPG", "empty"]
    assert found.source.sizes.tolist() == [[960, 1280], [0, 0]]
    assert found.objects.offsets.tolist() == [0, 3, 3]
    assert found.objects.boxes.tolist() == [[10, 20.5, 109, 49.5], [0, 0, 0, 0], [5, 6, 11, 13]]
    assert found.objects.pixels.tolist() == [[10, 20, 109, 49], [0, 0, -1, -1], [5, 6, 11, 13]]
    assert found.objects.types is None
    assert found.objects.ids.tolist() == [1, 2, 3]
    assert found.texts == ["Café & Bar", "", ""]


def test_sizes_of_street_view_text(tmp_path):
    """Its element has a capital letter."""
    path = write(tmp_path, DOCUMENT.replace("<resolution", "<Resolution"))
    assert read(path).source.sizes.tolist() == [[960, 1280], [0, 0]]


def test_whole_numbers_and_no_types_need_no_columns(tmp_path):
    path = write(
        tmp_path,
        DOCUMENT.replace("20.5", "20.0").replace('width="0" height="0"', 'width="1" height="1"'),
    )
    objects = read(path).objects
    assert objects.pixels is None
    assert objects.types is None


def test_evaluates_against_itself(tmp_path):
    path = write(tmp_path, DOCUMENT)
    found = evaluate(path, path)
    assert (found.totals["counted_gt_objects"], found.scores["recall"]) == (3, pytest.approx(2 / 3))
    assert found.warnings[0] == (
        f"{path}: 1 rectangle of four zeros is an object without area; zero_rectangles=ignored of"
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
        f"{path}: 1 image has rectangles with and without a modelType; those without match any"
    )
    assert evaluate(path, path, "deteval").warnings[0].startswith(expected)


def test_conversion_says_that_types_are_lost(tmp_path):
    path = write(tmp_path, document([[(*WORD, 1), (200, 0, 50, 20, -1)]]))
    assert "1 object type left out" in convert(path, tmp_path / "gt.txt", "gt").notes


# Faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('x="5"', 'x="5px"', "gt.xml:9: x '5px'; expected a finite number"),
        ('x="5"', 'x="nan"', "gt.xml:9: x 'nan'; expected a finite number"),
        ('x="5"', 'x="1e13"', "gt.xml:9: x '1e13'; expected a finite number"),
        ('x="5" ', "", "gt.xml:9: taggedRectangle without x; expected a number there"),
        ('x="5"', 'x="1_0"', "gt.xml:9: x '1_0'; expected a finite number"),
        ('x="5"', 'modelType="word" x="5"', "gt.xml:9: modelType 'word'; expected a finite number"),
        ('width="7"', 'width="-7"', "gt.xml:9: width -7, height 8; expected both at least 1"),
        ('x="1280"', 'x="wide"', "gt.xml:5: x 'wide'; expected a finite number"),
        (
            "</tagset>",
            "<taggedRectangle/></tagset>",
            "gt.xml:13: a taggedRectangle; expected it in",
        ),
        (">empty<", ">../x<", "image name '../x'; expected a name that stays"),
        (">empty<", ">day_1/IMG_1.JPG<", "image name 'day_1/IMG_1.JPG' again"),
        (">empty<", "><", "gt.xml:12: an image without imageName; expected one"),
        ("</tagset>", "", "gt.xml:14: Premature end of data"),
        ("<tagset>", '<!DOCTYPE t [<!ENTITY a "aa">]>\n<tagset>', "entities of a document type"),
        (
            "<tagset>",
            '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<tagset>',
            "entities of a document type",
        ),
    ],
)
def test_faults_name_line_and_expectation(tmp_path, old, new, message):
    assert old in DOCUMENT
    text = DOCUMENT.replace(old, new)
    (fault,) = read(write(tmp_path, text.replace("Bar", "&a;") if "ENTITY" in new else text)).faults
    assert message in fault


# CTW1500 ------------------------------------------------------------------------------------------

CTW1500 = """<Annotations>
 <image file="0200.jpg">
  <box height="20" left="10" top="30" width="90">
   <label> École </label>
   <segs>10,30,40,30,70,35,100,30,100,50,70,50,40,45,10,50</segs>
   <pts x="20" y="40" />
  </box>
  <box height="20" left="10" top="90" width="90"><label>###</label><segs>1,9,10,9</segs></box>
  <box height="20" left="10" top="190" width="90"><label>box</label></box>
 </image>
</Annotations>
"""


def test_ctw1500(tmp_path):
    path = write(tmp_path, CTW1500, "0200.xml")
    found = read(path)
    assert (found.source.format, found.source.names, found.faults) == ("ctw1500-xml", ["0200"], [])
    assert found.texts == ["École", "###", "box"]
    assert found.objects.dont_care.tolist() == [False, True, False]
    assert found.objects.boxes.tolist() == [[10, 30, 100, 50], [1, 9, 10, 9], [10, 190, 100, 210]]
    assert found.objects.outlines.counts.tolist() == [8, 3, 0]
    (fault,) = read(path, "det").faults
    assert "0200.xml:8: 2 vertices; expected three or more" in fault


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<segs>10,30,", "<segs>10,x,", "gt.xml:3: 'x'; expected a finite number"),
        ("<segs>10,30,", "<segs>10,", "gt.xml:3: 15 coordinates; expected an even count"),
        ("<segs>10,30,", "<segs>" + "9" * 400 + ",1,", "gt.xml:3: '9999"),
        ('top="190"', "", "gt.xml:9: box without top; expected a number there"),
        ("</image>", "</image><image/>", "gt.xml:10: 2 image elements; expected one image in each"),
    ],
)
def test_faults_of_ctw1500(tmp_path, old, new, message):
    assert old in CTW1500
    (fault,) = read(write(tmp_path, CTW1500.replace(old, new))).faults
    assert message in fault


@pytest.mark.parametrize(
    ("declared", "encoding", "fault"),
    [
        ("", "utf-8-sig", ""),
        ("", "utf-16", ""),
        ("iso-8859-1", "latin-1", ""),
        ("", "latin-1", "gt.xml:4: "),
        ("no-such", "utf-8", "gt.xml:1: "),
    ],
)
def test_encodings(tmp_path, declared, encoding, fault):
    text = f'<?xml version="1.0" encoding="{declared}"?>{CTW1500}' if declared else CTW1500
    path = tmp_path / "gt.xml"
    path.write_bytes(text.encode(encoding))
    found = read(path)
    assert found.texts[:1] == ([] if fault else ["École"])
    assert [fault in one for one in found.faults] == [True] * bool(fault)


def test_long_texts_and_numbers_take_no_long_time(tmp_path):
    text = CTW1500.replace("<segs>1,", "<segs>" + "9" * 3_000_000 + "x,")
    found = read(write(tmp_path, text.replace(">box<", ">" + "&amp;x" * 500_000 + "<")))
    assert len(found.texts[1]) == 1_000_000
    assert "gt.xml:8: '9999" in found.faults[0] and len(found.faults[0]) < 400
