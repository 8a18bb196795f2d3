"""Files that no format reads: what they are, as far as it is known, the
formats nearest to them, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FormatError, listed
from evaltex_cli.formats.base import Format
from evaltex_cli.formats.documents import document_files, recognition, safe_json, safe_xml
from evaltex_cli.formats.files import archive
from evaltex_cli.runtime import input_files

_PICTURE = (
    "a picture",
    "give label pictures as GT_IMG_DIR and DET_IMG_DIR, pictures for sizes by --images",
)
_PACKED = ("an archive that is not .zip", "unpack it, and give the folder")
_ARRAYS = ("an array of NumPy", "write its boxes as CSV with a header or as JSON of COCO")
_PICKLED = (
    "a pickle",
    "loading one can run any code: write its boxes as CSV with a header or as JSON of COCO",
)
_MATLAB = ("a MATLAB 7.3 file", "save it with -v7")
_BEGINNINGS: tuple[tuple[bytes, tuple[str, str]], ...] = (
    *((sign, _PICTURE) for sign in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")),
    *(
        (sign, _PACKED)
        for sign in (b"Rar!", b"7z\xbc\xaf", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
    ),
    *((sign, _MATLAB) for sign in (b"MATLAB 7.3", b"\x89HDF")),
    (b"\x93NUMPY", _ARRAYS),
    (b"PAR1", ("a Parquet table", "write it as CSV with a header")),
    (b"SQLite format 3", ("a database of SQLite", "write its table as CSV with a header")),
    (b"%PDF", ("a PDF", "give what an OCR engine wrote of it, such as hOCR or ALTO")),
)
_BY_ENDING = {
    ".box": (
        "a box file of Tesseract, whose y counts from the bottom",
        "give hOCR, ALTO or TSV of the same run",
    ),
    ".yaml": ("YAML", "write it as JSON of COCO"),
    ".yml": ("YAML", "write it as JSON of COCO"),
}
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
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
_CONVERT = (
    "convert it to one of the formats that `evaltex formats` lists, such as CSV with a"
    " header or JSON of COCO"
)
_NEAREST, _LEAST_SHARED = 3, 2
_DEPTH, _FIRST, _MOST_NAMES = 4, 3, 300
"""How deep, and how many items of each list and names in all, documents of no
known layout are looked at.
"""
_PICTURE_NAME = r"[^\s,]*\.(?:jpe?g|png|bmp|tiff?|gif|webp)"
_NUMBER = r"[ \t]*-?[\d.]+[ \t]*"
_LISTS = tuple(
    (re.compile(pattern.encode(), re.IGNORECASE), what)
    for pattern, what in (
        (
            rf"{_PICTURE_NAME}[ \t]+{_NUMBER}(?:,{_NUMBER}){{3,}}(?:[ \t\r\n]|$)",
            "a list of pictures with their boxes",
        ),
        (
            rf"{_PICTURE_NAME}\s*\n[ \t]*\d+\s*\n(?:{_NUMBER}){{4}}",
            "a list of pictures, counts and boxes (FDDB, WIDER FACE)",
        ),
        (
            rf"{_PICTURE_NAME}(?:,[ \t]*{_NUMBER}){{4,}}",
            (
                "a table without a header (its first line should be such as"
                " image,x0,y0,x1,y1,confidence)"
            ),
        ),
        (
            rf"{_PICTURE_NAME}(?:,[ \t]*|[ \t]+)[^\r\n]*(?:\n{_PICTURE_NAME}(?:,|[ \t])|\s*$)",
            "a list of pictures with their labels, not boxes",
        ),
        (
            rf"(?:{_NUMBER},){{6,7}}[ \t]*-1[ \t]*,[ \t]*-1[ \t]*(?:,[ \t]*-1[ \t]*)?(?:\r?\n|$)",
            "tracks of MOTChallenge",
        ),
    )
)
"""Lists in text files, by their first lines."""
_NAME_AND_NUMBERS = re.compile(rb"[^\n]*\n[ \t]*[\d.]+[ \t]*,")
"""How EvaLTex's text begins, whose image names may look like markup."""
_XML_NAME = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_LAYOUT_NAME = {"JSON": re.compile(r'"(\w+)"'), "XML": re.compile(r"[A-Za-z]\w+")}
"""Names in the layout of a format."""
_XML = re.compile(rb"\s*<(?:[?!]|[A-Za-z_][\w.:-]*[\s/>])")


def described(path: Path, formats: Sequence[Format]) -> str | None:
    """Say what an input is that no format of text can read, and what to do; None if it may be text.

    Parameters
    ----------
    path : Path
    formats : sequence of Format
        Those that are read.
    """
    if archive.is_archive(path):
        if recognition.endings(path)[".txt"]:
            return None
        known = _by_entries(path)
    else:
        head = input_files.beginning(path, 512)
        known = _BY_ENDING.get(path.suffix.lower()) or _by_beginning(head)
    if known:
        what, todo = known
        return f"{what}, which is not read; {todo}"
    return _document(path, formats) or _broken_json(path) or text_list(path)


