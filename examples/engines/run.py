"""Draw twenty pictures with known words, and run two OCR engines on them, as a user would.

python examples/engines/run.py engines [--only tesseract|rapidocr|pictures] [--pictures N]

writes the folder ``engines``: ``pictures``, the ground truth ``words.txt`` (the words, with their
lines as regions) and ``lines.txt`` (the lines), and what each engine writes, ``tesseract`` (TSV)
and ``rapidocr`` (JSON). Tesseract is Debian's package tesseract-ocr, RapidOCR the packages rapidocr
and onnxruntime. The font is the one inside Pillow.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

PICTURES = 20
WIDTH, HEIGHT = 960, 640
VOCABULARY = (
    "market street morning bakery museum ticket platform weather garden bridge harbour station"
    " library coffee window"
    " quality author chapter invoice total amount discount number entrance exit open closed fresh"
    " bread river school"
    " kitchen evening report daily paper winter summer north south customer welcome offer reading"
    " recognition detection"
)
COLOURS = (("black", "white"), ("#203050", "#f4f0e0"), ("white", "#305040"), ("#505050", "#e8e8e8"))
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Word:
    """A word, the number of its line in the picture, and its box x0, y0, x1, y1."""

    text: str
    line: int
    box: Box


def draw(number: int) -> tuple[Image.Image, list[Word]]:
    """Return the picture of a number, from 1, and its words: a page, two
    columns, or signs of few words.
    """
    chance = random.Random(number)
    text, ground = COLOURS[number % len(COLOURS)]
    picture = Image.new("RGB", (WIDTH, HEIGHT), ground)
    words: list[Word] = []
    kind = ("page", "columns", "signs", "small")[number % 4]
    columns = 2 if kind == "columns" else 1
    for column in range(columns):
        left, y = 40 + column * WIDTH // 2, 30.0
        right = left + WIDTH / columns - 80
        while True:
            size = {"page": 26, "columns": 20, "signs": chance.choice((40, 56, 72)), "small": 14}[
                kind
            ]
            if y + 1.4 * size > HEIGHT - 20:
                break
            count = chance.randint(1, 3) if kind == "signs" else chance.randint(4, 12)
            indent = chance.randint(0, 200) if kind == "signs" else 0
            words += draw_line(
                picture, chance, (left + indent, y, right), (size, count, text), len(words)
            )
            y += size * chance.uniform(1.4, 2.2 if kind == "signs" else 1.6)
    if number % 5 == 0:
        picture = picture.filter(ImageFilter.GaussianBlur(1.2))
    return picture, words


def draw_line(
    picture: Image.Image,
    chance: random.Random,
    place: tuple[float, float, float],
    style: tuple[int, int, str],
    line: int,
) -> list[Word]:
    """Draw at most as many words as fit between left and right, at a height; return them."""
    x, y, right = place
    size, count, colour = style
    font, pen, made = ImageFont.load_default(size), ImageDraw.Draw(picture), []
    for _ in range(count):
        text = chance.choice(VOCABULARY.split())
        text = (
            text.upper()
            if chance.random() < 0.1
            else text.capitalize()
            if chance.random() < 0.2
            else text
        )
        if x + font.getlength(text) > right:
            break
        pen.text((x, y), text, fill=colour, font=font)
        made.append(Word(text, line, pen.textbbox((x, y), text, font=font)))
        x += font.getlength(text) + font.getlength(" ")
    return made


def ground_truth(pictures: dict[str, list[Word]], by_line: bool) -> str:
    """Return the text of an EvaLTex file; the region of a word is its line."""
    texts = []
    for name, words in pictures.items():
        lines: dict[int, list[Word]] = {}
        for word in words:
            lines.setdefault(word.line, []).append(word)
        shown = [Word(" ".join(w.text for w in line), k, around(line)) for k, line in lines.items()]
        rows = [f"{name}\n{HEIGHT},{WIDTH}\n"]
        for k, word in enumerate(shown if by_line else words, 1):
            x0, y0, x1, y1 = word.box
            region = k if by_line else list(lines).index(word.line) + 1
            rows.append(f'{k},{region},"{word.text}",f,{x0:g},{y0:g},{x1 - x0:g},{y1 - y0:g}\n')
        texts.append("".join(rows))
    return "\n".join(texts)


def around(words: list[Word]) -> Box:
    """Return the bounding box of some words."""
    x0, y0, x1, y1 = zip(*(word.box for word in words), strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def draw_all(folder: Path, count: int) -> None:
    """Write the pictures and both ground truths."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    drawn = {}
    for number in range(1, count + 1):
        name = f"page{number:02d}"
        picture, drawn[name] = draw(number)
        picture.save(folder / "pictures" / f"{name}.png")
    for file, by_line in (("words.txt", False), ("lines.txt", True)):
        (folder / file).write_text(ground_truth(drawn, by_line), encoding="utf-8")


def run_tesseract(folder: Path) -> None:
    """Write a TSV file for each picture."""
    (folder / "tesseract").mkdir(exist_ok=True)
    for picture in sorted((folder / "pictures").glob("*.png")):
        command = ["tesseract", str(picture), str(folder / "tesseract" / picture.stem), "tsv"]
        subprocess.run(command, check=True, capture_output=True)


def run_rapidocr(folder: Path) -> None:
    """Write a JSON file for each picture."""
    from rapidocr import RapidOCR

    (folder / "rapidocr").mkdir(exist_ok=True)
    engine = RapidOCR()
    for picture in sorted((folder / "pictures").glob("*.png")):
        found = engine(str(picture)).to_json() or []
        (folder / "rapidocr" / f"{picture.stem}.json").write_text(
            json.dumps(found), encoding="utf-8"
        )


def main() -> None:
    """Draw, and run the engines that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("pictures", "tesseract", "rapidocr"))
    parser.add_argument(
        "--pictures", type=int, default=PICTURES, metavar="N", help="draw the first N only"
    )
    given = parser.parse_args()
    draw_all(given.folder, given.pictures)
    for name, run in (("tesseract", run_tesseract), ("rapidocr", run_rapidocr)):
        if given.only in (None, name):
            print(f"{name} ...", file=sys.stderr)
            run(given.folder)


if __name__ == "__main__":
    main()
