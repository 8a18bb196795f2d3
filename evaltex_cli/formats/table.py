"""Tables with a header, CSV or TSV: one object in each row, its columns found by their usual names
or by a mapping.

A table of all images has a column of image names; without one it is of one image, and has its name.
The coordinates are the corners of a box, its upper left corner with width and height, or the
vertices of a polygon; a column of polygons has the numbers x, y in turn, with anything between
them. Don't care is 1, t, true or yes in its column, or the transcription ``###``. A row without
coordinates is of an image without objects. Coordinates are fractions of the page if all of a file
are in [0, 1] and one has decimals. Between semicolons or tabs a number may have a decimal comma.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evaltex_cli.errors import FormatError, listed, quote
from evaltex_cli.formats.base import (
    DONT_CARE,
    HEAD_BYTES,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.files import Listing
from evaltex_cli.formats.parsing import box, number, polygon

ENDINGS = (".csv", ".tsv")
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
    "label": ("label", "labelname", "class", "classname", "category", "categoryname"),
}
"""What a column holds -> its names in lower case, of letters and digits alone; the first that is
there counts."""
_DELIMITERS = ("\t", ";", ",", "|")
_YES, _NO = ("1", "t", "true", "yes", "y", "1.0"), ("", "0", "f", "false", "no", "n", "0.0")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_BETWEEN = re.compile(r"[\s,;:|()\[\]{}\"']+")
_ONE_IMAGE = "no column has a usual name of images, so all rows are of one image"
_FRACTIONS = "all coordinates are in [0, 1]: they are read as fractions of the page"


# Columns ------------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    """Where the columns of a table are."""

    places: Mapping[str, int]
    """What a column holds -> its place."""
    corners: Sequence[int]
    """The places of a box's corners (four) or a polygon's vertices; none if `places` has ``x0``,
    ``y0``, ``width`` and ``height``, or ``polygon``."""
    total: int

    def cell(self, cells: Sequence[str], what: str) -> str:
        """Return what a row has in a column; empty without."""
        place = self.places.get(what, len(cells))
        return cells[place].strip() if place < len(cells) else ""


def _columns(header: Sequence[str], mapping: Mapping[str, str]) -> _Columns:
    """Return where the columns of a header are; raises `FormatError`.

    The mapping, what a column holds -> its name, counts if the header has one of its names; then
    all must be there.
    """
    mapped = mapping if any(name in header for name in mapping.values()) else {}
    missing = [name for name in mapped.values() if name not in header]
    has = f"in the header, which has {listed(header, len(header))}"
    if missing:
        raise FormatError(f"no column {quote(missing[0])} {has}", "the columns that are named")
    bare = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    places = {what: header.index(name) for what, name in mapped.items()}
    for what, names in USUAL.items():
        known = [bare.index(name) for name in names if name in bare]
        free = [place for place in known if place not in places.values()]
        if free and what not in places:
            places[what] = free[0]
    corners = [] if mapped.keys() & {"x0", "y0", "polygon"} else _vertices(bare)
    if not corners and places.keys() >= {"x0", "y0", "x1", "y1"}:
        corners = [places[what] for what in ("x0", "y0", "x1", "y1")]
        for size in ("width", "height"):  # those of the image, then, as in TensorFlow's tables
            if size in places:
                places.setdefault(f"image_{size}", places.pop(size))
    sides = {"width", "height"}
    if not corners and "x0" not in places and {"x1", "y1"} <= {*bare} and sides <= places.keys():
        places |= {"x0": bare.index("x1"), "y0": bare.index("y1")}
    if not corners and "polygon" not in places and not places.keys() >= {"x0", "y0", *sides}:
        expected = "x0, y0, x1, y1, or x, y, width, height, or polygon; name others by --columns"
        raise FormatError(f"no columns of coordinates {has}", f"columns {expected}")
    return _Columns(places, corners, len(header))


def _vertices(names: Sequence[str]) -> list[int]:
    """Return the places of x1, y1, x2, y2, ..., two at least, that are numbered from 0 or 1; none
    if there are no such columns.
    """
    first = 0 if "x0" in names else 1
    places: list[int] = []
    for k in range(first, len(names)):
        if f"x{k}" not in names or f"y{k}" not in names:
            break
        places += [names.index(f"x{k}"), names.index(f"y{k}")]
    return places if len(places) >= 4 else []


# Rows ---------------------------------------------------------------------------------------------


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not blank; raises `FormatError`."""
    header = text.lstrip().partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(_DELIMITERS, key=header.count))
    try:
        for cells in reader:
            if "".join(cells).strip():
                yield reader.line_num, cells
    except csv.Error as error:
        raise FormatError(str(error), "well-formed CSV", at=reader.line_num) from error


def _header(text: str) -> list[str]:
    """Return the names of columns that a text begins with; none if this is JSON or XML."""
    if text.lstrip().startswith(("{", "[", "<")):
        return []
    try:
        _, names = next(_rows(text.lstrip().partition("\n")[0]), (0, []))
    except FormatError:
        return []
    return [name.strip() for name in names]


def _number(cell: str) -> float:
    return number(cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell)


def _points(columns: _Columns, cells: Sequence[str], dont_care: bool) -> Sequence[float]:
    """Return the coordinates of a row's object; none without any."""
    if columns.corners:
        corners = [cells[place].strip() if place < len(cells) else "" for place in columns.corners]
        return [_number(cell) for cell in corners] if any(corners) else []
    if "polygon" in columns.places:
        numbers = [cell for cell in _BETWEEN.split(columns.cell(cells, "polygon")) if cell]
        return polygon([number(cell) for cell in numbers], dont_care=dont_care) if numbers else []
    sides = [columns.cell(cells, what) for what in ("x0", "y0", "width", "height")]
    return box(*map(_number, sides)) if any(sides) else []


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    rows = _rows(file.text)
    line, header = next(rows, (1, []))
    if not header:
        raise FormatError("no header", "a first line with the names of the columns", at=1)
    try:
        columns = _columns([name.strip() for name in header], options.columns)
    except FormatError as error:
        raise FormatError(error.found, error.expected, at=line) from error
    images: dict[str, Image] = {}
    if "image" not in columns.places:
        images[file.stem] = Image(file.stem)
        if file.is_alone:
            file.notes[_ONE_IMAGE] += 1

    def read(cells: list[str]) -> TextObject | None:
        if len(cells) > columns.total:
            expected = f"at most {columns.total}, as the header has; put quotes around text"
            raise FormatError(f"{len(cells)} cells", expected)
        for what in ("width", "height"):
            size = columns.cell(cells, f"image_{what}")
            if size:
                setattr(image, what, _number(size))
        text, flag = columns.cell(cells, "text"), columns.cell(cells, "dont_care").lower()
        if flag not in (*_YES, *_NO):
            raise FormatError(f"{quote(flag)} as don't care", "0 or 1, or true or false")
        dont_care = side == "gt" and (text == DONT_CARE or flag in _YES)
        points = _points(columns, cells, dont_care)
        confidence = columns.cell(cells, "confidence")
        certain = _number(confidence) if confidence else None
        label = columns.cell(cells, "label")
        return TextObject(points, text, dont_care, certain, label=label) if points else None

    for line, cells in rows:
        named = "image" in columns.places
        name = columns.cell(cells, "image") if named else file.stem
        image = images.setdefault(name, Image(name))
        image.objects += file.each([(line, cells)], read)
    if _are_fractions([one for image in images.values() for one in image.objects]):
        file.notes[_FRACTIONS] += 1
        for image in images.values():
            _use_fractions(image)
    yield from images.values()


def _are_fractions(objects: Sequence[TextObject]) -> bool:
    """Whether all coordinates are in [0, 1], and one has decimals."""
    return all(0 <= value <= 1 for one in objects for value in one.points) and any(
        value % 1 for one in objects for value in one.points
    )


def _use_fractions(image: Image) -> None:
    """Make fractions pixels by the size of the image; say that they are fractions without."""
    size = image.width, image.height
    image.fractions = not all(size)
    if all(size):
        for one in image.objects:
            one.points = [value * size[k % 2] for k, value in enumerate(one.points)]


def _recognise(head: Head) -> str:
    header = _header(head.text)
    try:
        _columns(header, {})
    except FormatError:  # reading then says which columns are missing
        is_named = head.name.lower().removesuffix(".gz").endswith(ENDINGS)
        has_names = len(header) > 2 and all(name[:1].isalpha() for name in header)
        return "its ending, and a header" if is_named and has_names else ""
    return "a header with usual names of columns of coordinates"


def has_columns(listing: Listing, mapping: Mapping[str, str]) -> bool:
    """Whether an input has a header with one of the columns that are mapped."""
    tables = [e for e in listing.entries if listing.kind == "file" or e.ending in ENDINGS]
    header: list[str] = []
    if tables:
        header = _header(Head("", listing.beginning(tables[0], HEAD_BYTES)).text)
    return not set(mapping.values()).isdisjoint(header)


TABLE = Format(
    "table",
    "tables with a header, CSV or TSV, one object per row",
    _read,
    _recognise,
    ENDINGS,
    layout="image,x0,y0,x1,y1,text; or x,y,width,height; or polygon; or x1,y1,...,xn,yn; names"
    " mapped by --columns",
    option="columns",
)
