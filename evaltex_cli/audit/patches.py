"""Patches: what should be changed in a ground truth, entry by entry, as a JSON file.

`evaltex audit` writes a patch; a person sets ``accept`` of some entries to true; `evaltex convert`
applies these entries. A patch belongs to one ground truth, whose SHA-256 it has. What replaces
objects comes in the place of the first of them, and has their IDs and regions, one after the other;
further objects have new IDs. What is added comes last in its image.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.formats.base import Source, TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.formats.options import COORDINATE_LIMIT, MAX_VERTICES
from evaltex_cli.records import Objects, offsets_of
from evaltex_cli.records.rows import concatenate, take
from evaltex_cli.runtime.outputs import output_file
from evaltex_cli.version import __version__

Kind: TypeAlias = Literal[
    "missing", "unfound", "misplaced", "merged", "split", "dont-care", "text", "duplicate"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCHEMA = 2
"""The version of the file's form; a file of another one is refused."""
EXPECTED = "a patch as `evaltex audit --patch` writes it"
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
        """x0, y0, x1, y1 around the vertices."""
        x, y = zip(*self.vertices, strict=True)
        return min(x), min(y), max(x), max(y)


@dataclass(frozen=True, slots=True)
class Entry:
    """A change of one image."""

    kind: Kind
    image: str
    """Its name in the ground truth."""
    objects: tuple[int, ...]
    """IDs of the objects that it replaces; none for an object that is missing."""
    suspicion: float
    """In [0, 1]."""
    current: tuple[AuditedObject, ...]
    """These objects as they are, in the order of `objects`."""
    proposed: tuple[AuditedObject, ...]
    """What should be in their place; none to remove them."""
    accept: bool = False
    """Whether it is applied."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A ground truth's entries."""

    ground_truth: str
    """SHA-256 of the ground truth (`Source.sha256`)."""
    entries: Sequence[Entry]


def audited(objects: Objects, row: int) -> AuditedObject:
    """Return an object as patches have it."""
    flat = objects.outlines.ring(row).ravel().tolist() or objects.boxes[row].tolist()
    vertices = tuple(zip(flat[::2], flat[1::2], strict=True))
    return AuditedObject(vertices, objects.texts[row], bool(objects.dont_care[row]))


# The file -----------------------------------------------------------------------------------------


def write_patch(path: Path, patch: Patch) -> None:
    """Write a patch, one entry in each line; raises `InputError` as `output_file`."""
    with output_file(path) as file:
        file.writelines(in_json(patch))


def in_json(patch: Patch) -> Iterator[str]:
    """Yield the text of a patch's file in pieces."""
    head = {
        "schema": SCHEMA,
        "tool": "evaltex",
        "version": __version__,
        "kind": "patch",
        "ground_truth": patch.ground_truth,
    }
    yield "{" + ",".join(f"\n{json.dumps(key)}: {json.dumps(one)}" for key, one in head.items())
    yield ',\n"suspects": '
    items = [json.dumps(_entry_in_json(one), ensure_ascii=False) for one in patch.entries]
    yield ("[\n" + ",\n".join(items) + "\n]" if items else "[]") + "}\n"


def _entry_in_json(entry: Entry) -> dict[str, Any]:
    return {
        "accept": entry.accept,
        **asdict(entry),
        "suspicion": _number(entry.suspicion),
        "current": list(map(_object_in_json, entry.current)),
        "proposed": list(map(_object_in_json, entry.proposed)),
    }


def _object_in_json(one: AuditedObject) -> dict[str, Any]:
    vertices = [[_number(x), _number(y)] for x, y in one.vertices]
    return {"vertices": vertices, "text": one.text, "dont_care": one.dont_care}


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)


def read_patch(path: Path) -> Patch:
    """Read a patch; raises `InputError` when it cannot be read, is none, or two accepted entries
    change one object.
    """
    import msgspec  # only what reads patches needs it here

    try:
        document = msgspec.json.decode(path.read_bytes())
        if not isinstance(document, dict) or document.get("kind") != "patch":
            raise InputError(f"{path}: is no patch; give {EXPECTED}")
        if document.get("schema") != SCHEMA:
            raise InputError(
                f"{path}: schema {document.get('schema')}, while this version of evaltex reads"
                f" {SCHEMA}; audit the ground truth again"
            )
        sha256 = msgspec.convert(document.get("ground_truth"), str)
        entries = msgspec.convert(document.get("suspects"), tuple[Entry, ...])
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path}: cannot be read ({reason}); give {EXPECTED}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path}: {error}; give {EXPECTED}") from error
    faults = FaultLog()
    for k, entry in enumerate(entries):
        for found, expected in _faults(entry):
            _add(faults, path, k, found, expected)
    _refuse_twice(entries, path, faults)
    faults.raise_if_any()
    return Patch(sha256, entries)


