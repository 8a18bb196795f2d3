"""What of a result's .json is not as `evaltex.schema.json` says, so that whoever reads one need not ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import MATCH_TYPES, load
from evaltex_cli.results.image_table import Gatherer
from evaltex_cli.results.stored_images import StoredImages

_TEXTS = ("version", "protocol", "signature")
_INPUT_TEXTS = ("file", "format", "sha256")
_BEYOND = 1e100
"""No sum of areas, coordinates being what they may be, comes near."""
_BEYOND_IDS = 1 << 63
_PARTNERS = {"objects": "detections", "detections": "objects"}


def damaged_parts(document: Mapping[str, Any], gathered: Gatherer | None = None) -> Iterator[str]:
    """Yield the names of the parts of a document that are missing, or not what they should be.

    Parameters
    ----------
    gathered : Gatherer, optional
        Gets the images; its table is of use only if nothing was yielded.
    """
    unsound = [name for name in _TEXTS if not isinstance(document.get(name), str)]
    yield from unsound
    if not _is_record(document.get("parameters"), lambda value: isinstance(value, str | bool) or _is_number(value)):
        unsound.append("parameters")
        yield "parameters"
    inputs = document.get("inputs")
    sides = inputs if isinstance(inputs, dict) else {}
    yield from (f"inputs.{side}" for side in ("gt", "det") if not _is_input(sides.get(side)))
    if not _are_totals(document.get("totals")):
        yield "totals"
    elif not _are_scores(document.get("scores")) or not (unsound or _are_of_protocol(document)):
        yield "scores"
    yield from _damaged_images(document, gathered or Gatherer((), with_objects=False))
    if not _is_list(document.get("warnings", []), lambda warning: isinstance(warning, str)):
        yield "warnings"
    if not _is_list(document.get("gates", []), lambda gate: isinstance(gate, dict)):
        yield "gates"
    merged_from = document.get("merged_from", ["none"])
    if not merged_from or not _is_list(merged_from, lambda sha256: isinstance(sha256, str)):
        yield "merged_from"
    if not _is_record(document.get("bootstrap", {}), _is_number):
        yield "bootstrap"
    if not _is_record(document.get("intervals", {}), _is_interval):
        yield "intervals"


def _damaged_images(document: Mapping[str, Any], gathered: Gatherer) -> Iterator[str]:
    images, totals, scores = (document.get(name) for name in ("images", "totals", "scores"))
    if not isinstance(images, list | StoredImages):
        yield "images"
        return
    are_whole, kinds_of_scores, kinds_of_objects = True, set(), set()
    for k, image in enumerate(images):
        if isinstance(image, dict) and _is_image(image, totals, scores):
            kinds_of_scores.add(frozenset(image["scores"]))
            kinds_of_objects |= {frozenset(entry) for entry in image["objects"][:1]}
            gathered.add(image)
        else:
            are_whole = False
            yield f"images[{k}]"
    if not are_whole:
        return
    if len(kinds_of_scores) > 1:
        yield "scores of the images"
    elif len(kinds_of_objects) > 1:
        yield "values of the objects"
    elif len(images) and _are_totals(totals) and not _are_sums(totals, gathered.table().rows.columns):
        yield "totals, which are not those of the images"


def _are_sums(totals: Any, columns: Mapping[str, NDArray[Any]]) -> bool:
    with np.errstate(over="ignore"):
        sums = {name: np.sum(columns[name], axis=0) for name in totals}
    return all(
        np.allclose(sums[name], np.asarray(total, np.float64), rtol=1e-9, atol=1e-9) for name, total in totals.items()
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _BEYOND


def _is_record(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(fits, value.values()))


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_input(side: Any) -> bool:
    if not isinstance(side, dict) or not all(isinstance(side.get(name), str) for name in _INPUT_TEXTS):
        return False
    counts = [value for name, value in side.items() if name not in _INPUT_TEXTS]
    return "images" in side and all(isinstance(count, int) and count >= 0 for count in counts)


def _are_totals(totals: Any) -> bool:
    return _is_record(totals, lambda value: _is_number(value) or _is_list(value, _is_number))


def _are_scores(scores: Any) -> bool:
    return _is_record(scores, lambda value: _is_score(value) or _is_list(value, _is_score) or _is_list(value, _is_row))


def _is_score(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_row(value: Any) -> bool:
    return _is_record(value, lambda one: _is_score(one) or isinstance(one, str))


def _are_of_protocol(document: Mapping[str, Any]) -> bool:
    """Whether the totals give scores of these names and kinds; taken for granted of unknown protocols and revisions."""
    if document["protocol"] not in PROTOCOLS:
        return True
    protocol = load(document["protocol"])
    if f"|revision:{protocol.version}|" not in document["signature"]:
        return True
    try:
        parameters = config.checked(protocol.name, document["parameters"])
        computed, stored = protocol.scores(document["totals"], parameters), document["scores"]
        return computed.keys() == stored.keys() and _are_alike(computed, stored, _layout)
    except ConfigError:
        return True  # and told where they are used
    except (KeyError, TypeError, ValueError, IndexError):
        return False


def _is_interval(interval: Any) -> bool:
    return interval is None or (_is_list(interval, _is_number) and len(interval) == 2)


def _is_image(image: Mapping[str, Any], totals: Any, scores: Any) -> bool:
    return (
        isinstance(image.get("name"), str)
        and _are_totals(image.get("totals"))
        and _are_scores(image.get("scores"))
        and _are_alike(image["totals"], totals, _length)
        and len(image["totals"]) == len(totals)
        and _are_alike(image["scores"], scores, _kind)
        and all(_are_matches(image.get(name), partners) for name, partners in _PARTNERS.items())
    )


def _are_alike(one: Mapping[str, Any], other: Any, kind: Callable[[Any], Any]) -> bool:
    """Whether a record has names of another's only, and under each name a value of the same kind."""
    return (
        isinstance(other, dict)
        and one.keys() <= other.keys()
        and all(kind(one[name]) == kind(other[name]) for name in one)
    )


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else -1


def _layout(value: Any) -> Any:
    """What of a score's value is the same for all values: how long a list is, and what its rows are called."""
    if not isinstance(value, list):
        return None
    return [tuple(one) if isinstance(one, dict) else None for one in value]


def _kind(value: Any) -> str:
    if not isinstance(value, list):
        return "number"
    return "rows" if value == [] or isinstance(value[0], dict) else "bins"


def _are_matches(entries: Any, partners: str) -> bool:
    """Whether they are matches, all with the same values."""
    return _is_list(entries, lambda entry: isinstance(entry, dict) and _is_match(entry, partners)) and (
        len({frozenset(entry) for entry in entries}) <= 1
    )


def _is_match(entry: Mapping[str, Any], partners: str) -> bool:
    ids = entry.get(partners)
    values = (value for name, value in entry.items() if name not in ("id", "match", partners))
    return (
        isinstance(entry.get("id"), int)
        and abs(entry["id"]) < _BEYOND_IDS
        and entry.get("match") in MATCH_TYPES
        and _is_list(ids, lambda one: isinstance(one, int))
        and all(value is None or _is_number(value) for value in values)
    )
