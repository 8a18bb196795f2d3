"""Any readable input as a file of another format; here is the registry of what can be written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

WRITERS = {
    "evaltex": "write_text.EVALTEX",
    "icdar2015": "write_text.ICDAR2015",
    "icdar2013": "write_text.ICDAR2013",
    "coco": "write_json.COCO",
    "labelme": "write_json.LABELME",
    "paddleocr": "write_json.PADDLEOCR",
    "mmocr": "write_json.MMOCR",
    "hiertext": "write_json.HIERTEXT",
    "page": "write_xml.PAGE",
    "alto": "write_xml.ALTO",
    "hocr": "write_xml.HOCR",
    "cvat": "write_xml.CVAT",
    "label-studio": "write_json.LABEL_STUDIO",
    "yolo": "write_text.YOLO",
    "csv": "write_text.CSV",
}
"""Name -> module and attribute of its `writer.Writer`."""

FILE_PER_IMAGE = {
    "icdar2015": ".txt",
    "icdar2013": ".txt",
    "labelme": ".json",
    "page": ".xml",
    "alto": ".xml",
    "hocr": ".hocr",
    "yolo": ".txt",
}
"""Writers with one file per image: the ending of the files in an archive or folder."""

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
    patch: Path | None = None
    """File of which the accepted entries are applied; the source is then ground truth."""
