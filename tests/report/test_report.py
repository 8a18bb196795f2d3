"""The HTML report: what it holds, what it refuses, and which pictures it has."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from report_pages import EXAMPLES, HOSTILE, PNG, evaluated, islands, sources, write

from evaltex_cli.cli import main
from evaltex_cli.comparison import comparison, detector_results
from evaltex_cli.errors import InputError
from evaltex_cli.report import inputs, read, skeleton
from evaltex_cli.results import significance
from evaltex_cli.results.extras import Bootstrap


class TestContent:
    def test_scores_intervals_and_histograms_are_the_results(
        self, words: Path, report: Path
    ) -> None:
        document = json.loads((words / "evaltex.json").read_bytes())
        system = islands(report)["protocol-0"]["systems"][0]
        scalars = {
            name: value for name, value in document["scores"].items() if not isinstance(value, list)
        }
        assert system["scores"] == scalars
        stored = detector_results.stored(words / "evaltex.json", "words")[0]
        expected, _ = significance.intervals(
            stored.rows, stored.score, Bootstrap(0.95, significance.RESAMPLES, 0)
        )
        assert system["intervals"] == {
            name: list(bounds) if bounds else None for name, bounds in expected.items()
        }
        assert [one["name"] for one in system["histograms"]] == [
            "coverage_histogram",
            "accuracy_histogram",
        ]
        assert system["histograms"][0]["shares"] == document["scores"]["coverage_histogram"]
        assert system["histograms"][0]["counts"] == document["totals"]["coverage_bins"]

    def test_intervals_and_gates_of_the_run_are_shown_as_they_are(self, tmp_path: Path) -> None:
        gt, det = EXAMPLES / "words" / "gt.txt", EXAMPLES / "words" / "det.txt"
        evaluated(
            gt,
            det,
            tmp_path / "res",
            "-a",
            "--ci",
            "0.8",
            "--resamples",
            "20",
            "--fail-if",
            "recall<0.1",
        )
        write(tmp_path / "report.html", [tmp_path / "res"])
        document = json.loads((tmp_path / "res" / "evaltex.json").read_bytes())
        data = islands(tmp_path / "report.html")
        assert data["protocol-0"]["systems"][0]["intervals"] == document["intervals"]
        assert data["protocol-0"]["level"] == 0.8
        assert data["overview"]["gates"] == [document["gates"]] != [[]]

    def test_every_image_has_its_scores_objects_and_matches(
        self, words: Path, report: Path
    ) -> None:
        data = islands(report)
        for k, name in enumerate(data["overview"]["protocols"]):
            document = json.loads((words / f"{name}.json").read_bytes())
            index = data[f"protocol-{k}"]["images"][0]
            assert data["overview"]["images"] == [image["name"] for image in document["images"]]
            for at, image in enumerate(document["images"]):
                shown = {score: values[at] for score, values in index["scores"].items()}
                assert shown == {score: image["scores"][score] for score in shown}
                matches = data["images-0"][at]["matches"][k][0]
                for side, entries in (("gt", image["objects"]), ("det", image["detections"])):
                    values = {key: [one[key] for one in entries] for key in matches[side]["values"]}
                    assert values == matches[side]["values"]  # the page rounds, and only the page
                    codes = [data["overview"]["matchTypes"][code] for code in matches[side]["type"]]
                    assert codes == [entry["match"] for entry in entries]
                missed = data["overview"]["matchTypes"].index("missed")
                assert index["counts"][missed][at] == sum(
                    entry["match"] == "missed" for entry in image["objects"]
                )

    @pytest.mark.parametrize("example", ["words", "polygons"])
    def test_shapes_and_transcriptions_are_the_input(self, example: str, tmp_path: Path) -> None:
        gt, det = EXAMPLES / example / "gt.txt", EXAMPLES / example / "det.txt"
        write(
            tmp_path / "report.html", [evaluated(gt, det, tmp_path / "res", "-a")], gt=gt, det=[det]
        )
        expected = []
        for line in gt.read_text(encoding="utf-8").splitlines():
            if found := re.fullmatch(r'(\d+),\d+,"(.*)",[tf],([\d,]+)', line):
                shape = [int(number) for number in found[3].split(",")]
                if len(shape) == 4:
                    shape = [shape[0], shape[1], shape[0] + shape[2], shape[1] + shape[3]]
                expected.append((int(found[1]), found[2], shape))
        images = islands(tmp_path / "report.html")["images-0"]
        assert expected
        assert [
            row
            for image in images
            for row in zip(
                image["gt"]["id"], image["gt"]["text"], image["gt"]["shape"], strict=True
            )
        ] == expected
        assert images[0]["size"] == [400, 180]

    def test_a_comparison_shows_both_detectors_and_their_differences(
        self, words: Path, rival: tuple[Path, Path], tmp_path: Path
    ) -> None:
        det, results = rival
        example = sources("words")
        write(
            tmp_path / "report.html", [words, results], gt=example["gt"], det=[*example["det"], det]
        )
        data = islands(tmp_path / "report.html")
        assert data["overview"]["systems"] == ["words", "rival"]
        assert data["overview"]["protocols"] == ["evaltex"]
        systems = [
            detector_results.stored(words / "evaltex.json", "words")[0],
            detector_results.stored(results, "rival")[0],
        ]
        expected = {score.score: score.differences for score in comparison.compare(systems).scores}
        assert {
            row["score"]: row["differences"] for row in data["protocol-0"]["comparison"]
        } == expected
        first = data["images-0"][0]
        assert (
            len(first["det"][1]["id"])
            == len(first["det"][1]["shape"])
            == len(first["det"][0]["id"]) - 1
        )

    def test_results_without_images_still_make_a_report(self, tmp_path: Path) -> None:
        example = sources("words")
        evaluated(example["gt"], example["det"][0], tmp_path / "res")
        made = write(tmp_path / "report.html", [tmp_path / "res"])
        assert (made.images, read([tmp_path / "res"]).without_images) == (0, [tmp_path / "res"])
        reported = CliRunner().invoke(main, ["report", str(tmp_path / "res")])
        assert reported.exit_code == 0
        assert reported.stderr == (
            f"evaltex: warning: {tmp_path / 'res'}: holds no results of single images, so the page"
            " has none; make it again with -a\n"
        )
        assert reported.stdout.endswith(" MB, 0 images, 0 pictures)\n")
        assert islands(tmp_path / "report.html")["protocol-0"]["systems"][0]["scores"]["recall"] > 0
        with pytest.raises(InputError, match="run that evaluation again with -a"):
            write(tmp_path / "report.html", [tmp_path / "res"], **example)

    def test_same_input_same_bytes(self, words: Path, report: Path, tmp_path: Path) -> None:
        write(
            tmp_path / "again.html",
            [words],
            **sources("words"),
            pictures=EXAMPLES / "pictures",
            embed=True,
        )
        assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


class TestRefusals:
    def test_input_that_was_not_evaluated(self, words: Path, tmp_path: Path) -> None:
        example, other = sources("words"), sources("polygons")
        with pytest.raises(InputError, match=r"polygons.gt\.txt: is not what was evaluated"):
            write(tmp_path / "report.html", [words], gt=other["gt"], det=example["det"])
        with pytest.raises(InputError, match=r"polygons.det\.txt: is not what was evaluated"):
            write(tmp_path / "report.html", [words], gt=example["gt"], det=other["det"])
        assert not list(tmp_path.iterdir())

    def test_one_side_alone(self, words: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="give --gt and one --det for each"):
            write(tmp_path / "report.html", [words], gt=sources("words")["gt"])

    def test_a_folder_without_results(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no results"):
            write(tmp_path / "report.html", [tmp_path])

    def test_a_folder_of_results_of_different_runs(self, words: Path, tmp_path: Path) -> None:
        (tmp_path / "evaltex.json").write_bytes((words / "evaltex.json").read_bytes())
        other = sources("polygons")
        evaluated(other["gt"], other["det"][0], tmp_path / "res", "-a", "--protocol", "icdar2013")
        (tmp_path / "icdar2013.json").write_bytes(
            (tmp_path / "res" / "icdar2013.json").read_bytes()
        )
        with pytest.raises(
            InputError, match="evaltex and icdar2013 are results of different inputs"
        ):
            write(tmp_path / "report.html", [tmp_path])

    def test_detectors_on_different_ground_truths(self, words: Path, tmp_path: Path) -> None:
        other = sources("polygons")
        evaluated(other["gt"], other["det"][0], tmp_path / "res", "-a")
        with pytest.raises(InputError, match="different ground truths"):
            write(tmp_path / "report.html", [words, tmp_path / "res"])

    def test_a_damaged_result(self, words: Path, tmp_path: Path) -> None:
        text = (words / "evaltex.json").read_text(encoding="utf-8")
        (tmp_path / "evaltex.json").write_text(
            text.replace('"one-to-one"', '"one-to-won"'), encoding="utf-8"
        )
        with pytest.raises(InputError, match="is a damaged result"):
            write(tmp_path / "report.html", [tmp_path])

    def test_what_stood_there_stays_when_it_fails(self, words: Path, tmp_path: Path) -> None:
        (tmp_path / "report.html").write_text("earlier", encoding="utf-8")
        (tmp_path / "pictures").mkdir()
        (tmp_path / "pictures" / "lane.png").symlink_to("missing.png")
        with pytest.raises(InputError, match=r"lane\.png"):
            write(tmp_path / "report.html", [words], pictures=tmp_path / "pictures", embed=True)
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == "earlier"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures", "report.html"]


class TestPictures:
    def test_they_are_linked_relative_to_the_page(self, words: Path, tmp_path: Path) -> None:
        folder = tmp_path / "a #1" / "sub"
        folder.mkdir(parents=True)
        (folder / "lane.PNG").write_bytes(PNG)
        (tmp_path / "out").mkdir()
        made = write(tmp_path / "out" / "report.html", [words], pictures=tmp_path / "a #1")
        assert made.pictures == 1
        data = islands(tmp_path / "out" / "report.html")
        urls = dict(
            zip(
                data["overview"]["images"],
                (image["picture"] for image in data["images-0"]),
                strict=True,
            )
        )
        assert urls["lane"] == "../a%20%231/sub/lane.PNG"
        assert urls["crossing"] is None

    def test_an_embedded_one_is_in_the_file(self, report: Path) -> None:
        data = islands(report)
        lane = data["overview"]["images"].index("lane")
        assert data[f"picture-{lane}"] == inputs.data_url(EXAMPLES / "pictures" / "lane.png")

    def test_no_name_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "secret.png").write_bytes(PNG)
        (tmp_path / "inside").mkdir()
        (tmp_path / "inside" / "a.png").write_bytes(PNG)
        names = ["a", "gt_a.tif", "../secret", str(tmp_path / "secret"), "../secret.png"]
        inside = tmp_path / "inside" / "a.png"
        assert inputs.pictures_of(tmp_path / "inside", names) == [inside, inside, None, None, None]

    def test_too_much_to_embed_is_refused(
        self, words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(inputs, "MOST_EMBEDDED_BYTES", 1000)
        with pytest.raises(InputError, match="leave out --embed"):
            write(tmp_path / "report.html", [words], pictures=EXAMPLES / "pictures", embed=True)

    def test_a_folder_of_other_pictures_is_refused(self, words: Path, tmp_path: Path) -> None:
        (tmp_path / "other.png").write_bytes(PNG)
        with pytest.raises(InputError, match="holds no picture of any image"):
            write(tmp_path / "report.html", [words], pictures=tmp_path)


class Elements(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    st.recursive(
        st.text() | st.sampled_from([HOSTILE, "</script >", "<!--<script>", "\udc80"]),
        st.lists,
        max_leaves=5,
    )
)
def test_no_data_ends_its_element(value: Any) -> None:
    """Whatever the data, one element stands there, and the data comes back."""
    text = skeleton.island("name", value)
    assert Elements(text).found == [("script", [("type", "application/json"), ("id", "name")])]
    inside = text.removeprefix('<script type="application/json" id="name">').removesuffix(
        "</script>\n"
    )
    assert json.loads(inside) == value
    text.encode("utf-8")


def test_hostile_data_adds_no_element(hostile: Path) -> None:
    tags = [tag for tag, _ in Elements(hostile.read_text(encoding="utf-8")).found]
    assert "img" not in tags
    assert tags.count("script") == 4  # overview, protocol, program, images


def test_few_images_are_said_and_p_is_shown_as_a_dash(
    words: Path, rival: tuple[Path, Path], tmp_path: Path
) -> None:
    """Of one result and of two, of fewer than six images."""
    write(tmp_path / "one.html", [words])
    write(tmp_path / "two.html", [words, rival[1]])
    one, two = (islands(tmp_path / name)["protocol-0"] for name in ("one.html", "two.html"))
    for data in (one, two):
        assert any(line.lower().startswith(("only ", "warning: only ")) for line in data["footer"])
    assert {score["p_shown"][1] for score in two["comparison"]} == {"-"}
    assert set(one["systems"][0]["intervals"].values()) == {None}
