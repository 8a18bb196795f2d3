"""Where a score is lost, as the report's data has it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from report_pages import EXAMPLES, LOSS_PARTS, evaluated, islands, sources, words_diagnoses, write

from evaltex_cli import diagnose
from evaltex_cli.cli import main
from evaltex_cli.diagnosis import tables
from evaltex_cli.diagnosis.diagnosis import Diagnosis
from evaltex_cli.diagnosis.error_types import ERROR_TYPES
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import evaluate, inputs
from evaltex_cli.report import make, page, read, subject


def same(shown: dict[str, Any], expected: Diagnosis) -> bool:
    """Whether the page holds a diagnosis."""
    fields = tables.fields(expected)
    return shown.keys() <= fields.keys() and shown == json.loads(
        json.dumps({name: fields[name] for name in shown})
    )


class TestLosses:
    def test_they_are_those_of_diagnose(self, report: Path) -> None:
        data = islands(report)
        assert data["overview"]["protocols"] == ["evaltex", "icdar2013"]
        for k, expected in enumerate(words_diagnoses(["evaltex", "icdar2013"])):
            (shown,) = data[f"protocol-{k}"]["losses"]["systems"]
            assert same(shown, expected)
            assert [part["kind"] for part in shown["kinds"]] == list(ERROR_TYPES)
            assert shown["losses"]["recall"] > 0
            for name, loss in shown["losses"].items():
                shares = [part["shares"][name] for part in shown["kinds"]]
                assert sum(shares) + shown["interaction"][name] + shown["unexplained"][
                    name
                ] == pytest.approx(loss)

    def test_they_are_by_the_parameters_of_the_run(self, tmp_path: Path) -> None:
        example = sources("words")
        results = evaluated(
            example["gt"],
            example["det"][0],
            tmp_path / "res",
            "-a",
            "--protocol",
            "iou",
            "--set",
            "iou.iou=0.8",
        )
        write(tmp_path / "report.html", [results], **example)
        (shown,) = islands(tmp_path / "report.html")["protocol-0"]["losses"]["systems"]
        (strict,), (usual,) = words_diagnoses(["iou"], iou=0.8), words_diagnoses(["iou"])
        assert same(shown, strict)
        assert strict.losses != usual.losses

    def test_detectors_have_their_own(
        self, words: Path, rival: tuple[Path, Path], tmp_path: Path
    ) -> None:
        det, results = rival
        example = sources("words")
        subject = read([words, results], None, example["gt"], [*example["det"], det])
        make(tmp_path / "report.html", subject.with_losses())
        first, second = islands(tmp_path / "report.html")["protocol-0"]["losses"]["systems"]
        assert same(first, diagnose(example["gt"], example["det"][0]))
        assert same(second, diagnose(example["gt"], det))
        assert first["losses"] != second["losses"]

    def test_they_are_left_out_when_nobody_wants_them_or_shapes_are_unknown(
        self, words: Path, tmp_path: Path
    ) -> None:
        example = sources("words")
        write(tmp_path / "report.html", [words])
        assert "losses" not in islands(tmp_path / "report.html")["protocol-0"]
        command = [
            "report",
            str(words),
            "--gt",
            str(example["gt"]),
            "--det",
            str(example["det"][0]),
        ]
        command += ["--output", str(tmp_path / "report.html")]
        for option, has_losses in (("--no-diagnose", False), ("--diagnose", True)):
            assert CliRunner().invoke(main, [*command, option]).exit_code == 0
            assert ("losses" in islands(tmp_path / "report.html")["protocol-0"]) == has_losses

    @pytest.mark.parametrize("options", [[], ["--jobs", "2"], ["--invalid", "drop"]], ids=str)
    def test_a_run_writes_the_page_that_is_made_of_its_results(
        self, options: list[str], tmp_path: Path
    ) -> None:
        example = EXAMPLES / "polygons"
        gt, det = example / "gt.txt", example / "det.txt"
        results = evaluated(
            gt,
            det,
            tmp_path / "res",
            "-a",
            "--report",
            "--protocol",
            "evaltex",
            "--protocol",
            "iou",
            *options,
        )
        write(tmp_path / "page.html", [results], gt, [det])
        assert (tmp_path / "page.html").read_bytes() == (results / "report.html").read_bytes()
        assert b'"losses"' in (tmp_path / "page.html").read_bytes()

    def test_a_run_with_a_report_evaluates_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No input is read and measured a second time."""
        counts = Counter[str]()

        def counted(module: ModuleType, name: str) -> None:
            function = getattr(module, name)

            def call(*arguments: Any) -> Any:
                counts[name] += 1
                return function(*arguments)

            monkeypatch.setattr(module, name, call)

        counted(inputs, "read")
        counted(evaluate, "measure")
        example = sources("words")
        evaluated(example["gt"], example["det"][0], tmp_path / "res", "--report")
        assert counts == {"read": 2, "measure": 1}

    def test_a_run_with_a_report_has_them(self, tmp_path: Path) -> None:
        example = sources("words")
        results = evaluated(example["gt"], example["det"][0], tmp_path / "res", "--report")
        (shown,) = islands(results / "report.html")["protocol-0"]["losses"]["systems"]
        assert same(shown, diagnose(example["gt"], example["det"][0]))

    def test_of_masks_there_is_a_sentence(self, masks: Path) -> None:
        data = islands(masks)
        assert data["protocol-0"]["losses"] == {"note": subject.OF_MASKS}
        assert data["overview"]["hasShapes"]

    def test_results_that_score_otherwise_now_have_a_sentence(
        self, words: Path, tmp_path: Path
    ) -> None:
        document = json.loads((words / "evaltex.json").read_bytes())
        document["scores"]["precision"] += 1e-6
        document["signature"] = re.sub(r"revision:\d+", "revision:0", document["signature"])
        (tmp_path / "evaltex.json").write_text(json.dumps(document), encoding="utf-8")
        (tmp_path / "icdar2013.json").write_bytes((words / "icdar2013.json").read_bytes())
        write(tmp_path / "report.html", [tmp_path], **sources("words"))
        data = islands(tmp_path / "report.html")
        assert data["protocol-0"]["losses"] == {"note": subject.SCORED_OTHERWISE}
        assert same(data["protocol-1"]["losses"]["systems"][0], words_diagnoses(["icdar2013"])[0])

    def test_every_row_has_a_meaning(self) -> None:
        assert tuple(page.MEANINGS) == LOSS_PARTS


