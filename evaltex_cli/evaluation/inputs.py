"""The inputs of an evaluation, read and paired; what was read of each side; and the line that names
what scores depend on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, counted, quote
from evaltex_cli.evaluation.pairing import (
    NO_DETECTIONS,
    pair_images,
    with_names_of,
    without_other_pages,
)
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.coordinates import decided
from evaltex_cli.formats.filters import class_counts, only_classes, only_confident, with_dont_care
from evaltex_cli.formats.image_subset import digest, names_in, only_images, some_images
from evaltex_cli.formats.options import DONT_CARE_OBJECTS, IN_MEMORY, InputOptions, MaskFolders
from evaltex_cli.formats.reading import read, refuse_unused
from evaltex_cli.formats.sizes import with_sizes, with_sizes_of_each_other
from evaltex_cli.geometry.outlines import GeometryCounts
from evaltex_cli.protocols.base import Protocol
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.records import Ints, Objects
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.tables.record import Record
from evaltex_cli.version import __version__

SideInput: TypeAlias = tuple[Path | Source, Side, InputOptions]
LINES_OF_FILE = "file"
"""Value of a parameter `lines`: those of the ground truth of lines."""
_SHOWN_CLASSES = 5
_LEVELS, _CLASSES = ("gt_level", "det_level"), ("gt_classes", "det_classes")


@dataclass(frozen=True, eq=False, repr=False)
class Inputs:
    """Ground truth and detections, with their options and the faults found so far."""

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


# Reading ------------------------------------------------------------------------------------------


def open_inputs(
    gt: Path | Source, det: Path | Source, options: InputOptions, ordered_map: OrderedMap = map
) -> Inputs:
    """Read both sides, those of files with `ordered_map`; a `Source` has objects in memory.

    Raises `InputError` when an input cannot be read at all.
    """
    if getattr(ordered_map, "is_elsewhere", False):
        ordered_map = map  # a cluster gets columns, and need not find these files
    if any(isinstance(one, Source) and one.pictures is not None for one in (gt, det)):
        options = replace(options, masks=IN_MEMORY)
    sides: list[SideInput] = [(gt, "gt", options), (det, "det", options)]
    if all(isinstance(path, Path) and path.is_file() for path in (gt, det)):
        (ours, faults), (theirs, more) = ordered_map(opened, sides)
    else:  # files of folders are read side by side
        (ours, faults), (theirs, more) = (opened(one, ordered_map) for one in sides)
    faults += more
    refuse_unused(options, ours, theirs)
    theirs = without_other_pages(ours, with_names_of(ours, theirs))
    if options.only is not None:
        only = names_in(ours, options.only)
        options = replace(options, only=only)
        warnings = (*ours.warnings, some_images(ours, only))
        ours = only_images(replace(ours, warnings=warnings), only)
        theirs = only_images(theirs, only)
    if options.min_confidence is not None:
        theirs = only_confident(theirs, options.min_confidence)
    ours = _completed(ours, options)
    ours, theirs = with_coordinates(ours, theirs)
    read_so = [one.coordinates for one in (ours, theirs) if one.coordinates]
    if read_so:
        options = replace(options, coordinates=read_so[-1])
    lines = None
    if options.lines is not None:
        lines, more = opened((options.lines, "gt", options))
        lines = with_names_of(ours, _completed(lines, options))
        lines = lines if options.only is None else only_images(lines, options.only)
        faults += more
    if ours.fractions is not None or theirs.fractions is not None:
        paired = pair_images(ours, theirs, FaultLog())
        ours, theirs = with_sizes_of_each_other(ours, theirs, paired)
    return Inputs(ours, theirs, faults, options, lines)


def opened(side_input: SideInput, ordered_map: OrderedMap = map) -> tuple[Source, FaultLog]:
    """Return an input with the objects that are asked for, and what is wrong with it."""
    given, side, options = side_input
    faults = FaultLog()
    if not isinstance(given, Path):
        return given, faults
    preferred = getattr(PRESETS[options.preset], f"{side}_formats") if options.preset else ()
    source = read(given, side, options, faults, ordered_map, preferred)
    classes = getattr(options, f"{side}_classes")
    if not faults:
        source = _with_note(source, side) if classes is None else only_classes(source, classes)
    return source, faults


def _with_note(source: Source, side: Side) -> Source:
    """Return an input with a warning if the objects that count have several classes."""
    counts = {name: n for name, n in class_counts(with_dont_care(source, "drop")).items() if n}
    if len(counts) < 2:
        return source
    shown = [f"{name or 'without a class'} ({count})" for name, count in counts.items()]
    shown[_SHOWN_CLASSES:] = ["..."] if len(shown) > _SHOWN_CLASSES else []
    classes = f"{counted(sum(map(bool, counts)), '{count} class[es]')}: {', '.join(shown)}"
    note = f"{source.path}: {classes}; all are scored: --{side}-classes keeps some"
    return replace(source, warnings=(*source.warnings, note))


def _completed(gt: Source, options: InputOptions) -> Source:
    """Return a ground truth with the don't-care objects and the image sizes of the options."""
    gt = with_dont_care(gt, options.dont_care)
    return gt if options.images is None else with_sizes(gt, options.images)


def with_coordinates(gt: Source, det: Source) -> tuple[Source, Source]:
    """Return both sides with the boxes of models read as fits the other side; raises `InputError`
    if that is not decided.
    """
    if gt.reading is None and det.reading is None:
        return gt, det
    paired = pair_images(gt, det, FaultLog())
    back = np.full(len(det.names), NO_DETECTIONS)
    back[paired[paired >= 0]] = np.flatnonzero(paired >= 0)
    if gt.reading is not None:
        gt = decided(gt, None if det.reading else det, paired)
    return gt, decided(det, gt, back)


