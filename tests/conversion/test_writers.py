"""Writers: objects written are read back the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evaltex_cli.conversion.base import Holds, for_target, load
from evaltex_cli.conversion.holding import RUNS_LOST
from evaltex_cli.conversion.xml_text import NO_XML
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nested import close
from writing import read, write_columns

from evaltex_cli.conversion import WRITERS, write_alto, write_csv, write_cvat, write_hocr
from evaltex_cli.errors import InputError
from evaltex_cli.old_formats.base import ReadImages, Side
from evaltex_cli.old_formats.collected import columns
from evaltex_cli.old_formats.image_sizes import in_pixels
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Objects

BY_RULES_OF_THEIR_OWN = [name for name in WRITERS if load(name).holds is None]


def described(found: ReadImages, corners: bool) -> list[list[tuple[object, ...]]]:
    """Each image's objects: shape, transcription, don't care, confidence;
    boxes as their corners where asked.
    """
    objects = found.objects
    rows: list[list[tuple[object, ...]]] = []
    for start, stop in zip(
        objects.offsets[:-1].tolist(), objects.offsets[1:].tolist(), strict=True
    ):
        rows.append([])
        for i in range(start, stop):
            shape: object = objects.boxes[i].tolist()
            ring = objects.outlines.ring(i).tolist()
            if ring:
                shape = ring
            elif corners:
                x0, y0, x1, y1 = objects.boxes[i].tolist()
                shape = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
            confidence = np.nan if objects.confidences is None else float(objects.confidences[i])
            rows[-1].append((shape, objects.texts[i], bool(objects.dont_care[i]), confidence))
    return rows


NUMBERS = st.one_of(
    st.integers(-9999, 9999).map(float),
    st.floats(-1e4, 1e4, width=32),
    st.sampled_from([0.1, 1e-7]),
)
_TEXTS = [
    "",
    "word",
    "1996",
    "60,000",
    "0.5",
    "Latin,word",
    '"quoted"',
    'a"b',
    "\\",
    '\\"',
    ",",
    " ",
    " x ",
]
_TEXTS += [
    "####",
    "##::x",
    "nan",
    "-inf,",
    "###a",
    "+5",
    "t,1,2,3,4",
    "\ufeffx",
    "x\t",
    "\x00",
    "Ünï 日本語",
    "[u'c']",
]
TEXTS = st.one_of(
    st.sampled_from(_TEXTS),
    st.text(
        st.characters(exclude_characters="\n\r", exclude_categories=["Cs", "Zl", "Zp"]), max_size=9
    ),
)


@st.composite
def one_object(draw: st.DrawFn, side: Side, polygons: bool, rich: bool) -> CollectedObject:
    if polygons and draw(st.booleans()):
        count = draw(st.integers(3, 7)) if polygons else 4
        coordinates = draw(st.lists(NUMBERS, min_size=2 * count, max_size=2 * count))
    else:
        x, y = draw(NUMBERS), draw(NUMBERS)
        width, height = draw(st.integers(1, 4000)) / 8, draw(st.integers(1, 4000)) / 8
        coordinates = [x, y, x + width, y + height]
    dont_care = side == "gt" and draw(st.booleans())
    text = (
        "###" if dont_care and not rich else draw(TEXTS.filter(lambda text: rich or text != "###"))
    )
    return CollectedObject(
        coordinates, text, dont_care, confidence=draw(st.floats(0, 1)) if side == "det" else np.nan
    )


@st.composite
def scenes(
    draw: st.DrawFn, side: Side, polygons: bool, rich: bool, one_line: bool = False
) -> list[CollectedImage]:
    images = []
    for k in range(draw(st.integers(1, 3))):
        found = draw(st.lists(one_object(side, polygons, rich), min_size=1, max_size=4))
        for one in found if one_line else ():  # as `str.splitlines` counts lines
            one.text = " ".join(one.text.splitlines())
        images.append(
            CollectedImage(
                f"img_{k + 1}", "", height=draw(st.integers(1, 999)), width=640
            ).with_objects(found)
        )
    return images


@pytest.mark.few_fast(3)
@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("name", BY_RULES_OF_THEIR_OWN)
@settings(deadline=None, derandomize=True, max_examples=25)
@given(data=st.data())
def test_objects_written_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, side: Side, data: st.DataObject
) -> None:
    """Everything that the target can hold: shapes to the last bit,
    transcriptions, don't care, confidences.
    """
    path = tmp_path_factory.mktemp("written") / f"file{load(name).ending}"
    images = data.draw(
        scenes(side, name != "icdar2013", name in ("coco", "evaltex"), name == "evaltex")
    )
    expected, corners = columns(images), name == "icdar2015"
    wanted = described(expected, corners)
    lost = write_columns(path, name, side, [image.name for image in images], expected)
    names, found = read(path, side, {"icdar2015": "polygon", "icdar2013": "ltrb"}.get(name))
    got = described(found, corners)
    if name == "evaltex":
        wanted = [[(*row[:3], np.nan) for row in image] for image in wanted]
    if side == "gt" or name == "evaltex":
        wanted, got = ([[row[:3] for row in image] for image in rows] for rows in (wanted, got))
    assert names == [image.name for image in images]
    rounded = sum(count for sentence, count in lost.items() if "rounding" in sentence)
    if not rounded:
        assert got == wanted
    assert rounded <= found.objects.count
    if name in ("evaltex", "coco") and side == "gt":
        assert found.sizes.tolist() == expected.sizes.tolist()
    if name != "coco" or side == "det":
        assert found.objects.ids.tolist() == expected.objects.ids.tolist()


def held(row: tuple[object, ...], holds: Holds, side: Side) -> tuple[object, ...]:
    """What a format holds of an object."""
    shape, text, dont_care, confidence = row
    assert isinstance(shape, list)
    if (
        isinstance(shape[0], list)
        and holds.most_vertices is not None
        and len(shape) > holds.most_vertices
    ):
        (x0, y0), (x1, y1) = np.min(shape, axis=0).tolist(), np.max(shape, axis=0).tolist()
        shape = [x0, y0, x1, y1]
    if not holds.boxes and not isinstance(shape[0], list):
        shape = [[shape[i], shape[k]] for i, k in ((0, 1), (2, 1), (2, 3), (0, 3))]
    if holds.whole:
        shape = np.maximum(np.floor(np.add(shape, 0.5)), 0).tolist()
    if side == "gt":
        dont_care = holds.dont_care and (dont_care or text in holds.marks)
    return (
        shape,
        text if holds.texts else "",
        dont_care,
        confidence if holds.confidences else np.nan,
    )


def runs(objects: Objects) -> list[bool]:
    """Whether each object is of another region than the one before it in its image."""
    others = np.diff(objects.regions, prepend=-1) != 0
    others[objects.offsets[:-1][np.diff(objects.offsets) > 0]] = True
    return others.tolist()


@pytest.mark.few_fast(4)
@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in BY_RULES_OF_THEIR_OWN])
@settings(deadline=None, derandomize=True, max_examples=25)
@given(data=st.data())
def test_what_a_format_holds_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, side: Side, data: st.DataObject
) -> None:
    """What `Holds` declares, and nothing of the rest: shapes, transcriptions,
    don't care, confidences, regions.
    """
    writer = load(name)
    assert writer.holds is not None
    images = data.draw(scenes(side, True, True))
    path = tmp_path_factory.mktemp("written") / f"file{writer.ending}"
    expected = columns(images)
    boxes = expected.objects.boxes
    assume(name != "csv" or boxes.min() < 0 or boxes.max() > 1)  # else it is refused
    wanted = [
        [held(row, writer.holds, side) for row in image] for image in described(expected, False)
    ]
    lost = write_columns(path, name, side, [image.name for image in images], expected)
    names, found = read(path, side, writer.format)
    if writer.holds.needs_sizes:
        found = in_pixels(found, expected.sizes)
    assert names == [image.name for image in images]
    got = described(found, not writer.holds.boxes)
    if lost[NO_XML] or any(
        lost[module.BLANKS] for module in (write_alto, write_hocr, write_cvat, write_csv)
    ):
        wanted, got = (
            [[(row[0], *row[2:]) for row in image] for image in rows] for rows in (wanted, got)
        )
    assert close(got, wanted, 0 if writer.holds.exact else 1e-9)
    if writer.holds.sizes:
        assert found.sizes.tolist() == expected.sizes.tolist()
    if side == "gt" and writer.holds.regions and not lost[RUNS_LOST]:
        assert runs(found.objects) == runs(expected.objects)


def test_the_target_decides_the_writer(tmp_path: Path) -> None:
    assert for_target(Path("x.TXT")).name == "evaltex"
    with pytest.raises(InputError, match=r"its ending does not say .* one of \.txt, \.zip, \.json"):
        for_target(Path("x.doc"))
    with pytest.raises(InputError, match="unknown target format 'cocoo' \\(did you mean 'coco'"):
        load("cocoo")


def test_the_page_on_conversion_has_every_target() -> None:
    page = (Path(__file__).parents[2] / "docs" / "convert.md").read_text(encoding="utf-8")
    assert [
        line.split("`")[1]
        for line in page.splitlines()
        if line.startswith("| `") and "--to" not in line
    ] == list(WRITERS)
