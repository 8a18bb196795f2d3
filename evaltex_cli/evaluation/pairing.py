"""Which detections belong to which image of the ground truth: images pair by name (`_respelled`),
those of COCO also by ID. If no image pairs, it is checked whether their names are spelled
differently in another way: `img_01`, `1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import compress, islice
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.errors.suggestions import HINTS, nearest
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import (
    names_of_pictures,
    stem,
    unique,
    without_prefix,
)
from evaltex_cli.records import Bools, Ints

NO_DETECTIONS = -1
_FOLDERS = re.compile(r"[/\\]")
_DIGITS = re.compile(r"[0-9]+")
_SHOWN = 3
_SIZE = re.compile(r"[0-9.]+,[0-9.]+")


class _Naming(NamedTuple):
    """How both sides call their images: by ``file name`` or by ``ID``."""

    by: str
    gt: Sequence[str]
    det: Sequence[str]


def with_names_of(gt: Source, det: Source) -> Source:
    """Return the detections with the names that the ground truth has for the same images.

    COCO annotations know their images by file name and by ID. A list of COCO results pairs with
    them by ID, anything else by name. If the ground truth has all detections, or any of them, only
    in the other way, they pair in that way, and a warning says so; also if one side of two has no
    file names. Raises `InputError` when the detections mix file names and IDs, or have an ID that
    the ground truth lacks.
    """
    if gt.ids is None and det.ids is None:
        return _respelled(gt, det)
    by_name = _Naming("file name", gt.names, det.names)
    by_id = _Naming("ID", gt.ids or gt.names, det.ids or det.names)
    have_file_names = gt.has_file_names and det.has_file_names
    is_usually_by_id = not have_file_names and None not in (gt.ids, det.ids)
    usual, other = (by_id, by_name) if is_usually_by_id else (by_name, by_id)
    paired, is_known = _paired(gt, det, usual)
    if is_known.all():
        return paired if is_usually_by_id else _with_doubt(gt, det, paired)
    instead, is_known_instead = _paired(gt, det, other)
    if det.ids is None or not det.has_file_names:
        _refuse_mixture(gt, det, {usual.by: is_known, other.by: is_known_instead})
    all_instead = is_known_instead.all() and not is_usually_by_id
    if is_known_instead.any() and (all_instead or not is_known.any()):
        paired, is_known = _with_note(gt, det, instead, other), is_known_instead
        usual = other
    if usual is by_id and not is_known.all():
        raise _unknown_ids(gt, det, list(compress(by_id.det, ~is_known)))
    return paired


def _paired(gt: Source, det: Source, naming: _Naming) -> tuple[Source, Bools]:
    """Return the detections with the names of the ground truth by one naming, and which of them it
    has. An ID has no other spelling, as ``1.jpg`` is not the ID 1.
    """
    paired = replace(det, names=naming.det)
    if naming.by != "ID":
        paired = _respelled(replace(gt, names=naming.gt), paired)
    gt_names = dict(zip(naming.gt, gt.names, strict=True))
    is_known = np.array([name in gt_names for name in paired.names], dtype=bool)
    return replace(paired, names=[gt_names.get(name, name) for name in paired.names]), is_known


def _with_note(gt: Source, det: Source, paired: Source, naming: _Naming) -> Source:
    """Return detections with the warning that they pair by a naming that is not the usual one."""
    reason = "not every file name" if naming.by == "ID" else "no image ID"
    pairs = dict(zip(naming.det, paired.names, strict=True))
    note = f"images are paired by {naming.by}, as {reason} is in {PurePath(gt.path).name}"
    unnoted = replace(paired, warnings=det.warnings)
    return _noted(unnoted, det.path, f"{note}: {_listed(pairs, 'with')}")


def _noted(source: Source, path: str, note: str) -> Source:
    """Return an input with one more warning, about the file at a path."""
    return replace(source, warnings=(*source.warnings, f"{PurePath(path).name}: {note}"))


def _listed(pairs: Mapping[str, str], between: str) -> str:
    """Return the first pairs of names in words."""
    shown = [f"{quote(name)} {between} {quote(pairs[name])}" for name in islice(pairs, _SHOWN)]
    return ", ".join([*shown, *["..."] * (len(pairs) > _SHOWN)])


def _with_doubt(gt: Source, det: Source, paired: Source) -> Source:
    """Return detections with a warning if one side has only COCO's numbers, beside names that need
    not be these numbers.
    """
    if not det.has_file_names and gt.ids is None:
        numbered, named = det, gt
        advice = "give COCO annotations as ground truth"
    elif not gt.has_file_names and det.ids is None and gt.format == "coco":
        numbered, named = gt, det
        advice = "give COCO annotations with a file_name for each image"
    else:
        return paired
    if not det.names or not all(map(str.isdecimal, det.names)):
        return paired
    note = (
        "images are known only by COCO ID, which is taken for the name in"
        f" {PurePath(named.path).name}; if its names are not the IDs, {advice}"
    )
    return _noted(paired, numbered.path, note)


def _refuse_mixture(gt: Source, det: Source, are_known: Mapping[str, Bools]) -> None:
    """Refuse detections of which the ground truth has some only by file name, others by ID.

    What is both is an ID in COCO results, and elsewhere can be either.
    """
    named, numbered = are_known["file name"], are_known["ID"]
    is_either = named & numbered & (det.ids is None)
    names = list(compress(det.names, ~numbered))
    _, is_named = _paired(gt, replace(det, names=names), _Naming("file name", gt.names, names))
    names = list(compress(names, is_named))
    ids = list(compress(det.names, numbered & ~is_either))
    if names and ids:
        both = int(is_either.sum())
        also = f", and {both} are both" if both else ""
        raise InputError(
            f"{det.path}: some of its {len(det.names)} images are named by file, others by ID:"
            f" {len(names)} are file names in {gt.path} ({quote(names[0])}), {len(ids)} are IDs"
            f" ({quote(ids[0])}){also}; name all images by file, or all by ID"
        )


def _unknown_ids(gt: Source, det: Source, unknown: Sequence[str]) -> InputError:
    shown = ", ".join([*map(quote, unknown[:_SHOWN]), *["..."] * (len(unknown) > _SHOWN)])
    some = counted(len(unknown), f"{{count}} of its {len(det.names)} image IDs [is|are] not in")
    ids = some if len(unknown) < len(det.names) else "none of its image IDs is in"
    return InputError(
        f"{det.path}: {ids} {gt.path} ({shown}); give the ground truth of the same images"
    )


def _respelled(gt: Source, det: Source) -> Source:
    """Return the detections with the names of the ground truth where they are only spelled in
    another way; a warning lists them.

    Names are the same if they differ only in folders, of which one side has fewer, ending and
    prefix, and no other image of either side has such a name. If both sides have one image, and one
    of them is named after its file, they are the same unless their names differ only in their
    numbers.
    """
    if gt.names == det.names:
        return det
    same = _same_images(gt, det)
    if not same:
        return det
    how = (
        "without folders, endings and prefixes"
        if len(gt.names) + len(det.names) > 2
        else "as the only one of each side"
    )
    note = f"{{count}} image[s] of other names than in the ground truth [is|are] paired {how}"
    paired = replace(det, names=[same.get(name, name) for name in det.names])
    return _noted(paired, det.path, f"{counted(len(same), note)}: {_listed(same, 'with')}")


def _same_images(gt: Source, det: Source) -> dict[str, str]:
    """Name of the detections -> the ground truth's name of the same image."""
    if len(gt.names) == len(det.names) == 1:
        ours, theirs = gt.names[0], det.names[0]
        named = any(one.names[0] == _name_of_file(one.path) for one in (gt, det))
        numbered = _DIGITS.sub("0", ours) == _DIGITS.sub("0", theirs)
        return {theirs: ours} if stem(ours) == stem(theirs) or (named and not numbered) else {}
    same: dict[str, str] = {}
    left, wanted = {*det.names} - {*gt.names}, {*gt.names} - {*det.names}
    for spelled in (names_of_pictures, lambda names: [*map(stem, names)]):
        if not left or not wanted:
            break
        by_gt, by_det = (
            unique(names, dict(zip(names, spelled(names), strict=True)).__getitem__)
            for names in (gt.names, det.names)
        )
        for spelling, name in by_det.items():
            other = by_gt.get(spelling, "")
            if name in left and other in wanted and _agree(name, other):
                same[name] = other
        left, wanted = left - {*same}, wanted - {*same.values()}
    return same


