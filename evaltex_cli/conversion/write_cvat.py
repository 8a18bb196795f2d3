"""CVAT for images: one XML document of all images. The attribute ``ignore`` is don't care."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, number, target_file
from evaltex_cli.conversion.holding import Shape, picture_files, pictures
from evaltex_cli.conversion.xml_text import XML_HEAD, attributes, content, fit
from evaltex_cli.old_formats.base import DONT_CARE

BLANKS = "{count} transcription[s] lost outer blanks"
_HOLDS = Holds(confidences=False, dont_care=True, boxes=True, marks=(DONT_CARE,))
_CORNERS = ("xtl", "ytl", "xbr", "ybr")


def _write(job: Job, blocks: Iterable[Block]) -> None:
    files = picture_files(job)
    with target_file(job) as file:
        file.write(f"{XML_HEAD}<annotations>\n<version>1.1</version>\n")
        for k, picture in enumerate(pictures(job, blocks, _HOLDS)):
            size = {"width": number(picture.width), "height": number(picture.height)}
            file.write(f"<image{attributes(id=str(k), name=files[picture.name], **size)}>\n")
            file.writelines(line for shape in picture.shapes() for line in _shape(job, shape))
            file.write("</image>\n")
        file.write("</annotations>\n")


def _shape(job: Job, shape: Shape) -> Iterator[str]:
    common = {"label": "text", "source": "manual", "occluded": "0"}
    if shape.is_box:
        name = "box"
        place = dict(zip(_CORNERS, map(number, shape.coordinates), strict=True))
    else:
        name = "polygon"
        place = {"points": ";".join(f"{number(x)},{number(y)}" for x, y in shape.corners)}
    yield f"<{name}{attributes(**common, **place, z_order='0')}>\n"
    text = fit(job, shape.text)
    job.lost[BLANKS] += text != text.strip()
    if text:
        yield f'<attribute name="text">{content(text)}</attribute>\n'
    if job.side == "gt":
        yield f'<attribute name="ignore">{str(shape.dont_care).lower()}</attribute>\n'
    yield f"</{name}>\n"


WRITER = Writer("cvat", "CVAT for images: one XML file", _write, ".xml", _HOLDS)
