"""One small data set, written by hand in every format, ground truth and detections.

Image 1 has the words of `WORDS`, the last of them don't care where the format has that, image 2 has
one. The detections are `FOUND`: the first word, one on the don't-care word, and one in each image
where nothing is.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Box = tuple[int, int, int, int]
WORDS: list[list[tuple[Box, str]]] = [
    [((10, 10, 60, 30), "one"), ((70, 10, 120, 30), "two, 2"), ((10, 50, 60, 70), "###")],
    [((20, 20, 100, 40), "three")],
]
FOUND: list[list[tuple[Box, float]]] = [
    [((10, 10, 60, 30), 0.9), ((200, 200, 260, 220), 0.25), ((10, 50, 60, 70), 0.5)],
    [((200, 100, 240, 120), 0.75)],
]
SIZES = [(640, 480), (320, 240)]


@dataclass(frozen=True)
class Sample:
    """Files of both sides; none where the data set has no form for that side.

    `has_dont_care` is whether the ground truth can say that an object is.
    """

    gt: Mapping[str, str | bytes]
    det: Mapping[str, str | bytes] = field(default_factory=dict)
    gt_format: str | None = None
    det_format: str | None = None
    has_dont_care: bool = True
    has_confidences: bool = False
    many_in_one: bool = False

    def format(self, side: str) -> str | None:
        return self.gt_format if side == "gt" else self.det_format

    def files(self, side: str) -> Mapping[str, str | bytes]:
        return self.gt if side == "gt" else self.det


def in_folder(path: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def in_archive(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def written(path: Path, sample: Sample, side: str) -> Path:
    """Write a side as its data set has it: one file of all images, else a folder."""
    files = sample.files(side)
    if sample.many_in_one:
        ((name, content),) = files.items()
        path.mkdir(parents=True, exist_ok=True)
        return in_folder(path, {name: content}) / name
    return in_folder(path, files)


def corners(box: Box) -> list[list[int]]:
    x0, y0, x1, y1 = box
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def curve(box: Box) -> list[list[int]]:
    """Fourteen vertices, seven above and seven below, as CTW1500 has them."""
    x0, y0, x1, y1 = box
    xs = [*range(x0, x0 + 6), x1]
    return [*([x, y0] for x in xs), *([x, y1] for x in reversed(xs))]


def flat(vertices: list[list[int]]) -> list[int]:
    return [value for point in vertices for value in point]


def comma(values: list[int]) -> str:
    return ",".join(map(str, values))


def quad(box: Box) -> str:
    return comma(flat(corners(box)))


def bent(box: Box) -> str:
    return comma(flat(curve(box)))


def ltrb(box: Box) -> str:
    return comma(list(box))


def confident(shape: Any) -> Any:
    """What makes a detection's line: its shape, then its confidence."""
    return lambda box, confidence: f"{shape(box)},{confidence}"


def lines(name: str, gt: Any, det: Any) -> dict[str, dict[str, str]]:
    """Files of one line an object, made by ``gt(box, text)`` and ``det(box, confidence)``."""
    return {
        "gt": {
            f"gt_{name.format(k)}": "".join(f"{gt(box, text)}\n" for box, text in words)
            for k, words in enumerate(WORDS, 1)
        },
        "det": {
            f"res_{name.format(k)}": "".join(
                f"{det(box, confidence)}\n" for box, confidence in found
            )
            for k, found in enumerate(FOUND, 1)
        },
    }


def cared(words: list[tuple[Box, str]]) -> list[tuple[Box, str]]:
    return [(box, text) for box, text in words if text != "###"]


