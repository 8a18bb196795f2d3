"""Gates: every form passes, fails, and is refused when malformed."""

import json
from dataclasses import replace

import pytest

from evaltex_cli import Accumulator, ConfigError, InputError, evaluate
from evaltex_cli.comparison import gates
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.results import writer
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import of_evaluation

GT = 'img_1\n100,200\n1,1,"",f,0,0,100,10\n2,2,"",f,0,50,100,10\n'
DET = 'img_1\n1,"",0,0,100,10\n'


@pytest.fixture
def evaluation(tmp_path):
    (tmp_path / "gt.txt").write_text(GT)
    (tmp_path / "det.txt").write_text(DET)
    return evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")


def baseline_file(tmp_path, evaluation):
    path = tmp_path / "baseline.json"
    path.write_text(writer.document(evaluation, Extras()), encoding="utf-8")
    return path


def verdict(expression, evaluation, results=None):
    run = gates.RunGates([gates.parse(expression)], results or {})
    (found,) = run.verdicts([evaluation], {})
    return found


def read(*paths):
    return gates.prepare([], paths, [])


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
        (" evaltex . recall < 0.4 ", True),
        ("recall < + 0.4", True),
        ("fscore<1e-3", True),
        ("f1<1e-3", True),
        ("evaltex.F-Score < 0.6", True),
        ("hmean<0.7", False),
    ],
)
def test_absolute(evaluation, expression, passed):
    assert evaluation.scores["recall"] == 0.5
    found = verdict(expression, evaluation)
    assert found.passed is passed
    assert found.score in ("recall", "precision", "fscore"), "the protocol's own name"


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
        ("recall:- 1%", 0.51, False),
    ],
)
def test_against_a_baseline(evaluation, expression, before, passed):
    earlier = replace(evaluation, scores=evaluation.scores | {"recall": before})
    baselines = {"evaltex": of_evaluation(earlier, NO_IMAGES)}
    found = verdict(expression, evaluation, baselines)
    assert found.passed is passed
    assert found.baseline == before
    assert str(found).startswith("passed" if passed else "FAILED")


@pytest.mark.parametrize(
    "expression",
    ["", "recall", "recall<", "recall<x", "recall=0.5", "recall:5", "recall<1.2.3", "a.b.c<1"],
)
def test_malformed(expression):
    with pytest.raises(ConfigError, match=r"--fail-if .*expected SCORE<VALUE"):
        gates.parse(expression)


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
    assert set(read(tmp_path).results) == {"evaltex"}


def test_two_baselines_of_one_protocol_are_refused(tmp_path, evaluation):
    path = baseline_file(tmp_path, evaluation)
    with pytest.raises(InputError, match="a second baseline of evaltex"):
        read(path, path)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b"[" * 100_000, b'{"tool": "evaltex", "schema": 1}'],
)
def test_what_is_no_result_is_refused(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json: "):
        read(path)


def test_a_baseline_made_otherwise_is_refused_with_what_differs(tmp_path, evaluation):
    path = baseline_file(tmp_path, evaluation)
    same = read(path)
    assert same.verdicts([evaluation], {}) == []
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parameters"]["det_border"] = 0.3
    document["inputs"]["gt"]["sha256"] = "0" * 64
    document["signature"] = document["signature"].replace("revision:", "revision:9")
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read(path).verdicts([evaluation], {})
    message = str(caught.value)
    assert "parameter det_border is 0.3, here 0.01" in message
    assert "ground truth (SHA-256) is 0000" in message
    assert "protocol revision is 91, here 1" in message


def prepared(evaluation, *expressions, baselines=()):
    return gates.prepare(expressions, baselines, [Run(evaluation.protocol, evaluation.parameters)])


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("recall:-5", r"did you mean -5%\?"),
        ("recall:+2.5", r"did you mean \+2\.5%\?"),
        ("f1:-1", "fscore is from 0 to 1"),
        ("recall:-500", "expected less than 1"),
        ("recall[height<16]:-5", r"did you mean -5%\?"),
    ],
)
def test_a_change_that_no_score_can_have_is_refused(tmp_path, evaluation, expression, hint):
    with pytest.raises(ConfigError, match=hint):
        prepared(evaluation, expression)
    with pytest.raises(ConfigError, match=hint):
        prepared(evaluation, expression, baselines=[baseline_file(tmp_path, evaluation)])


