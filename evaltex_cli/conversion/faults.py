"""Faults injected into a ground truth, with a record that undoes them: what an audit is judged by.

Of the objects that count, some are dropped, moved by half their height, merged with the next word
of their line, or get another letter in their transcription. No object has two faults. What is
chosen depends on the seed, the names of the images and the order of the objects in them, and not on
the order of the images.
"""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from evaltex_cli.conversion.neighbours import Lines, lines_of, merged, near_ends, next_in_line
from evaltex_cli.conversion.patches import AuditedObject, Entry, Kind
from evaltex_cli.conversion.patching import Change, audited, replaced
from evaltex_cli.records import Floats, Objects, expanded

FAULTS: dict[str, Kind] = {
    "dropped": "missing",
    "moved": "misplaced",
    "merged": "merged",
    "text": "text",
}
"""Fault -> the kind of suspect that it makes."""
SHARE = 0.05
"""Of the objects that are possible: dropped, moved, among the merged ones; of those with a
transcription, changed."""


def inject(
    names: Sequence[str], objects: Objects, seed: int = 0, share: float = SHARE
) -> tuple[Objects, tuple[Entry, ...]]:
    """Inject faults into a ground truth.

    Parameters
    ----------
    names : sequence of str
        Of all images.
    objects : Objects
        Of all images.
    seed : int
    share : float
        How many of the objects get each of the faults, at least one of those that could.

    Returns
    -------
    Objects
        With the faults.
    tuple of Entry
        Accepted entries of a patch that undoes them, by image in the order of `names`, in the order
        of the objects; `fault` says which one it was.
    """
    injected = sorted(_faults(names, objects, seed, share), key=lambda one: one[1].rows)
    changes = [change for _, change in injected]
    faulty = replaced(objects, changes)
    return faulty, tuple(_undone(names, objects, fault, change) for fault, change in injected)


def _undone(names: Sequence[str], objects: Objects, fault: str, change: Change) -> Entry:
    """Return the entry that undoes a fault; a changed object has the ID of the first."""
    before = tuple(audited(objects, row) for row in change.rows)
    ids = (int(objects.ids[change.rows[0]]),) if change.proposed else ()
    return Entry(FAULTS[fault], names[change.image], ids, 1.0, change.proposed, before, True, fault)


def numbered(
    names: Sequence[str], objects: Objects, entries: Iterable[Entry]
) -> tuple[Objects, tuple[Entry, ...]]:
    """Return faulty objects with the IDs of a format that has none, and their entries with these
    IDs: an object's number in its image.
    """
    image, before = expanded(np.diff(objects.offsets))
    ids = before + 1
    new = {
        (names[k], old): number
        for k, old, number in zip(image.tolist(), objects.ids.tolist(), ids.tolist(), strict=True)
    }
    regions = np.where(objects.regions == objects.ids, ids, objects.regions)
    return replace(objects, ids=ids, regions=regions), tuple(
        replace(one, objects=tuple(new[one.image, old] for old in one.objects)) for one in entries
    )


# What is chosen -----------------------------------------------------------------------------------


def _faults(
    names: Sequence[str], objects: Objects, seed: int, share: float
) -> Iterator[tuple[str, Change]]:
    """Yield faults and changes, of different objects."""
    lines = lines_of(objects)
    image = objects.image.tolist()
    size = objects.boxes[:, 2:] - objects.boxes[:, :2]
    possible = ~objects.dont_care & (size > 0).all(axis=1) & (lines.heights > 0)
    of_image = expanded(np.diff(objects.offsets))[1]
    keys = {
        row: _key(seed, names[image[row]], int(of_image[row]))
        for row in np.flatnonzero(possible).tolist()
    }
    order = sorted(keys, key=lambda row: (keys[row], names[image[row]]))
    texts = [row for row in order if objects.texts[row].strip()]
    free = set(order)
    wanted = _how_many(share / 2, len(order))
    for change in islice(_mergers(objects, lines, order, free), wanted):
        yield "merged", change
    for fault, rows in (("text", texts), ("moved", order), ("dropped", order)):
        for row in [row for row in rows if row in free][: _how_many(share, len(rows))]:
            free.remove(row)
            now = _CHANGED[fault](audited(objects, row), lines.across[row], keys[row])
            yield fault, Change(image[row], (row,), now)


def _mergers(
    objects: Objects, lines: Lines, order: Sequence[int], free: set[int]
) -> Iterator[Change]:
    """Yield neighbours that are merged, in this order; they are not free any more."""
    image = objects.image
    near = near_ends(lines, image, np.sort(np.array(order, np.int64)))
    for a in order:
        if a not in free:
            continue
        b = next_in_line(lines, a, near(a))
        one = None if b is None or b not in free else merged(objects, a, b)
        if b is not None and one is not None:
            free -= {a, b}
            yield Change(int(image[a]), (a, b), (one,))


def _how_many(share: float, possible: int) -> int:
    return max(int(share * possible + 0.5), min(possible, 1))


def _key(seed: int, name: str, index: int) -> int:
    """A random number of 64 bits that an object always has."""
    digest = hashlib.sha256(f"{seed} {index} ".encode() + name.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8], "big")


# Faults -------------------------------------------------------------------------------------------


def _moved(one: AuditedObject, across: Floats, key: int) -> tuple[AuditedObject, ...]:
    """Move an object across the text by half its height: up or down, but not out of the picture."""
    by = across / 2 * (1 if key % 2 else -1)
    vertices = np.array(one.vertices)
    if (vertices + by).min() < 0:
        by = -by
    return (replace(one, vertices=tuple(map(tuple, (vertices + by).tolist()))),)


def _with_other_letter(one: AuditedObject, across: Floats, key: int) -> tuple[AuditedObject, ...]:
    """Put another letter, whatever its case, for one character."""
    generator = random.Random(key)
    place = generator.choice([k for k, c in enumerate(one.text) if not c.isspace()])
    old = one.text[place]
    letter = generator.choice([c for c in string.ascii_lowercase if c != old.lower()])
    new = letter.upper() if old.isupper() else letter
    return (replace(one, text=one.text[:place] + new + one.text[place + 1 :]),)


_CHANGED: dict[str, Callable[..., tuple[AuditedObject, ...]]] = {
    "dropped": lambda *_: (),
    "moved": _moved,
    "text": _with_other_letter,
}
