"""The page of an audit: what it contains, and how suspects are decided in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import Chromium, find_chromium
from command_line import run
from limits import HANG_SECONDS
from PIL import Image

from evaltex_cli.audit.patches import patch_of
from evaltex_cli.audit.suspects import AuditedObject, Kind, Suspect
from evaltex_cli.conversion.patch_reading import read_patch
from evaltex_cli.conversion.patches import GroundTruth, in_json
from evaltex_cli.errors import InputError
from evaltex_cli.report import audit_page, crops
from evaltex_cli.report.audit_page import KINDS, Audit, write
from evaltex_cli.report.audit_reasons import Detectors, reasons
from evaltex_cli.report.surroundings import Detection, Surroundings

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = '</script><img src="https://example.org/x.png" onerror="document.title=\'taken\'"><!--'
LABELS = ("first", "second", "third")
ALL = Detectors(LABELS, 3, 3)
COLUMNS, SPACE = 10, 60


def square(x: float, y: float, text: str = "", dont_care: bool = False) -> AuditedObject:
    """A box of 40 by 20."""
    return AuditedObject(((x, y), (x + 40, y + 20)), text, dont_care)


def suspect(
    kind: Kind, now: Sequence[AuditedObject], proposed: Sequence[AuditedObject], **given: Any
) -> Suspect:
    values: dict[str, Any] = {
        "image": "street_sign",
        "objects": tuple(range(1, len(now) + 1)),
        "suspicion": 0.9,
        "box": (50, 60, 130, 110),
        "detectors": LABELS,
    } | given
    return Suspect(kind, current=tuple(now), proposed=tuple(proposed), **values)


def one_of_each() -> list[Suspect]:
    """A suspect of each kind, each about other objects."""
    a, b, both = square(60, 70, "ab"), square(100, 70, "cd"), square(60, 70, "abcd")
    cases: dict[Kind, Any] = {
        "missing": ((), (a,)),
        "unfound": ((a,), (square(60, 70, "ab", True),)),
        "misplaced": ((a,), (square(60, 80, "ab"),)),
        "merged": ((both,), (a, b)),
        "split": ((a, b), (both,)),
        "dont-care": ((square(60, 70, "ab", True),), (a,)),
        "text": ((square(60, 70, "abXd"),), (both,)),
        "duplicate": ((a, a), (a,)),
    }
    return [
        suspect(
            kind,
            *case,
            suspicion=(90 - k) / 100,
            objects=tuple(10 * k + number for number in range(len(case[0]))),
            detectors=() if kind in ("unfound", "duplicate") else LABELS,
        )
        for k, (kind, case) in enumerate(cases.items())
    ]


def audit(suspects: Sequence[Suspect], nearby: Sequence[Surroundings] = ()) -> Audit:
    patch = patch_of(GroundTruth(1, 1, "0" * 64), suspects)
    return Audit("gt.txt", ALL, suspects, in_json(patch), nearby)


def around(one: Suspect) -> Surroundings:
    """What is proposed, as every detector has it, and a detection and an object next to it."""
    found = [
        Detection(label, each.vertices, each.text, 0.5) for label in LABELS for each in one.proposed
    ]
    return Surroundings(
        (square(75, 100, "near"),), (*found, Detection("third", square(90, 95).vertices))
    )


def islands(file: Path) -> dict[str, Any]:
    """The page's data, by the element's name."""
    elements = re.findall(
        r'<script type="application/json" id="([\w-]+)">(.*?)</script>',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return {name: json.loads(text) for name, text in elements}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suspect of each kind, with pictures."""
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    suspects = one_of_each()
    write(file, audit(suspects, list(map(around, suspects))), EXAMPLES / "pictures")
    return file


