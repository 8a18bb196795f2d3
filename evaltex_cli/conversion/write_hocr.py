"""hOCR: an HTML file for each image. Regions are lines; boxes are whole pixels, confidences percent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaltex_cli.conversion.archives import Entry, write_archive
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, number
from evaltex_cli.conversion.holding import Picture, Shape, bounds, picture_files, pictures
from evaltex_cli.conversion.xml_text import attributes, content, fit

BLANKS = "{count} transcription[s] got single blanks for white space"
_HOLDS = Holds(regions=True, most_vertices=0, boxes=True, whole=True, exact=False)
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">\n'
    '<head><title></title><meta name="ocr-system" content="evaltex"/>'
    '<meta name="ocr-capabilities" content="ocr_page ocr_line ocrx_word"/></head>\n<body>\n'
)


def _write(job: Job, blocks: Iterable[Block]) -> None:
    write_archive(job, ".hocr", _entries(job, blocks))


def _entries(job: Job, blocks: Iterable[Block]) -> Iterator[Entry]:
    files = picture_files(job)
    for picture in pictures(job, blocks, _HOLDS):
        yield Entry(picture.name, "".join(_document(job, picture, files[picture.name])))


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    escaped = file.replace("\\", "\\\\").replace('"', '\\"')
    size = f"bbox 0 0 {number(picture.width)} {number(picture.height)}"
    page = attributes(id="page_1", title=f'image "{escaped}"; {size}')
    yield f'{_HEAD}<div class="ocr_page"{page}>\n'
    words = 0
    for k, run in enumerate(picture.runs(), 1):
        yield f'<span class="ocr_line"{attributes(id=f"line_{k}", title=_bbox(bounds(run)))}>\n'
        for shape in run:
            words += 1
            yield _word(job, shape, words)
        yield "</span>\n"
    yield "</div>\n</body>\n</html>\n"


def _word(job: Job, shape: Shape, k: int) -> str:
    found = fit(job, shape.text)
    text = " ".join(found.split())
    job.lost[BLANKS] += text != found
    confidence = "" if shape.confidence is None else f"; x_wconf {number(shape.confidence * 100)}"
    title = _bbox(shape.bounds) + confidence
    return f'<span class="ocrx_word"{attributes(id=f"word_{k}", title=title)}>{content(text)}</span>\n'


def _bbox(box: tuple[float, float, float, float]) -> str:
    return f"bbox {' '.join(map(number, box))}"


WRITER = Writer("hocr", "hOCR: a .zip of HTML files, one per image", _write, ".zip", _HOLDS)
