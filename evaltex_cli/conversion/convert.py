"""Any readable source to a file of another format, with label pictures if wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from evaltex_cli.conversion import label_pictures
from evaltex_cli.conversion.text_lines import group_lines
from evaltex_cli.conversion.writer import Job, is_own, write, writer_name
from evaltex_cli.errors import FaultLog, FaultsError, InputError, counted
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.coordinates import decided
from evaltex_cli.formats.filters import only_classes, only_confident
from evaltex_cli.formats.image_subset import names_in, only_images
from evaltex_cli.formats.names import bad_names
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read, refuse_unused
from evaltex_cli.formats.sizes import refuse_fractions, with_sizes
from evaltex_cli.records import ANY_TYPE, Outlines
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.input_files import files_of
from evaltex_cli.runtime.outputs import output_folder
from evaltex_cli.tables.record import Record

Change: TypeAlias = Callable[[Source, Collection[str] | None], tuple[Source, list[str]]]
"""Returns a changed source, and notes; gets the names of the images that are written, or None."""
KINDS: dict[Side, str] = {"gt": "ground truth", "det": "detections"}


@dataclass(frozen=True, slots=True, repr=False)
class Converted(Record):
    """What a conversion wrote; `notes` say what the target does not contain as the source did."""

    images: int
    objects: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def convert(
    source: Path | Source,
    target: Path,
    side: Side | None = None,
    to: str | None = None,
    options: InputOptions | None = None,
    ordered_map: OrderedMap = map,
    change: Change | None = None,
    regions: Literal["own", "lines"] = "own",
    boxes: bool = False,
    masks: Path | None = None,
    mask_format: Literal["tif", "png"] = "tif",
) -> Converted:
    """Write an input, or objects in memory, to a file of another format, or to a folder of files.

    Without `side` it is found out what the source is; `ordered_map` reads it (`workers`); `change`
    changes it (`audit.patches.patched`), and it is ground truth then. The others are those of
    `evaltex_cli.convert`. Raises `InputError` for a faulty source, a patch that does not fit it, or
    a target that cannot be written; the targets are then left as they were.
    """
    options = options or InputOptions()
    name = writer_name(to, target)
    if masks is not None and name != "evaltex":
        raise InputError(f"label pictures go with an EvaLTex file, not with {name}; leave out one")
    notes = []
    if change is not None:
        if side == "det":
            raise InputError("a patch is of ground truth, not of detections; leave out --kind det")
        side = "gt"
    if isinstance(source, Path):
        _refuse_in_source(source, target)
        if side is None:
            side, source = _read_as_either(source, options, ordered_map)
            notes.append(f"{source.path} is taken for {KINDS[side]}; --kind says otherwise")
        else:
            source = read_source(source, side, options, ordered_map)
    elif side is None:
        raise InputError("objects in memory: say whether they are ground truth or detections")
    job = Job(target, side, source)
    _prepare(job, options, change, boxes, regions == "lines")
    with ExitStack() as stack:
        if masks is not None:
            folder = stack.enter_context(output_folder(masks, is_own))
            label_pictures.draw_all(job, folder, mask_format)
        write(job, name)
    notes += [*job.notes, *(counted(n, text) for text, n in job.lost.items() if n)]
    return Converted(len(job.source.names), job.objects.count, tuple(notes), source.warnings)


def _refuse_in_source(source: Path, target: Path) -> None:
    """Refuse a target that is the source, or a file in it."""
    place, files = Path(os.path.realpath(target)), files_of(source) if target.exists() else []
    if any(place.is_relative_to(os.path.realpath(file)) for file in files):
        raise InputError(f"{target}: is the source itself, or in it; write to another place")


def read_source(
    path: Path, side: Side, options: InputOptions, ordered_map: OrderedMap = map
) -> Source:
    """Read a source; raises `InputError` for its faults, and if it has no image."""
    faults = FaultLog()
    source = read(path, side, options, faults, ordered_map)
    faults.raise_if_any()
    refuse_unused(options, source)
    if not source.names:
        expected = "give a file or folder of a format that `evaltex formats` lists"
        raise InputError(f"{path}: no image in it ({source.format} as its format); {expected}")
    source = decided(source, None, np.zeros(0, np.int64))
    classes = getattr(options, f"{side}_classes")
    return source if classes is None else only_classes(source, classes)


def _read_as_either(
    path: Path, options: InputOptions, ordered_map: OrderedMap
) -> tuple[Side, Source]:
    """Read an input as what it is, ground truth or detections: what alone can be read, or what it
    has a sign of, don't care or confidences; raises `InputError` without.
    """
    sources: dict[Side, Source] = {}
    errors: list[InputError] = []
    for side in KINDS:
        try:
            sources[side] = read_source(path, side, options, ordered_map)
        except InputError as error:
            errors.append(error)
    if not sources:  # what is told is that with the fewest faults, of the side that it probably is
        raise min(errors, key=lambda e: len(e.log) if isinstance(e, FaultsError) else np.inf)
    if not errors:
        confidences = sources["det"].objects.confidences
        has_all = confidences is not None and not np.isnan(confidences).any()
        # Libraries publish ground truth in ALTO with the confidences of their OCR.
        is_det = has_all and sources["det"].format != "alto"
        if is_det == sources["gt"].objects.dont_care.any():
            raise InputError(
                f"{path}: may be ground truth or detections; give --kind gt or --kind det"
            )
        del sources["gt" if is_det else "det"]
    ((side, source),) = sources.items()
    return side, source


def in_pixels(source: Source, options: InputOptions) -> Source:
    """Return a source with the sizes of its pictures; refuse what remains fractions of the page."""
    if options.images is not None:
        source = with_sizes(source, options.images)
    faults = FaultLog()
    refuse_fractions(source, faults)
    faults.raise_if_any()
    return source


def _prepare(
    job: Job, options: InputOptions, change: Change | None, as_boxes: bool, in_lines: bool
) -> None:
    """Change the source of a job into what is written."""
    for _, found, expected in bad_names(job.source.names):
        job.refuse(found, expected)
    job.faults.raise_if_any()
    names = None if options.only is None else names_in(job.source, options.only)
    if change is not None:
        job.source, job.notes = change(job.source, names)
    if names is not None:
        job.source = only_images(job.source, names)
    if options.min_confidence is not None:
        job.source = only_confident(job.source, options.min_confidence)
        sentence = "{count} object[s] left out, [its|their] confidence below "
        job.lost[f"{sentence}{options.min_confidence}"] = job.source.unconfident
    job.source = in_pixels(job.source, options)
    objects = job.objects
    if objects.types is not None:
        job.lost["{count} object type[s] left out"] = int((objects.types != ANY_TYPE).sum())
    if as_boxes:
        objects = replace(objects, outlines=Outlines.of_boxes(objects.boxes))
    if in_lines:
        ends = pairwise(objects.offsets.tolist())
        regions = [group_lines(objects.boxes[start:stop]) for start, stop in ends]
        objects = replace(objects, regions=np.concatenate(regions))
    job.source = replace(job.source, objects=objects)
