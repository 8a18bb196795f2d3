"""What a report draws and says of images, in columns; a page has those of some images at a time."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.evaluate import BatchImages
from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols.matching import MATCH_TYPES, SideMatches
from evaltex_cli.records import Floats, Ints, Objects, offsets_of
from evaltex_cli.report import image_json
from evaltex_cli.report.inputs import DECIMALS as COORDINATE_DECIMALS
from evaltex_cli.report.inputs import read_objects
from evaltex_cli.results.image_table import ImageTable, floats
from evaltex_cli.results.text_tables import JsonObject

CHUNK_IMAGES, CHUNK_OBJECTS = 100, 20_000
"""A chunk, which the page parses when an image of it is opened, ends with the image with which it
has so many images, or so many objects of all sides.
"""
_SCALES = 1, 10**COORDINATE_DECIMALS
_INTEGER_BYTES = 1, 2, 4
_CODE = {name: code for code, name in enumerate(MATCH_TYPES)}
Column: TypeAlias = tuple[NDArray[Any], Ints]
"""Values, and (images + 1,) offsets: image k's are ``offsets[k]:offsets[k + 1]``."""
Columns: TypeAlias = Mapping[str, Union[Column, "Columns"]]
Chunk: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]
"""The texts of some images: their objects, by detector; and what is said of them, by protocol and
detector.
"""
Values: TypeAlias = Mapping[str, Union[NDArray[Any], "Values"]]
"""Columns without the offsets; of text, arrays of objects."""


def chunk_starts(tables: Sequence[ImageTable]) -> list[int]:
    """Return the first image of each chunk, and the number of images; the tables are those of all
    detectors by one protocol.
    """
    detections = sum((table.detections for table in tables), start=np.diff(tables[0].offsets))
    ends, starts = offsets_of(detections), [0]
    while starts[-1] < len(detections):
        starts.append(chunk_stop(ends, starts[-1]))
    return starts


def chunk_stop(ends: Ints, start: int, images: int = 0, objects: int = 0) -> int:
    """Return where the chunk of an image ends, or the images that are known.

    Parameters
    ----------
    ends : (images + 1,) int64
        Objects of all sides in the images before each one, and in all.
    start : int
        The image.
    images, objects : int
        How many the chunk has before it.
    """
    full = int(np.searchsorted(ends, ends[start] + CHUNK_OBJECTS - objects))
    return min(full, start + CHUNK_IMAGES - images, len(ends) - 1)


def is_full(images: int, objects: int) -> bool:
    """Whether a chunk of so many ends."""
    return images == CHUNK_IMAGES or objects >= CHUNK_OBJECTS


def objects_of_inputs(inputs: Sequence[Inputs], start: int, stop: int) -> list[str]:
    """Read what is drawn of a chunk, one text per detector; the first has the ground truth, too."""
    gt, (first, *others) = read_objects(inputs, start, stop)
    columns = [of_objects(gt.objects, first, gt.sizes), *({"det": drawn(one)} for one in others)]
    return [text([of_images(one, 0, stop - start)]) for one in columns]


def of_objects(gt: Objects, det: Objects, sizes: Floats) -> Columns:
    """Return what is drawn of images with one detector.

    Parameters
    ----------
    sizes : (images, 2) float64
        Height and width; 0 where they are not known.
    """
    shown = np.round(sizes[:, ::-1], COORDINATE_DECIMALS)
    shown[~(shown > 0).all(axis=1)] = np.nan
    return {
        "gt": drawn(gt),
        "det": drawn(det),
        "size": (shown.ravel(), 2 * np.arange(len(sizes) + 1)),
    }


def drawn(objects: Objects) -> Columns:
    """Return what is drawn of one side: IDs, outlines, transcriptions, confidences.

    An outline is four numbers for a box (x0, y0, x1, y1), six or more for a polygon (x and y in
    turn); `numbers` says how many.
    """
    offsets, corners = objects.offsets, objects.outlines.counts
    numbers = np.where(corners > 0, 2 * corners, 4)
    is_of_box, ends = np.repeat(corners == 0, numbers), offsets_of(numbers)
    shape = np.empty(len(is_of_box))
    shape[is_of_box] = objects.boxes[corners == 0].ravel()
    shape[~is_of_box] = objects.outlines.vertices.ravel()
    sure = np.full(objects.count, np.nan) if objects.confidences is None else objects.confidences
    return {
        "count": (np.diff(offsets), np.arange(len(offsets))),
        "id": (objects.ids, offsets),
        "numbers": (numbers, offsets),
        "shape": (np.round(shape, COORDINATE_DECIMALS, out=shape), ends[offsets]),
        "text": (np.array(list(objects.texts), object), offsets),
        "confidence": (np.where(np.isfinite(sure), sure, np.nan), offsets),
    }


