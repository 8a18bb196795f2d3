"""Reads a result's .json without keeping its images in memory: each is decoded when it is asked
for.

`writer.document` writes every image in a line of its own. Then only the positions of the lines are
in memory, eight bytes per image. Of a document in another layout, written again by another tool,
the whole text is in memory, but still only one image at a time as objects.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any, overload

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.records import Ints
from evaltex_cli.results.text_tables import JsonObject
from evaltex_cli.runtime.input_files import open_regular, read_regular

IMAGES = "images"
PARTNERS = {"objects": "detections", "detections": "objects"}
"""Each side of an image, and what its objects' partners are called in the .json."""
_OPENING = f'"{IMAGES}": [\n'.encode()
_BLANKS = re.compile(r"[ \t\n\r]*+")
_DECODER = json.JSONDecoder()
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


def read(path: Path, expected: str) -> Any:
    """Read a JSON document; if it is an object with a list of images, this list is a
    `StoredImages`.

    Parameters
    ----------
    expected : str
        What the user should give instead of a pipe or device.

    Raises
    ------
    InputError, OSError
    ValueError, RecursionError
        When it is no JSON; for images in lines of their own, only when they are decoded.
    """
    with open_regular(path, expected) as file:
        return _of_lines(path, file) or read_whole(path, expected)


def read_whole(path: Path, expected: str) -> Any:
    """As `read`, of any layout: the text is in memory, and all of it is known to be JSON."""
    data = read_regular(path, expected)
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    del data
    at = _past_blanks(text, 0)
    value: Any
    if text.startswith("{", at):
        value, at = _members(text, at)
    elif text.startswith("[", at):
        value, at = _elements(text, at)
    else:
        return json.loads(text)
    at = _past_blanks(text, at)
    if at < len(text):
        raise json.JSONDecodeError("Extra data", text, at)
    return value


def _members(text: str, at: int) -> tuple[JsonObject, int]:
    """The object that begins here, and where it ends."""
    document: JsonObject = {}
    at = _past_blanks(text, at + 1)
    if text.startswith("}", at):
        return document, at + 1
    while True:
        if not text.startswith('"', at):
            raise json.JSONDecodeError(
                "Expecting property name enclosed in double quotes", text, at
            )
        key, at = _DECODER.raw_decode(text, at)
        at = _past_blanks(text, _past(text, at, ":"))
        is_list = key == IMAGES and text.startswith("[", at)
        document[key], at = _elements(text, at) if is_list else _DECODER.raw_decode(text, at)
        if text.startswith("}", _past_blanks(text, at)):
            return document, _past(text, at, "}")
        at = _past_blanks(text, _past(text, at, ","))


def _elements(text: str, at: int) -> tuple[StoredImages, int]:
    """The list that begins here, and where it ends."""

    def decoded(places: Ints) -> Iterator[Any]:
        return (_DECODER.raw_decode(text, place)[0] for place in places.tolist())

    places, at = array("q"), _past_blanks(text, at + 1)
    while places or not text.startswith("]", at):
        places.append(at)
        _, at = _DECODER.raw_decode(text, at)
        if text.startswith("]", _past_blanks(text, at)):
            break
        at = _past_blanks(text, _past(text, at, ","))
    return StoredImages(np.array(places, np.int64), decoded), _past(text, at, "]")


def _past_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _past(text: str, at: int, mark: str) -> int:
    """The place after a mark; blanks may come before the mark."""
    at = _past_blanks(text, at)
    if not text.startswith(mark, at):
        raise json.JSONDecodeError(f"Expecting '{mark}' delimiter", text, at)
    return at + 1


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
    return None if places is None else {IMAGES: StoredImages(places, _reader(path, _stamp(file)))}


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


def _reader(path: Path, stamp: tuple[int, ...]) -> _Decoded:
    def decoded(places: Ints) -> Iterator[Any]:
        try:
            with path.open("rb") as file:
                if _stamp(file) != stamp:
                    raise InputError(f"{path}: has changed while it was read; run this again")
                for place in places.tolist():
                    if file.tell() != place:
                        file.seek(place)
                    line = file.readline()
                    yield json.loads(line[: -3 if line.endswith(b"],\n") else -2])
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error

    return decoded


def _stamp(file: IO[bytes]) -> tuple[int, ...]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
