"""The overview of a report in a real browser: its images and its losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Chromium
from click.testing import CliRunner
from report_pages import (
    HOSTILE,
    LOSS_PARTS,
    by_errors,
    cells,
    column,
    evaluated,
    islands,
    names,
    number,
    sources,
    unfold,
    words_diagnoses,
    write,
)

from evaltex_cli import diagnose
from evaltex_cli.cli import main
from evaltex_cli.diagnosis import terminal_table
from evaltex_cli.report import subject
from evaltex_cli.results.screen import Screen


class TestOverview:
    def test_it_shows_scores_histograms_and_the_worst_image_first(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        tab.open(report)
        scores = json.loads((words / "evaltex.json").read_bytes())["scores"]
        shown = tab.run("[...document.querySelectorAll('.tile b')].map((b) => b.textContent)")
        assert shown == [f"{scores[name]:.4f}" for name in ("recall", "precision", "fscore")]
        assert tab.run("document.querySelectorAll('#charts figure').length") == 2
        assert names(tab) == by_errors(words)

    def test_an_image_where_nothing_counts_comes_last(self, tab: Chromium, tmp_path: Path) -> None:
        """Its score, 0 under this protocol, is a convention."""
        for side, words in (("gt", {"a": "###", "b": "word", "c": "###"}), ("det", {"b": "word"})):
            (tmp_path / side).mkdir()
            for name, text in words.items():
                (tmp_path / side / f"{name}.txt").write_text(
                    f"0,0,99,20,{text}\n", encoding="utf-8"
                )
        results = evaluated(
            tmp_path / "gt",
            tmp_path / "det",
            tmp_path / "r",
            "-a",
            "--report",
            "--protocol",
            "icdar2013",
        )
        tab.open(results / "report.html")
        assert names(tab) == ["b", "a", "c"]
        tab.point("#images th:nth-child(2) button", click=True)
        tab.press("Enter", 13)
        assert names(tab) == ["b", "a", "c"]

    def test_a_heading_sorts_by_mouse_and_by_keyboard(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        tab.open(report)
        tab.point("#images th:nth-child(2) button", click=True)
        assert column(tab, 2) == sorted(column(tab, 2))
        assert (
            tab.run("document.querySelector('#images th:nth-child(2)').getAttribute('aria-sort')")
            == "ascending"
        )
        tab.press("Enter", 13)
        assert column(tab, 2) == sorted(column(tab, 2), reverse=True)
        assert (
            tab.run("document.querySelector('#images th:nth-child(2)').getAttribute('aria-sort')")
            == "descending"
        )
        tab.point("#images th:nth-child(1) button", click=True)
        assert names(tab) == sorted(names(tab))

    def test_images_are_filtered_by_name_and_by_match(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        tab.open(report)
        tab.run("document.querySelector('#filter').focus()")
        for letter in "SIGN":
            tab.press(letter, ord(letter))
        assert names(tab) == ["street_sign"]
        assert tab.run("document.querySelector('#images output').textContent") == "1 of 4 images"
        for _ in "SIGN":
            tab.press("Backspace", 8)
        tab.run(
            "(() => {const s = document.querySelector('#type'); s.value = '5'; s.dispatchEvent(new"
            " Event('change'))})()"
        )
        images = json.loads((words / "evaltex.json").read_bytes())["images"]
        wrong = [
            i["name"]
            for i in images
            if any(entry["match"] == "false-positive" for entry in i["detections"])
        ]
        assert sorted(names(tab)) == sorted(wrong) != []

    def test_another_protocol_is_chosen(self, tab: Chromium, report: Path, words: Path) -> None:
        tab.open(report)
        tab.point("input[value=icdar2013]", click=True)
        recalls = [
            json.loads((words / f"{name}.json").read_bytes())["scores"]["recall"]
            for name in ("evaltex", "icdar2013")
        ]
        tab.wait(f"document.querySelector('.tile b').textContent === '{recalls[1]:.4f}'")
        assert tab.run("document.querySelectorAll('#charts').length") == 0
        tab.press("ArrowUp", 38)
        tab.wait(f"document.querySelector('.tile b').textContent === '{recalls[0]:.4f}'")
        assert tab.run("document.activeElement.value") == "evaltex"

    def test_gates_are_shown(self, tab: Chromium, words: Path, tmp_path: Path) -> None:
        document = json.loads((words / "evaltex.json").read_bytes())
        verdict = {
            "protocol": "evaltex",
            "score": "recall",
            "value": 0.9,
            "baseline": None,
            "limit": 0.95,
        }
        document["gates"] = [verdict | {"expression": HOSTILE, "passed": False}]
        (tmp_path / "evaltex.json").write_text(json.dumps(document), encoding="utf-8")
        write(tmp_path / "report.html", [tmp_path])
        tab.open(tmp_path / "report.html")
        assert "1 of 1 failed" in tab.run("document.querySelector('#gates h2').textContent")
        assert tab.run("document.querySelector('#gates code').textContent") == HOSTILE

    def test_curves_are_drawn(self, tab: Chromium, tmp_path: Path) -> None:
        example = sources("words")
        evaluated(example["gt"], example["det"][0], tmp_path / "res", "-a", "--protocol", "deteval")
        write(tmp_path / "report.html", [tmp_path / "res"])
        tab.open(tmp_path / "report.html")
        plots = islands(tmp_path / "report.html")["protocol-0"]["systems"][0]["plots"]
        assert plots
        drawn = tab.run(
            "[...document.querySelectorAll('#charts figure')].map((f) =>"
            " f.querySelectorAll('polyline').length)"
        )
        assert drawn == [len(plot["lines"]) for plot in plots]
        points = tab.run(
            "document.querySelector('#charts polyline').getAttribute('points').split(' ').length"
        )
        assert points == len(plots[0]["x"])


class TestLossSection:
    @pytest.mark.parametrize("protocol", ["evaltex", "icdar2013"])
    def test_its_table_is_the_text_table(self, tab: Chromium, report: Path, protocol: str) -> None:
        tab.open(report, f"#/{protocol}?mistakes=table")
        (found,) = words_diagnoses([protocol])
        text = (
            terminal_table.table([found], Screen(), all_scores=False)
            .split("\n\n")[0]
            .splitlines()[2:]
        )
        expected = [[float(part) for part in line.split()[-len(found.scores) :]] for line in text]
        rows = cells(tab, "#losses .scroll")
        assert [row[0] for row in rows] == [*LOSS_PARTS, "= loss", "1 − loss"]
        assert [[number(part) for part in row[2:-1]] for row in rows] == expected
        for at in range(len(found.scores)):
            assert sum(row[at] for row in expected[:-2]) == pytest.approx(expected[-2][at])
        counts = [
            f"{kind.count} {kind.counted if kind.count != 1 else kind.counted[:-1]}"
            for kind in found.kinds
        ]
        assert [row[1] for row in rows] == [*counts, "", "", "", ""]
        assert all(row[-1] for row in rows)

    def test_it_lists_what_is_misread_most_often(self, tab: Chromium, tmp_path: Path) -> None:
        for side, texts in (("gt", ("Hotel", "<b>")), ("res", ("H0tel", ""))):
            (tmp_path / side).mkdir()
            lines = [f"{200 * k},0,{200 * k + 99},20,{text}\n" for k, text in enumerate(texts)]
            (tmp_path / side / f"{side}_1.txt").write_text("".join(lines))
        inputs = [str(tmp_path / side) for side in ("gt", "res")]
        protocols = ["--protocol", "iou-crw", "--protocol", "iou"]
        run = CliRunner().invoke(
            main, [*inputs, str(tmp_path / "out"), "--report", "--quiet", *protocols]
        )
        assert run.exit_code == 0, run.output
        tab.open(tmp_path / "out" / "report.html", "#/iou-crw")
        unfold(tab)
        rows = cells(tab, "details[data-property=misread]")
        assert rows[:2] == [["<b>", "nothing", "1"], ["Hotel", "H0tel", "1"]]
        assert ["O", "0", "1"] in rows
        summary = tab.run(
            "document.querySelector('details[data-property=misread] summary').textContent"
        )
        assert summary == "Misread most often, of 2 pairs with a wrong text"
        tab.open(tmp_path / "out" / "report.html", "#/iou")
        assert cells(tab, "details[data-property=misread]") == []

    def test_bars_are_as_long_as_the_shares(self, tab: Chromium, report: Path) -> None:
        tab.open(report)
        (found,) = words_diagnoses(["evaltex"])
        figures = tab.run(
            "[...document.querySelectorAll('#losses figure')].map((f) =>"
            " [...f.querySelectorAll('rect')].map((r) => [+r.getAttribute('x'),"
            " +r.getAttribute('width'), r.textContent, r.classList.contains('hollow')]))"
        )
        zeros = tab.run(
            "[...document.querySelectorAll('#losses .axis')].map((line) =>"
            " +line.getAttribute('x1'))"
        )
        shares = [
            [
                *(kind.shares[name] for kind in found.kinds),
                found.interaction[name],
                found.unexplained[name],
            ]
            for name in found.scores
        ]
        longest = max(
            (abs(share), abs(bar[1]))
            for s, f in zip(shares, figures, strict=True)
            for share, bar in zip(s, f, strict=True)
        )
        for bars, of_score, zero in zip(figures, shares, zeros, strict=True):
            for (left, width, reported, hollow), share, part in zip(
                bars, of_score, LOSS_PARTS, strict=True
            ):
                assert width == pytest.approx(abs(share) / longest[0] * longest[1])
                assert left == pytest.approx(zero if share >= 0 else zero - width)
                assert reported.startswith(part)
                assert hollow == (part in ("interaction", "unexplained"))

    def test_breakdowns_unfold(self, tab: Chromium, report: Path) -> None:
        tab.open(report)
        (found,) = words_diagnoses(["evaltex"])
        folded = tab.run(
            "[...document.querySelectorAll('#losses details')].map((d) => [d.dataset.property,"
            " d.open])"
        )
        assert folded == [[name, False] for name in found.breakdowns]
        tab.point("#losses details[data-property=height] summary", click=True)
        tab.wait("document.querySelector('#losses [data-property=height] table')?.offsetHeight > 0")
        unfold(tab)
        for name, bins in found.breakdowns.items():
            rows = cells(tab, f"[data-property={name}]")
            assert [int(row[1]) for row in rows] == [one.objects for one in bins]
            assert [row[3] for row in rows] == [
                "–" if one.recall is None else f"{one.recall:.4f}" for one in bins
            ]
        assert [row[0] for row in cells(tab, "[data-property=height]")][:2] == [
            "below 8",
            "8 to 16",
        ]

    def test_detectors_stand_side_by_side(
        self, tab: Chromium, two: Path, rival: tuple[Path, Path]
    ) -> None:
        tab.open(two)
        example = sources("words")
        both = [diagnose(example["gt"], one) for one in (*example["det"], rival[0])]
        bars = "document.querySelectorAll('#losses figure:first-child rect.s{}').length"
        assert [tab.run(bars.format(k)) for k in (0, 1)] == [len(LOSS_PARTS)] * 2
        tab.point("[name=mistakes][value=table]", click=True)
        assert tab.run("document.querySelectorAll('#losses figure').length") == 0
        rows = {row[0]: row for row in cells(tab, "#losses .scroll")}
        missed = [found.kinds[0] for found in both]
        assert missed[0].count < missed[1].count
        assert [int(text.split()[0]) for text in rows["missed"][1:3]] == [
            kind.count for kind in missed
        ]
        assert [number(text) for text in rows["missed"][3:5]] == pytest.approx(
            [kind.shares["recall"] for kind in missed], abs=1e-4
        )
        heads = tab.run(
            "[...document.querySelectorAll('#losses .scroll thead tr:last-child th')].map((c) =>"
            " c.textContent)"
        )
        assert heads == ["words", "rival"] * 4

    def test_masks_have_a_sentence(self, tab: Chromium, masks: Path) -> None:
        tab.open(masks)
        assert tab.run("document.querySelector('#losses p').textContent") == subject.OF_MASKS
        assert tab.run("document.querySelectorAll('#losses table, #losses figure').length") == 0

    def test_without_shapes_there_is_none(self, tab: Chromium, words: Path, tmp_path: Path) -> None:
        write(tmp_path / "report.html", [words])
        tab.open(tmp_path / "report.html")
        assert tab.run(
            "[document.querySelectorAll('#losses').length,"
            " document.querySelectorAll('#scores').length]"
        ) == [0, 1]


def test_the_scores_of_two_detectors_fit_a_phone(tab: Chromium, two: Path) -> None:
    tab.emulate(400, 800)
    tab.open(two, "#/iou")
    assert tab.run("document.querySelectorAll('.headline .change').length") == 3
    assert tab.run("document.querySelector('#scores .scroll').scrollWidth") <= 400
