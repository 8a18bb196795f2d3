"""Plots: well-formed SVG whose points stand where the values say."""

import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.cli import main
from evaltex_cli.protocols.base import Plot
from evaltex_cli.results import line_chart

SVG = "{http://www.w3.org/2000/svg}"
GT = 'img_1\n100,300\n1,1,"",f,0,0,100,10\nimg_2\n100,300\n'
DET = 'img_1\n1,"",0,0,90,10\nimg_2\n1,"",0,0,90,10\n'


def points_of(text):
    return [
        [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        for line in ElementTree.fromstring(text).iter(f"{SVG}polyline")
    ]


def test_points_stand_where_the_values_say():
    plot = Plot(
        "p",
        "Title",
        "x",
        "y",
        [0.0, 1.0, 2.0],
        {"up": [0.0, 0.5, 1.0], "flat": [1.0, 1.0, float("nan")]},
    )
    up, flat = points_of(line_chart.svg(plot))
    left, right = line_chart.LEFT, line_chart.WIDTH - line_chart.RIGHT
    top, bottom = line_chart.TOP, line_chart.HEIGHT - line_chart.BOTTOM
    assert up == [(left, bottom), ((left + right) / 2, (top + bottom) / 2), (right, top)]
    assert flat == [(left, top), ((left + right) / 2, top)]


def test_text_is_escaped():
    plot = Plot("p", "<script>&", "a<b", "c&d", [0, 1], {"<i>": [0, 1]})
    text = line_chart.svg(plot)
    shown = [element.text for element in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert {"<script>&", "a<b", "c&d", "<i>"} <= set(shown)
    assert "<script" not in text


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_any_range_has_ticks_within_it(x):
    text = line_chart.svg(Plot("p", "t", "x", "y", x, {"line": [0.5] * len(x)}))
    for point, _ in points_of(text)[0]:
        assert line_chart.LEFT - 0.01 <= point <= line_chart.WIDTH - line_chart.RIGHT + 0.01
    assert 1 <= len(re.findall('text-anchor="middle">', text)) - 2 <= line_chart.MOST_X_TICKS + 1


@pytest.mark.parametrize("plots", [True, False])
def test_the_command_draws_the_performance_graphs(tmp_path, monkeypatch, plots):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt.txt").write_text(GT)
    (tmp_path / "det.txt").write_text(DET)
    arguments = ["gt.txt", "det.txt", "res", "--protocol", "deteval"]
    for with_plots in (True, plots):
        result = CliRunner().invoke(main, [*arguments, *(["--plots"] if with_plots else [])])
        assert result.exit_code == 0, result.output
    drawn = sorted(path.name for path in (tmp_path / "res").glob("*.svg"))
    expected = ["deteval-generality.svg", "deteval-t_p.svg", "deteval-t_r.svg"]
    assert drawn == (expected if plots else [])
    if plots:
        recall, precision, hmean = points_of(
            (tmp_path / "res" / "deteval-t_r.svg").read_text(encoding="utf-8")
        )
        assert len(recall) == len(precision) == len(hmean) == 20
