"""Plots: well-formed SVG whose points stand where the values say."""

import re
from xml.etree import ElementTree

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
        "<script>&",
        "x",
        "y",
        [0.0, 1.0, 2.0],
        {"up": [0.0, 0.5, 1.0], "flat": [1.0, 1.0, float("nan")]},
    )
    text = line_chart.svg(plot)
    assert "<script" not in text
    up, flat = points_of(text)
    left, right = line_chart.LEFT, line_chart.WIDTH - line_chart.RIGHT
    top, bottom = line_chart.TOP, line_chart.HEIGHT - line_chart.BOTTOM
    assert up == [(left, bottom), ((left + right) / 2, (top + bottom) / 2), (right, top)]
    assert flat == [(left, top), ((left + right) / 2, top)]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_any_range_has_ticks_within_it(x):
    text = line_chart.svg(Plot("p", "t", "x", "y", x, {"line": [0.5] * len(x)}))
    for point, _ in points_of(text)[0]:
        assert line_chart.LEFT - 0.01 <= point <= line_chart.WIDTH - line_chart.RIGHT + 0.01
    assert 1 <= len(re.findall('text-anchor="middle">', text)) - 2 <= line_chart.MOST_X_TICKS + 1


def test_the_command_draws_the_performance_graphs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gt.txt").write_text(GT)
    (tmp_path / "det.txt").write_text(DET)
    drawn = []
    for options in (["--plots"], []):  # those of an earlier run are removed
        arguments = ["gt.txt", "det.txt", "res", "--protocol", "deteval", *options]
        assert CliRunner().invoke(main, arguments).exit_code == 0
        drawn.append({path.name: path.read_text() for path in (tmp_path / "res").glob("*.svg")})
    made, none = drawn
    assert sorted(made) == ["deteval-generality.svg", "deteval-t_p.svg", "deteval-t_r.svg"]
    assert [len(points) for points in points_of(made["deteval-t_r.svg"])] == [20, 20, 20]
    assert none == {}
