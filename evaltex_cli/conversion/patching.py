"""Applies the accepted entries of a patch to a ground truth, as its images pass.

What replaces objects comes in the place of the first of them, and has their IDs and regions, one
after the other; further objects have new IDs. What is added comes last in its image. All other
objects stay as they are.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from evaltex_cli.conversion.base import Block, Job, vertices_of
from evaltex_cli.conversion.patches import AuditedObject, Entry, GroundTruth, Patch
from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.collected import columns
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.formats.reading import read_parts
from evaltex_cli.geometry import rings
from evaltex_cli.records import Objects, offsets_of
from evaltex_cli.records.rows import concatenate, take

BLOCK_IMAGES = 1024
APPLIED = "{count} accepted entr[y|ies] of the patch applied"
LEFT = "{count} entr[y|ies] of the patch [is|are] not accepted and [changes|change] nothing"
NONE = "no entry of the patch is accepted, so the objects are those of the ground truth"
NONE_HERE = "no accepted entry of the patch is of the images that are written"
MASKS = (
    "masks cannot be patched, as a patch has vertices and no pixels; give a ground truth of boxes"
    " or polygons"
)


@dataclass(frozen=True, slots=True)
class Change:
    """Objects of an image of a batch, and what replaces them."""

    image: int
    """Its index in the batch."""
    rows: tuple[int, ...]
    """The replaced objects' rows in the batch."""
    proposed: tuple[AuditedObject, ...]


# The ground truth ---------------------------------------------------------------------------------


_BITS = 256


