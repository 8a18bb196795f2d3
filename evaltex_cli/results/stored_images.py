"""Reads a result's .json without keeping its images in memory: each is decoded when it is asked
for.

`writer.document` writes every image in a line of its own. Then only the positions of the lines are
in memory, eight bytes per image. A document in another layout is in memory as a whole.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, overload

import numpy as np

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.records import Ints
from evaltex_cli.results.text_tables import JsonObject

IMAGES = "images"
PARTNERS = {"objects": "detections", "detections": "objects"}
"""Each side of an image, and what its objects' partners are called in the .json."""
_OPENING = f'"{IMAGES}": [\n'.encode()
_Decoded = Callable[[Ints], Iterator[Any]]


class StoredImages(Sequence[ImageResult]):
    """The images of a result; each is decoded when it is asked for.

    Parameters
    ----------
    places : (images,) int64
        Where each begins.
    decoded : callable
        Yields the images at some places.
    """

    def __init__(self, places: Ints, decoded: _Decoded) -> None:
        self._places, self._decoded = places, decoded

    def __len__(self) -> int:
        return len(self._places)

    def unchecked(self) -> Iterator[Any]:
        """Yield the images as they are in the JSON; `reader.read` has checked them."""
        return self._decoded(self._places)

    def __iter__(self) -> Iterator[ImageResult]:
        return map(_image, self.unchecked())

    @overload
    def __getitem__(self, at: int) -> ImageResult: ...
    @overload
    def __getitem__(self, at: slice) -> list[ImageResult]: ...
    def __getitem__(self, at: int | slice) -> ImageResult | list[ImageResult]:
        if isinstance(at, slice):
            return list(map(_image, self._decoded(self._places[at])))
        return self[at : at + 1 or None][0]


def _image(value: Any) -> ImageResult:
    members = {field.name: value[field.name] for field in fields(ImageResult)}
    for side, partners in PARTNERS.items():
        members[side] = [object_result(entry, partners) for entry in members[side]]
    return ImageResult(**members)


def entry_of(result: ObjectResult, partners: str) -> JsonObject:
    """Return what a result's .json says of an object or a detection;
    `partners` is the name of its partners there.
    """
    return {"id": result.id, "match": result.match, partners: result.partners, **result.values}


def object_result(entry: Mapping[str, Any], partners: str) -> ObjectResult:
    """Return the object or detection of an entry that is as `entry_of` returns it."""
    values = {name: value for name, value in entry.items() if name not in ("id", "match", partners)}
    return ObjectResult(entry["id"], entry["match"], entry[partners], values)


def read(path: Path) -> Any:
    """Read a JSON document; if it is an object with a list of images, this list is a
    `StoredImages`.

    Raises
    ------
    OSError, ValueError, RecursionError
        When it is not JSON; for images in lines of their own, only when they are decoded.
    """
    with path.open("rb") as file:
        by_lines = _of_lines(path, file)
    if by_lines is not None:
        return by_lines
    document = json.loads(path.read_bytes())
    if isinstance(document, dict) and isinstance(images := document.get(IMAGES), list):
        document[IMAGES] = StoredImages(
            np.arange(len(images)), lambda places: (images[k] for k in places.tolist())
        )
    return document


def _of_lines(path: Path, file: IO[bytes]) -> JsonObject | None:
    """Read a document that is laid out as `writer.document` does; None for any other."""
    if file.readline() != b"{\n":
        return None
    document: JsonObject = {}
    is_last = False
    for line in file:
        if line == b"}\n" and is_last:
            return None if file.read(1) else document
        members = _images(path, file) if line == _OPENING else _member(line)
        if members is None or is_last or IMAGES in document.keys() & members.keys():
            return None
        document |= members
        is_last = line != _OPENING and not line.endswith(b",\n")
    return None


def _images(path: Path, file: IO[bytes]) -> JsonObject | None:
    """The images in the lines that follow."""
    places = _places(file)
    return None if places is None else {IMAGES: StoredImages(places, _reader(path))}


def _member(line: bytes) -> JsonObject | None:
    try:
        member: JsonObject = json.loads(b"{" + line.removesuffix(b"\n").removesuffix(b",") + b"}")
    except (ValueError, RecursionError):
        return None
    return None if isinstance(member.get(IMAGES), list) else member


def _places(file: IO[bytes]) -> Ints | None:
    """The positions of the lines up to the one that ends the list; the next
    line read is the one after it.
    """
    places, at = array("q"), file.tell()
    for line in iter(file.readline, b""):
        places.append(at)
        at += len(line)
        if line.endswith(b"}],\n"):
            return np.array(places, np.int64)
        if not line.endswith(b"},\n"):
            return None
    return None


def _reader(path: Path) -> _Decoded:
    def decoded(places: Ints) -> Iterator[Any]:
        with path.open("rb") as file:
            for place in places.tolist():
                if file.tell() != place:
                    file.seek(place)
                line = file.readline()
                yield json.loads(line[: -3 if line.endswith(b"],\n") else -2])

    return decoded
