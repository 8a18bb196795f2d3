"""Text and attributes of XML."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from evaltex_cli.conversion.base import Job

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
