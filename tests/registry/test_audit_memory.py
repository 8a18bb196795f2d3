"""Memory of an audit, of suspects and crowds that take most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from forked import Server
from memory_limits import FIXED, MINUTE

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage, pytest.mark.usefixtures("here")]


def write_suspects(images: int) -> int:
    """Write a ground truth and two detections, of images of 50 objects: the detectors agree with
    each other, and with no object; return how many bytes there are."""
    shift = np.random.default_rng(1).integers(-4, 5, (images, 50, 3)).tolist()
    texts = {"gt": "", "a": "", "b": ""}
    for k, of_image in enumerate(shift):
        texts["gt"] += f"img_{k}\n1000,1000\n"
        texts["a"] += f"img_{k}\n"
        texts["b"] += f"img_{k}\n"
        for i, (own, one, other) in enumerate(of_image, 1):
            x, y = 10 + i % 10 * 100, 10 + i // 10 * 60
            texts["gt"] += f'{i},{i},"word",f,{x + own},{y + 12},80,20\n'
            texts["a"] += f'{i},"ward",{x + one},{y + other},80,20\n'
            texts["b"] += f'{i},"ward",{x + other},{y + own},80,20\n'
    return sum(Path(f"{side}.txt").write_text(text) for side, text in texts.items())


AUDIT = ("audit", "gt.txt", "a.txt", "b.txt", "--protocol", "iou", "--suspicion", "0")


def test_memory_of_an_audit_in_which_every_object_is_suspect(server: Server) -> None:
    size = write_suspects(1000)
    status, peak, _, said = server.run(*AUDIT)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def test_memory_of_an_audit_of_objects_in_one_place(server: Server) -> None:
    """As many pairs as there may be, of 14 images, and those of one more."""
    line = '{0},{0},"w",f,9,9,80,20\n'
    crowd = "".join(line.format(k) for k in range(1, 55))
    for more in (0, 1):
        images = [f"{k}\n" for k in range(14 + more)]
        gt = "".join(f"{name}1000,1000\n{crowd}" for name in images)
        det = "".join(f'{name}1,"w",500,500,80,20\n' for name in images)
        size = Path("gt.txt").write_text(gt) + 2 * Path("a.txt").write_text(det)
        Path("b.txt").write_text(det)
        status, peak, _, said = server.run(*AUDIT)
        assert status == 2 * more, said
        assert peak <= FIXED + 8 * size, peak >> 20
    assert "image '0': more than 20000 pairs of objects" in " ".join(said.split())


def test_memory_of_the_outputs_of_an_audit(server: Server) -> None:
    size = write_suspects(80)
    outputs = ("--report", "page.html", "--patch", "patch.json", "--output", "out.json")
    status, peak, _, said = server.run(*AUDIT, "--format", "json", *outputs)
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20


def write_crowds(images: int, detections: int, least: int) -> int:
    """Write a ground truth of ten words an image, and three detectors that each have so many boxes
    in one place, of the least size or up to 400 pixels; return how many bytes there are."""
    rng = np.random.default_rng(3)
    size = 0
    for side in ("gt", "a", "b", "c"):
        lines = []
        for k in range(images):
            lines.append(f"img_{k}\n" + "1000,1000\n" * (side == "gt"))
            if side == "gt":
                lines += [f'{i},{i},"w",f,{10 + i * 35},{10 + i * 30},30,20\n' for i in range(10)]
            else:
                at = rng.integers(0, 60, (detections, 2)).tolist()
                sides = rng.integers(least, 400, (detections, 2)).tolist()
                for i, ((x, y), (width, height)) in enumerate(zip(at, sides, strict=True), 1):
                    lines.append(f'{i},"",{x},{y},{width},{height}\n')
        size += Path(f"{side}.txt").write_text("".join(lines))
    return size


@pytest.mark.parametrize("least", [300, 100, 10])
@pytest.mark.parametrize(("images", "detections"), [(300, 50), (15, 300), (1, 330)])
def test_memory_of_an_audit_of_crowds(
    server: Server, images: int, detections: int, least: int
) -> None:
    """Detections that agree, or that share some area and hardly agree."""
    size = write_crowds(images, detections, least)
    status, peak, seconds, said = server.run(*AUDIT[:4], "c.txt", "--protocol", "iou")
    assert status == 0, said
    assert peak <= FIXED + 8 * size, peak >> 20
    assert seconds < MINUTE
