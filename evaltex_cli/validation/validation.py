"""Whether inputs can be evaluated, what is suspicious about them, and which images pair: everything
at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.errors import (
    SUGGESTIONS,
    FaultLog,
    InputError,
    counted,
    inside,
    listed,
    nearest,
    quote,
)
from evaltex_cli.evaluation import hints
from evaltex_cli.evaluation.inputs import InputCounts, opened, with_coordinates
from evaltex_cli.evaluation.pairing import with_names_of, without_other_pages, would_pair
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.coordinates import decided
from evaltex_cli.formats.image_subset import names_in, only_images, some_images
from evaltex_cli.formats.names import stem
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import refuse_unused
from evaltex_cli.formats.sizes import (
    refuse_fractions,
    sizes_from_pictures,
    with_sizes,
    with_sizes_of_each_other,
)
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Floats, Ints
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.validation import object_checks
from evaltex_cli.validation.findings import Level, Pair, Problem, SideSummary, Validation

_DISAGREE = 0.05
"""Mean best IoU below which the sides have nothing in common."""
_SPELLINGS = ("stem", "number")
"""What names share that would pair if they were spelled alike (`pairing.would_pair`)."""


@dataclass(slots=True)
class _Input:
    """One side while it is looked at."""

    side: Side
    source: Source
    faults: FaultLog
    own_names: dict[str, str] = field(default_factory=dict)
    """Names of images in the file, if `source` has got those of the other side."""
    problems: list[Problem] = field(default_factory=list)

    def report(
        self, kind: str, found: str, advice: str = "", place: Any = None, level: Level = "warning"
    ) -> None:
        """Add a problem of the whole input, unless attributes of a place in it are given."""
        where = {"side": self.side, "file": self.source.path, **(place or {})}
        self.problems.append(Problem(level=level, kind=kind, found=found, advice=advice, **where))

    def report_warnings(self, warnings: Sequence[str]) -> None:
        """Report what the reader or the pairing of images says."""
        path = self.source.path
        for text in warnings:
            found = text.removeprefix(f"{path}: ").removeprefix(f"{Path(path).name}: ")
            self.report("input", found)

    def summary(self) -> SideSummary:
        """Return what was read."""
        source, objects = self.source, self.source.objects
        counts = InputCounts.of(objects, outlines.checked(objects.outlines))
        cared = objects.image[~objects.dont_care]
        return SideSummary(
            file=source.path,
            format=source.format,
            sha256=source.sha256,
            **asdict(counts),
            reason=source.why,
            all_dont_care=counts.images - counts.empty - len(np.unique(cared)),
        )


def validate(
    gt: Path | Source,
    det: Path | Source | None = None,
    options: InputOptions | None = None,
    ordered_map: OrderedMap = map,
) -> Validation:
    """Read both inputs as an evaluation would, and report everything that is wrong or suspicious.

    Raises `InputError` if the folder of pictures cannot be read, and `ConfigError` for options that
    no input takes; what is wrong with the inputs is in the result.
    """
    options = options or InputOptions()
    ours = _read("gt", gt, options, ordered_map)
    theirs = None if det is None else _read("det", det, options, ordered_map)
    sides = [one for one in (ours, theirs) if isinstance(one, _Input)]
    problems = [one for one in (ours, theirs) if isinstance(one, Problem)]
    if not problems:
        refuse_unused(options, *(one.source for one in sides))
    is_paired = len(sides) == 2
    try:
        _choose_images(sides, options)
    except InputError as error:
        is_paired = False
        one = sides[-1 if str(error).startswith(sides[-1].source.path) else 0]
        problems.append(_unreadable(one.side, one.source.path, error))
    if options.images is not None and sides:
        _use_pictures(sides[0], options.images)
    pairs = _check_both(sides[0], sides[1], options) if is_paired else []
    for one in sides if not is_paired else ():
        try:
            one.source = decided(one.source, None, np.zeros(0, np.int64))
        except InputError as error:
            one.problems.append(_unreadable(one.side, one.source.path, error))
        refuse_fractions(one.source, one.faults)
        _check_objects(one, one.source.sizes, options.invalid)
        if one.side == "gt":
            _report_mistakes([one])
    problems += chain.from_iterable(one.problems for one in sides)
    summaries = {one.side: one.summary() for one in sides}
    problems.sort(key=lambda problem: (problem.level, problem.side != "gt"))
    return Validation(summaries.get("gt"), summaries.get("det"), pairs, problems)


# Reading ------------------------------------------------------------------------------------------


def _read(
    side: Side, given: Path | Source, options: InputOptions, ordered_map: OrderedMap
) -> _Input | Problem:
    """Read an input, unless it is in memory; return why it cannot be read, if it cannot."""
    try:
        source, faults = opened((given, side, options), ordered_map)
    except InputError as error:
        return _unreadable(side, str(getattr(given, "path", given)), error)
    one = _Input(side, source, faults)
    one.report_warnings(source.warnings)
    return one


def _unreadable(side: Side, path: str, error: InputError) -> Problem:
    """Return what an error reports; its text begins with the file, perhaps with the line."""
    parts = re.fullmatch(rf"({re.escape(path)}.*?)(?::([0-9]+))?: (.*)", str(error), re.DOTALL)
    file, line, found = parts.groups() if parts else (path, None, str(error))
    number = int(line) if line else None
    return Problem(level="error", kind="input", side=side, file=file, line=number, found=found)


def _choose_images(sides: Sequence[_Input], options: InputOptions) -> None:
    """Give detections the ground truth's names, and leave images out, as an evaluation does."""
    for theirs in sides[1:]:
        before = theirs.source
        theirs.source = with_names_of(sides[0].source, before)
        theirs.own_names = dict(zip(theirs.source.names, before.names, strict=True))
        theirs.source = without_other_pages(sides[0].source, theirs.source)
        theirs.report_warnings(theirs.source.warnings[len(before.warnings) :])
    if options.only is not None and sides and sides[0].side == "gt":
        names = names_in(sides[0].source, options.only)
        sides[0].report("input", some_images(sides[0].source, names))
        for one in sides:
            one.source = only_images(one.source, names)