def _broken_json(path: Path) -> str | None:
    """Say what is wrong with a file that is JSON by its name and beginning; None if it is not."""
    begins = recognition.head(path).lstrip().startswith((b"[", b"{"))
    if not begins or path.suffix.lower() != ".json":
        return None
    try:
        safe_json.parse(document_files.unpacked(path, document_files.read_file(path)))
    except FormatError as error:
        return f"no valid JSON: line {error.line}: {error.found}; expected {error.expected}"
    return None


def text_list(path: Path) -> str | None:
    """Say what a text file is by its first lines, and what to do; None if
    they are of no list that is known.
    """
    head = recognition.head(path).lstrip()
    name = next((what for pattern, what in _LISTS if pattern.match(head)), None)
    return name and f"{name}, which is not read; {_CONVERT}"


def _by_entries(path: Path) -> tuple[str, str] | None:
    if "[Content_Types].xml" in archive.names(path):
        return "an Office document", "save its table as CSV with a header"
    there = recognition.endings(path)
    return next(
        (known for ending, known in ((".npy", _ARRAYS), (".pkl", _PICKLED)) if there[ending]), None
    )


def _by_beginning(head: bytes) -> tuple[str, str] | None:
    if _PICKLE.match(head):
        return _PICKLED
    if _HTML.match(head):
        return (
            "HTML without any class of hOCR",
            "give what an OCR engine wrote, such as hOCR or ALTO",
        )
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return _PACKED
    return next((known for sign, known in _BEGINNINGS if head.startswith(sign)), None)


def _document(path: Path, formats: Sequence[Format]) -> str | None:
    """Say what JSON or XML of no known layout is; None if it is neither."""
    value = _json_value(path)
    start = recognition.first_bytes(path, ".xml")
    if value is not None:
        kind, content, name, names = "JSON", _content(value), _by_keys(value), set(_keys(value))
    elif _XML.match(start) and not _NAME_AND_NUMBERS.match(start):
        root = safe_xml.root_name(start.lstrip()) or ""
        kind, content, name = "XML", f"root {root}", _ROOTS.get(root)
        names = {found.decode() for found in _XML_NAME.findall(start)[:_MOST_NAMES]}
    else:
        return None
    if name:
        return f"{name}, which is not read; {_CONVERT}"
    return f"{kind} of no known layout ({content}); {_nearest(names, kind, formats)}"


def _nearest(names: set[str], kind: str, formats: Sequence[Format]) -> str:
    """Return the formats whose layout has most of a document's names, and what to do."""
    shares: dict[str, float] = {}
    for one in formats:
        layout = set(_LAYOUT_NAME[kind].findall(one.layout))
        if (
            one.recognised_by
            and kind.lower() in one.ending
            and len(names & layout) >= _LEAST_SHARED
        ):
            shares[one.name] = len(names & layout) / len(layout)
    near = sorted(shares, key=lambda name: (-shares[name], name))[:_NEAREST]
    known = f"nearest: {', '.join(near)}; " if near else ""
    return f"{known}expected that of one of the formats that `evaltex formats` lists"


def _keys(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the keys of an object, and of the first items in it."""
    opened = safe_json.opened(value)
    if safe_json.is_object(opened):
        yield from list(opened)[:_MOST_NAMES]
    if depth and (safe_json.is_list(opened) or safe_json.is_object(opened)):
        for item in list(opened.values() if safe_json.is_object(opened) else opened)[
            : _MOST_NAMES if depth == _DEPTH else _FIRST
        ]:
            yield from _keys(item, depth - 1)


def _json_value(path: Path) -> Any:
    """Return a JSON document, also one that is no list of objects or lists; None if it is none."""
    value = document_files.json_value(path)
    if value is not None or not recognition.head(path).lstrip().startswith((b"[", b"{")):
        return value
    with suppress(FormatError):
        return safe_json.parse(document_files.unpacked(path, document_files.read_file(path)))
    return None


def _by_keys(value: Any) -> str | None:
    first = safe_json.opened(value[0]) if safe_json.is_list(value) and value else value
    if not safe_json.is_object(first):
        return None
    return next((name for keys, name in _KEYS if all(key in first for key in keys)), None)


def _content(value: Any) -> str:
    first = safe_json.opened(value[0]) if safe_json.is_list(value) and value else value
    of = f"a list of {len(value)}, the first " if safe_json.is_list(value) and value else ""
    if safe_json.is_object(first):
        return f"{of}an object with {'the keys ' + listed(list(first), 6) if first else 'no keys'}"
    return f"{of}{safe_json.shown(first)}"
