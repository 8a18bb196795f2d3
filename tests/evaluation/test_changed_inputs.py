"""Inputs that are read several times: what they have is the same each time, or it is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaltex_cli import rank
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.ranking import measuring

GT = 'a\n100,100\n1,1,"word",f,10,10,50,20\n'
DET = 'a\n1,"word",10,10,48,20\n'


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    for name in ("one.txt", "two.txt"):
        Path(name).write_text(DET)


def test_a_ground_truth_that_changes_between_two_detectors_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluated = measuring.evaluate_inputs

    def evaluate_and_change(*given: Any, **options: Any) -> Any:
        found = list(evaluated(*given, **options))
        Path("gt.txt").write_text(GT.replace("50,20", "60,20"))
        return found

    monkeypatch.setattr(measuring, "evaluate_inputs", evaluate_and_change)
    with pytest.raises(InputError, match=r"gt\.txt: changed while it was read"):
        rank("gt.txt", {"one": "one.txt", "two": "two.txt"}, "iou")


@pytest.mark.parametrize("name", ["gt.txt", "one.txt"])
def test_the_same_inputs_are_opened_again_as_long_as_they_do_not_change(name: str) -> None:
    same, options = inputs.SameInputs(), InputOptions()
    gt, one, two = map(Path, ("gt.txt", "one.txt", "two.txt"))
    for det in (one, two, one):
        same.open(gt, det, options)
    Path(name).write_text(Path(name).read_text().replace("word", "other"))
    with pytest.raises(InputError, match=f"{name}: changed while it was read"):
        same.open(gt, one, options)
