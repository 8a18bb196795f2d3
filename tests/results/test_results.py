"""Result files: EvaLTex text to the character, JSON against its schema, and
staging: old results or new, never half.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import scenes
from command_line import tree
from shared_data import SHARED, needs

from evaltex_cli import InputError, evaluate
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.evaluation.tally import Run
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.tally import Count, Tally
from evaltex_cli.results import extras, result_document, result_text, writer
from evaltex_cli.results.beginnings import is_result
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.stored_images import entry_of
from evaltex_cli.runtime.atomic_output import staged

SCHEMA = json.loads(
    Path(result_document.__file__).with_name("evaltex.schema.json").read_text(encoding="utf-8")
)
GT = """\
img_1

960,1280
1,1,"Tiredness",f,38,43,882,172
2,2,"kills",f,275,264,390,186
3,3,"A",f,0,699,77,131
4,3,"short",f,128,705,355,134
5,3,"break",f,542,710,396,131
6,4,"could",f,87,884,370,137
7,4,"save",f,517,919,314,105
8,5,"your",f,166,1095,302,136
9,5,"life",f,530,1069,213,137
"""
DET = 'img_1\n\n1,"",272,264,392,186\n2,"",34,40,886,175\n3,"",168,1082,300,148\n'
STATISTICS = """\
General
Number of GTs =9
Number of detections = 3
Number of false positives =0
Number of true positives =3

Global results
Recall=0.333096
Recall_noSplit=0.333096
Precision=0.969525
Split=0.333333
FScore=0.495838

FScore_noSplit=0.495838

Quantity results
Recall=0.333333
Precision=1

Quality results
Recall=0.999287
Recall_noSplit=0.999287
Precision=0.969525
Coverage histogram = {0.666667, 0, 0, 0, 0, 0, 0, 0, 0, 0.333333}
Accuracy histogram = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}

EMD results
Recall=0.34
"""
EMD_PRECISION, EMD_NO_SPLIT = "Precision=0.976667\nFScore=0.504405\n", "\nFScore_noSplit=0.504405\n"
MATCHING = """
Matching
One-to-one=3
One-to-many=0
Many-to-one=0
Many-to-many=0
Missed=6
Ignored=0
"""


def image_text(evaluation: Evaluation) -> str:
    """The text of the first image's file."""
    return result_text.image(evaluation.images[0], Run(evaluation.protocol, evaluation.parameters))


def run(
    folder: Path, gt: str, det: str, protocol: str = "evaltex", **parameters: Any
) -> Evaluation:
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    return evaluate(folder / "gt.txt", folder / "det.txt", protocol, per_image=True, **parameters)


# Text ---------------------------------------------------------------------------------------------


