"""Any readable input as a file of another format; here is the registry of what can be written."""

from __future__ import annotations

from dataclasses import dataclass, replace

GT, DET, BOTH = ("gt",), ("det",), ("gt", "det")


@dataclass(frozen=True, slots=True)
class Writer:
    """A format that images can be written to, and what it holds."""

    function: str
    """``text.yolo`` is `yolo` in `write_text`: it yields the text of a file, or the document of
    each image."""
    files: str
    """The ending of its file, with the dot; after a star if there is one for each image."""
    texts: bool = True
    confidences: tuple[str, ...] = BOTH
    sizes: tuple[str, ...] = BOTH
    """`confidences` and `sizes`: the sides that have them."""
    regions: bool = False
    dont_care: bool = False
    """`regions` and `dont_care` are of ground truth only."""
    marks: tuple[str, ...] = ("###",)
    """Transcriptions that the reader takes for don't care, in a format that has it."""
    labels: bool = False
    polygons: bool = True
    """If not, they are written as their bounding boxes."""
    whole: bool = False
    """Whether coordinates are whole numbers from 0 up."""


_ICDAR = Writer("text.icdar2015", "*.txt", confidences=DET, sizes=(), dont_care=True)
WRITERS = {
    "evaltex": Writer(
        "text.evaltex", ".txt", confidences=(), sizes=GT, regions=True, dont_care=True, marks=()
    ),
    "icdar2015": _ICDAR,
    "icdar2013": replace(_ICDAR, function="text.icdar2013", polygons=False),
    "coco": Writer(
        "json.coco", ".json", confidences=DET, sizes=GT, dont_care=True, labels=True, marks=()
    ),
    "labelme": Writer("json.labelme", "*.json", dont_care=True),
    "paddleocr": Writer("json.paddleocr", ".txt", sizes=(), dont_care=True, marks=("###", "*")),
    "mmocr": Writer("json.mmocr", ".json", dont_care=True),
    "hiertext": Writer("json.hiertext", ".json", regions=True, dont_care=True, marks=()),
    "page": Writer("xml.page", "*.xml", regions=True, whole=True),
    "alto": Writer("xml.alto", "*.xml", regions=True),
    "hocr": Writer("xml.hocr", "*.hocr", regions=True, polygons=False, whole=True),
    "cvat": Writer("xml.cvat", ".xml", confidences=(), dont_care=True, labels=True),
    "label-studio": Writer("json.label_studio", ".json", dont_care=True, labels=True),
    "yolo": Writer("text.yolo", "*.txt", texts=False, sizes=(), labels=True),
    "csv": Writer("text.table", ".csv", dont_care=True),
}
FILE_PER_IMAGE = {name: one.files[1:] for name, one in WRITERS.items() if one.files.startswith("*")}
"""Formats with one file per image: the ending of the files in an archive or folder."""
BY_SUFFIX = {".txt": "evaltex", ".zip": "icdar2015", ".json": "coco", ".csv": "csv"}
"""Ending of the target -> the writer that it asks for."""
