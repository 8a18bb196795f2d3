"""What `evaltex diagnose` prints: it leaves empty bins out and says what costs most."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli.diagnosis.diagnosis import Diagnosis, diagnose_inputs
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
    return diagnose_inputs(inputs, {name: config.checked(name, {}) for name in protocols})


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
    assert lines[at + 1].split() == ["8<=height<16", "1", "1", "1.0000"]
    assert not any(line.split()[1] == "0" for line in lines[at + 1 :])
    assert set(ERROR_TYPES) < {line.split()[0] for line in lines if line}


@pytest.mark.parametrize(
    ("flag", "det", "sentence"),
    [
        ("f", '1,"word",10,10,200,12', "No kind of mistake costs anything alone: hmean is 1.0000."),
        (
            "t",
            '1,"word",10,10,200,12',
            "No object of the ground truth counts, so no score is defined",
        ),
        (
            "f",
            "",
            "Missed objects cost most: if that one were corrected, hmean would be 1.0000 instead",
        ),
        ("f", '1,"ward",10,10,200,12', "Misread objects cost most: if that one were corrected"),
    ],
)
def test_conclusions(tmp_path: Path, flag: str, det: str, sentence: str) -> None:
    gt = f'img\n900,900\n1,1,"word",{flag},10,10,200,12\n'
    found = diagnoses(tmp_path, gt, f"img\n{det}\n", ("iou-crw" if "ward" in det else "iou",))
    assert sentence in "\n".join(shown(found))


def test_a_word_that_is_also_merged_is_misread_only_if_its_piece_is(tmp_path: Path) -> None:
    """After all repairs, nothing is left of the loss."""
    gt = "img\n900,900\n1,1,'one',f,0,0,50,20\n2,2,'two',f,60,0,50,20\n".replace("'", '"')
    for read, misread in (("one two", 0), ("one too", 1), ("onetwo", 2)):
        det = f'img\n1,"{read}",0,0,110,20\n'
        (found,) = diagnoses(tmp_path, gt, det, ("iou-crw",))
        assert {kind.kind: kind.count for kind in found.kinds}[MISREAD] == misread
        assert found.unexplained["hmean"] == 0
