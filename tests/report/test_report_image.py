"""An image of a report in a real browser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scenes
from chromium import Chromium
from report_pages import EXAMPLES, by_errors, evaluated, islands, write

SHOWN = """[...document.querySelectorAll('.object')].map((one) => {
    const row = document.querySelector(`[data-row=${one.dataset.key}]`);
    const [partners, ...values] = [...row.querySelectorAll('.mark ~ td')].map((cell) => cell.textContent);
    return [one.dataset.key, +/ t(\\d)/.exec(one.getAttribute('class'))[1],
        one.querySelector('.edge').getAttribute('points').split(/[ ,]/).map(Number),
        row.querySelector('.text')?.textContent ?? '',
        partners, values.map((value) => value === '–' ? 'NaN' : value)];
})"""
"""The objects of an image that is open: key, type, corners, text, partners and values."""


def held(side: dict[str, Any], image: dict[str, Any], name: str) -> Iterator[tuple[Any, ...]]:
    """The same of one side of an image of a page's data, with the ID in place of the key."""
    matches = image["matches"][0][0][name]
    for k, (id, shape) in enumerate(zip(side["id"], side["shape"], strict=True)):
        corners = shape
        if len(shape) == 4:
            x0, y0, x1, y1 = shape
            corners = [x0, y0, x1, y0, x1, y1, x0, y1]
        partners = ", ".join(map(str, matches["partners"][k])) or "–"
        values = [column[k] for column in matches["values"].values()]
        yield id, matches["type"][k], corners, side["text"][k], partners, values