class TestInvalidPolygons:
    @pytest.fixture
    def bow_tie(self, tmp_path: Path) -> dict[str, Any]:
        """An object whose outline crosses itself, and a good one that is found."""
        good = "60,10,90,10,90,30,60,30"
        gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
        gt.write_text(
            f'img\n100,200\n1,1,"bad",f,10,10,50,30,50,10,10,30\n2,2,"good",f,{good}\n',
            encoding="utf-8",
        )
        det.write_text(f'img\n1,"good",{good}\n', encoding="utf-8")
        return {"gt": gt, "det": [det]}

    @pytest.mark.parametrize(("policy", "texts"), [("repair", ["bad", "good"]), ("drop", ["good"])])
    def test_the_policy_of_the_run_holds(
        self, bow_tie: dict[str, Any], policy: str, texts: list[str], tmp_path: Path
    ) -> None:
        results = evaluated(
            bow_tie["gt"], bow_tie["det"][0], tmp_path / "res", "-a", "--invalid", policy
        )
        write(tmp_path / "report.html", [results], **bow_tie)
        data = islands(tmp_path / "report.html")
        side = data["images-0"][0]["gt"]
        assert side["text"] == texts
        assert len(side["id"]) == len(side["shape"]) == len(texts)
        (shown,) = data["protocol-0"]["losses"]["systems"]
        assert {part["kind"]: part["count"] for part in shown["kinds"]}["missed"] == len(texts) - 1

    def test_results_of_several_policies_are_refused(
        self, bow_tie: dict[str, Any], tmp_path: Path
    ) -> None:
        for folder, policy, protocol in (("res", "repair", "evaltex"), ("other", "drop", "iou")):
            options = ("-a", "--invalid", policy, "--protocol", protocol)
            evaluated(bow_tie["gt"], bow_tie["det"][0], tmp_path / folder, *options)
        (tmp_path / "res" / "iou.json").write_bytes((tmp_path / "other" / "iou.json").read_bytes())
        with pytest.raises(
            InputError, match=r"different policies for invalid polygons \(repair and drop\)"
        ):
            write(tmp_path / "report.html", [tmp_path / "res"], **bow_tie)
