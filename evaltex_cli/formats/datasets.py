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
from typing import Any, TypeVar

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

Kind = TypeVar("Kind")
_IS_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def _record(file: File, item: Any, kind: type[Kind], place: str) -> Kind | None:
    """Return an item as a type; None if it does not fit, which is logged."""
    try:
        return converted(item, kind)
    except FormatError as error:
        file.log(error, place)
        return None


# ArT and LSVT (ICDAR 2019) ------------------------------------------------------------------------


class _ArtWord(msgspec.Struct, gc=False):
    points: list[Point]
    transcription: str | None = None
    illegibility: Flag = None
    confidence: Number | None = None


def _read_art(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        word = converted(item, _ArtWord)
        text = word.transcription or ""
        dont_care = side == "gt" and (bool(word.illegibility) or text == DONT_CARE)
        with under("points"):
            points = polygon(flat(word.points), dont_care=dont_care)
        return TextObject(points, text, dont_care, word.confidence)

    for key, value in file.json(dict[str, Any]).items():
        words = _record(file, value, list[Any], key) or []
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
    (".json",),
    layout='{"gt_1": [{"points": [[x, y], ...], "transcription": "...", "illegibility": false}]}',
    one_document=True,
)


# COCO-Text v2 and TextOCR -------------------------------------------------------------------------


class _CocoTextWord(msgspec.Struct, gc=False):
    image_id: Identifier
    utf8_string: str | None = None
    legibility: str | None = None
    mask: list[Number] | None = None
    bbox: tuple[Number, Number, Number, Number] | None = None


class _TextOcrWord(msgspec.Struct, gc=False):
    image_id: Identifier
    points: list[Number]
    utf8_string: str | None = None


class _KeyedImage(msgspec.Struct, gc=False):
    width: Number | None = None
    height: Number | None = None
    set: str | None = None


class _Keyed(msgspec.Struct, gc=False):
    imgs: dict[str, Any]
    anns: dict[str, Any]


def _coco_text_object(item: Any, side: Side) -> tuple[str, TextObject]:
    word = converted(item, _CocoTextWord)
    dont_care = side == "gt" and word.legibility == "illegible"
    if word.mask:
        with under("mask"):
            points = polygon(word.mask, dont_care=dont_care)
    elif word.bbox is None:
        raise FormatError("neither mask nor bbox", "one of them")
    else:
        with under("bbox"):
            points = box(*word.bbox)
    return str(word.image_id), TextObject(points, word.utf8_string or "", dont_care)


def _textocr_object(item: Any, side: Side) -> tuple[str, TextObject]:
    word = converted(item, _TextOcrWord)
    dont_care = side == "gt" and word.utf8_string == "."
    with under("points"):
        points = polygon(word.points, dont_care=dont_care)
    return str(word.image_id), TextObject(points, word.utf8_string or "", dont_care)


def _read_keyed(
    file: File, side: Side, options: ReadOptions, *, wanted: str | None
) -> Iterator[Image]:
    """Yield the images of one set, `wanted`, of COCO-Text; of TextOCR all, for None.

    A file of COCO-Text without images of the set is read as a whole.
    """
    document = file.json(_Keyed)
    images, chosen = {}, []
    for key, item in document.imgs.items():
        record = _record(file, item, _KeyedImage, f"imgs.{key}") or _KeyedImage()
        images[key] = Image(key, [], record.height or 0.0, record.width or 0.0, id=key)
        if record.set == wanted:
            chosen.append(key)
    numbered = all(map(_IS_NUMBER.fullmatch, document.anns))
    read_object = _coco_text_object if wanted else _textocr_object

    def read(keyed: tuple[str, Any]) -> TextObject:
        key, item = keyed
        image, one = read_object(item, side)
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
        (".json",),
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


class _Container(msgspec.Struct, gc=False):
    """A line or a paragraph whose words are the objects."""

    legible: Flag = None
    text: str | None = None


class _Text(_Container, gc=False, kw_only=True):
    """A word, a line or a paragraph."""

    vertices: list[Point]
    confidence: Number | None = None
    score: Number | None = None


def _read_hiertext(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    for k, item in enumerate(file.json(_HierText).annotations):
        place = f"annotations[{k}]"
        page = _record(file, item, _Page, place)
        if page is None:
            continue
        if options.level in _LISTS:
            texts = nested(file, item, place, *_LISTS[options.level])
            objects = file.each(texts, partial(_hiertext_object, side=side))
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
    of_level = level.removesuffix("-words") if level != "word" else "line"
    objects: list[TextObject] = []
    number = 0
    for at, item in nested(file, page, place, *_LISTS[of_level]):
        container = _record(file, item, _Container, at)
        if container is None:
            continue
        dont_care = side == "gt" and container.legible is not None and not container.legible
        words: list[tuple[str, Any]] = []
        if level != "paragraph-words" or not dont_care:
            words = list(nested(file, item, at, *_BELOW[of_level]))
        if level == "word":
            file.notes[without_finer(side)] += not words and bool(container.text)
        else:
            words = words or [(at, item)]
        number += bool(words)
        for one in file.each(words, partial(_hiertext_object, side=side)):
            one.region = number
            one.dont_care = one.dont_care if level == "word" else dont_care
            objects.append(one)
    return objects


def _hiertext_object(item: Any, side: Side) -> TextObject:
    text = converted(item, _Text)
    dont_care = side == "gt" and text.legible is not None and not text.legible
    with under("vertices"):
        points = polygon(flat(text.vertices), dont_care=dont_care)
    confidence = text.score if text.confidence is None else text.confidence
    return TextObject(points, text.text or "", dont_care, confidence)


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
    (".json",),
    levels=("word", "line", "paragraph", "line-words", "paragraph-words"),
    layout='{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices", "text",'
    ' "legible"}]}]}]}]}',
    one_document=True,
)


# ReCTS (ICDAR 2019) -------------------------------------------------------------------------------


class _ReCtsText(msgspec.Struct, gc=False):
    points: list[Number]
    transcription: str | None = None
    ignore: Flag = None
    confidence: Number | None = None


def _read_rects(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        text = converted(item, _ReCtsText)
        words = text.transcription or ""
        dont_care = side == "gt" and (bool(text.ignore) or words == DONT_CARE)
        with under("points"):
            points = polygon(text.points, dont_care=dont_care)
        return TextObject(points, words, dont_care, text.confidence)

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
    (".json",),
    levels=("line", "character"),
    layout='{"chars": [{"points": [x1, y1, ...], "transcription", "ignore"}], "lines": [...]}',
)
