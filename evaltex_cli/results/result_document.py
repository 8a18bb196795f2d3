"""The machine-readable result; `evaltex.schema.json` beside this file describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.signature import parts_of
from evaltex_cli.evaluation.tally import Evaluation, ImageResult
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.results import stored_images
from evaltex_cli.results.image_table import Gatherer
from evaltex_cli.runtime.atomic_output import settle
from evaltex_cli.runtime.input_files import read_regular
from evaltex_cli.runtime.outputs import is_other_document
from evaltex_cli.version import __version__

SCHEMA = 1
EXPECTED = "the .json of an earlier run"
_SHOWN_PARTS = 5
_HEAD_BYTES = 256
_TOOL = re.compile(rb'"tool"\s*:\s*"evaltex"')


def files(path: Path) -> list[Path]:
    """Return a result, or the results in a folder, after what a killed run has left there is put right.

    What `compare`, `diagnose` and `validate` have written into the folder is left out.

    Raises
    ------
    InputError
        When that cannot be done.
    """
    if not path.is_dir():
        return [path]
    settle(path)
    return sorted(file for file in path.glob("*.json") if not is_other_document(file))


def is_document(path: Path) -> bool:
    """Whether a file begins as a result's .json does."""
    try:
        return _TOOL.search(read_regular(path, "a file", _HEAD_BYTES)) is not None
    except (OSError, InputError):
        return False


def image(result: ImageResult) -> str:
    """One element of ``images``, in one line."""
    return _compact(image_fields(result))


def image_fields(result: ImageResult) -> dict[str, Any]:
    """One element of ``images``."""
    return {
        "name": result.name,
        "totals": result.totals,
        "scores": result.scores,
        "objects": result.objects,
        "detections": result.detections,
    }


def fields(evaluation: Evaluation) -> dict[str, Any]:
    """Everything of the document before ``images``."""
    return {
        "schema": SCHEMA,
        "tool": "evaltex",
        "version": __version__,
        "protocol": evaluation.protocol.name,
        "signature": evaluation.signature,
        "parameters": asdict(evaluation.parameters),
        "inputs": {"gt": asdict(evaluation.gt), "det": asdict(evaluation.det)},
        "totals": evaluation.totals,
        "scores": evaluation.scores,
    }


def document(evaluation: Evaluation, images: Iterable[str], extras: Mapping[str, Any]) -> Iterator[str]:
    """Yield the document in pieces.

    Parameters
    ----------
    extras : mapping
        What only some runs have, after ``scores``: ``intervals``, ``gates``.
    images : iterable of str
        Elements of ``images``, each made by `image`.
    """
    yield "{\n"
    for key, value in (fields(evaluation) | dict(extras)).items():
        yield f'"{key}": {_compact(value)},\n'
    yield '"images": ['
    for k, text in enumerate(images):
        yield (",\n" if k else "\n") + text
    yield f'],\n"warnings": {_compact(evaluation.warnings)}\n}}\n'


def read(path: Path, with_objects: bool = False) -> dict[str, Any]:
    """Read the document of an earlier run; its ``images`` are decoded when they are asked for.

    Parameters
    ----------
    with_objects : bool
        Whether the images' table has the objects too.

    Raises
    ------
    InputError
        When it cannot be read, or is no result of this tool.
    """
    try:
        try:
            return _checked(path, stored_images.read(path, EXPECTED), with_objects)
        except ValueError:  # a line of an image is no JSON
            return _checked(path, stored_images.read_whole(path, EXPECTED), with_objects)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); give {EXPECTED}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON ({error}); expected {EXPECTED}") from error


def _checked(path: Path, document: Any, with_objects: bool) -> dict[str, Any]:
    from evaltex_cli.results.document_checks import damaged_parts

    if not isinstance(document, dict) or document.get("tool") != "evaltex":
        raise InputError(f"{path}: is no result of evaltex; expected {EXPECTED}")
    if document.get("schema") != SCHEMA:
        raise InputError(f"{path}: has schema {quote(str(document.get('schema')))}; this version reads {SCHEMA}")
    name = document.get("protocol")
    headline = load(name).headline if isinstance(name, str) and name in PROTOCOLS else ()
    gathered = Gatherer(headline, with_objects)
    parts = list(islice(damaged_parts(document, gathered), _SHOWN_PARTS))
    if parts:
        raise InputError(f"{path}: is a damaged result ({', '.join(parts)}); make it again")
    document["images"].table = gathered.table()
    return document


def provenance(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that two documents must agree in for their scores to be comparable, by what it is called."""
    signed = parts_of(document["signature"])
    gt = document["inputs"]["gt"]
    return {
        "ground truth (SHA-256)": gt["sha256"],
        "format of the ground truth": gt["format"],
        "label pictures": signed.get("masks", "no"),
        "policy for invalid polygons": signed.get("invalid"),
        "protocol revision": signed.get("revision"),
        **{f"parameter {name}": value for name, value in document["parameters"].items()},
    }


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return in what two documents' provenance differs, with both values; None where one lacks it."""
    a, b = provenance(one), provenance(other)
    return [(what, a.get(what), b.get(what)) for what in {**a, **b} if a.get(what) != b.get(what)]


def _compact(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode
