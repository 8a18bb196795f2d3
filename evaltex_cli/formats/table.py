"""Tables with a header, CSV or TSV: one object in each row, its columns found by their usual names
or by a mapping.

A table without a column of image names is of one image, and has its name. The coordinates are the
corners of a box, its upper left corner with width and height, or the vertices of a polygon, perhaps
in one column; without them a row is of an image without objects. Coordinates are fractions of the
page if all of a file are in [0, 1] and one has decimals. Between semicolons or tabs a number may
have a decimal comma.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from evaltex_cli.errors import FormatError, listed, quote
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
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


def _columns(header: Sequence[str], mapping: Mapping[str, str]) -> tuple[dict[str, int], list[int]]:
    """Return what a column holds -> its place, and the places of the coordinates.

    The mapping, what a column holds -> its name, counts if the header has one of its names, and all
    must be there then; raises `FormatError`.
    """
    mapped = {} if set(header).isdisjoint(mapping.values()) else mapping
    has = f"in the header, which has {listed(header, len(header))}"
    for name in mapped.values():
        if name not in header:
            raise FormatError(f"no column {quote(name)} {has}", "the columns that are named", at=1)
    bare = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    places = {what: header.index(name) for what, name in mapped.items()}
    for what, names in USUAL.items():
        known = [bare.index(name) for name in names if name in bare]
        free = [place for place in known if place not in places.values()]
        if free:
            places.setdefault(what, free[0])
    corners = [] if mapped.keys() & {"x0", "y0", "polygon"} else _vertices(bare)
    if not corners and places.keys() >= {"x0", "y0", "x1", "y1"}:
        corners = [places[what] for what in ("x0", "y0", "x1", "y1")]
    if corners:
        for size in {"width", "height"} & places.keys():  # of the image, as in TensorFlow's tables
            places.setdefault(f"image_{size}", places.pop(size))
        return places, corners
    for needed in (["polygon"], ["x0", "y0", "width", "height"]):
        if places.keys() >= set(needed):
            return places, [places[what] for what in needed]
    expected = (
        "columns x0, y0, x1, y1, or x, y, width, height, or polygon; name others by --columns"
    )
    raise FormatError(f"no columns of coordinates {has}", expected, at=1)


def _vertices(names: Sequence[str]) -> list[int]:
    """Return the places of x1, y1, x2, y2, ..., two at least, numbered from 0 or 1; else none."""
    first = 0 if "x0" in names else 1
    end = next(k for k in count(first) if f"x{k}" not in names or f"y{k}" not in names)
    places = [names.index(f"{axis}{k}") for k in range(first, end) for axis in "xy"]
    return places if len(places) >= 4 else []


def _rows(text: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not blank; raises `FormatError`.

    If not `strict`, a quote that begins a cell and is not closed takes what follows.
    """
    header = text.lstrip().partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=strict)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FormatError(
            str(error), "well-formed CSV, with each quote in text twice", at=reader.line_num
        ) from error


def _header(text: str) -> list[str]:
    """Return the names of columns that a text begins with; none if this is JSON or XML."""
    first = text.lstrip().partition("\n")[0]
    return [] if first.startswith(("{", "[", "<")) else next(_rows(first), (0, []))[1]


def _number(cell: str) -> float:
    return number(cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell)


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    rows = _rows(file.text, strict=True)
    _, header = next(rows, (1, []))
    places, coordinates = _columns(header, options.columns)
    images = {} if "image" in places else {file.stem: Image(file.stem)}
    file.notes[_ONE_IMAGE] += file.is_alone and "image" not in places

    def read(cells: Sequence[str]) -> TextObject | None:
        if len(cells) > len(header):
            expected = f"at most {len(header)}: put quotes around text"
            raise FormatError(f"{len(cells)} cells", expected)
        row = {what: cells[place] for what, place in places.items()}
        if row.get("image_width") and row.get("image_height"):
            image.width, image.height = _number(row["image_width"]), _number(row["image_height"])
        text, flag = row.get("text", ""), row.get("dont_care", "").lower()
        if flag not in (*_YES, *_NO):
            raise FormatError(f"{quote(flag)} as don't care", "0 or 1, or true or false")
        dont_care = side == "gt" and (text == DONT_CARE or flag in _YES)
        numbers = [cells[place] for place in coordinates]
        if len(numbers) == 1:
            numbers = _BETWEEN.sub(" ", numbers[0]).split()
        if not any(numbers):
            return None
        points: Sequence[float] = [_number(cell) for cell in numbers]
        if len(coordinates) == 1:
            points = polygon(points, dont_care=dont_care)
        elif coordinates[-1] == places.get("height"):
            points = box(*points)
        certain = _number(row["confidence"]) if row.get("confidence") else None
        return TextObject(points, text, dont_care, certain, label=row.get("label", ""))

    for line, cells in rows:
        cells.extend([""] * (len(header) - len(cells)))
        name = cells[places["image"]] if "image" in places else file.stem
        image = images.setdefault(name, Image(name))
        image.objects += file.each([(line, cells)], read)
    values = [value for image in images.values() for one in image.objects for value in one.points]
    if all(0 <= value <= 1 for value in values) and any(value % 1 for value in values):
        file.notes["all coordinates are in [0, 1]: they are read as fractions of the page"] += 1
        for image in images.values():
            image.fractions = True
    yield from images.values()


def _recognised_by(text: str, name: str) -> str:
    header = _header(text)
    try:
        _columns(header, {})
    except FormatError:  # reading then says which columns are missing
        is_named = name.lower().removesuffix(".gz").endswith(ENDINGS)
        has_names = len(header) > 2 and all(column[:1].isalpha() for column in header)
        return "its ending, and a header" if is_named and has_names else ""
    return "a header with usual names of columns of coordinates"


def has_columns(listing: Listing, mapping: Mapping[str, str]) -> bool:
    """Whether an input has a header with one of the columns that are mapped."""
    tables = [e for e in listing.entries if listing.kind == "file" or e.ending in ENDINGS]
    head = listing.beginning(tables[0], 1 << 16) if tables else b""
    return not set(_header(head.decode("utf-8-sig", "replace"))).isdisjoint(mapping.values())


TABLE = Format(
    "table",
    "tables with a header, CSV or TSV, one object per row",
    _read,
    lambda head: _recognised_by(head.text, head.name),
    ENDINGS,
    layout="image,x0,y0,x1,y1,text; or x,y,width,height; or polygon; or x1,y1,...,xn,yn; names"
    " mapped by --columns",
    option="columns",
)
