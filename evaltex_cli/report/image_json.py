"""What a report says of an image, as JSON that markup cannot break out of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.evaluation.tally import BatchImages
from evaltex_cli.protocols.matches import MATCH_TYPES
from evaltex_cli.records import Floats, ImageBatch, Objects, distinct
from evaltex_cli.report.inputs import DECIMALS as COORDINATE_DECIMALS
from evaltex_cli.report.inputs import DrawnSide, numbers
from evaltex_cli.results.entry_columns import EntryColumns, json_numbers, sides
from evaltex_cli.results.text_tables import JsonObject

DECIMALS = 5
"""Of what is shown of images and objects; the results' .json has full precision."""
_CODE = {name: code for code, name in enumerate(MATCH_TYPES)}
Parts: TypeAlias = tuple[str, str | None, Sequence[Sequence[str]]]
"""An image's objects, its size and its matches, as `image` takes them."""
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


def text(value: Any) -> str:
    """Return JSON for a script element that is not run; with `<` escaped, nothing in it can end the
    element.

    Lone surrogates, of file names that are no UTF-8, become JSON's escapes.
    """
    return _safe(_ENCODER.encode(value))


def _safe(encoded: str) -> str:
    escaped = encoded.replace("<", "\\u003c")
    if escaped.isascii():
        return escaped
    return escaped.encode("utf-8", "backslashreplace").decode("utf-8")


def side(ids: Sequence[int], drawn: DrawnSide | None) -> JsonObject:
    """Return the objects of one side, with their outlines if these are known."""
    objects: JsonObject = {"id": ids}
    if drawn is not None:
        objects |= {"shape": drawn.shape, "text": drawn.text}
        objects |= {} if drawn.confidence is None else {"confidence": drawn.confidence}
    return objects


def objects(gt: JsonObject, det: Sequence[JsonObject]) -> str:
    """Return the members of an image that are its objects; of detections, one side per detector."""
    return text({"gt": gt, "det": det})[1:-1]


def matches(image: ImageResult) -> str:
    """Return what one protocol says of an image's objects."""
    return text({"gt": _matches(image.objects), "det": _matches(image.detections)})


def matches_of_batch(images: BatchImages) -> Iterator[str]:
    """Yield the same of each image of a batch."""
    for gt, det in zip(*map(_of_side, sides(images)), strict=True):
        yield f'{{"gt":{gt},"det":{det}}}'


def _of_side(side: EntryColumns) -> Iterator[str]:
    types = list(map(str, side.types))
    partners = [f"[{linked}]" for linked in side.partners]
    values = [(text(name), _numbers(column)) for name, column in side.values.items()]
    for start, stop in pairwise(side.offsets):
        own = ",".join(f"{name}:[{','.join(texts[start:stop])}]" for name, texts in values)
        yield (
            f'{{"type":[{",".join(types[start:stop])}],'
            f'"partners":[{",".join(partners[start:stop])}],'
            f'"values":{{{own if stop > start else ""}}}}}'
        )


def _numbers(values: Floats) -> list[str]:
    """Return the JSON of `short` of each, null for NaN."""
    return _ENCODER.encode(numbers(values, DECIMALS))[1:-1].split(",")


def objects_of_batch(batch: ImageBatch) -> Iterator[str]:
    """Yield what `objects` returns of each image of a batch, with outlines."""
    gt, det = map(_drawn, (batch.gt, batch.det))
    for one, other in zip(gt, det, strict=True):
        yield f'"gt":{{{one}}},"det":[{{{other}}}]'


def _drawn(objects: Objects) -> Iterator[str]:
    """Yield the members of `side` of each image."""
    ids = list(map(str, objects.ids.tolist()))
    shapes, sure = _shapes(objects), None
    texts = list(map(encode_basestring, objects.texts))
    if objects.confidences is not None:
        known = np.isfinite(objects.confidences)
        sure = json_numbers(np.where(known, objects.confidences, np.nan))
    for start, stop in pairwise(objects.offsets.tolist()):
        members = f'"id":[{",".join(ids[start:stop])}],"shape":[{",".join(shapes[start:stop])}]'
        members += f',"text":[{",".join(texts[start:stop])}]'
        if sure is not None and any(one != "null" for one in sure[start:stop]):
            members += f',"confidence":[{",".join(sure[start:stop])}]'
        yield _safe(members)


def _shapes(objects: Objects) -> list[str]:
    """Return what `DrawnSide.shape` has of each object."""
    outlines, counts = objects.outlines, objects.outlines.counts
    shapes = [""] * objects.count
    for count in distinct(counts).tolist():
        which = np.flatnonzero(counts == count)
        corners = outlines.offsets[which, None] + np.arange(count)
        points = outlines.vertices[corners] if count else outlines.boxes[which]
        rows = map(",".join, _texts(points.reshape(len(which), -1)))
        for k, row in zip(which.tolist(), rows, strict=True):
            shapes[k] = f"[{row}]"
    return shapes


def _texts(coordinates: Floats) -> list[list[str]]:
    """Return rows of coordinates as texts; whole ones are looked up if there are few."""
    rounded = np.round(coordinates, COORDINATE_DECIMALS)
    least, most = float(rounded.min(initial=0.0)), float(rounded.max(initial=0.0))
    if most - least < rounded.size and (rounded == np.rint(rounded)).all():
        known = np.array([str(k) for k in range(int(least), int(most) + 1)], dtype=object)
        found: list[list[str]] = known[(rounded - least).astype(np.int64)].tolist()
        return found
    encoded = _ENCODER.encode(numbers(rounded, COORDINATE_DECIMALS))
    return [row.split(",") for row in encoded[2:-2].split("],[")]


def _matches(entries: Sequence[ObjectResult]) -> JsonObject:
    names = entries[0].values if entries else ()
    return {
        "type": [_CODE[one.match] for one in entries],
        "partners": [one.partners for one in entries],
        "values": {name: [short(one.values[name]) for one in entries] for name in names},
    }


def short(value: Any) -> Any:
    """Return a float with `DECIMALS`, as an integer if it is whole; anything else as it is."""
    if not isinstance(value, float) or not isfinite(value):
        return value
    # As numpy rounds.
    rounded = round(value * 10**DECIMALS) / 10**DECIMALS
    return int(rounded) if rounded.is_integer() else rounded


def image(
    of_objects: str, rows: Sequence[Sequence[str]], picture: str | bool | None, size: str | None
) -> str:
    """Return an image.

    Parameters
    ----------
    of_objects : str
        As of `objects`.
    rows : sequence of sequence of str
        `matches` of each detector by each protocol, or ``null``.
    picture : str, bool or None
        Its URL; True if it is in the file.
    size : str or None
        Width and height, or ``null``; None if outlines are not shown.
    """
    of_rows = ",".join(f"[{','.join(row)}]" for row in rows)
    end = "" if size is None else f',"size":{size}'
    shown = "null" if picture is None else text(picture)
    return f'{{{of_objects},"matches":[{of_rows}],"picture":{shown}{end}}}'
