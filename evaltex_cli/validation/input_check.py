"""Check one input as an evaluation would read it: its summary, and everything
wrong or suspicious about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import GIVEN_UP, FaultLog, InputError, counted, inside, quote
from evaltex_cli.evaluation.input_counts import InputCounts
from evaltex_cli.old_formats import locations
from evaltex_cli.old_formats.base import ReadImages, Side, Source
from evaltex_cli.old_formats.image_sizes import sizes_from_pictures
from evaltex_cli.old_formats.image_subset import only_images
from evaltex_cli.old_formats.locations import Location
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.old_formats.reading import read_parts
from evaltex_cli.records import Floats, Ints
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.validation import object_checks
from evaltex_cli.validation.findings import Level, Problem, SideSummary

BLOCK_IMAGES = 8192
BLOCK_BYTES = 1 << 20
_INVERTED_BOX = re.compile(r"a box from \(")


@dataclass(slots=True)
class Inspection:
    """One side while it is looked at."""

    side: Side
    source: Source
    faults: FaultLog
    """All that the reader refuses."""
    invalid: str
    """'repair', 'drop', 'skip' or 'error'. The policy for invalid polygons."""
    object_counts: NDArray[np.int32]
    """(images,) int32. Objects of each image, 0 before it is read."""
    counted: NDArray[np.int32]
    """(images,) int32. Those that are not don't care."""
    counts: InputCounts = field(default_factory=InputCounts)
    all_dont_care: int = 0
    reason: str = ""
    """Why the input is taken for its format."""
    names_in_file: Sequence[str] = ()

    def problem(
        self, level: Level, kind: str, found: str, advice: str, image: str | None = None
    ) -> Problem:
        """A problem of the input as a whole, or of an image."""
        return Problem(
            level=level,
            kind=kind,
            side=self.side,
            file=self.source.path,
            image=image,
            found=found,
            advice=advice,
        )

    def rename(self, renamed: Source, problems: list[Problem]) -> None:
        """Take the same input with other names of images; `problems` gets the
        warnings that it has more.
        """
        name, new = (
            f"{Path(self.source.path).name}: ",
            renamed.warnings[len(self.source.warnings) :],
        )
        problems += [self.problem("warning", "input", text.removeprefix(name), "") for text in new]
        self.names_in_file, self.source = self.source.names, renamed

    def take_only(self, names: Collection[str]) -> None:
        """Leave out all images but those of these names, before any is read."""
        if self.names_in_file:
            known = zip(self.source.names, self.names_in_file, strict=True)
            self.names_in_file = [own for name, own in known if name in names]
        self.source = only_images(self.source, names)
        self.object_counts, self.counted = (
            np.zeros(len(self.source.names), np.int32) for _ in range(2)
        )

    def summary(self) -> SideSummary:
        """What was read."""
        return SideSummary(
            file=self.source.path,
            format=self.source.format,
            reason=self.reason,
            images=len(self.source.names),
            objects=self.counts.objects,
            dont_care=self.counts.dont_care,
            transcriptions=self.counts.transcriptions,
            empty=int((self.object_counts == 0).sum()),
            all_dont_care=self.all_dont_care,
            invalid_polygons=self.counts.repaired,
            zero_area=self.counts.zero_area,
        )


def open_input(
    side: Side, given: Path | Source, options: InputOptions, problems: list[Problem]
) -> Inspection | None:
    """Index an input, unless it is in memory; None where it cannot be read,
    and `problems` gets why.
    """
    path = given if isinstance(given, Path) else Path(given.path)
    faults, format_name = FaultLog(), options.format_of(side)
    try:
        source = formats.open_source(given, side, faults, format_name, options)
        reason = "as was given" if format_name else formats.load(source.format).reason(path)
    except InputError as error:
        problems.append(unreadable(side, str(path), error))
        return None
    objects, counted_objects = (np.zeros(len(source.names), np.int32) for _ in range(2))
    opened = Inspection(
        side, source, faults, options.invalid, objects, counted_objects, reason=reason
    )
    problems += [
        opened.problem(
            "warning", "input", text.removeprefix(f"{path}: ").removeprefix(f"{path.name}: "), ""
        )
        for text in source.warnings
    ]
    return opened


def unreadable(side: Side, path: str, error: InputError) -> Problem:
    """The problem that an error reports; its text begins with the file, perhaps with the line."""
    parts = re.fullmatch(rf"({re.escape(path)}.*?)(?::([0-9]+))?: (.*)", str(error), re.DOTALL)
    if parts is None:
        return Problem(level="error", kind="input", side=side, file=path, found=str(error))
    line = int(parts[2]) if parts[2] else None
    return Problem(level="error", kind="input", side=side, file=parts[1], line=line, found=parts[3])


def picture_sizes(ours: Inspection, folder: Path | None, problems: list[Problem]) -> Floats:
    """(images, 2) heights and widths of the pictures in a folder; 0 where
    unknown, and `problems` gets of which.
    """
    names = ours.source.names
    if folder is None:
        return np.zeros((len(names), 2))
    sizes = sizes_from_pictures(folder, names)
    missing = [name for name, size in zip(names, sizes, strict=True) if not size.all()]
    if missing:
        shown = ", ".join(map(quote, missing[:3])) + (", ..." if len(missing) > 3 else "")
        of_all = (
            f"{{count}} of {counted(len(names), '{count} image[s]')} [has|have] no picture"
            " that can be read"
        )
        found = f"{counted(len(missing), of_all)}: {shown}"
        problem = ours.problem("warning", "picture", found, "one of the image's name")
        problems.append(replace(problem, file=str(folder)))
    return sizes