def _use_pictures(one: _Input, folder: Path) -> None:
    """Take the sizes of pictures for images without, and compare those that are stated."""
    names, stated = one.source.names, one.source.sizes
    sizes = sizes_from_pictures(folder, names)
    missing = [name for name, size in zip(names, sizes, strict=True) if not size.all()]
    if missing:
        count = counted(len(names), f"{len(missing)} of {{count}} image[s]")
        found = f"{count} without a picture that can be read: {listed(missing)}"
        one.report("picture", found, "one of the image's name", {"file": str(folder)})
    differ = (stated > 0).all(axis=1) & (sizes > 0).all(axis=1) & (stated != sizes).any(axis=1)
    for k in np.flatnonzero(differ).tolist():
        height, width = sizes[k].tolist()
        are_swapped = (stated[k] == sizes[k, ::-1]).all()
        found = "image {}: height,width {:g},{:g}".format(quote(names[k]), *stated[k])
        advice = f"{height:g},{width:g}, as its picture has"
        advice += " (height and width are swapped)" if are_swapped else ""
        place = {"file": one.source.file_of(k), "image": names[k]}
        one.report("picture", found, advice, place)
    one.source = with_sizes(one.source, folder)


# Checks -------------------------------------------------------------------------------------------


def _read_coordinates(ours: _Input, theirs: _Input) -> None:
    """Read the boxes of models as an evaluation does; report what is not decided."""
    before = [one.source.warnings for one in (ours, theirs)]
    try:
        ours.source, theirs.source = with_coordinates(ours.source, theirs.source)
    except InputError as error:
        one = theirs if theirs.source.reading else ours
        one.problems.append(_unreadable(one.side, one.source.path, error))
    for one, known in zip((ours, theirs), before, strict=True):
        one.report_warnings(one.source.warnings[len(known) :])


def _check_both(ours: _Input, theirs: _Input, options: InputOptions) -> list[Pair]:
    """Report what is wrong with either side and with their pairing; return the pairs."""
    pairs, partners = _pair(ours, theirs)
    _read_coordinates(ours, theirs)
    ours.source, theirs.source = with_sizes_of_each_other(ours.source, theirs.source, partners)
    refuse_fractions(ours.source, ours.faults)
    if ours.source.fractions is None:  # else the sizes of the same pictures are missing
        refuse_fractions(theirs.source, theirs.faults)
    sizes = theirs.source.sizes.copy()
    paired = partners >= 0
    own = sizes[partners[paired]]
    sizes[partners[paired]] = np.where(own > 0, own, ours.source.sizes[paired])
    _check_objects(ours, ours.source.sizes, options.invalid)
    _check_objects(theirs, sizes, options.invalid)
    _check_pairs(ours, theirs, pairs)
    _report_mistakes([ours, theirs])
    _compare_boxes(ours, theirs, partners)
    return pairs


def _check_objects(one: _Input, sizes: Floats, invalid: str) -> None:
    """Report what the reader refuses, and what is wrong with objects; `sizes` are (images, 2)."""
    source, objects, faults = one.source, one.source.objects, one.faults
    for kind, row, found, advice in object_checks.check(objects, sizes):
        file, line, where = source.location(row)
        image = source.names[int(objects.image[row])]
        number = int(objects.ids[row])
        place = {"file": file, "line": line, "where": where, "image": image, "object": number}
        is_error = kind == "invalid-polygon" and invalid == "error"
        one.report(kind, found, advice, place, "error" if is_error else "warning")
    for fault in faults:
        where = inside(fault.where).removesuffix(": ")
        place = {"file": fault.file, "line": fault.line, "where": where}
        one.report("input", fault.found, f"expected {fault.expected}", place, "error")
    for hint in hints.of_lines(faults, source):
        found, _, advice = hint.partition("; ")
        one.report("input", found, advice)
    if not objects.count and not faults:
        advice = "check that this is the right input, and its format"
        one.report("no-objects", "no object in it", advice)


