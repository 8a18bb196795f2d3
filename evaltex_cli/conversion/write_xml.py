"""XML: PAGE, ALTO, hOCR (HTML) and CVAT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from lxml import etree

from evaltex_cli.conversion.writer import (
    Job,
    bounds,
    corners,
    extent,
    lines,
    number,
    picture_file,
)
from evaltex_cli.formats.base import Image, TextObject
from evaltex_cli.marks import comment

NO_XML = "{count} transcription[s] got U+FFFD for characters that XML cannot hold"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_HEAD = f"{_DECLARATION}{comment('data')}\n"
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def _add(parent: Any, tag: str, text: str | None = None, /, **attributes: str) -> Any:
    """Add an element, with a line break after it, to another one."""
    element = etree.SubElement(parent, tag, attributes)
    element.text, element.tail = text, "\n"
    return element


def _text_of(element: Any) -> str:
    text: str = etree.tostring(element, encoding="unicode")
    return text


def _fit(job: Job, text: str) -> str:
    """Return a transcription without characters that XML cannot hold, which are counted."""
    fit = _UNFIT.sub("\ufffd", text)
    job.lost[NO_XML] += fit != text
    return fit


def _pairs(points: Sequence[float], between: str = " ") -> str:
    return between.join(f"{number(x)},{number(y)}" for x, y in corners(points))


# PAGE ---------------------------------------------------------------------------------------------

_PAGE_HEAD = (
    f'{_HEAD}<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">\n'
    "<Metadata><Creator>evaltex</Creator><Created>1970-01-01T00:00:00</Created>"
    "<LastChange>1970-01-01T00:00:00</LastChange></Metadata>\n"
)
"""The schema asks for dates; the same data give the same bytes."""


def page(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image; regions are lines, of one text region."""
    for image in images:
        yield f"{_PAGE_HEAD}{_text_of(_page(job, image))}\n</PcGts>\n"


def _page(job: Job, image: Image) -> Any:
    size = {"imageWidth": number(image.width), "imageHeight": number(image.height)}
    page = etree.Element("Page", imageFilename=picture_file(image), **size)
    page.text = "\n"
    if image.objects:
        region = _add(page, "TextRegion", id="r1")
        _add(region, "Coords", points=_pairs(bounds(image.objects)))
        numbers = count(1)
        for k, words in enumerate(lines(job, image), 1):
            line = _add(region, "TextLine", id=f"l{k}")
            _add(line, "Coords", points=_pairs(bounds(words)))
            for word in words:
                _add_page_word(job, line, next(numbers), word)
    return page


def _add_page_word(job: Job, line: Any, number_: int, word: TextObject) -> None:
    element = _add(line, "Word", id=f"w{number_}")
    confidence = {} if word.confidence is None else {"conf": repr(word.confidence)}
    _add(element, "Coords", points=_pairs(word.points), **confidence).tail = None
    text = _fit(job, word.text)
    if text:
        equivalent = _add(element, "TextEquiv")
        equivalent.tail = None
        _add(equivalent, "Unicode", text).tail = None


# ALTO ---------------------------------------------------------------------------------------------

BLANKS_EMPTY = "{count} transcription[s] of blanks alone [was|were] written as empty"
_ALTO_HEAD = (
    f'{_HEAD}<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">\n'
    "<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation>"
)


