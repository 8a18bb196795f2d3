"""Gates: every form passes, fails, and is refused when malformed."""

import json
from dataclasses import replace

import pytest

from evaltex_cli import Accumulator, ConfigError, InputError, evaluate
from evaltex_cli.comparison import gates
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.results import writer

GT = 'img_1\n100,200\n1,1,"",f,0,0,100,10\n2,2,"",f,0,50,100,10\n'
DET = 'img_1\n1,"",0,0,100,10\n'
HEIGHT = "recall[height<16]"


@pytest.fixture
def evaluation(tmp_path):
    (tmp_path / "gt.txt").write_text(GT)
    (tmp_path / "det.txt").write_text(DET)
    return evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")


def baseline_file(tmp_path, evaluation, verdicts=None):
    path = tmp_path / "baseline.json"
    path.write_text(writer.document(replace(evaluation, gates=verdicts)), encoding="utf-8")
    return path


def prepared(evaluation, *expressions, baselines=()):
    return gates.prepare(expressions, baselines, [Run(evaluation.protocol, evaluation.parameters)])


def verdict(expression, evaluation, *baselines, recalls=None):
    subject = gates.of_run(evaluation, recalls or {})
    (decided,) = gates.decide(prepared(evaluation, expression, baselines=baselines), [subject])
    return decided


@pytest.mark.parametrize(
    ("expression", "passed"),
    [
        ("recall<0.5", True),
        ("recall<=0.5", False),
        ("recall<0.500001", False),
        ("precision>=1", False),
        (" precision > 0.9 ", False),
        (" evaltex . recall < + 0.4 ", True),
        ("f1<1e-3", True),
        ("evaltex.F Score < 0.6", True),
        ("hmean<0.7", False),
    ],
)
def test_absolute(evaluation, expression, passed):
    assert evaluation.scores["recall"] == 0.5
    decided = verdict(expression, evaluation)
    assert decided.passed is passed
    assert decided.score in ("recall", "precision", "fscore"), "the protocol's own name"


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
        (" recall : - 1 % ", 0.505, True),
    ],
)
def test_against_a_baseline(tmp_path, evaluation, expression, before, passed):
    earlier = replace(evaluation, scores=evaluation.scores | {"recall": before})
    baseline_file(tmp_path, earlier)
    for path in (tmp_path, tmp_path / "baseline.json"):
        decided = verdict(expression, evaluation, path)
        assert decided.passed is passed
        assert decided.baseline == before
        assert str(decided).startswith("passed" if passed else "FAILED")


def test_an_undefined_score_fails(evaluation):
    undefined = replace(evaluation, scores=evaluation.scores | {"recall": None})
    assert not verdict("recall>0.9", undefined).passed
    assert "undefined" in str(verdict("recall>0.9", undefined))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("recall", "expected SCORE<VALUE"),
        ("recall<x", "expected SCORE<VALUE"),
        ("recall:5", "expected SCORE<VALUE"),
        ("recall<1.2.3", "expected SCORE<VALUE"),
        ("recall[height<16<0.5", "expected SCORE<VALUE"),
        ("recal<0.5", r"unknown score 'recal' \(did you mean 'recall'\?\)"),
        ("coverage_histogram<0.5", "unknown score"),
        ("deteval.recall<0.5", "'deteval' is not in this run; expected one of evaltex"),
        ("recall:-0.5%", "needs a baseline of evaltex with recall; give the .json"),
        (f"{HEIGHT}:-1%", r"needs .* with recall\[height<16\]; give what `evaltex diagnose"),
        ("recall:-5", r"cannot change by 5; did you mean -5pt"),
        ("f1:+1", "fscore is from 0 to 1"),
        ("recall<0", "no result can fail this gate: recall is from 0 to 1"),
        ("recall>1", "no result can fail this gate"),
        (f"{HEIGHT}<0", "no result can fail this gate"),
        ("recall<50", "every result fails this gate: .* and it fails if it is < 50$"),
        ("recall>=0", "every result fails this gate"),
        ("recall[heights<16]<0.5", r"unknown slice 'heights<16' \(did you mean 'height'\?\)"),
        ("recall[16<=height<8]<0.5", "A below B"),
        ("precision[height<16]<0.5", "evaltex has no slices of precision; expected recall"),
    ],
)
def test_refused_before_any_work(evaluation, expression, message):
    with pytest.raises(ConfigError, match=f"--fail-if .*{message}"):
        prepared(evaluation, expression)


