"""The small data set as text files of data sets, a line an object."""

from __future__ import annotations

from typing import Any

from sample_words import FOUND, WORDS, Box, Sample, bent, corners, ltrb, quad


def confident(shape: Any) -> Any:
    """What makes a detection's line: its shape, then its confidence."""
    return lambda box, confidence: f"{shape(box)},{confidence}"


def lines(name: str, gt: Any, det: Any) -> dict[str, dict[str, str]]:
    """Files of one line an object, made by ``gt(box, text)`` and ``det(box, confidence)``."""
    return {
        "gt": {
            f"gt_{name.format(k)}": "".join(f"{gt(box, text)}\n" for box, text in words)
            for k, words in enumerate(WORDS, 1)
        },
        "det": {
            f"res_{name.format(k)}": "".join(
                f"{det(box, confidence)}\n" for box, confidence in found
            )
            for k, found in enumerate(FOUND, 1)
        },
    }


EVALTEX_GT = """1
480,640
1,1,"one",f,10,10,50,20
2,1,"two, 2",f,70,10,50,20
3,3,"###",t,10,50,50,20

2
240,320
1,1,"three",f,20,20,80,20
"""
EVALTEX_DET = """1
1,"",10,10,50,20
2,"",200,200,60,20
3,"",10,50,50,20

2
1,"",200,100,40,20
"""


def total_text(box: Box, text: str) -> str:
    """A record as the data set wraps it."""
    xs, ys = ([str(point[axis]) for point in corners(box)] for axis in (0, 1))
    orientation = "#" if text == "###" else "c"
    return (
        f"x: [[{' '.join(xs[:2])}\n {' '.join(xs[2:])}]], y: [[{' '.join(ys)}]],"
        f" ornt: [u'{orientation}'], transcriptions: [u'{'#' if text == '###' else text}']"
    )


def blanks(numbers: str) -> str:
    return numbers.replace(",", " ")


def table(last: str, images: Any) -> str:
    rows = [f'{k},{ltrb(box)},"{value}"' for k, here in enumerate(images, 1) for box, value in here]
    return "\n".join([f"image,left,top,right,bottom,{last}", *rows, ""])


def msra(box: Box, text: str) -> str:
    x0, y0, x1, y1 = box
    return f"0 {int(text == '###')} {x0} {y0} {x1 - x0} {y1 - y0} 0.000000"


def line_samples() -> dict[str, Sample]:
    """Text files of data sets: a line an object."""
    return {
        "evaltex": Sample({"gt.txt": EVALTEX_GT}, {"det.txt": EVALTEX_DET}, many_in_one=True),
        "icdar2013-train": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{ltrb(box).replace(",", " ")} "{text}"',
                confident(ltrb),
            ),
            has_confidences=True,
        ),
        "icdar2013-test": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{ltrb(box).replace(",", ", ")}, "{text}"',
                lambda box, _: ltrb(box),
            )
        ),
        "icdar2015": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"\ufeff{quad(box)},{text}\r",
                lambda box, confidence: f"{quad(box)},{confidence},x",
            ),
            has_confidences=True,
        ),
        "mlt": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{quad(box)},Latin,{text}",
                confident(quad),
            ),
            has_confidences=True,
        ),
        "rctw": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f'{quad(box)},{int(text == "###")},"{text}"',
                confident(quad),
            ),
            has_confidences=True,
        ),
        "totaltext-brackets": Sample(
            **lines("{}.txt", total_text, lambda box, _: total_text(box, "x"))
        ),
        "totaltext-commas": Sample(
            **lines("{}.txt", lambda box, text: f"{bent(box)},{text}", lambda box, _: bent(box)),
        ),
        "ctw1500": Sample(
            **lines(
                "{}.txt", lambda box, text: f"{bent(box)},####{text}", lambda box, _: bent(box)
            ),
        ),
        "msra-td500": Sample(
            {
                f"{k}.gt": "".join(f"{msra(*word)}\n" for word in words)
                for k, words in enumerate(WORDS, 1)
            },
            {
                f"{k}.txt": "".join(f"{ltrb(box)},0\r\n" for box, _ in found)
                for k, found in enumerate(FOUND, 1)
            },
            det_format="msra-td500",
        ),
        "msra-td500-five": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{ltrb(box)},0.0,{text}",
                lambda box, _: f"{ltrb(box)},0.0,None",
            ),
            gt_format="msra-td500",
            det_format="msra-td500",
        ),
        "dota": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{blanks(quad(box))} word {int(text == '###')}",
                confident(quad),
            ),
            has_confidences=True,
        ),
        "box-polygon": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{ltrb(box) if text == '###' else quad(box)},{text}",
                lambda box, _: ltrb(box),
            ),
            gt_format="box-polygon",
        ),
        "table": Sample(
            {"gt.csv": table("text", WORDS)},
            {"det.csv": table("score", FOUND)},
            has_confidences=True,
            many_in_one=True,
        ),
        "popeval": Sample(
            **lines(
                "{}.txt",
                lambda box, text: f"{quad(box).replace(',', ' ')}##::{text}",
                lambda box, _: f"{quad(box).replace(',', ' ')}##::x",
            )
        ),
    }
