"""The small data set in the documents of annotation tools."""

from __future__ import annotations

from typing import Any

from sample_words import SIZES, WORDS, Box, Sample, corners, each, found_of, json_of


def _via(of_image: Any) -> dict[str, Any]:
    def region(x0: int, y0: int, x1: int, y1: int, text: str) -> dict[str, Any]:
        shape = {"name": "rect", "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0}
        return {"shape_attributes": shape, "region_attributes": {"text": text}}

    return {
        f"{k + 1}.jpg-1": {
            "filename": f"{k + 1}.jpg",
            "regions": [region(*box, text) for box, text, _ in of_image(k)],
        }
        for k in (0, 1)
    }


def _cvat(of_image: Any) -> str:
    images = "".join(
        f'<image name="set/{k + 1}.jpg" width="{SIZES[k][0]}" height="{SIZES[k][1]}">\n'
        + "".join(
            f'<box label="text" xtl="{x0}" ytl="{y0}" xbr="{x1}" ybr="{y1}">'
            f'<attribute name="text">{text}</attribute></box>\n'
            for (x0, y0, x1, y1), text, _ in of_image(k)
        )
        + "</image>"
        for k in (0, 1)
    )
    return f"<annotations><version>1.1</version>{images}</annotations>"


def _rects(k: int, of_image: Any) -> str:
    made = [
        {
            "points": [v for xy in corners(box) for v in xy],
            "transcription": text,
            "ignore": 0,
            "confidence": score,
        }
        for box, text, score in of_image(k)
    ]
    return json_of({"chars": [], "lines": made})


def tool_samples() -> dict[str, Sample]:
    """The documents of annotation tools."""

    def words(k: int) -> list[tuple[Box, str, float | None]]:
        return [(box, text, None) for box, text in WORDS[k]]

    return {
        "via": Sample(
            {"gt.json": json_of(_via(words))},
            {"det.json": json_of(_via(found_of))},
            many_in_one=True,
        ),
        "cvat": Sample({"gt.xml": _cvat(words)}, {"det.xml": _cvat(found_of)}, many_in_one=True),
        "rects": Sample(
            each("{}.json", lambda k: _rects(k, words)),
            each("{}.json", lambda k: _rects(k, found_of)),
            has_confidences=True,
        ),
    }
