"""PAGE XML (2019): an XML file for each image. Regions are lines, of one text region;
coordinates are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaltex_cli.conversion.archives import writer
from evaltex_cli.conversion.base import Holds, Job, number
from evaltex_cli.conversion.holding import Picture, Run, Shape
from evaltex_cli.conversion.xml_text import XML_HEAD, attributes, content, fit, lines_of_words

_HOLDS = Holds(regions=True, whole=True)
_SCHEMA = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_EPOCH = "1970-01-01T00:00:00"
"""The schema asks for dates; the same data give the same bytes."""


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    size = {"imageWidth": number(picture.width), "imageHeight": number(picture.height)}
    yield f'{XML_HEAD}<PcGts xmlns="{_SCHEMA}">\n'
    yield f"<Metadata><Creator>evaltex</Creator><Created>{_EPOCH}</Created>"
    yield f"<LastChange>{_EPOCH}</LastChange></Metadata>\n"
    yield f"<Page{attributes(imageFilename=file, **size)}>\n"
    if picture.count:
        yield f'<TextRegion id="r1">{_around(picture.all)}\n'
        yield from lines_of_words(
            picture,
            lambda k, run: f'<TextLine id="l{k}">{_around(run)}\n',
            lambda k, shape: f'<Word id="w{k}">{_coords(shape)}{_text(job, shape)}</Word>\n',
            "</TextLine>\n",
        )
        yield "</TextRegion>\n"
    yield "</Page>\n</PcGts>\n"


def _around(run: Run) -> str:
    return _coords(Shape([*run.bounds], "", False, None))


def _coords(shape: Shape) -> str:
    confidence = {} if shape.confidence is None else {"conf": repr(shape.confidence)}
    points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.corners)
    return f"<Coords{attributes(points=points, **confidence)}/>"


def _text(job: Job, shape: Shape) -> str:
    text = fit(job, shape.text)
    return f"<TextEquiv><Unicode>{content(text)}</Unicode></TextEquiv>" if text else ""


WRITER = writer("page", "PAGE XML: XML files, one per image", _HOLDS, _document)
