"""`evaltex_cli.validate`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

from evaltex_cli.api.inputs import AnyPath, Images, images_of, sides
from evaltex_cli.display import Rows
from evaltex_cli.formats import memory
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.validation import validation
from evaltex_cli.validation.findings import Validation


def validate(
    gt: Images,
    det: Images | None = None,
    *,
    gt_format: str | None = None,
    det_format: str | None = None,
    gt_level: str | None = None,
    det_level: str | None = None,
    gt_classes: Iterable[str] | None = None,
    det_classes: Iterable[str] | None = None,
    images: AnyPath | None = None,
    invalid_polygons: Literal["repair", "drop", "skip", "error"] = "repair",
    coordinates: str | None = None,
    columns: str | None = None,
    only: Iterable[str] | None = None,
) -> Validation:
    """Report everything about ground truth and detections that is wrong or suspicious.

    Parameters
    ----------
    gt, det : path, or one array per image
        As `evaluate`; `det` may be left out.
    gt_format, det_format : str, optional
        Names of formats, if the content should not decide.
    gt_level, det_level, gt_classes, det_classes : optional
        As `evaluate`.
    images : path, optional
        Folder of the images' pictures, for sizes that the ground truth does not have, and to check
        those it has.
    invalid_polygons : {'repair', 'drop', 'skip', 'error'}
        With ``error``, invalid polygons are errors, not warnings.
    coordinates, columns : str, optional
        As `evaluate`.
    only : iterable of str, optional
        Names of the images that are looked at; by default all.

    Returns
    -------
    Validation
        Its `passed` says whether an evaluation would run; `problems` has what is wrong, with file
        and line.

    Raises
    ------
    InputError
        When `images` cannot be read, or arrays are no objects. What is wrong with files is in the
        result.
    ConfigError
        For a value out of range.

    Examples
    --------
    >>> found = validate([[[0, 0, 100, 20]]], [[[0, 0, 100, 20], [0, 0, 100, 20]]])
    >>> found.passed, found.problems[0].kind
    (True, 'duplicate')
    """
    one, other = _inputs(gt, det)
    options = InputOptions(
        gt_format=gt_format,
        det_format=det_format,
        gt_level=gt_level,
        det_level=det_level,
        gt_classes=None if gt_classes is None else tuple(gt_classes),
        det_classes=None if det_classes is None else tuple(det_classes),
        images=None if images is None else Path(images),
        invalid=invalid_polygons,
        coordinates=coordinates,
        columns=columns,
        only=None if only is None else tuple(only),
    )
    found = validation.validate(one, other, options)
    return replace(found, pairs=Rows(found.pairs), problems=Rows(found.problems))


def _inputs(gt: Images, det: Images | None) -> tuple[Path | Source, Path | Source | None]:
    if det is not None:
        both = sides(gt, det)
        return both.gt, both.det
    if isinstance(gt, str | PathLike):
        return Path(gt), None
    return memory.source("gt", images_of("gt", gt) or {}, {}), None
