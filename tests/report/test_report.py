"""The HTML report: what it holds, what it refuses, and how it works in a real browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from chromium import Chromium, find_chromium
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import diagnose, evaluate, formats
from evaltex_cli.cli import main
from evaltex_cli.comparison import comparison, detector_results
from evaltex_cli.diagnosis import tables, terminal_table
from evaltex_cli.diagnosis.diagnosis import Diagnosis
from evaltex_cli.diagnosis.error_types import ERROR_TYPES
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import batches
from evaltex_cli.report import Made, Pictures, inputs, make, page, read, skeleton, subject
from evaltex_cli.results import significance, writer
from evaltex_cli.results.extras import Bootstrap, Extras
from evaltex_cli.results.screen import Screen

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    '</script><img src="https://example.org/x.png"'
    " onerror=\"document.title='taken'\"><!--<script>&amp;\u202e"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


def evaluated(gt: Path, det: Path, res_dir: Path, *options: str) -> Path:
    """Run the command line."""
    done = CliRunner().invoke(main, [str(gt), str(det), str(res_dir), "--quiet", *options])
    assert done.exit_code == 0, done.output
    return res_dir


def islands(file: Path) -> dict[str, Any]:
    """The report's data, by the element's name."""
    found = re.findall(
        r'<script type="application/json" id="([\w-]+)">(.*?)</script>',
        file.read_text(encoding="utf-8"),
    )
    return {name: json.loads(text) for name, text in found}


def write(
    file: Path,
    results: list[Path],
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    embed: bool = False,
) -> Made:
    """Write a report of results with everything that it may have."""
    return make(file, read(results, None, gt, det).with_losses(), Pictures(pictures, embed))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the words example, by two protocols."""
    folder = tmp_path_factory.mktemp("results") / "words"
    example = EXAMPLES / "words"
    return evaluated(
        example / "gt.txt",
        example / "det.txt",
        folder,
        "-a",
        "--protocol",
        "evaltex",
        "--protocol",
        "icdar2013",
    )


