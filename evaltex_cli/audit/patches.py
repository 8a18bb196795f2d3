"""Patches: what should be changed in a ground truth, entry by entry, as a JSON file.

`evaltex audit` writes a patch; a person sets ``accept`` of some entries to true; `evaltex convert`
applies these entries. A patch belongs to one ground truth, whose SHA-256 it has. What replaces
objects comes in the place of the first of them, and has their IDs and regions, one after the other;
further objects have new IDs. What is added comes last in its image.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.formats.base import Source, TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.records import Objects, concatenate, offsets_of, take
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.tables.record import plain
from evaltex_cli.version import __version__

Kind: TypeAlias = Literal[
    "missing", "unfound", "misplaced", "merged", "split", "dont-care", "text", "duplicate"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
APPLIED = "{count} accepted entr[y|ies] of the patch applied"
LEFT = "{count} entr[y|ies] of the patch [is|are] not accepted and [changes|change] nothing"
NONE = "no entry of the patch is accepted for these images, so their objects stay as they are"


@dataclass(frozen=True, slots=True)
class AuditedObject:
    """An object of the ground truth as it is, or as it should be."""

    vertices: tuple[tuple[float, float], ...]
    """Three or more of a polygon as drawn; of a box its two corners, x0, y0 and x1, y1."""
    text: str = ""
    """Its transcription, empty if there is none."""
    dont_care: bool = False

    @property
    def points(self) -> list[float]:
        """x and y of the vertices in turn."""
        return [*chain.from_iterable(self.vertices)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change of one image."""

    accept: bool = False
    """Whether it is applied."""
    kind: Kind
    image: str
    """Its name in the ground truth."""
    objects: tuple[int, ...]
    """IDs, unique in the image, of the objects that it replaces: none for `missing`, two or more
    for `split` and `duplicate`, one for all others."""
    suspicion: float
    """In [0, 1]: estimate of the probability that an annotator would make the change."""
    current: tuple[AuditedObject, ...]
    """These objects as they are, in the order of `objects`."""
    proposed: tuple[AuditedObject, ...]
    """What should be in their place: none to remove them; for `unfound`, the object as don't care.
    """


@dataclass(frozen=True, slots=True)
class Patch:
    """A ground truth's entries."""

    ground_truth: str
    """SHA-256 of the ground truth (`Source.sha256`)."""
    suspects: Sequence[Entry]
    kind: Literal["patch"] = "patch"
    schema: Literal[2] = 2
    """The version of the file's form; a file of another one is refused."""


def audited(objects: Objects, row: int) -> AuditedObject:
    """Return an object as patches have it."""
    flat = objects.outlines.ring(row).ravel().tolist() or objects.boxes[row].tolist()
    vertices = tuple(zip(flat[::2], flat[1::2], strict=True))
    return AuditedObject(vertices, objects.texts[row], bool(objects.dont_care[row]))


# The file -----------------------------------------------------------------------------------------


def write_patch(path: Path, patch: Patch) -> None:
    """Write a patch; raises `InputError` as `output_file`."""
    write_file(path, in_json(patch))


def in_json(patch: Patch) -> str:
    """Return the text of a patch's file: one entry in each line."""
    head = {"schema": patch.schema, "tool": "evaltex", "version": __version__}
    head |= {"kind": patch.kind, "ground_truth": patch.ground_truth}
    names = [field.name for field in fields(Entry)]
    lines = [
        json.dumps({name: plain(getattr(entry, name)) for name in names}, ensure_ascii=False)
        for entry in patch.suspects
    ]
    text = ",\n".join(lines)
    return f'{json.dumps(head)[:-1]}, "suspects": [\n{text}\n]}}\n'


def read_patch(path: Path) -> Patch:
    """Read a patch; raises `InputError` when it cannot be read or is none."""
    import msgspec  # only what reads patches needs it here

    try:
        return msgspec.json.decode(path.read_bytes(), type=Patch)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        expected = "give a patch that `evaltex audit --patch` of this version has written"
        raise InputError(f"{path}: {reason}; {expected}") from error


