"""Whether inputs can be evaluated, what is suspicious about them, and which images pair: everything at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from evaltex_cli import checks, formats, misreading, naming, pairing, places, sides
from evaltex_cli.errors import Fault, FaultLog, InputError, Steps, counted, inside, nearest, quote
from evaltex_cli.formats import archive
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.records import Floats, GeometryCounts, Ints, ReadImages, count_texts
from evaltex_cli.signature import INVALID_POLYGONS

Level = Literal["error", "warning"]

BLOCK_IMAGES = 8192
MOST_HINTS = 100
"""Names whose nearest relative is looked for; that is slow."""
_TITLES = {"gt": "ground truth", "det": "detections"}
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_LEADING_NUMBERS = re.compile(rf"\s*(?:{_NUMBER}(?:\s*,\s*|\s+|\s*\Z))*")
_ONE_NUMBER = re.compile(_NUMBER)
_INVERTED_BOX = re.compile(r"a box from \(")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong or suspicious.

    Attributes
    ----------
    level : {'error', 'warning'}
        An error stops an evaluation.
    kind : str
        ``input`` (cannot be read as it stands), ``extra-image``, ``missing-image``, ``empty-image``,
        ``invalid-polygon``, ``zero-area``, ``outside-picture``, ``duplicate``, ``orientation``, ``dont-care``,
        ``coordinates``, ``picture``, ``swapped-sides``.
    side : {'gt', 'det'}
    file : str
    line, column : int or None
        From 1; None of what has no line: whole files, and files that are no text.
    image : str or None
    object : int or None
        The object's ID.
    found, advice : str
        What stands there; what was expected, or is to be done.
    """

    level: Level
    kind: str
    side: Side
    file: str
    line: int | None
    column: int | None
    image: str | None
    object: int | None
    found: str
    advice: str


@dataclass(frozen=True, slots=True)
class SideSummary:
    """What one side holds, its format, and why it was taken for that."""

    file: str
    format: str
    reason: str
    images: int
    objects: int
    dont_care: int
    transcriptions: int
    empty: int
    all_dont_care: int
    invalid_polygons: int
    zero_area: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Images of both sides that are one.

    Attributes
    ----------
    gt, det : str or None
        Their names; None where a side has none.
    by : {'name', 'stem', 'number'} or None
        What the names share. Only those that share the whole name are evaluated together.
    objects, detections : int or None
        How many each has.
    """

    gt: str | None
    det: str | None
    by: str | None
    objects: int | None
    detections: int | None


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything found; sides are None where they cannot be read at all."""

    gt: SideSummary | None
    det: SideSummary | None
    pairs: list[Pair]
    problems: list[Problem]

    def count(self, level: Level) -> int:
        """Number of problems of a level."""
        return sum(problem.level == level for problem in self.problems)

    @property
    def passed(self) -> bool:
        """Whether an evaluation would run: there is no error."""
        return self.count("error") == 0


class _EveryFault(FaultLog):
    """Keeps all faults, not only the first."""

    def add(
        self, file: str, line: int | None, found: str, expected: str, column: int | None = None, where: Steps = ()
    ) -> None:
        self.count += 1
        self.shown.append(Fault(file, line, found, expected, column, where))


@dataclass(slots=True)
class _Input:
    """One side while it is looked at."""

    side: Side
    source: Source
    faults: FaultLog
    invalid: str
    object_counts: Ints
    dont_care: int = 0
    transcriptions: int = 0
    all_dont_care: int = 0
    mended: GeometryCounts = field(default_factory=GeometryCounts)
    reason: str = ""

    def problem(
        self, level: Level, kind: str, found: str, advice: str, image: str | None = None, place: str | None = None
    ) -> Problem:
        """A problem of the input as a whole, or of an image."""
        return Problem(level, kind, self.side, place or self.source.path, None, None, image, None, found, advice)

    def problem_at(
        self, place: places.ImagePlace, level: Level, kind: str, found: str, advice: str, image: str
    ) -> Problem:
        """A problem of an image that stands somewhere."""
        line, column = place.at or (None, None)
        return Problem(level, kind, self.side, place.file, line, column, image, None, found, advice)

    def summary(self) -> SideSummary:
        return SideSummary(
            file=self.source.path,
            format=self.source.format,
            reason=self.reason,
            images=len(self.source.names),
            objects=int(self.object_counts.sum()),
            dont_care=self.dont_care,
            transcriptions=self.transcriptions,
            empty=int((self.object_counts == 0).sum()),
            all_dont_care=self.all_dont_care,
            invalid_polygons=self.mended.repaired,
            zero_area=self.mended.zero_area,
        )