class TestImage:
    def test_it_opens_with_its_objects_coloured_by_match(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        tab.open(report)
        tab.point("#images a[href$=street_sign]", click=True)
        tab.wait("!!document.querySelector('svg.canvas')")
        image = next(
            i
            for i in json.loads((words / "evaltex.json").read_bytes())["images"]
            if i["name"] == "street_sign"
        )
        types = islands(report)["overview"]["matchTypes"]
        for side, entries in (("gt", image["objects"]), ("det", image["detections"])):
            for entry in entries:
                element = f"document.querySelector('[data-key={side}{entry['id']}]')"
                assert tab.run(f"{element}.classList.contains('t{types.index(entry['match'])}')")
        assert tab.run("document.querySelectorAll('.object').length") == len(
            image["objects"] + image["detections"]
        )
        assert tab.run(
            "document.querySelector('.picture').getAttribute('href').startsWith('data:image/png')"
        )
        assert tab.run("document.activeElement.id") == "image-name"

    @pytest.mark.parametrize("seed", [0, 2])
    def test_every_image_of_every_block_is_what_the_columns_hold(
        self, tab: Chromium, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evaltex_cli.report.image_columns.CHUNK_IMAGES", 5)
        monkeypatch.setattr("evaltex_cli.report.image_columns.CHUNK_OBJECTS", 20)
        paths = tmp_path / "gt.txt", tmp_path / "det.txt"
        texts = scenes.random_scene(seed, images=12, polygons=True)
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        data = islands(evaluated(*paths, tmp_path / "res", "--report") / "report.html")
        names = data["overview"]["images"]
        starts = data["overview"]["chunkStarts"]
        assert len(starts) > 4
        images = [image for k in range(len(starts) - 1) for image in data[f"images-{k}"]]
        assert len(images) == len(names) == 12
        assert sum(len(image["gt"]["id"]) for image in images) > 20
        tab.open(tmp_path / "res" / "report.html")
        for name, image in zip(names, images, strict=True):
            tab.run(f"location.hash = {json.dumps('#/evaltex/' + name)}")
            tab.wait(f"document.querySelector('#image-name')?.textContent === {json.dumps(name)}")
            shown = {key: rest for key, *rest in tab.run(SHOWN)}
            expected = {
                f"{side}{id}": rest
                for side in ("gt", "det")
                for id, *rest in held(image["gt"] if side == "gt" else image["det"][0], image, side)
            }
            assert shown.keys() == expected.keys()
            for key, (code, corners, text, partners, values) in shown.items():
                assert [code, corners, text, partners] == expected[key][:4]
                known = [math.nan if value is None else value for value in expected[key][4]]
                assert [*map(float, values)] == pytest.approx(known, abs=6e-5, nan_ok=True)

    def test_toggles_hide_one_kind_each(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex/street_sign")
        visible = (
            "[...document.querySelectorAll('.object')].filter((o) => o.style.display !== 'none')"
        )
        before = tab.run(f"{visible}.length")
        tab.point("[data-toggle=type4]", click=True)
        assert tab.run(f"{visible}.filter((o) => o.classList.contains('t4')).length") == 0
        assert tab.run("document.querySelector('[data-row=gt1]').hidden")
        assert tab.run(f"{visible}.length") == before - 1
        tab.point("[data-toggle=det]", click=True)
        assert tab.run(f"{visible}.every((o) => o.classList.contains('gt'))")
        tab.point("[data-toggle=det]", click=True)
        tab.point("[data-toggle=type4]", click=True)
        assert tab.run(f"{visible}.length") == before
        labels = (
            "[...document.querySelectorAll('.label')].filter((l) => l.style.display !=="
            " 'none').length"
        )
        assert tab.run(labels) > 0
        tab.point("[data-toggle=labels]", click=True)
        assert tab.run(labels) == 0
        tab.point("[data-toggle=picture]", click=True)
        assert tab.run("document.querySelector('.picture').style.display") == "none"

    def test_pointer_and_keyboard_show_an_object(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex/street_sign")
        tip = (
            "document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').innerText"
        )
        tab.point("[data-key=gt4]")
        reported = tab.run(tip)
        assert all(
            part in reported
            for part in ("Ground truth 4", "DE", "many-to-one", "detection 2", "0.8925")
        )
        assert tab.run("document.querySelector('[data-key=det2]').classList.contains('partner')")
        tab.point("h1")
        assert tab.run(tip) == ""
        tab.run("document.querySelector('.object[tabindex=\"0\"]').focus()")
        assert "Ground truth 1" in tab.run(tip)
        tab.press("ArrowRight", 39)
        assert "Ground truth 2" in tab.run(tip)
        tab.press("Escape", 27)
        assert tab.run(tip) == ""
        tab.press("Escape", 27)
        tab.wait("location.hash === '#/evaltex' && !!document.querySelector('#images')")
        assert tab.run("document.activeElement.textContent") == "street_sign"

    def test_zoom_by_button_key_and_wheel(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex/street_sign")
        width = "+document.querySelector('svg.canvas').getAttribute('viewBox').split(' ')[2]"
        whole = tab.run(width)
        tab.point("#zoom-in", click=True)
        assert tab.run(width) == pytest.approx(whole / 1.4)
        tab.run("document.querySelector('.object').focus()")
        tab.press("-", 189)
        assert tab.run(width) == pytest.approx(whole)
        tab.call(
            "Input.dispatchMouseEvent",
            type="mouseWheel",
            x=600,
            y=500,
            deltaX=0,
            deltaY=-100,
            modifiers=2,
        )
        tab.wait(f"{width} < {whole}")
        tab.press("0", 48)
        assert tab.run(width) == pytest.approx(whole)

    def test_next_and_previous_follow_the_table(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        order = by_errors(words)
        tab.open(report, f"#/evaltex/{order[1]}")
        tab.point("#next", click=True)
        tab.wait(f"document.querySelector('#image-name').textContent === {json.dumps(order[2])}")
        tab.point("#previous", click=True)
        tab.wait(f"document.querySelector('#image-name').textContent === {json.dumps(order[1])}")

    def test_a_linked_picture_sets_the_size_that_the_input_does_not_state(
        self, tab: Chromium, tmp_path: Path
    ) -> None:
        gt, det = EXAMPLES / "icdar" / "gt.zip", EXAMPLES / "icdar" / "det.zip"
        results = evaluated(gt, det, tmp_path / "res", "-a")
        write(tmp_path / "report.html", [results], gt=gt, det=[det], pictures=EXAMPLES / "pictures")
        name = next(
            n for n in islands(tmp_path / "report.html")["overview"]["images"] if n == "street_sign"
        )
        tab.open(tmp_path / "report.html", f"#/evaltex/{name}")
        tab.wait("document.querySelector('.picture').getAttribute('width') === '400'")
        assert tab.run("document.querySelector('.picture').getAttribute('height')") == "180"

    def test_two_detectors_stand_side_by_side(self, tab: Chromium, two: Path) -> None:
        tab.open(two)
        changes = tab.run(
            "[...document.querySelectorAll('#images tbody td:nth-child(4)')].map((c) =>"
            " c.textContent)"
        )
        numbers = [float(change.replace("−", "-")) for change in changes]
        assert numbers == sorted(numbers)
        assert numbers[0] < 0
        tab.point("#images tbody a", click=True)
        tab.wait("document.querySelectorAll('svg.canvas').length === 2")
        left, right = tab.run(
            "[...document.querySelectorAll('svg.canvas')].map((c) => c.getBoundingClientRect().x)"
        )
        assert left < right
        tab.point("#zoom-in", click=True)
        assert (
            tab.run(
                "new Set([...document.querySelectorAll('svg.canvas')].map((c) =>"
                " c.getAttribute('viewBox'))).size"
            )
            == 1
        )
