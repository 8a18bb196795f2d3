"""Scores of images in columns are those of each image alone, by every protocol and its choices."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scenes
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config, score_names, scores
from evaltex_cli.protocols.scores import score_columns

CHOICES = [(name, {}) for name in PROTOCOLS] + [
    ("icdar2003", {"alpha": 0.25}),
    ("deteval", {"variant": "wolf"}),
    ("deteval", {"variant": "totaltext"}),
    ("deteval", {"preset": "auc"}),
    ("deteval", {"preset": "auc", "variant": "rrc"}),
    ("iou-crw", {"error_rates": True}),
    ("cleval", {"scale_bins": "0,0.5,1"}),
]
CASES = [
    (images, *choice)
    for images in ("odd_images", "random_images")
    for choice in CHOICES
    if images == "random_images" or "scale_bins" not in choice[1]  # which takes sizes of images
]
ODD = {
    "nothing": ("", ""),
    "only don't care": ("0,0,50,10,###\n", "0,0,50,10,word\n"),
    "only detections": ("", "0,0,50,10,word\n"),
    "nothing found": ("0,0,50,10,word\n", ""),
    "not named": ("0,0,50,10,word\n", None),
    "word": ("0,0,50,10,word\n", "0,0,50,10,ward\n"),
    "two": ("0,0,50,10,one\n60,0,90,10,two\n", "0,0,90,10,one two\n0,50,90,60,three\n"),
}


@pytest.fixture(scope="module")
def odd_images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    for side in range(2):
        (folder / str(side)).mkdir()
        for name, texts in ODD.items():
            if texts[side] is not None:
                (folder / str(side) / f"{name}.txt").write_text(texts[side], encoding="utf-8")
    return folder / "0", folder / "1"


@pytest.fixture(scope="module")
def random_images(tmp_path_factory):
    paths = [tmp_path_factory.mktemp("random") / name for name in ("gt.txt", "det.txt")]
    for path, text in zip(paths, scenes.random_scene(3, images=12, polygons=True), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("images,name,values", CASES, ids=str)
def test_columns_are_rows(images: str, name: str, values: dict, request) -> None:
    paths: tuple[Path, Path] = request.getfixturevalue(images)
    parameters = config.checked(name, values)
    (run,) = runs_of({name: parameters})
    (found,) = evaluate_inputs(open_inputs(*paths, InputOptions()), [run])
    assert found.rows is not None
    tally = found.rows.tally
    for score_of in {run.protocol.scores, run.protocol.image_scores or run.protocol.scores}:
        of_rows = [score_of(row, run.parameters) for row in tally.rows()]
        columns = score_columns(lambda rows, of=score_of: of(rows, run.parameters), tally)
        assert list(columns) == score_names.scalars(of_rows[0])
        for score, column in columns.items():
            expected = [one[score] for one in of_rows]
            assert [None if math.isnan(value) else value for value in column] == expected, score


numbers = st.floats(1e-9, 1e6) | st.sampled_from([0.0, 1.0])


@pytest.mark.parametrize("function", [scores.ratio, scores.rate, scores.harmonic_mean])
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
@settings(max_examples=50)
def test_of_columns_is_of_each(function, pairs) -> None:
    each = [function(*pair) for pair in pairs]
    found = function(*np.array(pairs).T)
    assert [None if math.isnan(value) else value for value in found] == each
