"""What `evaltex compare` prints: what it marks, and that it fits the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evaltex_cli.comparison import comparison, detector_results, terminal_table
from evaltex_cli.comparison.comparison import Comparison
from evaltex_cli.comparison.detector_results import System
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.results.screen import Screen, width

IMAGES = 12
LONG = "runs/2024-05/text_detector_with_a_long_name_and_{}_epochs_of_training/predictions.json"
CJK = "日本語の文字検出器の第{}版の結果ファイル.txt"
NUMBER = r"-?\d\.\d{4}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ground truth, and detections of it that miss the words of 0, 3 and 9 images."""
    made = tmp_path_factory.mktemp("compared")
    random = np.random.default_rng(0)
    places = random.integers(0, 9, (IMAGES, 3))
    for name, missed in (("gt", 0), ("a", 0), ("b", 3), ("c", 9)):
        lines = []
        for k in range(IMAGES):
            lines += [f"img_{k}", *(["200,200"] if name == "gt" else [])]
            for i, place in enumerate(places[k].tolist()):
                if name == "gt":
                    lines.append(f'{i},{i},"word",f,10,{60 * i},{90 + 9 * i},{12 + 3 * k}')
                elif k >= missed:
                    lines.append(f'{i},"word",{10 + place},{60 * i},{90 + 9 * i},{12 + 3 * k}')
        (made / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def compared(
    folder: Path, names: list[str], protocols: tuple[str, ...] = tuple(PROTOCOLS)
) -> list[Comparison]:
    """The detectors a, b, c, b, c, ..., with these names."""
    systems = evaluated(folder)
    detectors = ["a", *(["b", "c"] * len(names))][: len(names)]
    return [
        comparison.compare(
            [
                replace(systems[detector][protocol], label=name)
                for detector, name in zip(detectors, names, strict=True)
            ],
            resamples=200,
        )
        for protocol in protocols
    ]


@cache
def evaluated(folder: Path) -> dict[str, dict[str, System]]:
    records = {name: config.checked(name, {}) for name in PROTOCOLS}
    return {
        name: {
            system.protocol.name: system
            for system in detector_results.evaluated(
                open_inputs(folder / "gt.txt", folder / f"{name}.txt", InputOptions()),
                name,
                records,
            )
        }
        for name in ("a", "b", "c")
    }


def shown(
    comparisons: list[Comparison], *, worst: int = 0, columns: int = 80, all_scores: bool = False
) -> list[str]:
    return terminal_table.table(comparisons, worst, 0.95, Screen(columns), all_scores).splitlines()


@pytest.mark.few_fast(3)
@pytest.mark.parametrize("detectors", [2, 3, 10])
@pytest.mark.parametrize("pattern", ["d{}.txt", LONG, CJK, "x\x1b[31m\n{}"])
def test_no_line_is_wider_than_the_terminal(folder: Path, detectors: int, pattern: str) -> None:
    comparisons = compared(folder, [pattern.format(k) for k in range(detectors)])
    for columns in (60, 80, 120):
        lines = shown(comparisons, worst=3, columns=columns)
        assert max(map(width, lines)) <= columns
        assert "\x1b" not in "".join(lines)
        rows = [line for line in lines if re.search(rf" >?{NUMBER}\*{{0,2}} .* >?{NUMBER}", line)]
        assert len(rows) >= detectors * len(PROTOCOLS)
    lines = shown(comparisons, all_scores=True)
    for one in comparisons:
        assert {score.score for score in one.scores} <= set(lines)


def test_one_line_for_each_detector_with_marks(folder: Path) -> None:
    lines = shown(compared(folder, ["a", "b", "c"], ("iou",)))
    assert lines[0] == "Differences to a; 95% confidence intervals over 12 images"
    assert lines[1] == "> best; * p < 0.05; ** p < 0.05 also when corrected for 2 detectors (Holm)"
    at = next(k for k, line in enumerate(lines) if line.startswith("iou "))
    assert lines[at].split() == ["iou", "recall", "precision", "hmean", "difference", "in", "hmean"]
    rows = [line.split() for line in lines[at + 1 : at + 4]]
    assert rows[0] == ["a", ">1.0000", "1.0000", ">1.0000"]
    assert [row[0] for row in rows] == ["a", "b", "c"]
    (found,) = compared(folder, ["a", "b", "c"], ("iou",))
    recall = next(score for score in found.scores if score.score == "recall")
    for k, row in enumerate(rows[1:], 1):
        p, corrected = recall.p_values[k], recall.p_corrected[k]
        assert p is not None
        assert corrected is not None
        stars = "**" if corrected < 0.05 else "*" if p < 0.05 else ""
        assert row[1] == f"{recall.values[k]:.4f}{stars}"
    assert rows[2][1].endswith("**")
    assert all("*" not in row[2] for row in rows)


def test_stars_are_where_the_interval_excludes_0(folder: Path) -> None:
    for found in compared(folder, ["a", "b", "c"]):
        for score in found.scores:
            for p, interval in zip(score.p_values, score.difference_intervals, strict=True):
                if p is not None and interval is not None:
                    assert (p < 0.05) == (not interval[0] <= 0 <= interval[1])


def test_the_footer_says_what_the_interval_and_the_p_value_are(folder: Path) -> None:
    text = " ".join(shown(compared(folder, ["a", "b"], ("iou",))))
    assert (
        "one sign-flip test over images (200 subsets, random): p < 0.05 exactly if the 95% interval"
        " excludes 0."
    ) in text


def test_totals(folder: Path) -> None:
    comparisons = compared(folder, ["a", "b", "c"])
    lines = shown(comparisons)
    at = next(k for k, line in enumerate(lines) if line.startswith("total "))
    rows = [line.split() for line in lines[at + 1 : at + 4]]
    for k, row in enumerate(rows):
        best = sum(
            one.scores[j].values[k] == max(one.scores[j].values)
            and len(set(one.scores[j].values)) > 1
            for one in comparisons
            for j in [[score.score for score in one.scores].index(one.headline[-1])]
        )
        assert row[:2] == [["a", "b", "c"][k], f"{best}/{len(comparisons)}"]
    for k in (1, 2):
        label = ["a", "b", "c"][k]
        changes = [
            image.change for one in comparisons for image in one.images if image.system == label
        ]
        assert [int(cell) for cell in rows[k][4:6]] == [
            sum(c > 0 for c in changes),
            sum(c < 0 for c in changes),
        ]
        objects = [
            one.change for found in comparisons for one in found.objects if one.system == label
        ]
        assert [int(cell) for cell in rows[k][6:]] == [
            sum(c > 0 for c in objects),
            sum(c < 0 for c in objects),
        ]


def test_only_what_got_worse_is_listed(folder: Path) -> None:
    better = shown(compared(folder, ["a", "b"], ("iou",))[:1], worst=5)
    assert "iou: 3 images got worse" in better
    assert sum(line.startswith("img_") and "#" not in line for line in better) == 3
    systems = evaluated(folder)
    (found,) = [comparison.compare([systems["b"]["iou"], systems["a"]["iou"]], resamples=50)]
    assert not any("got worse" in line for line in shown([found], worst=5))


def test_counts_have_no_best(folder: Path) -> None:
    lines = shown(compared(folder, ["a", "b"], ("cleval",)), all_scores=True)
    at = lines.index("missed_characters")
    assert lines[at + 1].split()[:2] == ["a", "0"]
    assert lines[at + 2].split()[1].startswith("36")


def test_colours(folder: Path) -> None:
    text = terminal_table.table(
        compared(folder, ["a", "b", "c"], ("iou",)), 0, 0.95, Screen(80, True), False
    )
    assert "\x1b[31mc " in text
    assert "\x1b[1miou " in text
    assert re.sub(r"\x1b\[\d+m", "", text).splitlines() == shown(
        compared(folder, ["a", "b", "c"], ("iou",))
    )
