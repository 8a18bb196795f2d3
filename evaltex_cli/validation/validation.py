"""Whether inputs can be evaluated, what is suspicious about them, and which
images pair: everything at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import InputError, quote
from evaltex_cli.errors.suggestions import HINTS, nearest
from evaltex_cli.evaluation import coordinate_mixups, pairing, swapped_inputs
from evaltex_cli.evaluation.likely_mistakes import MANY_IMAGES
from evaltex_cli.evaluation.unusual_values import sample as sample_of
from evaltex_cli.evaluation.unusual_values import unusual_values
from evaltex_cli.old_formats import locations
from evaltex_cli.old_formats.base import IN_FRACTIONS, Source
from evaltex_cli.old_formats.files import image_names
from evaltex_cli.old_formats.image_sizes import with_sizes, with_sizes_of_each_other
from evaltex_cli.old_formats.image_subset import names_in, some_images
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.records import Floats, Ints
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.validation.findings import Pair, Problem, Validation
from evaltex_cli.validation.input_check import (
    Inspection,
    at,
    open_input,
    picture_sizes,
    read_all,
    unreadable,
)

_DISAGREE = 0.05
"""Mean best IoU below which the sides have nothing in common."""


def validate(
    gt: Path | Source, det: Path | Source | None = None, ordered_map: OrderedMap = map, **given: Any
) -> Validation:
    """Read both inputs as an evaluation would, and report everything about them that is wrong or
    suspicious.

    Parameters
    ----------
    gt, det : Path or Source
        Inputs of any known format, or in memory; `det` may be left out.
    ordered_map : callable
        What reads the images (`workers`); `map` does it here.
    **given
        Attributes of `InputOptions`: ``gt_format`` and ``det_format``; ``images`` for sizes where
        the ground truth has none, or to check those it has; ``invalid``, which makes an invalid
        polygon an error or a warning; ``only``; and ``coordinates``: if they are missing, those
        that agree with the ground truth are reported.

    Raises
    ------
    InputError
        When `images` cannot be read. What is wrong with the inputs is in the result.
    ConfigError
        For a value out of range, and for `coordinates` that no input takes.
    """
    problems: list[Problem] = []
    options = InputOptions(**given)
    images = options.images
    ours = open_input("gt", gt, options, problems)
    theirs = open_input("det", det, options, problems) if det is not None else None
    opened = [one.source for one in (ours, theirs) if one is not None]
    if len(opened) == 1 + (det is not None):
        formats.refuse_unused(options, opened)
    if ours is not None and theirs is not None:
        try:
            theirs.rename(pairing.with_names_of(ours.source, theirs.source), problems)
        except InputError as error:
            problems.append(unreadable("det", theirs.source.path, error))
            read_all(theirs, np.zeros((len(theirs.source.names), 2)), problems, ordered_map)
            theirs = None
    _take_only(ours, theirs, options.only, problems)
    paired, also = _paired(ours, theirs)
    partners = np.where(paired == pairing.NO_DETECTIONS, also, paired)
    _make_pixels(ours, theirs, partners, images)
    if ours is not None:
        sizes = read_all(ours, picture_sizes(ours, images, problems), problems, ordered_map)
        if theirs is not None:
            det_sizes = np.zeros((len(theirs.source.names), 2))
            det_sizes[partners[partners >= 0]] = sizes[partners >= 0]
            of_theirs: list[Problem] = []
            read_all(theirs, det_sizes, of_theirs, ordered_map)
            problems += _without_same_pictures(of_theirs, problems)
            problems += _pairing_problems(ours, theirs, paired, also)
            problems += _coordinate_problems(
                ours, theirs, paired if (paired >= 0).any() else also, sizes
            )
            problems += _swapped_problems(ours, theirs)
        problems += _unusual_problems(ours, theirs)
    elif theirs is not None:
        read_all(theirs, np.zeros((len(theirs.source.names), 2)), problems, ordered_map)
    return Validation(
        ours.summary() if ours else None,
        theirs.summary() if theirs else None,
        list(_pairs(ours, theirs, paired, also)) if ours and theirs else [],
        sorted(problems, key=lambda problem: (problem.level, problem.side != "gt")),
    )


def _take_only(
    ours: Inspection | None,
    theirs: Inspection | None,
    only: Sequence[str] | None,
    problems: list[Problem],
) -> None:
    """Leave images out of both sides as an evaluation does; `problems` gets names that the ground
    truth does not have.
    """
    if only is None or ours is None:
        return
    try:
        names = names_in(ours.source, only)
    except InputError as error:
        problems.append(unreadable("gt", ours.source.path, error))
        return
    problems.append(ours.problem("warning", "input", some_images(ours.source, names), ""))
    for one in (ours, theirs):
        if one is not None:
            one.take_only(names)


def _without_same_pictures(theirs: list[Problem], ours: Sequence[Problem]) -> list[Problem]:
    """Leave out that sizes of pictures are missing where the ground truth misses them, too: they
    are of the same images.
    """
    missing, _ = IN_FRACTIONS
    if all(one.found != missing for one in ours):
        return theirs
    return [one for one in theirs if one.found != missing]


def _make_pixels(
    ours: Inspection | None, theirs: Inspection | None, partners: Ints, images: Path | None
) -> None:
    """Make fractions of the page pixels as an evaluation does, by the
    pictures or the other side's sizes.
    """
    opened = [one for one in (ours, theirs) if one is not None]
    if not any(formats.load(one.source.format).fractions for one in opened):
        return
    if ours is not None and images is not None:
        ours.source = with_sizes(ours.source, images)
    if ours is not None and theirs is not None:
        ours.source, theirs.source = with_sizes_of_each_other(
            ours.source, theirs.source, partners, images
        )
    if theirs is not None and images is not None:
        theirs.source = with_sizes(theirs.source, images)


def _paired(ours: Inspection | None, theirs: Inspection | None) -> tuple[Ints, Ints]:
    """(images,) partner of each image of the ground truth by name, and by
    spelling where there is none by name.
    """
    if ours is None or theirs is None:
        nothing = np.broadcast_to(
            np.int64(pairing.NO_DETECTIONS), 0 if ours is None else len(ours.source.names)
        )
        return nothing, nothing
    gt, det = ours.source.names, theirs.source.names
    position = {name: k for k, name in enumerate(det)}
    paired = np.array([position.get(name, pairing.NO_DETECTIONS) for name in gt], np.int64)
    known = set(gt)
    alike = pairing.would_pair(
        [name for name in gt if name not in position], [name for name in det if name not in known]
    )
    also = [position[alike[name][0]] if name in alike else pairing.NO_DETECTIONS for name in gt]
    return paired, np.array(also, np.int64)


def _pairing_problems(
    ours: Inspection, theirs: Inspection, paired: Ints, also: Ints
) -> Iterator[Problem]:
    gt, det = ours.source.names, theirs.source.names
    alike = {det[k]: gt[i] for i, k in enumerate(also.tolist()) if k >= 0}
    known = set(gt)
    extra = [k for k, name in enumerate(det) if name not in known]
    unpaired = np.flatnonzero((paired < 0) & (also < 0)).tolist() if det else []
    missing = [gt[i] for i in unpaired]
    has_counted = {name for name, count in zip(gt, ours.counted.tolist(), strict=True) if count}
    without = np.flatnonzero(theirs.object_counts == 0).tolist()
    empty = [k for k in without if det[k] in known]
    places = locations.of_images(theirs.source, [*extra, *empty])
    for k, position in enumerate(extra):
        name = det[position]
        advice = (
            f"rename it to {quote(alike[name])}"
            if name in alike
            else "only names of the ground truth's images"
        )
        hint = nearest(name, missing or gt) if name not in alike and k < HINTS else ""
        found = f"image {quote(name)} is not in the ground truth{hint}"
        yield at(places[position], theirs.problem("error", "extra-image", found, advice, name))
    unknown = [det[position] for position in extra]
    for k, name in enumerate(missing):
        hint = nearest(name, unknown) if k < HINTS else ""
        found = f"no image {quote(name)} in the detections{hint}"
        yield theirs.problem("warning", "missing-image", found, _outcome(name in has_counted), name)
    for position in empty:
        name = det[position]
        found, advice = f"image {quote(name)} has no detections", _outcome(name in has_counted)
        yield at(places[position], theirs.problem("warning", "empty-image", found, advice, name))


def _outcome(has_counted: bool) -> str:
    return (
        "its objects count as missed"
        if has_counted
        else "no object in it counts, so none is missed"
    )


def _coordinate_problems(
    ours: Inspection, theirs: Inspection, paired: Ints, sizes: Floats
) -> Iterator[Problem]:
    """What would make both sides agree much better."""
    if not (paired >= 0).any():
        return
    try:
        sample = coordinate_mixups.sample(ours.source, theirs.source, paired)
    except InputError:
        return
    known = sizes[np.flatnonzero(paired >= 0)[: len(sample.names)]]
    batch = replace(sample, sizes=known)
    mixup = coordinate_mixups.best_misreading(batch)
    if mixup is None and batch.gt.count and batch.det.count:
        agreement = coordinate_mixups.agreement(batch)
        if agreement < _DISAGREE:
            found = (
                "hardly any box of one side agrees with one of the other (mean best IoU"
                f" {agreement:.2f}), and no other reading of the coordinates changes that"
            )
            yield theirs.problem("warning", "coordinates", found, "are both of one data set?")
    if mixup is not None:
        yield theirs.problem(
            "warning", "coordinates", f"it seems that {mixup}", "check how both sides were written"
        )


def _unusual_problems(ours: Inspection, theirs: Inspection | None) -> Iterator[Problem]:
    """Sides without an object, or of don't care only, and values that are probably not what they
    are taken for.
    """
    sides = {one.side: one for one in (ours, theirs) if one is not None}
    for one in sides.values():
        if not one.counts.objects and not one.faults.count:
            advice = "check that this is the right input, and its format"
            yield one.problem("warning", "no-objects", "no object in it", advice)
    if 0 < ours.counts.objects == ours.counts.dont_care:
        found, advice = "every object is don't care", "objects that count; nothing does"
        yield ours.problem("warning", "dont-care", found, advice)
    try:
        sources = [one.source for one in (ours, theirs) if one is not None]
        unusual = list(unusual_values(sources, [sample_of(one, MANY_IMAGES) for one in sources]))
    except InputError:
        return
    for value in unusual:
        found, _, advice = value.text.partition("; ")
        yield sides[value.side].problem("warning", value.kind, found, advice)


def _swapped_problems(ours: Inspection, theirs: Inspection) -> Iterator[Problem]:
    try:
        swapped = swapped_inputs.swapped(ours.source, theirs.source)
    except InputError:
        return
    if swapped is not None:
        yield ours.problem(
            "warning",
            "swapped-sides",
            swapped,
            "the ground truth is given first, then the detections",
        )


def _pairs(ours: Inspection, theirs: Inspection, paired: Ints, also: Ints) -> Iterator[Pair]:
    """All images of the ground truth in its order, then those that only the detections have."""
    gt, det = ours.source.names, theirs.names_in_file or theirs.source.names
    objects, detections = ours.object_counts.tolist(), theirs.object_counts.tolist()
    gt_ids, det_ids = ours.source.ids or gt, theirs.source.ids or det
    for i, name in enumerate(gt):
        k = int(paired[i] if paired[i] >= 0 else also[i])
        if k < 0:
            yield Pair(name, None, None, objects[i], None)
            continue
        same_stem = image_names.stem(name).casefold() == image_names.stem(det[k]).casefold()
        by = "stem" if same_stem else "number"
        if paired[i] >= 0:
            other = "id" if gt_ids[i] == det_ids[k] else "only image"
            by = "name" if det[k] == name else "file name" if same_stem else other
        yield Pair(name, det[k], by, objects[i], detections[k])
    taken = {*paired.tolist(), *also.tolist()}
    yield from (
        Pair(None, name, None, None, detections[k]) for k, name in enumerate(det) if k not in taken
    )