def json_of(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


EVALTEX_GT = """1
480,640
1,1,"one",f,10,10,50,20
2,1,"two, 2",f,70,10,50,20
3,3,"###",t,10,50,50,20

2
240,320
1,1,"three",f,20,20,80,20
"""
EVALTEX_DET = """1
1,"",10,10,50,20
2,"",200,200,60,20
3,"",10,50,50,20

2
1,"",200,100,40,20
"""
ICDAR_XML = """<?xml version="1.0" encoding="UTF-8"?>
<tagset>
  <image>
    <imageName>1</imageName>
    <resolution x="640" y="480"/>
    <taggedRectangles>
      <taggedRectangle x="10" y="10" width="51" height="21"><tag>one</tag></taggedRectangle>
      <taggedRectangle x="70" y="10" width="51" height="21"><tag>two, 2</tag></taggedRectangle>
    </taggedRectangles>
  </image>
  <image>
    <imageName>2</imageName>
    <resolution x="320" y="240"/>
    <taggedRectangles>
      <taggedRectangle x="20" y="20" width="81" height="21"><tag>three</tag></taggedRectangle>
    </taggedRectangles>
  </image>
</tagset>
"""
ICDAR_XML_DET = """<tagset>
  <image><imageName>1</imageName><taggedRectangles>
    <taggedRectangle x="10" y="10" width="51" height="21"/>
    <taggedRectangle x="200" y="200" width="61" height="21"/>
    <taggedRectangle x="10" y="50" width="51" height="21"/>
  </taggedRectangles></image>
  <image><imageName>2</imageName><taggedRectangles>
    <taggedRectangle x="200" y="100" width="41" height="21"/>
  </taggedRectangles></image>
</tagset>
"""


def page(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """PAGE-XML of one word a line."""
    width, height = size
    made = "".join(
        f"""    <TextLine id="l{k}"><Coords points="{points}"/>
      <Word id="w{k}"><Coords points="{points}"{f' conf="{confidence}"' if confidence else ""}/>
        <TextEquiv><Unicode>{text}</Unicode></TextEquiv></Word>
      <TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>
"""
        for k, (box, text, confidence) in enumerate(objects, 1)
        for points in [" ".join(comma(point) for point in corners(box))]
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Page imageFilename="x.tif" imageWidth="{width}" imageHeight="{height}"><TextRegion id="r">
    <Coords points="0,0 {width},0 {width},{height} 0,{height}"/>
{made}  </TextRegion></Page>
</PcGts>
"""


def alto(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """ALTO of one word a line, in pixels."""
    width, height = size
    made = "".join(
        f"""    <TextLine HPOS="{x0}" VPOS="{y0}" WIDTH="{x1 - x0}" HEIGHT="{y1 - y0}">
      <String HPOS="{x0}" VPOS="{y0}" WIDTH="{x1 - x0}" HEIGHT="{y1 - y0}" CONTENT="{text}"{wc}/></TextLine>
"""
        for (x0, y0, x1, y1), text, confidence in objects
        for wc in [f' WC="{confidence}"' if confidence else ""]
    )
    return f"""<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#">
  <Description><MeasurementUnit>pixel</MeasurementUnit></Description>
  <Layout><Page WIDTH="{width}" HEIGHT="{height}"><PrintSpace><TextBlock>
{made}  </TextBlock></PrintSpace></Page></Layout>
</alto>
"""


def alto_mm(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """The same in 1/10 mm, scanned at 254 dpi, where that is a pixel."""
    step = (
        "<OCRProcessing><ocrProcessingStep><processingStepSettings>254 dpi</processingStepSettings>"
    )
    unit = f"<MeasurementUnit>mm10</MeasurementUnit>{step}</ocrProcessingStep></OCRProcessing>"
    return alto(size, objects).replace("<MeasurementUnit>pixel</MeasurementUnit>", unit)


def hocr(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """HOCR of one word a line, with a document type and an entity that HTML has."""
    made = "".join(
        f"""  <span class="ocr_line" title="bbox {bbox}">
   <span class='ocrx_word' title='bbox {bbox}{wconf}'>{text}</span></span>
"""
        for box, text, confidence in objects
        for bbox, wconf in [
            (" ".join(map(str, box)), f"; x_wconf {100 * confidence:g}" if confidence else "")
        ]
    )
    return f"""<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "xhtml1-transitional.dtd">
<html><head><title>A &amp; B</title><meta charset="utf-8"></head><body>
 <div class="ocr_page" title='image "1.png"; bbox 0 0 {size[0]} {size[1]}'>
{made} </div></body></html>
"""


def tesseract_tsv(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Tesseract's table of one word a line, and a word without text, which it has for a rule."""
    columns = ["level", *(f"{unit}_num" for unit in ("page", "block", "par", "line", "word"))]
    columns += ["left", "top", "width", "height", "conf", "text"]
    rows = [
        columns,
        [*"110000", "0", "0", *map(str, size), "-1", ""],
        [*"511991", *"0099", "95", " "],
    ]
    for k, ((x0, y0, x1, y1), text, confidence) in enumerate(objects, 1):
        box = [f"{value}" for value in (x0, y0, x1 - x0, y1 - y0)]
        rows.append([*"4111", str(k), "0", *box, "-1", ""])
        rows.append(
            [*"5111", str(k), "1", *box, f"{100 * confidence:g}" if confidence else "-1", text]
        )
    return "".join("\t".join(row) + "\n" for row in rows)


def abbyy(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Lines of FineReader's XML, whose words are divided by blanks."""
    lines = []
    for (x0, y0, x1, y1), text, _ in objects:
        xs = np.linspace(x0, x1, len(text) + 1).tolist()
        characters = "".join(
            (
                f'<charParams l="{left}" t="{y0}" r="{right}" b="{y1}"'
                f' charConfidence="90">{c}</charParams>'
            )
            for c, left, right in zip(text, xs, xs[1:], strict=False)
        )
        lines.append(
            f'<line l="{x0}" t="{y0}" r="{x1}"'
            f' b="{y1}"><formatting>{characters}</formatting></line>\n'
        )
    return (
        '<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml">'
        f'<page width="{size[0]}" height="{size[1]}" resolution="300"><block'
        ' blockType="Text"><text><par>\n'
        f"{''.join(lines)}</par></text></block></page></document>\n"
    )


def xy(box: Box, x: str = "x", y: str = "y") -> list[dict[str, float]]:
    return [{x: vertex[0], y: vertex[1]} for vertex in corners(box)]


def textract(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Fractions of the page, each word a line."""
    blocks: list[dict[str, Any]] = [{"BlockType": "PAGE", "Geometry": {}}]
    for kind in ("LINE", "WORD"):
        for box, text, confidence in objects:
            shape = [
                {"X": vertex[0] / size[0], "Y": vertex[1] / size[1]} for vertex in corners(box)
            ]
            more = {} if confidence is None else {"Confidence": 100 * confidence}
            blocks.append({"BlockType": kind, "Text": text, "Geometry": {"Polygon": shape}, **more})
    return json_of({"Blocks": blocks})


def google_vision(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Every word a paragraph, each character a symbol."""
    words = [
        {
            "boundingBox": {"vertices": xy(box)},
            "symbols": [{"text": c} for c in text],
            "confidence": confidence,
        }
        for box, text, confidence in objects
    ]
    page = {
        "width": size[0],
        "height": size[1],
        "blocks": [{"paragraphs": [{"words": [word]}]} for word in words],
    }
    return json_of({"responses": [{"fullTextAnnotation": {"pages": [page]}}]})


def document_ai(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Every word a line."""
    text, items = "", []
    for box, word, confidence in objects:
        anchor = {
            "textSegments": [
                {"startIndex": str(len(text)), "endIndex": str(len(text) + len(word) + 1)}
            ]
        }
        layout = {
            "textAnchor": anchor,
            "confidence": confidence,
            "boundingPoly": {"vertices": xy(box)},
        }
        items.append({"layout": layout})
        text += f"{word}\n"
    page = {
        "dimension": dict(zip(("width", "height"), size, strict=True)),
        "tokens": items,
        "lines": items,
    }
    return json_of({"text": text, "pages": [page]})


def chat_boxes(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Fractions of the page, as the key and the numbers say."""
    items: list[dict[str, Any]] = []
    for (x0, y0, x1, y1), text, confidence in objects:
        bbox = [x0 / size[0], y0 / size[1], x1 / size[0], y1 / size[1]]
        items.append({"bbox_2d": bbox, "text_content": text, "score": confidence})
    return json_of(items)


def azure(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """Document Intelligence, every word a line."""
    items = [
        {"polygon": flat(corners(box)), "content": text, "confidence": confidence}
        for box, text, confidence in objects
    ]
    page = {
        "pageNumber": 1,
        "width": size[0],
        "height": size[1],
        "unit": "pixel",
        "words": items,
        "lines": items,
    }
    return json_of({"status": "succeeded", "analyzeResult": {"pages": [page]}})


def azure_read(size: tuple[int, int], objects: list[tuple[Box, str, float | None]]) -> str:
    """The Read API, in inches on a page of 64 dots per inch: fractions of the page."""
    items = [
        {
            "boundingBox": [value / 64 for value in flat(corners(box))],
            "text": text,
            "confidence": confidence,
        }
        for box, text, confidence in objects
    ]
    lines = [{**item, "words": [item]} for item in items]
    page = {
        "page": 1,
        "width": size[0] / 64,
        "height": size[1] / 64,
        "unit": "inch",
        "lines": lines,
    }
    return json_of({"analyzeResult": {"readResults": [page]}})


def voc(size: tuple[int, int], objects: list[tuple[Box, bool]]) -> str:
    width, height = size
    made = "".join(
        f"""  <object><name>text</name><difficult>{int(difficult)}</difficult>
    <bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>
"""
        for (x0, y0, x1, y1), difficult in objects
    )
    return f"""<annotation>
  <size><width>{width}</width><height>{height}</height><depth>3</depth></size>
{made}</annotation>
"""


def ctw1500_xml(objects: list[tuple[Box, str]]) -> str:
    made = "".join(
        f"""  <box height="{y1 - y0}" left="{x0}" top="{y0}" width="{x1 - x0}"><label>{text}</label>
   <segs>{comma(flat(curve((x0, y0, x1, y1))))}</segs></box>
"""
        for (x0, y0, x1, y1), text in objects
    )
    return f"<Annotations>\n <image>\n{made} </image>\n</Annotations>\n"


def labelme(size: tuple[int, int], shapes: list[dict[str, Any]]) -> str:
    width, height = size
    return json_of(
        {"version": "5.4.1", "shapes": shapes, "imageHeight": height, "imageWidth": width}
    )


def each(name: str, made: Any) -> dict[str, str]:
    """A file an image, made by ``made(k)`` for k = 0, 1."""
    return {name.format(k + 1): made(k) for k in range(len(WORDS))}


def words_of(k: int) -> list[tuple[Box, str, float | None]]:
    return [(box, text, None) for box, text in cared(WORDS[k])]


def found_of(k: int) -> list[tuple[Box, str, float | None]]:
    return [(box, "x", confidence) for box, confidence in FOUND[k]]


def hiertext(words: list[list[dict[str, Any]]], sizes: bool) -> str:
    """Every word a line and a paragraph of its own."""
    images = []
    for k, here in enumerate(words):
        record: dict[str, Any] = {"image_id": str(k + 1)}
        if sizes:
            record |= {"image_width": SIZES[k][0], "image_height": SIZES[k][1]}
        record["paragraphs"] = [word | {"lines": [word | {"words": [word]}]} for word in here]
        images.append(record)
    return json_of({"info": {}, "annotations": images})


def coco_words() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for k, words in enumerate(WORDS, 1):
        for (x0, y0, x1, y1), text in words:
            record = {
                "id": len(records) + 1,
                "image_id": k,
                "category_id": 1,
                "bbox": [x0, y0, x1 - x0, y1 - y0],
            }
            records.append(record | {"iscrowd": int(text == "###"), "utf8_string": text})
    return records


COCO = {
    "images": [
        {"id": k, "file_name": f"train/{k}.jpg", "width": width, "height": height}
        for k, (width, height) in enumerate(SIZES, 1)
    ],
    "annotations": coco_words(),
    "categories": [{"id": 1, "name": "text"}],
}
COCO_RESULTS = [
    {"image_id": k, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0], "score": confidence}
    for k, found in enumerate(FOUND, 1)
    for (x0, y0, x1, y1), confidence in found
]


def anns(shape: Any) -> dict[str, Any]:
    """COCO-Text's and TextOCR's annotations."""
    made: dict[str, Any] = {}
    for k, words in enumerate(WORDS, 1):
        for box, text in words:
            key = str(len(made) + 1)
            made[key] = {"id": key, "image_id": str(k), **shape(box, text)}
    return made


IMGS = {
    str(k): {"id": k, "width": w, "height": h, "set": "val"} for k, (w, h) in enumerate(SIZES, 1)
}
ART = {
    f"gt_{k}": [
        {
            "points": corners(box),
            "transcription": text,
            "language": "Latin",
            "illegibility": text == "###",
        }
        for box, text in words
    ]
    for k, words in enumerate(WORDS, 1)
}
ART_RESULTS = {
    f"res_{k}": [{"points": corners(box), "confidence": confidence} for box, confidence in found]
    for k, found in enumerate(FOUND, 1)
}


def coloured(k: int, boxes: list[Box], dont_care: list[bool]) -> str:
    """ICDAR 2013 segmentation: each word of two characters, its halves."""
    made = []
    for number, ((x0, y0, x1, y1), rejected) in enumerate(zip(boxes, dont_care, strict=True)):
        middle = (x0 + x1) // 2
        for half, (a, b) in enumerate([(x0, middle), (middle, x1)]):
            centre = f"{(a + b) // 2} {(y0 + y1) // 2}"
            made.append(
                f"{'#' * rejected}{10 * number + half} {k} 9 {centre} {a} {y0} {b} {y1}"
                f' "{"ab"[half]}"'
            )
        made.append("")
    return "\n".join(made)


def bitmap(k: int) -> bytes:
    """The picture next to it, in which no character is drawn: boxes are those of the .txt."""
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", SIZES[k], "white").save(buffer, "BMP")
    return buffer.getvalue()


def seg(boxes: list[list[Box]], dont_care: list[list[bool]]) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for k, (here, rejected) in enumerate(zip(boxes, dont_care, strict=True)):
        files |= {f"{k + 1}_GT.txt": coloured(k, here, rejected), f"{k + 1}_GT.bmp": bitmap(k)}
    return files


def total_text(box: Box, text: str) -> str:
    """A record as the data set wraps it."""
    xs, ys = ([str(point[axis]) for point in corners(box)] for axis in (0, 1))
    orientation = "#" if text == "###" else "c"
    return (
        f"x: [[{' '.join(xs[:2])}\n {' '.join(xs[2:])}]], y: [[{' '.join(ys)}]],"
        f" ornt: [u'{orientation}'], transcriptions: [u'{'#' if text == '###' else text}']"
    )


def mat(variable: str, rows: list[list[Any]]) -> bytes:
    """A MATLAB 5 file of one cell array; scipy writes it."""
    import io

    from scipy.io import savemat

    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    for k, row in enumerate(rows):
        for j, value in enumerate(row):
            cells[k, j] = value
    buffer = io.BytesIO()
    savemat(buffer, {variable: cells})
    return buffer.getvalue()


def mat_word(box: Box, text: str) -> list[Any]:
    xs, ys = (np.array([[point[axis] for point in corners(box)]], np.int16) for axis in (0, 1))
    return ["x:", xs, "y:", ys, "#" if text == "###" else text, "#" if text == "###" else "c"]


def total_text_mat() -> Sample:
    """Needs scipy."""
    return Sample(
        {
            f"poly_gt_{k}.mat": mat("polygt", [mat_word(*word) for word in words])
            for k, words in enumerate(WORDS, 1)
        },
        {
            f"{k}.mat": mat("accuInf", [[np.array(corners(box), float)] for box, _ in found])
            for k, found in enumerate(FOUND, 1)
        },
    )


def blanks(numbers: str) -> str:
    return numbers.replace(",", " ")


def xywh(box: Box) -> str:
    x0, y0, x1, y1 = box
    return f"{x0} {y0} {x1 - x0} {y1 - y0}"


def table(last: str, images: Any) -> str:
    rows = [f'{k},{ltrb(box)},"{value}"' for k, here in enumerate(images, 1) for box, value in here]
    return "\n".join([f"image,left,top,right,bottom,{last}", *rows, ""])


def msra(box: Box, text: str) -> str:
    x0, y0, x1, y1 = box
    return f"0 {int(text == '###')} {x0} {y0} {x1 - x0} {y1 - y0} 0.000000"


OCR: dict[str, tuple[str, Any]] = {
    "hocr": (".hocr", hocr),
    "tesseract-tsv": (".tsv", tesseract_tsv),
    "textract": (".json", textract),
    "google-vision": (".json", google_vision),
    "document-ai": (".json", document_ai),
    "azure": (".json", azure),
    "chat-boxes": (".json", chat_boxes),
    "azure-read": (".json", azure_read),
}
"""Engines that write a file for each image: its ending, and what makes it of a size and objects."""
WITH_LINES = ("hocr", "tesseract-tsv", "textract", "document-ai", "azure")


def _samples() -> dict[str, Sample]:
    made = {
        "evaltex": Sample({"gt.txt": EVALTEX_GT}, {"det.txt": EVALTEX_DET}, many_in_one=True),
        "icdar2003-xml": Sample(
            {"gt.xml": ICDAR_XML}, {"det.xml": ICDAR_XML_DET}, has_dont_care=False, many_in_one=True
        ),
        "icdar2013-train": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{ltrb(box).replace(",", " ")} "{text}"',
                confident(ltrb),
            ),
            has_confidences=True,
        ),
        "icdar2013-test": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{ltrb(box).replace(",", ", ")}, "{text}"',
                lambda box, _: ltrb(box),
            )
        ),
        "icdar2013-seg": Sample(
            seg(
                [[box for box, _ in words] for words in WORDS],
                [[t == "###" for _, t in words] for words in WORDS],
            ),
            seg(
                [[box for box, _ in found] for found in FOUND],
                [[False] * len(found) for found in FOUND],
            ),
        ),
        "icdar2015": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"\ufeff{quad(box)},{text}\r",
                lambda box, confidence: f"{quad(box)},{confidence},x",
            ),
            has_confidences=True,
        ),
        "mlt": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{quad(box)},Latin,{text}",
                confident(quad),
            ),
            has_confidences=True,
        ),
        "rctw": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{quad(box)},{int(text == "###")},"{text}"',
                confident(quad),
            ),
            has_confidences=True,
        ),
        "totaltext-brackets": Sample(
            **lines("{}.txt", total_text, lambda box, _: total_text(box, "x"))
        ),
        "totaltext-commas": Sample(
            **lines("{}.txt", lambda box, text: f"{bent(box)},{text}", lambda box, _: bent(box)),
        ),
        "ctw1500": Sample(
            **lines(
                "{}.txt", lambda box, text: f"{bent(box)},####{text}", lambda box, _: bent(box)
            ),
        ),
        "ctw1500-xml": Sample(
            each("{}.xml", lambda k: ctw1500_xml(WORDS[k])),
            each("{}.xml", lambda k: ctw1500_xml([(box, "x") for box, _ in FOUND[k]])),
        ),
        "voc": Sample(
            each(
                "{}.xml", lambda k: voc(SIZES[k], [(box, text == "###") for box, text in WORDS[k]])
            ),
            each("{}.xml", lambda k: voc(SIZES[k], [(box, False) for box, _ in FOUND[k]])),
        ),
        "msra-td500": Sample(
            {
                f"{k}.gt": "".join(f"{msra(*word)}\n" for word in words)
                for k, words in enumerate(WORDS, 1)
            },
            {
                f"{k}.txt": "".join(f"{ltrb(box)},0\r\n" for box, _ in found)
                for k, found in enumerate(FOUND, 1)
            },
            det_format="msra-td500",
        ),
        "msra-td500-five": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{ltrb(box)},0.0,{text}",
                lambda box, _: f"{ltrb(box)},0.0,None",
            ),
            gt_format="msra-td500",
            det_format="msra-td500",
        ),
        "dota": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{blanks(quad(box))} word {int(text == '###')}",
                confident(quad),
            ),
            has_confidences=True,
        ),
        "class-xywh": Sample(
            **lines(
                "{}.txt",
                lambda box, text: "" if text == "###" else f"word {xywh(box)}",
                lambda box, confidence: f"1 {confidence} {xywh(box)}",
            ),
            gt_format="class-xywh",
            det_format="class-xywh",
            has_dont_care=False,
            has_confidences=True,
        ),
        "class-ltrb": Sample(
            **lines(
                "{}.txt",
                lambda box, text: "" if text == "###" else f"word {blanks(ltrb(box))}",
                lambda box, confidence: f"1 {confidence} {blanks(ltrb(box))}",
            ),
            gt_format="class-ltrb",
            det_format="class-ltrb",
            has_dont_care=False,
            has_confidences=True,
        ),
        "box-polygon": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{ltrb(box) if text == '###' else quad(box)},{text}",
                lambda box, _: ltrb(box),
            ),
            gt_format="box-polygon",
        ),
        "table": Sample(
            {"gt.csv": table("text", WORDS)},
            {"det.csv": table("score", FOUND)},
            has_confidences=True,
            many_in_one=True,
        ),
        "popeval": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{quad(box).replace(',', ' ')}##::{text}",
                lambda box, _: f"{quad(box).replace(',', ' ')}##::x",
            )
        ),
        "art": Sample(
            {"gt.json": json_of(ART)},
            {"det.json": json_of(ART_RESULTS)},
            has_confidences=True,
            many_in_one=True,
        ),
        "coco": Sample(
            {"gt.json": json_of(COCO)},
            {"det.json": json_of(COCO_RESULTS)},
            has_confidences=True,
            many_in_one=True,
        ),
        "coco-file": Sample({"gt.json": json_of(COCO)}, gt_format="coco-file", many_in_one=True),
        "coco-text": Sample(
            {
                "gt.json": json_of(
                    {
                        "imgs": IMGS,
                        "anns": anns(
                            lambda box, text: {
                                "mask": flat(corners(box)),
                                "legibility": "illegible" if text == "###" else "legible",
                                "utf8_string": text,
                            }
                        ),
                    }
                )
            },
            many_in_one=True,
        ),
        "textocr": Sample(
            {
                "gt.json": json_of(
                    {
                        "imgs": IMGS,
                        "anns": anns(
                            lambda box, text: {
                                "points": flat(corners(box)),
                                "utf8_string": "." if text == "###" else text,
                            }
                        ),
                    }
                )
            },
            many_in_one=True,
        ),
        "labelme": Sample(
            each(
                "{}.json",
                lambda k: labelme(
                    SIZES[k], [{"label": t, "points": corners(b)} for b, t in WORDS[k]]
                ),
            ),
            each(
                "{}.json",
                lambda k: labelme(
                    SIZES[k],
                    [
                        {
                            "label": "x",
                            "points": [b[:2], b[2:]],
                            "shape_type": "rectangle",
                            "score": c,
                        }
                        for b, c in FOUND[k]
                    ],
                ),
            ),
            has_confidences=True,
        ),
    }
    for level in (
        "hiertext",
        "hiertext-line",
        "hiertext-para",
        "hiertext-line-words",
        "hiertext-para-words",
    ):
        gt = [
            [{"vertices": corners(b), "text": t, "legible": t != "###"} for b, t in words]
            for words in WORDS
        ]
        det = [
            [{"vertices": corners(b), "text": "x", "confidence": c} for b, c in found]
            for found in FOUND
        ]
        by_name = None if level == "hiertext" else level
        made[level] = Sample(
            {"gt.jsonl": hiertext(gt, True)},
            {"det.jsonl": hiertext(det, False)},
            by_name,
            by_name,
            has_confidences=True,
            many_in_one=True,
        )
    for name, (ending, form) in OCR.items():
        for level in ("", "-line") if name in WITH_LINES else ("",):
            by_name = f"{name}-line" if level else None
            made[name + level] = Sample(
                each(f"{{}}{ending}", lambda k, form=form: form(SIZES[k], words_of(k))),
                each(f"{{}}{ending}", lambda k, form=form: form(SIZES[k], found_of(k))),
                by_name,
                by_name,
                has_dont_care=False,
                has_confidences=not level or name in ("textract", "document-ai", "azure"),
            )
    made["abbyy-line"] = Sample(
        each("{}.xml", lambda k: abbyy(SIZES[k], words_of(k))),
        each("{}.xml", lambda k: abbyy(SIZES[k], found_of(k))),
        "abbyy-line",
        "abbyy-line",
        has_dont_care=False,
    )
    for name, form in {
        "page": page,
        "page-line": page,
        "alto": alto,
        "alto-line": alto,
        "alto-mm10": alto_mm,
    }.items():
        by_name = name if name.endswith("-line") else None
        made[name] = Sample(
            each("{}.xml", lambda k, form=form: form(SIZES[k], words_of(k))),
            each("{}.xml", lambda k, form=form: form(SIZES[k], found_of(k))),
            by_name,
            by_name,
            has_dont_care=False,
            has_confidences=name in ("page", "alto", "alto-mm10"),
        )
    return made


