"""What holds of every page of a report in a real browser: keys, colours, foreign text, many images."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Chromium
from report_pages import ERRORS, HOSTILE, by_errors, names

from evaltex_cli import evaluate
from evaltex_cli.report import make, read
from evaltex_cli.results import writer
from evaltex_cli.results.extras import Extras


class TestBrowsing:
    def test_errors_only_is_one_switch(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex/shop_front")
        tab.point("#errors", click=True)
        assert tab.run(f"{ERRORS}.map((one) => one.dataset.key)") == ["det7"]
        tab.wait("location.hash === '#/evaltex/shop_front?errors=true'")

    def test_keys_go_through_images_and_errors(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        order = by_errors(words)
        name = "document.querySelector('#image-name').textContent === {}"
        tab.open(report, f"#/evaltex/{order[0]}")
        width = "+document.querySelector('svg.canvas').getAttribute('viewBox').split(' ')[2]"
        whole = tab.run(width)
        tab.press("n", 78)
        tab.wait(name.format(json.dumps(order[1])))
        tab.press("p", 80)
        tab.wait(name.format(json.dumps(order[0])))
        tab.press("e", 69)
        tab.wait("document.activeElement.matches('.object.t4, .object.t5')")
        assert tab.run(width) < whole
        tab.press("e", 69)
        tab.wait(name.format(json.dumps(order[1])))
        tab.wait("document.activeElement.matches('.object.t4, .object.t5')")
        tab.press("0", 48)
        tab.wait("!location.hash.includes('zoom')")
        tab.press("z", 90)
        tab.wait("location.hash.includes('zoom=')")

    def test_an_id_in_the_table_shows_its_object(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex/shop_front")
        tab.point("[data-row=gt5] button", click=True)
        assert tab.run("document.activeElement.dataset.key") == "gt5"

    def test_the_address_has_what_the_reader_chose(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#/evaltex?text=s&type=5&sort=1&descending=true&rows=100&mistakes=table")
        assert tab.run("[filter.value, type.value, rows.value].join()") == "s,5,100"
        assert (
            tab.run("document.querySelector('#images [aria-sort=descending]').textContent")
            == "Recall"
        )
        assert tab.run("document.querySelectorAll('#losses figure').length") == 0
        tab.point("#images tbody a", click=True)
        tab.wait("document.querySelector('#image-name') !== null")
        tab.point("#back", click=True)
        tab.wait("document.querySelector('#filter')?.value === 's'")
        tab.open(report, "#/evaltex/shop_front?zoom=10,20,100,60&hidden=det")
        assert (
            tab.run("document.querySelector('svg.canvas').getAttribute('viewBox')")
            == "10 20 100 60"
        )
        assert tab.run("document.querySelector('.object.det').style.display") == "none"
        for malformed in ("?sort=-7&rows=3&page=x", "?zoom=1,2,-3,0", "?sort=99&type=77&hidden=%"):
            tab.open(report, f"#/evaltex{malformed}")
            tab.open(report, f"#/evaltex/shop_front{malformed}")
            assert tab.complaints == []

    def test_the_worst_images_are_on_the_first_screen(
        self, tab: Chromium, report: Path, words: Path
    ) -> None:
        tab.emulate(1400, 900)
        tab.open(report)
        tab.wait("document.querySelectorAll('.thumbnails a').length > 0")
        shown = tab.run(
            "[...document.querySelectorAll('.thumbnails bdi')].map((one) => one.textContent)"
        )
        assert shown == by_errors(words)[:3]  # the fourth has no error
        assert tab.run("document.querySelector('.thumbnails').getBoundingClientRect().bottom") < 900

    def test_contents_lead_to_every_part(self, tab: Chromium, report: Path) -> None:
        tab.open(report)
        tab.wait("document.querySelectorAll('.thumbnails a').length > 0")
        links = tab.run(
            "[...document.querySelectorAll('#contents a')].map((one) => one.getAttribute('href'))"
        )
        assert links == ["#scores", "#worst", "#losses", "#charts", "#images", "#origin"]
        tab.point("#contents a[href='#images']", click=True)
        assert tab.run("document.activeElement.id") == "images"
        assert tab.run("document.querySelector('#images').getBoundingClientRect().top") < 900

    def test_the_address_of_a_part_opens_the_page_there(self, tab: Chromium, report: Path) -> None:
        tab.open(report, "#images")
        left = "document.documentElement.scrollHeight - scrollY - innerHeight"
        top = "document.querySelector('#images')?.getBoundingClientRect().top"
        assert tab.run(top) < 100 or tab.run(left) <= 1
        tab.run("location.hash = '#main'")  # as the link to skip the header does
        assert tab.run(top) is not None

    def test_the_picture_fits_the_window(self, tab: Chromium, report: Path) -> None:
        for width, height in ((1400, 900), (400, 800)):
            tab.emulate(width, height)
            tab.open(report, "#/evaltex/shop_front")
            assert (
                tab.run("document.querySelector('svg.canvas').getBoundingClientRect().bottom")
                < height
            )


@pytest.mark.parametrize("page", ["report", "masks", "two", "many"])
class TestEveryPage:
    @pytest.mark.parametrize(
        ("width", "height", "scheme"), [(1400, 900, "light"), (400, 800, "dark")]
    )
    def test_has_no_violation_of_accessibility(
        self,
        tab: Chromium,
        request: pytest.FixtureRequest,
        page: str,
        width: int,
        height: int,
        scheme: str,
    ) -> None:
        """The part with the mistakes is all that the second address changes."""
        axe_core = pytest.importorskip("axe_core_python")
        script = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
        tab.emulate(width, height, scheme)
        mistakes = "document.querySelector('#losses') ?? document"
        parts = {"": "document", "?mistakes=table": mistakes, "/street_sign": "document"}
        for address, part in parts.items():
            tab.open(request.getfixturevalue(page), f"#/evaltex{address}")
            tab.run(f"{script};0")
            tab.run(
                "document.querySelectorAll('details').forEach((folded) => { folded.open = true; })"
            )
            tab.wait(
                "[...document.querySelectorAll('details')].every((one) => one.childElementCount >"
                " 1)"
            )
            tab.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            found = tab.run(
                f"axe.run({part})"
                ".then((all) => all.violations.map((one) => [one.id, one.nodes[0].html]))"
            )
            assert found == [], address

    def test_clips_no_table_and_signs_no_zero(
        self, tab: Chromium, request: pytest.FixtureRequest, page: str
    ) -> None:
        tab.emulate(1400, 900)
        for address in ("", "?mistakes=table", "/street_sign"):
            tab.open(request.getfixturevalue(page), f"#/evaltex{address}")
            wide = (
                "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth >"
                " one.clientWidth).length"
            )
            assert tab.run(wide) == 0, address
            assert "±" not in tab.run("document.body.innerText")

    @pytest.mark.parametrize("width", [1400, 400])
    def test_headings_break_between_words(
        self, tab: Chromium, request: pytest.FixtureRequest, page: str, width: int
    ) -> None:
        """A word's characters are in one line: one range around a word has one rectangle. Names of
        detectors may be longer than a column.
        """
        tab.emulate(width, 900)
        tab.open(request.getfixturevalue(page), "#/iou")
        broken = """(() => {
          const broken = [], range = document.createRange();
          const words = /detector|image|errors|recall|precision|harmonic|missed|positive/gi;
          for (const head of document.querySelectorAll("thead th")) {
            const nodes = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
            for (let node = nodes.nextNode(); node; node = nodes.nextNode())
              for (const word of node.data.matchAll(words)) {
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                if (range.getClientRects().length > 1) broken.push(word[0]);
              }
          }
          return broken;
        })()"""
        assert tab.run(broken) == []


class TestHostileData:
    def test_markup_in_names_and_transcriptions_is_text(self, tab: Chromium, hostile: Path) -> None:
        tab.open(hostile)
        assert HOSTILE in tab.run("document.querySelector('h1').textContent")
        tab.run("document.querySelector('#images tbody a').click()")
        tab.wait("!!document.querySelector('svg.canvas')")
        tab.point("[data-key=gt1]")
        assert HOSTILE in tab.run("document.querySelector('#tip').textContent")
        assert HOSTILE in tab.run("document.querySelector('[data-row=gt1]').textContent")
        assert tab.run("document.querySelectorAll('img').length") == 0
        assert "taken" not in tab.run("document.title").replace(HOSTILE, "")


class TestAppearance:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast(self, tab: Chromium, report: Path, scheme: str) -> None:
        """WCAG 2: 4.5 for text, 3 for graphics."""
        tab.emulate(1200, 900, scheme)
        tab.open(report)
        styles = "getComputedStyle(document.documentElement)"
        marks = ("bar", "bar2", *(f"t{k}" for k in range(7)))
        texts = ("text", "quiet", "accent", "good", "bad")
        wanted = ("page", "panel", *texts, *marks)
        colours = {name: tab.run(f"{styles}.getPropertyValue('--{name}')") for name in wanted}
        assert (luminance(colours["page"]) < 0.2) == (scheme == "dark")
        for ground in ("page", "panel"):
            for text in texts:
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
            for mark in marks:
                assert contrast(colours[mark], colours[ground]) >= 3, (mark, ground)

    def test_narrow_windows_do_not_scroll_sideways(self, tab: Chromium, report: Path) -> None:
        tab.emulate(380, 800)
        for address in ("", "#/evaltex/street_sign"):
            tab.open(report, address)
            assert tab.run("document.documentElement.scrollWidth") <= 380

    def test_paper_has_no_controls_and_is_white(self, tab: Chromium, report: Path) -> None:
        tab.emulate(800, 1100, "dark", "print")
        tab.open(report)
        controls = "[...document.querySelectorAll('button, input, select')]"
        shown = (
            f"{controls}.filter((e) => e.offsetParent && !e.closest('th') &&"
            " !e.matches('.plain')).length"
        )
        assert tab.run(shown) == 0
        assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        tab.open(report, "#/evaltex/street_sign")
        assert tab.run(shown) == 0
        assert tab.run("document.querySelectorAll('svg.canvas').length") == 1


def luminance(colour: str) -> float:
    digits = colour.strip().removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    dark, bright = sorted((luminance(a), luminance(b)))
    return (bright + 0.05) / (dark + 0.05)


def many_images(folder: Path, count: int) -> tuple[Path, Path]:
    gt, det = folder / "gt.txt", folder / "det.txt"
    boxes = "".join(f'{k},{k},"word",f,{90 * k},10,80,20\n' for k in range(1, 6))
    found = "".join(f'{k},"",{90 * k},{10 + k},80,20\n' for k in range(1, 5))
    gt.write_text("".join(f"img_{k}\n100,700\n{boxes}\n" for k in range(count)), encoding="utf-8")
    det.write_text("".join(f"img_{k}\n{found}\n" for k in range(count)), encoding="utf-8")
    return gt, det


@pytest.mark.slow
def test_ten_thousand_images(tab: Chromium, tmp_path: Path) -> None:
    gt, det = many_images(tmp_path, 10_000)
    evaluation = evaluate(gt, det, per_image=True)
    with (tmp_path / "evaltex.json").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            writer.document(evaluation, map(writer.json_line, evaluation.images), Extras())
        )
    made = make(tmp_path / "report.html", read([tmp_path], None, gt, [det]))
    assert made.images == 10_000
    assert made.bytes == (tmp_path / "report.html").stat().st_size < 10_000_000
    tab.open(tmp_path / "report.html")
    tab.wait("performance.getEntriesByName('first-contentful-paint').length > 0")
    assert len(names(tab)) == 50
    tab.point("#images th:nth-child(1) button", click=True)
    tab.point("[data-turn=Last]", click=True)
    assert names(tab)[-1] == "img_9999"
    tab.point("#images a[href*=img_9999]", click=True)
    tab.wait("document.querySelectorAll('.object').length === 9")
