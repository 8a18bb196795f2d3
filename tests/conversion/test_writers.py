"""Writers: objects written are read back the same, and what cannot be held is reported."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nested import close
from PIL import Image

from evaltex_cli import evaluate, formats
from evaltex_cli.conversion import WRITERS, Target, write_alto, write_csv, write_cvat, write_hocr
from evaltex_cli.conversion.base import Block, Holds, Job, for_target, load
from evaltex_cli.conversion.conversion import convert
from evaltex_cli.conversion.holding import NAMES_CHANGED, RUNS_LOST
from evaltex_cli.conversion.xml_text import NO_XML
from evaltex_cli.errors import FaultLog, InputError, counted
from evaltex_cli.formats.base import ReadImages, Side
from evaltex_cli.formats.collected import columns
from evaltex_cli.formats.image_sizes import in_pixels
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Objects

BY_RULES_OF_THEIR_OWN = [name for name in WRITERS if load(name).holds is None]


def write(path: Path, name: str, side: Side, images: list[CollectedImage]) -> Counter[str]:
    """Write images and return what was lost, by sentence."""
    return write_columns(path, name, side, [image.name for image in images], columns(images))


def write_columns(
    path: Path, name: str, side: Side, names: list[str], images: ReadImages
) -> Counter[str]:
    job = Job(path, side, names, "memory", FaultLog())
    load(name).write(job, iter([Block(names, images)]))
    job.faults.raise_if_any()
    return Counter({sentence: count for sentence, count in job.lost.items() if count})


def read(path: Path, side: Side, format_name: str | None = None) -> tuple[list[str], ReadImages]:
    log = FaultLog()
    source = formats.open_source(path, side, log, format_name)
    found = source.part(np.arange(len(source.names))).read_in_any_unit()
    log.extend(found.faults)
    log.raise_if_any()
    return source.names, found


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
@settings(deadline=None, derandomize=True, max_examples=80)
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
@settings(deadline=None, derandomize=True, max_examples=60)
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


def one(text: str = "word", dont_care: bool = False, **more: object) -> CollectedObject:
    return CollectedObject([1.0, 2.0, 30.0, 40.0], text, dont_care, **more)  # type: ignore[arg-type]


def test_an_icdar_archive_in_full(tmp_path: Path) -> None:
    path = tmp_path / "gt.zip"
    polygon = CollectedObject([0, 0, 9, 0, 9.5, 9, 0, 9, -1, 5], "60,000")
    images = [
        CollectedImage("img_2", "").with_objects([one('say "hi"'), one("", True)]),
        CollectedImage("img_1", ""),
    ]
    assert not write(path, "icdar2015", "gt", images)
    with zipfile.ZipFile(path) as packed:
        assert packed.namelist() == ["gt_img_2.txt", "gt_img_1.txt"]
        assert (
            packed.read("gt_img_2.txt")
            == b'1,2,30,2,30,40,1,40,say "hi"\n1,2,30,2,30,40,1,40,###\n'
        )
        assert packed.read("gt_img_1.txt") == b""
    write(tmp_path / "again.zip", "icdar2015", "gt", images)
    assert path.read_bytes() == (tmp_path / "again.zip").read_bytes()
    write(
        path,
        "icdar2015",
        "det",
        [CollectedImage("1", "").with_objects([polygon, one("", confidence=0.5)])],
    )
    with zipfile.ZipFile(path) as packed:
        assert (
            packed.read("res_1.txt") == b'0,0,9,0,9.5,9,0,9,-1,5,"60,000"\n1,2,30,2,30,40,1,40,\n'
        )


def test_what_an_icdar_archive_cannot_hold_is_reported(tmp_path: Path) -> None:
    objects = [
        one("word", True, id=7, region=1),
        one("###", id=2),
        CollectedObject([0, 0, 1, 1, 2, 2], "a\nb", id=3),
    ]
    lost = write(
        tmp_path / "gt.zip",
        "icdar2015",
        "gt",
        [CollectedImage("1", "", height=9, width=9).with_objects(objects)],
    )
    assert sorted(counted(count, sentence) for sentence, count in lost.items()) == [
        "1 image size left out: an ICDAR-style file holds none",
        "1 object became don't care: its transcription is ###",
        "1 object is numbered again: an ICDAR-style file holds no IDs",
        "1 object lost its region: an ICDAR-style file holds none",
        "1 transcription got blanks for line breaks",
        "1 transcription of don't-care objects left out: ### replaces it",
    ]
    some = [CollectedImage("1", "").with_objects([one(confidence=0.5), one()])]
    lost = write(tmp_path / "det.zip", "icdar2015", "det", some)
    assert [counted(n, s) for s, n in lost.items()] == [
        "1 confidence left out: not all objects have one in [0, 1]"
    ]
    lost = write(
        tmp_path / "box.zip", "icdar2013", "gt", [CollectedImage("1", "").with_objects(objects[2:])]
    )
    assert "1 polygon written as its bounding box" in [counted(n, s) for s, n in lost.items()]


@pytest.mark.parametrize("name", ["a/b", "../x", ""])
def test_names_that_an_archive_loses_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="rename the image"):
        write(
            tmp_path / "gt.zip", "icdar2015", "gt", [CollectedImage(name, "").with_objects([one()])]
        )
    assert list(tmp_path.iterdir()) == []


def test_coco_annotations_in_full(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    polygon = CollectedObject([0, 0, 9, 0, 9.5, 9], "curved", True)
    lost = write(
        path,
        "coco",
        "gt",
        [CollectedImage("12", "", height=40, width=50).with_objects([one(), polygon])],
    )
    assert not lost
    document = json.loads(path.read_text(encoding="utf-8"))
    common = {"image_id": 12, "category_id": 1}
    assert document == {
        "images": [{"id": 12, "file_name": "12", "height": 40, "width": 50}],
        "categories": [{"id": 1, "name": "text"}],
        "annotations": [
            {
                "id": 1,
                **common,
                "bbox": [1, 2, 29, 38],
                "segmentation": [],
                "area": 1102,
                "iscrowd": 0,
                "ignore": 0,
            }
            | {"utf8_string": "word"},
            {
                "id": 2,
                **common,
                "bbox": [0, 0, 9.5, 9],
                "segmentation": [[0, 0, 9, 0, 9.5, 9]],
                "area": 40.5,
            }
            | {"iscrowd": 1, "ignore": 1, "utf8_string": "curved"},
        ],
    }


def test_coco_results_in_full(tmp_path: Path) -> None:
    path = tmp_path / "det.json"
    images = [CollectedImage("a", "").with_objects([one(confidence=0.25)]), CollectedImage("b", "")]
    lost = write(path, "coco", "det", images)
    assert json.loads(path.read_text()) == [
        {
            "image_id": "a",
            "category_id": 1,
            "bbox": [1, 2, 29, 38],
            "segmentation": [],
            "score": 0.25,
            "utf8_string": "word",
        }
    ]
    assert [counted(n, s) for s, n in lost.items()] == [
        "1 image without objects left out: COCO results hold none"
    ]
    write(path, "coco", "det", [CollectedImage("b", "")])
    assert json.loads(path.read_text()) == []


def test_the_target_decides_the_writer(tmp_path: Path) -> None:
    assert for_target(Path("x.TXT")).name == "evaltex"
    with pytest.raises(InputError, match=r"its ending does not say .* one of \.txt, \.zip, \.json"):
        for_target(Path("x.doc"))
    with pytest.raises(InputError, match="unknown target format 'cocoo' \\(did you mean 'coco'"):
        load("cocoo")


# Label pictures -----------------------------------------------------------------------------------


def evaltex_gt(path: Path, lines: str, size: str = "20,30") -> Path:
    path.write_text(f"img_1\n{size}\n{lines}\n")
    return path


@pytest.mark.parametrize("mask_format", ["tif", "png"])
def test_masks_hold_the_objects(tmp_path: Path, mask_format: str) -> None:
    gt = evaltex_gt(
        tmp_path / "gt.txt", '1,1,"a",f,2,3,5,4\n300,1,"b",f,4,4,4,4\n3,1,"c",f,10,10,20,10,20,20\n'
    )
    convert(
        gt, tmp_path / "out.txt", "gt", Target(masks=tmp_path / "masks", mask_format=mask_format)
    )
    with Image.open(tmp_path / "masks" / f"img_1.{mask_format}") as picture:
        labels = np.asarray(picture)
    expected = np.zeros((20, 30), int)
    expected[3:7, 2:7] = 1
    expected[4:8, 4:8] = 300
    for row in range(10, 20):
        expected[row, row:20] = 3  # the diagonal's pixels have their centres on it
    assert labels.dtype == np.uint16 and labels.tolist() == expected.tolist()
    det = tmp_path / "det.txt"
    det.write_text('img_1\n1,"a",2,3,5,4\n300,"b",4,4,4,4\n3,"c",10,10,20,10,20,20\n')
    folder = tmp_path / "masks"
    scores = evaluate(tmp_path / "out.txt", det, gt_images=folder, det_images=folder).scores
    assert (scores["recall"], scores["precision"]) == (1, 1)


POINTS = st.lists(st.tuples(st.integers(-40, 200), st.integers(-40, 120)), min_size=3, max_size=7)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(POINTS)
def test_polygons_cover_the_pixels_whose_centres_lie_in_them(points: list[tuple[int, int]]) -> None:
    from evaltex_cli.conversion import write_label_images

    ring = [value / 4 for point in points for value in point]
    objects = columns([CollectedImage("1", "").with_objects([CollectedObject(ring)])]).objects
    picture = write_label_images.draw(objects, slice(0, 1), (12, 20))
    corners = list(zip(ring[::2], ring[1::2], strict=True))
    for row in range(12):
        for column in range(20):
            assert (picture[row, column] == 1) == _odd_crossings(
                corners, column + 0.5, row + 0.5
            ), (row, column)


def _odd_crossings(corners: list[tuple[float, float]], x: float, y: float) -> bool:
    """The even-odd rule; a point on a left side is within, on a right side not."""
    inside = False
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y0 <= y) != (y1 <= y) and x0 + (y - y0) * (x1 - x0) / (y1 - y0) <= x:
            inside = not inside
    return inside


@pytest.mark.parametrize(
    ("lines", "size", "message"),
    [
        ('1,1,"a",f,2,3,5,4\n2,1,"b",f,1,1,9,9\n', "20,30", "object 1 of image 'img_1' has no pixel"),
        ('1,1,"a",f,100,3,5,4\n', "20,30", "object 1 of image 'img_1' has no pixel"),
        ('70000,1,"a",f,1,3,5,4\n', "20,30", "IDs from 1 to 65535"),
        ('1,1,"a",f,1,3,5,4\n', "200000,300000", "at most 100000000 pixels"),
    ],
)  # fmt: skip
def test_masks_that_cannot_be_are_faults(
    tmp_path: Path, lines: str, size: str, message: str
) -> None:
    gt = evaltex_gt(tmp_path / "gt.txt", lines, size)
    with pytest.raises(InputError, match=message):
        convert(gt, tmp_path / "out.txt", "gt", Target(masks=tmp_path / "masks"))
    assert [path.name for path in tmp_path.iterdir()] == ["gt.txt"]


def test_masks_need_sizes_and_an_evaltex_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "gt_1.txt").write_text("1,2,3,4,a\n")
    with pytest.raises(InputError, match="image '1' without height and width"):
        convert(tmp_path / "src", tmp_path / "out.txt", "gt", Target(masks=tmp_path / "masks"))
    with pytest.raises(InputError, match="label pictures go with an EvaLTex file"):
        convert(tmp_path / "src", tmp_path / "out.zip", "gt", Target(masks=tmp_path / "masks"))
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_the_page_on_conversion_has_every_target() -> None:
    page = (Path(__file__).parents[2] / "docs" / "convert.md").read_text(encoding="utf-8")
    assert [
        line.split("`")[1]
        for line in page.splitlines()
        if line.startswith("| `") and "--to" not in line
    ] == list(WRITERS)


def test_a_file_of_the_only_image(tmp_path: Path) -> None:
    images = [
        CollectedImage(name, "", height=9, width=9).with_objects([one()]) for name in ("a", "b")
    ]
    assert not write(tmp_path / "a.xml", "alto", "gt", images[:1])
    assert read(tmp_path / "a.xml", "gt")[0] == ["a"]
    lost = write(tmp_path / "other.xml", "alto", "gt", images[:1])
    assert [counted(count, sentence) for sentence, count in lost.items()] == [
        "1 image name left out: it is that of the file"
    ]
    with pytest.raises(
        InputError, match=r"2 images; expected one for a \.xml file; end the target in \.zip"
    ):
        write(tmp_path / "b.xml", "alto", "gt", images)
    assert not (tmp_path / "b.xml").exists()


def test_objects_of_a_region_that_others_divide(tmp_path: Path) -> None:
    """Their order counts for some protocols, so it stays, and the region does not."""
    objects = [
        one(text, region=region) for text, region in (("a", 1), ("b", 2), ("c", 1), ("d", 1))
    ]
    lost = write(
        tmp_path / "gt.zip",
        "page",
        "gt",
        [CollectedImage("1", "", height=9, width=9).with_objects(objects)],
    )
    assert lost[RUNS_LOST] == 2
    found = read(tmp_path / "gt.zip", "gt")[1].objects
    assert (list(found.texts), found.regions.tolist()) == (["a", "b", "c", "d"], [1, 2, 3, 3])


def test_names_of_pictures_in_documents(tmp_path: Path) -> None:
    """A name with an ending is that of its picture; what the reader will call it is counted."""
    images = [CollectedImage(name, "").with_objects([one()]) for name in ("a", "b.png")]
    lost = write(tmp_path / "Label.txt", "paddleocr", "gt", images)
    assert lost[NAMES_CHANGED] == 1
    lines = (tmp_path / "Label.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["a.jpg", "b.png"]
    with pytest.raises(InputError, match="that does not begin with a bracket"):
        write(tmp_path / "Label.txt", "paddleocr", "gt", [CollectedImage("[1]", "")])
