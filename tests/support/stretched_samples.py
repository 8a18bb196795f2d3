"""Documents of any size that are made of the formats' samples, hard to read in many ways."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from samples import SAMPLES, Sample

from evaltex_cli.formats import load

Make: TypeAlias = Callable[[int], bytes]
"""Returns a document of so many bytes, or a few more."""


def stretched(name: str, text: str) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document from a sample's file that has so many bytes or
    more."""
    data = text.encode()
    if name.endswith((".txt", ".gt", ".tsv", ".csv")):
        line = data.strip().split(b"\n")[-1] + b"\n"
        yield "blank lines", lambda size: data + b"\n" * size
        yield "lines of blanks", lambda size: data + b" \r\n" * (size // 3)
        yield "one object again and again", lambda size: data + line * (size // 2 // len(line))
        yield "a long line", lambda size: data + line.strip() * (size // len(line))
        yield "no objects", lambda size: data + b"x\n" * (size // 2)
    elif name.endswith((".xml", ".hocr")):
        start = data.rindex(b"</")
        insides: dict[str, Make] = {
            "blanks": lambda size: b" " * size,
            "empty elements": lambda size: b"<a/>" * (size // 4),
            "depth": lambda size: b"<a>" * (size // 3),
            "attributes": lambda size: (
                b"<a " + b" ".join(b'a%x=""' % k for k in range(size // 9)) + b"/>"
            ),
            "a long name": lambda size: b'<a name="' + b"a" * size + b'"/>',
        }
        for label, inside in insides.items():
            yield label, lambda size, inside=inside: data[:start] + inside(size) + data[start:]
        yield from elements_again(data)
    else:
        value = json.loads(data)
        opening, rest = data[:1], data[1:]
        before = b"[" if isinstance(value, list) else b'{"":'
        yield "blanks", lambda size: opening + b" " * size + rest
        for label, item in (
            ("nulls", b"null,"),
            ("lists", b"[],"),
            ("objects", b'{"":0},'),
            ("keys", b'{"":0,"":0},'),
        ):
            yield (
                label,
                lambda size, item=item: before + b"[" + item * (size // len(item)) + b"0]," + rest,
            )
        yield from items_again(value)
        yield (
            "a long name",
            lambda size: json.dumps(value).replace(".jpg", "a" * size + ".jpg").encode(),
        )


def elements_again(data: bytes) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document in XML in which elements of one name are
    there again and again, for some names.
    """
    _, *names = dict.fromkeys(re.findall(rb"<([a-zA-Z]\w*)", data))
    for name in names[:: max(len(names) // 3, 1)]:
        found = re.search(rb"<%b\b(?:[^<>]*/>|.*?</%b>)" % (name, name), data, re.DOTALL)
        if found:  # else an element of HTML that has no end
            at, one = found.start(), found[0]
            yield (
                f"{name.decode()} again",
                lambda size, at=at, one=one: data[:at] + one * (size // len(one)) + data[at:],
            )


def items_again(value: object) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document in JSON in which the last item of an
    outer or inner list is there again.
    """
    crowded = list(_crowded(value, ()))
    for k, (way, inner) in enumerate([*crowded[:1], *crowded[1:][-1:]]):
        whole = partial(_with_copies, value, inner)
        label = f"{'.'.join(map(str, way)) or 'items'} again"
        yield label, whole
        if not k:
            yield (
                f"{label}, with NaN",
                lambda size, whole=whole: whole(size).replace(b"}", b', "": NaN}', 1),
            )
            yield f"{label}, cut off", lambda size, whole=whole: whole(size)[:-9]
            yield f"{label}, as nulls", partial(_with_nulls, value, inner)


def _with_copies(value: object, inner: Any, size: int) -> bytes:
    """Make a document in which the last item of a list or object is there again, so many bytes of
    it."""
    key, item = list(inner.items())[-1] if isinstance(inner, dict) else (None, inner[-1])
    return _with_more(value, inner, f", {', '.join(_copies(key, item, size))}")


def _with_nulls(value: object, inner: Any, size: int) -> bytes:
    """Make a document in which nulls follow the items, half as many bytes."""
    return _with_more(value, inner, ", null" * (size // 12))


def _with_more(value: object, inner: Any, more: str) -> bytes:
    before = json.dumps(inner)
    return json.dumps(value).replace(before, f"{before[:-1]}{more}{before[-1]}", 1).encode()


def _copies(key: str | None, item: object, size: int) -> Iterator[str]:
    """Yield an item of this size in all, each with another ID and another number in its key."""
    text = json.dumps(item)
    for k in range(1000, 1000 + size // (len(text) + 2)):
        one = json.dumps({**item, "id": k}) if isinstance(item, dict) and "id" in item else text
        yield one if key is None else f'"{re.sub("[0-9]+", str(k), key)}": {one}'


def _crowded(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the lists in a value whose items are no numbers, and the objects
    whose keys are numbered.
    """
    if isinstance(value, list) and value and not isinstance(value[-1], float | int | str):
        yield way, value
    if isinstance(value, dict) and value and all(re.search("[0-9]", key) for key in value):
        yield way, value
    for step, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from _crowded(inner, (*way, step))


def sample_of(name: str) -> Sample:
    """Return the sample of a format."""
    made = [(key, sample) for key, sample in SAMPLES.items() if name in (key, sample.gt_format)]
    made += [(key, sample) for key, sample in SAMPLES.items() if SAME_READER.get(name) == key]
    return (
        made[0][1]
        if made
        else Sample({"gt.json": str(load(name).sample_content())}, many_in_one=True)
    )


def stretched_file(sample: Sample) -> tuple[str, str]:
    """Return the name and the text of the file of a sample that is stretched."""
    first = next(file for file in sample.gt if not file.endswith((".bmp", ".mat")))
    text = sample.gt[first]
    assert isinstance(text, str)
    return first, text


SAME_READER = {
    "abbyy": "abbyy-line",
    "rects-chars": "rects",
    "icdar-xml": "icdar2003-xml",
    "coco-text-train": "coco-text",
    "page-region": "page",
    "ltrb": "icdar2013-test",
    "quad": "icdar2015",
    "polygon": "totaltext-commas",
    "ctw1500-offsets": "ctw1500",
    "totaltext": "totaltext-brackets",
    "yolo": "dota",
    "dota-results": "dota",
    "icdar2013-seg-chars": "icdar2013-seg",
}
"""Format -> sample, where it has not the format's name."""
