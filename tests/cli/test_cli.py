"""The command line: what it prints, what it writes, and that whatever goes
wrong is one clear message and no more.
"""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scenes
from click.testing import CliRunner
from command_line import invoke as run
from command_line import tree
from limits import HANG_SECONDS

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.cli import run as run_module
from evaltex_cli.evaluation import evaluate as evaluation
from evaltex_cli.formats.files import image_names
from evaltex_cli.runtime import atomic_output
from evaltex_cli.version import __version__

GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n2,2,"c",t,20,20,10,10\n'
DET = 'img_2\n1,"",0,0,10,10\nimg_1\n1,"",10,20,15,40\n2,"",60,60,5,5\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, with gt.txt and det.txt."""
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET)
    return tmp_path


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """As users run it, in a process of its own."""
    command = [sys.executable, "-m", "evaltex_cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, check=False, text=True, stdin=subprocess.DEVNULL, timeout=HANG_SECONDS, env=environment,
        **({"capture_output": True} | options),
    )  # fmt: skip


# What it does -------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]], ids=" ".join)
def test_help_shows_usage_options_and_commands(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "Usage: evaltex [OPTIONS] GT DET [RES_DIR [GT_IMG_DIR DET_IMG_DIR]]\n"
    )
    shown = " ".join(result.stdout.split())
    for word in ("-a ", "--protocol", "--set KEY=VALUE", "-h, --help", "compare", "convert"):
        assert word in shown, word


def test_version_and_module() -> None:
    assert run("--version").stdout == f"evaltex {__version__}\n"
    assert shell("--version").stdout == f"evaltex {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], [], ["compare", "--help"], ["gt.txt"]]
)
def test_help_and_wrong_usage_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv[1:] = {arguments!r}\n"
        "from evaltex_cli.cli import main\n"
        "try: main(prog_name='evaltex')\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep='\\n')"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    loaded = set(found.stdout.splitlines())
    assert "click" in loaded
    assert not loaded & {"numpy", "shapely", "PIL", "tifffile", "evaltex_cli.evaluation.evaluate"}


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


# What goes wrong ----------------------------------------------------------------------------------


