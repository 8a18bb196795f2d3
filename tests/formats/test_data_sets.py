"""ArT, COCO-Text, TextOCR, HierText and ReCTS: what each record means, and faulty documents."""

from __future__ import annotations

import copy
import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_documents import (
    ART,
    COCO_TEXT,
    CURVE,
    DOCUMENTS,
    FLAT_CURVE,
    FLAT_QUAD,
    HIERTEXT,
    QUAD,
    RECTS,
    TEXTOCR,
    changed,
)
from reading import described, read
from written_files import written, zipped

from evaltex_cli import InputError
from evaltex_cli.formats import reading


def test_art(tmp_path: Path) -> None:
    found = read(written(tmp_path / "gt.json", ART))
    assert (found.source.format, found.source.names, found.faults) == ("art", ["1", "20", "3"], [])
    assert found.objects.offsets.tolist() == [0, 2, 3, 3]
    assert found.objects.dont_care.tolist() == [False, True, True]
    assert found.texts == ["one, two", "日本", "###"]
    assert found.rings == [QUAD, CURVE, QUAD]
    assert found.objects.ids.tolist() == found.objects.regions.tolist() == [1, 2, 1]
    results = {"res_1": [{"points": QUAD, "confidence": 0.75}], "res_20": []}
    det = read(written(tmp_path / "det.json", results), "det")
    assert det.source.names == ["1", "20"]
    assert det.objects.confidences is not None and det.objects.confidences.tolist() == [0.75]


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


@pytest.mark.parametrize("key", ["imgToAnns", "img2Anns", None])
def test_textocr(tmp_path: Path, key: str | None) -> None:
    found = read(written(tmp_path / "gt.json", TEXTOCR | ({key: {}} if key else {})))
    assert (found.source.format, found.source.names, found.faults) == ("textocr", ["a4ea"], [])
    assert found.rings == [QUAD, CURVE]
    assert found.objects.ids.tolist() == [1, 2]
    assert found.objects.dont_care.tolist() == [False, True]


def test_hiertext_levels(tmp_path: Path) -> None:
    path = written(tmp_path / "gt.jsonl", HIERTEXT)
    words = read(path)
    assert (words.source.format, words.source.names, words.faults) == ("hiertext", ["000e"], [])
    assert (words.source.sizes.tolist(), words.warnings) == ([[480, 640]], [])
    assert words.texts == ["two", "", "three"]
    assert words.objects.dont_care.tolist() == [False, True, False]
    assert (words.objects.ids.tolist(), words.objects.regions.tolist()) == ([1, 2, 3], [1, 1, 2])
    assert read(path, "det").objects.regions.tolist() == [1, 1, 2]
    lines = read(path, level="line")
    assert lines.texts == ["two words", "three"]
    assert lines.objects.dont_care.tolist() == [True, False]
    assert lines.objects.regions.tolist() == [1, 2]
    assert read(path, level="paragraph").objects.boxes.tolist() == [[0, 0, 200, 50]]
    with pytest.raises(InputError, match="format hiertext has no level region; it has word, line"):
        read(path, level="region")


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


