"""AWS Textract: the JSON of ``DetectDocumentText`` and ``AnalyzeDocument``; words or lines.

``{"Blocks": [{"BlockType": "WORD", "Text", "Confidence", "Page", "Geometry": {"Polygon": [{"X",
"Y"}]}}]}``; the ``BoundingBox`` is taken if there is no ``Polygon``. Coordinates are fractions of
the page, whose size in pixels is not stated; confidences are in percent. Blocks of other types are
passed over. A document of several pages has one image for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.safe_json import Item, Record, WholeNumber
from evaltex_cli.old_formats.engines import clouds
from evaltex_cli.old_formats.engines.clouds import Page
from evaltex_cli.old_formats.parsed import CollectedObject


def _open(document: Item, level: str) -> list[Page]:
    pages: dict[int, list[Any]] = {}
    for k, item in enumerate(safe_json.items(safe_json.record(document), "Blocks")):
        with safe_json.under("Blocks", k):
            record = safe_json.record(item)
            number = safe_json.field(record, "Page", WholeNumber | None, 1)
            objects = pages.setdefault(number, [])
            if safe_json.take(safe_json.needed(record, "BlockType"), str, "BlockType") == level:
                objects.append((("Blocks", k), item))
    return [Page(objects) for _, objects in sorted(pages.items())]


def _object(record: Record, _: Page) -> tuple[CollectedObject, bool]:
    geometry = safe_json.records(record, "Geometry")
    text = safe_json.field(record, "Text", str | None, "")
    with safe_json.under("Geometry"):
        coordinates = _coordinates(geometry)
    return CollectedObject(coordinates, text, confidence=clouds.percent(record, "Confidence")), True


def _coordinates(geometry: Record) -> Any:
    vertices = clouds.vertices(geometry, "Polygon", ("X", "Y"))
    if vertices:
        return polygon(vertices, dont_care=False, where=("Polygon",))
    if "BoundingBox" not in geometry:
        raise FormatError("neither Polygon nor BoundingBox", "one of them")
    bounding_box = safe_json.records(geometry, "BoundingBox")
    with safe_json.under("BoundingBox"):
        return box(
            *(
                clouds.number(bounding_box, name, None)
                for name in ("Left", "Top", "Width", "Height")
            )
        )


def _recognises(path: Path) -> bool:
    document = document_files.json_value(path)
    if not safe_json.is_object(document) or "Blocks" not in document:
        return False
    blocks = safe_json.opened(document["Blocks"])
    return safe_json.is_list(blocks) and (not blocks or safe_json.has_key(blocks[0], "BlockType"))


_CORNERS = ((0.0125, 0.0625), (0.075, 0.0625), (0.075, 0.1875), (0.0125, 0.1875))
"""Of a box from (10, 10) to (60, 30) on a page of 800 x 160 pixels."""
_SHAPE = ", ".join(f'{{"X": {x}, "Y": {y}}}' for x, y in _CORNERS)
_SAMPLE = ", ".join(
    (
        f'{{"BlockType": "{kind}", "Text": "word", "Confidence": 99.5, "Geometry": {{"Polygon":'
        f" [{_SHAPE}]}}}}"
    )
    for kind in ("LINE", "WORD")
)


WORDS = Format(
    "textract",
    "AWS Textract, words",
    _recognises,
    clouds.index("textract", _open, _object, "WORD"),
    recognised_by="a JSON object with the key Blocks",
    layout='{"Blocks": [{"BlockType": "WORD", "Text", "Confidence", "Geometry": {"Polygon": [{"X",'
    ' "Y"}]}}]}',
    sample=f'{{"Blocks": [{{"BlockType": "PAGE"}}, {_SAMPLE}]}}',
    ending=".json",
    fractions=True,
)
LINES = WORDS.variant(
    "textract-line", "AWS Textract, lines", clouds.index("textract-line", _open, _object, "LINE")
)
