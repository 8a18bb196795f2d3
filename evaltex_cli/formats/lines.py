"""Lines of numbers: a table of layouts."""

from __future__ import annotations

from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.files import Listing


def recognise(listing: Listing, side: Side) -> tuple[Format, str] | None:
    """Return the layout that reads most of an input's lines, and why; None if these are no such lines."""
    return None
