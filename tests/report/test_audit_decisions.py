"""Suspects on the page of an audit are decided in a real browser."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from audit_pages import ALL, LABELS, around, audit, one_of_each, square, suspect
from chromium import Chromium
from command_line import run
from limits import HANG_SECONDS
from PIL import Image

from evaltex_cli.audit.patches import read_patch
from evaltex_cli.report.audit_page import KINDS, Audit, write
from evaltex_cli.report.audit_reasons import Detectors, reasons
from evaltex_cli.report.surroundings import Detection, Surroundings

HOSTILE = '</script><img src="https://example.org/x.png" onerror="document.title=\'taken\'"><!--'
COLUMNS, SPACE = 10, 60


@pytest.fixture
def tab(browser: Chromium, tmp_path: Path) -> Iterator[Chromium]:
    """The browser, which saves to `tmp_path`; afterwards it must not have complained, nor asked for
    anything but files of this machine.
    """
    browser.emulate(1200, 900)
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    yield browser
    assert browser.complaints == []
    foreign = [
        url for url in browser.requests if not url.startswith(("file:", "data:", "about:", "blob:"))
    ]
    assert foreign == []


def press(tab: Chromium, keys: str) -> None:
    for key in keys:
        tab.press(key, ord(key.upper()))


def text(tab: Chromium, id_: str) -> str:
    shown: str = tab.run(f"document.getElementById('{id_}').textContent")
    return shown


def saved(tab: Chromium, folder: Path) -> Path:
    """Press the key that saves, and wait for the file."""
    press(tab, "s")
    file, end = folder / "patch.json", time.monotonic() + HANG_SECONDS
    while not file.exists():
        assert time.monotonic() < end, "nothing was saved"
        time.sleep(0.02)
    return file


class TestBrowser:
    def test_it_shows_what_is_there_what_is_proposed_and_why(
        self, tab: Chromium, page: Path
    ) -> None:
        tab.open(page)
        for k, one in enumerate(one_of_each()):
            assert text(tab, "title") == f"{KINDS[one.kind]} in street_sign"
            assert f"Suspicion {one.suspicion:.2f}" in text(tab, "about")
            ((reason, _),) = reasons([one], [around(one)], ALL)
            assert reason in text(tab, "about")
            for kind, objects in (("now", one.current), ("proposed", one.proposed)):
                drawn = f"document.querySelectorAll('figure.{kind} svg.crop .object.{kind}').length"
                assert tab.run(drawn) == len(objects)
                listed = tab.run(
                    f"[...document.querySelectorAll('figure.{kind} .texts bdi')].map((one) => one.textContent)"
                )
                assert listed == [each.text for each in objects]
            assert tab.run("document.querySelectorAll('figure.now svg.crop image').length") == 1
            single = 1 if one.detectors else 1 + len(around(one).detections[:-1])
            found = "document.querySelectorAll('figure.now svg.crop .single').length"
            assert tab.run(found) == single
            if k < 7:
                press(tab, "n")
        assert tab.run("document.getElementById('next').disabled")

    def test_a_changed_transcription_is_marked(self, tab: Chromium, page: Path) -> None:
        tab.open(page)
        press(tab, "n" * 6)
        marks = "[...document.querySelectorAll('mark')].map((one) => one.textContent)"
        assert tab.run(marks) == ["X", "c"]

    def test_keys_decide_undo_and_filter(self, tab: Chromium, page: Path, tmp_path: Path) -> None:
        tab.open(page)
        press(tab, "arn")
        assert text(tab, "decided") == "2 of 8 decided: 1 accepted, 1 rejected"
        assert text(tab, "title").startswith("Merged")
        press(tab, "ppr")
        assert text(tab, "decided") == "2 of 8 decided: 1 accepted, 1 rejected"
        assert text(tab, "title").startswith("Misplaced")
        press(tab, "uu")
        assert text(tab, "decided") == "1 of 8 decided: 1 accepted, 0 rejected"
        tab.run("document.querySelectorAll('[name=kind]')[4].click()")
        assert text(tab, "title").startswith("Merged")
        assert tab.run("document.querySelectorAll('#list li').length") == 1
        press(tab, "a")
        assert "All of these are decided" in text(tab, "message")
        tab.run("document.querySelectorAll('[name=kind]')[0].click()")
        tab.run("document.getElementById('undecided').click()")
        assert tab.run("document.querySelectorAll('#list li').length") == 6
        press(tab, "uu")
        assert text(tab, "decided").startswith("0 of 8")

    def test_an_object_is_changed_once(self, tab: Chromium, tmp_path: Path) -> None:
        """`convert` refuses two accepted changes of an object."""
        a = square(60, 70, "ab")
        rivals = [
            suspect("text", (a,), (square(60, 70, "xy"),)),
            suspect("misplaced", (a,), (square(60, 80, "ab"),)),
            suspect("misplaced", (a,), (square(60, 80, "ab"),), image="other"),
        ]
        write(tmp_path / "page.html", audit(rivals))
        tab.open(tmp_path / "page.html")
        press(tab, "a")
        assert text(tab, "decided") == "2 of 3 decided: 1 accepted, 1 rejected"
        assert "Rejected 1 other change of the same object." in text(tab, "message")
        press(tab, "pa")
        assert [one.accept for one in read_patch(saved(tab, tmp_path)).entries] == [
            False,
            True,
            False,
        ]

    def test_a_saved_patch_is_opened_again(self, tab: Chromium, page: Path, tmp_path: Path) -> None:
        tab.open(page)
        press(tab, "arna")
        file = saved(tab, tmp_path)
        tab.open(page)
        assert text(tab, "decided").startswith("0 of 8")
        give(tab, file)
        tab.wait("document.getElementById('decided').textContent.startsWith('3 of 8')")
        assert text(tab, "decided") == "3 of 8 decided: 2 accepted, 1 rejected"
        assert text(tab, "title").startswith("Misplaced")
        file.write_text(file.read_text().replace('"ab"', '"b"'))
        give(tab, file)
        tab.wait(
            "document.getElementById('message').textContent.includes('is not a patch of this audit')"
        )
        assert text(tab, "decided").startswith("3 of 8")

    def test_shapes_are_hidden_by_keys(self, tab: Chromium, page: Path) -> None:
        tab.open(page)
        visible = "[...document.querySelectorAll('figure.proposed svg.crop .object')].filter((one) => one.getBoundingClientRect().width).length"
        assert tab.run(visible) == 6
        for key, left in (("d", 2), ("o", 1), ("h", 0)):
            press(tab, key)
            assert tab.run(visible) == left

    @pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
    def test_has_no_violation_of_accessibility(
        self, tab: Chromium, page: Path, width: int, scheme: str
    ) -> None:
        axe_core = pytest.importorskip("axe_core_python")
        script = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
        tab.emulate(width, 900, scheme)
        tab.open(page)
        press(tab, "arn")
        tab.run(f"{script};0")
        found = tab.run(
            "axe.run().then((all) => all.violations.map((one) => [one.id, one.nodes[0].html]))"
        )
        wide = tab.run("document.documentElement.scrollWidth")
        press(tab, "uu")  # else the browser asks before it goes on
        assert found == []
        assert wide <= width

    def test_markup_in_names_and_transcriptions_is_text(
        self, tab: Chromium, tmp_path: Path
    ) -> None:
        a = square(60, 70, HOSTILE)
        one = suspect("text", (a,), (square(60, 70, "x"),), image=HOSTILE, detectors=(HOSTILE,))
        hostile = Audit(
            HOSTILE,
            Detectors((HOSTILE,), 1, 1),
            [one],
            audit([one]).patch,
            [Surroundings((a,), (Detection(HOSTILE, a.vertices, HOSTILE),))],
        )
        write(tmp_path / "page.html", hostile)
        tab.open(tmp_path / "page.html")
        for id_ in ("header", "about", "pictures", "detections", "list"):
            assert HOSTILE in text(tab, id_)
        assert tab.run("document.querySelectorAll('img').length") == 0
        assert tab.run("document.title") == f"evaltex audit: {HOSTILE}"

    def test_without_suspects_it_says_so(self, tab: Chromium, tmp_path: Path) -> None:
        write(tmp_path / "page.html", audit([]))
        tab.open(tmp_path / "page.html")
        assert text(tab, "main") == "No place of the ground truth is suspect."


def give(tab: Chromium, file: Path) -> None:
    """Choose a file in the page's field for one."""
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    node = tab.call("DOM.querySelector", nodeId=root, selector="#open")["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])


def page_of_words(folder: Path, count: int) -> tuple[Path, list[Path]]:
    """A ground truth, and three detectors that find other words, each two pixels off."""
    gt, detectors = folder / "gt.txt", [folder / f"{label}.txt" for label in LABELS]
    places = [(SPACE * (k % COLUMNS), SPACE * (k // COLUMNS)) for k in range(count)]
    objects = [f'{k + 1},{k + 1},"w{k}",f,{x},{y},40,20' for k, (x, y) in enumerate(places)]
    gt.write_text("img_1\n2000,800\n" + "\n".join(objects) + "\n")
    for at, file in enumerate(detectors):
        found = [f'{k + 1},"w{k}",{x + at},{y + 12 + at},40,20' for k, (x, y) in enumerate(places)]
        file.write_text("img_1\n" + "\n".join(found) + "\n")
    return gt, detectors


def test_fifty_suspects_decided_by_keyboard_change_exactly_these(
    tab: Chromium, tmp_path: Path
) -> None:
    gt, detectors = page_of_words(tmp_path, 60)
    run(
        "audit",
        gt,
        *detectors,
        "--report",
        tmp_path / "audit.html",
        "--patch",
        tmp_path / "all.json",
    )
    tab.open(tmp_path / "audit.html")
    entries = read_patch(tmp_path / "all.json").entries
    assert len(entries) >= 50
    keys = ["a" if k % 3 else "r" for k in range(50)]
    press(tab, "".join(keys))
    patch = saved(tab, tmp_path)
    accepted = [one.accept for one in read_patch(patch).entries]
    decided = json.loads(patch.read_text())["suspects"]
    assert sum(one.get("decided", False) for one in decided) == int(text(tab, "decided").split()[0])
    run("convert", gt, tmp_path / "new.txt", "--patch", patch)
    expected = {
        number
        for entry, is_accepted in zip(entries, accepted, strict=True)
        if is_accepted
        for number in entry.objects
    }
    old, new = (lines(path) for path in (gt, tmp_path / "new.txt"))
    changed = {number for number in old if new.get(number) != old[number]}
    assert changed == expected
    assert set(new) == set(old)
    assert accepted[:50] == [key == "a" for key in keys]


def lines(file: Path) -> dict[int, list[str]]:
    """The objects of a file, by their IDs."""
    found = [line.split(",") for line in file.read_text().splitlines()[2:] if line]
    return {int(one[0]): one[2:] for one in found}


@pytest.mark.slow
def test_five_thousand_suspects_open_in_a_second(tab: Chromium, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (60, 80, 3)).astype(np.uint8)
    Image.fromarray(noise).resize((1600, 1200)).save(tmp_path / "street_sign.png")
    some = one_of_each()
    suspects = [
        suspect(
            one.kind,
            one.current,
            one.proposed,
            suspicion=1 - k / 5000,
            box=(7 * (k % 200), k // 5, 7 * (k % 200) + 80, k // 5 + 40),
            objects=(k,) * bool(one.objects),
        )
        for k in range(5000)
        for one in [some[k % 3]]
    ]
    made = write(tmp_path / "page.html", audit(suspects, list(map(around, suspects))), tmp_path)
    assert made.crops == 5000
    tab.open(tmp_path / "page.html")
    tab.wait("performance.getEntriesByName('first-contentful-paint').length > 0")
    assert tab.run("performance.getEntriesByName('first-contentful-paint')[0].startTime") < 1000
    assert tab.run("document.querySelectorAll('figure svg.crop image').length") == 2
    press(tab, "ar")
    assert text(tab, "decided").startswith("2 of 5000")
    press(tab, "uu")
