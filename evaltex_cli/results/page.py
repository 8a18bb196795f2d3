"""HTML pages from templates: reports, sweeps, rankings and audits share one skeleton and style."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

from evaltex_cli.runtime import marks
from evaltex_cli.tables import in_html
from evaltex_cli.version import __version__

PACKAGE = "evaltex_cli"


def page(
    template: str,
    kind: str,
    title: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    **values: Any,
) -> str:
    """Return a page, which loads nothing from the network; the same input gives the same text.

    The `template`, such as "ranking/page.html", extends "results/page.html". Its `values` are
    escaped; tables are put in by ``{{ table(a_table) }}``, data for a script by ``{{ value | tojson
    }}``. By the `kind`, commands recognise what they may replace. `styles` and `scripts` are files
    in this package; nothing but these scripts can run on the page.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(PACKAGE, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    style, script = _joined(["results/page.css", *styles]), _joined(scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    text = environment.get_template(template).render(
        mark=Markup(marks.comment(kind)),
        title=title,
        style=Markup(style),
        script=Markup(script),
        script_source=f"'sha256-{digest}'" if script else "'none'",
        version=__version__,
        table=lambda one: Markup(in_html([one])),
        **values,
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def _joined(names: Sequence[str]) -> str:
    package = resources.files(PACKAGE)
    return "".join(package.joinpath(name).read_text(encoding="utf-8") for name in names)


def link(target: Path, page_folder: Path) -> str:
    """Return the URL of a file, relative to the page's folder where that is possible."""
    target, start = (Path(os.path.realpath(path)) for path in (target, page_folder))
    try:
        relative = Path(os.path.relpath(target, start))
    except ValueError:  # on another drive
        return target.as_uri()
    return quote_url(relative.as_posix())
