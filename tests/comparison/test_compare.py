"""`evaltex compare`, gates and intervals on the command line."""

import csv
import io
import json
import re

import numpy as np
import pytest
from command_line import invoke as run

from evaltex_cli import compare, evaluate, image_objects
from evaltex_cli.protocols import PROTOCOLS

IMAGES = 24


def data_set(drop=0, seed=0):
    """A ground truth of three words an image, and detections of it: jittered,
    the first `drop` images without.
    """
    rng = np.random.default_rng(seed)
    gt, det = [], []
    for k in range(IMAGES):
        gt += [f"img_{k}", "400,400", *(f'{i},{i},"w{i}",f,10,{60 * i},200,40' for i in (1, 2, 3))]
        det += [f"img_{k}"]
        if k >= drop:
            jitter = rng.integers(0, 12, 3).tolist()
            det += [f'{i},"w{i}",{10 + jitter[i - 1]},{60 * i},190,40' for i in (1, 2, 3)]
    return "\n".join(gt) + "\n", "\n".join(det) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gt, whole = data_set()
    (tmp_path / "gt.txt").write_text(gt)
    (tmp_path / "whole.txt").write_text(whole)
    (tmp_path / "less.txt").write_text(data_set(drop=8)[1])
    return tmp_path


def test_a_detector_against_itself(folder):
    twice = ("whole.txt", "whole.txt", "--format", "json", "--resamples", 100)
    result = run("compare", "gt.txt", *twice)
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.output)["protocols"]
    assert found["systems"] == ["whole", "whole (2)"]
    assert found["images"] == found["objects"] == []
    for score in found["scores"]:
        assert score["differences"] == [None, 0]
        assert score["p_values"] == [None, 1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_ground_truth_without_objects(folder, protocol):
    """Of images without text, which detectors may still find some in."""
    (folder / "gt.txt").write_text("img_0\n400,400\nimg_1\n400,400\n")
    (folder / "some.txt").write_text('img_0\n1,"w",10,60,190,40\nimg_1\n')
    (folder / "other.txt").write_text('img_0\nimg_1\n1,"w",10,60,190,40\n')
    found = run("compare", "gt.txt", "some.txt", "other.txt", "--protocol", protocol)
    assert found.exit_code == 0, found.output
    for name in ("some", "other"):
        run("gt.txt", f"{name}.txt", name, "-a", "--protocol", protocol)
    assert run("report", "some", "other").exit_code == 0


def test_a_worse_detector_is_reported_with_images_and_objects(folder):
    result = run("compare", "gt.txt", "whole.txt", "less.txt", "--format", "json")
    (found,) = json.loads(result.output)["protocols"]
    scores = {score["score"]: score for score in found["scores"]}
    for name, path in (("recall", "whole.txt"), ("recall", "less.txt"), ("fscore", "less.txt")):
        value = evaluate("gt.txt", path).scores[name]
        assert value in scores[name]["values"]
    assert scores["recall"]["p_values"][1] < 0.05
    low, high = scores["recall"]["difference_intervals"][1]
    assert low < scores["recall"]["differences"][1] < high < 0
    assert {image["image"] for image in found["images"] if image["after"] == 0} == {
        f"img_{k}" for k in range(8)
    }
    assert [image["change"] for image in found["images"]] == sorted(
        image["change"] for image in found["images"]
    )
    assert sum(one["match_after"] == "missed" for one in found["objects"]) == 24


def test_stored_results_compare_like_files(folder):
    for name in ("whole", "less"):
        assert run("gt.txt", f"{name}.txt", f"runs/{name}", "-a").exit_code == 0
    stored = run("compare", "runs/whole", "runs/less", "--format", "csv")
    labels = ("--format", "csv", "--label", "whole", "--label", "less")
    fresh = run("compare", "gt.txt", "whole.txt", "less.txt", *labels)
    mixed = run("compare", "gt.txt", "whole.txt", "runs/less", *labels)
    assert stored.exit_code == 0, stored.output
    assert stored.output == fresh.output == mixed.output
    rows = list(csv.DictReader(io.StringIO(stored.output)))
    assert {row["detector"] for row in rows} == {"whole", "less"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gt.txt", "whole.txt"], "nothing to compare"),
        (["gt.txt", "whole.txt", "less.txt", "--label", "x"], "1 label for 2 detectors"),
        (["gt.txt", "whole.txt", "less.txt", "--label", "x", "--label", "x"], "the same name"),
        (["gt.txt", "whole.txt", "none.txt"], "none.txt: cannot be read"),
        (["runs/a", "whole.txt"], "detections without a ground truth; give it, or results"),
        (["runs/a", "runs/b"], "parameter det_border is 0.01 and 0.2"),
        (["runs/a", "runs/c"], "holds no images' results; run that evaluation again with -a"),
        (["runs/a", "runs/d"], "ground truth (SHA-256) is"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, arguments, message):
    (folder / "gt2.txt").write_text(data_set()[0].replace("w1", "x1"))
    run("gt.txt", "whole.txt", "runs/a", "-a")
    run("gt.txt", "whole.txt", "runs/b", "-a", "--set", "det_border=0.2")
    run("gt.txt", "whole.txt", "runs/c")
    run("gt2.txt", "whole.txt", "runs/d", "-a")
    result = run("compare", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_result_of_another_version_is_named(folder):
    """A protocol, a value of a parameter, and a member that this version does not have."""
    changes = {
        ('"evaltex",\n"signature"', '"novel",\n"signature"'): "unknown protocol 'novel'",
        ('"region":true', '"region":"x"'): "region is 'x'; expected true or false",
        ('"totals"', '"sums"'): "is a damaged result",
    }
    for (old, new), message in changes.items():
        run("gt.txt", "whole.txt", "runs/a", "-a")
        path = folder / "runs" / "a" / "evaltex.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")
        file = "runs/a/evaltex.json"
        for command in (["report", file], ["merge", file, "new"], ["compare", file, file]):
            result = run(*command)
            assert (result.exit_code, f"{file}: is " in result.output) == (2, True)
            assert message in " ".join(result.output.split())


def test_intervals_of_a_plain_run(folder):
    result = run("gt.txt", "less.txt", "res", "--ci")
    assert result.exit_code == 0, result.output
    assert "; 95% confidence intervals: paired permutation test over images" in result.stdout
    assert re.search(r"^evaltex +0\.\d{4} \[0\.\d{3}, 0\.\d{3}\] ", result.stdout, re.MULTILINE)
    document = json.loads((folder / "res" / "evaltex.json").read_text(encoding="utf-8"))
    assert document["bootstrap"] == {"level": 0.95, "resamples": 2000, "seed": 0, "units": "image"}
    low, high = document["intervals"]["recall"]
    assert low < document["scores"]["recall"] < high
    wider = run("gt.txt", "less.txt", "res", "--ci", "0.99", "--seed", 1)
    assert wider.output != result.output


def test_gates_decide_the_status_after_everything_is_written(folder):
    assert run("gt.txt", "whole.txt", "base").exit_code == 0
    gates = ["--fail-if", "fscore<0.2", "--fail-if", "recall:-0.5%", "--baseline", "base"]
    assert run("gt.txt", "whole.txt", "same", *gates).exit_code == 0
    result = run("gt.txt", "less.txt", "worse", *gates, "--junit", "gates.xml")
    assert result.exit_code == 1
    assert "Gate passed  fscore<0.2" in result.output
    assert "Gate FAILED  recall:-0.5%" in result.output
    document = json.loads((folder / "worse" / "evaltex.json").read_text(encoding="utf-8"))
    assert [(gate["expression"], gate["passed"]) for gate in document["gates"]] == [
        ("fscore<0.2", True),
        ("recall:-0.5%", False),
    ]
    xml = (folder / "gates.xml").read_text(encoding="utf-8")
    assert 'tests="2" failures="1"' in xml
    assert 'name="fscore&lt;0.2"' in xml


def test_a_gate_that_cannot_be_decided_writes_nothing(folder):
    run("gt.txt", "whole.txt", "base")
    gate = ("--fail-if", "hmean:-1%", "--baseline")
    for arguments, message in (
        (("--fail-if", "fscore"), "--fail-if fscore: expected SCORE<VALUE"),
        ((*gate, "base", "--set", "split=false"), "split is 'the default', here false"),
        ((*gate, "gone.json"), "gone.json: cannot be read"),
    ):
        result = run("gt.txt", "less.txt", "res", *arguments)
        assert (result.exit_code, message in result.output) == (2, True)
        assert not (folder / "res").exists()


def test_the_best_and_who_does_not_differ_from_it_are_bold(folder):
    """Of three detectors, two find as much, and one finds nothing on a third of the images."""
    (folder / "other.txt").write_text(data_set(seed=1)[1])
    names = ("less.txt", "whole.txt", "other.txt")
    found = compare("gt.txt", names, ["iou", "cleval"], resamples=500)
    assert found["iou"].compared("recall").best == [False, True, True]
    assert not any(found["cleval"].compared("missed_characters").best), "less is better"
    text = run("compare", "gt.txt", *names, "--protocol", "iou", "--format", "markdown").output
    assert "| less | 0.6667 | **1.0000** | 0.8000 | " in text
    assert "| whole | **1.0000** | **1.0000** | **1.0000** | " in text
    assert text.count("| \\*\\* |") == 2
    few = compare([[[0, 0, 9, 9]]], {"a": [[]], "b": [[[0, 0, 9, 9]]]}, "iou")
    assert few.main.best == [False, False], "one image shows no difference"


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_an_object_gets_worse_when_its_detection_goes(folder, protocol):
    """One-to-one detections, four images of which are gone: what changed of
    these, changed for the worse.
    """
    lines = data_set()[0].replace("400,400\n", "").splitlines()
    exact = "\n".join(re.sub(r'^(\d+),\d+,("w\d+"),f,', r"\1,\2,", line) for line in lines) + "\n"
    (folder / "exact.txt").write_text(exact)
    (folder / "fewer.txt").write_text("img_4\n" + exact.split("img_4\n")[1])
    options = ["--protocol", protocol, "--format", "json", "--resamples", 10]
    result = run("compare", "gt.txt", "exact.txt", "fewer.txt", *options)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (found,) = document["protocols"]
    assert len(found["objects"]) == 12
    assert {one["image"] for one in found["objects"]} == {f"img_{k}" for k in range(4)}
    assert all(one["change"] == -1 for one in found["objects"])


def test_what_was_made_otherwise_is_not_compared(folder):
    """Label pictures, another ground truth file, arguments that results cannot follow."""
    for name in ("whole", "less"):
        run("gt.txt", f"{name}.txt", f"runs/{name}", "-a")
    path = folder / "runs" / "less" / "evaltex.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace("|invalid:", "|masks:yes|invalid:"),
        encoding="utf-8",
    )
    assert "label pictures is no and yes" in run("compare", "runs/whole", "runs/less").output
    (folder / "gt2.txt").write_text(data_set()[0].replace("w1", "x1"))
    twice = ["runs/whole", "runs/whole", "--label", "one", "--label", "other"]
    assert "another ground truth than gt2.txt" in run("compare", "gt2.txt", *twice).output
    for options in (["--set", "det_border=0"], ["--invalid", "drop"], ["--min-confidence", "0.5"]):
        assert "results were evaluated before" in run("compare", *twice, *options).output
    assert "no protocol serves" in run("compare", *twice, "--protocol", "iou").output


def test_detections_that_were_read_differently_are_named(folder):
    """Answers of models in thousandths of the page, once with the x axis first."""
    run("gt.txt", "whole.txt", "res/whole", "-a")
    boxes = [[25, 150 * i, 525, 150 * i + 100] for i in (1, 2, 3)]
    for key, at in (("bbox_2d", [0, 1, 2, 3]), ("box_2d", [1, 0, 3, 2])):
        answer = json.dumps([{key: [box[k] for k in at]} for box in boxes])
        records = [json.dumps({"image": f"img_{k}", "answer": answer}) for k in range(IMAGES)]
        (folder / f"{key}.jsonl").write_text("\n".join(records))
        run("gt.txt", f"{key}.jsonl", f"res/{key}", "-a")
    said = "read differently: bbox_2d as xyxy:1000, box_2d as yxyx:1000; if one model wrote them"
    for command in ("compare", "rank"):
        assert said in run(command, "res/bbox_2d", "res/box_2d").stderr
        result = run(command, "res/box_2d", "res/whole")
        assert (result.exit_code, "differently" in result.stderr) == (0, False)
    gate = ["--fail-if", "hmean:-1pt", "--baseline", "res/bbox_2d"]
    said = "read differently: the baseline as xyxy:1000, this run as yxyx:1000"
    assert said in run("gt.txt", "box_2d.jsonl", *gate).stderr


def test_protocols_of_texts_are_left_out_where_there_are_none(folder):
    mute = (folder / "whole.txt").read_text()
    (folder / "mute.txt").write_text(re.sub(r'"w\d"', '""', mute))
    result = run("compare", "gt.txt", "whole.txt", "mute.txt", "--protocol", "popeval,iou")
    assert "left out: popeval (mute: no transcriptions)" in result.output
    assert re.search(r"^mute +0", result.stdout, re.MULTILINE)


def test_equal_scores_are_equal_however_they_are_rounded():
    """Three words of four in five detections, and two in two: an F-score of 2/3, rounded to two
    numbers; no image has changed, and both are the best.
    """
    words = [[100 * k, 0, 100 * k + 50, 20] for k in range(7)]
    old, new = [*words[:3], *words[5:]], words[:2]
    found = compare([words[:4]] * 8, {"old": [old] * 8, "new": [new] * 8}, "iou")
    assert found.main.differences[1] != 0
    assert found.images == []
    assert found.main.best == [True, True]


@pytest.mark.parametrize("protocol", ["evaltex", "pq"])
def test_no_object_has_changed_if_only_the_first_vertex_is_another(protocol):
    """The areas of some of these are rounded to other numbers then."""
    corners = np.array([[0, 0], [99, 0], [99, 40], [0, 40]])
    drawn = corners + np.random.default_rng(0).uniform(0, 20, (60, 4, 2))
    moved = drawn + np.random.default_rng(1).uniform(-2, 2, (60, 1, 2))
    sides = [[image_objects(polygons=[one]) for one in side] for side in (drawn, moved)]
    other = [image_objects(polygons=[np.roll(one, 1, axis=0)]) for one in moved]
    found = compare(sides[0], {"one": sides[1], "other": other}, protocol)
    assert found.scores[0].values[0] > 0 and len(found.objects) == 0
