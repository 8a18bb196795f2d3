"""COCO's images have an ID and a file name: which of them the other side's images are."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from written_files import zipped

from evaltex_cli import evaluate, find_suspects, rank, sweep, validate
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import InputError

FILES = [str(k) for k in range(1, 31)]
BOXES = {file: [10 * k, 5 * k, 40 + k, 20] for k, file in enumerate(FILES)}
SHUFFLED = dict(zip(FILES, random.Random(1).sample(range(1, 31), 30), strict=True))
FAR = {file: image_id + 100 for file, image_id in SHUFFLED.items()}


def annotations(path: Path, ids: Mapping[str, Any], name: str = "val/%s.jpg") -> Path:
    """COCO annotations of `BOXES`; `name` makes the file names."""
    images = [{"id": one, "file_name": name % file} for file, one in ids.items()]
    objects = [
        {"id": k, "image_id": one, "bbox": BOXES[file], "score": 0.5, "text": "word"}
        for k, (file, one) in enumerate(ids.items(), 1)
    ]
    path.write_text(json.dumps({"images": images, "annotations": objects}))
    return path


def results(path: Path, ids: Mapping[str, Any]) -> Path:
    """COCO results of `BOXES`."""
    listed = [{"image_id": one, "bbox": BOXES[file], "score": 0.5} for file, one in ids.items()]
    path.write_text(json.dumps(listed))
    return path


def files(path: Path, names: Mapping[str, Any]) -> Path:
    """An archive of one file for each image."""
    lines = {
        f"res_{name}.txt": f"{x},{y},{x + w},{y + h}\n"
        for name, (x, y, w, h) in ((name, BOXES[file]) for file, name in names.items())
    }
    return zipped(path, lines)


def table(path: Path, names: Mapping[str, Any]) -> Path:
    """A table with the images' files."""
    rows = [
        f"{name}.jpg,{x},{y},{x + w},{y + h}\n"
        for name, (x, y, w, h) in ((name, BOXES[file]) for file, name in names.items())
    ]
    path.write_text("image,x0,y0,x1,y1\n" + "".join(rows))
    return path


SAME = dict(zip(FILES, FILES, strict=True))


@pytest.mark.parametrize("ids", [SHUFFLED, FAR, {file: f"i{k}" for file, k in SHUFFLED.items()}])
@pytest.mark.parametrize(
    ("write", "named"),
    [
        (results, "ids"),
        (files, "files"),
        (table, "files"),
        (annotations, "ids"),
        (annotations, "own ids"),
    ],
)
def test_each_kind_of_detections_pairs_by_what_it_has(
    tmp_path: Path, ids: Mapping[str, Any], write: Callable[..., Path], named: str
) -> None:
    gt = annotations(tmp_path / "gt.json", ids)
    names = {"ids": ids, "files": SAME, "own ids": {file: k for k, file in enumerate(FILES)}}
    suffix = {results: ".json", files: ".zip", table: ".csv", annotations: ".json"}[write]
    det = write(tmp_path / f"det{suffix}", names[named])
    found = evaluate(gt, det, "iou")
    assert found.scores["hmean"] == 1
    assert not [one for one in found.warnings if "paired by" in one]


