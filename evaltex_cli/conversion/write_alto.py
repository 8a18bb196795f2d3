"""ALTO 4: an XML file for each image. Regions are lines, of one text block;
polygons have a Shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaltex_cli.conversion.archives import writer
from evaltex_cli.conversion.base import Holds, Job, extent, number
from evaltex_cli.conversion.holding import Bounds, Picture, Shape
from evaltex_cli.conversion.xml_text import XML_HEAD, attributes, content, fit, lines_of_words

BLANKS = "{count} transcription[s] of blanks alone [was|were] written as empty"
_HOLDS = Holds(regions=True, boxes=True)
_SCHEMA = "http://www.loc.gov/standards/alto/ns-v4#"


def _document(job: Job, picture: Picture, file: str) -> Iterator[str]:
    size = attributes(WIDTH=number(picture.width), HEIGHT=number(picture.height))
    yield f'{XML_HEAD}<alto xmlns="{_SCHEMA}">\n'
    yield "<Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation>"
    yield f"<fileName>{content(file)}</fileName></sourceImageInformation></Description>\n"
    yield f'<Layout><Page ID="p1" PHYSICAL_IMG_NR="1"{size}><PrintSpace HPOS="0" VPOS="0"{size}>\n'
    if picture.count:
        yield f'<TextBlock ID="b1"{_place(picture.all.bounds)}>\n'
        yield from lines_of_words(
            picture,
            lambda k, run: f'<TextLine ID="l{k}"{_place(run.bounds)}>\n',
            lambda k, shape: _string(job, shape, k),
            "</TextLine>\n",
        )
        yield "</TextBlock>\n"
    yield "</PrintSpace></Page></Layout>\n</alto>\n"


def _place(bounds: Bounds) -> str:
    x0, y0, x1, y1 = bounds
    place = {"HPOS": x0, "VPOS": y0, "WIDTH": extent(x0, x1), "HEIGHT": extent(y0, y1)}
    return attributes(**{name: number(value) for name, value in place.items()})


def _string(job: Job, shape: Shape, k: int) -> str:
    confidence = {} if shape.confidence is None else {"WC": repr(shape.confidence)}
    text = fit(job, shape.text)
    if text.isspace():
        text = ""
        job.lost[BLANKS] += 1
    start = f'<String ID="w{k}"{_place(shape.bounds)}{attributes(CONTENT=text, **confidence)}'
    if shape.is_box:
        return f"{start}/>\n"
    points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.corners)
    return f'{start}><Shape><Polygon POINTS="{points}"/></Shape></String>\n'


WRITER = writer("alto", "ALTO: XML files, one per image", _HOLDS, _document)
