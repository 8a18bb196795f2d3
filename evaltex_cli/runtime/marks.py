"""The marks in the files that commands write, by which a command recognises what it may replace.

A mark says which kind of output a file is. JSON has it as a key, XML, HTML, SVG, Markdown, LaTeX
and .zip archives as a comment; text and CSV tables are recognised by their first line.
"""

from __future__ import annotations

import re
from pathlib import Path

from evaltex_cli.errors import InputError
from evaltex_cli.runtime.outputs import IsOwn

DATA_MARK = {"evaltex": "data"}
"""The mark of converted JSON: the first member of its object."""
_MARK = re.compile(
    rb'(?:\{\s*(?:"schema": \d+,\s*"tool": "evaltex",\s*"version": "[^"]*",\s*"kind|"evaltex)": "'
    rb"|(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE[^>]*>\s*|<svg[^>]*>\s*)?<!-- evaltex |% evaltex )([\w-]+)"
)
_FIRST_LINES = {
    "result": rb'\{\s*"schema": \d+,\s*"tool": "evaltex"|EvaLTex statistics|.* - statistics',
    "sweep": rb"Operating points of .* on \d+ images?\n|protocol,level,kept,",
    "comparison": rb"(?:[\w-]+: s|S)cores on \d+ images?\n(?:protocol|score|detector) "
    rb"|protocol,(?:by,part,)?score,detector,",
    "reconciliation": rb"(?:\d+|None) of \d+ settings? gives? these figures|fits,changes,",
    "ranking": rb"[\w-]+ on [^\n]+, \d+ [^\n]+\ndetector |dataset,protocol,detector,",
    "audit": rb"Audit of \d+ objects? in |kind,image,objects,",
    "diagnosis": rb"[\w-]+: [^\n]+; what correcting one kind of mistake alone changes\n"
    rb"|[\w-]+: No object of the ground truth counts|protocol,mistake,count,of,",
    "validation": rb"ground truth: .*\nformat |errors\n- |level,kind,side,",
    "formats": rb"Formats \(|format,title\n",
    "protocols": rb"Protocols \(|kind,name,title,",
    "scores": rb"\d+ images?, \d+ objects?, |protocol,(?:by,part,)?(?:recall|precision),",
    "objects": rb"protocol,image,side,id,match,partners,",
    "data": rb"image,image_width,image_height,",
}
"""How files begin that have no other mark."""


def comment(kind: str) -> str:
    """Return the mark of a kind as a comment of XML, HTML, SVG or Markdown."""
    return f"<!-- evaltex {kind} -->"


def kind_of(path: Path) -> str:
    """Return the kind of output that the mark in a file says; empty if it has none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        head = file.read(4096)
        if head.startswith(b"PK"):  # the mark is in the archive's comment, at its end
            file.seek(max(path.stat().st_size - (1 << 16), 0))
            return "data" if b"evaltex data" in file.read() else ""
    if mark := _MARK.match(head):
        return mark[1].decode()
    return next((kind for kind, start in _FIRST_LINES.items() if re.match(start, head)), "")


def is_of(*kinds: str) -> IsOwn:
    """Return what recognises files of some kinds and empty ones, and refuses a patch in which a
    person has decided.
    """

    def is_own(path: Path) -> bool:
        kind = kind_of(path)
        decided = rb'"(?:accept|decided)":\s*true'
        if kind == "patch" and kind in kinds and re.search(decided, path.read_bytes()):
            raise InputError(
                f"{path}: is a patch with accepted entries, which would be lost; give another path,"
                " or --force to replace it"
            )
        return kind in kinds or path.stat().st_size == 0

    return is_own