# What was read ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class InputCounts(Record):
    """What was read of one side; counts of different images add up."""

    images: int = 0
    objects: int = 0
    dont_care: int = 0
    transcriptions: int = 0
    """Objects whose transcription is not empty."""
    confidences: int = 0
    unconfident: int = 0
    """Objects that were left out for their confidence."""
    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0
    missing: int = 0
    """Images of the ground truth that the side does not have."""
    empty: int = 0

    @classmethod
    def of(cls, objects: Objects, repairs: GeometryCounts) -> InputCounts:
        """Count the objects of some images."""
        confidences = objects.confidences
        return cls(
            images=len(objects.offsets) - 1,
            objects=objects.count,
            dont_care=int(objects.dont_care.sum()),
            transcriptions=int(objects.texts.are_written.sum()),
            confidences=0 if confidences is None else int((~np.isnan(confidences)).sum()),
            **repairs._asdict(),
            empty=int((np.diff(objects.offsets) == 0).sum()),
        )

    def __add__(self, other: InputCounts) -> InputCounts:
        names = (field.name for field in fields(InputCounts))
        return InputCounts(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, repr=False)
class InputFile(Record):
    """A side's file, as results name it."""

    file: str = ""
    format: str = "memory"
    sha256: str = ""


@dataclass(frozen=True, repr=False)
class InputSummary(InputCounts, InputFile):
    """One side's file, then the counts of all of it, as in a result's .json."""


def summary_of(source: Source, counts: InputCounts) -> InputSummary:
    """Return the file of an input, and what was read of it."""
    return InputSummary(Path(source.path).name, source.format, source.sha256, **asdict(counts))


def input_warnings(
    options: InputOptions, gt: InputSummary, det: InputSummary, lines: InputCounts
) -> list[str]:
    """Return what a user should know of what was read, whatever the protocol."""
    warnings = []
    for side, counts in {"ground truth": gt, "detections": det, "lines": lines}.items():
        dropped = "left out, as if [it was|they were] not in the file"
        if options.invalid == "skip" and counts is gt:
            dropped = "skipped: [it counts|they count], and nothing matches [it|them]"
        repaired = "{count} invalid polygon[s] [was|were] repaired"
        sentences = {
            f"{repaired} (--invalid changes this)": counts.repaired,
            f"{{count}} invalid polygon[s] {dropped}": counts.dropped,
            "{count} object[s] without area; [it matches|they match] nothing": counts.zero_area,
        }
        warnings += [f"{side}: {counted(n, sentence)}" for sentence, n in sentences.items() if n]
    least = options.min_confidence
    if least is not None and det.confidences + det.unconfident:
        some = f"{det.unconfident} of {det.objects + det.unconfident} left out"
        warnings.append(f"detections: {some}, their confidence below {least}")
    elif least is not None:
        none = f"no detection of {det.file} has a confidence"
        warnings.append(f"{none}, so all stay, whatever the least confidence")
    if det.missing and det.images:
        missing = f"{{count}} of {counted(gt.images, '{count} image[s]')} [has|have] no detections"
        warnings.append(f"{counted(det.missing, missing)} in {det.file}")
    elif det.missing:
        warnings.append(f"{det.file}: no image in the detection file, as if nothing was detected")
    return warnings


# The signature ------------------------------------------------------------------------------------


def signature(
    protocol: Protocol,
    parameters: Any,
    options: InputOptions,
    images: int,
    gt_sha256: str,
    lines_sha256: str = "",
) -> str:
    """Return protocol, parameters other than their defaults, options, data, version in a line."""
    parts: list[tuple[str, Any]] = [("protocol", protocol.name), ("revision", protocol.version)]
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if value != field.default:
            parts.append((field.name, str(value).lower() if isinstance(value, bool) else value))
    takes_lines = getattr(parameters, "lines", None) == LINES_OF_FILE
    minimum, dont_care = options.min_confidence, options.dont_care
    parts += [
        ("gt_lines", (takes_lines and lines_sha256[:8]) or None),
        ("preset", options.preset),
        ("masks", None if options.masks is None else "yes"),
        *((name, getattr(options, name)) for name in (*_LEVELS, *_CLASSES)),
        ("min_confidence", None if minimum is None else float(minimum)),
        ("coordinates", options.coordinates),
        ("columns", options.columns),
        ("only", None if options.only is None else digest(options.only)),
        ("dont_care", None if dont_care == DONT_CARE_OBJECTS[0] else dont_care),
        ("invalid", options.invalid),
        ("images", images),
        ("gt", gt_sha256[:8] or "memory"),
        ("version", __version__),
    ]
    return "|".join(
        f"{name}:{','.join(value) if isinstance(value, tuple) else value}"
        for name, value in parts
        if value is not None
    )


def parts_of(line: str) -> dict[str, str]:
    """Return the parts of a `signature`, by their names."""
    return dict(part.partition(":")[::2] for part in line.split("|"))


def options_of(line: str) -> InputOptions:
    """Return a `signature`'s options; raises `ConfigError` or `ValueError` if it is none."""
    parts = parts_of(line)
    minimum, preset = parts.get("min_confidence"), parts.get("preset")
    texts = (*_LEVELS, "coordinates", "columns", "invalid", "dont_care")
    named: dict[str, Any] = {name: parts[name] for name in texts if name in parts}
    named |= {name: tuple(parts[name].split(",")) for name in _CLASSES if name in parts}
    return InputOptions(
        masks=MaskFolders(Path(), Path()) if parts.get("masks") == "yes" else None,
        min_confidence=None if minimum is None else float(minimum),
        preset=preset if preset in PRESETS else None,  # DetEval has a parameter of this name
        **named,
    )