def read_all(
    one: Inspection, sizes: Floats, problems: list[Problem], ordered_map: OrderedMap = map
) -> Floats:
    """Read and check all images of a side.

    Parameters
    ----------
    sizes : (images, 2) float64
        Heights and widths of the pictures, 0 where unknown; those that the input states take their
        place.
    problems : list of Problem
        Gets what is found.
    ordered_map : callable
        What reads (`workers`); `map` does it here.

    Returns
    -------
    (images, 2) float64
        `sizes`.
    """
    for (start, stop), read in _read_blocks(one, problems, ordered_map):
        one.faults.extend(read.faults)
        problems += _size_problems(one, range(start, stop), read.sizes, sizes[start:stop])
        known = (read.sizes > 0).all(axis=1)
        sizes[start:stop][known] = read.sizes[known]
        _count(one, start, read)
        problems += _object_problems(one, range(start, stop), read, sizes[start:stop])
        if one.faults.gives_up:
            found = f"after {GIVEN_UP} faults the input was not read any further"
            problems.append(one.problem("error", "input", found, "is it of another format?"))
            break
    problems += _faults(one)
    return sizes


def _read_blocks(
    one: Inspection, problems: list[Problem], ordered_map: OrderedMap
) -> Iterator[tuple[tuple[int, int], ReadImages]]:
    """Yield blocks of images and what is read of them, up to the first that cannot be read."""
    try:
        label = f"checking {Path(one.source.path).name}"
        yield from read_parts(one.source, _blocks(one.source.weights), label, ordered_map)
    except InputError as error:
        problems.append(unreadable(one.side, one.source.path, error))


def _blocks(weights: Ints) -> Iterator[tuple[int, int]]:
    """Cut images into blocks of bounded bytes and number."""
    start = 0
    while start < len(weights):
        bytes_until = np.cumsum(weights[start : start + BLOCK_IMAGES], dtype=np.int64)
        stop = start + max(int(np.searchsorted(bytes_until, BLOCK_BYTES, side="right")), 1)
        yield start, stop
        start = stop


def at(place: Location, problem: Problem, id: int | None = None) -> Problem:
    """Return a problem at its place in the file, of the object with an ID if one is given."""
    where = inside(place.where).removesuffix(": ")
    return replace(problem, file=place.file, line=place.line, where=where, object=id)


def _count(one: Inspection, start: int, read: ReadImages) -> None:
    objects = read.objects
    counts = np.diff(objects.offsets)
    one.object_counts[start : start + len(counts)] = counts
    one.counted[start : start + len(counts)] = np.bincount(
        objects.image[~objects.dont_care], minlength=len(counts)
    )
    one.counts += InputCounts.of(objects, read.repairs, read.unconfident)
    one.all_dont_care += int(object_checks.all_dont_care(objects).sum())


def _size_problems(
    one: Inspection, positions: range, stated: Floats, pictures: Floats
) -> Iterator[Problem]:
    both = (stated > 0).all(axis=1) & (pictures > 0).all(axis=1)
    other = np.flatnonzero(both & (stated != pictures).any(axis=1)).tolist()
    found_at = locations.of_images(one.source, [positions[k] for k in other])
    for k in other:
        (height, width), (picture_height, picture_width) = stated[k].tolist(), pictures[k].tolist()
        swapped = (
            " (height and width are swapped)" if [width, height] == pictures[k].tolist() else ""
        )
        name = one.source.names[positions[k]]
        found = f"image {quote(name)}: height,width {height:g},{width:g}"
        advice = f"{picture_height:g},{picture_width:g}, as its picture has{swapped}"
        yield at(found_at[positions[k]], one.problem("warning", "picture", found, advice, name))


def _object_problems(
    one: Inspection, positions: range, read: ReadImages, sizes: Floats
) -> Iterator[Problem]:
    findings = list(object_checks.check(read.objects, sizes))
    rows = [finding.row for finding in findings]
    places = locations.of_objects(one.source, positions, read.objects, rows)
    for finding, (place, image, number) in zip(findings, places, strict=True):
        level: Level = (
            "error" if finding.kind == "invalid-polygon" and one.invalid == "error" else "warning"
        )
        problem = one.problem(level, finding.kind, finding.found, finding.advice, image)
        yield at(place, problem, None if finding.kind == "orientation" else number)


def _faults(one: Inspection) -> Iterator[Problem]:
    """What the reader refused, and what many such faults together say."""
    faults = one.faults.shown
    for fault in faults:
        problem = one.problem("error", "input", fault.found, f"expected {fault.expected}")
        yield at(Location(fault.file, fault.line, fault.where), problem)
    if one.faults.count > len(faults):
        found = counted(one.faults.count - len(faults), "{count} more fault[s]")
        yield one.problem("error", "input", found, "correct those before first")
    inverted = sum(_INVERTED_BOX.match(fault.found) is not None for fault in faults)
    if 2 * inverted >= inverted + one.object_counts.sum() > 0:
        found = f"{inverted} boxes end left of or above where they begin"
        yield one.problem(
            "warning", "coordinates", found, "x0,y0,x1,y1; these look like x,y,width,height"
        )