def validate(
    gt: Path,
    det: Path | None = None,
    *,
    gt_format: str | None = None,
    det_format: str | None = None,
    images: Path | None = None,
    invalid: str = INVALID_POLYGONS[0],
) -> Validation:
    """Read both inputs as an evaluation would, and tell everything about them that is wrong or suspicious.

    Parameters
    ----------
    gt, det : Path
        Inputs of any known format; `det` may be left out.
    gt_format, det_format : str, optional
        Formats' names, where content should not decide.
    images : Path, optional
        Folder of the images' pictures: for sizes where the ground truth has none, or to check those it has.
    invalid : {'repair', 'drop', 'error'}
        With `error` an invalid polygon is one; else a warning.

    Raises
    ------
    InputError
        When `images` cannot be read. What is wrong with the inputs is in the result.
    """
    problems: list[Problem] = []
    ours = _open("gt", gt, gt_format, invalid, problems)
    theirs = _open("det", det, det_format, invalid, problems) if det is not None else None
    paired, also = _paired(ours, theirs)
    partners = np.where(paired == pairing.NO_DETECTIONS, also, paired)
    if ours is not None:
        names = ours.source.names
        sizes = _read_all(ours, _picture_sizes(ours, images, problems), problems)
        if theirs is not None:
            det_sizes = np.zeros((len(theirs.source.names), 2))
            det_sizes[partners[partners >= 0]] = sizes[partners >= 0]
            _read_all(theirs, det_sizes, problems)
            problems += _pairing_problems(ours, theirs, paired, also)
            problems += _coordinate_problems(ours, theirs, paired if (paired >= 0).any() else also, sizes)
            problems += _swapped_problems(ours, theirs)
        if names and ours.object_counts.any() and ours.dont_care == ours.object_counts.sum():
            problems.append(
                ours.problem("warning", "dont-care", "every object is don't care", "objects that count; nothing does")
            )
    elif theirs is not None:
        _read_all(theirs, np.zeros((len(theirs.source.names), 2)), problems)
    return Validation(
        ours.summary() if ours else None,
        theirs.summary() if theirs else None,
        list(_pairs(ours, theirs, paired, also)) if ours and theirs else [],
        sorted(problems, key=lambda problem: (problem.level, problem.side != "gt")),
    )


def _open(side: Side, path: Path, format_name: str | None, invalid: str, problems: list[Problem]) -> _Input | None:
    faults = _EveryFault()
    try:
        source = formats.open_source(path, side, faults, format_name)
        reason = _reason(path, source.format, format_name)
    except InputError as error:
        problems.append(_unreadable(side, str(path), error))
        return None
    opened = _Input(side, source, faults, invalid, np.zeros(len(source.names), np.int64), reason=reason)
    problems += [
        opened.problem("warning", "input", text.removeprefix(f"{path}: ").removeprefix(f"{path.name}: "), "")
        for text in source.warnings
    ]
    return opened


def _unreadable(side: Side, path: str, error: InputError) -> Problem:
    """The problem that an error tells of; its text begins with the file, perhaps with the line."""
    told = re.fullmatch(rf"({re.escape(path)}.*?)(?::([0-9]+))?: (.*)", str(error), re.DOTALL)
    if told is None:
        return Problem("error", "input", side, path, None, None, None, None, str(error), "")
    at = places.of_misfit(path, told[1], error.__cause__)
    line, column = at or (int(told[2]) if told[2] else None, None)
    return Problem("error", "input", side, told[1], line, column, None, None, told[3], "")


def _reason(path: Path, name: str, given: str | None) -> str:
    """Why an input is taken for the format of this name."""
    if given is not None:
        return "as was given"
    if name == "evaltex":
        return "one text file of many images"
    if not archive.is_archive(path):
        return "told by its content"
    entries = archive.open_entries(path)
    lines: Counter[int] = Counter()
    for data in entries.read_many(entries.entries):
        for line in data.decode("utf-8", "replace").split("\n"):
            bare = line.lstrip("\ufeff").strip()
            if bare:
                leading = _LEADING_NUMBERS.match(bare)
                lines[len(_ONE_NUMBER.findall(leading[0])) if leading else 0] += 1
    usual = ", ".join(f"{count} with {numbers}" for numbers, count in lines.most_common(3))
    rest = ", ..." if len(lines) > 3 else ""
    if not lines:
        return "no line to tell it by"
    return counted(lines.total(), f"numbers at the start of {{count}} line[s]: {usual}{rest}")


