"""ArT, COCO-Text, TextOCR, HierText and ReCTS: what each record means, and faulty documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from json_documents import ART, COCO_TEXT, CURVE, HIERTEXT, QUAD, changed
from reading import described, read
from written_files import written


def test_coco_text_reads_val_or_train(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.json", COCO_TEXT)
    found = read(path)
    assert (found.source.format, found.source.names, found.faults) == ("coco-text", ["5"], [])
    assert (found.source.ids, found.source.has_file_names) == (["5"], False)
    assert found.objects.ids.tolist() == [45346, 45347]
    assert found.objects.dont_care.tolist() == [False, True]
    assert found.rings == [QUAD, []]
    assert described(found)[1] == ([100, 10, 105, 12], "")
    assert found.source.sizes.tolist() == [[480, 640]]
    assert found.warnings == ["1 image that is not of the set 'val' was left out"]
    train = read(path, "gt", "coco-text-train")
    assert (train.source.names, train.rings) == (["6"], [CURVE])
    whole = read(written(path, changed(COCO_TEXT, "imgs", "5", "set", to="test")))
    assert (whole.source.names, whole.warnings) == (["5", "6"], [])
    broken = written(path, changed(COCO_TEXT, "anns", "1", "mask", to="x"))
    assert len(read(broken, "gt", "coco-text-train").faults) == 1
    assert read(broken, "gt", "textocr").faults[-1].startswith("content of the format coco-text")


def test_hiertext_words_that_make_lines_and_paragraphs(tmp_path: Path) -> None:
    """Lines and paragraphs say whether they count; a line without words is its own polygon."""
    box = {"vertices": [[0, 0], [9, 0], [9, 9], [0, 9]]}
    far = {"vertices": [[50, 0], [59, 0], [59, 9], [50, 9]]}
    lines = [
        box | {"legible": False, "words": [box, far]},
        box | {"legible": True, "text": "alone", "words": []},
    ]
    paragraphs = [
        {"legible": True, "lines": [{"legible": True, "words": [box | {"legible": False}, far]}]},
        box | {"legible": False, "lines": lines},
        box | {"legible": True, "lines": []},
    ]
    document = {"annotations": [{"image_id": "i", "paragraphs": paragraphs}]}
    path = written(tmp_path / "gt.jsonl", document)
    words = read(path, level="line-words")
    assert (words.faults, words.warnings) == ([], [])
    assert words.objects.regions.tolist() == [1, 1, 2, 2, 3]
    assert words.objects.dont_care.tolist() == [False, False, True, True, False]
    words = read(path, level="paragraph-words")
    assert words.objects.regions.tolist() == [1, 1, 2, 3]
    assert words.objects.dont_care.tolist() == [False, False, True, False]
    assert words.objects.boxes[:, 0].tolist() == [0, 50, 0, 0]
    assert not read(path, "det", level="paragraph-words").objects.dont_care.any()
    words = read(path)
    assert words.objects.regions.tolist() == [1, 1, 2, 2]
    [warning] = words.warnings
    assert warning.startswith("1 line without words was left out (--gt-level line")
    broken = ("annotations", 0, "paragraphs", 0, "lines", 0, "words", 1)
    faulty = read(written(path, changed(document, *broken, to={"vertices": 5})), level="line-words")
    place = "annotations[0].paragraphs[0].lines[0].words[1].vertices: "
    assert [fault[: len(place)] for fault in faulty.faults] == [place]
    assert faulty.objects.count == 4


@pytest.mark.parametrize(
    ("document", "name"), [("[]", "coco-res"), ("{}", "art"), ('{"annotations": []}', "hiertext")]
)
def test_empty_detections(tmp_path: Path, document: str, name: str) -> None:
    path = written(tmp_path / "det.json", document)
    found = read(path, "det")
    assert (found.source.format, found.source.names, found.faults) == (name, [], [])
    assert read(path).faults == ["no image; expected at least one in ground truth"]


WORDS = ("annotations", 0, "paragraphs", 0, "lines", 0, "words")
FAULTS: list[tuple[Any, tuple[Any, ...], Any, str]] = [
    (ART, ("gt_1", 0, "points", 2, 0), 10**400, "gt_1[0].points[2][0]: "),
    (ART, ("gt_1", 0, "points"), QUAD[:2], "gt_1[0]: 2 vertices; expected three or more"),
    (ART, ("../x",), [], "image name '../x'; expected a name that stays in the result folder"),
    (ART, ("res_1",), [], "image name '1' again; expected image names used once"),
    (COCO_TEXT, ("anns", "1", "image_id"), 9, "anns.1: image_id '9'; expected the ID of an"),
    (COCO_TEXT, ("anns", "1", "mask"), [1, 2, 3, 4], "anns.1: 2 vertices; expected three or more"),
    (HIERTEXT, (*WORDS, 1, "vertices"), ..., "annotations[0].paragraphs[0].lines[0].words[1]: no shape"),
    (HIERTEXT, WORDS, 5, "annotations[0].paragraphs[0].lines[0].words: "),
]  # fmt: skip


@pytest.mark.parametrize(("document", "where", "to", "message"), FAULTS)
def test_faults_name_the_place_and_what_was_expected(
    tmp_path: Path, document: Any, where: tuple[Any, ...], to: Any, message: str
) -> None:
    found = read(written(tmp_path / "gt.json", changed(document, *where, to=to)))
    assert any(fault.startswith(message) for fault in found.faults), found.faults
    if where[0] != "imgs":
        assert len(found.faults) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"gt_1": [}',
            ":1: Expecting value: line 1 column 11 (char 10); expected well-formed JSON",
        ),
        ('{"a": ' + "[" * 100_000, ": maximum recursion depth exceeded"),
        ('{"gt_1":\n["' + "\udce9" + '"]}', ":2: byte 0xe9; expected text in UTF-8"),
        ('{"gt_1": [' + "1" * 5000 + "]}", ": Exceeds the limit"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gt.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    [fault] = read(path, "gt", "art").faults[:1]
    assert fault.removeprefix(str(path)).startswith(message.removeprefix(": "))


def test_numbers_beyond_json_are_faults_only_where_they_are_used(tmp_path: Path) -> None:
    text = '{"gt_1": [{"points": [[1,2],[30,2],[30,9]], "area": NaN, "transcription": "NaN \\\\"}]}'
    found = read(written(tmp_path / "gt.json", text))
    assert (found.faults, found.texts) == ([], ["NaN \\"])
    found = read(written(tmp_path / "gt.json", text.replace("[30,9]", "[-Infinity, NaN]")))
    assert found.faults[0].startswith("gt_1[0].points[2][0]: ")