def alto(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image. Regions are lines, of one text block; polygons have a
    Shape.
    """
    for image in images:
        file = etree.Element("fileName")
        file.text = picture_file(image)
        description = f"{_text_of(file)}</sourceImageInformation></Description>\n"
        yield f"{_ALTO_HEAD}{description}{_text_of(_alto_layout(job, image))}\n</alto>\n"


def _alto_layout(job: Job, image: Image) -> Any:
    layout = etree.Element("Layout")
    size = {"WIDTH": number(image.width), "HEIGHT": number(image.height)}
    page = _add(layout, "Page", ID="p1", PHYSICAL_IMG_NR="1", **size)
    space = _add(page, "PrintSpace", "\n", HPOS="0", VPOS="0", **size)
    page.tail = space.tail = None
    if image.objects:
        block = _add(space, "TextBlock", "\n", ID="b1", **_alto_place(image.objects))
        numbers = count(1)
        for k, words in enumerate(lines(job, image), 1):
            line = _add(block, "TextLine", "\n", ID=f"l{k}", **_alto_place(words))
            for word in words:
                _add_alto_string(job, line, next(numbers), word)
    return layout


def _alto_place(objects: Sequence[TextObject]) -> dict[str, str]:
    x0, y0, x1, y1 = bounds(objects)
    place = {"HPOS": x0, "VPOS": y0, "WIDTH": extent(x0, x1), "HEIGHT": extent(y0, y1)}
    return {name: number(value) for name, value in place.items()}


def _add_alto_string(job: Job, line: Any, number_: int, word: TextObject) -> None:
    text = _fit(job, word.text)
    job.lost[BLANKS_EMPTY] += text.isspace()
    attributes = {"ID": f"w{number_}", **_alto_place([word])}
    attributes["CONTENT"] = "" if text.isspace() else text
    if word.confidence is not None:
        attributes["WC"] = repr(word.confidence)
    string = _add(line, "String", **attributes)
    if len(word.points) > 4:
        shape = _add(string, "Shape")
        shape.tail = None
        _add(shape, "Polygon", POINTS=_pairs(word.points)).tail = None


# hOCR ---------------------------------------------------------------------------------------------

BLANKS_SINGLE = "{count} transcription[s] got single blanks for white space"
_HOCR_HEAD = (
    f"{_DECLARATION}<!DOCTYPE html>\n{comment('data')}\n<html"
    ' xmlns="http://www.w3.org/1999/xhtml">\n'
    '<head><title></title><meta name="ocr-system" content="evaltex"/>'
    '<meta name="ocr-capabilities" content="ocr_page ocr_line ocrx_word"/></head>\n<body>\n'
)


def hocr(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image. Regions are lines; confidences are percent."""
    for image in images:
        yield f"{_HOCR_HEAD}{_text_of(_hocr_page(job, image))}\n</body>\n</html>\n"


def _hocr_page(job: Job, image: Image) -> Any:
    escaped = picture_file(image).replace("\\", "\\\\").replace('"', '\\"')
    title = f'image "{escaped}"; bbox 0 0 {number(image.width)} {number(image.height)}'
    page = etree.Element("div", {"class": "ocr_page", "id": "page_1", "title": title})
    page.text = "\n"
    numbers = count(1)
    for k, run in enumerate(lines(job, image), 1):
        about = {"class": "ocr_line", "id": f"line_{k}", "title": _bbox(run)}
        line = _add(page, "span", "\n", **about)
        for word in run:
            fit = _fit(job, word.text)
            text = " ".join(fit.split())
            job.lost[BLANKS_SINGLE] += text != fit
            confidence = word.confidence
            score = "" if confidence is None else f"; x_wconf {number(confidence * 100)}"
            about = {
                "class": "ocrx_word",
                "id": f"word_{next(numbers)}",
                "title": _bbox([word]) + score,
            }
            _add(line, "span", text, **about)
    return page


def _bbox(objects: Sequence[TextObject]) -> str:
    return f"bbox {' '.join(map(number, bounds(objects)))}"


# CVAT ---------------------------------------------------------------------------------------------

OUTER_BLANKS = "{count} transcription[s] lost outer blanks"


def cvat(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """The attribute ``ignore`` is don't care."""
    yield f"{_HEAD}<annotations>\n<version>1.1</version>\n"
    for k, image in enumerate(images):
        size = {"width": number(image.width), "height": number(image.height)}
        element = etree.Element("image", {"id": str(k), "name": picture_file(image), **size})
        element.text = "\n"
        for word in image.objects:
            _add_cvat_shape(job, element, word)
        yield f"{_text_of(element)}\n"
    yield "</annotations>\n"


def _add_cvat_shape(job: Job, image: Any, word: TextObject) -> None:
    common = {"label": word.label or "text", "source": "manual", "occluded": "0"}
    if len(word.points) == 4:
        corner_names = ("xtl", "ytl", "xbr", "ybr")
        place = dict(zip(corner_names, map(number, word.points), strict=True))
        shape = _add(image, "box", "\n", **common, **place, z_order="0")
    else:
        place = {"points": _pairs(word.points, ";")}
        shape = _add(image, "polygon", "\n", **common, **place, z_order="0")
    text = _fit(job, word.text)
    job.lost[OUTER_BLANKS] += text != text.strip()
    if text:
        _add(shape, "attribute", text, name="text")
    if job.side == "gt":
        _add(shape, "attribute", str(word.dont_care).lower(), name="ignore")
