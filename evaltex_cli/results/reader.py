"""Reads a result's .json and checks it against the form that `evaltex.schema.json` describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from typing import Any

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult
from evaltex_cli.evaluation.input_counts import InputSummary
from evaltex_cli.formats.files.image_names import is_unicode
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import Scores, load
from evaltex_cli.protocols.matches import MATCH_TYPES
from evaltex_cli.protocols.tally import Totals
from evaltex_cli.results import consistency, stored_images
from evaltex_cli.results.beginnings import is_other_document
from evaltex_cli.results.consistency import are_alike
from evaltex_cli.results.extras import SCHEMA, Bootstrap, Extras, Interval, Verdict
from evaltex_cli.results.image_table import ImageTable, ImageTableBuilder
from evaltex_cli.results.json_forms import (
    BOOLEAN,
    COUNT,
    MISSING,
    NUMBER,
    PLAIN,
    TEXT,
    Decoder,
    Unfit,
    list_of,
    member,
    number_or_null,
    object_of,
    optional,
    record,
    such,
)
from evaltex_cli.results.result_document import InputSummaries, ResultDocument
from evaltex_cli.results.stored_images import StoredImages, object_result
from evaltex_cli.results.text_tables import JsonObject
from evaltex_cli.runtime.atomic_output import finish_interrupted_moves
from evaltex_cli.runtime.input_files import read_regular
from evaltex_cli.runtime.progress import tracked

EXPECTED = "the .json of an earlier run"
_SHOWN_FAULTS = 5
_HEAD_BYTES = 256
_TOOL = re.compile(rb'"tool"\s*:\s*"evaltex"')
_BEYOND_IDS = 1 << 63


def files(path: Path) -> list[Path]:
    """Return a result, or the results in a folder, after completing what a killed run has left
    there.

    Files that `compare`, `diagnose` and `validate` have written into the folder are left out.

    Raises
    ------
    InputError
        When that cannot be done.
    """
    if not path.is_dir():
        return [path]
    finish_interrupted_moves(path)
    return sorted(file for file in path.glob("*.json") if not is_other_document(file))


def is_document(path: Path) -> bool:
    """Whether a file begins as a result's .json does."""
    try:
        return _TOOL.search(read_regular(path, "a file", _HEAD_BYTES)) is not None
    except (OSError, InputError):
        return False


def read(path: Path, with_objects: bool = False) -> ResultDocument:
    """Read the document of an earlier run; its `images` are decoded when they are asked for.

    Parameters
    ----------
    with_objects : bool
        Whether the images' table has the objects too.

    Raises
    ------
    InputError
        When it cannot be read, is no result of this tool, or does not have the form of the schema.
    """
    return _read(path, lambda value: _document(path, value, with_objects))


def read_own(path: Path, table: ImageTable) -> ResultDocument:
    """Read the document that this run has just written, as `read`, but for its images: their table
    is known, and they are not checked.
    """
    return _read(path, lambda value: _document(path, value, False, table))


def refuse_unknown(path: Path, document: ResultDocument) -> None:
    """Refuse a result of a protocol, or with a parameter, that this version does not have."""
    try:
        config.checked(document.protocol, document.parameters)
    except ConfigError as error:
        raise InputError(
            f"{path}: is no result that this version makes ({error}); evaluate again"
        ) from error


def _read(path: Path, decode: Callable[[Any], ResultDocument]) -> ResultDocument:
    try:
        try:
            return decode(stored_images.read(path, EXPECTED))
        except ValueError:  # a line of an image is no JSON
            return decode(stored_images.read_whole(path, EXPECTED))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); give {EXPECTED}"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "no text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise InputError(f"{path}: is no JSON ({reason}); expected {EXPECTED}") from error


def _document(
    path: Path, value: Any, with_objects: bool, known: ImageTable | None = None
) -> ResultDocument:
    if not isinstance(value, dict) or value.get("tool") != "evaltex":
        raise InputError(f"{path}: is no result of evaltex; expected {EXPECTED}")
    if "kind" in value:
        kind = quote(str(value["kind"]))
        raise InputError(
            f"{path}: is an output of evaltex of the kind {kind}, and no result of one protocol;"
            f" expected {EXPECTED}"
        )
    if value.get("schema") != SCHEMA:
        raise InputError(
            f"{path}: has schema {quote(str(value.get('schema')))}; this version reads {SCHEMA}"
        )
    decoded: JsonObject = {}
    faults = []
    for name, decode in _MEMBERS.items():
        try:
            decoded[name] = member(value, name, decode)
        except Unfit as fault:
            faults.append(str(fault))
    if not faults:
        name = decoded["protocol"]
        gathered = ImageTableBuilder(load(name).headline if name in PROTOCOLS else (), with_objects)
        of_images = _faults_of_images(decoded, gathered) if known is None else ()
        checks = chain(consistency.faults_of_scores(decoded), of_images)
        faults = list(islice(checks, _SHOWN_FAULTS))
    if faults:
        raise InputError(
            f"{path}: is a damaged result ({'; '.join(faults[:_SHOWN_FAULTS])}); make it again"
        )
    extras = Extras(**{name: decoded.pop(name) for name in Extras._fields})
    return ResultDocument(**decoded, extras=extras, table=known or gathered.table())


# A result -----------------------------------------------------------------------------------------


def _totals(value: Any) -> Totals:
    return object_of(
        value, lambda one: list_of(one, NUMBER) if isinstance(one, list) else NUMBER(one)
    )


def _scores(value: Any) -> Scores:
    return object_of(
        value,
        lambda one: list_of(one, _bin_or_row) if isinstance(one, list) else number_or_null(one),
    )


def _bin_or_row(value: Any) -> Any:
    return object_of(value, _cell) if isinstance(value, dict) else number_or_null(value)


