"""The page of an audit: its data, its crops and reasons, and how suspects are decided on it."""

from __future__ import annotations

import base64
import io
import json
import time
from pathlib import Path

import numpy as np
import pytest
from audit_pages import LABELS, one_of_each, square, suspect, write
from chromium import Chromium
from command_line import run
from limits import HANG_SECONDS
from PIL import Image
from report_pages import EXAMPLES, HOSTILE, data_of

from evaltex_cli.audit.audit import audit
from evaltex_cli.audit.patches import read_patch
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.report import audit_page
from evaltex_cli.report.audit_page import KINDS


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suspect of each kind, with pictures."""
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    write(file, one_of_each(), EXAMPLES / "pictures")
    return file


class TestContent:
    def test_it_has_every_suspect_and_what_is_near(self, page: Path) -> None:
        data, suspects = data_of(page), one_of_each()
        assert [one["kind"] for one in data["patch"]["suspects"]] == [one.kind for one in suspects]
        for shown, one in zip(data["evidence"], suspects, strict=True):
            assert [each["text"] for each in shown["near"]] == ["near"]
            assert [each["by"] for each in shown["found"]] == list(LABELS)
            agree = [each["by"] for each in shown["found"] if each["agrees"]]
            assert agree == list(one.detectors)

    def test_a_crop_is_the_picture_around_the_suspect(self, page: Path) -> None:
        url, (x0, y0, x1, y1) = data_of(page)["evidence"][0]["crop"]
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
        write(tmp_path / "page.html", [wide], EXAMPLES / "pictures")
        _, place = data_of(tmp_path / "page.html")["evidence"][0]["crop"]
        assert place == [0, 0, 400, 180]

    def test_pictures_that_cannot_be_read_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "street_sign.png").write_bytes(b"no picture")
        assert write(tmp_path / "page.html", one_of_each(), tmp_path) == 0
        with pytest.raises(InputError, match="holds no picture of any image"):
            write(tmp_path / "page.html", [suspect("missing", (), (), image="other")], tmp_path)


def bytes_of(url: str) -> bytes:
    return base64.b64decode(url.removeprefix("data:image/jpeg;base64,"))


def test_reasons_say_who_agrees_and_how_well(tmp_path: Path) -> None:
    """Each word is four pixels off its three detections, which are a pixel off each other."""
    gt, detectors = page_of_words(tmp_path, 9)
    found = audit({one.stem: open_inputs(gt, one, InputOptions()) for one in detectors}, {})
    moved = found.suspects[0]
    shared = 39 * 19  # of two boxes of 40 by 20 that are a pixel apart
    assert moved.iou == pytest.approx(shared / (1600 - shared))
    assert audit_page.reason(moved, found) == (
        "3 of 3 detectors agree with each other better than with this object. The mean IoU of their"
        f" outlines is {moved.iou:.2f}."
    )


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


def choose_kind(tab: Chromium, kind: str) -> None:
    tab.run(f"document.getElementById('kind').value = '{kind}'")
    tab.run("document.getElementById('kind').dispatchEvent(new Event('change'))")


def give(tab: Chromium, file: Path) -> None:
    """Choose a file in the page's field for one."""
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    node = tab.call("DOM.querySelector", nodeId=root, selector="#open")["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])


class TestBrowser:
    def test_it_shows_what_is_there_what_is_proposed_and_why(
        self, tab: Chromium, page: Path
    ) -> None:
        tab.open(page)
        for k, one in enumerate(one_of_each()):
            assert text(tab, "title") == f"{KINDS[one.kind]} in street_sign"
            assert f"Suspicion {one.suspicion:.2f}" in text(tab, "about")
            for kind, objects in (("current", one.current), ("proposed", one.proposed)):
                drawn = f"document.querySelectorAll('.canvas .object.{kind}').length"
                assert tab.run(drawn) == len(objects)
            assert tab.run("document.querySelectorAll('.canvas image').length") == 2
            assert tab.run("document.querySelectorAll('.canvas .agreeing').length") == 2 * len(
                one.detectors
            )
            if k < 7:
                press(tab, "n")
        assert tab.run("document.getElementById('next').disabled")

    def test_a_changed_transcription_is_marked(self, tab: Chromium, page: Path) -> None:
        tab.open(page)
        press(tab, "n" * 6)
        marks = "[...document.querySelectorAll('mark')].map((one) => one.textContent)"
        assert tab.run(marks) == ["X", "c"]

    def test_keys_decide_and_undo_and_kinds_are_filtered(self, tab: Chromium, page: Path) -> None:
        tab.open(page)
        press(tab, "arn")
        assert text(tab, "decided") == "2 of 8 decided: 1 accepted, 1 rejected"
        assert text(tab, "title").startswith("Merged")
        press(tab, "ppr")
        assert text(tab, "decided") == "2 of 8 decided: 1 accepted, 1 rejected"
        assert text(tab, "title").startswith("Misplaced")
        press(tab, "uu")
        assert text(tab, "decided") == "1 of 8 decided: 1 accepted, 0 rejected"
        choose_kind(tab, "merged")
        assert text(tab, "title").startswith("Merged")
        assert tab.run("document.querySelectorAll('#list button:not([hidden])').length") == 1
        press(tab, "a")
        assert "All of these are decided" in text(tab, "message")
        assert tab.run("document.querySelectorAll('#list .Accepted').length") == 2
        choose_kind(tab, "")
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
        write(tmp_path / "page.html", rivals)
        tab.open(tmp_path / "page.html")
        press(tab, "a")
        assert text(tab, "decided") == "2 of 3 decided: 1 accepted, 1 rejected"
        assert "Rejected 1 other change of the same object." in text(tab, "message")
        press(tab, "pa")
        accepted = [one.accept for one in read_patch(saved(tab, tmp_path)).suspects]
        assert accepted == [False, True, False]

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
        message = "document.getElementById('message').textContent"
        tab.wait(f"{message}.includes('is not a patch of this audit')")
        assert text(tab, "decided").startswith("3 of 8")

    def test_shapes_are_hidden_by_keys(self, tab: Chromium, page: Path) -> None:
        tab.open(page)
        visible = "[...document.querySelectorAll('.canvas .object')].filter((one) => one.getBoundingClientRect().width).length"
        assert tab.run(visible) == 9
        for key, left in (("d", 3), ("o", 1), ("h", 0)):
            press(tab, key)
            assert tab.run(visible) == left

    @pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
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
        write(tmp_path / "page.html", [one], labels=(HOSTILE,), text=HOSTILE)
        tab.open(tmp_path / "page.html")
        for id_ in ("main", "about", "pictures", "detections", "list"):
            assert HOSTILE in text(tab, id_)
        assert tab.run("document.querySelectorAll('img').length") == 0
        assert tab.run("document.title") == "Audit of gt.txt"

    def test_without_suspects_it_says_so(self, tab: Chromium, tmp_path: Path) -> None:
        write(tmp_path / "page.html", [])
        tab.open(tmp_path / "page.html")
        assert "No place of the ground truth is suspect." in text(tab, "main")

    def test_suspects_decided_by_keyboard_change_exactly_these(
        self, tab: Chromium, tmp_path: Path
    ) -> None:
        gt, detectors = page_of_words(tmp_path, 60)
        page, every = tmp_path / "audit.html", tmp_path / "all.json"
        run("audit", gt, *detectors, "--report", page, "--patch", every)
        tab.open(page)
        assert len(read_patch(every).suspects) >= 50
        keys = ["a" if k % 3 else "r" for k in range(50)]
        press(tab, "".join(keys))
        patch = saved(tab, tmp_path)
        decided = json.loads(patch.read_text())["suspects"]
        count = sum(one.get("decided", False) for one in decided)
        assert count == int(text(tab, "decided").split()[0])
        entries = read_patch(patch).suspects
        assert [one.accept for one in entries[:50]] == [key == "a" for key in keys]
        run("convert", gt, tmp_path / "new.txt", "--patch", patch)
        expected = {number for one in entries if one.accept for number in one.objects}
        old, new = (lines(path) for path in (gt, tmp_path / "new.txt"))
        assert {number for number in old if new.get(number) != old[number]} == expected
        assert set(new) == set(old)


def page_of_words(folder: Path, count: int) -> tuple[Path, list[Path]]:
    """A ground truth, and three detectors that find its words elsewhere, each two pixels off."""
    gt, detectors = folder / "gt.txt", [folder / f"{label}.txt" for label in LABELS]
    places = [(60 * (k % 10), 60 * (k // 10)) for k in range(count)]
    objects = [f'{k + 1},{k + 1},"w{k}",f,{x},{y},40,20' for k, (x, y) in enumerate(places)]
    gt.write_text("img_1\n2000,800\n" + "\n".join(objects) + "\n")
    for at, file in enumerate(detectors):
        found = [f'{k + 1},"w{k}",{x + at},{y + 12 + at},40,20' for k, (x, y) in enumerate(places)]
        file.write_text("img_1\n" + "\n".join(found) + "\n")
    return gt, detectors


def lines(file: Path) -> dict[int, list[str]]:
    """The objects of a file, by their IDs."""
    found = [line.split(",") for line in file.read_text().splitlines()[2:] if line]
    return {int(one[0]): one[2:] for one in found}
