"""Result files as text: EvaLTex to the character, and every score of the other protocols."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import scenes
from page_sample import DET, GT, image_text, run
from shared_data import SHARED, needs

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.tally import Count, Tally
from evaltex_cli.results import result_text

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
