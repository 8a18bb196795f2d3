"""Lines of numbers: a table of layouts."""

from __future__ import annotations

from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.files import Listing


def recognise(listing: Listing, side: Side) -> tuple[Format, str] | None:
    """Return the layout that reads most lines of an input, and why; None if it has no lines."""
    return None
