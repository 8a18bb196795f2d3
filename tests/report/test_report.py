"""The HTML report: what it holds, what it refuses, and which pictures it has."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from report_pages import EXAMPLES, PNG, WORDS, data_of, evaluated, image_of, write

from evaltex_cli import compare, diagnose
from evaltex_cli.errors import InputError
from evaltex_cli.report import page, pictures
from evaltex_cli.report.page import KINDS, MISREAD
from evaltex_cli.tables import in_html

GT, DET = WORDS


class TestContent:
    @pytest.mark.parametrize("protocol", ["evaltex", "iou-crw"])
    def test_images_are_the_results(self, words: Path, report: Path, protocol: str) -> None:
        data, k = data_of(report), ["evaltex", "iou-crw"].index(protocol)
        document = json.loads((words / f"{protocol}.json").read_bytes())
        assert data["protocols"][k] == protocol
        assert {one["name"] for one in data["images"]} == {
            one["name"] for one in document["images"]
        }
        for image in document["images"]:
            (shown,) = image_of(report, image["name"])["results"][k]
            for score in data["headlines"][k]:
                stored = "fscore" if (protocol, score) == ("evaltex", "hmean") else score
                assert shown["scores"][score] == image["scores"][stored]
            for side, entries in (("gt", image["objects"]), ("det", image["detections"])):
                partners = "detections" if side == "gt" else "objects"
                for (kind, linked, values), one in zip(shown[side], entries, strict=True):
                    assert linked == one[partners]
                    assert KINDS[kind] == one["match"] or kind == MISREAD
                    has_no_partner = one["match"] in ("missed", "false-positive")
                    for name, value in values.items():
                        if not (has_no_partner and "iou" in name):
                            assert value == one[name]

    @pytest.mark.parametrize("example", ["words", "polygons"])
    def test_shapes_and_transcriptions_are_the_input(self, example: str, tmp_path: Path) -> None:
        gt, det = EXAMPLES / example / "gt.txt", EXAMPLES / example / "det.txt"
        evaluated(gt, det, tmp_path / "res", "--report")
        expected = []
        for line in gt.read_text(encoding="utf-8").splitlines():
            if found := re.fullmatch(r'(\d+),\d+,"(.*)",[tf],([\d,]+)', line):
                shape = [int(number) for number in found[3].split(",")]
                if len(shape) == 4:
                    shape = [shape[0], shape[1], shape[0] + shape[2], shape[1] + shape[3]]
                expected.append([int(found[1]), shape, found[2], None])
        images = data_of(tmp_path / "res" / "report.html")["images"]
        shown = [one for image in images for one in image["gt"]]
        assert sorted(shown, key=str) == sorted(expected, key=str) and expected
        assert (400, 180) in {tuple(image["size"]) for image in images}

    def test_a_missed_object_has_its_best_iou(self, tmp_path: Path) -> None:
        (tmp_path / "gt.txt").write_text('a\n50,200\n1,1,"x",f,0,0,100,20\n')
        (tmp_path / "det.txt").write_text('a\n1,"x",0,0,100,8\n2,"x",0,0,40,4\n')
        protocols = "iou,evaltex"
        res = evaluated(
            tmp_path / "gt.txt", tmp_path / "det.txt", tmp_path / "res", "--report",
            "--protocol", protocols, "--set", "iou.truncate=false",
        )  # fmt: skip
        data = data_of(res / "report.html")
        (by_iou,) = data["images"][0]["results"][data["protocols"].index("iou")]
        assert by_iou["gt"] == [[KINDS.index("missed"), [], {"iou": pytest.approx(0.4)}]]
        assert [one[2]["iou"] for one in by_iou["det"]] == pytest.approx([0.4, 0.08])

    def test_a_misread_word_is_an_error(self, report: Path, words: Path) -> None:
        document = json.loads((words / "iou-crw.json").read_bytes())
        sides = [
            (image["name"], side, one["id"])
            for image in document["images"]
            for side in ("objects", "detections")
            for one in image[side]
            if one["match"] == "one-to-one" and one["text_correct"] == 0
        ]
        shown = [
            (image["name"], {"gt": "objects", "det": "detections"}[side], objects[at][0])
            for image in data_of(report)["images"]
            for side, objects in (("gt", image["gt"]), ("det", image["det"][0]))
            for at, one in enumerate(image["results"][1][0][side])
            if one[0] == MISREAD
        ]
        assert sorted(shown) == sorted(sides) and shown

    def test_tables_have_scores_intervals_and_gates_of_the_run(self, tmp_path: Path) -> None:
        options = [
            "--ci",
            "0.8",
            "--resamples",
            "200",
            "--fail-if",
            "recall<0.01",
            "--report",
            "-a",
        ]
        gt, det = _many(tmp_path, 30)
        res = evaluated(gt, det, tmp_path / "res", *options)
        document = json.loads((res / "evaltex.json").read_bytes())
        text = (res / "report.html").read_text(encoding="utf-8")
        known = [interval for interval in document["intervals"].values() if interval]
        assert known and all(f"[{low:.4f}, {high:.4f}]" in text for low, high in known)
        assert "Gates: all 1 passed" in text and "passed  recall&lt;0.01: evaltex recall" in text
        assert "Intervals: 80%, paired permutation test over images." in text

    def test_differences_are_those_of_compare(
        self, words: Path, rival: tuple[Path, Path], two: Path
    ) -> None:
        data, text = data_of(two), two.read_text(encoding="utf-8")
        assert data["detectors"] == ["words", "rival"]
        compared = compare(GT, {"words": DET, "rival": rival[0]}, "evaltex")
        for score in compared.scores:
            if score.differences[1] is not None:
                assert f'<td class="n">{score.differences[1]:+.4f}</td>' in text
        assert "at least 6 are needed" in text
        assert all(len(image["det"]) == 2 for image in data["images"])

    def test_losses_are_those_of_diagnose(self, report: Path) -> None:
        text = report.read_text(encoding="utf-8")
        for name in ("evaltex", "iou-crw"):
            shares, *_ = diagnose(GT, DET, name).tables()
            assert in_html([replace(shares, notes=())]) in text

    def test_a_run_and_its_results_make_the_same_page(self, tmp_path: Path) -> None:
        res = evaluated(GT, DET, tmp_path / "res", "-a", "--report", "--protocol", "evaltex,iou")
        made = (res / "report.html").read_bytes()
        write(res / "again.html", [res], GT, [DET])
        assert (res / "again.html").read_bytes() == made

    def test_results_without_images_or_inputs(self, words: Path, tmp_path: Path) -> None:
        res = evaluated(GT, DET, tmp_path / "res")
        assert write(tmp_path / "report.html", [res]).endswith("0 images, 0 pictures")
        assert "Run the evaluation again with -a" in (tmp_path / "report.html").read_text()
        assert "has no results of images" in run("report", res).stderr
        with pytest.raises(InputError, match="run that evaluation again with -a"):
            write(tmp_path / "report.html", [res], GT, [DET])
        write(tmp_path / "listed.html", [words])
        image = image_of(tmp_path / "listed.html", "street_sign")
        assert {one[1] for one in image["gt"]} == {None} and len(image["gt"]) == 8

    def test_label_pictures(self, tmp_path: Path) -> None:
        example = EXAMPLES / "masks" / "words"
        paths = [example / "gt.txt", example / "det.txt"]
        run(*paths, tmp_path / "res", example / "gt", example / "det", "-a", "--report")
        drawn = data_of(tmp_path / "res" / "report.html")
        write(tmp_path / "again.html", [tmp_path / "res"], paths[0], [paths[1]])
        again = data_of(tmp_path / "again.html")
        for one, other in zip(drawn["images"], again["images"], strict=True):
            assert one["gt"] == other["gt"]
            kinds = [[each[0] for each in of["results"][0][0]["gt"]] for of in (one, other)]
            assert kinds[0] == kinds[1]


class TestWorst:
    def test_the_worst_images_are_drawn_unless_all_are_asked_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(page, "MOST_IMAGES", 3)
        gt, det = _many(tmp_path, 8)
        shown = run(gt, det, tmp_path / "res", "-a", "--report").stdout
        assert "the 3 worst of 8 images" in " ".join(shown.split())
        res = tmp_path / "res"
        assert [one["name"] for one in data_of(res / "report.html")["images"]] == ["7", "6", "5"]
        assert "the 3 worst of 8 images" in (res / "report.html").read_text()
        run("report", res, "--all-images", "--output", tmp_path / "all.html")
        assert len(data_of(tmp_path / "all.html")["images"]) == 8

    def test_what_became_worse_is_worst(
        self, words: Path, rival: tuple[Path, Path], two: Path
    ) -> None:
        """The rival lacks the first detection of every image."""
        changes = []
        for image in data_of(two)["images"]:
            differences = (b["scores"]["hmean"] - a["scores"]["hmean"] for a, b in image["results"])
            changes.append(min(differences))
        assert changes == sorted(changes) and changes[0] < 0


def _many(folder: Path, count: int) -> tuple[Path, Path]:
    """Image k has k missed words, and one that is found."""
    gt, det = "", ""
    for k in range(count):
        words = "".join(f'{n},{n},"w",f,{60 * n},0,40,20\n' for n in range(1, k + 2))
        gt += f"{k}\n50,9000\n{words}\n"
        det += f'{k}\n1,"w",60,0,{40 - k % 5},20\n\n'
    (folder / "gt.txt").write_text(gt)
    (folder / "det.txt").write_text(det)
    return folder / "gt.txt", folder / "det.txt"


class TestRefusals:
    def test_input_that_was_not_evaluated(self, words: Path, tmp_path: Path) -> None:
        other = EXAMPLES / "polygons"
        with pytest.raises(InputError, match=r"polygons.gt\.txt: is not what was evaluated"):
            write(tmp_path / "report.html", [words], other / "gt.txt", [DET])
        with pytest.raises(InputError, match=r"polygons.det\.txt: is not what was evaluated"):
            write(tmp_path / "report.html", [words], GT, [other / "det.txt"])
        with pytest.raises(InputError, match="give --gt and one --det for each"):
            write(tmp_path / "report.html", [words], GT)

    def test_results_that_do_not_belong_together(self, words: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no results"):
            write(tmp_path / "report.html", [tmp_path])
        other = EXAMPLES / "polygons"
        res = evaluated(other / "gt.txt", other / "det.txt", tmp_path / "res", "-a", "--protocol", "evaltex,iou")  # fmt: skip
        with pytest.raises(InputError, match="different"):
            write(tmp_path / "report.html", [words, res])
        (res / "evaltex.json").write_bytes((words / "evaltex.json").read_bytes())
        with pytest.raises(
            InputError, match="evaltex and iou are results of different inputs or options"
        ):
            write(tmp_path / "report.html", [res])

    def test_scores_of_another_version(self, words: Path, tmp_path: Path) -> None:
        document = json.loads((words / "evaltex.json").read_bytes())
        document["images"][0]["scores"]["fscore"] += 0.01
        (tmp_path / "evaltex.json").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(InputError, match="this version scores image street_sign otherwise"):
            write(tmp_path / "report.html", [tmp_path], GT, [DET])


class TestPictures:
    def test_they_are_linked_relative_to_the_page(self, words: Path, tmp_path: Path) -> None:
        folder = tmp_path / "a #1" / "sub"
        folder.mkdir(parents=True)
        (folder / "lane.PNG").write_bytes(PNG)
        (tmp_path / "out").mkdir()
        file = tmp_path / "out" / "report.html"
        assert write(file, [words], pictures=tmp_path / "a #1").endswith("4 images, 1 picture")
        assert image_of(file, "lane")["picture"] == "../a%20%231/sub/lane.PNG"
        assert image_of(file, "crossing")["picture"] is None

    def test_an_embedded_one_is_in_the_file(self, report: Path) -> None:
        url = pictures.data_url(EXAMPLES / "pictures" / "lane.png")
        assert image_of(report, "lane")["picture"] == url

    def test_a_folder_without_any_of_them_is_refused(self, words: Path, tmp_path: Path) -> None:
        (tmp_path / "other.png").write_bytes(PNG)
        with pytest.raises(InputError, match="holds no picture of any image"):
            write(tmp_path / "report.html", [words], pictures=tmp_path)


def test_hostile_data_adds_no_element(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("<script") == 2  # data and program


def test_errors_count_what_is_misread(words: Path) -> None:
    from evaltex_cli.results import reader

    document = reader.read(words / "iou-crw.json")
    images = json.loads((words / "iou-crw.json").read_bytes())["images"]
    expected = [
        sum(one["match"] == "missed" for one in image["objects"])
        + sum(one["match"] == "false-positive" for one in image["detections"])
        + sum(one["match"] == "one-to-one" and one["text_correct"] == 0 for one in image["objects"])
        for image in images
    ]
    assert np.array_equal(page._errors(document.table), expected)
