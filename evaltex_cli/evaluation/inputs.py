"""The inputs of an evaluation, read and paired, and the line that names what scores depend on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, counted, quote
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, pair_images, with_names_of
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.filters import class_counts, only_classes, only_confident, with_dont_care
from evaltex_cli.formats.image_subset import digest, names_in, only_images, some_images
from evaltex_cli.formats.options import (
    DONT_CARE_OBJECTS,
    INVALID_POLYGONS,
    InputOptions,
    MaskFolders,
)
from evaltex_cli.formats.reading import read, refuse_unused
from evaltex_cli.formats.sizes import with_sizes, with_sizes_of_each_other
from evaltex_cli.protocols.base import Protocol
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.records import Ints
from evaltex_cli.runtime import OrderedMap, is_elsewhere
from evaltex_cli.version import __version__

SideInput: TypeAlias = tuple[Path | Source, Side, InputOptions]
LINES_OF_FILE = "file"
"""Value of a parameter `lines`: those of the ground truth of lines."""
_SIGNED = (
    *("gt_level", "det_level", "gt_classes", "det_classes"),
    *("min_confidence", "coordinates", "columns"),
)
"""Options that are in the signature if they are named."""
_SHOWN_CLASSES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Inputs:
    """Ground truth, detections, and the ground truth of lines if there is one, with their options
    and the faults found so far.
    """

    gt: Source
    det: Source
    faults: FaultLog
    options: InputOptions
    lines: Source | None = None

    @cached_property
    def paired(self) -> Ints:
        """(images,) where the detections of each image are; the first access logs faults."""
        return pair_images(self.gt, self.det, self.faults)

    @cached_property
    def paired_lines(self) -> Ints:
        """(images,) where the lines of each image are; the first access logs images without."""
        if self.lines is None:
            return np.zeros(0, np.int64)
        paired = pair_images(self.gt, self.lines, self.faults)
        for k in np.flatnonzero(paired == NO_DETECTIONS).tolist():
            found = f"no image {quote(self.gt.names[k])}"
            self.faults.add(self.lines.path, None, found, f"all images of {self.gt.path}")
        return paired


def open_inputs(
    gt: Path | Source, det: Path | Source, options: InputOptions, ordered_map: OrderedMap = map
) -> Inputs:
    """Read both sides; a `Source` has objects in memory (`formats.memory`).

    Inputs of many files are read by `ordered_map` (`runtime.workers`). Raises `InputError` when an
    input cannot be read at all.
    """
    if is_elsewhere(ordered_map):
        ordered_map = map  # a cluster gets columns, and need not find these files
    sides: list[SideInput] = [(gt, "gt", options), (det, "det", options)]
    if all(isinstance(path, Path) and path.is_file() for path in (gt, det)):
        (gt_source, faults), (det_source, more) = ordered_map(opened, sides)
    else:  # files of folders are read side by side
        (gt_source, faults), (det_source, more) = (opened(one, ordered_map) for one in sides)
    faults.extend(more)
    refuse_unused(options, gt_source, det_source)
    if gt_source.names == det_source.names:
        det_source = replace(det_source, names=gt_source.names)  # else they are in memory twice
    det_source = with_names_of(gt_source, det_source)
    if options.only is not None:
        only = names_in(gt_source, options.only)
        options = replace(options, only=only)
        warnings = (*gt_source.warnings, some_images(gt_source, only))
        gt_source = only_images(replace(gt_source, warnings=warnings), only)
        det_source = only_images(det_source, only)
    if options.min_confidence is not None:
        det_source = only_confident(det_source, options.min_confidence)
    gt_source = _completed(gt_source, options)
    lines = None
    if options.lines is not None:
        lines, more = opened_lines(options.lines, gt_source, options)
        faults.extend(more)
    gt_source, det_source = in_pixels(gt_source, det_source)
    return Inputs(gt_source, det_source, faults, options, lines)


def opened(side_input: SideInput, ordered_map: OrderedMap = map) -> tuple[Source, FaultLog]:
    """Return an input with the objects that are asked for, and what is wrong with it."""
    given, side, options = side_input
    faults = FaultLog()
    if not isinstance(given, Path):
        return given, faults
    preferred = PRESETS[options.preset].formats[side] if options.preset else ()
    source = read(given, side, options, faults, ordered_map, preferred)
    if not faults.count:
        source = _with_classes(source, side, getattr(options, f"{side}_classes"))
    return source, faults


def _with_classes(source: Source, side: Side, classes: tuple[str, ...] | None) -> Source:
    """Return an input with the objects of some classes; without, with a note if it has several."""
    if classes is not None:
        return only_classes(source, classes)
    counts = class_counts(source)
    if len(counts) < 2:
        return source
    shown = [f"{name or 'without a class'} ({count})" for name, count in counts.items()]
    shown[_SHOWN_CLASSES:] = ["..."] if len(shown) > _SHOWN_CLASSES else []
    note = (
        f"{source.path}: {counted(sum(map(bool, counts)), '{count} class[es]')}:"
        f" {', '.join(shown)}; all are scored: --{side}-classes keeps some"
    )
    return replace(source, warnings=(*source.warnings, note))


def opened_lines(path: Path, gt: Source, options: InputOptions) -> tuple[Source, FaultLog]:
    """Read a ground truth of lines, its images named as those of `gt`; its faults are logged."""
    lines, faults = opened((path, "gt", options))
    lines = with_names_of(gt, _completed(lines, options))
    return lines if options.only is None else only_images(lines, options.only), faults


def _completed(gt: Source, options: InputOptions) -> Source:
    """Return a ground truth with the don't-care objects and the image sizes of the options."""
    gt = with_dont_care(gt, options.dont_care)
    return gt if options.images is None else with_sizes(gt, options.images)