def _reading(box: Box, text: str, score: float | None) -> dict[str, Any]:
    return {"points": corners(box), "transcription": text, "score": score}


def _columns(readings: list[dict[str, Any]], shapes: str, texts: str, scores: str) -> str:
    columns = {shapes: "points", texts: "transcription", scores: "score"}
    return json_of({name: [one[key] for one in readings] for name, key in columns.items()})


def _by_line(of_image: Any) -> str:
    return "".join(f"{of_image(k)}\n" for k in range(len(WORDS)))


def _doctr(k: int, words: list[tuple[Box, str, float | None]]) -> str:
    width, height = SIZES[k]

    def word(box: Box, text: str, score: float | None) -> dict[str, Any]:
        x0, y0, x1, y1 = box
        geometry = [[x0 / width, y0 / height], [x1 / width, y1 / height]]
        return {"value": text, "confidence": score, "geometry": geometry}

    found = [word(*one) for one in words]
    lines = [{"geometry": one["geometry"], "words": [one]} for one in found]
    return json_of(
        {"pages": [{"page_idx": 0, "dimensions": [height, width], "blocks": [{"lines": lines}]}]}
    )


def _surya(of_image: Any) -> str:
    pages = {}
    for k, (width, height) in enumerate(SIZES):
        lines = [
            {"polygon": corners(b), "bbox": b, "text": t, "confidence": c}
            for b, t, c in of_image(k)
        ]
        words = [line | {"words": [line]} for line in lines]
        pages[str(k + 1)] = [{"text_lines": words, "image_bbox": [0, 0, width, height], "page": 1}]
    return json_of(pages)