@pytest.fixture(scope="module")
def report(words: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the words example, with everything in it."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    write(file, [words], **sources("words"), pictures=EXAMPLES / "pictures", embed=True)
    return file


def sources(example: str) -> dict[str, Any]:
    return {"gt": EXAMPLES / example / "gt.txt", "det": [EXAMPLES / example / "det.txt"]}


@pytest.fixture(scope="module")
def rival(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Another detector on the words example: its detections and its results."""
    folder = tmp_path_factory.mktemp("rival")
    lines = (EXAMPLES / "words" / "det.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("1,")]
    (folder / "det.txt").write_text("\n".join(kept), encoding="utf-8")
    evaluated(EXAMPLES / "words" / "gt.txt", folder / "det.txt", folder / "rival", "-a")
    return folder / "det.txt", folder / "rival"


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of label pictures."""
    folder = tmp_path_factory.mktemp("masks")
    example = EXAMPLES / "masks" / "words"
    gt, det = example / "gt.txt", example / "det.txt"
    done = CliRunner().invoke(
        main,
        [*map(str, (gt, det, folder / "res", example / "gt", example / "det")), "-a", "--quiet"],
    )
    assert done.exit_code == 0, done.output
    write(folder / "report.html", [folder / "res"], gt=gt, det=[det])
    return folder / "report.html"


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
                assert shown == pytest.approx(
                    {score: image["scores"][score] for score in shown}, abs=1e-5
                )
                matches = data["images-0"][at]["matches"][k][0]
                for side, entries in (("gt", image["objects"]), ("det", image["detections"])):
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


LOSS_PARTS = (*ERROR_TYPES, "interaction", "unexplained")


def words_diagnoses(protocols: list[str], **parameters: Any) -> list[Diagnosis]:
    example = sources("words")
    return [diagnose(example["gt"], example["det"][0], name, **parameters) for name in protocols]


def same(shown: dict[str, Any], expected: Diagnosis) -> bool:
    """Whether the page holds a diagnosis."""
    fields = tables.fields(expected)
    return shown.keys() <= fields.keys() and shown == json.loads(
        json.dumps({name: fields[name] for name in shown})
    )


class TestLosses:
    def test_they_are_those_of_diagnose(self, report: Path) -> None:
        data = islands(report)
        assert data["overview"]["protocols"] == ["evaltex", "icdar2013"]
        for k, expected in enumerate(words_diagnoses(["evaltex", "icdar2013"])):
            (shown,) = data[f"protocol-{k}"]["losses"]["systems"]
            assert same(shown, expected)
            assert [part["kind"] for part in shown["kinds"]] == list(ERROR_TYPES)
            assert shown["losses"]["recall"] > 0
            for name, loss in shown["losses"].items():
                shares = [part["shares"][name] for part in shown["kinds"]]
                assert sum(shares) + shown["interaction"][name] + shown["unexplained"][
                    name
                ] == pytest.approx(loss)

    def test_they_are_by_the_parameters_of_the_run(self, tmp_path: Path) -> None:
        example = sources("words")
        results = evaluated(
            example["gt"],
            example["det"][0],
            tmp_path / "res",
            "-a",
            "--protocol",
            "iou",
            "--set",
            "iou.iou=0.8",
        )
        write(tmp_path / "report.html", [results], **example)
        (shown,) = islands(tmp_path / "report.html")["protocol-0"]["losses"]["systems"]
        (strict,), (usual,) = words_diagnoses(["iou"], iou=0.8), words_diagnoses(["iou"])
        assert same(shown, strict)
        assert strict.losses != usual.losses

    def test_detectors_have_their_own(
        self, words: Path, rival: tuple[Path, Path], tmp_path: Path
    ) -> None:
        det, results = rival
        example = sources("words")
        subject = read([words, results], None, example["gt"], [*example["det"], det])
        make(tmp_path / "report.html", subject.with_losses())
        first, second = islands(tmp_path / "report.html")["protocol-0"]["losses"]["systems"]
        assert same(first, diagnose(example["gt"], example["det"][0]))
        assert same(second, diagnose(example["gt"], det))
        assert first["losses"] != second["losses"]

    def test_they_are_left_out_when_nobody_wants_them_or_shapes_are_unknown(
        self, words: Path, tmp_path: Path
    ) -> None:
        example = sources("words")
        write(tmp_path / "report.html", [words])
        assert "losses" not in islands(tmp_path / "report.html")["protocol-0"]
        command = [
            "report",
            str(words),
            "--gt",
            str(example["gt"]),
            "--det",
            str(example["det"][0]),
        ]
        command += ["--output", str(tmp_path / "report.html")]
        for option, has_losses in (("--no-diagnose", False), ("--diagnose", True)):
            assert CliRunner().invoke(main, [*command, option]).exit_code == 0
            assert ("losses" in islands(tmp_path / "report.html")["protocol-0"]) == has_losses

    @pytest.mark.parametrize(
        "options", [[], ["--jobs", "2"], ["--resume"], ["--invalid", "drop"]], ids=str
    )
    def test_a_run_writes_the_page_that_is_made_of_its_results(
        self, options: list[str], tmp_path: Path
    ) -> None:
        example = EXAMPLES / "polygons"
        gt, det = example / "gt.txt", example / "det.txt"
        results = evaluated(
            gt,
            det,
            tmp_path / "res",
            "-a",
            "--report",
            "--protocol",
            "evaltex",
            "--protocol",
            "iou",
            *options,
        )
        write(tmp_path / "page.html", [results], gt, [det])
        assert (tmp_path / "page.html").read_bytes() == (results / "report.html").read_bytes()
        assert b'"losses"' in (tmp_path / "page.html").read_bytes()

    def test_a_run_with_a_report_evaluates_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each image is read twice, to be measured and to be drawn; no input
        is opened and measured a second time.
        """
        counts = Counter[str]()

        def counted(module: ModuleType, name: str) -> None:
            function = getattr(module, name)

            def call(*arguments: Any) -> Any:
                counts[name] += 1
                return function(*arguments)

            monkeypatch.setattr(module, name, call)

        counted(formats, "open_source")
        counted(batches, "measure")
        example = sources("words")
        evaluated(example["gt"], example["det"][0], tmp_path / "res", "--report")
        assert counts == {"open_source": 2, "measure": 1}

    def test_a_run_with_a_report_has_them(self, tmp_path: Path) -> None:
        example = sources("words")
        results = evaluated(example["gt"], example["det"][0], tmp_path / "res", "--report")
        (shown,) = islands(results / "report.html")["protocol-0"]["losses"]["systems"]
        assert same(shown, diagnose(example["gt"], example["det"][0]))

    def test_of_masks_there_is_a_sentence(self, masks: Path) -> None:
        data = islands(masks)
        assert data["protocol-0"]["losses"] == {"note": subject.OF_MASKS}
        assert data["overview"]["hasShapes"]

    def test_results_that_score_otherwise_now_have_a_sentence(
        self, words: Path, tmp_path: Path
    ) -> None:
        document = json.loads((words / "evaltex.json").read_bytes())
        document["scores"]["precision"] += 1e-6
        (tmp_path / "evaltex.json").write_text(json.dumps(document), encoding="utf-8")
        (tmp_path / "icdar2013.json").write_bytes((words / "icdar2013.json").read_bytes())
        write(tmp_path / "report.html", [tmp_path], **sources("words"))
        data = islands(tmp_path / "report.html")
        assert data["protocol-0"]["losses"] == {"note": subject.SCORED_OTHERWISE}
        assert same(data["protocol-1"]["losses"]["systems"][0], words_diagnoses(["icdar2013"])[0])

    def test_every_row_has_a_meaning(self) -> None:
        assert tuple(page.MEANINGS) == LOSS_PARTS


class TestInvalidPolygons:
    @pytest.fixture
    def bow_tie(self, tmp_path: Path) -> dict[str, Any]:
        """An object whose outline crosses itself, and a good one that is found."""
        good = "60,10,90,10,90,30,60,30"
        gt, det = tmp_path / "gt.txt", tmp_path / "det.txt"
        gt.write_text(
            f'img\n100,200\n1,1,"bad",f,10,10,50,30,50,10,10,30\n2,2,"good",f,{good}\n',
            encoding="utf-8",
        )
        det.write_text(f'img\n1,"good",{good}\n', encoding="utf-8")
        return {"gt": gt, "det": [det]}

    @pytest.mark.parametrize(("policy", "texts"), [("repair", ["bad", "good"]), ("drop", ["good"])])
    def test_the_policy_of_the_run_holds(
        self, bow_tie: dict[str, Any], policy: str, texts: list[str], tmp_path: Path
    ) -> None:
        results = evaluated(
            bow_tie["gt"], bow_tie["det"][0], tmp_path / "res", "-a", "--invalid", policy
        )
        write(tmp_path / "report.html", [results], **bow_tie)
        data = islands(tmp_path / "report.html")
        side = data["images-0"][0]["gt"]
        assert side["text"] == texts
        assert len(side["id"]) == len(side["shape"]) == len(texts)
        (shown,) = data["protocol-0"]["losses"]["systems"]
        assert {part["kind"]: part["count"] for part in shown["kinds"]}["missed"] == len(texts) - 1

    def test_results_of_several_policies_are_refused(
        self, bow_tie: dict[str, Any], tmp_path: Path
    ) -> None:
        for folder, policy, protocol in (("res", "repair", "evaltex"), ("other", "drop", "iou")):
            options = ("-a", "--invalid", policy, "--protocol", protocol)
            evaluated(bow_tie["gt"], bow_tie["det"][0], tmp_path / folder, *options)
        (tmp_path / "res" / "iou.json").write_bytes((tmp_path / "other" / "iou.json").read_bytes())
        with pytest.raises(
            InputError, match=r"different policies for invalid polygons \(repair and drop\)"
        ):
            write(tmp_path / "report.html", [tmp_path / "res"], **bow_tie)


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


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of which every name and transcription tries to inject markup."""
    folder = tmp_path_factory.mktemp("hostile")
    name = HOSTILE.replace("/", "")
    gt, det = folder / "gt.txt", folder / "det.txt"
    gt.write_text(
        f'{name}\n100,200\n1,1,"{HOSTILE}",f,10,10,50,20\n2,2,"x",f,10,60,50,20\n', encoding="utf-8"
    )
    det.write_text(f'{name}\n1,"{HOSTILE}",10,10,50,20\n2,"",150,60,20,20\n', encoding="utf-8")
    results = evaluated(gt, det, folder / "results", "-a")
    make(folder / "report.html", read([results], [HOSTILE], gt, [det]).with_losses())
    return folder / "report.html"


def test_hostile_data_adds_no_element(hostile: Path) -> None:
    tags = [tag for tag, _ in Elements(hostile.read_text(encoding="utf-8")).found]
    assert "img" not in tags
    assert tags.count("script") == 4  # overview, protocol, program, images


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("no chromium is installed")
    chromium = Chromium(program, tmp_path_factory.mktemp("profile"))
    chromium.emulate(1200, 900)
    yield chromium
    chromium.close()


@pytest.fixture
def tab(browser: Chromium) -> Iterator[Chromium]:
    """The browser; afterwards it must not have complained, nor asked for
    anything but files of this machine.
    """
    browser.emulate(1200, 900)
    yield browser
    browser.call("Page.navigate", url="about:blank")
    assert browser.complaints == []
    foreign = [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))]
    assert foreign == []


