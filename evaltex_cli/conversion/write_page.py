"""PAGE XML (2019): an XML file for each image. Regions are lines, of one text region; coordinates are whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evaltex_cli.conversion.archives import Entry, write_archive
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, number
from evaltex_cli.conversion.holding import Picture, Shape, bounds, picture_files, pictures
from evaltex_cli.conversion.xml_text import attributes, content, fit

_HOLDS = Holds(regions=True, whole=True)
_SCHEMA = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_EPOCH = "1970-01-01T00:00:00"
"""The schema asks for dates; the same data give the same bytes."""


def _write(job: Job, blocks: Iterable[Block]) -> None:
    write_archive(job, ".xml", _entries(job, blocks))


def _entries(job: Job, blocks: Iterable[Block]) -> Iterator[Entry]:
    files = picture_files(job)
    for picture in pictures(job, blocks, _HOLDS):
        yield Entry(picture.name, "".join(_document(job, picture, files[picture.name])))


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    size = {"imageWidth": number(picture.width), "imageHeight": number(picture.height)}
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<PcGts xmlns="{_SCHEMA}">\n'
    yield f"<Metadata><Creator>evaltex</Creator><Created>{_EPOCH}</Created>"
    yield f"<LastChange>{_EPOCH}</LastChange></Metadata>\n"
    yield f"<Page{attributes(imageFilename=file, **size)}>\n"
    if picture.shapes:
        yield f'<TextRegion id="r1">{_around(picture.shapes)}\n'
        words = 0
        for k, run in enumerate(picture.runs(), 1):
            yield f'<TextLine id="l{k}">{_around(run)}\n'
            for shape in run:
                words += 1
                yield f'<Word id="w{words}">{_coords(shape)}{_text(job, shape)}</Word>\n'
            yield "</TextLine>\n"
        yield "</TextRegion>\n"
    yield "</Page>\n</PcGts>\n"


def _around(shapes: Sequence[Shape]) -> str:
    return _coords(Shape(list(bounds(shapes)), "", False, None, 0))


def _coords(shape: Shape) -> str:
    confidence = {} if shape.confidence is None else {"conf": repr(shape.confidence)}
    points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.corners)
    return f"<Coords{attributes(points=points, **confidence)}/>"


def _text(job: Job, shape: Shape) -> str:
    text = fit(job, shape.text)
    return f"<TextEquiv><Unicode>{content(text)}</Unicode></TextEquiv>" if text else ""


WRITER = Writer("page", "PAGE XML: a .zip of XML files, one per image", _write, ".zip", _HOLDS)