def _cell(value: Any) -> str | float | None:
    return value if isinstance(value, str) else number_or_null(value)


def _interval(value: Any) -> Interval | None:
    if value is None:
        return None
    if len(list_of(value, NUMBER)) != 2:
        raise Unfit(value, "two numbers")
    return value[0], value[1]


def _texts(value: Any) -> list[str]:
    if value == []:
        raise Unfit(value, "at least one text")
    return list_of(value, TEXT)


_INPUT = record(
    InputSummary,
    {
        field.name: TEXT if isinstance(field.default, str) else COUNT
        for field in fields(InputSummary)
    },
)
_VERDICT = record(
    Verdict,
    dict.fromkeys(("expression", "protocol", "score"), TEXT)
    | dict.fromkeys(("value", "baseline"), number_or_null)
    | {"limit": NUMBER, "passed": BOOLEAN},
)
_MEMBERS: Mapping[str, Decoder] = {
    "version": TEXT,
    "protocol": TEXT,
    "signature": TEXT,
    "parameters": lambda value: object_of(value, PLAIN),
    "inputs": record(InputSummaries, {"gt": _INPUT, "det": _INPUT}),
    "totals": _totals,
    "scores": _scores,
    "images": such(lambda value: isinstance(value, StoredImages), "a list"),
    "warnings": optional(lambda value: list_of(value, TEXT), default=[]),
    "preset": optional(TEXT),
    "intervals": optional(lambda value: object_of(value, _interval)),
    "bootstrap": optional(record(Bootstrap, {"level": NUMBER, "resamples": COUNT, "seed": COUNT})),
    "gates": optional(lambda value: list_of(value, _VERDICT)),
    "merged_from": optional(_texts),
}
_match_type = such(lambda value: value in MATCH_TYPES, f"one of {', '.join(MATCH_TYPES)}")


def _faults_of_images(decoded: Mapping[str, Any], gathered: ImageTableBuilder) -> Iterator[str]:
    """Check the images, which `gathered` gets, and their sums."""
    totals, scores = decoded["totals"], decoded["scores"]
    are_whole, kinds_of_scores, kinds_of_objects = True, set(), set()
    values = tracked(
        decoded["images"].unchecked(),
        f"reading {decoded['protocol']}",
        "images",
        len(decoded["images"]),
    )
    for k, value in enumerate(values):
        try:
            image = _image(value, totals, scores)
        except Unfit as fault:
            are_whole = False
            yield str(fault.within("images", k))
            continue
        kinds_of_scores.add(frozenset(image.scores))
        kinds_of_objects |= {frozenset(one.values) for one in image.objects[:1]}
        gathered.add(image)
    if not are_whole:
        return
    if len(kinds_of_scores) > 1:
        yield "scores of the images have different names"
    elif len(kinds_of_objects) > 1:
        yield "values of the objects have different names"
    elif len(decoded["images"]):
        yield from consistency.faults_of_images(decoded, gathered.table())


def _image(value: Any, totals: Totals, scores: Scores) -> ImageResult:
    """An image, whose totals and scores have the names and kinds of the data set's."""
    name, own_totals, own_scores = (
        member(value, name, decode)
        for name, decode in (("name", _image_name), ("totals", _totals), ("scores", _scores))
    )
    if len(own_totals) != len(totals) or not are_alike(own_totals, totals, _length):
        raise Unfit(own_totals, "one like the data set's", ("totals",))
    if not are_alike(own_scores, scores, _kind):
        raise Unfit(own_scores, "one like the data set's", ("scores",))
    objects = member(value, "objects", lambda entries: _matches(entries, "detections"))
    detections = member(value, "detections", lambda entries: _matches(entries, "objects"))
    _refuse_unknown_partners(value, "objects", objects, detections)
    _refuse_unknown_partners(value, "detections", detections, objects)
    return ImageResult(name, own_totals, own_scores, objects, detections)


def _refuse_unknown_partners(
    value: Any, side: str, ours: Sequence[ObjectResult], theirs: Sequence[ObjectResult]
) -> None:
    """Refuse IDs that are there twice on a side, and partners that the other side does not have."""
    if len({one.id for one in ours}) < len(ours):
        raise Unfit(value[side], "one with each ID once", (side,))
    if not {id_ for one in ours for id_ in one.partners} <= {one.id for one in theirs}:
        raise Unfit(value[side], "one with partners that are in the image", (side,))


def _image_name(value: Any) -> str:
    if not is_unicode(TEXT(value)):
        raise Unfit(value, "a name in Unicode")
    return str(value)


def _matches(entries: Any, partners: str) -> list[ObjectResult]:
    """The matches of one side, all with the same values."""
    forms: dict[str, Decoder] = {"id": _object_id, "match": _match_type}
    forms[partners] = lambda value: list_of(value, _object_id)

    def match(entry: Any) -> Any:
        if not isinstance(entry, dict):
            raise Unfit(entry, "an object")
        for name in forms:
            if name not in entry:
                raise Unfit(MISSING, "", (name,))
        for name, value in entry.items():
            try:
                forms.get(name, number_or_null)(value)
            except Unfit as fault:
                raise fault.within(name) from None
        return entry

    matches = list_of(entries, match)
    if len(set(map(frozenset, matches))) > 1:
        raise Unfit(entries, "one with the same names in each object")
    return [object_result(entry, partners) for entry in matches]


def _object_id(value: Any) -> int:
    if not isinstance(value, int) or abs(value) >= _BEYOND_IDS:
        raise Unfit(value, "an ID")
    return value


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else -1


def _kind(value: Any) -> str:
    if not isinstance(value, list):
        return "number"
    return "rows" if value == [] or isinstance(value[0], dict) else "bins"