def _paired(ours: _Input | None, theirs: _Input | None) -> tuple[Ints, Ints]:
    """(images,) partner of each image of the ground truth by name, and by spelling where there is none by name."""
    if ours is None or theirs is None:
        nothing = np.full(0 if ours is None else len(ours.source.names), pairing.NO_DETECTIONS)
        return nothing, nothing
    gt, det = ours.source.names, theirs.source.names
    position = {name: k for k, name in enumerate(det)}
    paired = np.array([position.get(name, pairing.NO_DETECTIONS) for name in gt], np.int64)
    known = set(gt)
    alike = naming.would_pair(
        [name for name in gt if name not in position], [name for name in det if name not in known]
    )
    also = [position[alike[name][0]] if name in alike else pairing.NO_DETECTIONS for name in gt]
    return paired, np.array(also, np.int64)


def _picture_sizes(ours: _Input, folder: Path | None, problems: list[Problem]) -> Floats:
    """(images, 2) sizes of the pictures; 0 where unknown."""
    names = ours.source.names
    if folder is None:
        return np.zeros((len(names), 2))
    from evaltex_cli.pictures import sizes_from_pictures

    sizes = sizes_from_pictures(folder, names)
    missing = [name for name, size in zip(names, sizes, strict=True) if not size.all()]
    if missing:
        shown = ", ".join(map(quote, missing[:3])) + (", ..." if len(missing) > 3 else "")
        of_all = f"{{count}} of {counted(len(names), '{count} image[s]')} [has|have] no picture that can be read"
        found = f"{counted(len(missing), of_all)}: {shown}"
        problems.append(ours.problem("warning", "picture", found, "one of the image's name", place=str(folder)))
    return sizes


def _read_all(one: _Input, sizes: Floats, problems: list[Problem]) -> Floats:
    """Read and check all images of a side; return sizes, from the input or else as given."""
    names = one.source.names
    for start in range(0, len(names), BLOCK_IMAGES):
        stop = min(start + BLOCK_IMAGES, len(names))
        try:
            read = one.source.read(np.arange(start, stop), one.faults)
        except InputError as error:
            problems.append(_unreadable(one.side, one.source.path, error))
            break
        problems += _size_problems(one, names[start:stop], read.sizes, sizes[start:stop])
        known = (read.sizes > 0).all(axis=1)
        sizes[start:stop][known] = read.sizes[known]
        _count(one, start, read)
        problems += _object_problems(one, names[start:stop], read, sizes[start:stop])
    problems += _faults(one)
    return sizes


def _count(one: _Input, start: int, read: ReadImages) -> None:
    objects = read.objects
    counts = np.diff(objects.offsets)
    one.object_counts[start : start + len(counts)] = counts
    one.dont_care += int(objects.dont_care.sum())
    one.transcriptions += count_texts(objects.texts)
    one.all_dont_care += int(checks.all_dont_care(objects).sum())
    one.mended += read.mended


def _size_problems(one: _Input, names: Sequence[str], stated: Floats, pictures: Floats) -> Iterator[Problem]:
    both = (stated > 0).all(axis=1) & (pictures > 0).all(axis=1)
    other = np.flatnonzero(both & (stated != pictures).any(axis=1)).tolist()
    found_at = places.of_images(one.source, one.side, [names[k] for k in other])
    for k in other:
        (height, width), (picture_height, picture_width) = stated[k].tolist(), pictures[k].tolist()
        swapped = " (height and width are swapped)" if [width, height] == pictures[k].tolist() else ""
        found = f"image {quote(names[k])}: height,width {height:g},{width:g}"
        advice = f"{picture_height:g},{picture_width:g}, as its picture has{swapped}"
        yield one.problem_at(found_at[names[k]], "warning", "picture", found, advice, names[k])


