"""What a report reads in addition to results: shapes and transcriptions of
objects, and pictures of images.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluate import with_empty_images
from evaltex_cli.evaluation.inputs import Inputs, in_pixels, opened_lines
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, with_names_of
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import (
    only_classes,
    only_confident,
    treat_invalid,
    with_dont_care,
)
from evaltex_cli.formats.image_subset import only_images
from evaltex_cli.formats.reading import read
from evaltex_cli.formats.sizes import find_pictures, with_sizes
from evaltex_cli.records import Ints, Objects
from evaltex_cli.results.result_document import ResultDocument

DECIMALS = 2
"""Of coordinates, in pixels."""
MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Extension -> media type of what every browser shows."""
MOST_EMBEDDED_BYTES = 500_000_000


def open_evaluated(
    gt: Path, det: Sequence[Path], results: Sequence[ResultDocument], pictures: Path | None = None
) -> list[Inputs]:
    """Index the inputs of results again, one detector each.

    Parameters
    ----------
    pictures : Path, optional
        Their folder, for coordinates that are fractions of the page.

    Raises
    ------
    InputError
        When a file is not the one that was evaluated, by its SHA-256.
    """
    faults = FaultLog()
    whole = _same_source(gt, "gt", results[0], faults)
    only = tuple(results[0].table.rows.names) if "only" in results[0].signed else None
    of_gt = whole if only is None else only_images(whole, only)
    inputs = []
    for path, result in zip(det, results, strict=True):
        of_det = with_names_of(whole, _same_source(path, "det", result, faults))
        of_det = of_det if only is None else only_images(of_det, only)
        has_fractions = of_gt.fractions is not None or of_det.fractions is not None
        sized = with_sizes(of_gt, pictures) if pictures is not None and has_fractions else of_gt
        options = replace(result.options, masks=None, only=only)
        inputs.append(Inputs(*in_pixels(sized, of_det), faults, options))
    for of_detector in inputs:
        _ = of_detector.paired  # logs what does not pair
    faults.raise_if_any()
    return inputs


def open_lines(
    path: Path, inputs: Inputs, results: Sequence[ResultDocument], pictures: Path | None
) -> Source:
    """Index the ground truth of lines of results again.

    Raises
    ------
    InputError
        When no result is of lines, or of others, by the SHA-256 in its signature.
    """
    signed = {result.signed["gt_lines"] for result in results if "gt_lines" in result.signed}
    lines, faults = opened_lines(
        path, inputs.gt, replace(inputs.options, gt_format=None, images=pictures)
    )
    faults.raise_if_any()
    if signed != {lines.sha256[:8]}:
        were = (
            f"lines of SHA-256 {', '.join(sorted(signed))}"
            if signed
            else "no ground truth of lines"
        )
        raise InputError(
            f"{path}: is not what was evaluated ({were}, here {lines.sha256[:8]}); give that file,"
            " or leave out --lines"
        )
    return lines


def _same_source(path: Path, side: Side, result: ResultDocument, faults: FaultLog) -> Source:
    evaluated, minimum = getattr(result.inputs, side), result.options.min_confidence
    named: Any = {f"{side}_format": evaluated.format}
    source = read(path, side, replace(result.options, **named), faults)
    classes = getattr(result.options, f"{side}_classes")
    source = source if classes is None else only_classes(source, classes)
    if source.sha256 != evaluated.sha256:
        raise InputError(
            f"{path}: is not what was evaluated ({evaluated.file}, SHA-256 {evaluated.sha256[:8]},"
            f" here {source.sha256[:8]}); give that file, or evaluate again"
        )
    if side == "gt":
        return with_dont_care(source, result.options.dont_care)
    return source if minimum is None else only_confident(source, minimum)


def read_objects(inputs: Sequence[Inputs], start: int, stop: int) -> tuple[Source, list[Objects]]:
    """Read some images: their ground truth, and the detections of each detector.

    Parameters
    ----------
    inputs : sequence of Inputs
        Of each detector, on one ground truth.
    """
    gt = _part(inputs[0].gt, np.arange(start, stop), inputs[0].options.invalid, "gt")
    detections = []
    for of_detector in inputs:
        positions = of_detector.paired[start:stop]
        present = positions != NO_DETECTIONS
        det = _part(of_detector.det, positions[present], of_detector.options.invalid, "det")
        detections.append(with_empty_images(det.objects, present))
    return gt, detections


def _part(source: Source, positions: Ints, invalid: str, side: Side) -> Source:
    """Return the objects that were evaluated; those that nothing could match
    are drawn where they are.
    """
    shown = "repair" if (invalid, side) == ("skip", "gt") else invalid
    part = source.part(positions)
    return replace(part, objects=treat_invalid(part.objects, shown, side)[0])


def pictures_of(folder: Path, names: Sequence[str]) -> list[Path | None]:
    """Return each image's picture of `MEDIA_TYPES` in a folder or below it
    (`image_sizes.find_pictures`).

    Raises
    ------
    InputError
        When the folder cannot be read, or has a picture of none of the images.
    """
    pictures = find_pictures(folder, names, tuple(MEDIA_TYPES))
    if names and not any(pictures):
        raise InputError(
            f"{folder}: holds no picture of any image; expected {quote(names[0])} with one of"
            f" {', '.join(MEDIA_TYPES)}"
        )
    return pictures


def refuse_too_large(pictures: Sequence[Path | None]) -> None:
    """Refuse to embed more than a browser opens."""
    size = sum(_size(path) for path in pictures if path is not None)
    if size > MOST_EMBEDDED_BYTES:
        raise InputError(
            f"pictures of {size / 1e6:.0f} MB are too much for one file (at most"
            f" {MOST_EMBEDDED_BYTES / 1e6:.0f} MB);"
            " leave out --embed, then they are linked"
        )


def _size(picture: Path) -> int:
    try:
        return picture.stat().st_size
    except OSError as error:
        raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error


def link(picture: Path, page_folder: Path) -> str:
    """The URL of a picture, relative to the page where that is possible."""
    target, start = (Path(os.path.realpath(path)) for path in (picture, page_folder))
    try:
        relative = Path(os.path.relpath(target, start))
    except ValueError:
        return target.as_uri()
    return quote_url(relative.as_posix())


def data_url(picture: Path) -> str:
    """The picture itself, as a URL.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    try:
        content = picture.read_bytes()
    except OSError as error:
        raise InputError(f"{picture}: cannot be read ({error.strerror or error})") from error
    encoded = base64.b64encode(content).decode("ascii")
    return f"data:{MEDIA_TYPES[picture.suffix.lower()]};base64,{encoded}"
