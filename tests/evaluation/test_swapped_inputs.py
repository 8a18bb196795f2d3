"""Swapped inputs are reported: ground truth and detections, x and y, corners and width,height; of
whole sets, too.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from evaltex_cli.evaluation.swapped_inputs import swapped
from json_samples import COCO_RESULTS
from reading import read
from sample_words import Sample, json_of
from samples import SAMPLES, written
from written_files import in_folder, zipped

from evaltex_cli.cli import main
from evaltex_cli.conversion.convert import convert
from evaltex_cli.validation.validation import validate

GOLDEN = Path(__file__).parents[1] / "golden"
BOXES = (GOLDEN / "scenes/boxes-gt.zip", GOLDEN / "scenes/boxes-det.zip")
SETS = [
    BOXES,
    (GOLDEN / "scenes/quads-gt.zip", GOLDEN / "scenes/quads-det.zip"),
    (GOLDEN / "totaltext/gt.zip", GOLDEN / "totaltext/det.zip"),
]


def signs(gt: Path, det: Path) -> str | None:
    return swapped(read(gt, "gt").source, read(det, "det").source)


# Ground truth and detections ----------------------------------------------------------------------

QUAD = "10,10,110,10,110,40,10,40"
GT = {f"gt_{k}.txt": f"{QUAD},word\n200,10,290,10,290,40,200,40,###\n" for k in range(3)}


@pytest.mark.parametrize(
    ("det", "sign"),
    [
        (
            {f"res_{k}.txt": f"{QUAD}\n" for k in range(3)},
            "the images of the ground truth are named res_... ('res_0.txt')",
        ),
        (
            {f"a/res_{k}.txt": f"{QUAD}\n" for k in range(3)},
            "those of the detections are named gt_... ('gt_0.txt')",
        ),
        (
            {f"{k}.txt": f"{QUAD},0.{k}5\n" for k in range(3)},
            "the ground truth has confidences, and the detections have",
        ),
        (
            {f"{k}.txt": f"{QUAD}\n" for k in range(3)},
            "3 detections are '###', and no object of the ground truth is",
        ),
    ],
)
def test_ground_truth_and_detections_swapped(
    tmp_path: Path, det: dict[str, str], sign: str
) -> None:
    gt_path, det_path = zipped(tmp_path / "gt.zip", GT), zipped(tmp_path / "det.zip", det)
    assert signs(gt_path, det_path) is None
    reported = signs(det_path, gt_path)
    assert (
        reported is not None
        and reported.startswith("ground truth and detections may have been swapped: ")
        and sign in reported
    )
    result = CliRunner().invoke(main, ["validate", str(det_path), str(gt_path)])
    assert result.exit_code == 0
    assert re.search("warnings\n(.*\n)*.* may\\s+have\\s+been\\s+swapped: ", result.output)
    said = " ".join(result.output.split())
    assert "the ground truth is given first, then the detections" in said


def test_a_side_against_itself_or_named_as_the_other_is_not_swapped(tmp_path: Path) -> None:
    gt = zipped(tmp_path / "gt.zip", GT)
    det = zipped(tmp_path / "det.zip", {f"res_{k}.txt": f"{QUAD},0.{k}5\n" for k in range(3)})
    assert signs(gt, gt) is None
    assert signs(det, det) is None
    prices = zipped(tmp_path / "prices.zip", {"0.txt": f"{QUAD},0.99\n{QUAD},word\n{QUAD},0.5\n"})
    assert signs(prices, zipped(tmp_path / "plain.zip", {"0.txt": f"{QUAD}\n"})) is None


@pytest.mark.parametrize(
    "name", [name for name, sample in SAMPLES.items() if sample.det and not sample.det_format]
)
def test_samples_swapped(tmp_path: Path, name: str) -> None:
    """Reported in every format with a sign of the side; never if nothing is swapped."""
    sample = SAMPLES[name]
    gt, det = written(tmp_path / "gt", sample, "gt"), written(tmp_path / "det", sample, "det")
    assert signs(gt, det) is None
    named = all(file.startswith("gt_") for file in sample.gt) and not sample.many_in_one
    if named or sample.has_confidences:
        assert signs(det, gt), name


def test_coco_results_as_ground_truth(tmp_path: Path) -> None:
    bare = [
        {key: value for key, value in record.items() if key != "score"} for record in COCO_RESULTS
    ]
    gt = written(tmp_path / "gt", SAMPLES["coco"], "gt")
    det = written(
        tmp_path / "det", Sample({}, {"det.json": json_of(bare)}, many_in_one=True), "det"
    )
    assert "the ground truth is a list of COCO results" in (signs(det, gt) or "")


def test_a_run_that_finds_next_to_nothing_says_so(tmp_path: Path) -> None:
    """One word of a hundred matches."""
    far = "".join(f"{x},900,{x + 9},900,{x + 9},910,{x},910,0.5\n" for x in range(0, 1000, 10))
    gt = in_folder(tmp_path / "a", {"res_0.txt": far + f"{QUAD},0.9\n"})
    near = "".join(f"{x},100,{x + 9},100,{x + 9},110,{x},110,w\n" for x in range(0, 1000, 10))
    det = in_folder(tmp_path / "b", {"gt_0.txt": near + f"{QUAD},word\n"})
    result = CliRunner().invoke(
        main, [str(gt), str(det), str(tmp_path / "res"), "--protocol", "iou"]
    )
    assert result.exit_code == 0
    assert "warning: ground truth and detections may have been swapped" in result.output


@pytest.mark.parametrize(("gt", "det"), SETS)
def test_whole_sets(gt: Path, det: Path) -> None:
    assert signs(gt, det) is None
    assert signs(det, gt) is not None


# Coordinates --------------------------------------------------------------------------------------


def rewritten(source: Path, target: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """The same archive, the leading numbers of every line changed."""
    leading = re.compile(r"^(?:-?[0-9.]+(?:, ?|(?=\r?$)))+", re.MULTILINE)

    def line(found: re.Match[str]) -> str:
        numbers = [number for number in re.split(", ?", found[0]) if number]
        odd = numbers[len(numbers) - len(numbers) % 2 :]
        return ",".join(change(numbers[: len(numbers) - len(odd)]) + odd) + "," * found[
            0
        ].rstrip().endswith(",")

    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(target, "w") as written:
        for name in packed.namelist():
            written.writestr(name, re.sub(leading, line, packed.read(name).decode("utf-8-sig")))
    return target


def transposed(numbers: list[str]) -> list[str]:
    return [number for pair in zip(numbers[1::2], numbers[::2], strict=True) for number in pair]


def suspicion(gt: Path, det: Path) -> str:
    """What is said of coordinates, without how much better they agree then."""
    (reported,) = [
        one
        for one in validate(gt, det).problems
        if one.kind == "coordinates" and "it seems" in one.found
    ]
    before, after = map(
        float, re.findall(r"IoU ([0-9.]+) as read, ([0-9.]+) so", reported.found)[0]
    )
    assert after >= before + 0.15
    return reported.found.removeprefix("it seems that ").partition(" (mean")[0]


@pytest.mark.parametrize("side", ["ground truth", "detections"])
@pytest.mark.parametrize(("gt", "det"), SETS)
def test_x_and_y_of_a_set(tmp_path: Path, gt: Path, det: Path, side: str) -> None:
    """Also of polygons; words stand upright then, on that side."""
    paths = [gt, det]
    which = side == "detections"
    paths[which] = rewritten(paths[which], tmp_path / "swapped.zip", transposed)
    assert suspicion(*paths) == f"x and y are swapped in the {side}"


@pytest.mark.parametrize("side", ["ground truth", "detections"])
def test_corners_of_a_set_as_width_and_height(tmp_path: Path, side: str) -> None:
    """In a file of x,y,width,height."""
    paths = []
    for kind, source, title in zip(
        ("gt", "det"), BOXES, ("ground truth", "detections"), strict=True
    ):
        path = tmp_path / f"{kind}.txt"
        convert(source, path, kind)  # type: ignore[arg-type]
        if title == side:
            path.write_text(
                re.sub(r"(\S+),(\S+),(\S+),(\S+)$", _corners, path.read_text(), flags=re.MULTILINE)
            )
        paths.append(path)
    assert (
        suspicion(*paths)
        == f"the last two numbers of a box in the {side} are x1,y1 rather than width,height"
    )


def _corners(found: re.Match[str]) -> str:
    before, x = found[1].rsplit(",", 1) if "," in found[1] else ("", found[1])
    x0, y0, width, height = map(float, (x, *found.groups()[1:]))
    return f"{before},{x0:g},{y0:g},{x0 + width:g},{y0 + height:g}"


@pytest.mark.parametrize("side", ["ground truth", "detections"])
def test_width_and_height_of_a_set_as_corners(tmp_path: Path, side: str) -> None:
    """Most boxes then end where they cannot, which is refused; that says what it looks like."""
    paths = [*BOXES]
    which = side == "detections"

    def sized(numbers: list[str]) -> list[str]:
        x0, y0, x1, y1 = map(float, numbers)
        return [f"{value:g}" for value in (x0, y0, x1 - x0, y1 - y0)]

    paths[which] = rewritten(paths[which], tmp_path / "sized.zip", sized)
    (reported,) = [
        one
        for one in validate(*paths).problems
        if one.kind == "coordinates" and "end left of" in one.found
    ]
    assert reported.side == ("det" if which else "gt")
    assert reported.advice == "x0,y0,x1,y1; these look like x,y,width,height"
