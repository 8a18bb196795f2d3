"""Which image names are safe to use as names of result files."""

from __future__ import annotations

import re

_LEAVES_FOLDER = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.{0,2}(?:[/\\]|$)|[\x00-\x1f\x7f]")

_PLAIN = re.compile(r"\w[\w .-]*")


def leaves_result_folder(name: str) -> bool:
    """Whether a file of this name could stand outside the folder it is meant for.

    True for absolute names, drive letters, empty, ``.`` or ``..`` components (with either slash) and
    control characters, NUL among them.
    """
    return _PLAIN.fullmatch(name) is None and _LEAVES_FOLDER.search(name) is not None
