"""Which columns of a table with a header hold what, by their usual names or by a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaltex_cli.errors import FormatError, listed, quote

USUAL = {
    "image": (
        *("image", "imagename", "imagefile", "imagepath", "imageid", "img", "imgname", "imgpath"),
        *("file", "filename", "filepath", "path", "page", "document"),
    ),
    "x0": ("x0", "xmin", "left", "minx", "xtl", "bboxleft", "bboxxmin", "x", "bboxx"),
    "y0": ("y0", "ymin", "top", "miny", "ytl", "bboxtop", "bboxymin", "y", "bboxy"),
    "x1": ("xmax", "right", "maxx", "xbr", "bboxright", "bboxxmax"),
    "y1": ("ymax", "bottom", "maxy", "ybr", "bboxbottom", "bboxymax"),
    "width": ("width", "w", "boxwidth", "bboxwidth", "bboxw"),
    "height": ("height", "h", "boxheight", "bboxheight", "bboxh"),
    "polygon": ("polygon", "points", "poly", "vertices", "quad", "coordinates"),
    "text": ("text", "transcription", "transcript", "word", "utf8string", "content", "groundtruth"),
    "confidence": ("confidence", "conf", "score", "prob", "probability"),
    "dont_care": ("dontcare", "difficult", "ignore", "ignored", "illegible", "iscrowd"),
    "image_width": ("imagewidth", "imgwidth", "imgw", "pagewidth"),
    "image_height": ("imageheight", "imgheight", "imgh", "pageheight"),
}
"""What a column holds -> its names in lower case, of letters and digits
alone; the first that is there counts.
"""
_VERTEX = re.compile(r"([xy])([0-9]{1,2})")


class Columns(NamedTuple):
    """The place of each column: by what it holds, and of the coordinates x, y, x, y, ... of corners
    or vertices.

    `corners` has four places of a box's corners, six or more of a polygon's vertices, and none if
    `places` has ``x0``, ``y0``, ``width`` and ``height``, or ``polygon``.
    """

    places: Mapping[str, int]
    corners: tuple[int, ...]
    cells: int


def columns_of(header: Sequence[str], mapping: Mapping[str, str]) -> Columns:
    """Return the columns of a table.

    Parameters
    ----------
    header : sequence of str
    mapping : dict
        What a column holds -> its name. It counts if the header has one of the names; then all must
        be there.

    Raises
    ------
    FormatError
        If a name of the mapping is missing, or no columns hold coordinates.
    """
    mapped = mapping if any(name in header for name in mapping.values()) else {}
    missing = [name for name in mapped.values() if name not in header]
    if missing:
        found = (
            f"no column {quote(missing[0])} in the header, which has {listed(header, len(header))}"
        )
        raise FormatError(found, "the columns that are named", at=1)
    bare = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    places = {what: header.index(name) for what, name in mapped.items()}
    for what, names in USUAL.items():
        known = [
            bare.index(name)
            for name in names
            if name in bare and bare.index(name) not in places.values()
        ]
        if known and what not in places:
            places[what] = known[0]
    corners = () if mapped.keys() & {"x0", "y0", "polygon"} else _vertices(bare)
    if not corners and places.keys() >= {"x0", "y0", "x1", "y1"}:
        corners = tuple(places[what] for what in ("x0", "y0", "x1", "y1"))
        for size, of_image in (("width", "image_width"), ("height", "image_height")):
            if size in places:
                places.setdefault(of_image, places.pop(size))
    if (
        not corners
        and "x0" not in places
        and {"x1", "y1"} <= {*bare}
        and places.keys() >= {"width", "height"}
    ):
        places |= {"x0": bare.index("x1"), "y0": bare.index("y1")}
    if (
        not corners
        and "polygon" not in places
        and not places.keys() >= {"x0", "y0", "width", "height"}
    ):
        found = f"no columns of coordinates in the header, which has {listed(header, len(header))}"
        expected = (
            "columns x0, y0, x1, y1, or x, y, width, height, or polygon; name others by --columns"
        )
        raise FormatError(found, expected, at=1)
    return Columns(places, corners, len(header))


def _vertices(names: Sequence[str]) -> tuple[int, ...]:
    """Places of x1, y1, x2, y2, ..., two at least, that are numbered from 0
    or 1; none if there are no such columns.
    """
    numbered = {name: place for place, name in enumerate(names) if _VERTEX.fullmatch(name)}
    first = 0 if "x0" in numbered else 1
    found: list[int] = []
    for k in range(first, first + len(numbered)):
        if f"x{k}" not in numbered or f"y{k}" not in numbered:
            break
        found += [numbered[f"x{k}"], numbered[f"y{k}"]]
    return tuple(found) if len(found) >= 4 else ()
