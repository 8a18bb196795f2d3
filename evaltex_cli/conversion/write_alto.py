"""ALTO 4: an XML file for each image. Regions are lines, of one text block; polygons have a Shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evaltex_cli.conversion.archives import Entry, write_archive
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, extent, number
from evaltex_cli.conversion.holding import Picture, Shape, bounds, picture_files, pictures
from evaltex_cli.conversion.xml_text import attributes, content, fit

_HOLDS = Holds(regions=True, boxes=True)
_SCHEMA = "http://www.loc.gov/standards/alto/ns-v4#"


def _write(job: Job, blocks: Iterable[Block]) -> None:
    write_archive(job, ".xml", _entries(job, blocks))


def _entries(job: Job, blocks: Iterable[Block]) -> Iterator[Entry]:
    files = picture_files(job)
    for picture in pictures(job, blocks, _HOLDS):
        yield Entry(picture.name, "".join(_document(job, picture, files[picture.name])))


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    size = attributes(WIDTH=number(picture.width), HEIGHT=number(picture.height))
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<alto xmlns="{_SCHEMA}">\n'
    yield "<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation>"
    yield f"<fileName>{content(file)}</fileName></sourceImageInformation></Description>\n"
    yield f'<Layout><Page ID="p1" PHYSICAL_IMG_NR="1"{size}><PrintSpace HPOS="0" VPOS="0"{size}>\n'
    if picture.shapes:
        yield f'<TextBlock ID="b1"{_place(picture.shapes)}>\n'
        words = 0
        for k, run in enumerate(picture.runs(), 1):
            yield f'<TextLine ID="l{k}"{_place(run)}>\n'
            for shape in run:
                words += 1
                yield _string(job, shape, words)
            yield "</TextLine>\n"
        yield "</TextBlock>\n"
    yield "</PrintSpace></Page></Layout>\n</alto>\n"


def _place(shapes: Sequence[Shape]) -> str:
    x0, y0, x1, y1 = bounds(shapes)
    place = {"HPOS": x0, "VPOS": y0, "WIDTH": extent(x0, x1), "HEIGHT": extent(y0, y1)}
    return attributes(**{name: number(value) for name, value in place.items()})


def _string(job: Job, shape: Shape, k: int) -> str:
    confidence = {} if shape.confidence is None else {"WC": repr(shape.confidence)}
    start = f'<String ID="w{k}"{_place([shape])}{attributes(CONTENT=fit(job, shape.text), **confidence)}'
    if shape.is_box:
        return f"{start}/>\n"
    points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.corners)
    return f'{start}><Shape><Polygon POINTS="{points}"/></Shape></String>\n'


WRITER = Writer("alto", "ALTO: a .zip of XML files, one per image", _write, ".zip", _HOLDS)
