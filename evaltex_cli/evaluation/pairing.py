"""Which detections belong to which image of the ground truth.

Images pair by name, those of COCO also by ID, whatever their folders, ending and prefix; not by
another spelling, such as `img_01` and `1`, but the error says what to rename.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import compress, islice
from pathlib import PurePath

import numpy as np

from evaltex_cli.errors import SUGGESTIONS, FaultLog, InputError, counted, listed, nearest, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import names_of_pictures, parts_of, stem, unique, without_prefix
from evaltex_cli.records import Bools, Ints

NO_DETECTIONS = -1
_DIGITS = re.compile(r"[0-9]+")
_SIZE = re.compile(r"[0-9.]+,[0-9.]+")
_SHOWN = 3


def pair_images(gt: Source, det: Source, faults: FaultLog) -> Ints:
    """(images,) position in ``det.names`` of each image of the ground truth, or `NO_DETECTIONS`. An
    image that only the detections name is a fault: a typo would else pass for a bad score.
    """
    position = {name: k for k, name in enumerate(det.names)}
    paired = np.array([position.pop(name, NO_DETECTIONS) for name in gt.names], np.int64)
    unclaimed = [gt.names[k] for k in np.flatnonzero(paired == NO_DETECTIONS).tolist()]
    for k, name in enumerate(position):
        hint = nearest(name, unclaimed or gt.names) if k < SUGGESTIONS else ""
        expected = f"only image names of {gt.path}"
        if det.format == "evaltex" and _SIZE.fullmatch(name):
            expected = "no line of height,width: an EvaLTex file of detections has none"
        found = f"image {quote(name)} is not in the ground truth{hint}"
        faults.add(det.path, None, found, expected)
    return paired


def without_other_pages(gt: Source, det: Source) -> Source:
    """Return the detections without the pages that the ground truth lacks, of documents of which it
    has others, with a warning that counts them: ground truth often has some pages of a document.
    """
    known, documents = set(gt.names), dict[str, list[int]]()
    if known.issuperset(det.names):
        return det
    for k, name in enumerate(det.names):
        document, _, page = stem(name).rpartition("-")
        if page.isdecimal() and document == stem(det.file_of(k)):
            documents.setdefault(det.file_of(k), []).append(k)
    left_out = []
    for pages in documents.values():
        others = [k for k in pages if det.names[k] not in known]
        left_out += others if len(others) < len(pages) else []
    if not left_out:
        return det
    note = "{count} page[s] of documents [is|are] not in the ground truth and [was|were] left out"
    names = listed([det.names[k] for k in left_out])
    kept = det.part(np.setdiff1d(np.arange(len(det.names)), left_out))
    return _noted(kept, det, f"{counted(len(left_out), note)}: {names}")


# COCO's file names and IDs ------------------------------------------------------------------------


def with_names_of(gt: Source, det: Source) -> Source:
    """Return the detections with the names that the ground truth has for the same images.

    COCO annotations know their images by file name and by ID. A list of COCO results pairs with
    them by ID, anything else by name; if only the other way finds them, that way, with a warning.
    Raises `InputError` for IDs that the ground truth lacks.
    """
    if gt.ids is None and det.ids is None:
        return _respelled(gt, det)
    by_id = None not in (gt.ids, det.ids) and not (gt.has_file_names and det.has_file_names)
    paired, known = _paired(gt, det, by_id)
    if known.all():
        return paired if by_id else _with_doubt(gt, det, paired)
    instead, known_instead = _paired(gt, det, not by_id)
    if known_instead.any() and (not known.any() or (known_instead.all() and not by_id)):
        by_id, known = not by_id, known_instead
        how = "ID, as not every file name" if by_id else "file name, as no image ID"
        pairs = dict(zip(_names(det, by_id), instead.names, strict=True))
        note = f"images are paired by {how} is in {PurePath(gt.path).name}"
        paired = _noted(
            replace(det, names=instead.names), det, f"{note}: {listed_pairs(pairs, 'with')}"
        )
    if by_id and not known.all():
        unknown = list(compress(_names(det, by_id), ~known))
        some = f"{{count}} of its {len(known)} image IDs [is|are] not in"
        raise InputError(
            f"{det.path}: {counted(len(unknown), some)} {gt.path} ({listed(unknown)}); give the"
            " ground truth of the same images"
        )
    return paired


def _names(source: Source, by_id: bool) -> Sequence[str]:
    return (by_id and source.ids) or source.names


def _paired(gt: Source, det: Source, by_id: bool) -> tuple[Source, Bools]:
    """Return the detections with the names of the ground truth, and which of them it has."""
    paired = replace(det, names=_names(det, by_id))
    paired = paired if by_id else _respelled(gt, paired)  # ``1.jpg`` is not the ID 1
    names = dict(zip(_names(gt, by_id), gt.names, strict=True))
    known = np.array([name in names for name in paired.names], dtype=bool)
    return replace(paired, names=[names.get(name, name) for name in paired.names]), known


def _with_doubt(gt: Source, det: Source, paired: Source) -> Source:
    """Return detections with a warning if one side has only COCO's IDs, the other only names."""
    for numbered, named in ((det, gt), (gt, det)):
        are_numbers = det.names and all(map(str.isdecimal, det.names))
        if named.ids is None and not numbered.has_file_names and are_numbers:
            return _noted(
                paired,
                numbered,
                "images are known only by COCO ID, which is taken for the name in"
                f" {PurePath(named.path).name}; if its names are not the IDs, give COCO annotations"
                " with file names as ground truth",
            )
    return paired


