"""The command line: what it prints and what it writes."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
import scenes
from cli_inputs import DET, shell, write_inputs
from command_line import invoke as run
from command_line import tree

from evaltex_cli import evaluate
from evaltex_cli.version import __version__


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    return write_inputs(tmp_path, monkeypatch)


def test_the_module_is_the_command() -> None:
    assert shell("--version").stdout == f"evaltex {__version__}\n"


def test_what_is_printed_and_written() -> None:
    result = run("gt.txt", "det.txt", "res")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(
        r"protocol  recall  precision  fscore\n"
        r"evaltex   0\.\d{4}     0\.\d{4}  0\.\d{4}\n"
        r"Results: res/evaltex\.txt, res/evaltex\.json\n",
        result.stdout,
    )
    scores = evaluate("gt.txt", "det.txt").scores
    shown = [f"{scores[name]:.4f}" for name in ("recall", "precision", "fscore")]
    assert result.stdout.splitlines()[1].split() == ["evaltex", *shown]
    assert list(tree(Path("res"))) == ["evaltex.json", "evaltex.txt", "scores.csv", "scores.json"]
    written = json.loads(Path("res/evaltex.json").read_text())
    assert (written["scores"], written["images"]) == (scores, [])


NOTE = "evaltex: note: no files written; evaltex GT DET RES_DIR writes them to RES_DIR\n"


def test_without_a_result_folder_nothing_is_written(here: Path) -> None:
    with_folder = run("gt.txt", "det.txt", "res", "--protocol", "evaltex,iou")
    Path("res").rename(here.parent / f"{here.name}-res")
    before = tree(here)
    found = run("gt.txt", "det.txt", "--protocol", "evaltex,iou")
    assert (found.exit_code, found.stderr) == (0, NOTE)
    assert found.stdout == with_folder.stdout.partition("Results:")[0]
    assert run("gt.txt", "det.txt", "--quiet").output == ""
    assert run("gt.txt", "det.txt", "--fail-if", "recall<0.999").exit_code == 1
    assert tree(here) == before


@pytest.mark.parametrize("folder", [[], ["res"]], ids=["printed", "written"])
def test_scores_are_printed_in_any_format_and_nothing_else_is_on_stdout(folder: list[str]) -> None:
    arguments = [
        "gt.txt",
        "det.txt",
        *folder,
        "--protocol",
        "evaltex,iou",
        "--fail-if",
        "iou.recall<1e-6",
    ]
    printed = {
        form: run(*arguments, "--format", form) for form in ("json", "csv", "markdown", "latex")
    }
    for found in printed.values():
        assert found.exit_code == 0
        assert "Gate passed" in found.stderr
    document = json.loads(printed["json"].stdout)
    assert (document["kind"], [one["protocol"] for one in document["protocols"]]) == (
        "scores",
        ["evaltex", "iou"],
    )
    for one in document["protocols"]:
        scores = evaluate("gt.txt", "det.txt", one["protocol"]).scores
        assert one["scores"] == scores
        (row,) = [
            row
            for row in csv.DictReader(printed["csv"].stdout.splitlines())
            if row["protocol"] == one["protocol"]
        ]
        assert float(row["recall"]) == scores["recall"]
        shown = f"{scores['recall']:.4f}"
        assert f"| {one['protocol']} | {shown} |" in printed["markdown"].stdout
        assert f"{one['protocol']} & {shown} &" in printed["latex"].stdout
        if folder:
            written = json.loads(Path("res", f"{one['protocol']}.json").read_text())
            assert {name: written[name] for name in one} == one


def test_with_a_file_for_each_image() -> None:
    result = run("gt.txt", "det.txt", "res", "-a")
    assert result.stdout.endswith("Results: res/evaltex.txt, res/evaltex.json, res/evaltex/*.txt\n")
    written_files = {
        "evaltex",
        "evaltex.json",
        "evaltex.txt",
        "evaltex/img_1.txt",
        "evaltex/img_2.txt",
    }
    assert set(tree(Path("res"))) == written_files | {"scores.csv", "scores.json"}
    assert (
        Path("res/evaltex/img_2.txt")
        .read_text()
        .startswith("EvaLTex statistics - image img_2\nGeneral\n")
    )
    written = json.loads(Path("res/evaltex.json").read_text())
    assert [image["name"] for image in written["images"]] == ["img_1", "img_2"]


def test_names_with_slashes_make_folders_inside_the_results() -> None:
    Path("gt.txt").write_text("a/b/c\n9,9\na\n9,9\n")
    Path("det.txt").write_text("")
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    assert {"evaltex/a.txt", "evaltex/a/b/c.txt"} < set(tree(Path("res")))


@pytest.mark.parametrize(
    "arguments",
    [
        ["gt.txt", "det.txt", "res", "-a", "--set", "region=no"],
        ["-a", "--set", "region=no", "gt.txt", "det.txt", "res"],
        ["gt.txt", "--set=region=no", "det.txt", "-a", "res"],
        ["evaluate", "gt.txt", "-a", "det.txt", "--set", "region=no", "res"],
    ],
)
def test_options_stand_anywhere(arguments: list[str]) -> None:
    assert run("gt.txt", "det.txt", "expected", "-a", "--set", "region=no").exit_code == 0
    assert run(*arguments).exit_code == 0
    assert tree(Path("res")) == tree(Path("expected"))


def test_several_protocols_each_with_its_parameters() -> None:
    result = run(
        "gt.txt",
        "det.txt",
        "res",
        "--protocol",
        "deteval",
        "--protocol",
        "evaltex",
        "--set",
        "deteval.t_r=0.5",
    )
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "protocol",
        "deteval",
        "evaltex",
        "Results:",
    ]
    assert json.loads(Path("res/deteval.json").read_text())["parameters"]["t_r"] == 0.5


@pytest.mark.parametrize(
    ("given", "protocols"),
    [
        (["--protocol", "iou,tiou"], ["iou", "tiou"]),
        (["--protocol", "TIoU, IOU ,iou"], ["tiou", "iou"]),
        (["--protocol", "DetEval", "--protocol", "PQ,IoU"], ["deteval", "pq", "iou"]),
        (["--preset", "CTW1500"], ["iou"]),
        (["--protocol", "IoU", "--gt-format", "EvaLTex", "--invalid", "DROP"], ["iou"]),
    ],
    ids=" ".join,
)
def test_names_in_any_case_and_lists_of_protocols(given: list[str], protocols: list[str]) -> None:
    found = run("gt.txt", "det.txt", *given, "--format", "csv")
    assert found.exit_code == 0, found.output
    assert [line.split(",")[0] for line in found.stdout.splitlines()[1:]] == protocols


def test_a_gate_names_a_protocol_in_any_case() -> None:
    assert (
        run(
            "gt.txt", "det.txt", "--protocol", "iou,tiou", "--fail-if", "IoU.F-Score<0.01"
        ).exit_code
        == 0
    )
    assert (
        run("gt.txt", "det.txt", "--protocol", "iou,tiou", "--fail-if", "IOU.f1>0.01").exit_code
        == 1
    )


def test_merged_scores_are_printed_in_any_format() -> None:
    assert run("gt.txt", "det.txt", "res", "-a", "--protocol", "iou").exit_code == 0
    printed = {
        form: run("merge", "res", "merged", "--format", form)
        for form in ("json", "csv", "markdown")
    }
    assert (
        json.loads(printed["json"].stdout)["protocols"][0]["scores"]
        == evaluate("gt.txt", "det.txt", "iou").scores
    )
    assert printed["csv"].stdout.startswith("protocol,recall,")
    assert printed["markdown"].stdout.startswith("| protocol | recall |")


def test_a_parameter_is_of_the_only_protocol() -> None:
    def iou(*settings: str) -> float:
        options = [word for setting in settings for word in ("--set", setting)]
        document = run(
            "gt.txt", "det.txt", "--protocol", "iou", "--format", "json", *options
        ).stdout
        return float(json.loads(document)["protocols"][0]["parameters"]["iou"])

    assert iou() == 0.5
    assert iou("iou=0.7") == iou("IoU.iou=0.7") == iou("iou=0.6", "iou.iou=0.7") == 0.7


def test_parameters_from_where() -> None:
    """--set before --config before ./evaltex.ini before the defaults."""

    def border(*arguments: str) -> float:
        assert run("gt.txt", "det.txt", "res", *arguments).exit_code == 0
        found: float = json.loads(Path("res/evaltex.json").read_text())["parameters"]["det_border"]
        return found

    assert border() == 0.01
    Path("evaltex.ini").write_text("det_border=0.1\n")
    assert border() == 0.1
    Path("other.ini").write_text("region=no\n")
    assert border("--config", "other.ini") == 0.01
    assert border("--set", "det_border=0.2") == 0.2
    assert border("--set", "det_border=0.2", "--set", "evaltex.det_border=0.3") == 0.3


def test_quiet_prints_nothing_but_warnings_and_errors() -> None:
    assert run("gt.txt", "det.txt", "res", "--quiet").output == ""
    assert run("gt.txt", "none.txt", "res", "--quiet").stderr.startswith(
        "evaltex: error: none.txt: cannot be read"
    )
    Path("det.txt").write_text(DET.partition("img_1")[0])
    assert (
        run("gt.txt", "det.txt", "res", "--quiet").output
        == "evaltex: warning: 1 of 2 images has no detections in det.txt\n"
    )


def test_warnings_go_to_stderr_once() -> None:
    Path("det.txt").write_text(DET.partition("img_1")[0])
    result = run("gt.txt", "det.txt", "res", "--protocol", "evaltex", "--protocol", "deteval")
    assert result.stderr == "evaltex: warning: 1 of 2 images has no detections in det.txt\n"
    assert json.loads(Path("res/evaltex.json").read_text())["warnings"] == [
        "1 of 2 images has no detections in det.txt"
    ]


def test_same_input_same_bytes() -> None:
    gt, det = scenes.random_scene(4, images=6, polygons=True)
    Path("gt.txt").write_text(gt, encoding="utf-8", newline="")
    Path("det.txt").write_text(det, encoding="utf-8", newline="")
    for place in ("one", "two"):
        assert (
            run(
                "gt.txt", "det.txt", place, "-a", "--protocol", "evaltex", "--protocol", "deteval"
            ).exit_code
            == 0
        )
    assert tree(Path("one")) == tree(Path("two"))
    assert len(tree(Path("one"))) > 15


def test_order_of_images_changes_no_byte_of_the_scores() -> None:
    gt = [
        f'i{k}\n999,999\n1,1,"",f,{k},{k},{3 * k + 7},{k + 9}\n2,2,"",f,90,90,{k + 3},17\n'
        for k in range(40)
    ]
    det = [
        f'i{k}\n1,"",{k + 1},{k},{3 * k + 5},{k + 8}\n2,"",91,90,{k + 1},13\n' for k in range(40)
    ]
    for place, step in (("one", 1), ("two", -1)):
        Path("gt.txt").write_text("".join(gt[::step]))
        Path("det.txt").write_text("".join(det))
        assert run("gt.txt", "det.txt", place).exit_code == 0
    assert Path("one/evaltex.txt").read_bytes() == Path("two/evaltex.txt").read_bytes()
    one, two = (json.loads(Path(place, "evaltex.json").read_text()) for place in ("one", "two"))
    assert (one["totals"], one["scores"]) == (two["totals"], two["scores"])
