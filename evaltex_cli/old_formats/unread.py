"""Files that no format reads: what they are, if that is known, the formats
nearest to them, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.documents import document_files, recognition, safe_json
from evaltex_cli.old_formats.files import archive, packed, row_files
from evaltex_cli.old_formats.icdar import survey
from evaltex_cli.old_formats.icdar.row_evidence import CLASS_BOXES

_CSV = "write its boxes as CSV with a header, or as COCO JSON"
_PACKED = ("an archive that is not .zip", "unpack it, and give the folder")
_PICTURE = (
    "a picture",
    "give label pictures as GT_IMG_DIR and DET_IMG_DIR, pictures for sizes by --images",
)
_ARRAYS = ("a NumPy array", _CSV)
_PICKLE = ("a pickle", f"loading it can run any code: {_CSV}")
_MATLAB = ("a MATLAB 7.3 file", "save it with -v7")
_PAGES = "give what an OCR engine wrote, such as hOCR or ALTO"
_PICTURE_NAME = rb"[^\s,]*\.(?:jpe?g|png|bmp|tiff?|gif|webp)"
_SIGNATURES = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*", _PICTURE),
    (rb"Rar!|7z\xbc\xaf|\xfd7zXZ|BZh|\x28\xb5\x2f\xfd|.{257}ustar", _PACKED),
    (rb"MATLAB 7\.3|\x89HDF", _MATLAB),
    (rb"\x93NUMPY", _ARRAYS),
    (rb"\x80[\x02-\x05][\x80-\x9f}\]c(]", _PICKLE),
    (rb"PAR1", ("a Parquet table", "write it as CSV with a header")),
    (rb"%PDF", ("a PDF", _PAGES)),
    (rb"\s*<(?:!doctype\s+html|html[\s>])", ("HTML without any class of hOCR", _PAGES)),
    (rb'\s*\{\s*"form"\s*:', ("FUNSD", _CSV)),
    (rb'\s*\{\s*"project"\s*:\s*\{\s*"pid"', ("a project of VIA 3", _CSV)),
)
"""Patterns of first bytes, what such a file is, and what to do."""
_BY_ENDING = {
    ".box": (
        "a Tesseract box file, whose y counts from the bottom",
        "give hOCR, ALTO or TSV of the same run",
    ),
    ".yaml": ("YAML", _CSV),
    ".yml": ("YAML", _CSV),
}
_IN_ARCHIVES = {
    ".npy": _ARRAYS,
    ".pkl": _PICKLE,
    ".xlsx": ("an Office document", "save its table as CSV with a header"),
}
_LISTS = (
    (
        rb"%b(?:,[ \t]*-?[\d.]+[ \t]*){4,}" % _PICTURE_NAME,
        "a table without a header",
        "begin it with a line such as image,x0,y0,x1,y1,confidence",
    ),
    (
        rb"%b[, \t][^\r\n]*(?:\n%b[, \t]|\s*\Z)" % (_PICTURE_NAME, _PICTURE_NAME),
        "a list of pictures",
        _CSV,
    ),
)
_LINES = {
    CLASS_BOXES: ("lines of a class and a box in pixels", f"{_CSV}, or as YOLO's fractions"),
    "segmentation": (
        "ICDAR 2013's ground truth of segmentation",
        "give that of localisation (gt_img_1.txt)",
    ),
}
"""By what the survey of all lines says."""
_NEAREST, _LEAST_SHARED = 3, 2
_NAMES = {"JSON": re.compile(r'"(\w+)"'), "XML": re.compile(r"<(?:[\w.-]+:)?([A-Za-z]\w*)")}
_LAYOUT_NAMES = {"JSON": _NAMES["JSON"], "XML": re.compile(r"[A-Za-z]\w+")}
_BEGINS_LIKE = {"JSON": re.compile(rb"\s*[\[{]"), "XML": re.compile(rb"\s*<[?!A-Za-z_]")}
_NAME_AND_NUMBERS = re.compile(rb"[^\n]*\n[ \t]*[\d.]+[ \t]*,")
"""How EvaLTex's text begins, whose image names may look like markup."""


def described(path: Path, formats: Sequence[Format]) -> str | None:
    """Say what an input is that no format reads, and what to do; None if it may be text.

    Parameters
    ----------
    path : Path
    formats : sequence of Format
        Those that are read.
    """
    if archive.is_archive(path):
        endings = recognition.endings(path)
        if endings[".txt"]:
            return _lines(path)
        if "[Content_Types].xml" in archive.names(path):
            return _sentence(*_IN_ARCHIVES[".xlsx"])
        known = next((known for ending, known in _IN_ARCHIVES.items() if endings[ending]), None)
    else:
        head = packed.beginning(path, 512).removeprefix(recognition.BOM)
        known = _BY_ENDING.get(path.suffix.lower()) or next(
            (
                known
                for pattern, known in _SIGNATURES
                if re.match(pattern, head, re.IGNORECASE | re.DOTALL)
            ),
            None,
        )
    if known:
        return _sentence(*known)
    return _document(path, formats) or text_list(path) or _lines(path)


def text_list(path: Path) -> str | None:
    """Say what list a text file is by its first lines, and what to do; None if it is not known."""
    head = recognition.head(path).lstrip()
    return next(
        (
            _sentence(what, todo)
            for pattern, what, todo in _LISTS
            if re.match(pattern, head, re.IGNORECASE)
        ),
        None,
    )


def _sentence(what: str, todo: str) -> str:
    return f"{what}, which is not read; {todo}"


def _lines(path: Path) -> str | None:
    """Say what lines of numbers are that no format reads; None for any other input."""
    if not archive.is_archive(path) and not row_files.is_file_of_rows(path):
        return None
    known = _LINES.get(survey.survey(path).format())
    return known and _sentence(*known)


def _document(path: Path, formats: Sequence[Format]) -> str | None:
    """Say what JSON or XML of no known layout is; None if it is neither."""
    for kind, pattern in _BEGINS_LIKE.items():
        start = recognition.first_bytes(path, f".{kind.lower()}")
        if not pattern.match(start) or _NAME_AND_NUMBERS.match(start):
            continue
        if kind == "JSON" and path.suffix.lower() == ".json":
            try:
                safe_json.parse(document_files.unpacked(path, document_files.read_file(path)))
            except FormatError as error:
                return f"no valid JSON: line {error.line}: {error.found}; expected {error.expected}"
        names = set(_NAMES[kind].findall(start.decode("utf-8", "replace")))
        return f"{kind} of no known layout; {_nearest(names, kind, formats)}"
    return None


def _nearest(names: set[str], kind: str, formats: Sequence[Format]) -> str:
    """Return the formats whose layout has most of a document's names, and what to do."""
    shares: dict[str, float] = {}
    for form in formats:
        layout = set(_LAYOUT_NAMES[kind].findall(form.layout))
        shared = len(names & layout)
        if form.recognised_by and kind.lower() in form.ending and shared >= _LEAST_SHARED:
            shares[form.name] = shared / len(layout)
    near = sorted(shares, key=lambda name: (-shares[name], name))[:_NEAREST]
    known = f"nearest: {', '.join(near)}; " if near else ""
    return f"{known}expected a format that `evaltex formats` lists, such as CSV or COCO JSON"