@pytest.mark.few_fast(20)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gt.txt", "Missing argument 'DET'"),
        ("gt.txt det.txt res a b c", "unexpected extra argument (c)"),
        ("gt.txt det.txt res a", "GT_IMG_DIR and DET_IMG_DIR go together, after RES_DIR"),
        ("gt.txt det.txt -a", "-a, --plots, --report and --resume are of RES_DIR"),
        ("gt.txt det.txt --report", "-a, --plots, --report and --resume are of RES_DIR"),
        ("gt.txt det.txt res --al", "No such option"),
        (
            "gt.txt det.txt res --protocol evltex",
            "unknown protocol 'evltex' (did you mean 'evaltex'?)",
        ),
        ("gt.txt det.txt res --protocol iou,tio", "unknown protocol 'tio' (did you mean 'tiou'?)"),
        ("gt.txt det.txt res --protocol iou,", "unknown protocol ''; expected evaltex, "),
        (
            "gt.txt det.txt res --preset icdar15",
            "unknown preset 'icdar15' (did you mean 'icdar2015'?)",
        ),
        (
            "gt.txt det.txt res --gt-format coc",
            "unknown format 'coc' (did you mean 'coco'?); `evaltex",
        ),
        ("gt.txt det.txt res --format yaml", "unknown format 'yaml'; expected table, json, csv, "),
        (
            "gt.txt det.txt res --protocol iou --set region=no",
            "unknown key 'region' of iou, but of evaltex; iou knows",
        ),
        ("gt.txt det.txt res --protocol all --set iou=1", "several protocols of this run have"),
        ("gt.txt det.txt res --set region", "--set region: expected [PROTOCOL.]KEY=VALUE"),
        (
            "gt.txt det.txt res --set det_boder=1",
            "unknown key 'det_boder' (did you mean 'det_border'?)",
        ),
        ("gt.txt det.txt res --set det_border=0.5", "expected a number from 0 to below 0.5"),
        ("gt.txt det.txt res --set deteval.t_r=7", "t_r is '7'; expected a number from "),
        (
            "gt.txt det.txt res --config none.ini",
            "none.ini: cannot be read (No such file or directory)",
        ),
        ("gt.txt det.txt res --config bad.ini", "bad.ini:2: unknown key 'a'"),
        ("none.txt det.txt res", "none.txt: cannot be read (No such file or directory)"),
        ("gt.txt none.txt res", "none.txt: cannot be read (No such file or directory)"),
        ("gt.txt bad.txt res", "bad.txt:2: width 0; expected a width above 0"),
        (
            "bad.txt det.txt res",
            "bad.txt:2: '1,\"\",0,0,0,9'; expected the size line height,width of image 'img_1'",
        ),
        ("gt.txt other.txt res", "other.txt: image 'img_3' is not in the ground truth"),
        ("gt.txt det.txt res empty empty", "empty"),
        ("gt.txt det.txt gt.txt", "gt.txt: is a file; give a folder for the results"),
        ("gt.txt det.txt gt.txt/res", "gt.txt/res: cannot be written (Not a directory"),
        ("gt.txt det.txt new/res --gt-format quad", "gt.txt"),
        (
            "mine/evaltex.txt det.txt mine",
            "mine: contains mine/evaltex.txt, an input of this command; give another folder",
        ),
        ("mine/evaltex.txt det.txt .", ".: contains mine/evaltex.txt, an input of this command"),
        ("gt.txt det.txt mine2", "mine2/evaltex/precious.txt: is no result of an earlier run"),
        (
            "long.txt nothing.txt new/res -a",
            f"long.txt:3: image name '{'x' * 80}...' makes a file name of 304 bytes; expected at"
            " most 255; shorten it, or leave out -a",
        ),
        ("deep.txt nothing.txt new/res -a", "deep.txt:1: image name 'd/d/d/"),
        ("deep.txt nothing.txt new/res -a", " makes 500 folders; expected at most 100; shorten it"),
        (
            "endless.txt nothing.txt new/res -a --jobs 2",
            " makes a path of 4095 bytes; expected at most ",
        ),
        (
            "too_long.txt nothing.txt new/res -a",
            "too_long.txt:1: an image name of more than 4096 bytes",
        ),
        (
            "clash.txt nothing.txt new/res -a",
            "clash.txt:3: image name 'a' makes the file 'a.txt', which is a folder of image"
            " 'a.txt/b'; expected files"
            " and folders that differ; rename one of the images, or leave out -a",
        ),
        (
            "/dev/null det.txt res",
            "/dev/null: is a pipe or device, and input is read more than once; write it to",
        ),
        ("'' det.txt res", "'GT': is empty; give a path"),
        ("gt.txt det.txt ''", "'RES_DIR': is empty; give a path"),
        ("gt.txt det.txt res --junit ''", "'--junit': is empty; give a path"),
        (
            "gt.txt det.txt res --junit -",
            "'--junit': - is not stdout here; give the name of a file",
        ),
        ("report ''", "is empty; give a path"),
        ("compare gt.txt det.txt ''", "is empty; give a path"),
        (
            "--ci gt.txt det.txt res",
            "'--ci': 'gt.txt' is no level between 0 and 1; for 0.95, put the option after the"
            " paths.",
        ),
        (
            "none.txt det.txt res --fail-if 'fscor<1'",
            "unknown score 'fscor' (did you mean 'fscore'?)",
        ),
        ("none.txt det.txt res --fail-if 'iou.recall<1'", "protocol iou is not in this run"),
        ("none.txt det.txt res --fail-if recall:-1%", "needs a baseline of evaltex"),
    ],
)
def test_wrong_input_ends_in_a_message_and_writes_nothing(
    here: Path, arguments: str, message: str
) -> None:
    Path("bad.ini").write_text("\na=1\n")
    Path("bad.txt").write_text('img_1\n1,"",0,0,0,9\n')
    Path("other.txt").write_text("img_3\n")
    Path("long.txt").write_text("y\n9,9\n" + "x" * 300 + "\n9,9\n")
    Path("deep.txt").write_text("d/" * 500 + "d\n9,9\n")
    Path("endless.txt").write_text("e/" * 2045 + "e\n9,9\n")
    Path("too_long.txt").write_text("n" * 5000 + "\n9,9\n")
    Path("clash.txt").write_text("b\n9,9\na\n9,9\na.txt/b\n9,9\n")
    Path("nothing.txt").write_text("")
    for folder in ("empty", "mine", "mine2/evaltex"):
        Path(folder).mkdir(parents=True)
    Path("mine/evaltex.txt").write_text(GT)
    Path("mine2/evaltex/precious.txt").write_text(GT)
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    result = run(*shlex.split(arguments))
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    assert result.stdout == ""
    assert tree(here) == before


