"""Plots: well-formed SVG whose points stand where the values say."""

import re
from pathlib import Path
from xml.etree import ElementTree

from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.base import Plot
from evaltex_cli.results.line_chart import BOTTOM, LEFT, MOST_X_TICKS, RIGHT, TOP, svg

GT = 'img_1\n100,300\n1,1,"",f,0,0,100,10\nimg_2\n100,300\n'
DET = 'img_1\n1,"",0,0,90,10\nimg_2\n1,"",0,0,90,10\n'


def points_of(text):
    return [
        [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        for line in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}polyline")
    ]


def test_points_stand_where_the_values_say():
    lines = {"up": [0.0, 0.5, 1.0], "flat": [1.0, 1.0, float("nan")]}
    text = svg(Plot("p", "<script>&", "x", "y", [0.0, 1.0, 2.0], lines))
    assert "<script" not in text
    up, flat = points_of(text)
    assert up == [(LEFT, BOTTOM), ((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2), (RIGHT, TOP)]
    assert flat == [(LEFT, TOP), ((LEFT + RIGHT) / 2, TOP)]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_any_range_has_ticks_within_it(x):
    text = svg(Plot("p", "t", "x", "y", x, {"line": [0.5] * len(x)}))
    assert all(LEFT <= point <= RIGHT for point, _ in points_of(text)[0])
    assert 1 <= len(re.findall(r'v5" stroke="#333"', text)) <= MOST_X_TICKS + 1


def test_the_command_draws_the_performance_graphs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET)
    run("gt.txt", "det.txt", "res", "--protocol", "deteval", "--plots")
    made = {path.name: path.read_text() for path in Path("res").glob("*.svg")}
    assert sorted(made) == ["deteval-generality.svg", "deteval-t_p.svg", "deteval-t_r.svg"]
    assert [len(points) for points in points_of(made["deteval-t_r.svg"])] == [20, 20, 20]
    run("gt.txt", "det.txt", "res", "--protocol", "deteval")  # removes those of the earlier run
    assert not list(Path("res").glob("*.svg"))