def names(tab: Chromium) -> list[str]:
    shown: list[str] = tab.run(
        "[...document.querySelectorAll('#images tbody a')].map((a) => a.textContent)"
    )
    return shown


def column(tab: Chromium, at: int) -> list[float]:
    cells: list[str] = tab.run(
        f"[...document.querySelectorAll('#images tbody tr td:nth-child({at})')].map((cell) =>"
        " cell.textContent)"
    )
    return [float(cell) for cell in cells]


def by_errors(results: Path) -> list[str]:
    """Names of the images, those with most missed objects and false positives
    first, then by the score.
    """
    images = json.loads((results / "evaltex.json").read_bytes())["images"]

    def errors(image: dict[str, Any]) -> int:
        sides = [*image["objects"], *image["detections"]]
        return sum(one["match"] in ("missed", "false-positive") for one in sides)

    return [
        image["name"]
        for image in sorted(images, key=lambda image: (-errors(image), image["scores"]["fscore"]))
    ]


def unfold(tab: Chromium) -> None:
    tab.run(
        "document.querySelectorAll('#losses details').forEach((folded) => { folded.open = true; })"
    )
    tab.wait(
        "[...document.querySelectorAll('#losses details')].every((folded) =>"
        " folded.childElementCount > 1)"
    )


def by_score(results: Path, score: str) -> list[str]:
    images = json.loads((results / "evaltex.json").read_bytes())["images"]
    return [image["name"] for image in sorted(images, key=lambda image: image["scores"][score])]


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


