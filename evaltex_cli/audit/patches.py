"""Patches: what should be changed in a ground truth, entry by entry, as a JSON file.

`evaltex audit` writes a patch; a person sets ``accept`` of some entries to true; `evaltex convert`
applies these entries. A patch belongs to one ground truth, whose SHA-256 it has. What replaces
objects comes in the place of the first of them, and has their IDs and regions, one after the other;
further objects have new IDs. What is added comes last in its image.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.formats.base import Source, TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.formats.options import COORDINATE_LIMIT, MAX_VERTICES
from evaltex_cli.records import Objects, concatenate, offsets_of, take
from evaltex_cli.runtime.outputs import output_file
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
    def box(self) -> tuple[float, ...]:
        """x0, y0, x1, y1 around the vertices; nothing around none."""
        if not self.vertices:
            return ()
        x, y = zip(*self.vertices, strict=True)
        return min(x), min(y), max(x), max(y)


@dataclass(frozen=True, slots=True)
class Entry:
    """A change of one image."""

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
    accept: bool = False
    """Whether it is applied."""


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
    with output_file(path) as file:
        file.write(in_json(patch))


def in_json(patch: Patch) -> str:
    """Return the text of a patch's file: one entry in each line, `accept` first for a person."""
    head = {
        "schema": patch.schema,
        "tool": "evaltex",
        "version": __version__,
        "kind": patch.kind,
        "ground_truth": patch.ground_truth,
    }
    names = [field.name for field in fields(Entry)]
    lines = []
    for one in patch.suspects:
        values = asdict(one)
        entry = {"accept": one.accept} | {name: values[name] for name in names}
        lines.append(json.dumps(entry, ensure_ascii=False))
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


def patched(
    path: Path, source: Source, names: Collection[str] | None = None
) -> tuple[Source, list[str]]:
    """Return a ground truth with the accepted entries of a patch applied, and notes on the entries.

    Parameters
    ----------
    path : Path
        The patch.
    names : collection of str, optional
        The images whose entries are counted; by default all.

    Raises
    ------
    InputError
        If the patch cannot be read or is of another ground truth, or an accepted entry does not
        fit.
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
    changes: dict[int, list[tuple[list[int], Sequence[AuditedObject]]]] = defaultdict(list)
    changed_by: dict[int, int] = {}
    for k, entry in enumerate(patch.suspects):
        if not entry.accept:
            continue
        rows = _rows(source.objects, image_of.get(entry.image), entry)
        before = {changed_by.setdefault(row, k) for row in rows or ()} - {k}
        ids = " ".join(map(str, entry.objects))
        if rows is None:
            found = f"objects ({ids}) of image {quote(entry.image)} that are not there as `current`"
            expected = "objects as they were audited"
        elif before:
            found = f"accepted, as is suspects[{min(before)}], which changes the same object"
            expected = "one accepted entry for each object"
        elif not all(map(_is_outline, entry.proposed)):
            found = "vertices that are no outline"
            expected = f"3 to {MAX_VERTICES}, or the upper left and lower right corner of a box"
        else:
            changes[image_of[entry.image]].append((rows, entry.proposed))
            continue
        faults.add(str(path), None, found, expected, where=("suspects", k))
    faults.raise_if_any()
    accepts = Counter(
        entry.accept for entry in patch.suspects if names is None or entry.image in names
    )
    notes = [counted(accepts[True], APPLIED) if accepts[True] else NONE]
    notes += [counted(accepts[False], LEFT)] if accepts[False] else []
    return replace(source, objects=_replaced(source.objects, changes)), notes


def _rows(objects: Objects, image: int | None, entry: Entry) -> list[int] | None:
    """Return the rows of an entry's objects; None if they, or their boxes, are not there."""
    if image is None:
        return None
    here = range(*objects.offsets[image : image + 2])
    row_of = {int(objects.ids[row]): row for row in here}
    rows = [row_of[number] for number in entry.objects if number in row_of]
    boxes = [audited(objects, row).box for row in rows]
    is_same = len(set(rows)) == len(entry.objects) and boxes == [one.box for one in entry.current]
    return rows if is_same else None


def _is_outline(one: AuditedObject) -> bool:
    numbers = tuple(chain.from_iterable(one.vertices))
    is_box = len(one.vertices) == 2 and one.box == numbers
    is_within = all(abs(number) <= COORDINATE_LIMIT for number in numbers)
    return is_within and (is_box or 3 <= len(one.vertices) <= MAX_VERTICES)


def _replaced(
    objects: Objects, changes: Mapping[int, Sequence[tuple[list[int], Sequence[AuditedObject]]]]
) -> Objects:
    """Return objects after changes of images, of which no two may replace the same object."""
    new: list[TextObject] = []
    order: list[int] = []
    counts = []
    for image, (start, stop) in enumerate(pairwise(objects.offsets.tolist())):
        here: dict[int, list[int]] = {row: [row] for row in range(start, stop)}
        added: list[int] = []
        last = int(objects.ids[start:stop].max(initial=0))
        for rows, proposed in changes.get(image, ()):
            known = [(int(objects.ids[row]), int(objects.regions[row])) for row in rows]
            there = here[min(rows)] if rows else added
            for row in rows:
                here[row].clear()
            for k, one in enumerate(proposed):
                if k < len(known):
                    number, region = known[k]
                else:
                    last += 1
                    # Further parts are in the region of the last object, if it shares one.
                    is_alone = not known or known[-1][0] == known[-1][1]
                    number, region = last, last if is_alone else known[-1][1]
                there.append(objects.count + len(new))
                flat = [*chain.from_iterable(one.vertices)]
                new.append(TextObject(flat, one.text, one.dont_care, id=number, region=region))
        rows_here = [*chain.from_iterable(here.values()), *added]
        order += rows_here
        counts.append(len(rows_here))
    joined = concatenate([objects, objects_of([new])]) if new else objects
    return take(joined, np.array(order, np.int64), offsets_of(counts))
