"""Reads the .json of a result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.results.extras import SCHEMA, Bootstrap, Extras, Verdict
from evaltex_cli.results.image_table import NO_IMAGES, of_images
from evaltex_cli.results.result_document import ResultDocument, image_of
from evaltex_cli.runtime.input_files import first_bytes
from evaltex_cli.runtime.marks import kind_of
from evaltex_cli.runtime.progress import tracked

EXPECTED = "the .json of an earlier run"
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


def read(path: Path, with_images: bool = True) -> ResultDocument:
    """Read the document of an earlier run; without its images, of any version.

    Raises `InputError` when the document cannot be read, is not a result of this tool and schema,
    lacks something, or is one that this version does not make.
    """
    try:
        value = json.loads(path.read_bytes())
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
        schema = quote(str(value.get("schema")))
        raise InputError(
            f"{path}: has schema {schema}; this version reads {SCHEMA}: evaluate again"
        )
    try:
        return _document(value, with_images)
    except ConfigError as error:
        raise InputError(
            f"{path}: is no result that this version makes ({error}); evaluate again"
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path}: is a damaged result ({what}); evaluate again") from error


def _document(value: dict[str, Any], with_images: bool) -> ResultDocument:
    name, images, table = value["protocol"], [], NO_IMAGES
    if with_images:
        config.checked(name, value["parameters"])
        protocol = load(name)
        protocol.tally.from_columns(value["totals"])
        elements = tracked(value["images"], f"reading {name}", "images", len(value["images"]))
        images = [image_of(element) for element in elements]
        table = of_images(images, protocol)
        if len(table.objects.ids):
            protocol.object_credit(table.objects.types, table.objects.values)
    intervals, bootstrap, gates = (value.get(key) for key in ("intervals", "bootstrap", "gates"))
    gt, det = (InputSummary(**value["inputs"][side]) for side in ("gt", "det"))
    return ResultDocument(
        protocol=name,
        signature=value["signature"],
        parameters=value["parameters"],
        gt=gt,
        det=det,
        totals=value["totals"],
        scores=value["scores"],
        extras=Extras(
            intervals=intervals and {key: each and tuple(each) for key, each in intervals.items()},
            bootstrap=bootstrap and Bootstrap(**bootstrap),
            gates=gates and [Verdict(**gate) for gate in gates],
            merged_from=value.get("merged_from"),
        ),
        warnings=value.get("warnings", []),
        images=images,
        table=table,
    )
