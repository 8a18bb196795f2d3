"""Quadrilaterals and polygons against boxes; DetEval's curves against one threshold."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import make_data
from measure import (
    SHARED,
    Measured,
    Ratio,
    Skipped,
    can_measure_memory,
    peak_memory,
    time_in_turn,
)
from sizes import OBJECTS, Sizes, run_of

from evaltex_cli import evaluate

KINDS = {"quadrilaterals": "quadrilaterals", "polygons": "polygons of 8 vertices"}
LIMITS = {
    ("evaltex", "quadrilaterals"): 4.0,
    ("evaltex", "polygons"): 8.0,
    ("iou", "quadrilaterals"): 2.5,
    ("iou", "polygons"): 5.0,
}
LIMIT_IN_PROCESS = 8.0
LIMIT_OF_CURVES = 3.0
LIMIT_OF_MEMORY = 2.0
SETS = {
    "ICDAR 2015, PixelLink": ("icdar2015/gt.zip", "icdar2015/pixellink.zip"),
    "ICDAR 2013, words in three": ("icdar2013/gt.zip", "icdar2013/cleval/split3.zip"),
}


def _texts(folder: Path, sizes: Sizes) -> dict[str, tuple[Path, Path]]:
    return {
        kind: make_data.make_texts(folder / kind, sizes.shape_images, OBJECTS, kind)
        for kind in ("boxes", *KINDS)
    }


def shape_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Whole processes on quadrilaterals and polygons, against one on as many boxes; and polygons
    without the start of a process.
    """
    paths, count = _texts(folder, sizes), f"{sizes.shape_images * OBJECTS:,}"
    ratios = []
    for protocol in ("evaltex", "iou"):
        works = [run_of(*of_kind, "--protocol", protocol) for of_kind in paths.values()]
        seconds = dict(zip(paths, time_in_turn(works, sizes.runs), strict=True))
        boxes = Measured("as many boxes", seconds["boxes"])
        ratios += [
            Ratio(
                Measured(f"`{protocol}`, a run on {count} {what} a side", seconds[kind]),
                boxes,
                LIMITS[protocol, kind],
            )
            for kind, what in KINDS.items()
        ]
    works = [partial(evaluate, *paths[kind]) for kind in ("polygons", "boxes")]
    ours, theirs = time_in_turn(works, sizes.runs)
    this = Measured(f"`evaluate()`, {count} polygons of 8 vertices", ours)
    return [*ratios, Ratio(this, Measured("as many boxes", theirs), LIMIT_IN_PROCESS)]


def shape_memory_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Peak memory of runs on quadrilaterals, polygons and COCO JSON, against as many boxes."""
    if not can_measure_memory():
        return []
    paths, count = _texts(folder, sizes), f"{sizes.shape_images * OBJECTS:,}"
    _, documents = make_data.make_coco(folder, sizes.shape_images, OBJECTS)
    boxes = _peak("as many boxes", *paths["boxes"])
    what = f"memory, a run on {count}"
    return [
        Ratio(_peak(f"{what} {name} a side", *of_kind), boxes, LIMIT_OF_MEMORY)
        for name, of_kind in (
            ("quadrilaterals", paths["quadrilaterals"]),
            ("polygons of 8 vertices", paths["polygons"]),
            ("quadrilaterals in COCO JSON", documents),
        )
    ]


def _peak(name: str, *paths: Path) -> Measured:
    megabytes, _ = peak_memory("-m", "evaltex_cli", *paths, "--quiet")
    return Measured(name, [megabytes], unit="MB")


def curve_ratios(_: Path, sizes: Sizes) -> list[Ratio | Skipped]:
    """DetEval with the graphs of all thresholds, T = 20, against one setting of them."""
    ratios: list[Ratio | Skipped] = []
    for name, files in SETS.items():
        what = f"DetEval's curves, T = 20, on {name}"
        paths = [SHARED / file for file in files]
        if not all(path.exists() for path in paths):
            ratios.append(Skipped(what, f"{SHARED} is missing", LIMIT_OF_CURVES))
            continue
        given = (*paths, "--protocol", "deteval")
        works = [run_of(*given, "--set", f"curve_points={points}") for points in (20, 0)]
        ours, theirs = time_in_turn(works, sizes.runs)
        ratios.append(Ratio(Measured(what, ours), Measured("one threshold", theirs), 3.0))
    return ratios
