"""What files are that no format reads, and what to do."""

from __future__ import annotations

import re

from evaltex_cli.errors import FormatError, InputError
from evaltex_cli.formats.base import Head
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.parsing import plain_json

_CSV = "write its boxes as CSV with a header, or as COCO JSON"
_HEADER = "begin it with a line such as image,x0,y0,x1,y1,confidence"
_PAGES = "give what an OCR engine wrote, such as hOCR or ALTO"
_PICTURES = "give label pictures as GT_IMG_DIR and DET_IMG_DIR, pictures for sizes by --images"
_PACKED = "unpack it, and give the folder"
_NAME = rb"\s*[^\s,]*\.(?:jpe?g|png|bmp|tiff?|gif|webp)"
_SIGNATURES = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*", "a picture", _PICTURES),
    (rb"Rar!|7z\xbc\xaf|\xfd7zXZ|BZh|.{257}ustar", "an archive that is not .zip", _PACKED),
    (rb"MATLAB 7\.3|\x89HDF", "a MATLAB 7.3 file", "save it with -v7"),
    (rb"\x93NUMPY", "a NumPy array", _CSV),
    (rb"\x80[\x02-\x05][\x80-\x9f}\]c(]", "a pickle", f"loading it can run any code: {_CSV}"),
    (rb"PAR1", "a Parquet table", "write it as CSV with a header"),
    (rb"%PDF", "a PDF", _PAGES),
    (rb"\s*<(?:!doctype\s+html|html[\s>])", "HTML without any class of hOCR", _PAGES),
    (_NAME + rb"(?:,[ \t]*-?[\d.]+[ \t]*){4,}", "a table without a header", _HEADER),
    (_NAME + rb"[, \t][^\n]*(?:\n" + _NAME + rb"[, \t]|\s*\Z)", "a list of pictures", _CSV),
    (
        rb".*(?:<points? |\"point(?:_2d)?\"\s*:)",
        "a list of points, without an area",
        "ask for boxes",
    ),
    (rb".*<(?:patch_index_|x_)\d+>", "an answer of Kosmos", _CSV),
    (rb"(?!\xff\xfe|\xfe\xff).*\0", "a binary file", "give text, JSON or XML"),
)
"""Patterns of first bytes, what such a file is, and what to do."""
_ENDINGS = (
    (".box", "a Tesseract box file, whose y counts from the bottom", _PAGES),
    (".md", "Markdown without a list of boxes", "give the answers with their boxes"),
)


def refuse(listing: Listing, head: Head) -> None:
    """Raise `InputError` for what no format reads; return if it may be lines of text."""
    if any(entry.name == "[Content_Types].xml" for entry in listing.entries):
        advice = "save its table as CSV with a header"
        raise InputError(f"{listing.path}: an Office document, which is not read; {advice}")
    flags = re.IGNORECASE | re.DOTALL
    entry = next(entry for entry in listing.entries if entry.name == head.name)
    known = [one[1:] for one in _SIGNATURES if re.match(one[0], head.data, flags)]
    known += [one[1:] for one in _ENDINGS if head.name.lower().endswith(one[0])]
    if known:
        what, advice = known[0]
        raise InputError(f"{listing.place(entry)}: {what}, which is not read; {advice}")
    is_text = re.match(r"[^\n]*\n[ \t]*[\d.]+[ \t]*,", head.text)  # a name may begin as markup does
    kind = "JSON" if head.text.lstrip()[:1] in ("{", "[") else "XML" if head.root else ""
    if not kind or is_text:
        return
    if kind == "JSON" and entry.ending == ".json":
        try:
            plain_json(next(listing.read([entry])))
        except FormatError as error:
            place = f"{listing.place(entry)}:{error.at or 1}"
            raise InputError(f"{place}: {error.found}; expected {error.expected}") from error
    raise InputError(
        f"{listing.path}: {kind} of no known layout; expected a format that `evaltex formats`"
        " lists, such as CSV or COCO JSON"
    )
