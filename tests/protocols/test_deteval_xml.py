"""Rectangles as Wolf's program reads them from XML: integers, types, zeros."""

import pytest

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


def test_numbers_are_cut_one_by_one(tmp_path):
    """x 8.9 and width 3.9 are columns 8 to 10: three of four, less than 80 %."""
    gt = write(tmp_path, document([[(8, 0, 4, 10, -1)]]), "a.xml")
    for width, recall in ((3.9, 0), (4.9, 1)):
        det = write(tmp_path, document([[(8.9, 0.9, width, 10.9, -1)]]), "b.xml")
        for protocol in ("deteval", "icdar2013"):
            assert evaluate(gt, det, protocol).scores["recall"] == recall
        dice = evaluate(gt, det, "icdar2003").scores["recall"]
        assert dice == pytest.approx(1 if recall else 2 * 3 / 7)


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
