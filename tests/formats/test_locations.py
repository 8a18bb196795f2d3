"""Every problem has the file and the line, or the way to the value in JSON, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from sample_words import Sample
from samples import SAMPLES, written

from evaltex_cli.validation.validation import validate

FRACTIONS = ("doctr", "doctr-line", "textract", "textract-line", "azure-read", "chat-boxes")
"""Of the page, or inches: no object is beyond the page that the file states, if it states any."""


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in FRACTIONS])
def test_an_object_beyond_the_picture(tmp_path: Path, name: str) -> None:
    """The second object of the first image, at x = 70 to 120 of a picture that is 100 wide."""
    sample = SAMPLES[name]
    files = {
        file: content.replace("640", "100") if isinstance(content, str) else content
        for file, content in sample.gt.items()
    }
    narrow = Sample(files, gt_format=sample.gt_format, many_in_one=sample.many_in_one)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number, size in ((1, (100, 480)), (2, (320, 240))):
        Image.new("L", size).save(pictures / f"{number}.png")
    path = written(tmp_path / "gt", narrow, "gt")
    found = validate(path, gt_format=sample.gt_format, images=pictures).problems
    (problem,) = [one for one in found if one.kind == "outside-picture"]
    assert problem.image == "1"
    assert (problem.line is None) == bool(problem.where)
    if problem.line is not None:
        lines = Path(problem.file).read_text("utf-8-sig").split("\n")
        assert "70" in "".join(lines[problem.line - 1 : problem.line + 2])
