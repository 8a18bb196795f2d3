"""Tables with a header, CSV or TSV: columns are found by their usual names, or by a mapping.

A row is an object. A table without a column of image names is of one image, and has its name. The
coordinates are the corners of a box, perhaps in one column (`bbox`), its upper left corner with
width and height, or the vertices of a polygon, perhaps in one column; without them a row is of an
image without objects. They are fractions of the page if all of a file are in [0, 1] and one has
decimals. Between semicolons or tabs a number may have a decimal comma.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import leaves_result_folder, names_of_pictures
from evaltex_cli.formats.parsing import box, number, outline, plain_json, polygon

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
    "bbox": ("bbox", "box", "boundingbox", "bndbox"),
    "text": (
        *("text", "transcription", "transcript", "word", "txt", "utf8string", "content"),
        "groundtruth",
    ),
    "confidence": ("confidence", "conf", "score", "prob", "probability"),
    "dont_care": ("dontcare", "difficult", "ignore", "ignored", "illegible", "iscrowd"),
    "image_width": ("imagewidth", "imgwidth", "imgw", "pagewidth"),
    "image_height": ("imageheight", "imgheight", "imgh", "pageheight"),
    "label": ("label", "labelname", "class", "classname", "category", "categoryname"),
}
"""What a column holds -> its names, of small letters and digits alone; the first there counts."""
_LAYOUTS = (("x0", "y0", "x1", "y1"), ("polygon",), ("x0", "y0", "width", "height"), ("bbox",))
_YES, _NO = ("1", "t", "true", "yes", "y", "1.0"), ("", "0", "f", "false", "no", "n", "0.0")


def _header(text: str) -> tuple[str, list[str]]:
    """Return the delimiter, and the names of columns that a text begins with."""
    first = text[: 1 << 16].lstrip().partition("\n")[0]
    delimiter = max("\t;,|", key=first.count)
    return delimiter, [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]


def _columns(header: Sequence[str], mapping: Mapping[str, str]) -> tuple[dict[str, int], list[int]]:
    """Return what a column holds -> its place, and the places of the coordinates."""
    mapped = {} if set(header).isdisjoint(mapping.values()) else mapping  # of the other input
    has = f"in the header, which has {', '.join(map(quote, header))}"
    if missing := [name for name in mapped.values() if name not in header]:
        raise FormatError(f"no column {quote(missing[0])} {has}", "the mapped columns", at=1)
    bare = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    places = {what: header.index(name) for what, name in mapped.items()}
    for what, names in USUAL.items():
        for place in (bare.index(name) for name in names if name in bare):
            if place not in places.values():
                places.setdefault(what, place)
    numbered = [k for k, name in enumerate(bare) if re.fullmatch(r"[xy]\d\d?", name)]
    corners = sorted(numbered, key=lambda k: (int(bare[k][1:]), bare[k]))  # x1, y1, x2, y2, ...
    if len(corners) < 4 or mapped.keys() & {"x0", "y0", "polygon"}:
        layout = next((names for names in _LAYOUTS if places.keys() >= set(names)), ())
        corners = [places[what] for what in layout]
    if not corners:
        expected = "x0, y0, x1, y1, or x, y, width, height, or polygon; name others by --columns"
        raise FormatError(f"no columns of coordinates {has}", expected, at=1)
    if len(corners) > 1 and corners[-1] != places.get("height"):
        for size in {"width", "height"} & places.keys():  # of the image, as in TensorFlow's tables
            places.setdefault(f"image_{size}", places.pop(size))
    return places, corners


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    delimiter, header = _header(file.text)
    places, coordinates = _columns(header, options.columns)
    images = {} if "image" in places else {file.stem: Image(file.stem)}
    one_image = "no column has a usual name of images, so all rows are of one image"
    file.notes[one_image] += file.is_alone and "image" not in places

    corners = f"column {quote(header[coordinates[0]])} is read as x0, y0, x1, y1"

    def read(cells: Sequence[str]) -> TextObject | None:
        if len(cells) > len(header):
            raise FormatError(
                f"{len(cells)} cells", f"{len(header)} at most: put quotes around text"
            )
        row = {what: cells[place] for what, place in places.items()}
        if row.get("image_width") and row.get("image_height"):
            image.width, image.height = _number(row["image_width"]), _number(row["image_height"])
        text, flag = row.get("text", ""), row.get("dont_care", "").lower()
        if flag not in (*_YES, *_NO):
            raise FormatError(f"{quote(flag)} as don't care", "0 or 1, or true or false")
        dont_care = side == "gt" and (text == DONT_CARE or flag in _YES)
        numbers = [cells[place] for place in coordinates]
        if len(numbers) == 1 and numbers[0].startswith("{"):  # as Python prints it
            sides = outline(plain_json(numbers[0].replace("'", '"').encode()))
            numbers = [f"{side!r}" for side in sides]
        elif len(numbers) == 1:
            numbers[0] = re.sub(r"np\.\w+\(", "(", numbers[0])
            numbers = re.sub(r"[\s,;:|()\[\]{}\"']+", " ", numbers[0]).split()
        if not any(numbers):
            return None
        points: Sequence[float] = [_number(cell) for cell in numbers]
        is_box = coordinates == [places.get("bbox")] and len(points) == 4
        if is_box and (points[2] < points[0] or points[3] < points[1]):
            shown = ", ".join(f"{value:g}" for value in points)
            expected = "x0, y0, x1, y1 in one column; give x, y, width, height four columns"
            raise FormatError(f"{quote(header[coordinates[0]])} {shown}", expected)
        file.notes[corners] += is_box and not file.notes[corners]
        if coordinates[-1] == places.get("height"):
            points = box(*points)
        elif len(coordinates) != 4 and not is_box:
            points = polygon(points, dont_care=dont_care)
        certain = _number(row["confidence"]) if row.get("confidence") else None
        return TextObject(points, text, dont_care, certain, label=row.get("label", ""))

    reader = csv.reader(io.StringIO(file.text), delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        expected = "well-formed CSV, with each quote in text twice"
        raise FormatError(str(error), expected, at=reader.line_num) from error
    for line, row in rows[1:]:
        cells = [cell.strip() for cell in row] + [""] * (len(header) - len(row))
        name = cells[places["image"]] if "image" in places else file.stem
        image = images.setdefault(name, Image(name))
        image.objects += file.each([(line, cells)], read)
    values = [value for image in images.values() for one in image.objects for value in one.points]
    fractions = all(0 <= value <= 1 for value in values) and any(value % 1 for value in values)
    file.notes["all coordinates are in [0, 1]: they are read as fractions of the page"] += fractions
    names = list(images)
    names = names_of_pictures(names) if any(map(leaves_result_folder, names)) else names
    for name, image in zip(names, images.values(), strict=True):
        image.name, image.fractions = name, fractions
        yield image


def _number(cell: str) -> float:
    return number(re.sub(r"^([+-]?\d+),(\d+)$", r"\1.\2", cell) if "," in cell else cell)


def _recognised_by(text: str, name: str) -> str:
    _, header = _header(text)
    with suppress(FormatError):
        _columns(header, {})
        return "a header with usual names of columns of coordinates"
    is_named = name.lower().removesuffix(".gz").endswith(TABLE.endings)
    has_names = len(header) > 1 and all(column[:1].isalpha() for column in header)
    return "its ending, and a header" if is_named and has_names else ""


TABLE = Format(
    "table",
    "tables with a header, CSV or TSV, one object per row",
    _read,
    lambda head: "" if head.json is not None else _recognised_by(head.text, head.name),
    (".csv", ".tsv"),
    layout="image,x0,y0,x1,y1,text; or bbox; or x,y,width,height; or polygon; or x1,y1,...,xn,yn",
    option="columns",
)