def test_faults_of_both_files_come_together() -> None:
    Path("gt.txt").write_text(GT + 'img_3\n9,9\n1,1,"",x,0,0,1,1\n')
    Path("det.txt").write_text(DET + '7,"",0,0,1,q\nimg_9\n')
    result = run("gt.txt", "det.txt", "res")
    lines = result.stderr.splitlines()
    assert len(lines) == 4
    assert all(
        line.startswith(("evaltex: error: gt.txt:10: ", "evaltex: error: det.txt"))
        for line in lines[:3]
    )
    assert (
        lines[3]
        == "evaltex: hint: `evaltex validate gt.txt det.txt` says more; --all-faults lists every"
        " fault"
    )
    assert not Path("res").exists()


@pytest.mark.few_fast(9)
@pytest.mark.parametrize(
    ("stop", "status", "message"),
    [
        (
            lambda: (_ for _ in ()).throw(KeyboardInterrupt),
            130,
            "evaltex: interrupted; nothing was written\n",
        ),
        (
            lambda: signal.raise_signal(signal.SIGINT),
            130,
            "evaltex: interrupted; nothing was written\n",
        ),
        (lambda: signal.raise_signal(signal.SIGTERM), 143, ""),
        (lambda: signal.raise_signal(signal.SIGHUP), 129, ""),
        (
            lambda: (_ for _ in ()).throw(MemoryError),
            2,
            "evaltex: error: out of memory; nothing was written\n",
        ),
        (lambda: {}["x"], 2, "evaltex: error: internal error (KeyError: 'x'); please report it"),
    ],
    ids=["interrupt", "SIGINT", "SIGTERM", "SIGHUP", "memory", "bug"],
)
@pytest.mark.parametrize("moment", ["measuring", "writing", "moving"])
@pytest.mark.parametrize("place", ["res", "new/res"])
def test_a_run_that_is_stopped_leaves_earlier_results(
    here: Path,
    place: str,
    moment: str,
    stop: Callable[[], Any],
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    before = tree(here)
    target, name = {
        "measuring": (evaluation, "scored"),
        "writing": (Path, "write_text"),
        "moving": (Path, "rename"),
    }[moment]
    real = getattr(target, name)
    calls = []

    def stopping(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        done = real(*arguments, **options)
        if len(calls) == 1:
            stop()
        return done

    monkeypatch.setattr(target, name, stopping)
    result = run("gt.txt", "det.txt", place, "-a", "--set", "det_border=0.2")
    monkeypatch.undo()
    assert calls
    assert result.exit_code == status
    assert result.stderr.startswith(message)
    assert "Traceback" not in result.stderr
    if (place, moment) != ("new/res", "moving"):  # whose one move is the last thing done
        os.chdir(here)
        assert tree(here) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_disturb_the_clearing_up(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {
        each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    real = atomic_output._clear

    def disturbed(folder: Path) -> None:
        if any(folder.glob("new/evaltex")):
            for each in before:
                signal.raise_signal(each)
        real(folder)

    monkeypatch.setattr(atomic_output, "_clear", disturbed)
    monkeypatch.setattr(evaluation, "scored", lambda *_: signal.raise_signal(number))
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 128 + number
    assert list(tree(Path())) == ["det.txt", "gt.txt"]
    assert {each: signal.getsignal(each) for each in before} == before


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("moment", "reported"), [("_locked", "nothing was written"), ("_remove", "res is complete")]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_folder_is_taken_or_left(
    number: int, moment: str, reported: str, exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if exists:
        Path("res").mkdir()
    real = getattr(atomic_output, moment)

    def interrupted(*arguments: Any) -> Any:
        done = real(*arguments)
        signal.raise_signal(number)
        return done

    monkeypatch.setattr(atomic_output, moment, interrupted)
    result = run("gt.txt", "det.txt", "res")
    assert result.exit_code == 128 + number
    assert result.stderr == (
        f"evaltex: interrupted; {reported}\n" if number == signal.SIGINT else ""
    )
    assert not list(Path().rglob(".evaltex-*"))
    assert Path("res/evaltex.txt").exists() == (moment == "_remove")


def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """`nohup` and shells that start something in the background ask for it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        real = evaluation.scored
        monkeypatch.setattr(
            evaluation, "scored", lambda *a: (signal.raise_signal(signal.SIGHUP), real(*a))[1]
        )
        assert run("gt.txt", "det.txt", "res").exit_code == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.no_coverage
@pytest.mark.parametrize("module", ["click", "evaltex_cli.cli.evaluate", "threading", "none"])
def test_an_interrupt_before_and_after_the_work_is_silent(module: str) -> None:
    """While modules are imported; when Python ends, only clearing up is left, which goes on."""
    code = (
        "import atexit, signal, sys\nfrom evaltex_cli.__main__ import run\nclass Interrupt:\n   "
        f" def find_spec(self, name, *_):\n        if name == {module!r}:"
        " signal.raise_signal(signal.SIGINT)\nsys.meta_path.insert(0,"
        " Interrupt())\natexit.register(signal.raise_signal, signal.SIGINT)\nsys.argv[1:] ="
        " ['gt.txt', 'det.txt', 'res']\nrun()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == (0 if module == "none" else -signal.SIGINT)
    assert done.stderr == ""


@pytest.mark.parametrize("file", ["gt.txt", "det.txt"])
def test_input_that_is_written_to_meanwhile_is_refused(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The length is the same, so only the check can notice: else the scores would be of one file,
    and the SHA-256 of another.
    """
    real = run_module.open_inputs

    def changing(*arguments: Any) -> Any:
        opened = real(*arguments)
        Path("new").write_text(Path(file).read_text().replace(",20,", ",21,"))
        Path("new").replace(file)
        return opened

    monkeypatch.setattr(run_module, "open_inputs", changing)
    result = run("gt.txt", "det.txt", "res", "-a")
    assert result.exit_code == 2
    assert result.stderr == (
        f"evaltex: error: {file}: is not the file that was indexed (it changed, or a worker has"
        " another copy); run again when nothing writes to it\n"
    )
    assert not Path("res").exists()


def test_a_bug_shows_itself_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "scored", lambda *_: {}["x"])
    monkeypatch.setenv("EVALTEX_DEBUG", "1")
    assert isinstance(run("gt.txt", "det.txt", "res").exception, KeyError)


def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "evaltex.txt")

    before = tree(here)
    monkeypatch.setattr(atomic_output.Path, "write_text", full)
    result = run("gt.txt", "det.txt", "new/res")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "evaltex: error: new/res: cannot be written (No space left on device at evaltex.txt)"
    )
    assert tree(here) == before


def test_names_that_are_too_much_for_files_do_without(here: Path) -> None:
    name = "d/" * 500 + "x" * 300
    Path("gt.txt").write_text(f"{name}\n9,9\n")
    Path("det.txt").write_text(f"{name}\n")
    assert run("gt.txt", "det.txt", "res").exit_code == 0


def test_names_of_one_file_where_capitals_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gt.txt").write_text("Img\n9,9\nother\n9,9\nimg\n9,9\n")
    Path("det.txt").write_text("")
    assert run("gt.txt", "det.txt", "res", "-a").exit_code == 0
    assert sorted(path.name for path in Path("res/evaltex").iterdir()) == [
        "Img.txt",
        "img.txt",
        "other.txt",
    ]
    monkeypatch.setattr(image_names, "_is_blind_to_case", lambda _: True)
    assert run("gt.txt", "det.txt", "res", "-a").stderr == (
        "evaltex: error: gt.txt:5: image name 'img' makes the same file as 'Img' on this file"
        " system, which is blind to"
        " capitals; expected names that differ by more; rename one of the images, or leave out -a\n"
    )


# Terminals and pipes ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pipe_gets_no_bar_and_no_colour() -> None:
    result = shell("gt.txt", "det.txt", "res", "-a")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("protocol  recall ")
    assert result.stdout.isprintable() is False
    assert set(re.findall(r"[^ -~]", result.stdout)) == {"\n"}


def started(*arguments: str, after_seconds: float, stderr: int) -> subprocess.Popen[bytes]:
    """A run that waits so long until it shows its progress."""
    code = (
        "from evaltex_cli.cli import main, progress_line\n"
        f"progress_line.AFTER_SECONDS = {after_seconds}; progress_line.EVERY_SECONDS = 0.001\n"
        f"main({list(arguments)!r}, prog_name='evaltex')"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "xterm",
        "COLUMNS": "80",
    }
    null = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=null, stdout=null, stderr=stderr, env=environment
    )


def in_terminal(*arguments: str, after_seconds: float) -> str:
    """What a terminal on stderr sees."""
    ours, theirs = pty.openpty()
    process = started(*arguments, after_seconds=after_seconds, stderr=theirs)
    os.close(theirs)
    seen = b""
    reader = threading.Timer(HANG_SECONDS, process.kill)
    reader.start()
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass  # the other end is closed
    finally:
        os.close(ours)
        reader.cancel()
    assert process.wait() == 0, seen
    return seen.decode()


@pytest.mark.slow
def test_a_terminal_shows_the_progress_of_work_of_some_length() -> None:
    assert "working" in in_terminal("gt.txt", "det.txt", "res", after_seconds=-1)
    assert in_terminal("gt.txt", "det.txt", "res", after_seconds=HANG_SECONDS) == ""
    assert in_terminal("gt.txt", "det.txt", "res", "--quiet", after_seconds=-1) == ""


@pytest.mark.slow
def test_a_pipe_gets_no_bar_however_long_the_work() -> None:
    assert (
        started("gt.txt", "det.txt", "res", after_seconds=-1, stderr=subprocess.PIPE).communicate()[
            1
        ]
        == b""
    )


@pytest.mark.slow
def test_a_closed_pipe_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = shell(
        "gt.txt", "det.txt", "res", capture_output=False, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, "")
    assert list(tree(Path("res"))) == ["evaltex.json", "evaltex.txt", "scores.csv", "scores.json"]


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs /dev/full, the file of Linux that is always full"
)
def test_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        result = shell(
            "gt.txt", "det.txt", "res", capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert result.returncode == 2
    assert result.stderr == "evaltex: error: [Errno 28] No space left on device\n"


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux takes any bytes as the name of a file"
)
def test_names_of_files_that_are_not_unicode() -> None:
    odd = os.fsdecode(b"gt\xff.txt")
    Path("gt.txt").rename(odd)
    for encoding in ("utf-8:strict", "ascii:strict"):
        os.environ["PYTHONIOENCODING"] = encoding
        try:
            result = shell(odd, "det.txt", os.fsdecode(b"res\xff\xc3\xa9"))
        finally:
            del os.environ["PYTHONIOENCODING"]
        assert (result.returncode, result.stderr) == (0, "")
        assert "Results: res" in result.stdout
    assert (
        json.loads(Path(os.fsdecode(b"res\xff\xc3\xa9"), "evaltex.json").read_bytes())["inputs"][
            "gt"
        ]["file"]
        == "gt?.txt"
    )


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux takes any bytes as the name of a file"
)
@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("compare", "table"),
        ("compare", "csv"),
        ("compare", "json"),
        ("diagnose", "json"),
        ("validate", "json"),
    ],
)
def test_a_file_gets_what_stdout_gets_of_names_that_are_not_unicode(
    command: str, form: str
) -> None:
    odd = os.fsdecode(b"det\xff.txt")
    Path("det.txt").rename(odd)
    arguments = [
        command,
        "gt.txt",
        *([odd, odd] if command == "compare" else [odd]),
        "--format",
        form,
    ]
    shown, written = shell(*arguments, encoding="utf-8"), shell(*arguments, "--output", "out")
    assert (shown.returncode, written.returncode, written.stdout) == (0, 0, "")
    assert Path("out").read_text(encoding="utf-8") == shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["gt.txt", "det.txt", "res", "--ci", "nan"],
        ["gt.txt", "det.txt", "res", "--jobs", "99999999999999999999"],
        ["compare", "gt.txt", "det.txt", "det.txt", "--ci", "nan"],
    ],
    ids=" ".join,
)
def test_numbers_that_no_option_takes(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert f"Invalid value for '{arguments[-2]}'" in result.stderr
