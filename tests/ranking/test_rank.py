"""`evaltex rank`: ranks, and what is written."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rank_inputs import SHARES, of_board, run, write_side

from evaltex_cli import InputError, compare, rank
from evaltex_cli.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for k, dataset in enumerate(("one", "two")):
        write_side(tmp_path / f"gt-{dataset}.txt", 0, 1, is_gt=True)
        for label, share in SHARES.items():
            seed = 100 * k + len(label)
            write_side(tmp_path / f"{label}-{dataset}.txt", seed, share, is_gt=False)
    lines = ['protocols = ["iou", "evaltex"]', "resamples = 300"]
    for dataset in ("one", "two"):
        lines += [f"[datasets.{dataset}]", f'gt = "gt-{dataset}.txt"']
    for label in SHARES:
        lines += [
            f"[detectors.{label}]",
            *(f'{one} = "{label}-{one}.txt"' for one in ("one", "two")),
        ]
    (tmp_path / "board.toml").write_text("\n".join(lines))
    return tmp_path


def test_ranks_ties_and_pairs(folder: Path) -> None:
    found = of_board()
    assert found["kind"] == "ranking"
    assert [one["name"] for one in found["datasets"]] == ["one", "two"]
    iou = found["datasets"][0]["protocols"]["iou"]
    assert iou["score"] == "hmean"
    assert [one["label"] for one in iou["detectors"]][-1] == "poor"
    *best, last = iou["detectors"]
    assert {one["groups"] for one in best} == {"a"}
    assert [one["rank_interval"] for one in best] == [[1, 2], [1, 2]]
    assert (last["groups"], last["rank"], last["rank_interval"]) == ("b", 3, [3, 3])
    low, high = last["interval"]
    assert low < last["scores"]["hmean"] < high
    assert [(one["a"], one["b"]) for one in iou["pairs"]] == [
        ("good", "alike"),
        ("good", "poor"),
        ("alike", "poor"),
    ]
    for pair in iou["pairs"]:
        assert pair["p"] <= pair["p_corrected"]
        low, high = pair["interval"]
        assert low <= pair["difference"] <= high
        assert (pair["p"] < 0.05) == (not low <= 0 <= high)


def test_pairs_are_those_of_compare(folder: Path) -> None:
    found = of_board()["datasets"][0]["protocols"]["iou"]["pairs"]
    for pair in found:
        files = {label: f"{label}-one.txt" for label in (pair["b"], pair["a"])}
        (score,) = (
            one
            for one in compare("gt-one.txt", files, "iou", resamples=300).scores
            if one.score == "hmean"
        )
        assert pair["difference"] == pytest.approx(score.differences[1], abs=1e-15)
        assert pair["p"] == score.p_values[1]
        assert tuple(pair["interval"]) == score.difference_intervals[1]


def test_agreement_and_means_over_data_sets(folder: Path) -> None:
    found = of_board()
    agreement = found["datasets"][0]["agreement"]
    assert agreement["protocols"] == ["iou", "evaltex"], "in the order of the board"
    assert agreement["tau"][0][0] == agreement["tau"][1][1] == 1
    assert agreement["tau"][0][1] == agreement["tau"][1][0]
    overall = found["overall"]["iou"]
    for one in overall["detectors"]:
        ranked = [
            (each["scores"]["hmean"], each["rank"])
            for dataset in found["datasets"]
            for each in dataset["protocols"]["iou"]["detectors"]
            if each["label"] == one["label"]
        ]
        assert one["macro"] == pytest.approx(np.mean([score for score, _ in ranked]))
        assert one["mean_rank"] == pytest.approx(np.mean([rank for _, rank in ranked]))
        low, high = one["macro_interval"]
        assert low < one["macro"] < high
    assert overall["detectors"][-1]["label"] == "poor"
    assert overall["detectors"][-1]["mean_rank_interval"] == [3, 3]


def test_resamples_of_data_sets_are_independent(folder: Path) -> None:
    """The interval of a mean of two data sets is shorter than theirs by the square root of two."""
    found = of_board("--resamples", "2000")
    widths = [
        np.subtract(*reversed(each["interval"]))
        for dataset in found["datasets"]
        for each in dataset["protocols"]["iou"]["detectors"]
        if each["label"] == "poor"
    ]
    (overall,) = (one for one in found["overall"]["iou"]["detectors"] if one["label"] == "poor")
    width = np.subtract(*reversed(overall["macro_interval"]))
    assert width == pytest.approx(np.hypot(*widths) / 2, rel=0.1)


@pytest.mark.parametrize("images", [1, 5, 6])
def test_few_images_of_one_data_set_show_nothing_over_all(folder: Path, images: int) -> None:
    """Six subsets of one image each would be the same score six times."""
    write_side(folder / "gt-two.txt", 0, 1, is_gt=True, images=images)
    for label, share in SHARES.items():
        write_side(folder / f"{label}-two.txt", len(label), share, is_gt=False, images=images)
    subsets = "all 1 subset of the images" if images == 1 else f"all {2**images - 1} subsets"
    found = rank("board.toml")
    shown, resampled = (" ".join(found.notes(one)) for one in reversed(found.datasets))
    assert subsets in shown and "300 resamples" in resampled
    for one in of_board()["overall"]["iou"]["detectors"]:
        assert (one["macro_interval"] is None) == (images < 6), one
        assert (one["mean_rank_interval"] is None) == (images < 6)


def test_a_board_is_ranked_the_same_in_any_order_and_by_any_number_of_jobs(folder: Path) -> None:
    found = of_board()
    again = of_board("--jobs", "2")
    assert again == found
    text = (folder / "board.toml").read_text()
    head, one, two, *detectors = re.split(r"(?=^\[)", text, flags=re.MULTILINE)
    (folder / "board.toml").write_text("".join([head, "\n", two, one, *detectors]))
    other = of_board()
    assert sorted(other.pop("datasets"), key=str) == sorted(found.pop("datasets"), key=str)
    assert other == found


def test_detections_on_the_command_line(folder: Path) -> None:
    names = [f"{label}-one.txt" for label in SHARES]
    found = json.loads(run("gt-one.txt", *names, "--format", "json").stdout)
    (dataset,) = found["datasets"]
    assert dataset["name"] == "gt-one"
    assert list(dataset["protocols"]) == ["evaltex"]
    assert found["overall"] == {}
    labels = [option for label in SHARES for option in ("--label", label)]
    table = run("gt-one.txt", *names, *labels).stdout
    assert "poor-one" not in table
    assert "poor" in table


def test_from_python(folder: Path) -> None:
    of_files = rank("board.toml")
    assert json.loads(json.dumps(of_files.to_dict()))["detectors"] == list(SHARES)
    assert rank("board.toml", protocol="IoU").datasets[0].protocols.keys() == {"iou"}
    assert "poor" in repr(of_files)
    gt = [[[0, 0, 100, 20]]] * 30
    of_arrays = rank(gt, {"none": [[]] * 30, "all": gt}, ["iou", "tiou"], correction="holm")
    (dataset,) = of_arrays.datasets
    assert [one.label for one in dataset.protocols["tiou"].detectors] == ["all", "none"]
    with pytest.raises(InputError, match="one detector"):
        rank(gt, [gt])
    with pytest.raises(InputError, match="give name -> detections, or the path of a board"):
        rank(gt)


def test_the_tables_in_csv_and_data_frames(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("board.toml", "--format", "csv").stdout)))
    assert len(rows) == 12
    best = of_board()["datasets"][0]["protocols"]["iou"]["detectors"][0]
    assert (rows[0]["detector"], rows[0]["groups"]) == (best["label"], best["groups"])
    assert float(rows[0]["value"]) == best["scores"]["hmean"]
    assert [float(rows[0][name]) for name in ("interval_low", "interval_high")] == best["interval"]
    pytest.importorskip("pandas")
    found = rank("board.toml")
    assert len(found.to_pandas("pairs")) == 2 * 2 * 3
    assert found.to_pandas("overall")["mean_rank"].max() == 3


def test_the_best_group_is_bold(folder: Path) -> None:
    text = run("board.toml", "--format", "markdown").stdout
    assert text.count("**") == 2 * 2 * 2 * 2, "two detectors, two protocols, two data sets"
    assert not any("**" in line for line in text.splitlines() if "| poor " in line)


def test_a_table_says_who_is_best(folder: Path) -> None:
    text = run("board.toml", "--protocol", "iou").stdout
    assert "has the highest hmean; not significantly lower: " in text
    assert (
        "paired permutation test over images, 300 resamples; p-values corrected for 3 pairs" in text
    )
    text = run("gt-one.txt", "good-one.txt", "poor-one.txt", "--protocol", "iou").stdout
    assert "good-one has the highest hmean; all others are significantly lower." in text
    assert "corrected for 1 pair, " in text


def test_results_are_ranked_as_detections_are(folder: Path) -> None:
    """Result folders of runs with -a, detections, and a mix."""
    texts = [f"{label}-one.txt" for label in SHARES]
    options = ["--protocol", "iou", "--format", "json"]
    fresh = json.loads(run("gt-one.txt", *texts, *options).stdout)
    for text in texts:
        CliRunner().invoke(main, ["gt-one.txt", text, Path(text).stem, "-a", "--protocol", "iou"])
    stored = [Path(text).stem for text in texts]
    assert json.loads(run(*stored, *options).stdout) == fresh
    assert json.loads(run("gt-one.txt", *stored[:2], texts[2], *options).stdout) == fresh
    assert (
        rank(None, dict(zip(stored, stored, strict=True)), "iou").to_dict()["datasets"]
        == (fresh["datasets"])
    )
    board = ['protocols = ["iou"]', "[datasets.gt-one]"]
    for name in stored:
        board += [f"[detectors.{name}]", f'gt-one = "{name}"']
    (folder / "stored.toml").write_text("\n".join(board))
    assert json.loads(run("stored.toml", "--format", "json").stdout) == fresh
    (folder / "stored.toml").write_text("\n".join([*board[:2], 'invalid = "drop"', *board[2:]]))
    assert "remove all keys but gt" in run("stored.toml", status=2).stderr
    assert "--invalid" in run(*stored, "--invalid", "drop", status=2).stderr
    (folder / "gt-two.txt").write_text((folder / "gt-one.txt").read_text().replace("w1", "x1"))
    refused = run("gt-two.txt", *stored, "--protocol", "iou", status=2)
    assert "another ground truth" in refused.stderr


def test_the_page(folder: Path) -> None:
    CliRunner().invoke(main, ["gt-one.txt", "good-one.txt", "a run", "-a", "--protocol", "iou"])
    (folder / "a run/report.html").touch()
    board = folder / "board.toml"
    board.write_text(board.read_text().replace('"good-one.txt"', '"a run"'))
    with board.open("a") as file:
        file.write('\n[detectors."<i>&"]\none = "good-one.txt"\ntwo = "good-two.txt"\n')
    run("board.toml", "--protocol", "iou", "--report", "page.html")
    text = (folder / "page.html").read_text()
    assert re.findall('href="(.*?)"', text) == ["a%20run/report.html"]
    assert ["over all data sets" in text, "<h2>Warnings</h2>" in text] == [True, False]
    assert "<script" not in text and "<i>" not in text
    assert "http" not in text.replace("http-equiv", "")
    run("board.toml", "--protocol", "iou", "--report", "page.html")
    assert (folder / "page.html").read_text() == text, "replaced by the same bytes"


def test_nothing_is_ranked_where_nothing_counts(folder: Path) -> None:
    """What all detectors share is said once."""
    path = folder / "gt-one.txt"
    path.write_text(path.read_text().replace(",f,", ",t,"))
    dataset = rank("board.toml", protocol="iou").datasets[0]
    (warning,) = (text for text in dataset.warnings if "don't care" in text)
    assert warning.startswith("every object of the ground truth")
    iou = dataset.protocols["iou"]
    assert iou.best == []
    assert {(one.scores["hmean"], one.rank, one.groups) for one in iou.detectors} == {
        (None, 1, "a")
    }
    assert {pair.p_corrected for pair in iou.pairs} == {None}
    text = run("board.toml", "--protocol", "iou", "--report", "page.html").stdout
    assert "No detector has a score." in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gt-one.txt", "good-one.txt"], "nothing to rank"),
        (["board.toml", "--invalid", "drop"], "--invalid: the board says this for each data set"),
        (["board.toml", "--set", "region=no"], "the board says this for each data set"),
        (["board.toml", "--protocol", "popeval", "--report", "gt-one.txt"], "gt-one.txt"),
    ],
)
def test_what_is_refused(folder: Path, arguments: list[str], message: str) -> None:
    before = (folder / "gt-one.txt").read_bytes()
    result = run(*arguments, status=2)
    assert message in " ".join(result.stderr.split())
    assert (folder / "gt-one.txt").read_bytes() == before


def test_detectors_without_texts_leave_out_protocols_of_texts(folder: Path) -> None:
    path = folder / "poor-one.txt"
    path.write_text(re.sub(r'"w\d"', '""', path.read_text()))
    result = run("board.toml", "--protocol", "popeval,iou", "--format", "json")
    assert "left out: popeval (poor: no transcriptions)" in result.stderr.replace("\n ", "")
    found = json.loads(result.stdout)
    assert list(found["datasets"][0]["protocols"]) == ["iou"]
    assert list(found["datasets"][1]["protocols"]) == ["popeval", "iou"]
