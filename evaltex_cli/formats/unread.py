"""What files are that no format reads, the nearest formats, and what to do."""

from __future__ import annotations

import re
from pathlib import PurePath

from evaltex_cli.errors import FormatError, InputError
from evaltex_cli.formats import FORMATS, load
from evaltex_cli.formats.base import Head
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.parsing import plain_json

_CSV = "write its boxes as CSV with a header, or as COCO JSON"
_PACKED = ("an archive that is not .zip", "unpack it, and give the folder")
_PAGES = "give what an OCR engine wrote, such as hOCR or ALTO"
_PICTURES = "give label pictures as GT_IMG_DIR and DET_IMG_DIR, pictures for sizes by --images"
_PICTURE_NAME = rb"\s*[^\s,]*\.(?:jpe?g|png|bmp|tiff?|gif|webp)"
_SIGNATURES = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*", "a picture", _PICTURES),
    (rb"Rar!|7z\xbc\xaf|\xfd7zXZ|BZh|\x28\xb5\x2f\xfd|.{257}ustar", *_PACKED),
    (rb"MATLAB 7\.3|\x89HDF", "a MATLAB 7.3 file", "save it with -v7"),
    (rb"\x93NUMPY", "a NumPy array", _CSV),
    (rb"\x80[\x02-\x05][\x80-\x9f}\]c(]", "a pickle", f"loading it can run any code: {_CSV}"),
    (rb"PAR1", "a Parquet table", "write it as CSV with a header"),
    (rb"%PDF", "a PDF", _PAGES),
    (rb"\s*<(?:!doctype\s+html|html[\s>])", "HTML without any class of hOCR", _PAGES),
    (rb'\s*\{\s*"form"\s*:', "FUNSD", _CSV),
    (rb'\s*\{\s*"project"\s*:\s*\{\s*"pid"', "a project of VIA 3", _CSV),
    (
        _PICTURE_NAME + rb"(?:,[ \t]*-?[\d.]+[ \t]*){4,}",
        "a table without a header",
        "begin it with a line such as image,x0,y0,x1,y1,confidence",
    ),
    (
        _PICTURE_NAME + rb"[, \t][^\n]*(?:\n" + _PICTURE_NAME + rb"[, \t]|\s*\Z)",
        "a list of pictures",
        _CSV,
    ),
)
"""Patterns of first bytes, what such a file is, and what to do."""
_ENDINGS = {
    ".box": ("a Tesseract box file, whose y counts from the bottom", _PAGES),
    ".md": ("Markdown without a list of boxes", "give the answers with their boxes"),
    ".yaml": ("YAML", _CSV),
    ".zip": ("a file that is no zip archive", "pack it again, or name it as it is"),
}
_NAMES = {"json": r'"(\w+)"', "xml": r"<(?:[\w.-]+:)?([A-Za-z]\w*)"}
_LAYOUT_NAMES = {"json": r'"(\w+)"', "xml": r"[A-Za-z]\w+"}


def refuse(listing: Listing, head: Head) -> None:
    """Raise `InputError` for what no format reads; return if it may be lines of text."""
    known = _known(listing, head)
    if known:
        raise InputError(f"{listing.path}: {known[0]}, which is not read; {known[1]}")
    is_text = re.match(r"[^\n]*\n[ \t]*[\d.]+[ \t]*,", head.text)  # a name may begin as markup does
    kind = "json" if head.text.lstrip()[:1] in ("{", "[") else "xml" if head.root else ""
    if not kind or is_text:
        return
    entry = next(entry for entry in listing.entries if entry.name == head.name)
    if kind == "json" and entry.ending == ".json":
        try:
            plain_json(next(listing.read([entry])))
        except FormatError as error:
            place = f"{listing.place(entry)}:{error.line}"
            raise InputError(f"{place}: {error.found}; expected {error.expected}") from error
    raise InputError(
        f"{listing.path}: {kind.upper()} of no known layout; {_nearest(head.text, kind)}expected a"
        " format that `evaltex formats` lists, such as CSV or COCO JSON"
    )


def _known(listing: Listing, head: Head) -> tuple[str, str] | None:
    """Return what a file is, and what to do."""
    if any(entry.name == "[Content_Types].xml" for entry in listing.entries):
        return "an Office document", "save its table as CSV with a header"
    for signature, what, todo in _SIGNATURES:
        if re.match(signature, head.data, re.IGNORECASE | re.DOTALL):
            return what, todo
    ending = PurePath(head.name.lower()).suffix
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if b"\0" in head.data and not head.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "a binary file", "give text, JSON or XML (`evaltex formats` lists the formats)"
    return None


def _nearest(text: str, kind: str) -> str:
    """Name the formats whose layout has most of a document's names."""
    names = set(re.findall(_NAMES[kind], text))
    shares = {}
    for form in map(load, FORMATS):
        layout = set(re.findall(_LAYOUT_NAMES[kind], form.layout))
        if f".{kind}" in form.endings and len(names & layout) > 1:
            shares[form.name] = len(names & layout) / len(layout)
    near = sorted(shares, key=lambda name: (-shares[name], name))[:3]
    return f"nearest: {', '.join(near)}; " if near else ""
