"""Text, attributes and nested elements of XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from xml.sax.saxutils import escape, quoteattr

from evaltex_cli.conversion.base import Job
from evaltex_cli.conversion.holding import Picture, Run, Shape
from evaltex_cli.marks import comment

XML_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n{comment("data")}\n'
NO_XML = "{count} transcription[s] got U+FFFD for characters that XML cannot hold"
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def fit(job: Job, text: str) -> str:
    """Return a transcription without characters that XML cannot hold, which are counted."""
    found = _UNFIT.sub("\ufffd", text)
    job.lost[NO_XML] += found != text
    return found


def content(text: str) -> str:
    """Return text as the content of an element."""
    return escape(text, {"\r": "&#13;"})


def attributes(**values: str) -> str:
    """Return attributes, each with a blank before it."""
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def lines_of_words(
    picture: Picture,
    line: Callable[[int, Run], str],
    word: Callable[[int, Shape], str],
    end: str,
) -> Iterator[str]:
    """Yield the start of each line, its words, and its end; lines and words are numbered from 1."""
    words = enumerate(picture.shapes(), 1)
    for k, run in enumerate(picture.runs(), 1):
        yield line(k, run)
        for number, shape in islice(words, len(run.texts)):
            yield word(number, shape)
        yield end
