"""What `evaltex validate` prints: equal problems once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from written_files import zipped

from evaltex_cli.cli import main
from evaltex_cli.tables import in_text
from evaltex_cli.validation.findings import FEW_PAIRS, Problem, Validation

BOX = "10,10,110,40"


def boxes(rng: random.Random) -> str:
    corners = [(rng.randrange(5000), rng.randrange(5000)) for _ in range(20)]
    return "".join(f"{x},{y},{x + 60},{y + 20}\n" for x, y in corners)


def printed(*arguments: object) -> list[str]:
    result = CliRunner().invoke(main, ["validate", *map(str, arguments)])
    assert "Traceback" not in result.output
    return result.stdout.splitlines()


@pytest.fixture(name="sides")
def _sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """30 images; the detections have two faults in each of 20, and none of the others."""
    monkeypatch.chdir(tmp_path)
    zipped(Path("gt.zip"), {f"gt_img_{k}.txt": f"{BOX},word\n" for k in range(30)})
    bad = {f"res_img_{k}.txt": f"{BOX}\n10,10\n110,10,10,40\n" for k in range(20)}
    zipped(Path("det.zip"), bad)
    return "gt.zip", "det.zip"


def test_equal_problems_are_reported_once(sides: tuple[str, str]) -> None:
    lines = printed(*sides)
    assert len(lines) < 50
    found = "\n".join(lines)
    for words in (
        "det.zip/res_img_0.txt:2: 2 numbers at the start of '10,10'",
        "(20 such errors in 20 files, also at det.zip/res_img_1.txt:2 and det.zip/res_img_2.txt:2",
        "(10 such warnings, also 'img_21' and 'img_22')",
        "Validation failed: 40 errors (40 input), 11 warnings (1 input, 10 missing-image)",
    ):
        assert found.count(words) == 1, words


def test_each_one_on_demand(sides: tuple[str, str]) -> None:
    lines = printed(*sides, "--all-faults")
    assert sum(": 2 numbers at the start of '10,10'; expected" in line for line in lines) == 20
    assert not any("such errors" in line for line in lines)


def test_few_rows_of_pairs(sides: tuple[str, str]) -> None:
    zipped(Path("few.zip"), {"res_img_0.txt": f"{BOX}\n"})
    lines = printed("gt.zip", "few.zip")
    assert sum(line.startswith("img_") for line in lines) == FEW_PAIRS
    assert "10 images are not listed; --pairs lists all" in lines
    every = printed("gt.zip", "few.zip", "--pairs")
    assert sum(line.startswith("img_") for line in every) == 30
    zipped(Path("more.zip"), {f"res_img_{k}.txt": f"{BOX}\n" for k in range(1, 30)})
    lines = printed("gt.zip", "more.zip")
    assert "29 images that pair by name or ID are not listed; --pairs lists all" in lines
    assert sum(line.startswith("img_") for line in lines) == 1


def test_a_problem_alone_has_one_place() -> None:
    problem = Problem(
        level="warning", kind="input", side="gt", file="gt.txt", line=3, found="a fault"
    )
    found = in_text(Validation(None, None, [], [problem]).tables())
    assert found == (
        "warnings\n- gt.txt:3: a fault\n\nValidation passed: 0 errors, 1 warning (1 input)\n"
    )


def test_sides_that_have_nothing_in_common(tmp_path: Path) -> None:
    """The names pair, the boxes do not, in whatever way they are read."""
    gt, det = (
        zipped(tmp_path / f"{seed}.zip", {f"{k}.txt": boxes(random.Random(seed)) for k in range(9)})
        for seed in (1, 2)
    )
    found = " ".join(line.strip() for line in printed(gt, det))
    assert "hardly any box of one side agrees with one of the other" in found
    assert "hardly any box" not in " ".join(printed(gt, gt))