@pytest.mark.parametrize(
    "expression",
    [
        *("recall<0", "recall<-0.5", "recall<=-0.01", "recall>1", "recall>=1.01"),
        "recall[height<16]<0",
    ],
)
def test_a_gate_that_no_result_can_fail_is_refused(evaluation, expression):
    with pytest.raises(ConfigError, match="no result can fail this gate"):
        prepared(evaluation, expression)


@pytest.mark.parametrize(
    "expression",
    ["recall<1e-9", "recall<=0", "recall>=1", "recall:+0.49", "recall:-99%", "precision:-0"],
)
def test_gates_that_some_result_fails(tmp_path, evaluation, expression):
    file = baseline_file(tmp_path, evaluation)
    assert len(prepared(evaluation, expression, baselines=[file]).gates) == 1


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("recall<2", ", and it fails if it is < 2"),
        ("recall<=1", ", and it fails if it is <= 1"),
        ("recall>=0", ", and it fails if it is >= 0"),
        ("recall>-1", ", and it fails if it is > -1"),
        ("recall[height<16]<1.5", ", and it fails if it is < 1.5"),
    ],
)
def test_a_gate_that_every_result_fails_is_refused(evaluation, expression, advice):
    with pytest.raises(ConfigError, match="every result fails this gate: ") as found:
        prepared(evaluation, expression)
    assert str(found.value).endswith(f" is from 0 to 1{advice}")


def test_counts_may_change_by_more_than_1():
    found = Accumulator("cleval").compute()
    assert len(prepared(found, "missed_characters>5", "splits<1").gates) == 2
    with pytest.raises(ConfigError, match="is never below 0"):
        prepared(found, "splits<0")
    with pytest.raises(ConfigError, match="every result fails this gate: splits is never below 0"):
        prepared(found, "splits>=0")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "recall[heights<16]<0.5",
            r"unknown slice 'heights<16' \(did you mean 'height'\?\); expected height<B",
        ),
        ("recall[16<=height<8]<0.5", "A below B"),
        ("recall[height]<0.5", "A below B"),
        ("recall[]<0.5", "unknown slice ''"),
        ("precision[height<16]<0.5", "a slice has no precision; expected recall"),
        ("recall[height<16]:-1%", "needs a baseline of evaltex with slices"),
        ("recall[height<16<0.5", "expected SCORE<VALUE"),
    ],
)
def test_slices_that_are_refused(evaluation, expression, message):
    with pytest.raises(ConfigError, match=message):
        prepared(evaluation, expression)


@pytest.mark.parametrize("text", ["height<16", " height < 16 ", "HEIGHT<16.0"])
def test_spellings_of_a_slice(text):
    assert gates.parse(f"recall[{text}]<0.5").slice == "height<16"
    assert gates.parse("recall[8<=aspect-ratio<16]<0.5").slice == "8<=aspect_ratio<16"
    assert gates.parse("recall[length >= 4]<0.5").slice == "length>=4"


def test_slices_of_an_earlier_run_are_those_of_its_gates(tmp_path, evaluation):
    before = gates.Verdict(
        "recall[height<16]<0.1", "evaltex", "recall[height<16]", 0.5, None, 0.1, True
    )
    path = tmp_path / "baseline.json"
    path.write_text(writer.document(evaluation, Extras(gates=[before])), encoding="utf-8")
    run = prepared(evaluation, "recall[height<16]:-10%", baselines=[path])
    (found,) = run.verdicts([evaluation], {"evaltex": {"height<16": 0.44}})
    assert (found.passed, found.baseline, found.limit) == (False, 0.5, 0.45)
    assert found.score == "recall[height<16]"
    (undefined,) = run.verdicts([evaluation], {"evaltex": {"height<16": None}})
    assert not undefined.passed
    with pytest.raises(
        ConfigError, match=r"the baseline has no recall\[height<8\]; it has recall\[height<16\]"
    ):
        prepared(evaluation, "recall[height<8]:-10%", baselines=[path])


@pytest.mark.parametrize(
    "content", ["[]", '{"protocols": 1}', '{"protocols": [{"protocol": "iou"}]}', "{"]
)
def test_a_damaged_diagnosis_is_refused(tmp_path, evaluation, content):
    head = '{\n "schema": 1,\n "tool": "evaltex",\n "version": "0",\n "kind": "diagnosis",\n'
    (tmp_path / "base.json").write_text(head + content.removeprefix("{"), encoding="utf-8")
    with pytest.raises(InputError, match=r"base\.json: is a damaged diagnosis"):
        prepared(evaluation, "recall[height<16]:-1%", baselines=[tmp_path / "base.json"])
