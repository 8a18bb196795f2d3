"""Injected faults: how many, disjoint, the same whatever the order of images; and the patch that
undoes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, needs_data

from evaltex_cli import formats
from evaltex_cli.cli import main
from evaltex_cli.conversion.base import Block, Job
from evaltex_cli.conversion.faults import FAULTS, SHARE, inject, numbered
from evaltex_cli.conversion.neighbours import lines_of, near_ends, next_in_line
from evaltex_cli.conversion.patch_reading import read_patch
from evaltex_cli.conversion.patches import Entry, Patch
from evaltex_cli.conversion.patching import (
    Identity,
    content_of,
    contents_of,
    identify,
    patched,
)
from evaltex_cli.errors import FaultLog
from evaltex_cli.formats.base import ReadImages
from evaltex_cli.formats.collected import columns
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Objects

SETS = ("icdar2013", "icdar2015", "totaltext", "ctw1500")
Drawn = dict[str, list[CollectedObject]]


def word(
    x: float, y: float, width: float, kind: str, text: str, dont_care: bool
) -> CollectedObject:
    """A box, a quadrilateral that rises, or an arc of six vertices; some as high as wide."""
    right, height = x + width, 10.0
    if kind == "box":
        return CollectedObject([x, y, right, y + height], text, dont_care)
    if kind == "quad":
        points = [x, y, right, y - 1.5, right, y + height - 1.5, x, y + height]
    else:
        half = (x + right) / 2
        points = [
            x,
            y,
            half,
            y - 3,
            right,
            y,
            right,
            y + height,
            half,
            y + height - 3,
            x,
            y + height,
        ]
    return CollectedObject(points, text, dont_care)


@st.composite
def ground_truths(draw: st.DrawFn) -> Drawn:
    """Lines of words with gaps of all sizes."""
    kinds = draw(st.sampled_from([["box"], ["quad"], ["box", "quad", "arc"]]))
    images: Drawn = {}
    for name in draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True)):
        x, images[name] = 1.5, []
        for _ in range(draw(st.integers(0, 12))):
            width = draw(st.integers(1, 50)) / 2
            line = draw(st.sampled_from([20.25, 20.25, 60.0]))
            text = draw(st.sampled_from(["", "a", "Two words", "ß€"]))
            flag = draw(st.integers(0, 3)) == 0
            images[name].append(word(x, line, width, draw(st.sampled_from(kinds)), text, flag))
            x += width + draw(st.sampled_from([-1.0, 2.0, 30.0]))
    return images


def read(images: Drawn) -> tuple[list[str], Objects]:
    collected = [CollectedImage(name, "gt").with_objects(of) for name, of in images.items()]
    return list(images), columns(collected).objects


def contents(names: Sequence[str], objects: Objects) -> dict[str, Counter[bytes]]:
    """What objects each image has, in any order."""
    ends = pairwise(objects.offsets.tolist())
    every = contents_of(objects)
    return {
        name: Counter(every[start:stop]) for name, (start, stop) in zip(names, ends, strict=True)
    }


def undone(names: list[str], faulty: Objects, entries: tuple[Entry, ...]) -> Objects:
    """The objects after the patch."""
    identity = Identity()
    identity.add(names, faulty, contents_of(faulty))
    images = ReadImages(np.zeros((len(names), 2)), faulty)
    job = Job(Path("new"), "gt", names, "gt", FaultLog())
    patch = Patch(identity.ground_truth, entries)
    (block,) = patched([Block(names, images)], patch, Path("p.json"), job)
    return block.images.objects


@given(ground_truths(), st.integers(0, 3), st.sampled_from([SHARE, 0.3, 1.0]))
@settings(derandomize=True, max_examples=60)
def test_the_patch_brings_the_original_back(images: Drawn, seed: int, share: float) -> None:
    names, original = read(images)
    for faulty, entries in (
        inject(names, original, seed, share),
        numbered(names, *inject(names, original, seed, share)),
    ):
        restored = undone(names, faulty, entries)
        assert contents(names, restored) == contents(names, original)
        assert len({*zip(restored.image.tolist(), restored.ids.tolist(), strict=True)}) == len(
            restored.ids
        )
        if entries:
            assert contents(names, faulty) != contents(names, original)


@given(ground_truths(), st.randoms(use_true_random=False))
@settings(derandomize=True, max_examples=50)
def test_the_order_of_images_does_not_matter(images: Drawn, generator: object) -> None:
    names = list(images)
    generator.shuffle(names)  # type: ignore[attr-defined]
    one, two = (inject(*read(some)) for some in (images, {name: images[name] for name in names}))
    assert contents(list(images), one[0]) == contents(names, two[0])
    assert sorted(one[1], key=repr) == sorted(two[1], key=repr)


@given(ground_truths(), st.sampled_from([SHARE, 0.3]))
@settings(derandomize=True, max_examples=50)
def test_no_object_has_two_faults(images: Drawn, share: float) -> None:
    names, objects = read(images)
    _, entries = inject(names, objects, 0, share)
    before = Counter(one for entry in entries for one in changed(entry))
    there = {
        (name, content): count
        for name, of in contents(names, objects).items()
        for content, count in of.items()
    }
    assert all(count <= there[one] for one, count in before.items())
    assert not any(one.dont_care for entry in entries for one in entry.proposed)


def changed(entry: Entry) -> list[tuple[str, bytes]]:
    return [(entry.image, content_of(one)) for one in entry.proposed]


def line(count: int) -> Drawn:
    return {
        f"img_{k}": [word(5 + 30 * j, 20.0, 25.0, "box", "Word", False) for j in range(10)]
        for k in range(count // 10)
    }


def test_what_the_faults_are() -> None:
    """5 % each; pairs of neighbours are together 5 %."""
    names, objects = read(line(400))
    _, entries = inject(names, objects, 7)
    assert Counter(one.fault for one in entries) == {
        "dropped": 20,
        "moved": 20,
        "merged": 10,
        "text": 20,
    }
    for one in entries:
        assert one.kind == FAULTS[one.fault]
        assert one.accept
        if one.fault == "dropped":
            assert (one.objects, one.current, len(one.proposed)) == ((), (), 1)
            continue
        (now,), before = one.current, one.proposed
        corners, old = np.array(now.vertices), np.array(before[0].vertices)
        if one.fault == "moved":
            assert now.text == before[0].text
            assert np.abs(corners - old).tolist() == [[0, 5], [0, 5]]
        elif one.fault == "text":
            assert (corners == old).all()
            differ = [(a, b) for a, b in zip(now.text, before[0].text, strict=True) if a != b]
            assert len(differ) == 1
            assert differ[0][0].lower() != differ[0][1].lower()
        else:
            assert now.text == "Word Word"
            assert corners.tolist() == [[old[0, 0], 20], [old[0, 0] + 55, 30]]


def test_another_seed_makes_other_faults() -> None:
    names, objects = read(line(200))
    assert inject(names, objects, 0)[1] == inject(names, objects, 0)[1]
    assert inject(names, objects, 0)[1] != inject(names, objects, 1)[1]


def test_only_neighbours_in_a_line_are_merged() -> None:
    alone = {f"img_{k}": [word(5, 20.0 * (1 + 3 * k), 25, "quad", "", False)] for k in range(40)}
    above = {
        "img": [word(5, 20.0 + 12 * k, 25, "quad", "", False) for k in range(40)],
    }
    for images in (alone, above):
        _, entries = inject(*read(images))
        assert Counter(one.fault for one in entries) == {"dropped": 2, "moved": 2}


@pytest.mark.few_fast(2)
@needs_data
@pytest.mark.parametrize("layout", ["zip", "txt"])
@pytest.mark.parametrize("name", SETS)
def test_real_sets_come_back(name: str, layout: str, tmp_path: Path) -> None:
    gt = DATA / name / "gt.zip"
    arguments = ["toys", str(gt), str(tmp_path / "out"), "--set", "faulty", "--layout", layout]
    made = CliRunner().invoke(main, [*arguments, "--seed", "3"])
    assert made.exit_code == 0, made.stderr
    record, faulty = tmp_path / "out/faulty.patch.json", tmp_path / f"out/faulty.{layout}"
    assert f"{sum(one.fault == 'moved' for one in read_patch(record).entries)} moved" in made.stdout
    back = tmp_path / f"back.{layout}"
    assert (
        identify(formats.open_source(faulty, "gt", FaultLog())) == read_patch(record).ground_truth
    )
    result = CliRunner().invoke(main, ["convert", str(faulty), str(back), "--patch", str(record)])
    assert result.exit_code == 0, result.stderr
    as_is = tmp_path / f"as_is.{layout}"  # what the format cannot hold is missing in both
    CliRunner().invoke(main, ["convert", str(gt), str(as_is), "--kind", "gt"])
    restored, original = (
        identify(formats.open_source(path, "gt", FaultLog())) for path in (back, as_is)
    )
    assert restored == original


def test_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text('img_1\n100,200\n1,9,"a",f,10,20,30,40\n7,9,"",f,50,20,30,40\n\n')
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        arguments = ["toys", str(gt), str(tmp_path / folder), "--recipe", "faulty"]
        assert CliRunner().invoke(main, [*arguments, "--seed", seed]).exit_code == 0
    for name in ("faulty.txt", "faulty.patch.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert '"seed": 2' in (tmp_path / "c/faulty.patch.json").read_text()
    assert read_patch(tmp_path / "c/faulty.patch.json").seed == 2


WORDS = st.tuples(st.integers(0, 60), st.integers(0, 12), st.integers(0, 30), st.integers(0, 9))


@given(images=st.lists(st.lists(WORDS, max_size=9), max_size=3))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_the_next_of_those_that_are_near_is_the_next_of_all(
    images: list[list[tuple[int, int, int, int]]],
) -> None:
    objects = columns(
        CollectedImage(str(k), "").with_objects(
            CollectedObject([x, y, x + width, y + height]) for x, y, width, height in words
        )
        for k, words in enumerate(images)
    ).objects
    image, lines = objects.image, lines_of(objects)
    possible = np.flatnonzero(lines.heights > 0)
    near = near_ends(lines, image, possible)
    for a in possible.tolist():
        every = possible[image[possible] == image[a]]
        assert next_in_line(lines, a, near(a)) == next_in_line(lines, a, every)