def test_rects_levels(tmp_path: Path) -> None:
    folder = tmp_path / "gt"
    written(folder / "train_2.json", RECTS)
    written(folder / "train_1.json", {"chars": [], "lines": []})
    lines = read(folder)
    assert (lines.source.format, lines.source.names) == ("rects", ["train_1", "train_2"])
    assert (lines.flat_rings, lines.texts) == ([FLAT_QUAD, FLAT_CURVE], ["ab", "###"])
    assert lines.objects.dont_care.tolist() == [False, True]
    assert not read(folder, "det").objects.dont_care.any()
    characters = read(folder, level="character")
    assert (characters.texts, characters.objects.dont_care.tolist()) == (["a"], [True])
    path = written(tmp_path / "gt.json", {"lines": [{"points": [1]}, RECTS["lines"][0]]})
    place = "lines[0]: 1 coordinates; expected an even count: x1,y1,x2,y2,..."
    assert read(path, "gt", "rects").faults[0] == place
    assert (
        read(path, "gt", "rects", level="character").faults[0]
        == "no key 'chars'; expected it next to 'lines'"
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_recognised_by_content_in_file_folder_and_archive(
    tmp_path: Path, name: str
) -> None:
    text = json.dumps(DOCUMENTS[name], indent=1)
    written(tmp_path / "folder" / "img.json", text)
    archived = {"inner/img.json": text, "__MACOSX/inner/._img.json": "x"}
    paths = [
        written(tmp_path / "img.txt", "\ufeff" + text),
        tmp_path / "folder",
        zipped(tmp_path / "a.zip", archived),
    ]
    found = [read(path) for path in paths]
    assert [one.source.format for one in found] == [name] * 3
    assert [one.source.names for one in found] == [found[0].source.names] * 3
    assert [described(one) for one in found] == [described(found[0])] * 3
    assert found[0].objects.count and not any(one.faults for one in found)
    det = read(paths[0], "det")
    assert not det.objects.dont_care.any()
    assert det.objects.count == found[0].objects.count


@pytest.mark.parametrize(
    ("document", "name"), [("[]", "coco-res"), ("{}", "art"), ('{"annotations": []}', "hiertext")]
)
def test_empty_detections(tmp_path: Path, document: str, name: str) -> None:
    path = written(tmp_path / "det.json", document)
    found = read(path, "det")
    assert (found.source.format, found.source.names, found.faults) == (name, [], [])
    assert read(path).faults == ["no image; expected at least one in ground truth"]


def test_text_is_not_taken_for_json(tmp_path: Path) -> None:
    for name in ("res_1.txt", "res_2.txt"):
        written(tmp_path / "det" / name, "1,2,3,4")
    written(tmp_path / "det" / "config.json", ART)
    assert read(tmp_path / "det", "det").source.format == "ltrb"
    text = written(tmp_path / "gt.txt", '[1]\n10,10\n1,1,"",f,1,2,3,4\n')
    assert read(text).source.format == "evaltex"


WORDS = ("annotations", 0, "paragraphs", 0, "lines", 0, "words")
FAULTS: list[tuple[Any, tuple[Any, ...], Any, str]] = [
    (ART, ("gt_1", 1, "points"), ..., "gt_1[1]: no shape; expected points, vertices, a mask"),
    (ART, ("gt_1", 0, "points", 2), [1, 2, 3], "gt_1[0].points[2]: "),
    (ART, ("gt_1", 0, "points", 2, 1), float("nan"), "gt_1[0].points[2][1]: "),
    (ART, ("gt_1", 0, "points", 2, 0), 10**400, "gt_1[0].points[2][0]: "),
    (ART, ("gt_1", 0, "points"), QUAD[:2], "gt_1[0]: 2 vertices; expected three or more"),
    (ART, ("gt_1", 0, "illegibility"), "no", "gt_1[0].illegibility: "),
    (ART, ("gt_1", 0), [], "gt_1[0]: a list"),
    (ART, ("gt_20",), 5, "gt_20: 5; expected a list"),
    (ART, ("../x",), [], "image name '../x'; expected a name that stays in the result folder"),
    (ART, ("res_1",), [], "image name '1' again; expected image names used once"),
    (COCO_TEXT, ("anns", "1", "image_id"), 9, "anns.1: image_id '9'; expected the ID of an"),
    (COCO_TEXT, ("anns", "1", "mask"), "x", "anns.1.mask: "),
    (COCO_TEXT, ("anns", "1", "mask"), [1, 2, 3, 4], "anns.1: 2 vertices; expected three or more"),
    (COCO_TEXT, ("anns", "45347", "bbox"), None, "anns.45347: no shape; expected points"),
    (COCO_TEXT, ("imgs", "5", "width"), "x", "imgs.5: 'x'; expected a number"),
    (TEXTOCR, ("anns", "a4ea_2", "points"), ..., "anns.a4ea_2: no shape"),
    (HIERTEXT, (*WORDS, 1, "vertices"), ..., "annotations[0].paragraphs[0].lines[0].words[1]: no shape"),
    (HIERTEXT, WORDS, 5, "annotations[0].paragraphs[0].lines[0].words: "),
    (RECTS, ("lines", 1, "ignore"), 2, "lines[1].ignore: "),
]  # fmt: skip


@pytest.mark.parametrize(("document", "where", "to", "message"), FAULTS)
def test_faults_name_the_place_and_what_was_expected(
    tmp_path: Path, document: Any, where: tuple[Any, ...], to: Any, message: str
) -> None:
    found = read(written(tmp_path / "gt.json", changed(document, *where, to=to)))
    assert any(fault.startswith(message) for fault in found.faults), found.faults
    if where[0] != "imgs":
        assert len(found.faults) == 1


def test_places_count_what_does_not_fit(tmp_path: Path) -> None:
    """Items that are left out shift the places of no other."""
    shape = {"label": "text", "points": QUAD}
    short = shape | {"points": QUAD[:1]}
    path = written(tmp_path / "a.json", {"shapes": [5, shape, {"points": 5}, *[short] * 30]})
    found = read(path)
    assert [fault.partition(": ")[0] for fault in found.faults[:3]] == [
        "shapes[0]", "shapes[2].points", "shapes[3]"]  # fmt: skip
    assert (found.fault_count, list(found.objects.places or ())) == (32, ["shapes[1]"])


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_garbage_collector_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_enabled: bool
) -> None:
    states, columns = [], reading.columns
    monkeypatch.setattr(
        reading, "columns", lambda *images: states.append(gc.isenabled()) or columns(*images)
    )
    was_enabled = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        read(written(tmp_path / "gt.json", ART))
        assert (states, gc.isenabled()) == ([False], is_enabled)
    finally:
        (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"gt_1": [}',
            ":1: Expecting value: line 1 column 11 (char 10); expected well-formed JSON",
        ),
        ('{"gt_1": []}\n{"gt_2": []}', ":2: Extra data: line 2 column 1"),
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


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.data())
def test_any_value_in_any_place_is_read_or_a_fault(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(list(DOCUMENTS)))
    inner = document = copy.deepcopy(DOCUMENTS[name])
    while isinstance(inner, dict | list) and inner:
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or data.draw(st.integers(0, 4)) == 0:
            break
        inner = inner[key]
    else:
        return
    values = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({}),
        st.just([[]]), st.just(10**500), st.just("\ud800"), st.lists(st.integers(), max_size=4),
    )  # fmt: skip
    inner[key] = data.draw(values)
    path = written(tmp_path_factory.mktemp("json") / "img.json", document)
    for side in ("gt", "det"):
        found = read(path, side, name)  # type: ignore[arg-type]
        assert np.isfinite(found.objects.boxes).all()
        assert (found.objects.boxes[:, :2] <= found.objects.boxes[:, 2:]).all()
        assert all(fault.isprintable() for fault in found.faults)
