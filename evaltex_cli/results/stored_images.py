"""Reads a result's .json, of which `writer.document` writes every image in a line of its own: these
lines are kept, and each image is decoded when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, overload

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.results.text_tables import JsonObject

IMAGES = "images"
PARTNERS = {"objects": "detections", "detections": "objects"}
"""Each side of an image, and what its objects' partners are called in the .json."""


class StoredImages(Sequence[ImageResult]):
    """The images of a result, as lines of JSON; each is decoded when it is asked for."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[ImageResult]:
        return map(_image, self._lines)

    @overload
    def __getitem__(self, at: int) -> ImageResult: ...
    @overload
    def __getitem__(self, at: slice) -> list[ImageResult]: ...
    def __getitem__(self, at: int | slice) -> ImageResult | list[ImageResult]:
        if isinstance(at, slice):
            return list(map(_image, self._lines[at]))
        return _image(self._lines[at])


def _image(line: bytes) -> ImageResult:
    value = json.loads(line)
    members = {field.name: value[field.name] for field in fields(ImageResult)}
    for side, partners in PARTNERS.items():
        members[side] = [_object(entry, partners) for entry in members[side]]
    return ImageResult(**members)


def _object(entry: JsonObject, partners: str) -> ObjectResult:
    values = {name: value for name, value in entry.items() if name not in ("id", "match", partners)}
    return ObjectResult(entry["id"], entry["match"], entry[partners], values)


def entry_of(result: ObjectResult, partners: str) -> JsonObject:
    """Return what a result's .json says of an object; `partners` is what it calls its partners."""
    return {"id": result.id, "match": result.match, partners: result.partners, **result.values}


def read(path: Path) -> Any:
    """Read a JSON document; of a result, its images are `StoredImages`.

    Raises `OSError`, `ValueError` or `RecursionError` when it is not JSON; for images in lines of
    their own, only when they are decoded.
    """
    data = path.read_bytes()
    before, opening, after = data.partition(f'\n"{IMAGES}": [\n'.encode())
    listed, closing, rest = after.rpartition(b"}],\n")
    is_laid_out = bool(opening and closing)
    document = json.loads(before + rest if is_laid_out else data)
    if is_laid_out and isinstance(document, dict):
        lines = [line.removesuffix(b",") for line in (listed + b"}").split(b"\n")]
        document[IMAGES] = StoredImages(lines)
    elif isinstance(document, dict) and isinstance(document.get(IMAGES), list):
        document[IMAGES] = StoredImages([json.dumps(one).encode() for one in document[IMAGES]])
    return document
