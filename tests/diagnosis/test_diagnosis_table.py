"""What `evaltex diagnose` prints: that it fits the terminal, leaves empty
bins out and ends in a conclusion.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaltex_cli.diagnosis import terminal_table
from evaltex_cli.diagnosis.diagnosis import Diagnosis, Diagnostician, diagnosed
from evaltex_cli.diagnosis.error_types import ERROR_TYPES
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.results.screen import Screen, width

LONG = "日本語の長い文" * 9
GT = f"""img
900,900
1,1,"{LONG}",f,10,10,200,12
2,2,"b",f,10,60,200,20
3,3,"word",f,10,120,200,20
4,4,"c",f,10,200,20,200
"""
DET = f"""img
1,"{LONG}x",10,10,200,12
2,"b",10,60,200,20
3,"word",10,120,200,20
4,"?",500,500,90,20
5,"?",500,700,90,20
"""


def diagnoses(
    folder: Path, gt: str = GT, det: str = DET, protocols: tuple[str, ...] = ("iou",)
) -> list[Diagnosis]:
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    inputs = open_inputs(folder / "gt.txt", folder / "det.txt", InputOptions())
    return diagnosed(
        inputs, {name: config.checked(name, {}) for name in protocols}, Diagnostician()
    )


def shown(found: list[Diagnosis], columns: int = 80, all_scores: bool = False) -> list[str]:
    return terminal_table.table(found, Screen(columns), all_scores).splitlines()


@pytest.mark.few_fast(2)
@pytest.mark.parametrize("all_scores", [False, True])
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, columns: int, all_scores: bool) -> None:
    found = diagnoses(tmp_path, protocols=tuple(PROTOCOLS))
    lines = shown(found, columns, all_scores)
    assert max(map(width, lines)) <= columns
    assert sum(line.startswith("misread words ") for line in lines) == 1
    means = {name for one in found for bins in one.breakdowns.values() for name in bins[0].means}
    assert all((f"mean {name}" in "\n".join(lines)) == all_scores for name in means)


def test_only_bins_with_objects_are_shown_under_one_head(tmp_path: Path) -> None:
    found = diagnoses(tmp_path)
    lines = shown(found)
    (at,) = (
        k
        for k, line in enumerate(lines)
        if line.split() == ["objects", "by", "objects", "found", "recall"]
    )
    body = [line.split() for line in lines[at + 1 :] if line.startswith("  ")]
    expected = [
        ["8<=height<16", "1", "1", "1.0000"],
        ["16<=height<32", "2", "2", "1.0000"],
        ["height>=128", "1", "0", "0.0000"],
        ["aspect_ratio<0.5", "1", "0", "0.0000"],
        ["aspect_ratio>=8", "3", "3", "1.0000"],
        ["1<=length<2", "2", "1", "0.5000"],
        ["4<=length<7", "1", "1", "1.0000"],
        ["length>=11", "1", "1", "1.0000"],
    ]
    assert body == expected
    assert set(ERROR_TYPES) < {line.split()[0] for line in lines if line}
    assert sum("objects  found" in line for line in lines) == 1


def test_the_last_sentence_names_what_costs_most(tmp_path: Path) -> None:
    (found,) = diagnoses(tmp_path)
    shares = {kind.kind: kind.shares["hmean"] for kind in found.kinds}
    assert max(shares, key=lambda kind: shares[kind]) == "false"
    after = found.scores["hmean"] + shares["false"]
    sentence = (
        f"False detections cost most: if all 2 were corrected, hmean would be {after:.4f} instead"
        f" of {found.scores['hmean']:.4f} ({shares['false']:+.4f})."
    )
    lines = shown([found])
    assert " ".join(lines[lines.index("") :]).endswith(sentence)
    of_two = shown(diagnoses(tmp_path, protocols=("iou", "pq")))
    assert [line[:5] for line in of_two if " cost most: " in line] == ["iou: ", "pq: F"]


@pytest.mark.parametrize(
    ("gt", "det", "sentence"),
    [
        (
            "img\n900,900\n1,1,'',f,10,10,200,12\n",
            "img\n1,'',10,10,200,12\n",
            "Nothing is lost: hmean is 1.0000.",
        ),
        (
            "img\n900,900\n1,1,'',t,10,10,200,12\n",
            "img\n1,'',10,10,200,12\n",
            "No object of the ground truth counts, so no score is defined (–), and none is lost.",
        ),
        (
            "img\n900,900\n1,1,'',f,10,10,200,12\n",
            "img\n",
            (
                "Missed objects cost most: if that one were corrected, hmean would be 1.0000"
                " instead of 0.0000 (+1.0000)."
            ),
        ),
        (
            "img\n900,900\n1,1,'word',f,0,0,100,100\n",
            "img\n1,'ward',0,0,100,100\n",
            (
                "No kind of mistake costs anything alone: the loss of 1.0000 hmean is interaction"
                " and unexplained"
            ),
        ),
    ],
)
def test_conclusions(tmp_path: Path, gt: str, det: str, sentence: str) -> None:
    protocol = "iou-crw" if "word" in gt else "iou"
    (found,) = diagnoses(tmp_path, gt.replace("'", '"'), det.replace("'", '"'), (protocol,))
    assert terminal_table.conclusion(found).startswith(sentence)


def test_colours(tmp_path: Path) -> None:
    found = diagnoses(tmp_path)
    text = terminal_table.table(found, Screen(80, True), False)
    assert re.findall(r"\x1b\[31m(\w+)", text) == ["false"]
    assert re.sub(r"\x1b\[\d+m", "", text).splitlines() == shown(found)
