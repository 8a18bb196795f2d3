"""Memory of an evaluation and of a diagnosis, of polygons and crowds that take most."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from forked import Server
from memory_limits import FIXED, MINUTE

from evaltex_cli.diagnosis.corrections import MAX_UNITED
from evaltex_cli.geometry.overlaps import MAX_PAIRS
from evaltex_cli.protocols import PROTOCOLS

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage, pytest.mark.usefixtures("here")]


def circle_of(vertices: int, radius: int, x: int = 0, y: int = 0) -> list[int]:
    """A circle-like outline of whole numbers, the upper left end of which is at x, y."""
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    points = radius + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) + [x, y]
    return [*map(int, np.rint(points).ravel())]


def write_coco(path: str, rings: list[list[int]]) -> int:
    """Write a COCO file of one image with some polygons; return its bytes."""
    objects = [
        {"id": k, "image_id": 1, "category_id": 1, "iscrowd": 0, "text": "word"}
        | {"bbox": [0, 0, 9, 9], "segmentation": [ring]}
        for k, ring in enumerate(rings, 1)
    ]
    image = {"id": 1, "file_name": "1.jpg", "width": 300_000, "height": 300_000}
    document = {"images": [image], "categories": [], "annotations": objects}
    return Path(path).write_text(json.dumps(document, separators=(",", ":")))


@pytest.mark.parametrize("protocol", ["evaltex", "tedeval", "popeval"])
def test_memory_of_one_polygon_of_very_many_vertices(server: Server, protocol: str) -> None:
    ring = circle_of(350_000, 90_000)
    size = write_coco("gt.json", [ring]) + write_coco("det.json", [ring])
    status, peak, seconds, said = server.run("gt.json", "det.json", "--protocol", protocol)
    if protocol == "evaltex":
        assert status == 2
        assert "image '1', object 1 of the ground truth: a polygon" in " ".join(said.split())
    else:
        assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20
    assert seconds < MINUTE


@pytest.mark.parametrize("protocol", ["iou", "popeval"])
def test_memory_of_an_image_of_many_round_polygons(server: Server, protocol: str) -> None:
    rings = [circle_of(100, 200, 500 * (k % 60), 500 * (k // 60)) for k in range(3500)]
    size = write_coco("gt.json", rings) + write_coco("det.json", rings)
    status, peak, _, said = server.run("gt.json", "det.json", "--protocol", protocol)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_crowd(corners: int) -> int:
    """Write an image in which all objects and detections overlap, as many pairs as there may be;
    return how many bytes there are."""
    count = math.isqrt(MAX_PAIRS)
    shift = np.random.default_rng(2).integers(0, 40, (2, count, 2)).tolist()
    size = 0
    for side, rows in zip(("gt", "det"), shift, strict=True):
        text = "img_1\n" + "1000,1000\n" * (side == "gt")
        for k, (x, y) in enumerate(rows, 1):
            ring = [x + 200, y, x + 400, y + 90, x + 200, y + 200, x, y + 90]
            drawn = ring if corners else [x, y, 200, 100]
            text += f'{k},{k},"word",f,' if side == "gt" else f'{k},"word",'
            text += ",".join(map(str, drawn)) + "\n"
        size += Path(f"{side}.txt").write_text(text)
    return size


@pytest.mark.parametrize("corners", [0, 4])
def test_memory_of_as_many_pairs_as_may_overlap(server: Server, corners: int) -> None:
    """By all protocols at once, of which each takes less alone."""
    size = write_crowd(corners)
    status, peak, _, said = server.run("gt.txt", "det.txt", "results", "-a", "--protocol", "all")
    assert status == 0, said
    assert not (names := {*PROTOCOLS} - {path.stem for path in Path("results").glob("*.json")}), (
        names
    )
    assert peak <= FIXED + 8 * size, peak >> 20


def test_memory_of_a_diagnosis_of_as_many_pairs_as_may_overlap(server: Server) -> None:
    size = write_crowd(corners=0)
    status, peak, _, said = server.run("gt.txt", "det.txt", "results", "--report", "--diagnose")
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_words_in_dont_care(dont_care: int, words: int, det: list[list[int]]) -> int:
    """Write an image of large don't-care objects that have all words in them, side by side; return
    how many bytes there are."""
    columns = math.isqrt(words - 1) + 1
    end = 40 * columns
    large = [[k % 20, 0, end, 0, end, end, k % 20, end - 1 - k % 3] for k in range(dont_care)]
    small = [
        [x + 10, y, x + 20, y + 10, x + 10, y + 20, x, y + 10]
        for x, y in ((40 * (k % columns) + 10, 40 * (k // columns) + 10) for k in range(words))
    ]
    text = f"img_1\n{end},{end}\n"
    for k, ring in enumerate([*large, *small], 1):
        text += f'{k},{k},"a",{"tf"[k > dont_care]},{",".join(map(str, ring))}\n'
    rows = (f'{k},"a",{",".join(map(str, ring))}\n' for k, ring in enumerate(det, 1))
    return Path("gt.txt").write_text(text) + Path("det.txt").write_text("".join(["img_1\n", *rows]))


@pytest.mark.parametrize(("dont_care", "words"), [(130, 400), (1, 5900)])
def test_memory_of_dont_care_objects_full_of_words(
    server: Server, dont_care: int, words: int
) -> None:
    size = write_words_in_dont_care(dont_care, words, [[40, 40, 90, 42, 91, 90, 40, 90]])
    status, peak, _, said = server.run("gt.txt", "det.txt", "--protocol", "cleval")
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def test_memory_of_many_detections_of_a_dont_care_object_full_of_words(server: Server) -> None:
    det = [[k % 20, 0, 799, k % 9, 799, 799, k % 20, 790] for k in range(390)]
    size = write_words_in_dont_care(1, 400, det)
    status, peak, _, said = server.run("gt.txt", "det.txt", "--protocol", "tedeval")
    assert status == 2
    assert "image 'img_1': detections to which the cut" in " ".join(said.split())
    assert peak <= FIXED + 8 * size, peak >> 20


SMALL, LARGE = (
    [[40, 40, 90, 42, 91, 90, 40, 90]],
    [[k % 20, 0, 2400, 0, 2400, 2400, k % 20, 2399 - k % 3] for k in range(40)],
)


@pytest.mark.parametrize("det", [SMALL, LARGE], ids=["one", "all over"])
def test_memory_of_a_diagnosis_of_dont_care_objects_full_of_words(
    server: Server, det: list[list[int]]
) -> None:
    """The missed words become detections, which overlap all don't-care objects: in each image of
    several repairs, or in one that has nearly as many pairs as there may be before."""
    size = write_words_in_dont_care(40, 3600, det)
    status, peak, _, said = server.run("gt.txt", "det.txt", "results", "--report", "--diagnose")
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_many_matches(word: str = "word") -> int:
    """Write an image of 200,000 boxes, three quarters of which are detected; return how many bytes
    there are."""
    boxes = [f"{k % 450 * 13},{k // 450 * 13},10,9" for k in range(200_000)]
    gt = [f'{k},{k},"{word}",f,{box}\n' for k, box in enumerate(boxes, 1)]
    det = [f'{k},"{word}",{box}\n' for k, box in enumerate(boxes, 1) if k % 4]
    size = Path("gt.txt").write_text("".join(["img_1\n6000,6000\n", *gt]))
    return size + Path("det.txt").write_text("".join(["img_1\n", *det]))


@pytest.mark.parametrize(
    ("protocol", "options"),
    [(name, ["-a"]) for name in ("evaltex", "deteval", "iou", "tedeval", "cleval")] + [("all", [])],
)
def test_memory_of_an_image_of_very_many_matches(
    server: Server, protocol: str, options: list[str]
) -> None:
    size = write_many_matches()
    arguments = ["gt.txt", "det.txt", "res", "--protocol", protocol, *options]
    status, peak, _, said = server.run(*arguments, is_fresh=True)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


@pytest.mark.parametrize("protocol", ["tedeval", "cleval"])
def test_memory_of_very_many_characters(server: Server, protocol: str) -> None:
    size = write_many_matches(word="of twenty letters of text")
    status, peak, _, said = server.run("gt.txt", "det.txt", "--protocol", protocol)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_archives(rows: dict[str, list[str]]) -> int:
    """Write an archive of one image for each side; return how many bytes they unpack to."""
    size = 0
    for side, lines in rows.items():
        text = "\n".join(lines)
        size += len(text)
        with zipfile.ZipFile(f"{side}.zip", "w") as archive:
            archive.writestr(f"{side}_img_1.txt", text)
    return size


@pytest.mark.parametrize(
    ("protocol", "options"), [("cleval", []), ("tedeval", []), ("tedeval", ["-a"]), ("all", [])]
)
def test_memory_of_matches_of_the_fewest_bytes(
    server: Server, protocol: str, options: list[str]
) -> None:
    """A line of 15 bytes or so for each box."""
    places = [(k % 490 * 2, k // 490 * 2) for k in range(240_000)]
    boxes = [f"{x},{y},{x + 1},{y + 1}" for x, y in places]
    size = write_archives({"gt": boxes, "res": [b for k, b in enumerate(boxes) if k % 3][:158_000]})
    arguments = ["gt.zip", "res.zip", "res", "--protocol", protocol, *options]
    status, peak, _, said = server.run(*arguments, is_fresh=True)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def test_memory_of_a_sweep_of_very_many_matches(server: Server) -> None:
    """Levels are stacked: each has nearly as many objects as the image."""
    boxes = [(k % 450 * 13, k // 450 * 13) for k in range(200_000)]
    rows = {
        "gt": [f"{x},{y},{x + 10},{y + 9},word" for x, y in boxes],
        "res": [
            f"{x},{y},{x + 10},{y + 9},0.{k % 3 + 1}00" for k, (x, y) in enumerate(boxes) if k % 4
        ],
    }
    size = write_archives(rows)
    arguments = "sweep", "gt.zip", "res.zip", "--protocol", "tedeval"
    status, peak, _, said = server.run(*arguments, is_fresh=True)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


@pytest.mark.parametrize(
    "arguments", [["diagnose", "gt.txt", "det.txt"], ["gt.txt", "det.txt", "results", "--report"]]
)
def test_memory_of_a_diagnosis_of_very_many_matches(server: Server, arguments: list[str]) -> None:
    size = write_many_matches()
    status, peak, _, said = server.run(*arguments, is_fresh=True)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def test_memory_of_a_report_of_images_of_many_words(server: Server) -> None:
    """By all protocols, of images of which a hundred are far more than the page reads at once."""
    count = 2500
    boxes = [f"{k % 50 * 13},{k // 50 * 13},10,9" for k in range(count)]
    image = "".join(f'{k},{k},"w",f,{box}\n' for k, box in enumerate(boxes, 1))
    found = "".join(f'{k},"w",{box}\n' for k, box in enumerate(boxes, 1))
    names = [f"img_{k}\n" for k in range(40)]
    size = Path("gt.txt").write_text("\n".join(f"{name}900,900\n{image}" for name in names))
    size += Path("det.txt").write_text("\n".join(f"{name}{found}" for name in names))
    arguments = "gt.txt", "det.txt", "results", "--report", "--no-diagnose", "--protocol", "all"
    status, peak, _, said = server.run(*arguments)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_chain(count: int) -> int:
    """Write an image of slanted objects that overlap the next one, each in two pieces that reach
    into the one before; return how many bytes there are."""
    texts = {"gt": "img_1\n1000000,1000\n", "det": "img_1\n"}
    for k in range(count):
        for left, width, side in ((0, 100, "gt"), (-30, 70, "det"), (45, 30, "det")):
            x, end = 80 * k + left, 80 * k + left + width
            number = f'{k + 1},{k + 1},"w",f' if side == "gt" else f'{2 * k + 1 + (left > 0)},"w"'
            texts[side] += f"{number},{x},0,{end},2,{end},32,{x},30\n"
    return sum(Path(f"{side}.txt").write_text(text) for side, text in texts.items())


def test_memory_of_a_diagnosis_of_a_long_chain_of_split_objects(server: Server) -> None:
    size = write_chain(MAX_UNITED // 12)
    status, peak, seconds, said = server.run("diagnose", "gt.txt", "det.txt")
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20
    assert seconds < MINUTE