def cells(tab: Chromium, table: str) -> list[list[str]]:
    """The body of a table, by rows."""
    rows: list[list[str]] = tab.run(
        f"[...document.querySelectorAll('{table} tbody tr')].map((row) => [...row.cells].map((c) =>"
        " c.textContent))"
    )
    return rows


def number(text: str) -> float:
    return float(text.replace("−", "-"))


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
        self, tab: Chromium, words: Path, rival: tuple[Path, Path], tmp_path: Path
    ) -> None:
        det, results = rival
        example = sources("words")
        write(
            tmp_path / "report.html", [words, results], gt=example["gt"], det=[*example["det"], det]
        )
        tab.open(tmp_path / "report.html")
        both = [diagnose(example["gt"], one) for one in (*example["det"], det)]
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

    def test_two_detectors_stand_side_by_side(
        self, tab: Chromium, words: Path, rival: tuple[Path, Path], tmp_path: Path
    ) -> None:
        det, results = rival
        example = sources("words")
        write(
            tmp_path / "report.html", [words, results], gt=example["gt"], det=[*example["det"], det]
        )
        tab.open(tmp_path / "report.html")
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


ERRORS = "[...document.querySelectorAll('.object')].filter((one) => one.style.display !== 'none')"


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


@pytest.fixture(scope="module")
def many(words: Path, rival: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five detectors."""
    file = tmp_path_factory.mktemp("many") / "report.html"
    write(
        file,
        [words, *[rival[1]] * 4],
        gt=EXAMPLES / "words" / "gt.txt",
        det=[sources("words")["det"][0], *[rival[0]] * 4],
    )
    return file


@pytest.fixture(scope="module")
def two(words: Path, rival: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("two") / "report.html"
    example = sources("words")
    write(file, [words, rival[1]], gt=example["gt"], det=[*example["det"], rival[0]])
    return file


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
        axe_core = pytest.importorskip("axe_core_python")
        script = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
        tab.emulate(width, height, scheme)
        for address in ("", "?mistakes=table", "/street_sign"):
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
                "axe.run().then((all) => all.violations.map((one) => [one.id, one.nodes[0].html]))"
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


def test_the_scores_of_two_detectors_fit_a_phone(tab: Chromium, two: Path) -> None:
    tab.emulate(400, 800)
    tab.open(two, "#/iou")
    assert tab.run("document.querySelectorAll('.headline .change').length") == 3
    assert tab.run("document.querySelector('#scores .scroll').scrollWidth") <= 400


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
    painted = tab.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert painted < 2000
    assert len(names(tab)) == 50
    tab.point("#images th:nth-child(1) button", click=True)
    tab.point("[data-turn=Last]", click=True)
    assert names(tab)[-1] == "img_9999"
    tab.point("#images a[href*=img_9999]", click=True)
    tab.wait("document.querySelectorAll('.object').length === 9")


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
