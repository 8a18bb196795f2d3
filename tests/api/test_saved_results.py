"""Results and reports that Python writes are those of the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli import InputError, compare, evaluate, save_results, write_report
from evaltex_cli.cli import main

ICDAR = Path(__file__).parents[2] / "examples" / "icdar"
GT, DET = ICDAR / "gt.zip", ICDAR / "det.zip"


def test_saved_results_are_the_command_s(tmp_path: Path) -> None:
    save_results(evaluate(GT, DET, ["iou", "evaltex"], per_image=True), tmp_path / "saved")
    arguments = [str(GT), str(DET), str(tmp_path / "run"), "-a", "--protocol=iou,evaltex"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    files, of_command = (
        {path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*.*")}
        for name in ("saved", "run")
    )
    assert files == of_command
    assert len(files) >= 2 + 2 * (2 + 4)
    for file in files:
        assert (tmp_path / "saved" / file).read_bytes() == (tmp_path / "run" / file).read_bytes(), (
            file
        )
    assert compare(None, {"a": tmp_path / "saved", "b": tmp_path / "run"}, "iou").images == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "iou.json").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"iou\.json"):
        save_results(evaluate(GT, DET, "iou"), tmp_path / "other")


def test_reports(tmp_path: Path) -> None:
    found = evaluate(GT, DET, ["iou", "evaltex"], per_image=True)
    listed, drawn, of_arrays = (tmp_path / f"{name}.html" for name in ("listed", "drawn", "arrays"))
    write_report(found, listed)
    write_report(found["iou"], drawn, GT, DET, label="my detector")
    boxes = {f"image {k}": [[0, 0, 100, 20], [0, 40, 60, 60]] for k in range(3)}
    write_report(evaluate(boxes, boxes, "iou", per_image=True), of_arrays, boxes, boxes)
    pages = [page.read_text(encoding="utf-8") for page in (listed, drawn, of_arrays)]
    assert all(page.startswith("<!DOCTYPE html>\n<!-- evaltex report -->") for page in pages)
    assert "my detector" in pages[1]
    assert json.dumps("image 2") in pages[2]
    assert not list(tmp_path.glob("*evaltex-*"))
    (tmp_path / "notes.html").write_text("mine", encoding="utf-8")
    for arguments, message in (
        ((evaluate(GT, DET, "iou"), listed), "evaluate again with per_image=True"),
        ((found, listed, GT), "give gt and det, or neither"),
        ((found, tmp_path / "notes.html"), r"notes\.html"),
        ((found, listed, GT, GT), "is not what was evaluated"),
    ):
        with pytest.raises(InputError, match=message):
            write_report(*arguments)
