"""hOCR: an HTML file for each image. Regions are lines; boxes are whole
pixels, confidences percent.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaltex_cli.conversion.archives import writer
from evaltex_cli.conversion.base import Holds, Job, number
from evaltex_cli.conversion.holding import Bounds, Picture, Shape
from evaltex_cli.conversion.xml_text import attributes, content, fit, lines_of_words
from evaltex_cli.marks import comment

BLANKS = "{count} transcription[s] got single blanks for white space"
_HOLDS = Holds(regions=True, most_vertices=0, boxes=True, whole=True, exact=False)
_HEAD = (
    f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n{comment("data")}\n<html'
    ' xmlns="http://www.w3.org/1999/xhtml">\n'
    '<head><title></title><meta name="ocr-system" content="evaltex"/>'
    '<meta name="ocr-capabilities" content="ocr_page ocr_line ocrx_word"/></head>\n<body>\n'
)


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    escaped = file.replace("\\", "\\\\").replace('"', '\\"')
    size = f"bbox 0 0 {number(picture.width)} {number(picture.height)}"
    page = attributes(id="page_1", title=f'image "{escaped}"; {size}')
    yield f'{_HEAD}<div class="ocr_page"{page}>\n'
    yield from lines_of_words(
        picture,
        lambda k, run: (
            f'<span class="ocr_line"{attributes(id=f"line_{k}", title=_bbox(run.bounds))}>\n'
        ),
        lambda k, shape: _word(job, shape, k),
        "</span>\n",
    )
    yield "</div>\n</body>\n</html>\n"


def _word(job: Job, shape: Shape, k: int) -> str:
    found = fit(job, shape.text)
    text = " ".join(found.split())
    job.lost[BLANKS] += text != found
    confidence = "" if shape.confidence is None else f"; x_wconf {number(shape.confidence * 100)}"
    title = _bbox(shape.bounds) + confidence
    return (
        f'<span class="ocrx_word"{attributes(id=f"word_{k}", title=title)}>{content(text)}</span>\n'
    )


def _bbox(box: Bounds) -> str:
    return f"bbox {' '.join(map(number, box))}"


WRITER = writer("hocr", "hOCR: HTML files, one per image", _HOLDS, _document)
