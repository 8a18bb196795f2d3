"""In what order and scale the boxes of a vision-language model are, if
nothing declares it: all are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation import coordinate_mixups
from evaltex_cli.evaluation.inputs import in_pixels
from evaltex_cli.evaluation.pairing import pair_images, with_names_of
from evaltex_cli.formats.engines.chat_boxes import UndeclaredError
from evaltex_cli.formats.image_sizes import with_sizes
from evaltex_cli.formats.options import ORDERS, Coordinates, InputOptions
from evaltex_cli.validation.findings import Problem
from evaltex_cli.validation.input_check import Inspection

SCALES = (None, 1.0, 999.0, 1000.0)
_SHOWN = 3


def suggested(ours: Inspection, det: Path, options: InputOptions) -> Iterator[Problem]:
    """Yield a problem that says which coordinates agree best with the ground
    truth, if the detections need them.
    """
    try:
        formats.open_source(det, "det", FaultLog(), options.det_format, options)
        return
    except UndeclaredError:
        found = sorted(_agreements(ours, det, options), key=lambda item: -item[1])
    except InputError:
        return
    if not found:
        return
    listed = ", ".join(
        f"{agreement:.2f} as {coordinates}" for coordinates, agreement in found[:_SHOWN]
    )
    advice = f"--coordinates {found[0][0]}, if that is what the model was asked for"
    text = f"mean best IoU of the boxes with the ground truth: {listed}"
    yield Problem(
        level="warning", kind="coordinates", side="det", file=str(det), found=text, advice=advice
    )


def _agreements(ours: Inspection, det: Path, options: InputOptions) -> Iterator[tuple[str, float]]:
    """Yield coordinates that are possible, and how well the boxes agree with
    the ground truth by them.
    """
    gt = ours.source if options.images is None else with_sizes(ours.source, options.images)
    for order, scale in product(ORDERS, SCALES):
        tried = str(Coordinates(order, scale))
        try:
            opened = formats.open_source(
                det, "det", FaultLog(), options.det_format, replace(options, coordinates=tried)
            )
            theirs = with_names_of(gt, opened)
            batch = coordinate_mixups.sample(
                *in_pixels(gt, theirs), pair_images(gt, theirs, FaultLog())
            )
        except InputError:  # numbers beyond the scale, or sizes that are not known
            continue
        yield tried, coordinate_mixups.agreement(batch)