def _name_of_file(path: str) -> str:
    return without_prefix(PurePath(PurePath(path).name.removesuffix(".gz")).stem)


def _agree(name: str, other: str) -> bool:
    """Whether the folders of one name are the last of the other's."""
    ours, theirs = (list(filter(None, _FOLDERS.split(one.strip())[:-1])) for one in (name, other))
    shared = min(len(ours), len(theirs))
    return ours[len(ours) - shared :] == theirs[len(theirs) - shared :]


def pair_images(gt: Source, det: Source, faults: FaultLog) -> Ints:
    """(images,) position in ``det.names`` of each image of the ground truth, by name;
    `NO_DETECTIONS` for an image without. An image that only the detections name is a fault: a typo
    would otherwise pass for a bad score.
    """
    if gt.names == det.names:
        return np.arange(len(gt.names), dtype=np.int32)
    position = {name: k for k, name in enumerate(det.names)}
    paired = np.fromiter(
        (position.pop(name, NO_DETECTIONS) for name in gt.names), np.int64, len(gt.names)
    )
    unclaimed = [gt.names[k] for k in np.flatnonzero(paired == NO_DETECTIONS)[:10_000].tolist()]
    for k, name in enumerate(position):
        hint = nearest(name, unclaimed or gt.names) if k < HINTS else ""
        expected = f"only image names of {gt.path}"
        if det.format == "evaltex" and _SIZE.fullmatch(name):
            expected = "no line of height,width: an EvaLTex file of detections has none"
        found = f"image {quote(name)} is not in the ground truth{hint}"
        faults.add(det.path, None, found, expected)
    return paired


