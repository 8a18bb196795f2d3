"""What every page with a script has: the document around it, its policy, and data that markup
cannot break out of.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from evaltex_cli.report import image_json
from evaltex_cli.version import __version__

END = "</body>\n</html>\n"


@dataclass(frozen=True, slots=True)
class Parts:
    """A page's title, which is its mark too, and the files of its style and its program here."""

    title: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]


def head(parts: Parts) -> str:
    """Return everything before the data; its policy lets nothing run or load but what is in the
    file, and local pictures.
    """
    style, script = _joined(parts.styles), _joined(parts.scripts)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " img-src data: file: 'self'"
    )
    page = _joined(("report.html",))
    contents = {
        "POLICY": policy,
        "VERSION": __version__,
        "TITLE": escape(parts.title),
        "STYLE": style,
    }
    for mark, content in contents.items():
        page = page.replace(f"{{{{{mark}}}}}", content)
    return page


def program(parts: Parts) -> str:
    """Return the script, which runs when all that it needs at once is before it."""
    return f"<script>{_joined(parts.scripts)}</script>\n"


def island(name: str, value: Any) -> str:
    """Return data as a script element that is not run."""
    return "".join(streamed(name, [image_json.text(value)]))


def streamed(name: str, pieces: Iterable[str]) -> Iterator[str]:
    """Yield pieces of JSON (`image_json.text`) as such an element."""
    yield f'<script type="application/json" id="{name}">'
    yield from pieces
    yield "</script>\n"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _joined(names: tuple[str, ...]) -> str:
    folder = Path(__file__).parent
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)