class TestContent:
    def test_it_has_every_suspect_and_the_patch(self, page: Path) -> None:
        data, suspects = islands(page), one_of_each()
        assert [list(KINDS)[kind] for kind in data["audit"]["kind"]] == [
            one.kind for one in suspects
        ]
        assert data["audit"]["suspicion"] == [one.suspicion for one in suspects]
        assert data["patch"] == json.loads("".join(audit(suspects).patch))
        assert [one["proposed"] for one in data["suspects-0"]] == [
            [
                {
                    "shape": [*each.vertices[0], *each.vertices[1]],
                    "text": each.text,
                    "dontCare": each.dont_care,
                }
                for each in one.proposed
            ]
            for one in suspects
        ]

    def test_a_crop_is_the_picture_around_the_suspect(self, page: Path) -> None:
        url, (x0, y0, x1, y1) = islands(page)["crop-0"]
        assert (x0, y0, x1, y1) == (50 - 28, 60 - 28, 130 + 28, 110 + 28)
        with (
            Image.open(io.BytesIO(bytes_of(url))) as crop,
            Image.open(EXAMPLES / "pictures/street_sign.png") as whole,
        ):
            assert crop.size == (x1 - x0, y1 - y0)
            expected = np.asarray(whole.convert("RGB").crop((x0, y0, x1, y1)), int)
            assert np.abs(np.asarray(crop, int) - expected).mean() < 8

    def test_a_crop_ends_at_the_edge_of_the_picture(self, tmp_path: Path) -> None:
        wide = suspect("missing", (), (square(0, 0),), box=(0, 0, 1e6, 40))
        write(tmp_path / "page.html", audit([wide]), EXAMPLES / "pictures")
        url, place = islands(tmp_path / "page.html")["crop-0"]
        assert place == [0, 0, 400, 180]
        with Image.open(io.BytesIO(bytes_of(url))) as crop:
            assert crop.size == (400, 180)

    def test_same_input_same_bytes(self, page: Path, tmp_path: Path) -> None:
        suspects = one_of_each()
        write(
            tmp_path / "again.html",
            audit(suspects, list(map(around, suspects))),
            EXAMPLES / "pictures",
        )
        assert (tmp_path / "again.html").read_bytes() == page.read_bytes()

    def test_pictures_that_cannot_be_read_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "street_sign.png").write_bytes(b"no picture")
        made = write(tmp_path / "page.html", audit(one_of_each()), tmp_path)
        assert (made.suspects, made.crops) == (8, 0)

    def test_too_large_pictures_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(crops, "MOST_PIXELS", 100)
        made = write(tmp_path / "page.html", audit(one_of_each()), EXAMPLES / "pictures")
        assert made.crops == 0

    def test_the_most_suspicious_have_crops(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(audit_page, "MOST_CROPS", 3)
        write(tmp_path / "page.html", audit(one_of_each()), EXAMPLES / "pictures")
        assert [name for name in islands(tmp_path / "page.html") if name.startswith("crop")] == [
            "crop-0",
            "crop-1",
            "crop-2",
        ]

    def test_a_folder_of_other_pictures_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no picture of any image"):
            write(tmp_path / "page.html", audit(one_of_each()), tmp_path)


def bytes_of(url: str) -> bytes:
    return base64.b64decode(url.removeprefix("data:image/jpeg;base64,"))


def test_reasons_say_who_agrees_and_how_well() -> None:
    a, b = square(60, 70, "ab"), square(60, 80, "ab")
    moved = suspect("misplaced", (a,), (b,), detectors=LABELS[:2])
    half = Detection("second", ((60, 80), (100, 90)))
    nearby = Surroundings(
        (), (Detection("first", b.vertices), half, Detection("third", b.vertices))
    )
    ((text, evidence),) = reasons([moved], [nearby], ALL)
    assert text == (
        "2 of 3 detectors agree with each other better than with this object. What they find overlaps"
        " the proposal by 0.75 (mean IoU), the object as it is by 0.42."
    )
    assert evidence == [0, 1]  # of the detectors that agree, what is on the object
    ((text, evidence),) = reasons([moved], [Surroundings()], ALL)
    assert text == "2 of 3 detectors agree with each other better than with this object."
    assert evidence == []


# In a browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("no chromium is installed")
    chromium = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


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