def numbers(name: str) -> tuple[str, ...]:
    """Return the numbers in a name's stem, without leading zeros."""
    return tuple(digits.lstrip("0") or "0" for digits in _DIGITS.findall(stem(name)))


_SPELLINGS: tuple[tuple[str, Callable[[str], Hashable]], ...] = (
    ("stem", stem),
    ("stem", lambda name: stem(name).casefold()),
    ("number", numbers),
    ("number", lambda name: numbers(name)[-1:]),
)


def would_pair(gt: Sequence[str], det: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Pair names without a partner of the same name by their stems, then by their numbers.

    Returns ground-truth name -> detections' name, and what they share: ``stem`` or ``number``; only
    where one name of each side, and no more, is spelled so.
    """
    pairs: dict[str, tuple[str, str]] = {}
    left_gt, left_det = list(gt), list(det)
    for what, spelling in _SPELLINGS:
        ours, theirs = unique(left_gt, spelling), unique(left_det, spelling)
        pairs |= {name: (theirs[key], what) for key, name in ours.items() if key in theirs}
        paired = {name for name, _ in pairs.values()}
        left_gt = [name for name in left_gt if name not in pairs]
        left_det = [name for name in left_det if name not in paired]
    return pairs


def refuse_other_spellings(gt: Source, det: Source, paired: Ints) -> None:
    """Refuse inputs of several images without any common name (`pair_images`); the error says what
    to rename where half of them or more would pair by stem or number.
    """
    if not det.names or (paired != NO_DETECTIONS).any():
        return
    pairs = would_pair(gt.names, det.names)
    none = f"{det.path}: none of its {len(det.names)} image names"
    if 2 * len(pairs) >= len(det.names):
        raise InputError(
            f"{none} is in {gt.path}, though {described_pairs(pairs)} (`evaltex validate` lists all"
            " pairs)"
        )
    if len(det.names) > 1:
        raise InputError(
            f"{none} ({quote(det.names[0])}, ...) is in {gt.path} ({quote(gt.names[0])}, ...); are"
            " they of one data set? `evaltex validate` lists all names"
        )


def described_pairs(pairs: Mapping[str, tuple[str, str]]) -> str:
    """Say how many names would pair (`would_pair`), by what, and what to rename."""
    by = " or ".join(f"by {what}" for what in dict.fromkeys(what for _, what in pairs.values()))
    renamed = {theirs: ours for ours, (theirs, _) in pairs.items()}
    return (
        f"{len(pairs)} would pair {by}; spell the names alike on both sides: rename"
        f" {_listed(renamed, 'to')}"
    )
