"""The ground truth of lines: from every command, paired by name, part of what scores depend on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from evaltex_cli import Accumulator, InputError, evaluate, image_objects
from evaltex_cli.protocols.base import load
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.report.subject import OF_LINES

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
    found = evaluate("gt", "det", "tiou", gt_lines="lines", per_image=True)
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
    found = evaluate("gt", "det", "tiou", gt_lines="lines", dont_care=policy).totals
    assert found != evaluate("gt", "det", "tiou", gt_lines="lines").totals
    for path in (*folder.glob("gt/*"), *folder.glob("lines/*")):
        text = path.read_text(encoding="utf-8")
        kept = [line for line in text.splitlines(keepends=True) if "###" not in line]
        text = text.replace("###", "text") if policy == "count" else "".join(kept)
        path.write_text(text, encoding="utf-8")
    assert found == evaluate("gt", "det", "tiou", gt_lines="lines").totals


@pytest.mark.usefixtures("folder")
def test_every_command_takes_lines_and_says_so() -> None:
    run("gt", "det", "res", "-a", "--quiet", *OPTIONS)
    document = json.loads(Path("res/tiou.json").read_text(encoding="utf-8"))
    signature = document["signature"]
    assert "|lines:file|gt_lines:" in signature
    assert document["scores"] == evaluate("gt", "det", "tiou", gt_lines="lines").scores
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
def test_the_bytes_are_the_same_with_jobs() -> None:
    run("gt", "det", "plain", "-a", "--quiet", *OPTIONS)
    run("gt", "det", "other", "-a", "--quiet", *OPTIONS, "--jobs", "2")
    assert Path("other/tiou.json").read_bytes() == Path("plain/tiou.json").read_bytes()


@pytest.mark.usefixtures("folder")
def test_other_protocols_do_not_depend_on_lines() -> None:
    run("gt", "det", "res", "--quiet", *OPTIONS, "--protocol", "iou")
    assert "lines" not in json.loads(Path("res/iou.json").read_text(encoding="utf-8"))["signature"]
    assert (
        "is for tiou"
        in run("gt", "det", "res", "--protocol", "iou", "--lines", "lines", status=2).stderr
    )


@pytest.mark.usefixtures("folder")
def test_results_of_other_lines_are_not_comparable_and_merge_with_all_their_lines() -> None:
    run("gt", "det", "res", "-a", "--quiet", *OPTIONS)
    Path("lines/gt_img_2.txt").write_text("", encoding="utf-8")
    run("gt", "det", "other", "-a", "--quiet", *OPTIONS)
    assert "ground truth of lines" in run("compare", "res", "other", status=2).stderr
    for k in (1, 2):
        for side, prefix in (("gt", "gt_img_"), ("lines", "gt_img_"), ("det", "res_img_")):
            Path(f"{side}{k}").mkdir()
            name = f"{prefix}{k}.txt"
            Path(f"{side}{k}", name).write_bytes(Path(side, name).read_bytes())
        run(
            f"gt{k}",
            f"det{k}",
            f"part{k}",
            "-a",
            "--quiet",
            "--protocol",
            "tiou",
            "--lines",
            f"lines{k}",
        )
    run("merge", "part1", "part2", "whole")
    documents = [
        json.loads(Path(name, "tiou.json").read_text(encoding="utf-8"))
        for name in ("whole", "other")
    ]
    assert documents[0]["scores"] == documents[1]["scores"]
    assert "|gt_lines:" in documents[0]["signature"]


@pytest.mark.usefixtures("folder")
def test_a_report_of_lines_shows_where_the_score_is_lost() -> None:
    run("gt", "det", "res", "--quiet", "-a", "--report", *OPTIONS)
    inputs = ("--gt", "gt", "--det", "det")
    run("report", "res", *inputs, "--lines", "lines", "--output", "again.html")
    again, of_run = (
        Path(name).read_text(encoding="utf-8") for name in ("again.html", "res/report.html")
    )
    assert again == of_run
    run("report", "res", *inputs, "--output", "without.html")
    without = Path("without.html").read_text(encoding="utf-8")
    assert OF_LINES in without
    assert OF_LINES not in again


@pytest.mark.usefixtures("folder")
def test_a_report_takes_the_lines_of_the_run_only() -> None:
    run("gt", "det", "res", "--quiet", "-a", *OPTIONS)
    inputs = ("report", "res", "--gt", "gt", "--det", "det")
    assert "goes with --gt and --det" in run("report", "res", "--lines", "lines", status=2).stderr
    Path("lines/gt_img_2.txt").write_text("", encoding="utf-8")
    assert (
        "is not what was evaluated (lines of SHA-256"
        in run(*inputs, "--lines", "lines", status=2).stderr
    )
    run("gt", "det", "words", "--quiet", "-a", "--protocol", "tiou")
    of_words = run("report", "words", *inputs[2:], "--lines", "lines", status=2).stderr
    assert "is not what was evaluated (no ground truth of lines" in " ".join(of_words.split())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("policy", "lines", "warning"),
    [
        ("repair", 2, "lines: 1 invalid polygon repaired"),
        ("drop", 1, "lines: 1 invalid polygon left out"),
        ("skip", 1, "lines: 1 invalid polygon left out"),
    ],
)
def test_invalid_lines_follow_the_policy(policy: str, lines: int, warning: str) -> None:
    """One vertex doubles back, so the repaired line is the one that was meant."""
    Path("lines/gt_img_1.txt").write_text(
        "0,0,100,0,100,20,100,30,100,20,0,20,line\n", encoding="utf-8"
    )
    found = evaluate("gt", "det", "tiou", gt_lines="lines", invalid_polygons=policy)
    assert found.totals["lines"] == lines
    assert any(one.startswith(warning) for one in found.warnings), found.warnings
    document = run("gt", "det", "res", "--invalid", policy, *OPTIONS)
    assert warning in " ".join(document.stderr.split())


@pytest.mark.usefixtures("folder")
def test_an_invalid_line_that_is_refused_has_its_place() -> None:
    Path("lines/gt_img_2.txt").write_text(
        "0,0,9,0,9,9,0,9,a\n0,0,9,9,9,0,0,9,b\n", encoding="utf-8"
    )
    assert (
        "lines/gt_img_2.txt:2"
        in run("gt", "det", "res", "--invalid", "error", *OPTIONS, status=2).stderr
    )


@pytest.mark.usefixtures("folder")
def test_images_of_lines_are_those_of_the_ground_truth() -> None:
    Path("lines/gt_img_2.txt").rename("lines/gt_img_3.txt")
    error = run("gt", "det", "res", *OPTIONS, status=2).stderr
    assert "image 'img_3' is not in the ground truth" in error
    assert "lines: no image 'img_2'; expected all images of gt" in error


@pytest.mark.usefixtures("folder")
def test_faults_of_lines_are_reported() -> None:
    Path("lines/gt_img_2.txt").write_text("0,0,100\n", encoding="utf-8")
    assert "lines/gt_img_2.txt:1" in run("gt", "det", "res", *OPTIONS, status=2).stderr


@pytest.mark.usefixtures("folder")
def test_what_does_not_go_with_lines() -> None:
    with pytest.raises(InputError, match="lines=file needs a ground truth of lines"):
        evaluate("gt", "det", "tiou", lines="file")
    accumulator = Accumulator("tiou", lines="file")
    with pytest.raises(InputError, match="lines=file needs"):
        accumulator.update([[0, 0, 1, 1]], [[0, 0, 1, 1]])
        accumulator.compute()


# The program's rules ------------------------------------------------------------------------------


def totals(gt: Objects, lines: Any, det: Any, **parameters: Any) -> Any:
    protocol = load("tiou")
    chosen = protocol.parameters(lines="file", **parameters)
    from evaltex_cli.geometry.overlaps import measure

    batch = ImageBatch(["a"], [[0, 0]], gt, image_objects(det), gt_lines=image_objects(lines))  # type: ignore[arg-type]
    evidence = protocol.evidence(batch, measure(batch, protocol.convention(chosen)), chosen)
    return evidence.tally.sum(), evidence.matches


def test_the_only_word_of_a_line_has_its_iou() -> None:
    """30 of its 40 columns in a detection of 50: a share of 3/4, an IoU of 1/2; cut is 1/4."""
    words = image_objects([[0, 0, 40, 20], [100, 0, 140, 20]])
    alone, _ = totals(words, [[0, 0, 60, 20]], [[10, 0, 60, 20]])
    assert (alone.lines, alone.line_words) == (1, 1)
    assert (alone.siou_recall_credit, alone.tiou_recall_credit) == pytest.approx(
        (30 / 60, 30 / 60 * 3 / 4)
    )
    two = image_objects([[0, 0, 40, 20], [45, 0, 60, 20]])
    both, _ = totals(two, [[0, 0, 60, 20]], [[10, 0, 60, 20]])
    assert both.siou_recall_credit == pytest.approx(3 / 4 + 1)


def test_a_line_without_words_is_right() -> None:
    found, matches = totals(image_objects([[0, 100, 40, 120]]), [[0, 0, 60, 20]], [[0, 0, 60, 20]])
    assert (found.lines, found.line_words, found.siou_precision_credit) == (1, 0, 1.0)
    assert matches.det.types.tolist() == [0]
    nothing, _ = totals(image_objects(), [[0, 0, 60, 20]], [[0, 0, 60, 20]])
    assert nothing.lines == 0


def test_a_word_of_two_lines_counts_each_time() -> None:
    word = image_objects([[0, 0, 40, 20]])
    found, _ = totals(word, [[0, 0, 50, 20], [0, 0, 48, 20]], [[0, 0, 50, 20], [0, 0, 48, 20]])
    assert (found.lines, found.line_words) == (2, 2)
    assert found.siou_recall_credit == pytest.approx(40 / 50 + 40 / 48)
    assert load("tiou").scores(found, load("tiou").parameters(lines="file"))["siou_recall"] == 1.0


def test_the_word_of_the_lines_number_is_not_foreign() -> None:
    """The word above the line is the first of the image, as is the line; as
    the second it costs precision.
    """
    line, detection = [[0, 20, 100, 40]], [[0, 10, 100, 40]]
    foreign, own = [0, 0, 100, 20], [0, 20, 100, 40]
    first, _ = totals(image_objects([foreign, own]), line, detection)
    second, _ = totals(image_objects([own, foreign]), line, detection)
    assert first.tiou_precision_credit == pytest.approx(2 / 3)
    assert second.tiou_precision_credit == pytest.approx(2 / 3 * (1 - 1 / 3))
