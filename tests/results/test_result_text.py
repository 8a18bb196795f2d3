"""Result files as text: EvaLTex to the character, and every score of the other protocols."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import scenes
from page_sample import DET, GT, image_text, run

from evaltex_cli.protocols import PROTOCOLS
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
