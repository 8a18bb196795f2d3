"""Data sets whose annotations are JSON: ArT and LSVT, COCO-Text, TextOCR, HierText, ReCTS.

=========== ================================ ============================= ========================
data set    shape                            don't care                    images are named by
=========== ================================ ============================= ========================
ArT, LSVT   ``points`` [[x, y], ...]         ``illegibility`` true, ###    keys: gt_1, res_1
COCO-Text   ``mask`` x1, y1, ..., or bbox    ``legibility`` illegible      keys of ``imgs``
TextOCR     ``points`` x1, y1, ...           ``utf8_string`` is ``.``      keys of ``imgs``
HierText    ``vertices`` [[x, y], ...]       ``legible`` false             ``image_id``
ReCTS       ``points`` x1, y1, ...           ``ignore`` 1, ###             the file
=========== ================================ ============================= ========================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    DONT_CARE,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
    without_finer,
)
from evaltex_cli.formats.names import without_prefix
from evaltex_cli.formats.parsing import (
    Flag,
    Identifier,
    Number,
    Point,
    box,
    converted,
    flat,
    nested,
    polygon,
    under,
    within,
)

_IS_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


class _Text(msgspec.Struct, gc=False):
    """A word, a line or a paragraph of any of these data sets."""

    bbox: Any = None
    transcription: str | None = None
    utf8_string: str | None = None
    text: str | None = None
    illegibility: Flag = None
    ignore: Flag = None
    legible: Flag = None
    legibility: str | None = None
    confidence: Number | None = None
    score: Number | None = None

    def is_dont_care(self, side: Side) -> bool:
        is_illegible = self.legible is not None and not self.legible
        is_illegible = is_illegible or self.legibility == "illegible"
        return side == "gt" and (is_illegible or bool(self.illegibility or self.ignore))


class _Pairs(_Text, gc=False):
    points: list[Point] | None = None
    vertices: list[Point] | None = None


class _Flat(_Text, gc=False):
    points: list[Number] | None = None
    mask: list[Number] | None = None


def _object(
    item: Any, side: Side, kind: type[_Text], shape: str, unread: str | None = None
) -> TextObject:
    """Return an object from the key of its shape; `unread` is a text that makes it don't care."""
    record = converted(item, kind)
    text = record.transcription or record.utf8_string or record.text or ""
    dont_care = record.is_dont_care(side) or (side == "gt" and text == unread)
    value = getattr(record, shape)
    if shape == "mask" and not value:
        if record.bbox is None:
            raise FormatError("neither mask nor bbox", "one of them")
        with under("bbox"):
            points: Any = box(*converted(record.bbox, tuple[Number, Number, Number, Number]))
    elif value is None:
        raise FormatError(f"no key {quote(shape)}", "it in each object")
    else:
        with under(shape):
            points = polygon(flat(value) if kind is _Pairs else value, dont_care=dont_care)
    confidence = record.score if record.confidence is None else record.confidence
    return TextObject(points, text, dont_care, confidence)


# ArT and LSVT (ICDAR 2019) ------------------------------------------------------------------------


