"""The registry of formats, and how a file's format is told."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from evaltex_cli.errors import FaultLog, InputError, nearest

if TYPE_CHECKING:
    from evaltex_cli.formats.base import Format, Side, Source

FORMATS = {
    "ltrb": ("evaltex_cli.formats.icdar_txt", "LTRB"),
    "quad": ("evaltex_cli.formats.icdar_txt", "QUAD"),
    "polygon": ("evaltex_cli.formats.icdar_txt", "POLYGON"),
    "icdar-xml": ("evaltex_cli.formats.icdar_xml", "FORMAT"),
    "evaltex": ("evaltex_cli.formats.evaltex_txt", "FORMAT"),
}
"""Name -> module and attribute of its `Format`; the first that recognises an input reads it."""


def load(name: str) -> Format:
    """Return a format by name.

    Raises
    ------
    InputError
        When the registry has none of that name.
    """
    if name not in FORMATS:
        raise InputError(f"unknown format '{name}'{nearest(name, list(FORMATS))}; known: {', '.join(FORMATS)}")
    module, attribute = FORMATS[name]
    found: Format = getattr(import_module(module), attribute)
    return found


def open_source(path: Path, side: Side, faults: FaultLog, format_name: str | None = None) -> Source:
    """Index an input, telling its format by content unless one is named.

    Raises
    ------
    InputError
        When there is no such file or folder, it cannot be read, or no format fits it.
    """
    try:
        path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason}); give an existing file or folder") from error
    if format_name is not None:
        return load(format_name).index(path, side, faults)
    for name in FORMATS:
        try:
            recognised = load(name).recognises(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
        if recognised:
            return load(name).index(path, side, faults)
    raise InputError(
        f"{path}: no known format; expected an EvaLTex .txt, a folder or .zip of ICDAR-style .txt files, or ICDAR XML"
        f" (formats: {', '.join(FORMATS)})"
    )
