"""``--only`` through every command: as if the inputs had no other images."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from command_line import run

from evaltex_cli import compare, convert, diagnose, evaluate, validate
from evaltex_cli.errors import InputError
from evaltex_cli.protocols import PROTOCOLS

EXAMPLES = Path(__file__).parents[2] / "examples"
GT, DET = EXAMPLES / "icdar" / "gt.zip", EXAMPLES / "icdar" / "det.zip"
WANTED = ["shop_front", "lane"]


@pytest.fixture
def only(tmp_path: Path) -> Path:
    file = tmp_path / "only.txt"
    file.write_text("gt_shop_front.txt\n\n  lane\nlane.jpg\n", encoding="utf-8")
    return file


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Both archives with the wanted images only."""
    for path in (GT, DET):
        with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / path.name, "w") as part:
            for name in whole.namelist():
                if any(wanted in name for wanted in WANTED):
                    part.writestr(name, whole.read(name))
    return [tmp_path / path.name for path in (GT, DET)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_scores_are_those_of_inputs_without_the_other_images(
    only: Path, parts: list[Path], tmp_path: Path, jobs: int
) -> None:
    options = ("-a", "--protocol", "all")
    run(GT, DET, tmp_path / "a", *options, "--only", only, "--jobs", jobs)
    run(*parts, tmp_path / "b", *options)
    files = sorted(path.relative_to(tmp_path / "b") for path in (tmp_path / "b").rglob("*.txt"))
    assert len(files) == len(PROTOCOLS) * (1 + len(WANTED))
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_label_pictures() -> None:
    masks = EXAMPLES / "masks" / "words"
    pictures = {"gt_images": masks / "gt", "det_images": masks / "det", "per_image": True}
    whole = evaluate(masks / "gt.txt", masks / "det.txt", **pictures)
    part = evaluate(masks / "gt.txt", masks / "det.txt", only=WANTED, **pictures)
    assert {one.name: one for one in part.images} == {
        one.name: one for one in whole.images if one.name in WANTED
    }


def test_every_function_and_the_signature(only: Path, parts: list[Path], tmp_path: Path) -> None:
    found = evaluate(GT, DET, "iou", only=iter([*WANTED, "lane"]))
    assert found.scores == evaluate(*parts, "iou").scores
    assert found.warnings == ["2 of 4 images evaluated (--only)"]
    assert re.search(r"\|only:[0-9a-f]{8}\|invalid:repair\|images:2\|", found.signature)
    run(GT, DET, tmp_path / "res", "--protocol", "iou", "--only", only)
    signed = json.loads((tmp_path / "res" / "iou.json").read_text(encoding="utf-8"))["signature"]
    assert signed == found.signature
    assert diagnose(GT, DET, "iou", only=WANTED).kinds == diagnose(*parts, "iou").kinds
    assert compare(GT, {"a": DET, "b": GT}, "iou", only=WANTED).images.better <= 2
    assert "2 of 4 images evaluated" in run("compare", GT, DET, GT, "--only", only).stderr
    refused = run("compare", tmp_path / "res", tmp_path / "res", "--only", only, status=2)
    assert "leave out --images, --only" in refused.stderr
    for kind, whole, part in (("gt", GT, parts[0]), ("det", DET, parts[1])):
        files = tmp_path / f"{kind}-a.csv", tmp_path / f"{kind}-b.csv"
        convert(whole, files[0], kind=kind, only=WANTED)
        convert(part, files[1], kind=kind)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_results_of_parts_merge_report_and_are_no_baseline(only: Path, tmp_path: Path) -> None:
    (tmp_path / "rest.txt").write_text("street_sign\ncrossing", encoding="utf-8")
    run(GT, DET, tmp_path / "a", "--protocol", "iou", "-a", "--only", only)
    run(GT, DET, tmp_path / "b", "--protocol", "iou", "-a", "--only", tmp_path / "rest.txt")
    run(GT, DET, tmp_path / "whole", "--protocol", "iou")
    merging = run("merge", tmp_path / "a", tmp_path / "b", tmp_path / "merged")
    assert "of 4 images" not in merging.output
    merged, whole = (tmp_path / name / "iou.txt" for name in ("merged", "whole"))
    assert merged.read_bytes() == whole.read_bytes()
    page = tmp_path / "report.html"
    run("report", tmp_path / "a", "--gt", GT, "--det", DET, "--output", page)
    assert '"lane"' in page.read_text(encoding="utf-8")
    assert "street_sign" not in page.read_text(encoding="utf-8")
    gated = run(GT, DET, "--protocol", "iou", "--baseline", tmp_path / "a", status=2)
    assert re.search(r"list of images is '?[0-9a-f]{8}'?, here\s+all", gated.stderr)


def test_lists_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no image 'lanes', 'x', 'y' \(did you mean 'lane'"):
        evaluate(GT, DET, "iou", only=["lane", "lanes", "x", "y"])
    with pytest.raises(InputError, match="is empty; list one at least"):
        evaluate(GT, DET, "iou", only=[])
    with pytest.raises(InputError, match="has no image 'lanes'"):
        convert(GT, tmp_path / "c.csv", kind="gt", only=["lanes"])
    (tmp_path / "not.txt").write_bytes(b"\xff\xfe\xfa")
    for name, reason in (("not.txt", "can't decode byte"), ("missing.txt", "No such file")):
        refused = " ".join(run(GT, DET, "--only", tmp_path / name, status=2).stderr.split())
        assert reason in refused
        assert "expected a file with the names of images, one per line" in refused


def test_a_board_has_a_list_for_each_data_set(only: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(
        f'[datasets.icdar]\ngt = "{GT}"\nonly = "only.txt"\n'
        f'[detectors.a]\nicdar = "{DET}"\n[detectors.b]\nicdar = "{GT}"\n',
        encoding="utf-8",
    )
    ranked = run("rank", board)
    assert ", 2 images;" in ranked.stdout
    assert "2 of 4 images evaluated" in ranked.stderr
    assert "write it there" in run("rank", board, "--only", only, status=2).stderr
    for names, message in (("lanes", "(did you mean 'lane'?)"), (None, "there is no")):
        only.unlink() if names is None else only.write_text(names, encoding="utf-8")
        assert message in " ".join(run("rank", board, status=2).stderr.split())


def test_validate(parts: list[Path]) -> None:
    """As of inputs without the other images; detections may have images that are not there."""
    found, expected = validate(GT, DET, only=WANTED), validate(*parts)
    assert [one.found for one in found.problems if one not in expected.problems] == [
        "2 of 4 images evaluated (--only)"
    ]
    assert found.gt is not None and expected.gt is not None
    assert (found.gt.images, found.gt.objects) == (2, expected.gt.objects)
    assert not validate(parts[0], DET).passed
    assert validate(parts[0], DET, only=WANTED).passed


def test_reconcile_gives_commands_with_the_list(only: Path) -> None:
    scores = evaluate(GT, DET, "iou", only=WANTED).scores
    figures = [f"--{name}={scores[name]:.4f}" for name in ("recall", "precision")]
    found = run("reconcile", GT, DET, *figures, "--only", only, "--format", "json")
    commands = [one["command"] for one in json.loads(found.stdout)["fits"]]
    assert ["evaltex", str(GT), str(DET), "--only", str(only), "--protocol", "iou"] in commands
