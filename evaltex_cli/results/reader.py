"""Reads the .json of a result.

A result is taken as this tool has written it: only what is used is looked at.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.marks import kind_of
from evaltex_cli.progress import tracked
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.results import stored_images
from evaltex_cli.results.extras import SCHEMA, Bootstrap, Extras, Verdict
from evaltex_cli.results.image_table import ImageTable, joined, of_images
from evaltex_cli.results.result_document import InputSummaries, ResultDocument
from evaltex_cli.runtime.input_files import first_bytes

EXPECTED = "the .json of an earlier run"
_DECODED_AT_ONCE = 256
_HEAD_BYTES = 256
_TOOL = re.compile(rb'"tool"\s*:\s*"evaltex"')


def files(path: Path) -> list[Path]:
    """Return a result, or the results in a folder; files of other commands are left out."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.glob("*.json") if kind_of(file) in ("", "result"))


def is_document(path: Path) -> bool:
    """Whether a file begins as a result's .json does."""
    try:
        return _TOOL.search(first_bytes(path, _HEAD_BYTES)) is not None
    except (OSError, InputError):
        return False


def read(path: Path, table: ImageTable | None = None) -> ResultDocument:
    """Read the document of an earlier run; its `images` are decoded when they are asked for.

    They are not read for their table if it is given. Raises `InputError` when the document cannot
    be read, is not a result of this tool and schema, or lacks something.
    """
    try:
        value = stored_images.read(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}); give {EXPECTED}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); expected {EXPECTED}") from error
    if not isinstance(value, dict) or value.get("tool") != "evaltex":
        raise InputError(f"{path}: is not a result of evaltex; expected {EXPECTED}")
    if "kind" in value:
        kind = quote(str(value["kind"]))
        raise InputError(
            f"{path}: is an output of the kind {kind}, not the result of a protocol; expected"
            f" {EXPECTED}"
        )
    if value.get("schema") != SCHEMA:
        raise InputError(
            f"{path}: has schema {quote(str(value.get('schema')))}; this version reads {SCHEMA}:"
            " evaluate again"
        )
    try:
        return _document(value, table)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path}: is a damaged result ({what}); evaluate again") from error


def refuse_unknown(path: Path, document: ResultDocument) -> None:
    """Refuse a result of a protocol, or with a parameter, that this version does not have."""
    try:
        config.checked(document.protocol, document.parameters)
    except ConfigError as error:
        raise InputError(
            f"{path}: is no result that this version makes ({error}); evaluate again"
        ) from error


def _document(value: dict[str, Any], table: ImageTable | None) -> ResultDocument:
    name, images = value["protocol"], value["images"]
    if table is None:
        headline = load(name).headline if name in PROTOCOLS else ()
        decoded = tracked(images, f"reading {name}", "images", len(images))
        parts = iter(lambda: list(islice(decoded, _DECODED_AT_ONCE)), [])
        table = joined([of_images(part, headline) for part in parts])
    intervals, bootstrap, gates = (value.get(key) for key in ("intervals", "bootstrap", "gates"))
    return ResultDocument(
        version=value["version"],
        protocol=name,
        signature=value["signature"],
        parameters=value["parameters"],
        inputs=InputSummaries(
            InputSummary(**value["inputs"]["gt"]), InputSummary(**value["inputs"]["det"])
        ),
        totals=value["totals"],
        scores=value["scores"],
        extras=Extras(
            preset=value.get("preset"),
            intervals=intervals and {key: each and tuple(each) for key, each in intervals.items()},
            bootstrap=bootstrap and Bootstrap(**bootstrap),
            gates=gates and [Verdict(**gate) for gate in gates],
            merged_from=value.get("merged_from"),
        ),
        warnings=value.get("warnings", []),
        images=images,
        table=table,
    )
