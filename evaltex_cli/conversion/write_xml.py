"""XML: PAGE, ALTO, hOCR (HTML) and CVAT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from xml.sax.saxutils import escape, quoteattr

from evaltex_cli.conversion.writer import (
    Job,
    bounds,
    corners,
    lines,
    number,
    picture_file,
    with_extents,
)
from evaltex_cli.formats.base import Image, TextObject
from evaltex_cli.runtime.marks import comment

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_HEAD = f"{_DECLARATION}{comment('data')}\n"
_UNFIT = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"


def _fit(value: str) -> str:
    """Return a text with U+FFFD for characters that XML cannot hold."""
    return re.sub(_UNFIT, "\ufffd", value)


def _text(value: str) -> str:
    """Return the content of an element."""
    return escape(_fit(value), {"\r": "&#13;"})


def _attributes(**values: str | float) -> str:
    """Return attributes, each after a blank."""
    texts = {k: _fit(v) if isinstance(v, str) else number(v) for k, v in values.items()}
    return "".join(f" {name}={quoteattr(text)}" for name, text in texts.items())


def _pairs(points: Sequence[float], between: str = " ") -> str:
    return between.join(f"{number(x)},{number(y)}" for x, y in corners(points))


_PAGE_HEAD = (
    f'{_HEAD}<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">\n'
    "<Metadata><Creator>evaltex</Creator><Created>1970-01-01T00:00:00</Created>"
    "<LastChange>1970-01-01T00:00:00</LastChange></Metadata>\n"
)
"""The schema asks for dates; the same data give the same bytes."""


def page(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image; regions are lines, of one text region."""
    for image in images:
        file = _attributes(imageFilename=picture_file(image))
        size = _attributes(imageWidth=image.width, imageHeight=image.height)
        text, numbers = f"{_PAGE_HEAD}<Page{file}{size}>\n", count(1)
        if image.objects:
            text += f'<TextRegion id="r1">{_coords(bounds(image.objects))}\n'
        for k, words in enumerate(lines(job, image), 1):
            text += f'<TextLine id="l{k}">{_coords(bounds(words))}\n'
            for word in words:
                score = "" if word.confidence is None else f' conf="{word.confidence!r}"'
                content = _text(word.text)
                if content:
                    content = f"<TextEquiv><Unicode>{content}</Unicode></TextEquiv>"
                place = _coords(word.points, score)
                text += f'<Word id="w{next(numbers)}">{place}{content}</Word>\n'
            text += "</TextLine>\n"
        end = "</TextRegion>\n" if image.objects else ""
        yield f"{text}{end}</Page>\n</PcGts>\n"


def _coords(points: Sequence[float], more: str = "") -> str:
    return f'<Coords points="{_pairs(points)}"{more}/>'


_ALTO_HEAD = (
    f'{_HEAD}<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">\n'
    "<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation>"
)


def alto(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image; regions are lines, of one text block."""
    for image in images:
        size, numbers = _attributes(WIDTH=image.width, HEIGHT=image.height), count(1)
        text = (
            f"{_ALTO_HEAD}<fileName>{_text(picture_file(image))}</fileName>"
            "</sourceImageInformation></Description>\n"
            f'<Layout><Page ID="p1" PHYSICAL_IMG_NR="1"{size}>'
            f'<PrintSpace HPOS="0" VPOS="0"{size}>\n'
        )
        if image.objects:
            text += f'<TextBlock ID="b1"{_alto_place(image.objects)}>\n'
        for k, words in enumerate(lines(job, image), 1):
            text += f'<TextLine ID="l{k}"{_alto_place(words)}>\n'
            for word in words:
                text += f'<String ID="w{next(numbers)}"{_alto_place([word])}{_alto_content(word)}\n'
            text += "</TextLine>\n"
        end = "</TextBlock>\n" if image.objects else ""
        yield f"{text}{end}</PrintSpace></Page></Layout>\n</alto>\n"


def _alto_place(objects: Sequence[TextObject]) -> str:
    names = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
    return _attributes(**dict(zip(names, with_extents(bounds(objects)), strict=True)))


def _alto_content(word: TextObject) -> str:
    """Return the rest of a String: transcription, confidence and polygon.

    Words without a confidence are marked as corrected, so that nobody takes them for lines.
    """
    text = _attributes(CONTENT="" if word.text.isspace() else word.text)
    text += ' CS="true"' if word.confidence is None else f' WC="{word.confidence!r}"'
    if len(word.points) == 4:
        return f"{text}/>"
    return f'{text}><Shape><Polygon POINTS="{_pairs(word.points)}"/></Shape></String>'


_HOCR_HEAD = (
    f"{_DECLARATION}<!DOCTYPE html>\n{comment('data')}\n<html"
    ' xmlns="http://www.w3.org/1999/xhtml">\n'
    '<head><title></title><meta name="ocr-system" content="evaltex"/>'
    '<meta name="ocr-capabilities" content="ocr_page ocr_line ocrx_word"/></head>\n<body>\n'
)


def hocr(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield the document of each image. Regions are lines; confidences are percent."""
    for image in images:
        file = picture_file(image).replace("\\", "\\\\").replace('"', '\\"')
        title = f'image "{file}"; bbox 0 0 {number(image.width)} {number(image.height)}'
        text, numbers = f'{_HOCR_HEAD}<div class="ocr_page" id="page_1"', count(1)
        text += f"{_attributes(title=title)}>\n"
        for k, words in enumerate(lines(job, image), 1):
            text += f'<span class="ocr_line" id="line_{k}" title="{_bbox(words)}">\n'
            for word in words:
                title = _bbox([word])
                if word.confidence is not None:
                    title += f"; x_wconf {number(word.confidence * 100)}"
                text += f'<span class="ocrx_word" id="word_{next(numbers)}" title="{title}">'
                text += f"{_text(' '.join(word.text.split()))}</span>\n"
            text += "</span>\n"
        yield f"{text}</div>\n</body>\n</html>\n"


def _bbox(objects: Sequence[TextObject]) -> str:
    return f"bbox {' '.join(map(number, bounds(objects)))}"


def cvat(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """The attribute ``ignore`` is don't care."""
    yield f"{_HEAD}<annotations>\n<version>1.1</version>\n"
    for k, image in enumerate(images):
        about = _attributes(name=picture_file(image), width=image.width, height=image.height)
        shapes = "".join(_cvat_shape(job, word) for word in image.objects)
        yield f'<image id="{k}"{about}>\n{shapes}</image>\n'
    yield "</annotations>\n"


def _cvat_shape(job: Job, word: TextObject) -> str:
    kind, place = "polygon", _attributes(points=_pairs(word.points, ";"))
    if len(word.points) == 4:
        corner_names = ("xtl", "ytl", "xbr", "ybr")
        kind, place = "box", _attributes(**dict(zip(corner_names, word.points, strict=True)))
    common = _attributes(label=word.label or "text", source="manual", occluded="0")
    text = f'<{kind}{common}{place} z_order="0">\n'
    if word.text:
        text += f'<attribute name="text">{_text(word.text)}</attribute>\n'
    if job.side == "gt":
        text += f'<attribute name="ignore">{str(word.dont_care).lower()}</attribute>\n'
    return f"{text}</{kind}>\n"