def local(level: int) -> str:
    """The end of the image's file; by hand: objects 1, 2, 8 by Eq. 9 and 10,
    each with its one detection.
    """
    found = {1: ("1", "0.990131", 2), 2: ("1", "0.997092", 1), 8: ("0.997862", "0.921351", 3)}
    lines = ["", "Local evaluation"]
    for k in range(1, 10):
        coverage, accuracy, detection = found.get(k, ("0", "0", 0))
        lines += [
            f"GT object {k}",
            f"Coverage = {coverage} Accuracy = {accuracy} Split = {min(detection, 1)}",
        ]
        if level == 2:
            lines.append(
                f"Match = one-to-one Detections = {{{detection}}}"
                if k in found
                else "Match = missed Detections = {}"
            )
    if level == 2:
        lines += ["", "Detections"]
        for detection, k in ((1, 2), (2, 1), (3, 8)):
            lines += [f"Detection {detection}", f"Match = one-to-one GT objects = {{{k}}}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("level", [0, 1, 2])
def test_sample_of_the_tool_page_in_full(tmp_path: Path, level: int) -> None:
    """Both files of the page's img_1, at every print level.

    Coverage by hand: 1, 1 and, for object 8 with its margin of 1.36, (466.64 - 168) / (302 - 2.72)
    of its width. EMD by hand: six of nine objects lie 99 bins from the last: (9 - 6 * 0.99) / 9 =
    0.34; accuracy 0.921 lies 7 bins from it: (3 - 0.07) / 3.
    """
    found = run(tmp_path, GT, DET, print_level=level)
    more = "Recall_noSplit=0.34\n"
    dataset = (
        STATISTICS
        + (more if level else "")
        + EMD_PRECISION
        + (EMD_NO_SPLIT + MATCHING if level else "")
    )
    assert result_text.dataset(found) == "EvaLTex statistics\n" + dataset
    image = (
        STATISTICS
        + more
        + EMD_PRECISION
        + EMD_NO_SPLIT
        + (MATCHING if level else "")
        + local(level)
    )
    assert image_text(found) == "EvaLTex statistics - image img_1\n" + image


def printed_results(page: str, first: str) -> str:
    """A sample of the page, without the prose and the pictures' captions between its blocks."""
    results = re.compile(
        r"EvaLTex statistics( - .*)?|General|(Global|Quantity|Quality|EMD) results|Local"
        r" evaluation|GT object \d+"
        r"|(Number of [\w ]+|(Recall|Precision|Split|FScore)(_noSplit)?|(Coverage|Accuracy)"
        r" histogram|Coverage) ?=.*|"
    )
    block = page[page.index(first + "\n") :]
    block = re.split(r"\nLocal evaluation \.txt|\nRun the evaluation", block)[0]
    lines = [line for line in block.splitlines() if results.fullmatch(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


@dataclass(frozen=True, eq=False)
class PageTally(Tally):
    """What the tool's page counts."""

    gt_objects: Count
    detections: Count
    false_positives: Count
    true_positives: Count


@needs("seeds")
@pytest.mark.parametrize("first", ["EvaLTex statistics", "EvaLTex statistics - image img_1"])
def test_layout_of_the_tool_page_to_the_character(tmp_path: Path, first: str) -> None:
    """The page's own figures, put into our records, come out as they stand there.

    Its slips (Quantity and Quality recall swapped, the accuracy histogram of the data set in the
    image's file) are figures, not layout: whatever the numbers, this is how they are printed.
    """
    (page,) = (SHARED / "seeds").glob("002_*.txt")
    expected = printed_results(page.read_text(encoding="utf-8"), first)
    numbers = [
        [float(number) for number in re.findall(r"\d[\d.e-]*", line)]
        for line in expected.splitlines()
        if "=" in line and not line.startswith("Coverage = ")
    ]
    of_image = "image" in first
    names = [
        "recall",
        "recall_no_split",
        "precision",
        "split",
        "fscore",
        "fscore_no_split",
        "quantity_recall",
    ]
    names += [
        "quantity_precision",
        "quality_recall",
        "quality_recall_no_split",
        "quality_precision",
    ]
    names += [
        "coverage_histogram",
        "accuracy_histogram",
        "emd_recall",
        *(["emd_recall_no_split"] if of_image else []),
    ]
    names += ["emd_precision", "emd_fscore", *(["emd_fscore_no_split"] if of_image else [])]
    counts = ("gt_objects", "detections", "false_positives", "true_positives")
    totals = {name: int(values[0]) for name, values in zip(counts, numbers[:4], strict=True)}
    scores = {
        name: values if "histogram" in name else values[0]
        for name, values in zip(names, numbers[4:], strict=True)
    }
    if of_image:
        entries = re.findall(
            r"GT object (\d+)\nCoverage = (.*) Accuracy = (.*) Split = (.*)", expected
        )
        assert len(entries) == 6
        objects = [
            ObjectResult(
                int(i),
                "one-to-one",
                [],
                {"coverage": float(a), "accuracy": float(b), "split": float(c)},
            )
            for i, a, b, c in entries
        ]
        result = ImageResult("img_1", totals, scores, objects, [])
        assert image_text(replace(run(tmp_path, GT, DET), images=[result])) == expected
    else:
        page = replace(run(tmp_path, GT, DET), tally=PageTally(**totals), scores=scores)
        assert result_text.dataset(page) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (1 / 3, "0.333333"),
        (0.00491442, "0.00491442"),
        (2 / 3, "0.666667"),
        (0.1, "0.1"),
        (0.99999949, "0.999999"),
        (0.9999999, "1"),
        (0.0001, "0.0001"),
        (0.00001234567, "1.23457e-05"),
        (1234567.0, "1.23457e+06"),
    ],
)
def test_numbers_are_printed_as_cpp_streams_do(value: float, text: str) -> None:
    assert result_text.number(value) == text


def test_rejected_objects_are_left_out_of_the_local_evaluation(tmp_path: Path) -> None:
    gt = GT.replace('"Tiredness",f', '"Tiredness",t').replace('"life",f', '"life",t')
    found = run(tmp_path, gt, DET, print_level=2)
    text = image_text(found)
    assert re.findall(r"GT object (\d)", text) == list("2345678")
    assert (
        "Number of GTs =9\nNumber of detections = 3\nNumber of false positives =0\nNumber of true"
        " positives =2"
    ) in text
    assert "Detection 2\nMatch = ignored GT objects = {1}\n" in text
    assert "Missed=5\nIgnored=2\n" in text


def test_every_kind_of_match_is_reported(tmp_path: Path) -> None:
    """A split, a merge, a false positive; counts of objects."""
    gt = 'i\n99,99\n1,1,"",f,0,0,40,9\n2,2,"",f,0,20,10,9\n3,2,"",f,12,20,10,9\n'
    det = 'i\n7,"",0,0,20,9\n8,"",20,0,20,9\n9,"",0,20,22,9\n4,"",80,80,9,9\n'
    found = run(tmp_path, gt, det, print_level=2)
    text = image_text(found)
    assert (
        "One-to-one=0\nOne-to-many=1\nMany-to-one=2\nMany-to-many=0\nMissed=0\nIgnored=0\n" in text
    )
    assert "Match = one-to-many Detections = {7, 8}\n" in text
    assert (
        "GT object 3\nCoverage = 1 Accuracy = 1 Split = 1\nMatch = many-to-one Detections = {9}\n"
        in text
    )
    assert text.endswith(
        "Detection 9\nMatch = many-to-one GT objects = {2, 3}\nDetection 4\nMatch = false-positive"
        " GT objects = {}\n"
    )


# JSON ---------------------------------------------------------------------------------------------


def document(evaluation: Evaluation) -> dict[str, Any]:
    text = "".join(writer.document(evaluation, map(writer.json_line, evaluation.images), Extras()))
    found: dict[str, Any] = json.loads(
        text, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
    )
    return found


def faults(instance: dict[str, Any]) -> list[str]:
    return [
        error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(instance)
    ]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == extras.SCHEMA


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("polygons", [False, True], ids=["boxes", "polygons"])
def test_json_is_what_the_schema_says(tmp_path: Path, protocol: str, polygons: bool) -> None:
    """And its numbers are the library's, to the last digit."""
    found = run(tmp_path, *scenes.random_scene(3, polygons=polygons), protocol)
    read = document(found)
    assert faults(read) == []
    assert list(read) == SCHEMA["required"]
    assert read["scores"] == found.scores
    assert read["totals"] == found.totals
    assert [image["scores"] for image in read["images"]] == [image.scores for image in found.images]
    objects = [[entry_of(one, "detections") for one in image.objects] for image in found.images]
    assert [image["objects"] for image in read["images"]] == objects
    assert [len(image["objects"]) for image in read["images"]] != [0] * len(read["images"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_json_of_nothing(tmp_path: Path, protocol: str) -> None:
    """An image without objects, detections without an image."""
    found = run(tmp_path, "empty\n9,9\n", "", protocol)
    assert faults(document(found)) == []
    assert document(found)["images"][0]["objects"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"images": None},
        {"protocol": "No Name"},
        {"scores": {"recall": 1.0}},
        {"warnings": [1]},
        {"extra": 1},
        {"totals": {"a": None}},
        {"signature": "x"},
    ],
    ids=str,
)
def test_the_schema_refuses(tmp_path: Path, change: dict[str, Any]) -> None:
    """Else the tests above would not mean much."""
    assert faults(document(run(tmp_path, GT, DET)) | change) != []


def test_keys_stand_in_the_specified_order_and_images_are_optional(tmp_path: Path) -> None:
    found = replace(run(tmp_path, GT, DET), images=[])
    text = "".join(writer.document(found, [], Extras(gates=[])))
    assert list(json.loads(text)) == [*SCHEMA["required"][:9], "gates", *SCHEMA["required"][9:]]
    assert '"images": [],\n' in text
    assert text.endswith("}\n")
    assert str(tmp_path) not in text


def test_names_that_are_not_unicode_do_not_break_the_document(tmp_path: Path) -> None:
    found = run(tmp_path, GT, DET)
    odd = replace(
        found,
        gt=replace(found.gt, file=os.fsdecode(b"gt\xff.txt")),
        warnings=[os.fsdecode(b"\xff")],
    )
    read = json.loads("".join(writer.document(odd, [], Extras())).encode("utf-8"))
    assert (read["inputs"]["gt"]["file"], read["warnings"]) == ("gt?.txt", ["?"])


def test_signature_names_what_is_not_default(tmp_path: Path) -> None:
    found = run(tmp_path, GT, DET, det_border=0.25, region=False)
    digest = found.gt.sha256
    assert len(digest) == 64
    assert re.fullmatch(
        rf"protocol:evaltex\|revision:\d+\|region:false\|det_border:0.25\|invalid:repair\|images:1\|gt:{digest[:8]}"
        r"\|version:[\d.]+",
        found.signature,
    )


# Other protocols' text ----------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "evaltex"])
def test_text_of_other_protocols_holds_every_score(tmp_path: Path, protocol: str) -> None:
    found = run(tmp_path, *scenes.random_scene(3), protocol)
    dataset = result_text.dataset(found)
    image = image_text(found)
    assert dataset.startswith(f"{found.protocol.title} - statistics\nGeneral\n")
    assert image.startswith(
        f"{found.protocol.title} - statistics - image {found.images[0].name}\nGeneral\n"
    )
    for name, value in found.scores.items():
        title = name.replace("_", " ").capitalize()
        assert (f"\n{title} = " in dataset) or (
            isinstance(value, list) and f"\n{title}\n" in dataset
        ), name
    assert f"\nRecall = {result_text.number(found.scores['recall'])}\n" in dataset
    assert image.count("\nGT object ") == len(found.images[0].objects)
    assert image.count("\nDetection ") == len(found.images[0].detections)


# Staging ------------------------------------------------------------------------------------------

NAMES = ["p.txt", "p.json", "p"]


def fill(folder: Path, *names: str, text: str = "new") -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with earlier results, and a file of the user's."""
    folder = tmp_path / "res"
    folder.mkdir()
    fill(folder, "p.txt", "p.json", "p/a.txt", "p/b.txt", "notes.md", text="old")
    return folder


def test_a_fresh_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "res"
    with staged(place, NAMES) as folder:
        fill(folder, "p.txt", "p/a.txt")
        assert not place.exists()
    assert tree(tmp_path / "a") == {
        "b": None,
        "b/res": None,
        "b/res/p": None,
        "b/res/p.txt": b"new",
        "b/res/p/a.txt": b"new",
    }
    umask = os.umask(0)
    os.umask(umask)
    assert place.stat().st_mode & 0o777 == 0o777 & ~umask


def test_earlier_results_are_replaced_and_stale_ones_removed(results: Path) -> None:
    before = tree(results)
    with staged(results, NAMES) as folder:
        fill(folder, "p.txt", "p/a.txt")
        assert {
            name: kept for name, kept in tree(results).items() if not name.startswith(".evaltex-")
        } == before
    assert tree(results) == {"notes.md": b"old", "p": None, "p.txt": b"new", "p/a.txt": b"new"}


class Stopped(BaseException):
    """Stands for whatever ends a run: an interrupt, an exit, a fault."""


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt, InputError, OSError])
@pytest.mark.parametrize("place", ["res", "x/y/res"])
def test_what_ends_the_run_leaves_everything_as_it_was(
    results: Path, place: str, error: type[BaseException]
) -> None:
    before = tree(results.parent)

    def interrupted() -> Iterator[None]:
        with staged(results.parent / place, NAMES) as folder:
            fill(folder, "p.txt", "p/a.txt")
            yield
            raise error("stop")

    with pytest.raises(InputError if error is OSError else error):
        list(interrupted())
    assert tree(results.parent) == before


