"""How the files that commands write begin, by which a command recognises what it may replace.

Only patterns: what writes these files is not imported. `tests/runtime/test_replaced_files.py`
compares them with the files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from evaltex_cli.errors import InputError
from evaltex_cli.runtime.input_files import read_regular
from evaltex_cli.runtime.outputs import IsOwn, begins

_DOCUMENT = rb'\{\s*"schema": \d+,\s*"tool": "evaltex",\s*"version": "[^"]*",\s*"kind": "'
_REPORT = rb"<!DOCTYPE html>\n<!-- evaltex report -->"
_RESULTS = {
    ".txt": rb"EvaLTex statistics|.* - statistics",
    ".json": (rb'\{\n"schema": \d+,\n"tool": "evaltex"|' + _DOCUMENT + b'(?:scores|sweep)"'),
    ".csv": rb"protocol,(?:recall,precision|level,kept),",
    ".md": rb"<!-- evaltex sweep -->",
    ".svg": rb"<svg ",
    ".html": _REPORT,
}
"""Expressions for the files of a result folder, by suffix."""
OBJECTS_MARK = b"evaltex objects"
_TAIL_BYTES = 1 << 16
_DECIDED = rb'"(?:accept|decided)":\s*true'
"""An expression for what is in a patch, by a person or the page of an audit."""
_PRINTED = {
    "comparison": (
        rb"Differences to [^\n]{1,200}; [\d.]+% (?:bootstrap|confidence) ",
        b"protocol,score,detector,",
    ),
    "reconciliation": (
        rb"\d+ of \d+ settings? gives? these figures|None of \d+ settings? gives these figures",
        b"fits,changes,",
    ),
    "ranking": (rb"Ranks on [^\n]{1,200}", b"dataset,protocol,detector,"),
    "audit": (rb"Audit of \d+ objects? in ", b"kind,image,objects,"),
    "diagnosis": (rb"[\w-]+: change of the scores when ", b"protocol,part,row,"),
    "sweep": (rb"protocol +level ", b"protocol,level,kept,"),
    "validation": (rb"ground truth: .*\n  format ", b"level,kind,side,"),
}
"""Kinds of output that commands print in several forms: expressions for the table, and for CSV."""
KINDS = {
    **{
        kind: b'%b|%b|<!-- evaltex %b -->|%% evaltex %b\n|%b%b"'
        % (table, csv, kind.encode(), kind.encode(), _DOCUMENT, kind.encode())
        for kind, (table, csv) in _PRINTED.items()
    },
    "patch": _DOCUMENT + b'patch"',
    "report": _REPORT,
    "objects": rb"protocol,image,side,id,match,partners,",
    "junit": rb'<\?xml [^>]*\?>\n<testsuites><testsuite name="evaltex"',
    "data": rb"(?!)",
}
"""Expressions for the files that other commands write. Data in the formats of other programs
have no such mark: none is recognised.
"""


def is_result(path: Path) -> bool:
    """Whether a file of a result folder was written by an earlier run; its first bytes decide."""
    return begins(path, _RESULTS.get(path.suffix))


def is_of(kind: str) -> IsOwn:
    """Return what recognises a file of one of the `KINDS` that may be replaced; it raises
    `InputError` for a patch in which somebody has decided.
    """

    def is_own(path: Path) -> bool:
        if not _begins_as(path, kind):
            return False
        if kind == "patch" and re.search(_DECIDED, read_regular(path, "a patch")):
            raise InputError(
                f"{path}: is a patch with accepted entries, which would be lost; give another path,"
                " or --force to replace it"
            )
        return True

    return is_own


def _begins_as(path: Path, kind: str) -> bool:
    return begins(path, KINDS[kind]) or (kind == "objects" and is_parquet_of_objects(path))


def is_parquet_of_objects(path: Path) -> bool:
    """Whether a file is Parquet with the mark of `--objects` in its metadata,
    which are at the end.
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - _TAIL_BYTES, 0))
        return is_parquet and OBJECTS_MARK in file.read()


def is_output(path: Path) -> bool:
    """Whether any command has written a file; its first bytes decide."""
    return is_result(path) or any(_begins_as(path, kind) for kind in KINDS)


def is_other_document(path: Path) -> bool:
    """Whether a file is JSON of another command (`compare --format json`), and no result."""
    return begins(path, _DOCUMENT) and path.stat().st_size > 0