def test_what_is_there_only_in_the_other_way_pairs_so_with_a_note(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", FAR)
    by_id = files(tmp_path / "det.zip", FAR)
    others = annotations(tmp_path / "other.json", FAR, "frame-%s.png")
    for det in (by_id, others):
        found = evaluate(gt, det, "iou")
        assert found.scores["hmean"] == 1
        notes = [one for one in found.warnings if "paired" in one]
        first, _, pairs = notes[0].partition(": ")[2].rpartition(": ")
        assert first == "images are paired by ID, as not every file name is in gt.json"
        assert len(notes) == 1 and all(
            one in {f"'{FAR[file]}' with '{file}'" for file in FILES}
            for one in pairs.removesuffix(", ...").split(", ")
        )
    named = results(tmp_path / "named.json", {file: f"{file}.jpg" for file in FILES})
    found = evaluate(gt, named, "iou")
    assert found.scores["hmean"] == 1
    note = "images are paired by file name, as no image ID is in gt.json: '1.jpg' with '1', "
    assert [one for one in found.warnings if f"named.json: {note}" in one]


def test_a_mixture_is_refused(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", FAR)
    mixed = {file: file if k < 20 else FAR[file] for k, file in enumerate(FILES)}
    for det, count in (
        (files(tmp_path / "det.zip", mixed), 10),
        (results(tmp_path / "det.json", mixed), 1),
    ):
        with pytest.raises(InputError, match=r"10 such faults|20 of its 30 image IDs are not in"):
            evaluate(gt, det, "iou")
        problems = validate(gt, det)
        assert not problems.passed
        assert len([one for one in problems.problems if one.level == "error"]) == count


@pytest.mark.parametrize("ids", [SHUFFLED, FAR])
def test_a_file_name_is_not_an_id(tmp_path: Path, ids: Mapping[str, Any]) -> None:
    """``1.jpg`` is not the image with ID 1."""
    gt = annotations(tmp_path / "gt.json", ids)
    named = results(tmp_path / "named.json", {file: f"{file}.jpg" for file in FILES})
    assert evaluate(gt, named, "iou").scores["hmean"] == 1
    other = annotations(tmp_path / "other.json", SHUFFLED, "frame_%s.jpg")
    with pytest.raises(InputError, match="30 such faults"):
        evaluate(other, table(tmp_path / "det.csv", SAME), "iou")


def test_annotations_pair_by_file_though_ids_of_one_side_are_numbers_of_its_files(
    tmp_path: Path,
) -> None:
    same = annotations(tmp_path / "same.json", {file: int(file) for file in FILES})
    shuffled = annotations(tmp_path / "shuffled.json", SHUFFLED, "%s.png")
    for gt, det in ((same, shuffled), (shuffled, same)):
        found = evaluate(gt, det, "iou")
        assert found.scores["hmean"] == 1
        assert not [one for one in found.warnings if "paired" in one]


def test_ids_that_the_ground_truth_lacks_are_refused(tmp_path: Path) -> None:
    """Though they are names of files there."""
    gt = annotations(tmp_path / "gt.json", {file: SHUFFLED[file] + 2 for file in FILES})
    missing = sorted({*range(1, 31)} - {SHUFFLED[file] + 2 for file in FILES})
    assert missing == [1, 2]
    det = results(tmp_path / "det.json", dict(zip(FILES, range(1, 31), strict=True)))
    with pytest.raises(InputError, match="2 of its 30 image IDs"):
        evaluate(gt, det, "iou")
    det = results(tmp_path / "det.json", {"1": 999})
    with pytest.raises(InputError, match=r"1 of its 1 image IDs is not in .*gt.json \('999'\)"):
        evaluate(gt, det, "iou")
    det = files(tmp_path / "det.zip", SAME | {"30": "strange"})
    with pytest.raises(InputError, match="image 'strange' is not in the ground truth"):
        evaluate(gt, det, "iou")


def test_images_without_file_names_are_named_by_id(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", SHUFFLED, "the same%.0s")
    for det in (
        results(tmp_path / "det.json", SHUFFLED),
        files(tmp_path / "det.zip", SHUFFLED),
        annotations(tmp_path / "other.json", SHUFFLED),
    ):
        assert evaluate(gt, det, "iou").scores["hmean"] == 1


def test_some_images_are_named_by_file_or_by_id(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", FAR)
    for det in (results(tmp_path / "det.json", FAR), files(tmp_path / "det.zip", SAME)):
        for only in (["3", "1.jpg"], [str(FAR["1"]), str(FAR["3"])]):
            found = evaluate(gt, det, "iou", only=only)
            assert (found.scores["hmean"], found.gt.images, found.gt.objects) == (1, 2, 2)
        with pytest.raises(InputError, match="has no image"):
            evaluate(gt, det, "iou", only=["3", str(FAR["1"])])


def test_every_command_pairs_alike(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", SHUFFLED)
    by_id, by_file = results(tmp_path / "id.json", SHUFFLED), table(tmp_path / "file.csv", SAME)
    packed = tmp_path / "gt.json.gz"
    packed.write_bytes(gzip.compress(gt.read_bytes()))
    assert evaluate(packed, by_id, "iou").scores["hmean"] == 1
    assert sweep(gt, by_id, "iou").operating_point.scores["hmean"] == 1
    assert rank(gt, [by_id, by_file], "iou").to_dict()
    assert not find_suspects(gt, [by_id, by_file]).suspects
    problems = validate(gt, by_id)
    assert problems.passed and {pair.by for pair in problems.pairs} <= {"id", "name"}
    assert {(pair.gt, pair.det) for pair in problems.pairs} == {
        (file, str(one)) for file, one in SHUFFLED.items()
    }


def test_conversion_has_file_names_and_ids(tmp_path: Path) -> None:
    gt = annotations(tmp_path / "gt.json", SHUFFLED)
    again, archive = tmp_path / "again.json", tmp_path / "gt.zip"
    convert(gt, again, "gt")
    convert(gt, archive, "gt")
    det = files(tmp_path / "det.zip", SAME)
    for truth in (again, archive):
        assert evaluate(truth, det, "iou").scores["hmean"] == 1
    listed = results(tmp_path / "det.json", SHUFFLED)
    assert evaluate(again, listed, "iou").scores["hmean"] == 1
    done = convert(det, tmp_path / "named.json", "det")
    assert any("30 images have their name as image_id" in note for note in done.notes)
    convert(gt, tmp_path / "results.json", "det")
    assert evaluate(gt, tmp_path / "results.json", "iou").scores["hmean"] == 1


def test_results_beside_ground_truth_of_another_format_are_named_by_id(tmp_path: Path) -> None:
    det = results(tmp_path / "det.json", SHUFFLED)
    by_id, by_file = files(tmp_path / "gt.zip", SHUFFLED), files(tmp_path / "file.zip", SAME)
    doubt = "det.json: images are known only by COCO ID, which is taken for the name in {}; if its"
    for gt, hmean in ((by_id, 1), (by_file, None)):
        found = evaluate(gt, det, "iou")
        assert hmean is None or found.scores["hmean"] == hmean
        assert [one for one in found.warnings if one.startswith(doubt.format(gt.name))]
    whole = annotations(tmp_path / "whole.json", FAR)
    assert evaluate(by_file, whole, "iou").scores["hmean"] == 1
    assert evaluate(files(tmp_path / "far.zip", FAR), whole, "iou").scores["hmean"] == 1
    words = {
        str(k): {"image_id": SHUFFLED[file], "bbox": BOXES[file]} for k, file in enumerate(FILES)
    }
    images = {str(one): {"set": "val", "file_name": "x.jpg"} for one in SHUFFLED.values()}
    (tmp_path / "text.json").write_text(json.dumps({"imgs": images, "anns": words}))
    found = evaluate(tmp_path / "text.json", det, "iou")
    assert (found.gt.format, found.scores["hmean"], found.warnings) == ("coco-text", 1, [])