class Identity:
    """Collects what distinguishes a ground truth from any other."""

    def __init__(self) -> None:
        self._images = self._objects = self._sum = 0

    def add(self, names: Sequence[str], objects: Objects, contents: Sequence[bytes]) -> None:
        """Add some images and the `contents_of` their objects."""
        self._images += len(names)
        self._objects += objects.count
        for name, (start, stop) in zip(names, pairwise(objects.offsets.tolist()), strict=True):
            inner = sum(map(_number, contents[start:stop])) % (1 << _BITS)
            named = name.encode("utf-8", "surrogatepass")
            self._sum += _number(inner.to_bytes(_BITS // 8, "big") + named)

    @property
    def ground_truth(self) -> GroundTruth:
        """What has been added. Sums of SHA-256 do not depend on the order."""
        return GroundTruth(self._images, self._objects, f"{self._sum % (1 << _BITS):064x}")


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


def contents_of(objects: Objects) -> list[bytes]:
    """Return what makes an object what it is, of each: don't care or not, its vertices, those of a
    box its corners, and its transcription unless it is don't care.
    """
    points, offsets = rings.of(objects.outlines)
    ends = (offsets * 16).tolist()
    data = (points + 0.0).astype("<f8").tobytes()  # -0.0 becomes 0.0
    return [
        _content(flag, data[start:stop], text)
        for flag, (start, stop), text in zip(
            objects.dont_care.tolist(), pairwise(ends), objects.texts, strict=True
        )
    ]


def _content(dont_care: bool, vertices: bytes, text: str) -> bytes:
    words = b"" if dont_care else text.encode("utf-8", "surrogatepass")
    return b"%d %d " % (dont_care, len(vertices)) + vertices + words


def identify(source: Source) -> GroundTruth:
    """Return which ground truth a source is; all of it is read.

    Raises
    ------
    InputError
        If it is faulty.
    """
    identity, faults = Identity(), FaultLog()
    stops = [*range(BLOCK_IMAGES, len(source.names), BLOCK_IMAGES), len(source.names)]
    for (start, stop), read in read_parts(source, pairwise([0, *stops]), "reading"):
        faults.extend(read.faults)
        identity.add(source.names[start:stop], read.objects, contents_of(read.objects))
    faults.raise_if_any()
    return identity.ground_truth


def content_of(one: AuditedObject) -> bytes:
    """Return the same as `contents_of` of an audited object."""
    return contents_of(_objects([one]))[0]


# Changed objects ----------------------------------------------------------------------------------


def audited(objects: Objects, row: int) -> AuditedObject:
    """Return an object as patches have it."""
    flat = vertices_of(objects, row) or objects.boxes[row].tolist()
    vertices = tuple(zip(flat[::2], flat[1::2], strict=True))
    return AuditedObject(vertices, objects.texts[row], bool(objects.dont_care[row]))


def _objects(
    given: Sequence[AuditedObject], ids: Sequence[tuple[int, int]] = (), place: str = ""
) -> Objects:
    """Return audited objects in columns, with these IDs and regions, as one image."""
    numbers = ids or [(k + 1, k + 1) for k in range(len(given))]
    image = CollectedImage("", place).with_objects(
        CollectedObject(
            [*chain.from_iterable(one.vertices)], one.text, one.dont_care, id=own, region=region
        )
        for one, (own, region) in zip(given, numbers, strict=True)
    )
    return columns([image]).objects


def replaced(objects: Objects, changes: Sequence[Change], place: str = "") -> Objects:
    """Return objects after changes, of which no two may replace the same object.

    Raises
    ------
    InputError
        For a polygon that crosses itself too often; `place` is where it is from.
    """
    if not changes:
        return objects
    new = [one for change in changes for one in change.proposed]
    ids = [*chain.from_iterable(_numbered(objects, changes))]
    joined = concatenate([objects, _objects(new, ids, place)]) if new else objects
    instead, added = _places(objects.count, changes)
    order: list[int] = []
    counts = []
    for k, (start, stop) in enumerate(pairwise(objects.offsets.tolist())):
        before = len(order)
        for row in range(start, stop):
            order += instead.get(row, (row,))
        order += added[k]
        counts.append(len(order) - before)
    return take(joined, np.array(order, np.int64), offsets_of(counts))


def _numbered(objects: Objects, changes: Sequence[Change]) -> Iterator[list[tuple[int, int]]]:
    """Yield ID and region of the new objects of each change."""
    highest: dict[int, int] = {}
    for one in changes:
        own = slice(*objects.offsets[one.image : one.image + 2].tolist())
        before = [(int(objects.ids[row]), int(objects.regions[row])) for row in one.rows]
        numbers = before[: len(one.proposed)]
        last = highest.get(one.image, int(objects.ids[own].max(initial=0)))
        while len(numbers) < len(one.proposed):
            last += 1
            is_in_region = before and before[-1][0] != before[-1][1]
            numbers.append((last, before[-1][1] if is_in_region else last))
        highest[one.image] = last
        yield numbers


def _places(
    count: int, changes: Sequence[Change]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return which rows come in the place of a replaced one, and at the end of each image."""
    instead: dict[int, list[int]] = {}
    added: dict[int, list[int]] = defaultdict(list)
    next_row = count
    for one in changes:
        new = [*range(next_row, next_row + len(one.proposed))]
        next_row += len(new)
        for row in one.rows:
            instead[row] = []
        if one.rows:
            instead[min(one.rows)] = new
        else:
            added[one.image] += new
    return instead, added


# A patch applied ----------------------------------------------------------------------------------


def patched(blocks: Iterable[Block], patch: Patch, path: Path, job: Job) -> Iterator[Block]:
    """Yield blocks of a ground truth with the accepted entries of a patch applied.

    Raises
    ------
    InputError
        For masks; after the last block, if the patch is of another ground truth, or an accepted
        entry does not fit it.
    """
    identity, faults = Identity(), FaultLog()
    pending: dict[str, list[int]] = defaultdict(list)
    for k, one in enumerate(patch.entries):
        if one.accept:
            pending[one.image].append(k)
    written = set(job.names)
    of_written = [one.accept for one in patch.entries if one.image in written]
    accepted = sum(of_written)
    for block in blocks:
        objects = block.images.objects
        contents = contents_of(objects)
        identity.add(block.names, objects, contents)
        if block.images.pictures is not None:
            raise InputError(f"{job.place}: {MASKS}")
        changes: list[Change] = []
        for image, name in enumerate(block.names):
            wanted = pending.pop(name, [])
            if wanted:
                own = _Image(image, name, objects, contents)
                changes += _changes(own, patch.entries, wanted, str(path), faults)
        changed = replaced(objects, changes, str(path))
        yield replace(block, images=replace(block.images, objects=changed))
    for name, wanted in pending.items():
        for k in wanted:
            found = f"image {quote(name)}, which the ground truth does not have"
            _add(faults, str(path), k, found, "one of its images")
    _refuse_other(patch.ground_truth, identity.ground_truth, path, job.place, faults)
    if not any(one.accept for one in patch.entries):
        job.lost[NONE] += 1
        return
    job.lost[APPLIED if accepted else NONE_HERE] += accepted or 1
    job.lost[LEFT] += len(of_written) - accepted


@dataclass(frozen=True, slots=True)
class _Image:
    """An image of a batch: its index and name, and the batch's objects and their contents."""

    index: int
    name: str
    objects: Objects
    contents: Sequence[bytes]

    @property
    def rows(self) -> range:
        """Its objects."""
        return range(*self.objects.offsets[self.index : self.index + 2].tolist())


def _changes(
    image: _Image, entries: Sequence[Entry], wanted: Sequence[int], place: str, faults: FaultLog
) -> Iterator[Change]:
    """Yield the changes of an image by these entries; what does not fit goes to the log.

    An object is the one of its ID, or, as formats number objects differently, another one that is
    the same.
    """
    of_id = {int(image.objects.ids[row]): row for row in image.rows}
    named = [(k, j) for k in wanted for j in range(len(entries[k].objects))]
    current = _objects([entries[k].current[j] for k, j in named])
    known = dict(zip(named, contents_of(current), strict=True))
    rows: dict[tuple[int, int], int] = {}
    for k, j in named:
        row = of_id.get(entries[k].objects[j])
        if row is not None and image.contents[row] == known[k, j]:
            rows[k, j] = row
    used = set(rows.values())
    left = {row: image.contents[row] for row in image.rows if row not in used}
    for key in named:
        if key in rows:
            continue
        row = next((row for row, content in left.items() if content == known[key]), None)
        if row is None:
            _add(faults, place, key[0], *_unfit(image, of_id, entries[key[0]], key[1]))
        else:
            rows[key] = row
            del left[row]
    for k in wanted:
        own = [rows.get((k, j)) for j in range(len(entries[k].objects))]
        yield Change(image.index, tuple(row for row in own if row is not None), entries[k].proposed)


def _unfit(image: _Image, of_id: dict[int, int], entry: Entry, j: int) -> tuple[str, str]:
    """Return what is there in the place of an object of an entry, and what is expected."""
    number, then = entry.objects[j], entry.current[j]
    named = f"object {number} of image {quote(image.name)}"
    row = of_id.get(number)
    if row is None:
        return f"{named}, which is not there", "an object of the ground truth that was audited"
    now = audited(image.objects, row)
    if now.dont_care != then.dont_care:
        return f"{named}, which {'is' if now.dont_care else 'is not'} don't care", (
            "it as it was audited: " + ("don't care" if then.dont_care else "not don't care")
        )
    same_drawing = content_of(replace(now, text="")) == content_of(replace(then, text=""))
    if same_drawing:
        return f"{named} with the text {quote(now.text)}", f"the text {quote(then.text)}"
    return f"{named} with other vertices", "the vertices that were audited (key current)"


def _add(faults: FaultLog, place: str, k: int, found: str, expected: str) -> None:
    faults.add(place, None, found, expected, where=("suspects", k))


def _refuse_other(
    audited: GroundTruth, here: GroundTruth, path: Path, place: str, faults: FaultLog
) -> None:
    """Refuse a patch of another ground truth, or with entries that do not fit."""
    if audited != here:
        counts = [
            f"{counted(one.images, '{count} image[s]')} and"
            f" {counted(one.objects, '{count} object[s]')}"
            for one in (audited, here)
        ]
        differ = counts[0] if counts[0] != counts[1] else f"{counts[0]}, not the same ones,"
        unfit = "".join(f"\n{line}" for line in faults.paragraphs())
        raise InputError(
            f"{path}: is a patch of another ground truth, of {differ} while {place} has"
            f" {counts[1]}; give the ground truth that was audited, or audit this one{unfit}"
        )
    faults.raise_if_any()
