"""`evaltex_cli.convert`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Literal

from evaltex_cli.api.inputs import AnyPath, Images, images_of, warn
from evaltex_cli.audit.patches import patched
from evaltex_cli.conversion import Target
from evaltex_cli.conversion import convert as conversion
from evaltex_cli.conversion.convert import Converted
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.arrays import image_size
from evaltex_cli.formats import memory
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import InputOptions


def convert(
    source: Images,
    target: AnyPath,
    *,
    to: str | None = None,
    kind: Side | None = None,
    source_format: str | None = None,
    source_level: str | None = None,
    source_classes: Iterable[str] | None = None,
    regions: Literal["own", "lines"] = "own",
    boxes: bool = False,
    masks: AnyPath | None = None,
    mask_format: Literal["tif", "png"] = "tif",
    images: AnyPath | None = None,
    min_confidence: float | None = None,
    coordinates: str | None = None,
    columns: str | None = None,
    only: Iterable[str] | None = None,
    patch: AnyPath | None = None,
) -> Converted:
    """Write ground truth or detections to a file of another format, or to a folder of files.

    Parameters
    ----------
    source : path, or objects of each image
        Anything that `evaluate` takes as one side. Arrays are best given as image name -> objects.
    target : path
        The file to write, or the folder if the format has one file per image. What is there is
        replaced at the end.
    to : str, optional
        Name of the format; by default by the ending of the target.
    kind : {'gt', 'det'}, optional
        What the source is; by default it is found out, and needed for arrays.
    source_format : str, optional
        Name of the source's format, if the content should not decide.
    source_level : {'word', 'line', 'paragraph', 'region', 'character'}, optional
        What of a document is written, by default the finest that it has.
    source_classes : iterable of str, optional
        The classes of the objects that are written; by default all.
    regions : {'own', 'lines'}
        Whether regions stay as they are, or words are grouped into lines.
    boxes : bool
        Whether polygons are written as their bounding boxes.
    masks : path, optional
        Folder for label pictures of the objects, in `mask_format`; the target is then an EvaLTex
        file.
    images : path, optional
        Folder of the images' pictures, for sizes that the source does not have.
    min_confidence : float, optional
        Objects whose confidence is lower are left out.
    coordinates, columns : str, optional
        As `evaluate`.
    only : iterable of str, optional
        Names of the images that are written; by default all.
    patch : path, optional
        Patch of the source, which is then ground truth: its accepted entries are applied.

    Returns
    -------
    Converted
        How many images and objects were written, and what the target does not contain as the source
        did.

    Raises
    ------
    InputError
        For a faulty source, a patch that does not fit it, and a target that cannot be written; the
        target is then left as it was.
    ConfigError
        For arrays without `kind`, and a value out of range.
    """
    how = Target(to, regions, boxes, None if masks is None else Path(masks), mask_format)
    change = None if patch is None else partial(patched, Path(patch))
    classes = None if source_classes is None else tuple(source_classes)
    options = InputOptions(
        gt_format=source_format,
        det_format=source_format,
        gt_level=source_level,
        det_level=source_level,
        gt_classes=classes,
        det_classes=classes,
        images=None if images is None else Path(images),
        min_confidence=min_confidence,
        coordinates=coordinates,
        columns=columns,
        only=None if only is None else tuple(only),
    )
    if isinstance(source, str | PathLike):
        given: Path | Source = Path(source)
    elif kind is None:
        raise ConfigError("kind is not given; objects in memory need kind='gt' or kind='det'")
    else:
        objects = images_of(kind, source) or {}
        pictures = {name: getattr(one, "picture", None) for name, one in objects.items()}
        sizes = {name: image_size(one.shape) for name, one in pictures.items() if one is not None}
        given = memory.source(kind, objects, sizes)
    done = conversion.convert(given, Path(target), kind, how, options, change=change)
    warn(done.warnings)
    return done