def _object_problems(one: _Input, names: Sequence[str], read: ReadImages, sizes: Floats) -> Iterator[Problem]:
    findings = list(checks.check(read.objects, sizes))
    rows = [(finding.row, finding.coordinate) for finding in findings]
    where = places.of_objects(one.source, one.side, names, read.objects, rows, one.faults.shown)
    for finding, place in zip(findings, where, strict=True):
        is_error = finding.kind == "invalid-polygon" and one.invalid == "error"
        line, column = place.at or (None, None)
        yield Problem(
            "error" if is_error else "warning",
            finding.kind,
            one.side,
            place.file,
            line,
            column,
            place.image,
            None if finding.kind == "orientation" else place.id,
            finding.found,
            finding.advice,
        )


def _faults(one: _Input) -> Iterator[Problem]:
    """What the reader refused, and what many such faults together say."""
    faults = one.faults.shown
    for fault, at in zip(faults, places.of_faults(one.source, faults), strict=True):
        line, column = at or (None, None)
        found, expected = inside(fault.where) + fault.found, f"expected {fault.expected}"
        yield Problem("error", "input", one.side, fault.file, line, column, None, None, found, expected)
    inverted = sum(_INVERTED_BOX.match(fault.found) is not None for fault in faults)
    if 2 * inverted >= inverted + one.object_counts.sum() > 0:
        found = f"{inverted} boxes end left of or above where they begin"
        yield one.problem("warning", "coordinates", found, "x0,y0,x1,y1; these look like x,y,width,height")


def _pairing_problems(ours: _Input, theirs: _Input, paired: Ints, also: Ints) -> Iterator[Problem]:
    gt, det = ours.source.names, theirs.source.names
    alike = {det[k]: gt[i] for i, k in enumerate(also.tolist()) if k >= 0}
    known = set(gt)
    extra = [name for name in det if name not in known]
    missing = [gt[i] for i in np.flatnonzero((paired < 0) & (also < 0)).tolist()]
    empty = [name for name, count in zip(det, theirs.object_counts.tolist(), strict=True) if not count]
    at = places.of_images(theirs.source, "det", [*extra, *empty])
    for k, name in enumerate(extra):
        advice = f"rename it to {quote(alike[name])}" if name in alike else "only names of the ground truth's images"
        hint = "" if name in alike or k >= MOST_HINTS else nearest(name, missing or gt)
        found = f"image {quote(name)}, which the ground truth lacks{hint}"
        yield theirs.problem_at(at[name], "error", "extra-image", found, advice, name)
    if det:
        for k, name in enumerate(missing):
            hint = nearest(name, extra) if k < MOST_HINTS else ""
            found = f"no image {quote(name)} in the detections{hint}"
            yield theirs.problem("warning", "missing-image", found, "its objects count as missed", name)
    for name in empty:
        if name in known:
            found, advice = f"image {quote(name)} has no detections", "its objects count as missed"
            yield theirs.problem_at(at[name], "warning", "empty-image", found, advice, name)


def _coordinate_problems(ours: _Input, theirs: _Input, paired: Ints, sizes: Floats) -> Iterator[Problem]:
    """What would make both sides agree much better."""
    if not (paired >= 0).any():
        return
    try:
        sample = misreading.sample(ours.source, theirs.source, paired)
    except InputError:
        return
    known = sizes[np.flatnonzero(paired >= 0)[: len(sample.names)]]
    found = misreading.best_misreading(replace(sample, sizes=known))
    if found is not None:
        yield theirs.problem("warning", "coordinates", f"it seems that {found}", "check how both sides were written")


def _swapped_problems(ours: _Input, theirs: _Input) -> Iterator[Problem]:
    try:
        told = sides.swapped(ours.source, theirs.source)
    except InputError:
        return
    if told is not None:
        yield ours.problem("warning", "swapped-sides", told, "the ground truth is given first, then the detections")


def _pairs(ours: _Input, theirs: _Input, paired: Ints, also: Ints) -> Iterator[Pair]:
    """All images of the ground truth in its order, then those that only the detections have."""
    gt, det = ours.source.names, theirs.source.names
    objects, detections = ours.object_counts.tolist(), theirs.object_counts.tolist()
    for i, name in enumerate(gt):
        k = int(paired[i] if paired[i] >= 0 else also[i])
        if k < 0:
            yield Pair(name, None, None, objects[i], None)
            continue
        same_stem = naming.stem(name).casefold() == naming.stem(det[k]).casefold()
        by = "name" if paired[i] >= 0 else "stem" if same_stem else "number"
        yield Pair(name, det[k], by, objects[i], detections[k])
    taken = {*paired.tolist(), *also.tolist()}
    yield from (Pair(None, name, None, None, detections[k]) for k, name in enumerate(det) if k not in taken)
