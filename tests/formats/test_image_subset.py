"""``--only`` through every command: as if the inputs had no other images."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from command_line import run

from evaltex_cli import compare, convert, diagnose, evaluate
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


@pytest.mark.parametrize("jobs", [2])
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


def test_every_function_and_the_signature(only: Path, parts: list[Path], tmp_path: Path) -> None:
    found = evaluate(GT, DET, "iou", only=iter([*WANTED, "lane"]))
    assert found.scores == evaluate(*parts, "iou").scores
    assert found.warnings == ["2 of 4 images evaluated (--only)"]
    assert re.search(r"\|only:[0-9a-f]{8}\|invalid:repair\|images:2\|", found.signature)
    run(GT, DET, tmp_path / "res", "--protocol", "iou", "--only", only)
    signed = json.loads((tmp_path / "res" / "iou.json").read_text(encoding="utf-8"))["signature"]
    assert signed == found.signature
    assert diagnose(GT, DET, "iou", only=WANTED).kinds == diagnose(*parts, "iou").kinds
    assert len(compare(GT, {"a": DET, "b": GT}, "iou", only=WANTED).images) == 2
    assert "2 of 4 images evaluated" in run("compare", GT, DET, GT, "--only", only).stderr
    refused = run("compare", tmp_path / "res", tmp_path / "res", "--only", only, status=2)
    assert "leave out --only" in refused.stderr
    for kind, whole, part in (("gt", GT, parts[0]), ("det", DET, parts[1])):
        files = tmp_path / f"{kind}-a.csv", tmp_path / f"{kind}-b.csv"
        convert(whole, files[0], kind=kind, only=WANTED)
        convert(part, files[1], kind=kind)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_lists_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no image 'lanes', 'x', 'y' \(did you mean 'lane'"):
        evaluate(GT, DET, "iou", only=["lane", "lanes", "x", "y"])
    with pytest.raises(InputError, match="is empty; list one at least"):
        evaluate(GT, DET, "iou", only=[])
    with pytest.raises(InputError, match="has no image 'lanes'"):
        convert(GT, tmp_path / "c.csv", kind="gt", only=["lanes"])
    (tmp_path / "not.txt").write_bytes(b"\xff\xfe\xfa")
    for name, reason in (("not.txt", "text in UTF-8"), ("missing.txt", "No such file")):
        refused = " ".join(run(GT, DET, "--only", tmp_path / name, status=2).stderr.split())
        assert reason in refused
