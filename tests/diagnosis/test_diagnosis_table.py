"""What `evaltex diagnose` prints: it leaves empty bins out and says what costs most."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli.diagnosis.diagnosis import Diagnosis, Diagnostician, diagnosed
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, MISREAD
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.tables import in_text

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


def shown(found: list[Diagnosis], all_scores: bool = False) -> list[str]:
    return in_text([table for one in found for table in one.tables(all_scores)]).splitlines()


@pytest.mark.parametrize("all_scores", [False, True])
def test_misread_words_and_means_are_shown_where_they_are(tmp_path: Path, all_scores: bool) -> None:
    found = diagnoses(tmp_path, protocols=tuple(PROTOCOLS))
    lines = shown(found, all_scores)
    assert sum(line.startswith("misread words ") for line in lines) == 1
    means = {name for one in found for bins in one.breakdowns.values() for name in bins[0].means}
    assert all((f"mean {name}" in "\n".join(lines)) == all_scores for name in means)


def test_only_bins_with_objects_are_shown(tmp_path: Path) -> None:
    lines = shown(diagnoses(tmp_path))
    (at,) = (k for k, line in enumerate(lines) if line.startswith("objects by"))
    assert [line.split() for line in lines[at + 1 :]] == [
        ["8<=height<16", "1", "1", "1.0000"],
        ["16<=height<32", "2", "2", "1.0000"],
        ["height>=128", "1", "0", "0.0000"],
        ["aspect_ratio<0.5", "1", "0", "0.0000"],
        ["aspect_ratio>=8", "3", "3", "1.0000"],
        ["1<=length<2", "2", "1", "0.5000"],
        ["4<=length<7", "1", "1", "1.0000"],
        ["length>=11", "1", "1", "1.0000"],
    ]
    assert set(ERROR_TYPES) < {line.split()[0] for line in lines if line}


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
            "Misread objects cost most: if that one were corrected, hmean would be 1.0000",
        ),
    ],
)
def test_conclusions(tmp_path: Path, gt: str, det: str, sentence: str) -> None:
    protocol = "iou-crw" if "word" in gt else "iou"
    (found,) = diagnoses(tmp_path, gt.replace("'", '"'), det.replace("'", '"'), (protocol,))
    assert found.conclusion().startswith(sentence)


def test_a_word_that_is_also_merged_is_misread_only_if_its_piece_is(tmp_path: Path) -> None:
    """After all repairs, nothing is left of the loss."""
    gt = "img\n900,900\n1,1,'one',f,0,0,50,20\n2,2,'two',f,60,0,50,20\n".replace("'", '"')
    for read, misread in (("one two", 0), ("one too", 1), ("onetwo", 2)):
        det = f'img\n1,"{read}",0,0,110,20\n'
        (found,) = diagnoses(tmp_path, gt, det, ("iou-crw",))
        assert {kind.kind: kind.count for kind in found.kinds}[MISREAD] == misread
        assert found.unexplained["hmean"] == 0