# A patch applied ----------------------------------------------------------------------------------


class _Change(NamedTuple):
    image: int
    rows: list[int]
    proposed: Sequence[AuditedObject]


def patched(
    path: Path, source: Source, names: Collection[str] | None = None
) -> tuple[Source, list[str]]:
    """Return a ground truth with the accepted entries of a patch applied, and notes on the entries
    of images with these names, by default all. Raises `InputError` if the patch cannot be read or
    is of another ground truth, or an accepted entry does not fit.
    """
    patch = read_patch(path)
    if patch.ground_truth != source.sha256:
        raise InputError(
            f"{path}: is a patch of another ground truth (SHA-256 {patch.ground_truth[:8]}...,"
            f" while {source.path} has {source.sha256[:8]}...); give the ground truth that was"
            " audited, or audit this one"
        )
    faults = FaultLog()
    image_of = {name: k for k, name in enumerate(source.names)}
    places = zip(source.objects.image.tolist(), source.objects.ids.tolist(), strict=True)
    row_of = {place: row for row, place in enumerate(places)}
    changes: list[_Change] = []
    changed_by: dict[int, int] = {}
    for k, entry in enumerate(patch.suspects):
        if not entry.accept:
            continue
        image, ids = image_of.get(entry.image, -1), entry.objects
        rows = [row_of[image, number] for number in ids if (image, number) in row_of]
        before = {changed_by.setdefault(row, k) for row in rows} - {k}
        if image < 0 or len({*rows}) < len(ids):
            listed = " ".join(map(str, ids))
            found = f"objects ({listed}) of image {quote(entry.image)} that are not there"
            expected = "objects as they were audited"
        elif before:
            found = f"accepted, as is suspects[{min(before)}], which changes the same object"
            expected = "one accepted entry for each object"
        elif not all(map(_is_outline, entry.proposed)):
            found = "vertices that are no outline"
            expected = "3 or more, or the upper left and lower right corner of a box"
        else:
            changes.append(_Change(image, rows, entry.proposed))
            continue
        faults.add(str(path), None, found, expected, where=("suspects", k))
    faults.raise_if_any()
    accepts = Counter(
        entry.accept for entry in patch.suspects if names is None or entry.image in names
    )
    notes = [counted(accepts[True], APPLIED) if accepts[True] else NONE]
    notes += [counted(accepts[False], LEFT)] if accepts[False] else []
    return replace(source, objects=_replaced(source.objects, changes)), notes


def _is_outline(one: AuditedObject) -> bool:
    if len(one.vertices) != 2:
        return len(one.vertices) > 2
    (x0, y0), (x1, y1) = one.vertices
    return x0 <= x1 and y0 <= y1


def _replaced(objects: Objects, changes: Sequence[_Change]) -> Objects:
    """Return objects after changes, of which no two may replace the same object."""
    last_id = np.zeros(len(objects.offsets) - 1, np.int64)
    np.maximum.at(last_id, objects.image, objects.ids)
    gone = {row for change in changes for row in change.rows}
    # Image, the row in whose place it comes, and the row of each object of both old and new ones.
    order = [(k, row, row) for row, k in enumerate(objects.image.tolist()) if row not in gone]
    new: list[TextObject] = []
    for image, rows, proposed in changes:
        known = [(int(objects.ids[row]), int(objects.regions[row])) for row in rows]
        for _ in proposed[len(rows) :]:
            last_id[image] += 1
            number = int(last_id[image])
            # Further parts are in the region of the last object, if it shares one.
            is_alone = not known or known[-1][0] == known[-1][1]
            known.append((number, number if is_alone else known[-1][1]))
        for one, (number, region) in zip(proposed, known, strict=False):
            order.append((image, min(rows, default=objects.count), objects.count + len(new)))
            new.append(TextObject(one.points, one.text, one.dont_care, id=number, region=region))
    order.sort()
    counts = np.bincount([image for image, *_ in order], minlength=len(last_id))
    joined = concatenate([objects, objects_of([new])])
    return take(joined, np.array([row for *_, row in order], np.int64), offsets_of(counts))