@pytest.mark.parametrize("after", [False, True], ids=["rename fails", "interrupt after the rename"])
@pytest.mark.parametrize("at", range(5))
def test_renames_are_undone_when_one_fails(
    results: Path, at: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three old results out, two new in: whichever of the five does not go
    well, the old ones stand again.
    """
    before, rename, seen = tree(results), Path.rename, []

    def failing(self: Path, target: Path) -> Path:
        seen.append(self)
        if len(seen) - 1 == at:
            if not after:
                raise OSError(5, "Input/output error", str(self))
            rename(self, target)
            raise Stopped
        return rename(self, target)

    def replace_results() -> None:
        with staged(results, NAMES) as folder:
            fill(folder, "p.txt", "p/a.txt")
            monkeypatch.setattr(Path, "rename", failing)

    with pytest.raises(Stopped if after else InputError):
        replace_results()
    monkeypatch.undo()
    assert len(seen) > at
    assert tree(results) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda res: fill(res, "p/mine.csv"), r"mine\.csv: is no result of an earlier run"),
        (
            lambda res: fill(res, "p/mine.txt", text="img_1\n9,9\n"),
            r"mine\.txt: is no result of an earlier run",
        ),
        (
            lambda res: fill(res, "p.txt", text="img_1\n9,9\n"),
            r"p\.txt: is no result of an earlier run",
        ),
        (lambda res: fill(res, "p.json", text="{}"), r"p\.json: is no result of an earlier run"),
        (lambda res: (res / "p.txt").mkdir(), r"p\.txt: stands where a result belongs"),
        (lambda res: fill(res, "p"), r"p: stands where a result belongs"),
        (lambda res: (res / "p").symlink_to(res.parent), r"p: stands where a result belongs"),
        (
            lambda res: (res / "p.txt").symlink_to(res.parent / "none"),
            r"p\.txt: stands where a result belongs",
        ),
        (
            lambda res: (res.rmdir(), res.write_text("a file")),
            r"res: is a file; give a folder for the results",
        ),
    ],
)
def test_what_is_no_result_is_refused_and_kept(tmp_path: Path, make: Any, message: str) -> None:
    res = tmp_path / "res"
    res.mkdir()
    make(res)
    before = tree(tmp_path)
    with pytest.raises(InputError, match=message), staged(res, NAMES, is_result) as folder:
        fill(folder, "p.txt")
    assert tree(tmp_path) == before


def test_results_know_themselves(tmp_path: Path) -> None:
    """What the writers write may be replaced, whatever the protocol."""
    path = tmp_path / "x.txt"
    for protocol in PROTOCOLS:
        found = run(tmp_path, GT, DET.replace('""', '"word"'), protocol)
        texts = [result_text.dataset(found), image_text(found)]
        for text in texts:
            path.write_text(text, encoding="utf-8")
            assert is_result(path)
        (tmp_path / "x.json").write_text(
            "".join(writer.document(found, [], Extras())), encoding="utf-8"
        )
        assert is_result(tmp_path / "x.json")
    assert not is_result(tmp_path / "gt.txt")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"cannot be written \(Not a directory"),
        staged(tmp_path / "file" / "res", NAMES),
    ):
        pytest.fail("a folder inside a file")
    assert tree(tmp_path) == {"file": b""}