def _noted(source: Source, about: Source, note: str) -> Source:
    """Return an input with one more warning, about an input's file."""
    return replace(source, warnings=(*source.warnings, f"{PurePath(about.path).name}: {note}"))


def listed_pairs(pairs: Mapping[str, str], between: str) -> str:
    """Return the first pairs of names in words."""
    shown = [f"{quote(name)} {between} {quote(pairs[name])}" for name in islice(pairs, _SHOWN)]
    return ", ".join([*shown, *["..."] * (len(pairs) > _SHOWN)])


# Names with other folders, endings and prefixes ---------------------------------------------------


def _respelled(gt: Source, det: Source) -> Source:
    """Return the detections with the names of the ground truth where these differ only in folders,
    of which one side has fewer, ending and prefix, and no other image has such a name.
    """
    if gt.names == det.names:
        return det
    alone = len(gt.names) == len(det.names) == 1
    same = _only_images(gt, det) if alone else _same_images(gt.names, det.names)
    if not same:
        return det
    how = "as the only one of each side" if alone else "without folders, endings and prefixes"
    note = f"{{count}} image[s] of other names than in the ground truth [is|are] paired {how}"
    paired = replace(det, names=[same.get(name, name) for name in det.names])
    return _noted(paired, det, f"{counted(len(same), note)}: {listed_pairs(same, 'with')}")


def _only_images(gt: Source, det: Source) -> dict[str, str]:
    """Pair the only images if one is named after its file, and not only their numbers differ."""
    ours, theirs = gt.names[0], det.names[0]
    named = any(
        one.names[0] == without_prefix(PurePath(PurePath(one.path).name.removesuffix(".gz")).stem)
        for one in (gt, det)
    )
    numbered = _DIGITS.sub("0", ours) == _DIGITS.sub("0", theirs)
    return {theirs: ours} if stem(ours) == stem(theirs) or (named and not numbered) else {}


def _same_images(gt: Sequence[str], det: Sequence[str]) -> dict[str, str]:
    """Return each name of the detections -> the ground truth's name of the same image."""
    same: dict[str, str] = {}
    both = {*gt} & {*det}
    for spelled in (names_of_pictures, lambda names: [*map(stem, names)]):
        ours, theirs = (
            unique(names, dict(zip(names, spelled(names), strict=True)).__getitem__)
            for names in (gt, det)
        )
        paired = both | {*same, *same.values()}
        for spelling, name in theirs.items():
            other = ours.get(spelling)
            if other and paired.isdisjoint((name, other)) and _agree(name, other):
                same[name] = other
    return same


def _agree(name: str, other: str) -> bool:
    """Whether the folders of one name are the last of the other's."""
    ours, theirs = (list(filter(None, parts_of(one.strip())[:-1])) for one in (name, other))
    shared = min(len(ours), len(theirs))
    return ours[len(ours) - shared :] == theirs[len(theirs) - shared :]


# Names that are spelled in another way ------------------------------------------------------------


def numbers(name: str) -> tuple[str, ...]:
    """Return the numbers in a name's stem, without leading zeros."""
    return tuple(digits.lstrip("0") or "0" for digits in _DIGITS.findall(stem(name)))


_SPELLINGS: tuple[tuple[str, Callable[[str], Hashable]], ...] = (
    ("stem", lambda name: stem(name).casefold()),
    ("number", numbers),
    ("number", lambda name: numbers(name)[-1:]),
)


def would_pair(gt: Sequence[str], det: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Pair names by their stems, then by their numbers, if they are unique so: ground-truth name ->
    detections' name, and ``stem`` or ``number``.
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
