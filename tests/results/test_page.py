"""The skeleton that all pages share."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli.results import page as pages
from evaltex_cli.runtime import marks
from evaltex_cli.tables import Column, Table, in_html
from evaltex_cli.version import __version__


@pytest.mark.parametrize("kind", ["report", "sweep", "ranking", "audit"])
def test_a_page_has_the_mark_of_its_own_kind(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(pages.page("results/page.html", kind, "a title"), encoding="utf-8")
    assert marks.kind_of(file) == kind


def test_a_page_escapes_all_and_runs_nothing() -> None:
    text = pages.page("results/page.html", "sweep", "<b>&\udcff")
    assert "<b>" not in text and "<h1>&lt;b&gt;&amp;?</h1>" in text
    assert "script-src &#39;none&#39;" in text and "<script" not in text
    assert "default-src 'none'" in text and __version__ in text


def test_a_table_scrolls_in_a_box_of_its_own() -> None:
    table = Table("<i>", [Column("name"), Column("score", "score")], [("<b>", 0.5)], ["<u>"])
    text = in_html([table])
    assert "<h3>&lt;i&gt;</h3>" in text and text.index("</div>") < text.index("<p>&lt;u&gt;</p>")
    assert '<td>&lt;b&gt;</td><td class="n">0.5000</td>' in text