def ids_of_results(images: Sequence[ImageResult], with_gt: bool) -> str:
    """Return what is known of a chunk's objects without their input."""
    sides = {"gt": [one.objects for one in images]} if with_gt else {}
    sides["det"] = [one.detections for one in images]
    return text([{name: _ids(side) for name, side in sides.items()}])


def _ids(side: Sequence[Sequence[ObjectResult]]) -> Values:
    ids = [one.id for entries in side for one in entries]
    return {"count": np.array(list(map(len, side))), "id": np.array(ids, np.int64)}


def of_matches(images: BatchImages) -> Columns:
    """Return what one protocol says of the objects of a batch."""
    (gt, det), batch = images.matches, images.batch
    return {
        "gt": _of_side(gt, batch.gt, batch.det.ids),
        "det": _of_side(det, batch.det, batch.gt.ids),
    }


def _of_side(matches: SideMatches, own: Objects, partner_ids: Ints) -> Columns:
    offsets = own.offsets
    return {
        "type": (matches.types, offsets),
        "links": (np.diff(matches.offsets), offsets),
        "partners": (partner_ids[matches.partners], matches.offsets[offsets]),
        "values": {name: (column, offsets) for name, column in matches.values.items()},
    }


def of_results(images: Sequence[ImageResult]) -> str:
    """Return the text of the same of images that were read."""
    gt = _of_entries([one for image in images for one in image.objects])
    det = _of_entries([one for image in images for one in image.detections])
    return text([{"gt": gt, "det": det}])


def _of_entries(entries: Sequence[ObjectResult]) -> Values:
    names = entries[0].values if entries else ()
    return {
        "type": np.array([_CODE[one.match] for one in entries], np.uint8),
        "links": np.array([len(one.partners) for one in entries], np.int64),
        "partners": np.array([id for one in entries for id in one.partners], np.int64),
        "values": {name: floats([one.values.get(name) for one in entries]) for name in names},
    }


def of_images(columns: Columns, start: int, stop: int) -> Values:
    """Return the values of some images, without those of the others in memory."""
    cut: dict[str, Any] = {}
    for name, column in columns.items():
        if isinstance(column, Mapping):
            cut[name] = of_images(column, start, stop)
        else:
            values, offsets = column
            some = values[offsets[start] : offsets[stop]]
            cut[name] = values if len(some) == len(values) else some.copy()
    return cut


def text(parts: Sequence[Values]) -> str:
    """Return the JSON of some images, from parts that follow each other."""
    return image_json.text(_packed_all(parts))


def _packed_all(parts: Sequence[Any]) -> JsonObject:
    packed: JsonObject = {}
    for name, first in parts[0].items():
        of_parts = [part[name] for part in parts]
        if isinstance(first, Mapping):
            packed[name] = _packed_all(of_parts)
        elif len(values := np.concatenate(of_parts)):
            packed[name] = values.tolist() if values.dtype == object else packed_numbers(values)
    return packed


def packed_numbers(values: NDArray[Any]) -> list[Any]:
    """Return numbers, NaN for undefined ones, in what JavaScript reads at once.

    Returns
    -------
    list
        Type, scale, and little-endian bytes in base64. Numbers are divided by the scale; the least
        of an integer type is undefined. If all are equal, it is one of them, and then their number.
    """
    values = values.astype(np.float64, copy=False)
    kind, scale, stored = "f8", 1, values
    undefined = np.isnan(values)
    most = float(np.fmax.reduce(np.abs(values), initial=0))
    for factor in _SCALES:
        if most * factor > 2**31 - 2:
            break
        whole = np.rint(values * factor)
        if (undefined | (whole / factor == values)).all():
            size = next(n for n in _INTEGER_BYTES if most * factor < 2 ** (8 * n - 1) - 1)
            kind, scale = f"i{size}", factor
            whole[undefined] = -(2 ** (8 * size - 1))
            stored = whole
            break
    repeated = [len(stored)] if (stored == stored[0]).all() else []
    content = (stored[:1] if repeated else stored).astype(f"<{kind}")
    encoded = b2a_base64(content.tobytes(), newline=False)
    return [kind, scale, encoded.decode("ascii"), *repeated]
