"""Reads the file of a patch, and checks all of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from evaltex_cli.conversion.patches import KINDS, SCHEMA, AuditedObject, Entry, GroundTruth, Patch
from evaltex_cli.errors import FaultLog, FormatError, InputError, quote
from evaltex_cli.formats.documents import safe_json
from evaltex_cli.formats.documents.safe_json import Item, Record, Vertices, WholeNumber
from evaltex_cli.formats.files.image_names import is_unicode
from evaltex_cli.runtime.input_files import read_regular

LARGEST = 1 << 28
"""Bytes of the largest patch that is read; an entry takes some 500."""
EXPECTED = "a patch as `evaltex audit --patch` writes it"
_DIGEST = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class _Truth(msgspec.Struct, gc=False):
    images: WholeNumber
    objects: WholeNumber
    digest: _DIGEST


class _Object(msgspec.Struct, gc=False):
    vertices: Vertices
    text: str
    dont_care: Any


class _Entry(msgspec.Struct, gc=False):
    kind: str
    image: str
    objects: list[WholeNumber]
    suspicion: Annotated[float, Meta(ge=0, le=1)]
    current: list[_Object]
    proposed: list[_Object]
    accept: Any
    fault: str = ""


def read_patch(path: Path) -> Patch:
    """Read a patch.

    Raises
    ------
    InputError
        When it cannot be read, or is none: all faults, each with its place. So are two accepted
        entries on one object.
    """
    faults = FaultLog()
    try:
        patch = _patch(_document(path), str(path), faults)
    except FormatError as error:
        raise InputError(str(error.fault(str(path)))) from error
    if not faults.count:
        _refuse_twice(patch.entries, str(path), faults)
    faults.raise_if_any()
    return patch


def _document(path: Path) -> Record:
    """Return the document of a patch; raises `InputError` or `FormatError` if it is none."""
    try:
        data = read_regular(path, "a patch", LARGEST + 1)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); give {EXPECTED}"
        ) from error
    if len(data) > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST} bytes; give {EXPECTED}")
    document = safe_json.record(safe_json.parse(data))
    found = document.get("kind")
    if found is None or safe_json.opened(safe_json.plain(found)) != "patch":
        shown = "no key 'kind'" if found is None else f"the kind {safe_json.shown(found)}"
        raise FormatError(shown, EXPECTED)
    schema = safe_json.take(safe_json.needed(document, "schema"), WholeNumber, "schema")
    if schema != SCHEMA:
        raise FormatError(
            str(schema), f"{SCHEMA}, which this version of evaltex reads", ("schema",)
        )
    return document


def _patch(document: Record, place: str, faults: FaultLog) -> Patch:
    truth = safe_json.take(safe_json.needed(document, "ground_truth"), _Truth, "ground_truth")
    entries = []
    for k, item in enumerate(safe_json.items(document, "suspects")):
        with faults.catching(place, "suspects", k):
            entries.append(_entry(item))
    return Patch(
        GroundTruth(truth.images, truth.objects, truth.digest),
        tuple(entries),
        safe_json.field(document, "seed", WholeNumber),
    )


def _entry(item: Item) -> Entry:
    """Return an entry; raises `FormatError` for what is none."""
    one = safe_json.take(item, _Entry)
    if one.kind not in KINDS:
        raise FormatError(quote(one.kind), f"one of {', '.join(KINDS)}", ("kind",))
    if len(one.objects) != len(one.current):
        found = f"{len(one.current)} objects for {len(one.objects)} IDs"
        raise FormatError(found, "one object for each ID", ("current",))
    if len(set(one.objects)) < len(one.objects):
        raise FormatError("an ID twice", "different IDs", ("objects",))
    if not one.objects and not one.proposed:
        raise FormatError("nothing", "an object to add", ("proposed",))
    return Entry(
        one.kind,
        one.image,
        tuple(one.objects),
        one.suspicion,
        tuple(_object(each, "current", k) for k, each in enumerate(one.current)),
        tuple(_object(each, "proposed", k) for k, each in enumerate(one.proposed)),
        _flag(one.accept, "accept"),
        one.fault,
    )


def _object(one: _Object, *where: str | int) -> AuditedObject:
    vertices = tuple(one.vertices)
    if len(vertices) < 2:
        found = f"{len(vertices)} vertices" if vertices else "no vertex"
        expected = "three vertices or more, or two corners of a box"
        raise FormatError(found, expected, (*where, "vertices"))
    if len(vertices) == 2 and (vertices[1][0] < vertices[0][0] or vertices[1][1] < vertices[0][1]):
        raise FormatError(
            "a second corner left of or above the first",
            "the upper left and the lower right corner of a box",
            (*where, "vertices"),
        )
    if not is_unicode(one.text):
        raise FormatError(f"{quote(one.text)}, which is no Unicode text", "text", (*where, "text"))
    return AuditedObject(vertices, one.text, _flag(one.dont_care, *where, "dont_care"))


def _flag(value: Any, *where: str | int) -> bool:
    if not isinstance(value, bool):
        raise FormatError(safe_json.shown(value), "true or false", where)
    return value


def _refuse_twice(entries: Sequence[Entry], place: str, faults: FaultLog) -> None:
    """Add a fault for each object that two accepted entries change, and for each that two add."""
    first: dict[tuple[str, int | AuditedObject], int] = {}
    for k, one in enumerate(entries):
        changed: Sequence[int | AuditedObject] = one.objects or one.proposed
        for each in dict.fromkeys(changed if one.accept else ()):
            before = first.setdefault((one.image, each), k)
            if before != k:
                what = f"changes the same object {each}" if one.objects else "adds the same object"
                preposition = "of" if one.objects else "to"
                found = (
                    f"accepted, as is suspects[{before}], which {what} {preposition} image"
                    f" {quote(one.image)}"
                )
                expected = "one accepted entry for each object; set one of the two to false"
                faults.add(place, None, found, expected, where=("suspects", k))
