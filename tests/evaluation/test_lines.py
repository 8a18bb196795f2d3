"""The ground truth of lines: from every command, paired by name, part of what scores depend on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run

from evaltex_cli import Accumulator, InputError, evaluate

GT = {
    "1": "0,0,40,0,40,20,0,20,one\n60,0,100,0,100,20,60,20,two\n0,50,60,50,60,70,0,70,three\n",
    "2": "0,0,40,0,40,20,0,20,one\n60,0,100,0,100,20,60,20,###\n",
}
LINES = {"1": "0,0,100,0,100,20,0,20,line\n", "2": "0,0,100,0,100,20,0,20,line\n"}
DET = {"1": "0,0,100,0,100,20,0,20\n0,50,60,50,60,70,0,70\n", "2": "0,0,95,0,95,20,0,20\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, files, prefix in (
        ("gt", GT, "gt_img_"),
        ("lines", LINES, "gt_img_"),
        ("det", DET, "res_img_"),
    ):
        (tmp_path / name).mkdir()
        for image, text in files.items():
            (tmp_path / name / f"{prefix}{image}.txt").write_text(text, encoding="utf-8")
    return tmp_path


OPTIONS = ("--protocol", "tiou", "--lines", "lines")


@pytest.mark.usefixtures("folder")
def test_lines_find_their_words() -> None:
    """Without lines the first detection of the first image, and that of the
    second, match nothing.
    """
    assert evaluate("gt", "det", "tiou").totals["one_to_one"] == 1
    found = evaluate("gt", "det", "tiou", lines="lines", per_image=True)
    totals = found.totals
    assert (
        totals["lines"],
        totals["one_to_one"],
        totals["line_words"],
        totals["counted_gt_objects"],
    ) == (2, 1, 4, 4)
    assert found.parameters.lines == "file"
    # The words of the first line and the first of the second are found in full; of the don't-care
    # word 35 of 40 columns are, which is credit as in the program.
    assert totals["siou_recall_credit"] == pytest.approx(4 + 35 / 40)
    assert found.scores["recall"] == 1.0
    first = found.images[0]
    assert [(one.match, one.partners) for one in first.objects[:2]] == [("many-to-one", [1])] * 2
    assert first.detections[0].partners == [1, 2]


@pytest.mark.parametrize("policy", ["count", "drop"])
def test_dont_care_lines_are_treated_as_dont_care_words(policy: str, folder: Path) -> None:
    """As if the files had no such mark, or no such lines and words."""
    dont_care = "0,0,100,0,100,20,0,20,###\n"
    (folder / "lines" / "gt_img_2.txt").write_text(dont_care, encoding="utf-8")
    found = evaluate("gt", "det", "tiou", lines="lines", dont_care=policy).totals
    assert found != evaluate("gt", "det", "tiou", lines="lines").totals
    for path in (*folder.glob("gt/*"), *folder.glob("lines/*")):
        text = path.read_text(encoding="utf-8")
        kept = [line for line in text.splitlines(keepends=True) if "###" not in line]
        text = text.replace("###", "text") if policy == "count" else "".join(kept)
        path.write_text(text, encoding="utf-8")
    assert found == evaluate("gt", "det", "tiou", lines="lines").totals


@pytest.mark.usefixtures("folder")
def test_every_command_takes_lines_and_says_so() -> None:
    run("gt", "det", "res", "-a", "--quiet", *OPTIONS)
    document = json.loads(Path("res/tiou.json").read_text(encoding="utf-8"))
    signature = document["signature"]
    assert "|lines:file|gt_lines:" in signature
    assert document["scores"] == evaluate("gt", "det", "tiou", lines="lines").scores
    options = (*OPTIONS, "--format", "json")
    (compared,) = json.loads(
        run("compare", "gt", "det", "det", "--label", "a", "--label", "b", *options).stdout
    )["protocols"]
    assert {line.split("|resamples")[0] for line in compared["signatures"]} == {signature}
    (diagnosed,) = json.loads(run("diagnose", "gt", "det", *options).stdout)["protocols"]
    assert (diagnosed["signature"], diagnosed["scores"]["recall"]) == (
        signature,
        document["scores"]["recall"],
    )
    assert "--lines" in run("compare", "res", "res", "--lines", "lines", status=2).stderr


@pytest.mark.usefixtures("folder")
def test_other_protocols_do_not_depend_on_lines() -> None:
    run("gt", "det", "res", "--quiet", *OPTIONS, "--protocol", "iou")
    assert "lines" not in json.loads(Path("res/iou.json").read_text(encoding="utf-8"))["signature"]
    assert (
        "is for tiou"
        in run("gt", "det", "res", "--protocol", "iou", "--lines", "lines", status=2).stderr
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("policy", "lines", "warning"),
    [
        ("repair", 2, "lines: 1 invalid polygon was repaired"),
        ("drop", 1, "lines: 1 invalid polygon left out"),
    ],
)
def test_invalid_lines_follow_the_policy(policy: str, lines: int, warning: str) -> None:
    """One vertex doubles back, so the repaired line is the one that was meant."""
    Path("lines/gt_img_1.txt").write_text(
        "0,0,100,0,100,20,100,30,100,20,0,20,line\n", encoding="utf-8"
    )
    found = evaluate("gt", "det", "tiou", lines="lines", invalid=policy)
    assert found.totals["lines"] == lines
    assert any(one.startswith(warning) for one in found.warnings), found.warnings
    document = run("gt", "det", "res", "--invalid", policy, *OPTIONS)
    assert warning in " ".join(document.stderr.split())


@pytest.mark.usefixtures("folder")
def test_images_of_lines_are_those_of_the_ground_truth() -> None:
    Path("lines/gt_img_2.txt").rename("lines/gt_img_3.txt")
    error = run("gt", "det", "res", *OPTIONS, status=2).stderr
    assert "image 'img_3' is not in the ground truth" in error
    assert "lines: no image 'img_2'; expected all images of gt" in error


@pytest.mark.usefixtures("folder")
def test_what_does_not_go_with_lines() -> None:
    with pytest.raises(InputError, match="lines=file needs a ground truth of lines"):
        evaluate("gt", "det", "tiou", params={"lines": "file"})
    accumulator = Accumulator("tiou", params={"lines": "file"})
    with pytest.raises(InputError, match="lines=file needs"):
        accumulator.update([[0, 0, 1, 1]], [[0, 0, 1, 1]])
        accumulator.compute()