def _read_art(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    read = partial(_object, side=side, kind=_Pairs, shape="points", unread=DONT_CARE)
    for key, value in file.json(dict[str, Any]).items():
        words: list[Any] = []
        with file.catching(key):
            words = converted(value, list[Any])
        yield Image(without_prefix(key), file.each(enumerate(words), read, f"{key}[{{}}]"))


def _is_art(head: Head) -> str:
    value = head.json
    if not isinstance(value, dict) or value.keys() & {"annotations", "images", "shapes"}:
        return ""
    if not value:
        return "an empty JSON object" if head.is_whole else ""
    if not isinstance(next(iter(value.values())), list):
        return ""
    first = next((words[0] for words in value.values() if isinstance(words, list) and words), None)
    has_keys = isinstance(first, dict) and first.keys() & {"points", "transcription"}
    if first is None or has_keys or all(key.startswith(("gt_", "res_")) for key in value):
        return "a JSON object whose values are lists of words, with points or transcription"
    return ""


ART = Format(
    "art",
    "ArT and LSVT: JSON of polygons, ground truth and results",
    _read_art,
    _is_art,
    layout='{"gt_1": [{"points": [[x, y], ...], "transcription": "...", "illegibility": false}]}',
    one_document=True,
)


# COCO-Text v2 and TextOCR -------------------------------------------------------------------------


class _KeyedImage(msgspec.Struct, gc=False):
    width: Number | None = None
    height: Number | None = None
    set: str | None = None


class _Keyed(msgspec.Struct, gc=False):
    imgs: dict[str, Any]
    anns: dict[str, Any]


def _read_keyed(
    file: File, side: Side, options: ReadOptions, *, wanted: str | None
) -> Iterator[Image]:
    """Yield the images of one set, `wanted`, of COCO-Text; of TextOCR all, for None.

    A file of COCO-Text without images of the set is read as a whole.
    """
    document = file.json(_Keyed)
    images, chosen = {}, []
    for key, item in document.imgs.items():
        record = _KeyedImage()
        with file.catching(f"imgs.{key}"):
            record = converted(item, _KeyedImage)
        images[key] = Image(key, [], record.height or 0.0, record.width or 0.0, id=key)
        if record.set == wanted:
            chosen.append(key)
    numbered = all(map(_IS_NUMBER.fullmatch, document.anns))
    shape, unread = ("mask", None) if wanted else ("points", ".")

    def read(keyed: tuple[str, Any]) -> TextObject:
        key, item = keyed
        one = _object(item, side, _Flat, shape, unread)
        image = str(within(item, "image_id"))
        if image not in images:
            found = f"image_id {quote(image)}"
            raise FormatError(found, "the ID of an image of this document", ("image_id",))
        one.id = int(key) if numbered else None
        images[image].objects.append(one)
        return one

    file.each(((f"anns.{key}", (key, item)) for key, item in document.anns.items()), read)
    if wanted and chosen:
        left_out = f"{{count}} image[s] that [is|are] not of the set '{wanted}' [was|were] left out"
        file.notes[left_out] += len(images) - len(chosen)
        images = {key: images[key] for key in chosen}
    yield from images.values()


def _is_keyed(head: Head, *, points: bool) -> str:
    images, annotations = within(head.json, "imgs"), within(head.json, "anns")
    if images is None or not isinstance(annotations, dict):
        return ""
    first = next(iter(annotations.values()), None)
    if (isinstance(first, dict) and "points" in first) != points:
        return ""
    return f"a JSON object with the keys imgs and anns, {'with' if points else 'without'} points"


def _keyed_format(name: str, title: str, wanted: str | None) -> Format:
    return Format(
        name,
        title,
        partial(_read_keyed, wanted=wanted),
        _is_coco_text if wanted else partial(_is_keyed, points=True),
        layout='{"imgs": {id: {...}}, "anns": {id: {"image_id", "bbox", "points" or "mask",'
        ' "utf8_string"}}}',
        one_document=True,
    )


_is_coco_text = partial(_is_keyed, points=False)
COCO_TEXT = _keyed_format("coco-text", "COCO-Text v2, val images", "val")
COCO_TEXT_TRAIN = _keyed_format("coco-text-train", "COCO-Text v2, train images", "train")
TEXTOCR = _keyed_format("textocr", "TextOCR", None)


# HierText -----------------------------------------------------------------------------------------

_LISTS = {"paragraph": ("paragraphs",), "line": ("paragraphs", "lines")}
_BELOW = {"paragraph": ("lines", "words"), "line": ("words",)}
_PICTURE = re.compile(r"\.(?:jpe?g|png)\Z", re.IGNORECASE)


class _HierText(msgspec.Struct, gc=False):
    annotations: list[Any]


class _Page(msgspec.Struct, gc=False):
    image_id: Identifier
    image_height: Number | None = None
    image_width: Number | None = None


def _read_hiertext(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    read = partial(_object, side=side, kind=_Pairs, shape="vertices")
    for k, item in enumerate(file.json(_HierText).annotations):
        place = f"annotations[{k}]"
        with file.catching(place):
            page = converted(item, _Page)
            if options.level in _LISTS:
                objects = file.each(nested(file, item, place, *_LISTS[options.level]), read)
            else:
                objects = _words(file, item, side, options.level, place)
            name = _PICTURE.sub("", str(page.image_id))
            yield Image(name, objects, page.image_height or 0.0, page.image_width or 0.0)


def _words(file: File, page: Any, side: Side, level: str, place: str) -> list[TextObject]:
    """Return the words of an image, with their lines for regions; or at the levels line-words and
    paragraph-words, their lines or paragraphs.

    At these levels lines or paragraphs say whether their words count, as the data set's own
    evaluation does, which unites the words. Those without words are the polygon of their own
    vertices, and so are paragraphs that do not count.
    """
    read = partial(_object, side=side, kind=_Pairs, shape="vertices")
    of_level = level.removesuffix("-words") if level != "word" else "line"
    objects: list[TextObject] = []
    number = 0
    for at, item in nested(file, page, place, *_LISTS[of_level]):
        with file.catching(at):
            container = converted(item, _Text)
            dont_care = container.is_dont_care(side)
            words: list[tuple[str, Any]] = []
            if level != "paragraph-words" or not dont_care:
                words = list(nested(file, item, at, *_BELOW[of_level]))
            if level == "word":
                file.notes[without_finer(side)] += not words and bool(container.text)
            else:
                words = words or [(at, item)]
            number += bool(words)
            for one in file.each(words, read):
                one.region = number
                one.dont_care = one.dont_care if level == "word" else dont_care
                objects.append(one)
    return objects


def _is_hiertext(head: Head) -> str:
    annotations = within(head.json, "annotations")
    if not isinstance(annotations, list) or "images" in head.json:
        return ""
    if annotations and within(annotations, 0, "paragraphs") is None:
        return ""
    return "annotations with paragraphs, without the key images"


HIERTEXT = Format(
    "hiertext",
    "HierText",
    _read_hiertext,
    _is_hiertext,
    levels=("word", "line", "paragraph", "line-words", "paragraph-words"),
    layout='{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices", "text",'
    ' "legible"}]}]}]}]}',
    one_document=True,
)


# ReCTS (ICDAR 2019) -------------------------------------------------------------------------------


def _read_rects(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    read = partial(_object, side=side, kind=_Flat, shape="points", unread=DONT_CARE)
    document = file.json(dict[str, Any])
    key = "lines" if options.level == "line" else "chars"
    if key not in document:
        raise FormatError(f"no key {quote(key)}", "it")
    yield Image(file.stem, file.each(nested(file, document, "", key), read))


def _is_rects(head: Head) -> str:
    value = head.json
    is_one = isinstance(value, dict) and "chars" in value and "lines" in value
    return "a JSON object with the keys chars and lines" if is_one else ""


RECTS = Format(
    "rects",
    "ReCTS: JSON, one per image",
    _read_rects,
    _is_rects,
    levels=("line", "character"),
    layout='{"chars": [{"points": [x1, y1, ...], "transcription", "ignore"}], "lines": [...]}',
)
