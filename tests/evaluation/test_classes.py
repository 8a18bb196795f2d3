"""Classes of objects, and levels of documents: named in a note, chosen by options, in the signature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from evaltex_cli import diagnose, evaluate, validate
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.inputs import options_of

BOXES = [[20 + 60 * k, 20, 50, 20] for k in range(6)]
CLASSES = ["text", "text", "logo", "text", "seal", "text"]
NAMES = sorted(set(CLASSES))


def coco(path: Path, classes: list[str]) -> Path:
    images = [{"id": 1, "file_name": "1.jpg", "width": 500, "height": 100}]
    annotations = [
        {"id": k + 1, "image_id": 1, "category_id": NAMES.index(name), "bbox": box, "iscrowd": 0}
        for k, (name, box) in enumerate(zip(classes, BOXES, strict=True))
    ]
    categories = [{"id": k, "name": name} for k, name in enumerate(NAMES)]
    whole = {"images": images, "annotations": annotations, "categories": categories}
    path.write_text(json.dumps(whole))
    return path


@pytest.fixture(name="sides")
def _sides(tmp_path: Path) -> tuple[Path, Path]:
    """Ground truth of three classes, and detections of text alone, at the same places."""
    return coco(tmp_path / "gt.json", CLASSES), coco(tmp_path / "det.json", ["text"] * 6)


def test_a_note_names_several_classes(sides: tuple[Path, Path]) -> None:
    gt, det = sides
    note = f"{gt}: 3 classes: text (4), logo (1), seal (1); all are scored: --gt-classes keeps some"
    assert evaluate(gt, det, "iou").warnings == [note]
    assert evaluate(gt, det, "iou", gt_classes=["text"]).warnings == []
    found = [one.found for one in validate(gt, det).problems if "classes" in one.found]
    assert found == [note.removeprefix(f"{gt}: ")]
    assert "1 image, 5 objects" in run("validate", gt, det, "--gt-classes", "text,seal").output


@pytest.mark.parametrize(
    ("options", "objects", "detections", "precision"),
    [
        ({}, 6, 6, 1.0),
        ({"gt_classes": ["text"]}, 4, 6, 4 / 6),
        ({"gt_classes": ["seal", "logo"]}, 2, 6, 2 / 6),
    ],
)
def test_classes_that_are_scored(
    sides: tuple[Path, Path],
    options: dict[str, Any],
    objects: int,
    detections: int,
    precision: float,
) -> None:
    found = evaluate(*sides, "iou", **options)
    assert (found.gt.objects, found.det.objects) == (objects, detections)
    assert found.scores["precision"] == pytest.approx(precision)
    for name, classes in options.items():
        assert f"|{name}:{','.join(classes)}|" in found.signature
        assert getattr(options_of(found.signature), name) == tuple(classes)


def test_commands_take_classes_and_results_say_which(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    gt, det = sides
    for command in ([], ["compare"], ["diagnose"], ["validate"]):
        more = {"compare": [coco(tmp_path / "other.json", ["text"] * 6)]}.get("".join(command), [])
        named = ["--protocol", "iou"] if command != ["validate"] else []
        output = run(*command, gt, det, *more, *named, "--gt-classes", "text, logo").output
        assert "3 classes" not in output
    run(gt, det, tmp_path / "res", "-a", "--protocol", "iou", "--gt-classes", "text")
    run("report", tmp_path / "res", "--gt", gt, "--det", det)
    refused = run(gt, det, "--gt-classes", "txt", status=2).output
    assert "no object of class 'txt', but text, logo, seal" in refused


def test_conversions_take_classes_and_levels(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    gt, _ = sides
    run("convert", gt, tmp_path / "new.csv", "--kind", "gt", "--from-classes", "logo,seal")
    assert len((tmp_path / "new.csv").read_text().splitlines()) == 3
    run("toys", gt, tmp_path / "toys", "--recipe", "orig", "--gt-classes", "text")
    (page := tmp_path / "1.xml").write_text(PAGE)
    run("convert", page, tmp_path / "lines.csv", "--kind", "gt", "--from-level", "line")
    assert len((tmp_path / "lines.csv").read_text().splitlines()) == 2


def test_diagnose_gives_recall_for_each_class(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    gt, det = sides
    document = json.loads(det.read_text())
    del document["annotations"][1:3]  # a text and the logo are not found
    det.write_text(json.dumps(document))
    found = diagnose(gt, det, "iou")
    assert {name: (one.objects, one.found, one.recall) for name, one in found.classes.items()} == {
        "text": (4, 3, 0.75),
        "logo": (1, 0, 0.0),
        "seal": (1, 1, 1.0),
    }
    table = run("diagnose", gt, det, "--protocol", "iou").output.split()
    assert table[table.index("class") + 1 :][:4] == ["text", "4", "3", "0.7500"]
    alone = run("diagnose", gt, det, "--gt-classes", "text", "--format", "json").output
    assert "classes" not in json.loads(alone)["protocols"][0]


PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="1.jpg" imageWidth="500" imageHeight="100"><TextRegion id="r">
<Coords points="0,0 300,0 300,40 0,40"/><TextLine id="l"><Coords points="0,0 200,0 200,20 0,20"/>
<Word id="w"><Coords points="0,0 90,0 90,20 0,20"/></Word>
<Word id="v"><Coords points="110,0 200,0 200,20 110,20"/></Word>
</TextLine></TextRegion></Page></PcGts>"""


def test_levels(tmp_path: Path) -> None:
    gt = tmp_path / "1.xml"
    gt.write_text(PAGE)
    for level, objects in ((None, 2), ("word", 2), ("line", 1), ("region", 1)):
        found = evaluate(gt, gt, "iou", gt_level=level, det_level=level)
        assert (found.gt.objects, found.det.objects) == (objects, objects)
        assert (f"|gt_level:{level}|det_level:{level}|" in found.signature) is (level is not None)
        assert options_of(found.signature).gt_level == level
    command = run("validate", gt, gt, "--gt-level", "line", "--det-level", "word")
    assert "1 object" in command.output and "2 objects" in command.output


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"gt_level": "lines"}, "has no level lines; it has"),
        ({"det_classes": []}, "no classes; expected at least one"),
    ],
)
def test_levels_and_classes_that_are_none(
    sides: tuple[Path, Path], options: dict[str, Any], error: str
) -> None:
    with pytest.raises((ConfigError, InputError), match=error):
        evaluate(*sides, "iou", **options)
