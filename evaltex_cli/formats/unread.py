"""Files that no format reads: what they are, if that is known, and what to do."""

from __future__ import annotations

from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import Head
from evaltex_cli.formats.files import Listing


def refuse(listing: Listing, head: Head) -> None:
    """Raise `InputError` for what is not read as text."""
    raise InputError(f"{listing.path}: no known format; `evaltex formats` lists them")