def test_counts_may_change_by_more_than_1():
    evaluation = Accumulator("cleval").compute()
    assert len(prepared(evaluation, "missed_characters>5", "splits<1")) == 2
    with pytest.raises(ConfigError, match="every result fails this gate: splits is from 0 to inf"):
        prepared(evaluation, "splits>=0")


def test_of_several_protocols_and_baselines_one_is_meant(tmp_path, evaluation):
    runs = [Run(evaluation.protocol, evaluation.parameters), Run(*_iou(tmp_path))]
    with pytest.raises(ConfigError, match="several protocols; name one, as in evaltex"):
        gates.prepare(["recall<0.5"], [], runs)
    (gate,) = gates.prepare(["iou.recall<0.5"], [], runs)
    assert gate.subject == "iou"
    path = baseline_file(tmp_path, evaluation)
    with pytest.raises(ConfigError, match="a second baseline of evaltex with recall"):
        verdict("recall:-1%", evaluation, path, path)


def _iou(folder):
    found = evaluate(folder / "gt.txt", folder / "det.txt", "iou")
    return found.protocol, found.parameters


def test_a_baseline_made_otherwise_is_refused_with_what_differs(tmp_path, evaluation):
    path = baseline_file(tmp_path, evaluation)
    document = json.loads(path.read_text(encoding="utf-8"))
    signature = document["signature"].replace("revision:1", "revision:9|det_border:0.3")
    document["signature"] = signature.replace("gt:", "gt:0").replace("version:", "version:0")
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        verdict("recall:-1%", evaluation, path)
    message = str(caught.value)
    assert "revision is '9', here 1; det_border is '0.3', here the default; gt is '0" in message
    assert "version" not in message


def test_slices_of_an_earlier_run_are_those_of_its_gates(tmp_path, evaluation):
    decided = verdict(f"{HEIGHT}<0.1", evaluation, recalls={"height<16": 0.5})
    path = baseline_file(tmp_path, evaluation, [decided])
    expression = "recall[ HEIGHT < 16.0 ]:-10%"
    assert gates.slices_of(prepared(evaluation, expression, baselines=[path])) == {
        "evaltex": ["height<16"]
    }
    worse = verdict(expression, evaluation, path, recalls={"height<16": 0.44})
    assert (worse.score, worse.passed, worse.baseline, worse.limit) == (HEIGHT, False, 0.5, 0.45)
    assert not verdict(expression, evaluation, path, recalls={"height<16": None}).passed


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"[" * 100_000, b'{"tool": "evaltex", "schema": 1}']
)
def test_what_is_no_result_is_refused(tmp_path, evaluation, content):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json: "):
        verdict("recall:-1%", evaluation, tmp_path / "bad.json")


@pytest.mark.parametrize("content", ["[]", '{"protocols": [{"protocol": "iou"}]}', "{"])
@pytest.mark.parametrize("kind", ["diagnosis", "sweep"])
def test_a_damaged_baseline_is_refused(tmp_path, evaluation, kind, content):
    head = f'{{\n "schema": 1,\n "tool": "evaltex",\n "version": "0",\n "kind": "{kind}",\n'
    (tmp_path / "base.json").write_text(head + content.removeprefix("{"), encoding="utf-8")
    with pytest.raises(InputError, match=rf"base\.json: is a damaged {kind}"):
        verdict("recall:-1%", evaluation, tmp_path / "base.json")
