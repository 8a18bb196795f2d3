"""Images with mistakes, as files and as batches, and what a diagnosis says of them."""

import numpy as np
import pytest
import scenes
from reading import read_or_raise

from evaltex_cli import diagnose
from evaltex_cli.records import ImageBatch

A, B, C = (100, 100, 200, 40), (100, 200, 200, 40), (320, 100, 200, 40)
LEFT, RIGHT = (100, 100, 100, 40), (200, 100, 100, 40)


def write(folder, name, images, gt):
    """Write images, {name: objects}, an object being its numbers or (numbers, text)."""
    lines = []
    for image, objects in images.items():
        lines += [image, "900,900"] if gt else [image]
        for k, one in enumerate(objects, start=1):
            numbers, text = one if isinstance(one[0], tuple) else (one, "word")
            flag = "t" if text == "###" else "f"
            fields = [str(k), str(k), f'"{text}"', flag] if gt else [str(k), f'"{text}"']
            lines.append(",".join([*fields, *map(repr, numbers)]))
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def diagnosed(folder, gt, det, protocol="evaltex", **options):
    paths = (
        write(folder, "gt.txt", {"img": gt}, True),
        write(folder, "det.txt", {"img": det}, False),
    )
    return diagnose(*paths, protocol, **options)


def counts(diagnosis):
    return {kind.kind: kind.count for kind in diagnosis.kinds if kind.count}


def assert_sums(diagnosis):
    for name, loss in diagnosis.losses.items():
        parts = [kind.shares[name] for kind in diagnosis.kinds]
        assert sum(parts) + diagnosis.interaction[name] + diagnosis.unexplained[
            name
        ] == pytest.approx(loss, abs=1e-12)
        assert sum(parts) + diagnosis.remainder[name] == pytest.approx(loss, abs=1e-12)
        assert loss == 1 - diagnosis.scores[name]
        for kind in diagnosis.kinds:
            assert kind.count or kind.shares[name] == 0


def batch_of(folder, gt, det):
    gt = read_or_raise(write(folder, "gt.txt", {"img": gt}, True), "gt")
    det = read_or_raise(write(folder, "det.txt", {"img": det}, False), "det")
    return ImageBatch(["img"], gt.sizes, gt.objects, det.objects)


def scene_batch(folder, seed):
    gt, det = scenes.random_scene(seed, images=3, polygons=True)
    (folder / "gt.txt").write_text(gt, encoding="utf-8")
    (folder / "det.txt").write_text(det, encoding="utf-8")
    one = read_or_raise(folder / "gt.txt", "gt")
    other = read_or_raise(folder / "det.txt", "det")
    names = [name for name in one.names if name in other.names]
    sides = [
        side.part(np.array([side.names.index(name) for name in names], np.int64))
        for side in (one, other)
    ]
    return ImageBatch(names, sides[0].sizes, sides[0].objects, sides[1].objects)
