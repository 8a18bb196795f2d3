"""The marks in the files that commands write, by which a command recognises what it may replace.

A mark says which kind of output a file is. JSON has it as a key, XML, HTML, SVG, Markdown, LaTeX
and .zip archives as a comment; text and CSV tables are recognised by their first line.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from evaltex_cli.errors import InputError
from evaltex_cli.runtime.input_files import first_bytes
from evaltex_cli.runtime.outputs import IsOwn

DATA_MARK = {"evaltex": "data"}
"""The mark of converted JSON: the first member of its object."""
_HEAD_BYTES, _TAIL_BYTES = 4096, 1 << 16
_MARKS = (
    rb'\{\s*"evaltex": "([\w-]+)"',
    rb'\{\s*"schema": \d+,\s*"tool": "evaltex",\s*"version": "[^"]*",\s*"kind": "([\w-]+)"',
    rb"(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE[^>]*>\s*|<svg[^>]*>\s*)?<!-- evaltex ([\w-]+) -->",
    rb"% evaltex ([\w-]+)\n",
)
_FIRST_LINES = {
    "result": rb'\{\s*"schema": \d+,\s*"tool": "evaltex"|EvaLTex statistics|.* - statistics'
    rb"|protocol,(?:recall|precision),",
    "sweep": rb"protocol +level |protocol,level,kept,",
    "comparison": rb"Differences to [^\n]+; [\d.]+% |protocol,score,detector,",
    "reconciliation": rb"(?:\d+|None) of \d+ settings? gives? these figures|fits,changes,",
    "ranking": rb"Ranks on [^\n]+\n|dataset,protocol,detector,",
    "audit": rb"Audit of \d+ objects? in |kind,image,objects,",
    "diagnosis": rb"[\w-]+: change of the scores when |protocol,part,row,",
    "validation": rb"ground truth: .*\n  format |level,kind,side,",
    "objects": rb"protocol,image,side,id,match,partners,",
    "data": rb"image,image_width,image_height,",
}
"""How files begin that have no other mark."""
RESULT_KINDS = ("result", "scores", "plot", "report")
"""The kinds of the files in a result folder."""
_DECIDED = rb'"(?:accept|decided)":\s*true'
"""What is in a patch by a person, or by the page of an audit."""


def comment(kind: str) -> str:
    """Return the mark of a kind as a comment of XML, HTML, SVG or Markdown."""
    return f"<!-- evaltex {kind} -->"


def archive_comment(kind: str) -> bytes:
    """Return the mark of a kind at the end of an archive, or in the metadata of Parquet."""
    return b"evaltex " + kind.encode()


def kind_of(path: Path) -> str:
    """Return the kind of output that the mark in a file says; empty if it has none."""
    if not path.is_file():
        return ""
    head = first_bytes(path, _HEAD_BYTES)
    if head.startswith((b"PK", b"PAR1")):
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
            found = re.findall(rb"evaltex (data|objects)", file.read())
        return found[-1].decode() if found else ""
    for mark in _MARKS:
        if found_mark := re.match(mark, head):
            return found_mark[1].decode()
    return next((kind for kind, start in _FIRST_LINES.items() if re.match(start, head)), "")


def is_of(*kinds: str) -> IsOwn:
    """Return what recognises the files of some kinds, and empty files.

    It raises `InputError` for a patch in which a person has decided.
    """

    def is_own(path: Path) -> bool:
        kind = kind_of(path)
        if kind not in kinds:
            return path.stat().st_size == 0
        if kind == "patch" and re.search(_DECIDED, path.read_bytes()):
            raise InputError(
                f"{path}: is a patch with accepted entries, which would be lost; give another path,"
                " or --force to replace it"
            )
        return True

    return is_own


is_result = is_of(*RESULT_KINDS)
"""Whether a run may have written a file into its result folder."""
