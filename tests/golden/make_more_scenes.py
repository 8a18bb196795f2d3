"""Write the scenes of programs that read more than boxes, quads and curves.

    python tests/golden/make_more_scenes.py FOLDER

Lines of the quads, lexicons of their words, CTW1500's and MSRA-TD500's own files, and documents of
HierText. The seed makes every run the same.
"""

from __future__ import annotations

import json
import random
import sys
import zipfile
from pathlib import Path
from typing import Any

from make_scenes import WORDS, Part, Row, Scene, scenes

LISTED = {
    word.strip("!().").upper(): word
    for word in WORDS.replace("\n", ",").split(",")
    if " " not in word and "ß" not in word
}
"""Words as a text spotter's lexicon has them, and as they are written; its program finds neither
words with blanks in a list of pairs nor words that are longer in capitals."""
UNKNOWN = ("NAÏVE", "FISH&CHIPS", "WAY", "B12")
NEAR = ("EXIS", "EXITS", "OPENS", "GATES", "MARKETS", "UBER", "SALT", "AB", "X20", "7TH", "CAFF")


def write_zip(path: Path, files: dict[str, list[str]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files.items():
            text = "".join(f"{line}\n" for line in lines)
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


def write_lines(folder: Path) -> None:
    """The line of each row of words, with a margin."""
    files = {}
    for number, scene in enumerate(scenes("quads"), 1):
        files[f"gt_img_{number}.txt"] = [
            ",".join(map(str, row.outline(around(parts)))) + ",line"
            for row, parts in scene.rows.items()
        ]
    write_zip(folder / "quads-lines.zip", files)


def around(parts: list[Part]) -> Part:
    starts, tops, ends, bottoms = zip(*parts, strict=True)
    return min(starts) - 1, min(tops) - 1, max(ends) + 1, max(bottoms) + 1


def write_lexicons(folder: Path) -> None:
    """One list for all images, the same with more words, one for each image, and one of lines."""
    folder = folder / "lexicons"
    (folder / "strong").mkdir(parents=True, exist_ok=True)
    rng = random.Random("golden lexicons")
    known = [word for word in LISTED if word not in UNKNOWN]
    for name, words in (
        ("weak_voc_pair_list.txt", known),
        ("GenericVocabulary_pair_list.txt", [*LISTED, *NEAR]),
    ):
        rng.shuffle(words)
        write_pairs(folder / name, words)
    for number, scene in enumerate(scenes("quads"), 1):
        seen = [word for word, text in LISTED.items() if any(text in line for line in scene.gt)]
        words = list(dict.fromkeys([*seen, *rng.sample([*LISTED, *NEAR], 6)]))
        rng.shuffle(words)
        write_pairs(folder / "strong" / f"pair_voc_img_{number}.txt", words)
    texts = [word for word in WORDS.replace("\n", ",").split(",") if "ß" not in word]
    (folder / "lines.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def write_pairs(path: Path, words: list[str]) -> None:
    pairs = "".join(f"{word} {LISTED.get(word, word.capitalize())}\n" for word in words)
    path.write_text(pairs, encoding="utf-8")


def write_ctw1500(folder: Path) -> None:
    """Polygons of 14 vertices, each from the corner of its box; detections of any number."""
    rng = random.Random("golden ctw1500")
    confidences = iter(["0.5"] * 500)
    gt: dict[str, list[str]] = {}
    det: dict[str, list[str]] = {}
    for number in range(1001, 1013):
        scene = Scene("curves", rng, confidences)
        scene.draw(["Word", "another", "long one"])
        rows = [(row._replace(corners=14), part) for row, p in scene.rows.items() for part in p]
        gt[f"{number}.txt"] = [offsets(row.outline(part)) for row, part in rows]
        det[f"{number}.txt"] = [line[: line.index(",0.5,")] for line in scene.det or []]
    det["1003.txt"].append("400,400,470,400,400,430,470,430")
    row = Row(300, 400, corners=14)
    gt["1002.txt"] += [offsets(row.outline((0, y, 100, y + 20))) for y in (0, 3)]
    det["1002.txt"] += [",".join(map(str, row.outline((0, y, 100, y + 20)))) for y in (0, 1)]
    del det["1005.txt"]
    det["1006.txt"] = ["400,400,470,400,400,430,470,430"]
    write_zip(folder / "ctw1500-gt.zip", gt)
    write_zip(folder / "ctw1500-det.zip", det)


def offsets(outline: list[int]) -> str:
    left, top = min(outline[::2]), min(outline[1::2])
    box = [left, top, max(outline[::2]), max(outline[1::2])]
    return ",".join(map(str, box + [value - (left, top)[i % 2] for i, value in enumerate(outline)]))


def write_td500(folder: Path) -> None:
    """Rectangles of one direction in each image, as the program compares angles as they stand."""
    rng = random.Random("golden td500")
    gt: dict[str, list[str]] = {}
    det: dict[str, list[str]] = {}
    for number in range(1, 21):
        direction = rng.uniform(-1.0, 1.0) if number % 4 else 0.0
        words = gt[f"gt_img_{number}.txt"] = []
        found = det[f"res_img_{number}.txt"] = []
        for _ in range(rng.randint(0, 7)):
            left, top = rng.randint(0, 200), rng.randint(0, 200)
            right, bottom = left + rng.randint(60, 160), top + rng.randint(12, 40)
            angle = direction + rng.uniform(-0.1, 0.1)
            words.append(
                f"{left},{top},{right},{bottom},{angle:.4f},{rng.choice(['None', 'None', '###'])}"
            )
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                box = [value + rng.randint(-8, 8) for value in (left, top, right, bottom)]
                if rng.random() < 0.2:
                    box = [left, top, right - (right - left) // 2, bottom]
                box = [max(value, 0) for value in box]
                turned = angle + rng.choice([0, 0.1, -0.2, 0.38, -0.4, 0.5])
                found.append(",".join(map(str, box)) + f",{turned:.4f}")
        rng.shuffle(found)
    gt["gt_img_21.txt"], det["res_img_21.txt"] = [], ["5,5,65,25,0.3000"]
    gt["gt_img_22.txt"] = ["5,5,65,25,0.3000,None"]
    gt["gt_img_23.txt"], det["res_img_23.txt"] = ["5,5,65,25,0.3000,###"], ["5,5,65,26,0.3000"]
    gt["gt_img_24.txt"] = ["0,5,100,25,0.3000,None", "0,0,100,20,0.3000,None"]
    det["res_img_24.txt"] = ["0,2,100,22,0.3000", "0,10,100,30,0.3000"]
    write_zip(folder / "td500-gt.zip", gt)
    write_zip(folder / "td500-det.zip", det)


def write_hiertext(folder: Path) -> None:
    """Paragraphs of lines of words with gaps between them, some of them illegible."""
    rng = random.Random("golden hiertext")
    sides: dict[str, list[dict[str, Any]]] = {"gt": [], "det": []}
    for number in range(1, 7):
        gt: list[dict[str, Any]] = []
        det: list[dict[str, Any]] = []
        for place in range(rng.randint(1, 3)):
            row = Row(30, 20 + 120 * place, rng.choice((-6, 0, 5)))
            legible = rng.random() > 0.2
            lines = [hiertext_line(rng, row, 28 * k, legible) for k in range(rng.randint(1, 3))]
            gt.append(paragraph([line for line, _ in lines], legible))
            found = [line for _, line in lines if line["words"]]
            if found:
                det.append(paragraph(found, True))
        sides["gt"].append(
            {"image_id": f"img_{number}", "image_width": 400, "image_height": 400, "paragraphs": gt}
        )
        sides["det"].append({"image_id": f"img_{number}", "paragraphs": det})
    for side, images in sides.items():
        text = json.dumps({"annotations": images}, ensure_ascii=False, separators=(",", ":"))
        (folder / f"hiertext-{side}.jsonl").write_text(text + "\n", encoding="utf-8")


def hiertext_line(
    rng: random.Random, row: Row, top: int, legible: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    words: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    start = 0
    for text in rng.choices(["Hotel", "bar", "open", "1926"], k=rng.randint(1, 4)):
        part = (start, top, start + 10 * len(text), top + 18)
        words.append(word(row, part, text, legible and rng.random() > 0.15))
        moved = [value + rng.randint(-3, 3) for value in part]
        if rng.random() < 0.85:
            found.append(word(row, (*moved,), rng.choice([text, text, "blob"]), True))
        start += 10 * len(text) + 12
    return line(words, legible), line(found, True)


def word(row: Row, part: Part, text: str, legible: bool) -> dict[str, Any]:
    outline = row.outline(part)
    vertices = [outline[i : i + 2] for i in range(0, 8, 2)]
    return {"vertices": vertices, "text": text, "legible": legible}


def line(words: list[dict[str, Any]], legible: bool) -> dict[str, Any]:
    text = " ".join(word["text"] for word in words)
    return {"vertices": outer(words), "text": text, "legible": legible, "words": words}


def paragraph(lines: list[dict[str, Any]], legible: bool) -> dict[str, Any]:
    return {"vertices": outer(lines), "legible": legible, "lines": lines}


def outer(parts: list[dict[str, Any]]) -> list[list[int]]:
    """The box around the vertices of parts."""
    points = [point for part in parts for point in part["vertices"]]
    if not points:
        return []
    (left, top), (right, bottom) = (
        [pick(axis) for axis in zip(*points, strict=True)] for pick in (min, max)
    )
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def write_more_scenes(folder: Path) -> None:
    for write in (write_lines, write_lexicons, write_ctw1500, write_td500, write_hiertext):
        write(folder)


if __name__ == "__main__":
    write_more_scenes(Path(sys.argv[1]))
