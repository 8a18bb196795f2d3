"""Which format an input is of: its content decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaltex_cli.formats import FORMATS, load
from evaltex_cli.formats.base import HEAD_BYTES, Format, Head, Side
from evaltex_cli.formats.files import Entry, Listing

EVALTEX = "evaltex"
_EVALTEX_BEGINS = re.compile(rb"[^\n\t]*\n[ \t]*[\d.]+[ \t]*,[ \t]*[\d.]+[ \t\r]*(?:\n|\Z)")
"""A name, and a line of height and width."""
_MOST_ANSWERS = 100
"""How many files are looked at for a model's answer with boxes."""


def detect(listing: Listing, side: Side, preferred: Sequence[str] = ()) -> tuple[Format, str, str]:
    """Return the format of an input, by what it was recognised, and what the user should know.

    Raises `InputError` when no format recognises it: what it is, if that is known, and what to do.
    `preferred` are formats that decide where lines of numbers fit several.
    """
    entry = _typical_entry(listing)
    beginning = listing.beginning(entry, HEAD_BYTES)
    is_whole = len(beginning) < HEAD_BYTES
    head = Head(entry.name, beginning.removeprefix(b"\xef\xbb\xbf"), is_whole)
    if listing.kind == "file" and _EVALTEX_BEGINS.match(head.data):
        return load(EVALTEX), "a name, height and width", ""  # the others need no look
    from evaltex_cli.formats import lines

    has_lines = lines.begins_with_numbers(head.data)
    if not (has_lines and entry.ending == ".txt" and head.data[:1].isdigit()):
        found = _recognised(head, listing, has_lines=has_lines)
        is_vague = not found or found[0].name == "chat-boxes"  # boxes may be anywhere in a document
        if is_vague and not head.is_whole and head.json is not None:
            found = _recognised(Head(entry.name, next(listing.read([entry]))), listing)
        if not (found or has_lines or listing.kind == "file"):
            found = _later_answers(listing)
        if found:
            return *found, ""
        from evaltex_cli.formats import unread

        unread.refuse(listing, head)
    is_text = listing.kind == "file" and not has_lines
    as_lines = None if is_text else lines.recognise(listing, side, preferred)
    return as_lines or (load(EVALTEX), "text", "")


def _typical_entry(listing: Listing) -> Entry:
    """Return what formats look at: the file, or the first file of the ending that most have."""
    if listing.kind == "file":
        return listing.entries[0]
    counts = listing.endings()
    endings: tuple[str, ...] = (max(sorted(counts), key=lambda ending: counts[ending], default=""),)
    if endings != (".txt",):  # without a look at all formats
        endings = tuple(sorted({ending for name in FORMATS for ending in load(name).endings}))
    some, _ = listing.chosen(endings)
    return (some if some.entries else listing).first_with_content()


def _recognised(
    head: Head, listing: Listing, *, has_lines: bool = False
) -> tuple[Format, str] | None:
    for name in FORMATS:
        form = load(name)
        if listing.kind == "file" or head.name.lower().removesuffix(".gz").endswith(form.endings):
            reason = form.recognised_by(head)
            if reason and not (name == EVALTEX and has_lines):
                return form, f"recognised by {reason}"
    return None


def _later_answers(listing: Listing) -> tuple[Format, str] | None:
    """Return the format of models' answers if one of the first files is recognised by it: the
    typical one may be prose about a picture without text.
    """
    form = load("chat-boxes")
    entries = listing.chosen(form.endings)[0].entries[:_MOST_ANSWERS]
    for entry, beginning in zip(entries, listing.read(entries, HEAD_BYTES), strict=True):
        if reason := form.recognised_by(Head(entry.name, beginning)):
            return form, f"recognised by {reason}"
    return None


def other_format(listing: Listing, form: Format) -> str:
    """Return the format that an input is of by its content, if not of the one that was named."""
    entry = listing.first_with_content()
    found = _recognised(Head(entry.name, listing.beginning(entry, HEAD_BYTES)), listing)
    return found[0].name if found and found[0].recognised_by is not form.recognised_by else ""
