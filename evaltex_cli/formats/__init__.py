"""Reading inputs: which formats there are, and one way to read any of them (`reading.read`).

A format is a line of `FORMATS`, and a function and a `base.Format` in its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from evaltex_cli.errors import InputError, nearest, quote
from evaltex_cli.formats.options import LEVELS

if TYPE_CHECKING:
    from evaltex_cli.formats.base import Format

FORMATS: dict[str, str] = {
    "hocr": "ocr_xml.HOCR",
    "icdar-xml": "icdar_xml.ICDAR_XML",
    "paddleocr-vl": "parsers.PADDLE_BLOCKS",
    "docling": "parsers.DOCLING",
    "mineru": "parsers.MINERU",
    "marker": "parsers.MARKER",
    "mistral-ocr": "parsers.MISTRAL",
    "omnidocbench": "parsers.OMNIDOCBENCH",
    "detections": "detectors.DETECTIONS",
    "roboflow": "detectors.ROBOFLOW",
    "funsd": "datasets.FUNSD",
    "xfund": "datasets.XFUND",
    "cord": "datasets.CORD",
    "pytesseract": "tesseract.PYTESSERACT",
    "mineru-content-list": "parsers.MINERU_CONTENT_LIST",
    "paddleocr": "engines.PADDLE",
    "paddleocr-json": "engines.PADDLE_JSON",
    "mmocr": "engines.MMOCR",
    "mmocr-result": "engines.MMOCR_RESULT",
    "easyocr": "engines.EASYOCR",
    "rapidocr": "engines.RAPIDOCR",
    "ocrmac": "engines.OCRMAC",
    "doctr": "engines.DOCTR",
    "surya": "engines.SURYA",
    "yomitoku": "engines.YOMITOKU",
    "label-studio": "label_studio.LABEL_STUDIO",
    "via": "tools.VIA",
    "darwin": "tools.DARWIN",
    "rects": "datasets.RECTS",
    "textract": "clouds.TEXTRACT",
    "rekognition": "clouds.REKOGNITION",
    "tencent-ocr": "clouds.TENCENT",
    "baidu-ocr": "clouds.BAIDU",
    "clova-ocr": "clouds.CLOVA",
    "upstage-ocr": "clouds.UPSTAGE",
    "google-vision": "clouds.GOOGLE_VISION",
    "document-ai": "clouds.DOCUMENT_AI",
    "azure": "clouds.AZURE",
    "art": "datasets.ART",
    "hiertext": "datasets.HIERTEXT",
    "coco": "coco.COCO",
    "coco-res": "coco.RESULTS",
    "textocr": "datasets.TEXTOCR",
    "coco-text": "datasets.COCO_TEXT",
    "coco-text-train": "datasets.COCO_TEXT_TRAIN",
    "labelme": "tools.LABELME",
    "page": "ocr_xml.PAGE",
    "alto": "ocr_xml.ALTO",
    "cvat": "tools.CVAT",
    "abbyy": "ocr_xml.ABBYY",
    "tesseract-tsv": "tesseract.TESSERACT_TSV",
    "voc": "tools.VOC",
    "ctw1500-xml": "icdar_xml.CTW1500_XML",
    "totaltext-mat": "matlab.TOTALTEXT_MAT",
    "msra-td500": "lines.MSRA_TD500",
    "table": "table.TABLE",
    "chat-boxes": "chat_boxes.CHAT_BOXES",
    "dota": "lines.DOTA",
    "yolo": "lines.YOLO",
    "ltrb": "lines.LTRB",
    "quad": "lines.QUAD",
    "polygon": "lines.POLYGON",
    "box-polygon": "lines.BOX_POLYGON",
    "mlt": "lines.MLT",
    "rctw": "lines.RCTW",
    "ctw1500": "lines.CTW1500",
    "ctw1500-offsets": "lines.CTW1500_OFFSETS",
    "popeval": "lines.POPEVAL",
    "totaltext": "lines.TOTALTEXT",
    "evaltex": "evaltex.EVALTEX",
}
"""Name -> module and attribute of its `Format`; the first that recognises a file reads it."""
MEMORY = "memory"
"""The format of arrays in Python, which no file has."""
_LEVELS = {"para": "paragraph", "chars": "character", "para-words": "paragraph-words"}
"""Other names of levels."""


def meant(name: str) -> str:
    """Return which format was probably meant, or which level of one, as messages go on."""
    for form in FORMATS:
        end = name.removeprefix(f"{form}-")
        if (level := _LEVELS.get(end, end)) in LEVELS:
            return f": it is {form} at --gt-level or --det-level {level}"
    return nearest(name, list(FORMATS))


def load(name: str) -> Format:
    """Return a format by name; raises `InputError` for one that is not in the registry."""
    if name not in FORMATS:
        raise InputError(f"unknown format {quote(name)}{meant(name)}; `evaltex formats` lists them")
    module, _, attribute = FORMATS[name].rpartition(".")
    form: Format = getattr(import_module(f"{__name__}.{module}"), attribute)
    return form
