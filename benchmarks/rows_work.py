"""Results other than the scores, against the plain run; and two jobs against one."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import make_data
from measure import (
    SHARED,
    Measured,
    Ratio,
    Work,
    can_measure_memory,
    peak_memory,
    time_in_turn,
    wall_clock,
)
from sizes import OBJECTS, Sizes, run_of

from evaltex_cli.runtime import cores

AT_LEAST = 0.59
"""Of the time of one job, what two jobs may take."""
ANALYSES = {"diagnose": 3.0, "--report": 2.0, "compare": 2.5}
LIMIT_OF_MEMORY = 2.0


def analysis_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Diagnosing, a report and a comparison of two detectors, against the plain run."""
    name, sides = _scene(folder, sizes)
    commands = _commands(folder, sides)
    works: list[Work] = [
        run_of(*sides[:2]),
        *(partial(_afresh, folder, run_of(*one)) for one in commands),
    ]
    plain, *others = time_in_turn(works, max(sizes.runs - 1, 0))
    ratios = [
        Ratio(Measured(f"`{what}`, {name}", seconds), Measured("the plain run", plain), limit)
        for (what, limit), seconds in zip(ANALYSES.items(), others, strict=True)
    ]
    if not can_measure_memory():
        return ratios
    least = Measured("the plain run", [_peak(*sides[:2])], unit="MB")
    for what, command in zip(ANALYSES, commands, strict=True):
        shutil.rmtree(folder / "results", ignore_errors=True)
        this = Measured(f"memory, `{what}`, {name}", [_peak(*command)], unit="MB")
        ratios.append(Ratio(this, least, LIMIT_OF_MEMORY))
    return ratios


def _scene(folder: Path, sizes: Sizes) -> tuple[str, list[Path]]:
    """Return what the data are, and the ground truth and two detectors' results."""
    images = sizes.analysis_images
    if SHARED.exists():
        sides = make_data.make_repeated(folder, SHARED / "icdar2015", images)
        return f"{images:,} images of ICDAR 2015", sides
    return f"{images:,} images of scene text", make_data.make_scene_text(folder, images)


def _commands(folder: Path, sides: list[Path]) -> list[tuple[object, ...]]:
    output = ("--format", "json", "--output")
    return [
        ("diagnose", *sides[:2], *output, folder / "diagnosis.json"),
        (*sides[:2], folder / "results", "--report"),
        ("compare", *sides, *output, folder / "comparison.json"),
    ]


def _afresh(folder: Path, work: Work) -> None:
    """Work without results of an earlier run. They are not removed now: that takes time, and ext4
    without a journal looks at every file that was just removed when it makes one.
    """
    with suppress(FileNotFoundError):
        (folder / "results").rename(folder / f"results-{time.monotonic_ns()}")
    work()


def _peak(*command: object) -> float:
    return peak_memory("-m", "evaltex_cli", *command)[0]


def jobs_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Two processes against one, where there are two processors."""
    if cores() < 2:
        return []
    boxes, some_boxes, polygons = (
        make_data.make_texts(folder / f"{kind}-{images}", images, OBJECTS, kind)
        for kind, images in (
            ("boxes", sizes.images),
            ("boxes", sizes.shape_images),
            ("polygons", sizes.shape_images),
        )
    )
    mask_images = 6 * sizes.mask_images  # some seconds of work, which workers are for
    masks = make_data.make_masks(folder / "masks", mask_images)
    results = folder / "results"
    ratios = []
    for what, given in (
        (f"{sizes.images:,} images of boxes", (*boxes, results)),
        (f"{sizes.shape_images:,} images of polygons", (*polygons, results)),
        (f"{2 * mask_images:,} label pictures", (*masks[:2], results, *masks[2:])),
        (f"{sizes.shape_images:,} images of boxes with `-a`", (*some_boxes, results, "-a")),
    ):
        works = [partial(_afresh, folder, run_of(*given, "--jobs", jobs)) for jobs in ("2", "1")]
        two, one = time_in_turn(works, sizes.runs, wall_clock)
        this = Measured(f"`--jobs 2`, {what}", two)
        ratios.append(Ratio(this, Measured("`--jobs 1`", one), AT_LEAST))
    return ratios