def _mmocr(k: int, objects: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    width, height = SIZES[k]
    return {name: f"imgs/{k + 1}.jpg", "height": height, "width": width, key: objects}


def _engine_samples() -> dict[str, Sample]:
    """What engines write has no don't care, but for the formats that are ground truth too."""

    def words(k: int) -> list[dict[str, Any]]:
        return [_reading(b, t, None) for b, t, _ in words_of(k)]

    def found(k: int) -> list[dict[str, Any]]:
        return [_reading(b, "x", c) for b, c in FOUND[k]]

    def label(k: int) -> str:
        objects = [
            {"transcription": t, "points": corners(b), "difficult": t == "###"} for b, t in WORDS[k]
        ]
        return f"imgs/{k + 1}.jpg\t{json.dumps(objects)}"

    def instances(k: int) -> list[dict[str, Any]]:
        return [
            {"polygon": [v for xy in corners(b) for v in xy], "text": t, "ignore": t == "###"}
            for b, t in WORDS[k]
        ]

    def found_instances(k: int) -> list[dict[str, Any]]:
        return [
            {
                "polygon": [v for xy in corners(b) for v in xy],
                "text": "x",
                "ignore": False,
                "score": c,
            }
            for b, c in FOUND[k]
        ]

    def annotations(k: int, boxes: list[tuple[Box, int]]) -> str:
        made = [
            {"iscrowd": crowd, "segmentation": [[v for xy in corners(b) for v in xy]], "bbox": []}
            for b, crowd in boxes
        ]
        return json.dumps(_mmocr(k, made, "annotations", "file_name"))

    forms = {
        "paddleocr-json": lambda made: _columns(made, "rec_polys", "rec_texts", "rec_scores"),
        "mmocr-result": lambda made: _columns(made, "polygons", "texts", "scores"),
        "easyocr": lambda made: json_of(
            [[o["points"], o["transcription"], o["score"]] for o in made]
        ),
        "ocrmac": lambda made: json_of(
            [[o["transcription"], o["score"], [*o["points"][0], *o["points"][2]]] for o in made]
        ),
        "rapidocr": lambda made: json_of(
            [{"box": o["points"], "txt": o["transcription"], "score": o["score"]} for o in made]
        ),
    }
    made = {
        name: Sample(
            each("{}.json", lambda k, form=form: form(words(k))),
            each("{}.json", lambda k, form=form: form(found(k))),
            has_dont_care=False,
            has_confidences=True,
        )
        for name, form in forms.items()
    }
    made["paddleocr"] = Sample(
        {"Label.txt": _by_line(label)},
        {"system_results.txt": _by_line(lambda k: f"{k + 1}.jpg\t{json.dumps(found(k))}")},
        has_confidences=True,
        many_in_one=True,
    )
    made["mmocr-lines"] = Sample(
        {"gt.txt": _by_line(lambda k: annotations(k, [(b, int(t == "###")) for b, t in WORDS[k]]))},
        {"det.txt": _by_line(lambda k: annotations(k, [(b, 0) for b, _ in FOUND[k]]))},
        many_in_one=True,
    )
    both = [
        [_mmocr(k, of(k), "instances", "img_path") for k in (0, 1)]
        for of in (instances, found_instances)
    ]
    made["mmocr"] = Sample(
        *(
            {f"{name}.json": json_of({"data_list": images})}
            for name, images in zip(("gt", "det"), both, strict=True)
        ),
        has_confidences=True,
        many_in_one=True,
    )
    for level in ("", "-line"):
        made[f"doctr{level}"] = Sample(
            each("{}.json", lambda k: _doctr(k, words_of(k))),
            each("{}.json", lambda k: _doctr(k, found_of(k))),
            *[f"doctr{level}" if level else None] * 2,
            has_dont_care=False,
            has_confidences=not level,
        )
        made[f"surya{level}"] = Sample(
            {"gt.json": _surya(words_of)},
            {"det.json": _surya(found_of)},
            *[f"surya{level}" if level else None] * 2,
            has_dont_care=False,
            has_confidences=True,
            many_in_one=True,
        )
    return made


def _via(of_image: Any) -> dict[str, Any]:
    def region(x0: int, y0: int, x1: int, y1: int, text: str) -> dict[str, Any]:
        shape = {"name": "rect", "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0}
        return {"shape_attributes": shape, "region_attributes": {"text": text}}

    return {
        f"{k + 1}.jpg-1": {
            "filename": f"{k + 1}.jpg",
            "regions": [region(*box, text) for box, text, _ in of_image(k)],
        }
        for k in (0, 1)
    }


def _via_csv(of_image: Any) -> str:
    def field(value: Any) -> str:
        return '"' + json.dumps(value).replace('"', '""') + '"'

    rows = [
        "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"
    ]
    for record in _via(of_image).values():
        for i, region in enumerate(record["regions"]):
            shape, text = field(region["shape_attributes"]), field(region["region_attributes"])
            rows.append(f'{record["filename"]},1,"{{}}",3,{i},{shape},{text}')
    return "\n".join(rows)


def _cvat(of_image: Any) -> str:
    images = "".join(
        f'<image name="set/{k + 1}.jpg" width="{SIZES[k][0]}" height="{SIZES[k][1]}">\n'
        + "".join(
            f'<box label="text" xtl="{x0}" ytl="{y0}" xbr="{x1}" ybr="{y1}">'
            f'<attribute name="text">{text}</attribute></box>\n'
            for (x0, y0, x1, y1), text, _ in of_image(k)
        )
        + "</image>"
        for k in (0, 1)
    )
    return f"<annotations><version>1.1</version>{images}</annotations>"


def _labelme_xml(k: int, of_image: Any) -> str:
    def vertex(x: int, y: int) -> str:
        return f"<pt><x>{x}</x><y>{y}</y></pt>"

    objects = "".join(
        f"<object><name>{text}</name><deleted>0</deleted><polygon>{''.join(vertex(*xy) for xy in corners(box))}</polygon></object>\n"
        for box, text, _ in of_image(k)
    )
    size = f"<imagesize><nrows>{SIZES[k][1]}</nrows><ncols>{SIZES[k][0]}</ncols></imagesize>"
    return f"<annotation>{size}\n{objects}</annotation>"


def _ufo(of_image: Any) -> dict[str, Any]:
    def word(box: Box, text: str, score: float | None) -> dict[str, Any]:
        return {
            "points": corners(box),
            "transcription": text,
            "illegibility": text == "###",
            "confidence": score,
        }

    return {
        "images": {
            f"{k + 1}.jpg": {
                "img_w": SIZES[k][0],
                "img_h": SIZES[k][1],
                "words": {f"{i:04}": word(*one) for i, one in enumerate(of_image(k))},
            }
            for k in (0, 1)
        }
    }


def _rects(k: int, of_image: Any) -> str:
    made = [
        {
            "points": [v for xy in corners(box) for v in xy],
            "transcription": text,
            "ignore": 0,
            "confidence": score,
        }
        for box, text, score in of_image(k)
    ]
    return json_of({"chars": [], "lines": made})


def _tool_samples() -> dict[str, Sample]:
    """The documents of annotation tools."""

    def words(k: int) -> list[tuple[Box, str, float | None]]:
        return [(box, text, None) for box, text in WORDS[k]]

    return {
        "via": Sample(
            {"gt.json": json_of(_via(words))},
            {"det.json": json_of(_via(found_of))},
            many_in_one=True,
        ),
        "via-csv": Sample(
            {"gt.csv": _via_csv(words)}, {"det.csv": _via_csv(found_of)}, many_in_one=True
        ),
        "cvat": Sample({"gt.xml": _cvat(words)}, {"det.xml": _cvat(found_of)}, many_in_one=True),
        "labelme-xml": Sample(
            each("{}.xml", lambda k: _labelme_xml(k, words)),
            each("{}.xml", lambda k: _labelme_xml(k, found_of)),
        ),
        "ufo": Sample(
            {"gt.json": json_of(_ufo(words))},
            {"det.json": json_of(_ufo(found_of))},
            has_confidences=True,
            many_in_one=True,
        ),
        "rects": Sample(
            each("{}.json", lambda k: _rects(k, words)),
            each("{}.json", lambda k: _rects(k, found_of)),
            has_confidences=True,
        ),
    }


SAMPLES = _samples() | _engine_samples() | _tool_samples()
