"""The report in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
from chromium import Chromium
from report_pages import HOSTILE, data_of

VISIBLE = "[...document.querySelectorAll('.object')].filter((one) => one.getBoundingClientRect().width).length"


def texts(tab: Chromium, selector: str) -> list[str]:
    found: list[str] = tab.run(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)"
    )
    return found


def names(tab: Chromium) -> list[str]:
    return texts(tab, "#index tbody a")


class TestOverview:
    def test_images_come_by_errors_and_are_sorted_by_a_heading(
        self, tab: Chromium, report: Path
    ) -> None:
        tab.open(report, "#protocol=iou-crw")
        errors = [int(text) for text in texts(tab, "#index tbody td:nth-child(2)")]
        assert errors == sorted(errors, reverse=True) and errors[0] > 0
        tab.point("#index th:nth-child(3) button", click=True)
        recall = [float(text) for text in texts(tab, "#index tbody td:nth-child(3)")]
        assert recall == sorted(recall)
        tab.press("Enter", 13)
        recall = [float(text) for text in texts(tab, "#index tbody td:nth-child(3)")]
        assert recall == sorted(recall, reverse=True)
        tab.point("#index th:first-child button", click=True)
        assert names(tab) == sorted(names(tab))

    def test_images_are_filtered_by_name_and_kind(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#protocol=iou-crw")
        tab.run("document.getElementById('kind').value = '7'")
        tab.run(
            "document.getElementById('kind').dispatchEvent(new Event('input', {bubbles: true}))"
        )
        expected = {
            image["name"]
            for image in data_of(report)["images"]
            if any(one[0] == 7 for one in image["results"][1][0]["gt"])
        }
        assert set(names(tab)) == expected
        tab.run("document.getElementById('filter').value = 'SIGN'")
        tab.run(
            "document.getElementById('filter').dispatchEvent(new Event('input', {bubbles: true}))"
        )
        assert names(tab) == ["street_sign"] and texts(tab, "#matching") == ["1 of 4 images"]

    def test_a_protocol_is_chosen(self, tab: Chromium, report: Path) -> None:
        tab.open(report)
        shown = "[...document.querySelectorAll('[data-protocol]')].map((one) => one.hidden)"
        assert tab.run(shown) == [False, True, False, True]
        tab.point("[name=protocol][value='iou-crw']", click=True)
        tab.wait("document.querySelector('[data-protocol]').hidden")
        assert tab.run(shown) == [True, False, True, False]

    def test_detectors_are_compared(self, tab: Chromium, two: Path) -> None:
        tab.open(two)
        changes = [float(text) for text in texts(tab, "#index tbody td:last-child")]
        assert changes == sorted(changes) and changes[0] < 0
        tab.point("#index tbody a", click=True)
        tab.wait("document.querySelectorAll('.canvas').length === 2")


class TestImage:
    def test_objects_are_drawn_with_their_kinds(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#protocol=iou-crw&image=street_sign")
        image = next(one for one in data_of(report)["images"] if one["name"] == "street_sign")
        result = image["results"][1][0]
        for side in ("gt", "det"):
            for kind in range(8):
                expected = sum(one[0] == kind for one in result[side])
                drawn = f"document.querySelectorAll('.object.{side}.k{kind}').length"
                assert tab.run(drawn) == expected
        assert tab.run("document.querySelector('.photo').getBoundingClientRect().width") > 300

    def test_a_click_shows_values_and_partners(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#protocol=iou-crw&image=street_sign")
        tab.point("tr.gt:nth-child(3) button", click=True)
        assert texts(tab, ".facts") == [
            "Ground truth 3 RUE: one-to-one, detections 1, iou 1.0000, text correct 1.0000"
        ]
        assert texts(tab, "tr.partner td:first-child") == ["1"]

    def test_kinds_are_filtered(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#protocol=iou-crw&image=street_sign")
        every = tab.run(VISIBLE)
        tab.press("o", 79)
        errors = tab.run(VISIBLE)
        assert 0 < errors < every
        assert errors == tab.run("document.querySelectorAll('.object:is(.k4, .k5, .k7)').length")
        tab.point("#show-gt", click=True)
        assert tab.run(VISIBLE) < errors
        tab.point("#show-gt", click=True)
        tab.press("o", 79)
        assert tab.run(VISIBLE) == every
        tab.point("#show-k0", click=True)
        assert tab.run(VISIBLE) == every - tab.run("document.querySelectorAll('.object.k0').length")

    def test_keys_walk_and_zoom(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#protocol=iou-crw")
        order = names(tab)
        tab.point("#index tbody a", click=True)
        tab.wait("!document.getElementById('viewer').hidden")
        assert texts(tab, "#name") == order[:1]
        width = "document.querySelector('.canvas').scrollWidth"
        whole = tab.run(width)
        tab.press("e", 69)
        assert tab.run("document.querySelector('.object.selected').classList.contains('error')")
        assert tab.run(width) > whole
        tab.press("0", 48)
        assert tab.run(width) == whole
        tab.press("n", 78)
        tab.wait(f"document.getElementById('name').textContent === {json.dumps(order[1])}")
        tab.press("Escape", 27)
        tab.wait("document.getElementById('viewer').hidden")
        assert tab.run("document.activeElement.textContent") == order[1]


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
@pytest.mark.parametrize("page", ["report", "two", "hostile"])
def test_has_no_violation_of_accessibility(
    tab: Chromium, request: pytest.FixtureRequest, page: str, width: int, scheme: str
) -> None:
    axe_core = pytest.importorskip("axe_core_python")
    script = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    file = request.getfixturevalue(page)
    tab.emulate(width, 900, scheme)
    for address in ("", "#" + urlencode({"image": data_of(file)["images"][0]["name"]})):
        tab.open(file, address)
        tab.run(f"{script};0")
        tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = tab.run(
            "axe.run().then((all) => all.violations.map((one) => [one.id, one.nodes[0].html]))"
        )
        assert found == [], address
        assert tab.run("document.documentElement.scrollWidth") <= width


def test_markup_in_names_and_transcriptions_is_text(tab: Chromium, hostile: Path) -> None:
    tab.open(hostile)
    assert names(tab) == [HOSTILE.replace("/", "")]
    tab.point("#index tbody a", click=True)
    tab.wait("document.querySelectorAll('.object').length > 0")
    assert HOSTILE in texts(tab, "td bdi")
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert tab.run("document.title").startswith("Text detection")
