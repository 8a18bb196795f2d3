"""Reads the .json of a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.results.image_table import of_images
from evaltex_cli.results.result_document import ResultDocument, image_of, of_members
from evaltex_cli.results.writer import SCHEMA
from evaltex_cli.runtime.marks import kind_of
from evaltex_cli.runtime.progress import tracked

EXPECTED = "the .json of an earlier run"


def files(path: Path) -> list[Path]:
    """Return a result, or the results in a folder; other files are left out."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.glob("*.json") if kind_of(file) == "result")


def read(path: Path, with_images: bool = True) -> ResultDocument:
    """Read the result of an earlier run; without its images, of any version.

    Raises `InputError` when it cannot be read, is not a result of this tool and schema, lacks
    something, or is one that this version does not make.
    """
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give {EXPECTED}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); expected {EXPECTED}") from error
    if not isinstance(value, dict) or value.get("tool") != "evaltex":
        raise InputError(f"{path}: is not a result of evaltex; expected {EXPECTED}")
    if "kind" in value:
        kind = f"is an output of the kind {quote(str(value['kind']))}"
        raise InputError(f"{path}: {kind}, not the result of a protocol; expected {EXPECTED}")
    if value.get("schema") != SCHEMA:
        schema = quote(str(value.get("schema")))
        raise InputError(f"{path}: has schema {schema}, not {SCHEMA}; evaluate again")
    try:
        return _document(value, with_images)
    except ConfigError as error:
        what = "is not a result that this version makes"
        raise InputError(f"{path}: {what} ({error}); evaluate again") from error
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path}: is a damaged result ({what}); evaluate again") from error


def _document(value: dict[str, Any], with_images: bool) -> ResultDocument:
    document = of_members(value)
    if not with_images:
        return replace(document, images=())
    name, elements = document.protocol, document.images
    config.checked(name, document.parameters)
    images = list(map(image_of, tracked(elements, f"reading {name}", "images", len(elements))))
    return replace(document, images=images, table=of_images(images, load(name)))