def _faults(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an entry, and what is expected."""
    if len(entry.objects) != len(entry.current):
        yield f"{len(entry.current)} objects for {len(entry.objects)} IDs", "one for each ID"
    if len(set(entry.objects)) < len(entry.objects):
        yield "an ID twice", "different IDs"
    if not entry.objects and not entry.proposed:
        yield "no object", "an object to add"
    for one in (*entry.current, *entry.proposed):
        numbers = [*chain.from_iterable(one.vertices)]
        if len(one.vertices) < 2 or max(map(abs, numbers)) > COORDINATE_LIMIT:
            yield "vertices that are no outline", "three or more, or two corners of a box"
        elif len(one.vertices) > MAX_VERTICES:
            yield f"a polygon of {len(one.vertices)} vertices", f"at most {MAX_VERTICES}"
        elif len(one.vertices) == 2 and one.box != tuple(numbers):
            yield "a second corner left of or above the first", "the upper left corner first"


def _refuse_twice(entries: Sequence[Entry], path: Path, faults: FaultLog) -> None:
    """Add a fault for each object that two accepted entries change."""
    first: dict[tuple[str, int], int] = {}
    for k, entry in enumerate(entries):
        for number in set(entry.objects if entry.accept else ()):
            before = first.setdefault((entry.image, number), k)
            if before != k:
                found = (
                    f"accepted, as is suspects[{before}], which changes the same object {number}"
                    f" of image {quote(entry.image)}"
                )
                _add(faults, path, k, found, "one accepted entry for each object")


def _add(faults: FaultLog, path: Path, k: int, found: str, expected: str) -> None:
    faults.add(str(path), None, found, expected, where=("suspects", k))


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
    for k, entry in enumerate(patch.entries):
        if not entry.accept:
            continue
        if entry.image not in image_of:
            _add(faults, path, k, f"image {quote(entry.image)}", "an image of the ground truth")
            continue
        image = image_of[entry.image]
        rows = _rows(source.objects, image, entry, k, path, faults)
        changes[image].append((rows, entry.proposed))
    faults.raise_if_any()
    accepts = Counter(
        entry.accept for entry in patch.entries if names is None or entry.image in names
    )
    notes = [counted(accepts[True], APPLIED) if accepts[True] else NONE]
    notes += [counted(accepts[False], LEFT)] if accepts[False] else []
    return replace(source, objects=_replaced(source.objects, changes)), notes


def _rows(
    objects: Objects, image: int, entry: Entry, k: int, path: Path, faults: FaultLog
) -> list[int]:
    """Return the rows of an entry's objects; those that are not there, or have another box, are
    faults.
    """
    row_of = {int(objects.ids[row]): row for row in range(*objects.offsets[image : image + 2])}
    rows = []
    for number, current in zip(entry.objects, entry.current, strict=True):
        row = row_of.get(number)
        named = f"object {number} of image {quote(entry.image)}"
        if row is None:
            _add(faults, path, k, f"{named}, which is not there", "an object that was audited")
        elif audited(objects, row).box != current.box:
            _add(faults, path, k, f"{named} with another box", "the vertices of `current`")
        else:
            rows.append(row)
    return rows


def _replaced(
    objects: Objects, changes: Mapping[int, Sequence[tuple[list[int], Sequence[AuditedObject]]]]
) -> Objects:
    """Return objects after changes of images, of which no two may replace the same object."""
    new: list[TextObject] = []
    order: list[int] = []
    counts = []
    for image, (start, stop) in enumerate(pairwise(objects.offsets.tolist())):
        instead: dict[int, list[int]] = {}
        added: list[int] = []
        last = int(objects.ids[start:stop].max(initial=0))
        for rows, proposed in changes.get(image, ()):
            before = [(int(objects.ids[row]), int(objects.regions[row])) for row in rows]
            in_region = before and before[-1][0] != before[-1][1]
            further = range(last + 1, last + 1 + max(len(proposed) - len(before), 0))
            last = further.stop - 1
            before += [(number, before[-1][1] if in_region else number) for number in further]
            first = objects.count + len(new)
            for one, (number, region) in zip(proposed, before, strict=False):
                flat = [*chain.from_iterable(one.vertices)]
                new.append(TextObject(flat, one.text, one.dont_care, id=number, region=region))
            instead |= {row: [] for row in rows}
            there = list(range(first, objects.count + len(new)))
            if rows:
                instead[min(rows)] = there
            else:
                added += there
        here = [k for row in range(start, stop) for k in instead.get(row, (row,))] + added
        order += here
        counts.append(len(here))
    joined = concatenate([objects, objects_of([new])]) if new else objects
    return take(joined, np.array(order, np.int64), offsets_of(counts))
