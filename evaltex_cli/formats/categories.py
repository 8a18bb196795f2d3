"""Blocks of a document that are not text: parsers and models write them beside the text.

A picture, a table and the like count if they have a text; what a format calls abandoned does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaltex_cli.formats.base import File, TextObject

_NEED_TEXT = {
    *("picture", "image", "image_body", "image_block", "header_image", "footer_image"),
    *("figure", "chart", "chart_body", "seal", "table", "table_body", "document_index"),
    *("formula", "display_formula", "inline_formula", "isolate_formula"),
    *("equation", "equation_isolated", "interline_equation"),
}
_ABANDONED = {"abandon", "abandoned", "discarded"}


def text_block(
    file: File, points: Sequence[float], text: str, category: str, confidence: float | None = None
) -> TextObject | None:
    """Return a block as an object with its category as label; None, with a note that counts it, if
    it is left out.
    """
    name = category.strip().lower().replace("-", "_").replace(" ", "_")
    if name in _ABANDONED or (name in _NEED_TEXT and not text.strip()):
        without = "" if name in _ABANDONED else " without text"
        file.notes[f"{{count}} box[es] of category {category}{without} [was|were] left out"] += 1
        return None
    return TextObject(points, text, confidence=confidence, label=category)
