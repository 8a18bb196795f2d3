"""The same small data set in every format: read alike as file, folder and
archive, and against any other format.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mat_sample import total_text_mat
from PIL import Image
from sample_words import FOUND, SIZES, WORDS, Sample
from samples import SAMPLES, written
from written_files import in_folder, zipped

from evaltex_cli import evaluate
from evaltex_cli.errors import FaultLog
from evaltex_cli.evaluation import likely_mistakes
from evaltex_cli.evaluation.evaluate import evaluate_inputs
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.evaluation.tally import Run
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.formats.sizes import with_sizes
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import Objects

NAMES = [*SAMPLES, "totaltext-mat"]
WITH_DETECTIONS = [name for name in NAMES if name == "totaltext-mat" or SAMPLES[name].det]


def sample_of(name: str) -> Sample:
    if name == "totaltext-mat":
        pytest.importorskip("scipy", reason="scipy, which writes the samples, is not installed")
        return total_text_mat()
    return SAMPLES[name]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of both images, for formats with fractions of the page."""
    folder = tmp_path_factory.mktemp("pictures")
    for k, size in enumerate(SIZES, 1):
        Image.new("L", size).save(folder / f"{k}.png")
    return folder


def read_sample(path: Path, side: Side, sample: Sample) -> Source:
    log = FaultLog()
    named = {f"{side}_format": sample.format(side), f"{side}_level": sample.level}
    source = read(path, side, InputOptions(**named), log)
    log.raise_if_any()
    return source


def objects_of(path: Path, side: Side, sample: Sample, pictures: Path) -> Objects:
    source = with_sizes(read_sample(path, side, sample), pictures)
    assert list(source.names) == ["1", "2"]
    return source.objects


@pytest.mark.few_fast(30)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_read(tmp_path: Path, pictures: Path, name: str) -> None:
    """Boxes, don't care, confidences; packed by gzip, in a folder and in an
    archive with folders around.
    """
    sample = sample_of(name)
    sides: tuple[Side, ...] = ("gt", "det") if sample.det else ("gt",)
    for side in sides:
        files = sample.files(side)
        paths = [written(tmp_path / side, sample, side)]
        if not sample.many_in_one or name in ("art", "coco", "coco-text", "textocr"):
            paths.append(
                zipped(
                    tmp_path / f"{side}.zip", {f"a/b/{file}": data for file, data in files.items()}
                )
            )
            paths.append(
                in_folder(
                    tmp_path / f"{side}-folder", {f"a/{file}": data for file, data in files.items()}
                )
            )
        if sample.many_in_one:
            packed = tmp_path / f"{side}.gz"
            packed.write_bytes(gzip.compress(paths[0].read_bytes()))
            paths.append(packed)
        for path in paths:
            found = objects_of(path, side, sample, pictures)
            if side == "gt":
                words = [
                    [w for w in here if sample.has_dont_care or w[1] != "###"] for here in WORDS
                ]
                assert found.boxes.tolist() == [list(box) for here in words for box, _ in here]
                assert found.dont_care.tolist() == [
                    text == "###" for here in words for _, text in here
                ]
                if found.texts[0] == "one":
                    assert [found.texts[k] for k in (0, 1, -1)] == ["one", "two, 2", "three"]
            else:
                assert found.boxes.tolist() == [list(box) for here in FOUND for box, _ in here]
                assert not found.dont_care.any()
                if sample.has_confidences:
                    assert found.confidences is not None
                    assert found.confidences.tolist() == [
                        confidence for here in FOUND for _, confidence in here
                    ]
                else:
                    assert found.confidences is None


@pytest.fixture(scope="module")
def detections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every sample that has detections, written once."""
    folder = tmp_path_factory.mktemp("detections")
    return {name: written(folder / name, sample_of(name), "det") for name in WITH_DETECTIONS}


def assert_scores(scores: Mapping[str, Any], gt_name: str, det_name: str) -> None:
    """One word of three is found; of the detections one is right, and one ignored if it can be."""
    expected = (1 / 3, 1 / 3 if sample_of(gt_name).has_dont_care else 1 / 4)
    assert (scores["recall"], scores["precision"]) == expected, det_name


@pytest.mark.few_fast(20)
@pytest.mark.parametrize("gt_name", NAMES)
def test_a_ground_truth_with_some_detections(
    tmp_path: Path, pictures: Path, detections: dict[str, Path], gt_name: str
) -> None:
    """Those of two formats, others for each ground truth, so that every format is among them."""
    gt_path = written(tmp_path / "gt", sample_of(gt_name), "gt")
    at = NAMES.index(gt_name)
    for k in (at, at + len(NAMES) // 2):
        det_name = WITH_DETECTIONS[k % len(WITH_DETECTIONS)]
        found = evaluate(
            gt_path,
            detections[det_name],
            "iou",
            gt_format=sample_of(gt_name).gt_format,
            gt_level=sample_of(gt_name).level,
            det_format=sample_of(det_name).det_format,
            det_level=sample_of(det_name).level,
            images=pictures,
        )
        assert_scores(found.scores, gt_name, det_name)


@pytest.fixture(scope="module")
def read_detections(detections: dict[str, Path]) -> dict[str, Source]:
    """All of them, each recognised and read once."""
    return {name: read_sample(path, "det", sample_of(name)) for name, path in detections.items()}


@pytest.mark.slow
@pytest.mark.parametrize("gt_name", NAMES)
def test_any_ground_truth_with_any_detections(
    tmp_path: Path,
    pictures: Path,
    read_detections: dict[str, Source],
    gt_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every third one, from another on for the next ground truth: the readers of the two sides know
    nothing of each other. Without what explains low scores, which takes half of the time.
    """
    monkeypatch.setattr(likely_mistakes, "explained", lambda evaluations, *_: list(evaluations))
    sample = sample_of(gt_name)
    gt = read_sample(written(tmp_path / "gt", sample, "gt"), "gt", sample)
    for det_name in WITH_DETECTIONS[NAMES.index(gt_name) % 3 :: 3]:
        det = read_detections[det_name]
        inputs = open_inputs(gt, det, InputOptions(images=pictures))
        (found,) = evaluate_inputs(inputs, [Run(load("iou"), config.checked("iou", {}))])
        assert_scores(found.scores, gt_name, det_name)