def in_pixels(gt: Source, det: Source) -> tuple[Source, Source]:
    """Return both sides with coordinates that are fractions of the page made pixels by the other
    side's image sizes.
    """
    if gt.fractions is None and det.fractions is None:
        return gt, det
    return with_sizes_of_each_other(gt, det, pair_images(gt, det, FaultLog()))


# The signature ------------------------------------------------------------------------------------


def parts_of(line: str) -> dict[str, str]:
    """Return the parts of a `signature`, by their names."""
    return dict(part.partition(":")[::2] for part in line.split("|"))


def options_of(line: str) -> InputOptions:
    """Return the options that are in a `signature`; label pictures are in folders without a name.

    Raises `ConfigError` or `ValueError` when it is not a signature.
    """
    parts = parts_of(line)
    minimum, preset = parts.get("min_confidence"), parts.get("preset")
    return InputOptions(
        masks=MaskFolders(Path(), Path()) if parts.get("masks") == "yes" else None,
        min_confidence=None if minimum is None else float(minimum),
        gt_level=parts.get("gt_level"),
        det_level=parts.get("det_level"),
        gt_classes=_names(parts.get("gt_classes")),
        det_classes=_names(parts.get("det_classes")),
        invalid=parts.get("invalid", INVALID_POLYGONS[0]),
        preset=preset if preset in PRESETS else None,  # DetEval has a parameter of this name
        coordinates=parts.get("coordinates"),
        columns=parts.get("columns"),
        dont_care=parts.get("dont_care", DONT_CARE_OBJECTS[0]),
    )


def _names(part: str | None) -> tuple[str, ...] | None:
    return None if part is None else tuple(part.split(","))


def signature(
    protocol: Protocol,
    parameters: Any,
    options: InputOptions,
    images: int,
    gt_sha256: str,
    lines_sha256: str = "",
) -> str:
    """Return protocol, every parameter that is not its default, options, data and version in one
    line. A ground truth in memory has no hash; that of lines is shown if the parameters take lines
    from it.
    """
    parts = [f"protocol:{protocol.name}", f"revision:{protocol.version}"]
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if value != field.default:
            parts.append(f"{field.name}:{str(value).lower() if isinstance(value, bool) else value}")
    named: dict[str, Any] = {
        "gt_lines": lines_sha256[:8] if takes_lines(parameters) and lines_sha256 else None,
        "preset": options.preset,
        "masks": None if options.masks is None else "yes",
        **{name: getattr(options, name) for name in _SIGNED},
        "only": None if options.only is None else digest(options.only),
        "dont_care": None if options.dont_care == DONT_CARE_OBJECTS[0] else options.dont_care,
        "invalid": options.invalid,
        "images": images,
        "gt": gt_sha256[:8] or "memory",
        "version": __version__,
    }
    if options.min_confidence is not None:
        named["min_confidence"] = float(options.min_confidence)
    for name, value in named.items():
        if value is not None:
            parts.append(f"{name}:{','.join(value) if isinstance(value, tuple) else value}")
    return "|".join(parts)


def takes_lines(parameters: Any) -> bool:
    """Whether a protocol's parameters take lines from the ground truth of lines."""
    return getattr(parameters, "lines", None) == LINES_OF_FILE
