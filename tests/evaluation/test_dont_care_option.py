"""`--dont-care`: as if the ground truth had no such mark, or no such objects, under every protocol."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run

from evaltex_cli import diagnose, evaluate, image_objects, sweep
from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols import PROTOCOLS

EXAMPLES = Path(__file__).parents[2] / "examples"
GT, DET = EXAMPLES / "words" / "gt.txt", EXAMPLES / "words" / "det.txt"
OTHER = EXAMPLES / "polygons" / "det.txt"
LINE = re.compile(r'^(\d+,\d+,".*"),t,(.*\n)', re.MULTILINE)


@pytest.fixture
def rewritten(tmp_path: Path) -> dict[str, Path]:
    """The ground truth without the marks, and without the objects."""
    text = GT.read_text(encoding="utf-8")
    assert len(LINE.findall(text)) >= 2
    paths = {"count": tmp_path / "count.txt", "drop": tmp_path / "drop.txt"}
    paths["count"].write_text(LINE.sub(r"\1,f,\2", text), encoding="utf-8")
    paths["drop"].write_text(LINE.sub("", text), encoding="utf-8")
    return paths


@pytest.mark.parametrize("policy", ["count", "drop"])
def test_scores_of_every_protocol_are_those_of_another_ground_truth(
    policy: str, rewritten: dict[str, Path]
) -> None:
    found = evaluate(GT, DET, "all", dont_care=policy)
    expected = evaluate(rewritten[policy], DET, "all")
    assert list(found) == list(PROTOCOLS)
    for name in found:
        assert found[name].scores == expected[name].scores, name
    as_usual = evaluate(GT, DET, "all")
    assert all(found[name].scores != as_usual[name].scores for name in found)


def test_the_signature_and_a_baseline(tmp_path: Path) -> None:
    found = evaluate(GT, DET, "iou", dont_care="drop")
    assert "|dont_care:drop|" in found.signature
    assert "dont_care" not in evaluate(GT, DET, "iou", dont_care="ignore").signature
    one = (GT, DET, tmp_path / "res", "--protocol", "iou")
    run(*one, "--dont-care", "count", "-a", "--report")
    assert "dont_care:count" in (tmp_path / "res" / "iou.json").read_text()
    gated = ("--baseline", tmp_path / "res", "--fail-if", "hmean:-1%")
    refused = run(GT, DET, "--protocol", "iou", *gated, status=2)
    assert "dont_care is 'count', here the default" in " ".join(refused.stderr.split())
    assert run(GT, DET, "--protocol", "iou", *gated, "--dont-care", "count").exit_code == 0
    refused = run("compare", tmp_path / "res", tmp_path / "res", "--dont-care", "drop", status=2)
    assert "--dont-care" in refused.stderr


def test_other_commands(rewritten: dict[str, Path], tmp_path: Path) -> None:
    def of(form: str, *arguments: object) -> dict[str, object]:
        content: dict[str, object] = json.loads(run(*arguments, "--format", form).stdout)
        return content

    dropped = ("--dont-care", "drop", "--protocol", "iou")
    diagnosed = diagnose(GT, DET, "iou", dont_care="drop")
    assert diagnosed.kinds == diagnose(rewritten["drop"], DET, "iou").kinds
    assert diagnosed.kinds != diagnose(GT, DET, "iou").kinds
    board = tmp_path / "board.toml"
    board.write_text(
        f'protocols = ["iou"]\n[datasets.words]\ngt = "{GT}"\ndont_care = "drop"\n'
        f'[detectors.a]\nwords = "{DET}"\n[detectors.b]\nwords = "{OTHER}"\n',
        encoding="utf-8",
    )
    ranked = [of("json", "rank", board)]
    ranked.append(of("json", "rank", GT, DET, OTHER, "--label=a", "--label=b", *dropped))
    of_all = of("json", "rank", GT, DET, OTHER, "--label=a", "--label=b", "--protocol=iou")
    scores = [
        one["datasets"][0]["protocols"]["iou"]["detectors"]  # type: ignore[index]
        for one in (*ranked, of_all)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_a_sweep() -> None:
    boxes = [[0, 0, 100, 20], [0, 50, 100, 70]]
    gt = [image_objects(boxes, dont_care=[False, True])] * 2
    det = [image_objects(boxes, confidences=[0.9, 0.8])] * 2
    assert sweep(gt, det, "iou", folds=2).scores["precision"] == [1.0, 1.0]
    found = sweep(gt, det, "iou", folds=2, dont_care="drop")
    assert found.scores["precision"] == [0.5, 1.0]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected one of ignore, count, drop"):
        evaluate(GT, DET, "iou", dont_care="none")  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="dont_care=drop: the preset icdar2015 has"):
        evaluate(GT, DET, preset="icdar2015", dont_care="drop")
    refused = run(GT, DET, "--preset", "icdar2015", "--dont-care", "drop", status=2)
    assert "the preset icdar2015 has dont_care=ignore" in " ".join(refused.stderr.split())
    masks = EXAMPLES / "masks" / "words"
    pictures = {"gt_images": masks / "gt", "det_images": masks / "det"}
    with pytest.raises(ConfigError, match="drop does not go with label pictures"):
        evaluate(masks / "gt.txt", masks / "det.txt", dont_care="drop", **pictures)
    counted = evaluate(masks / "gt.txt", masks / "det.txt", dont_care="count", **pictures)
    assert counted.gt.dont_care == 0
    refused = run("audit", GT, DET, GT, "--label=a", "--label=b", "--dont-care=drop", status=2)
    assert "No such option '--dont-care'" in refused.stderr
