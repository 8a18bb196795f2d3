"""Parts of messages: what an input says, fit to be shown; lists of names; singular and plural."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FORMS = r"\[(?:([a-z' ]*)\|)?([a-z' ]*)\]"


def quote(text: str, limit: int = 80) -> str:
    """Return `text` fit for a message: control characters escaped, long text cut."""
    shown = text if len(text) <= limit else text[:limit] + "..."
    return f"'{escaped(shown)}'"


def escaped(text: str) -> str:
    """Return `text` with its control characters escaped."""
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    )


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return some names in quotes, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quote, names[:most])) + more


def counted(count: int, sentence: str) -> str:
    """Return a sentence with its ``{count}``, and of its ``[one|many]``, or ``[many]``, the words
    that go with that.

    >>> counted(1, "{count} object[s] [is|are] numbered again")
    '1 object is numbered again'
    """
    chosen = re.sub(_FORMS, lambda form: (form[1] or "") if count == 1 else form[2], sentence)
    return chosen.replace("{count}", str(count))
