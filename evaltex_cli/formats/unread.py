"""Files that no format reads: what they are, as far as it is known, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FormatError, listed
from evaltex_cli.formats.documents import document_files, safe_json, safe_xml
from evaltex_cli.formats.files import archive
from evaltex_cli.runtime import input_files

_PICTURE = ("a picture", "give label pictures as GT_IMG_DIR and DET_IMG_DIR, pictures for sizes by --images")
_PACKED = ("an archive that is not .zip", "unpack it, and give the folder")
_ARRAYS = ("an array of NumPy", "write its boxes as CSV with a header or as JSON of COCO")
_PICKLED = ("a pickle", "loading one can run any code: write its boxes as CSV with a header or as JSON of COCO")
_MATLAB = ("a MATLAB 7.3 file", "save it with -v7")
_BEGINNINGS: tuple[tuple[bytes, tuple[str, str]], ...] = (
    *((sign, _PICTURE) for sign in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")),
    *((sign, _PACKED) for sign in (b"Rar!", b"7z\xbc\xaf", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")),
    *((sign, _MATLAB) for sign in (b"MATLAB 7.3", b"\x89HDF")),
    (b"\x93NUMPY", _ARRAYS),
    (b"PAR1", ("a Parquet table", "write it as CSV with a header")),
    (b"SQLite format 3", ("a database of SQLite", "write its table as CSV with a header")),
    (b"%PDF", ("a PDF", "give what an OCR engine wrote of it, such as hOCR or ALTO")),
)
_BY_ENDING = {
    ".box": ("a box file of Tesseract, whose y counts from the bottom", "give hOCR, ALTO or TSV of the same run"),
    ".yaml": ("YAML", "write it as JSON of COCO"),
    ".yml": ("YAML", "write it as JSON of COCO"),
}
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x80-\x9f}\]c(]")
_TAR, _TAR_AT = b"ustar", 257
_ROOTS = {
    "dataset": "dlib's XML",
    "images": "the XML of the KAIST scene text database",
    "DjVuXML": "DjVu XML",
    "TEI": "TEI",
    "svg": "a drawing (SVG)",
    "pdf2xml": "the XML of pdftohtml",
    "pcGts": "PAGE XML as it was before 2010",
    "Impact": "the IMPACT project's XML",
    "ocr": "MiniOCR",
}
_KEYS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("form",), "FUNSD"),
    (("lang", "documents"), "XFUND"),
    (("valid_line",), "CORD"),
    (("ParsedResults",), "OCR.space's answer"),
    (("recognitionResults",), "Azure Read 2's answer"),
    (("language", "regions"), "Azure OCR's answer"),
    (("description", "objects", "size"), "Supervisely"),
    (("categories", "items"), "Datumaro"),
    (("samples",), "FiftyOne"),
    (("image", "annotations"), "CreateML"),
    (("data_row",), "Labelbox"),
)
_NAME_AND_NUMBERS = re.compile(rb"[^\n]*\n[ \t]*[\d.]+[ \t]*,")
"""How EvaLTex's text begins, whose image names may look like markup."""
_XML = re.compile(rb"\s*<(?:[?!]|[A-Za-z_][\w.:-]*[\s/>])")


def described(path: Path, formats: Sequence[str]) -> str | None:
    """Say what an input is that no format of text can read, and what to do; None if it may be text.

    Parameters
    ----------
    path : Path
    formats : sequence of str
        Names of those that are read.
    """
    if archive.is_archive(path):
        if document_files.endings(path)[".txt"]:
            return None
        known = _by_entries(path)
    else:
        head = input_files.beginning(path, 512)
        known = _BY_ENDING.get(path.suffix.lower()) or _by_beginning(head)
    if known:
        what, todo = known
        return f"{what}, which is not read; {todo}"
    return _document(path, formats)


def _by_entries(path: Path) -> tuple[str, str] | None:
    if "[Content_Types].xml" in archive.names(path):
        return "an Office document", "save its table as CSV with a header"
    there = document_files.endings(path)
    return next((known for ending, known in ((".npy", _ARRAYS), (".pkl", _PICKLED)) if there[ending]), None)


def _by_beginning(head: bytes) -> tuple[str, str] | None:
    if _PICKLE.match(head):
        return _PICKLED
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return _PACKED
    return next((known for sign, known in _BEGINNINGS if head.startswith(sign)), None)


def _document(path: Path, formats: Sequence[str]) -> str | None:
    """Say what JSON or XML of no known layout is; None if it is neither."""
    value = _json_value(path)
    start = document_files.first_bytes(path, ".xml")
    if value is not None:
        kind, content, name = "JSON", _content(value), _by_keys(value)
    elif _XML.match(start) and not _NAME_AND_NUMBERS.match(start):
        root = safe_xml.root_name(start.lstrip()) or ""
        kind, content, name = "XML", f"root {root}", _ROOTS.get(root)
    else:
        return None
    if name:
        return f"{name}, which is not read; convert it to one of the formats {', '.join(formats)}"
    return f"{kind} of no known layout ({content}); expected that of one of the formats {', '.join(formats)}"


def _json_value(path: Path) -> Any:
    """Return a JSON document, also one that is no list of objects or lists; None if it is none."""
    value = document_files.json_value(path)
    if value is not None or not document_files.head(path).lstrip().startswith((b"[", b"{")):
        return value
    with suppress(FormatError):
        return safe_json.parse(document_files.unpacked(path, document_files.read_file(path)))
    return None


def _by_keys(value: Any) -> str | None:
    first = safe_json.opened(value[0]) if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    return next((name for keys, name in _KEYS if all(key in first for key in keys)), None)


def _content(value: Any) -> str:
    first = safe_json.opened(value[0]) if isinstance(value, list) and value else value
    of = f"a list of {len(value)}, the first " if isinstance(value, list) and value else ""
    if isinstance(first, dict):
        return f"{of}an object with {'the keys ' + listed(list(first), 6) if first else 'no keys'}"
    return f"{of}{safe_json.shown(first)}"
