"""Gates: every form passes, fails, and is refused when malformed."""

import json
from dataclasses import replace

import pytest

from evaltex_cli import ConfigError, InputError, evaluate
from evaltex_cli.comparison import gate
from evaltex_cli.results import writer
from evaltex_cli.results.result_document import Extras

GT = 'img_1\n100,200\n1,1,"",f,0,0,100,10\n2,2,"",f,0,50,100,10\n'
DET = 'img_1\n1,"",0,0,100,10\n'


@pytest.fixture
def evaluation(tmp_path):
    (tmp_path / "gt.txt").write_text(GT)
    (tmp_path / "det.txt").write_text(DET)
    return evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")


def baseline_file(tmp_path, evaluation, **changed_scores):
    scores = evaluation.scores | changed_scores
    path = tmp_path / "baseline.json"
    path.write_text("".join(writer.document(replace(evaluation, scores=scores), [], Extras())), encoding="utf-8")
    return path


def verdict(expression, evaluation, baselines=None):
    (found,) = gate.verdicts([gate.parse(expression)], [evaluation], baselines or {})
    return found


@pytest.mark.parametrize(
    ("expression", "passed"),
    [
        ("recall<0.5", True),
        ("recall<=0.5", False),
        ("recall<0.500001", False),
        ("evaltex.recall < 0.4", True),
        ("precision>1", True),
        ("precision>=1", False),
        (" precision > 0.9 ", False),
        ("fscore<1e-3", True),
        ("f1<1e-3", True),
        ("evaltex.F-Score < 0.6", True),
        ("hmean<0.7", False),
    ],
)
def test_absolute(evaluation, expression, passed):
    assert evaluation.scores["recall"] == 0.5
    assert verdict(expression, evaluation).passed is passed


@pytest.mark.parametrize(
    ("expression", "before", "passed"),
    [
        ("recall:-0.005", 0.505, True),
        ("recall:-0.005", 0.5051, False),
        ("recall:-0.005", 0.1, True),
        ("recall:-1%", 0.505, True),
        ("recall:-1%", 0.51, False),
        ("recall:-0", 0.5, True),
        ("recall:-0", 0.500001, False),
        ("recall:+0.1", 0.4, True),
        ("recall:+0.1", 0.39, False),
        ("recall:+10%", 0.45, False),
    ],
)
def test_against_a_baseline(tmp_path, evaluation, expression, before, passed):
    baselines = gate.read_baselines([baseline_file(tmp_path, evaluation, recall=before)])
    found = verdict(expression, evaluation, baselines)
    assert found.passed is passed
    assert found.baseline == before
    assert str(found).startswith("passed" if passed else "FAILED")


@pytest.mark.parametrize(
    "expression", ["", "recall", "recall<", "recall<x", "recall=0.5", "recall:5", "recall<1.2.3", "a.b.c<1"]
)
def test_malformed(expression):
    with pytest.raises(ConfigError, match=r"--fail-if .*expected SCORE<VALUE"):
        gate.parse(expression)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("recal<0.5", r"unknown score 'recal' \(did you mean 'recall'\?\)"),
        ("coverage_histogram<0.5", "unknown score"),
        ("deteval.recall<0.5", "protocol deteval is not in this run; expected one of evaltex"),
        ("recall:-0.5%", "needs a baseline of evaltex; give one by --baseline"),
    ],
)
def test_refused(evaluation, expression, message):
    with pytest.raises(ConfigError, match=message):
        verdict(expression, evaluation)


def test_undefined_score_fails(evaluation):
    undefined = replace(evaluation, scores=evaluation.scores | {"recall": None})
    assert not verdict("recall>2", undefined).passed
    assert "undefined" in str(verdict("recall>2", undefined))


def test_a_folder_of_results_is_a_baseline(tmp_path, evaluation):
    baseline_file(tmp_path, evaluation)
    assert set(gate.read_baselines([tmp_path])) == {"evaltex"}


def test_two_baselines_of_one_protocol_are_refused(tmp_path, evaluation):
    path = baseline_file(tmp_path, evaluation)
    with pytest.raises(InputError, match="a second baseline of evaltex"):
        gate.read_baselines([path, path])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"tool": "evaltex", "schema": 2}',
        b'{"tool": "evaltex", "schema": 1}',
    ],
)
def test_what_is_no_result_is_refused(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json: "):
        gate.read_baselines([path])


def test_a_baseline_made_otherwise_is_refused_with_what_differs(tmp_path, evaluation):
    path = baseline_file(tmp_path, evaluation)
    same = gate.read_baselines([path])
    gate.refuse_other_baselines([evaluation], same)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parameters"]["det_border"] = 0.3
    document["inputs"]["gt"]["sha256"] = "0" * 64
    document["signature"] = document["signature"].replace("revision:", "revision:9")
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        gate.refuse_other_baselines([evaluation], gate.read_baselines([path]))
    message = str(caught.value)
    assert "parameter det_border is 0.3, here 0.01" in message
    assert "ground truth (SHA-256) is 0000" in message
    assert "protocol revision is 91, here 1" in message