def _report_mistakes(sides: Sequence[_Input]) -> None:
    ours = sides[0].source.objects
    if 0 < ours.count == ours.dont_care.sum():
        advice = "objects that count; nothing does"
        sides[0].report("dont-care", "every object is don't care", advice)
    for mistake in hints.suspicions(*(one.source for one in sides)):
        one = sides[mistake.side == "det"]
        one.report(mistake.kind, mistake.found, mistake.advice)


def _compare_boxes(ours: _Input, theirs: _Input, partners: Ints) -> None:
    """Report what would make both sides agree much better."""
    batch = hints.sample(ours.source, theirs.source, partners)
    (misreading, _), agreement = hints.best_misreading(batch), hints.agreement(batch)
    if misreading:
        advice = "check how both sides were written"
        theirs.report("coordinates", f"it seems that {misreading}", advice)
    elif batch.gt.count and batch.det.count and agreement < _DISAGREE:
        found = (
            "hardly any box of one side agrees with one of the other (mean best IoU"
            f" {agreement:.2f}), and no other reading of the coordinates changes that"
        )
        theirs.report("coordinates", found, "are both of one data set?")


# Pairing ------------------------------------------------------------------------------------------


def _pair(ours: _Input, theirs: _Input) -> tuple[list[Pair], Ints]:
    """Return all images of the ground truth in its order, then those that only detections have; and
    (images,) where the detections of each image are, -1 for none.
    """
    gt, det = ours.source.names, theirs.source.names
    own = [theirs.own_names[name] for name in det]
    objects, detections = (np.diff(one.source.objects.offsets).tolist() for one in (ours, theirs))
    gt_ids, det_ids = ours.source.ids or gt, theirs.source.ids or own
    position = {name: k for k, name in enumerate(det)}
    known = set(gt)
    extra = [name for name in det if name not in known]
    alike = would_pair([name for name in gt if name not in position], extra)
    pairs, partners = [], []
    for i, name in enumerate(gt):
        other, how = alike.get(name, (name, ""))
        k = position.pop(other, -1)
        partners.append(k)
        if k < 0:
            pairs.append(Pair(name, None, None, objects[i], None))
            continue
        if not how:
            by_id = "id" if gt_ids[i] == det_ids[k] else "only image"
            same_stem = stem(name).casefold() == stem(own[k]).casefold()
            how = "name" if name == own[k] else "file name" if same_stem else by_id
        pairs.append(Pair(name, own[k], how, objects[i], detections[k]))
    pairs += [Pair(None, own[k], None, None, detections[k]) for k in position.values()]
    return pairs, np.array(partners, np.int64)


def _check_pairs(ours: _Input, theirs: _Input, pairs: Sequence[Pair]) -> None:
    """Report images that only one side has, and those without detections."""
    objects, det = ours.source.objects, theirs.source
    counts = np.bincount(objects.image[~objects.dont_care], minlength=len(pairs)).tolist()
    files = {theirs.own_names[name]: det.file_of(k) for k, name in enumerate(det.names)}
    missing = [pair.gt for pair in pairs if pair.gt and not pair.det]
    extra = [pair.det for pair in pairs if pair.det and not pair.gt]
    known = missing or list(ours.source.names)
    nearby = {name: nearest(name, known) for name in extra[:SUGGESTIONS]}
    nearby |= {name: nearest(name, extra) for name in missing[:SUGGESTIONS]}
    for pair, count in zip(pairs, counts, strict=True):
        name, other = pair.gt or "", pair.det or ""
        outcome = "no object in it counts, so none is missed"
        outcome = "its objects count as missed" if count else outcome
        place = {"file": files.get(other, theirs.source.path), "image": other or name}
        if not other and files:
            found = f"no image {quote(name)} in the detections{nearby.get(name, '')}"
            theirs.report("missing-image", found, outcome, place)
        elif other and (not name or pair.by in _SPELLINGS):
            found = f"image {quote(other)} is not in the ground truth{nearby.get(other, '')}"
            advice = f"rename it to {quote(name)}" if name else "give only images that it has"
            theirs.report("extra-image", found, advice, place, "error")
        elif other and not pair.detections:
            found = f"image {quote(other)} has no detections"
            theirs.report("empty-image", found, outcome, place)
