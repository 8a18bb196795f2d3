"""Patches: what should be changed in a ground truth, entry by entry, as a JSON file.

A person sets ``accept`` of some entries to true, and `patching` applies these to the ground truth.
Nothing but ``accept`` is meant to be edited. `patch_reading` reads the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from evaltex_cli.conversion.base import list_pieces, plain
from evaltex_cli.runtime.atomic_output import written
from evaltex_cli.version import __version__

Kind: TypeAlias = Literal[
    "missing", "unfound", "misplaced", "merged", "split", "dont-care", "text", "duplicate"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCHEMA = 1
"""The version of the file's form; a file of another one is refused."""


@dataclass(frozen=True, slots=True)
class AuditedObject:
    """An object of the ground truth as it is, or as it should be."""

    vertices: tuple[tuple[float, float], ...]
    """Three or more of a polygon as drawn; of a box its two corners, x0, y0 and x1, y1."""
    text: str = ""
    """Its transcription, empty if there is none."""
    dont_care: bool = False


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """Which ground truth a patch is of."""

    images: int
    objects: int
    """`images` and `objects`: how many it has."""
    digest: str
    """Of the names of the images and of the vertices, transcriptions and don't-care flags of their
    objects (`patching.Identity`): the same in every format and in any order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A change of one image."""

    kind: Kind
    """One of `KINDS`."""
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
    fault: str = ""
    """Of an injected fault which one of `faults.FAULTS` it undoes, otherwise empty."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A ground truth's entries."""

    ground_truth: GroundTruth
    entries: Sequence[Entry]
    seed: int | None = None
    """Of the random choice of injected faults; None for an audit."""


def write_patch(path: Path, patch: Patch) -> None:
    """Write a patch, one entry in each line.

    Raises
    ------
    InputError
        As `atomic_output.written`.
    """
    with written(path) as file:
        file.writelines(in_json(patch))


def in_json(patch: Patch) -> Iterator[str]:
    """Yield the text of a patch's file in pieces."""
    head = {
        "schema": SCHEMA,
        "tool": "evaltex",
        "version": __version__,
        "kind": "patch",
        "ground_truth": asdict(patch.ground_truth),
        **({} if patch.seed is None else {"seed": patch.seed}),
    }
    for key, value in head.items():
        yield f"{'{' if key == 'schema' else ','}\n{json.dumps(key)}: {json.dumps(value)}"
    yield ',\n"suspects": '
    yield from list_pieces(map(_entry_in_json, patch.entries))
    yield "}\n"


def _entry_in_json(one: Entry) -> dict[str, Any]:
    return {
        "accept": one.accept,
        "kind": one.kind,
        **({"fault": one.fault} if one.fault else {}),
        "image": one.image,
        "objects": list(one.objects),
        "suspicion": plain(one.suspicion),
        "current": list(map(_object_in_json, one.current)),
        "proposed": list(map(_object_in_json, one.proposed)),
    }


def _object_in_json(one: AuditedObject) -> dict[str, Any]:
    vertices = [[plain(float(x)), plain(float(y))] for x, y in one.vertices]
    return {"vertices": vertices, "text": one.text, "dont_care": one.dont_care}
