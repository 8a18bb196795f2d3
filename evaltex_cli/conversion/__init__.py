"""Any readable input as a file of another format; here is the registry of what can be written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from evaltex_cli.formats.base import Side

Sides: TypeAlias = "tuple[Side, ...]"
GT: Sides = ("gt",)
DET: Sides = ("det",)
BOTH: Sides = ("gt", "det")


@dataclass(frozen=True, slots=True)
class Holds:
    """What a format holds."""

    texts: bool = True
    confidences: Sides = BOTH
    sizes: Sides = BOTH
    ids: Sides = ()
    """`confidences`, `sizes` and `ids`: the sides that have them."""
    pictures: bool = False
    """Whether images are named by the files of their pictures, of which the reader makes names."""
    needs_sizes: bool = False
    """Whether an image of unknown size cannot be written; the size itself may be left out."""
    regions: bool = False
    dont_care: bool = False
    """`regions` and `dont_care` are of ground truth only."""
    labels: bool = False
    polygons: bool = True
    """If not, they are written as their bounding boxes."""
    boxes: bool = False
    """Whether a box is a box when it is read again, and not its four corners."""
    extents: bool = False
    """Whether a box has width and height instead of a second corner."""
    whole: bool = False
    """Whether coordinates are whole numbers from 0 up."""
    exact: bool = True
    """Whether coordinates and confidences are read again to the last bit."""
    marks: tuple[str, ...] = ()
    """Transcriptions that the reader takes for don't care."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A format that images can be written to."""

    function: str
    """Its module and name: it yields the text of a file, or the document of each image."""
    ending: str
    """Of its files, with the dot."""
    holds: Holds
    is_file_per_image: bool = False
    is_prefixed: bool = False
    """Whether files are always named ``gt_NAME`` or ``res_NAME``."""
    format: str | None = None
    """The reader's name, if the content does not decide."""


_ICDAR = Holds(confidences=DET, sizes=(), dont_care=True, marks=("###",))
WRITERS = {
    "evaltex": Writer(
        "write_text.evaltex",
        ".txt",
        Holds(
            confidences=(),
            sizes=GT,
            ids=BOTH,
            regions=True,
            dont_care=True,
            boxes=True,
            extents=True,
        ),
    ),
    "icdar2015": Writer(
        "write_text.icdar2015",
        ".txt",
        _ICDAR,
        is_file_per_image=True,
        is_prefixed=True,
        format="polygon",
    ),
    "icdar2013": Writer(
        "write_text.icdar2013",
        ".txt",
        replace(_ICDAR, polygons=False, boxes=True),
        is_file_per_image=True,
        is_prefixed=True,
        format="ltrb",
    ),
    "coco": Writer(
        "write_json.coco",
        ".json",
        Holds(
            confidences=DET, sizes=GT, ids=GT, dont_care=True, labels=True, boxes=True, extents=True
        ),
    ),
    "labelme": Writer(
        "write_json.labelme",
        ".json",
        Holds(pictures=True, dont_care=True, boxes=True, marks=("###",)),
        is_file_per_image=True,
    ),
    "paddleocr": Writer(
        "write_json.paddleocr",
        ".txt",
        Holds(sizes=(), pictures=True, dont_care=True, marks=("###", "*")),
    ),
    "mmocr": Writer(
        "write_json.mmocr", ".json", Holds(pictures=True, dont_care=True, marks=("###",))
    ),
    "hiertext": Writer(
        "write_json.hiertext", ".json", Holds(pictures=True, regions=True, dont_care=True)
    ),
    "page": Writer(
        "write_xml.page",
        ".xml",
        Holds(pictures=True, regions=True, whole=True),
        is_file_per_image=True,
    ),
    "alto": Writer(
        "write_xml.alto",
        ".xml",
        Holds(pictures=True, regions=True, boxes=True, extents=True),
        is_file_per_image=True,
    ),
    "hocr": Writer(
        "write_xml.hocr",
        ".hocr",
        Holds(pictures=True, regions=True, polygons=False, boxes=True, whole=True, exact=False),
        is_file_per_image=True,
    ),
    "cvat": Writer(
        "write_xml.cvat",
        ".xml",
        Holds(
            confidences=(), pictures=True, dont_care=True, labels=True, boxes=True, marks=("###",)
        ),
    ),
    "label-studio": Writer(
        "write_json.label_studio",
        ".json",
        Holds(pictures=True, dont_care=True, labels=True, boxes=True, exact=False, marks=("###",)),
    ),
    "yolo": Writer(
        "write_text.yolo",
        ".txt",
        Holds(texts=False, sizes=(), needs_sizes=True, labels=True, exact=False),
        is_file_per_image=True,
        format="yolo",
    ),
    "csv": Writer("write_text.table", ".csv", Holds(dont_care=True, marks=("###",))),
}
FILE_PER_IMAGE = {name: one.ending for name, one in WRITERS.items() if one.is_file_per_image}
"""Formats with one file per image: the ending of the files in an archive or folder."""
BY_SUFFIX = {".txt": "evaltex", ".zip": "icdar2015", ".json": "coco", ".csv": "csv"}
"""Ending of the target -> the writer that it asks for."""


def is_folder(target: Path, to: str | None) -> bool:
    """Whether a target is a folder of files, one per image: one that exists,
    or a name that ends like no file.
    """
    if to is not None and to not in FILE_PER_IMAGE:
        return False
    endings = BY_SUFFIX if to is None else (".zip", FILE_PER_IMAGE[to])
    return target.is_dir() or not (target.exists() or target.suffix.lower() in endings)


@dataclass(frozen=True, slots=True)
class Target:
    """How a conversion writes."""

    to: str | None = None
    """A name in `WRITERS`; None where the target's ending decides."""
    regions: Literal["own", "lines"] = "own"
    """``lines`` groups aligned words of similar height into regions (paper, section 3.1); with
    ``own`` regions stay as they are, which is the object's own ID if the source has none."""
    boxes: bool = False
    """Whether polygons are written as their bounding boxes."""
    masks: Path | None = None
    """Folder for label pictures of the objects, 16 bits per pixel; later objects cover earlier
    ones."""
    mask_format: Literal["tif", "png"] = "tif"
