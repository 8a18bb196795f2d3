"""What takes much memory or time for its size: every format's reader, in a
process; pictures; hints; leaks.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import math
import multiprocessing
import os
import re
import struct
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from click.testing import CliRunner
from forked import Ended, Server
from limits import at_most, counting
from PIL import Image
from samples import SAMPLES, Sample

from evaltex_cli import evaluate
from evaltex_cli.cli import main
from evaltex_cli.diagnosis.corrections import MAX_UNITED
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.errors.suggestions import HINT_WORK, Hints
from evaltex_cli.formats import FORMATS, load, open_source
from evaltex_cli.formats.documents.each_file import BYTES_PER_PAGE, FEW_PAGES
from evaltex_cli.formats.files.image_names import MAX_NAME_BYTES
from evaltex_cli.formats.files.text_lines import MAX_LINE_BYTES, MAX_OBJECTS, without_blank_lines
from evaltex_cli.geometry import polygons
from evaltex_cli.geometry.overlaps import MAX_PAIRS
from evaltex_cli.geometry.picture_runs import FEW_STRETCHES, TooManyRunsError, find_runs
from evaltex_cli.protocols import PROTOCOLS

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage]

EVERY = os.environ.get("EVALTEX_HOSTILE") == "all"
SIZE = 4 << 20
LARGEST = 8 << 20
"""Bytes of a document in which objects or lines are repeated, which readers have most work with."""
SMALL = (1 << 17, 1 << 19, 1 << 20, 1 << 21)
"""Bytes of such documents, from one to the next of which memory grows."""
MINUTE = 60
FIXED = 100 << 20
Make: TypeAlias = Callable[[int], bytes]
"""Returns a document of so many bytes, or a few more."""
LINES_AGAIN = ("blank lines", "lines of blanks", "no objects")
"""The documents of lines that are repeated, by their labels."""
PER_FILE = 512
"""Bytes for each file of a folder or archive."""
PER_IMAGE = 24
"""Bytes more for each image of an EvaLTex file."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as started:
        yield started


def stretched(name: str, text: str) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document from a sample's file that has so many bytes or
    more."""
    data = text.encode()
    if name.endswith((".txt", ".gt", ".tsv", ".csv")):
        line = data.strip().split(b"\n")[-1] + b"\n"
        yield "blank lines", lambda size: data + b"\n" * size
        yield "lines of blanks", lambda size: data + b" \r\n" * (size // 3)
        yield "one object again and again", lambda size: data + line * (size // 2 // len(line))
        yield "a long line", lambda size: data + line.strip() * (size // len(line))
        yield "no objects", lambda size: data + b"x\n" * (size // 2)
    elif name.endswith((".xml", ".hocr")):
        start = data.rindex(b"</")
        insides: dict[str, Make] = {
            "blanks": lambda size: b" " * size,
            "empty elements": lambda size: b"<a/>" * (size // 4),
            "depth": lambda size: b"<a>" * (size // 3),
            "attributes": lambda size: (
                b"<a " + b" ".join(b'a%x=""' % k for k in range(size // 9)) + b"/>"
            ),
            "a long name": lambda size: b'<a name="' + b"a" * size + b'"/>',
        }
        for label, inside in insides.items():
            yield label, lambda size, inside=inside: data[:start] + inside(size) + data[start:]
        yield from elements_again(data)
    else:
        value = json.loads(data)
        opening, rest = data[:1], data[1:]
        before = b"[" if isinstance(value, list) else b'{"":'
        yield "blanks", lambda size: opening + b" " * size + rest
        for label, item in (
            ("nulls", b"null,"),
            ("lists", b"[],"),
            ("objects", b'{"":0},'),
            ("keys", b'{"":0,"":0},'),
        ):
            yield (
                label,
                lambda size, item=item: before + b"[" + item * (size // len(item)) + b"0]," + rest,
            )
        yield from items_again(value)
        yield (
            "a long name",
            lambda size: json.dumps(value).replace(".jpg", "a" * size + ".jpg").encode(),
        )


def elements_again(data: bytes) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document in XML in which elements of one name are
    there again and again, for some names.
    """
    _, *names = dict.fromkeys(re.findall(rb"<([a-zA-Z]\w*)", data))
    for name in names[:: max(len(names) // 3, 1)]:
        found = re.search(rb"<%b\b(?:[^<>]*/>|.*?</%b>)" % (name, name), data, re.DOTALL)
        if found:  # else an element of HTML that has no end
            at, one = found.start(), found[0]
            yield (
                f"{name.decode()} again",
                lambda size, at=at, one=one: data[:at] + one * (size // len(one)) + data[at:],
            )


def items_again(value: object) -> Iterator[tuple[str, Make]]:
    """Yield a label, and what makes a document in JSON in which the last item of an
    outer or inner list is there again.
    """
    crowded = list(_crowded(value, ()))
    for k, (way, inner) in enumerate([*crowded[:1], *crowded[1:][-1:]]):
        whole = partial(_with_copies, value, inner)
        label = f"{'.'.join(map(str, way)) or 'items'} again"
        yield label, whole
        if not k:
            yield (
                f"{label}, with NaN",
                lambda size, whole=whole: whole(size).replace(b"}", b', "": NaN}', 1),
            )
            yield f"{label}, cut off", lambda size, whole=whole: whole(size)[:-9]
            yield f"{label}, as nulls", partial(_with_nulls, value, inner)


def _with_copies(value: object, inner: Any, size: int) -> bytes:
    """Make a document in which the last item of a list or object is there again, so many bytes of
    it."""
    key, item = list(inner.items())[-1] if isinstance(inner, dict) else (None, inner[-1])
    return _with_more(value, inner, f", {', '.join(_copies(key, item, size))}")


def _with_nulls(value: object, inner: Any, size: int) -> bytes:
    """Make a document in which nulls follow the items, half as many bytes."""
    return _with_more(value, inner, ", null" * (size // 12))


def _with_more(value: object, inner: Any, more: str) -> bytes:
    before = json.dumps(inner)
    return json.dumps(value).replace(before, f"{before[:-1]}{more}{before[-1]}", 1).encode()


def _copies(key: str | None, item: object, size: int) -> Iterator[str]:
    """Yield an item of this size in all, each with another ID and another number in its key."""
    text = json.dumps(item)
    for k in range(1000, 1000 + size // (len(text) + 2)):
        one = json.dumps({**item, "id": k}) if isinstance(item, dict) and "id" in item else text
        yield one if key is None else f'"{re.sub("[0-9]+", str(k), key)}": {one}'


def _crowded(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the lists in a value whose items are no numbers, and the objects
    whose keys are numbered.
    """
    if isinstance(value, list) and value and not isinstance(value[-1], float | int | str):
        yield way, value
    if isinstance(value, dict) and value and all(re.search("[0-9]", key) for key in value):
        yield way, value
    for step, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from _crowded(inner, (*way, step))


def sample_of(name: str) -> Sample:
    """Return the sample of a format."""
    made = [(key, sample) for key, sample in SAMPLES.items() if name in (key, sample.gt_format)]
    made += [(key, sample) for key, sample in SAMPLES.items() if SAME_READER.get(name) == key]
    return (
        made[0][1]
        if made
        else Sample({"gt.json": str(load(name).sample_content())}, many_in_one=True)
    )


def stretched_file(sample: Sample) -> tuple[str, str]:
    """Return the name and the text of the file of a sample that is stretched."""
    first = next(file for file in sample.gt if not file.endswith((".bmp", ".mat")))
    text = sample.gt[first]
    assert isinstance(text, str)
    return first, text


@cache
def sharing() -> dict[str, list[str]]:
    """Return the formats that share a reader: those of one module to which the same happens."""
    groups: dict[object, list[str]] = {}
    for name in readers():
        labels = [label for label, _ in stretched(*stretched_file(sample_of(name)))]
        groups.setdefault((FORMATS[name][0], *labels), []).append(name)
    return {name: group for group in groups.values() for name in group}


class Document(NamedTuple):
    """A document that a format reads, of any size."""

    label: str
    make: Make
    packed: bool
    """By gzip; formats of several files are in an archive anyway."""
    command: int
    """0 for validate; 1 for an evaluation, which reads it as both sides."""

    @property
    def repeats(self) -> bool:
        """Whether objects or lines are repeated."""
        return " again" in self.label or self.label.startswith(LINES_AGAIN)


def documents(name: str) -> Iterator[Document]:
    """Yield the documents of a format, from its sample.

    Reading is done by the module, unpacking by `runtime.input_files`, and both commands read in the
    same way: so the formats of a module take turns, and each of its documents is either packed or
    not. With ``EVALTEX_HOSTILE=all`` every format has every document, in both ways.
    """
    sample, group = sample_of(name), sharing()[name]
    turn = group.index(name)
    made = list(stretched(*stretched_file(sample)))
    turns = min(len(group), len(made))
    for k, (label, make) in enumerate(made):
        if (k - turn) % turns and not EVERY:
            continue
        if not sample.many_in_one:
            yield Document(label, make, False, k % 2)
            continue
        again = " again" in label
        gzipped = k % 2 == 1 and not again
        if not gzipped or EVERY:
            yield Document(label, make, False, (k + turn) % 2)
        if gzipped or (EVERY and not again):
            yield Document(f"{label}, gzip", make, True, (k // 2 + turn) % 2)


def read(server: Server, name: str, document: Document, size: int) -> tuple[Ended, int]:
    """Make a document of a size and let a command read it; return how this ended, and how many
    bytes there were, unpacked."""
    sample = sample_of(name)
    first, _ = stretched_file(sample)
    data = document.make(size)
    path = Path("in.zip" if not sample.many_in_one else f"{first}.gz" if document.packed else first)
    if not sample.many_in_one:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for file, content in {**sample.gt, first: data}.items():
                packed.writestr(file, content)
    else:
        path.write_bytes(gzip.compress(data) if document.packed else data)
    side = [str(path), "--gt-format", name]
    commands = [
        ["validate", *side],
        [*side[:1], str(path), "res", *side[1:], "--det-format", name, "--force"],
    ]
    ended = server.run(*commands[document.command])
    assert ended.status in (0, 1, 2), (document.label, ended.said)
    assert "internal" not in ended.said, (document.label, ended.said)
    return ended, len(data)


def most(name: str, document: Document, size: int) -> int:
    """Return the bytes of memory that reading a document of a size may take."""
    images = size // 2 if name == "evaltex" and document.label.startswith("no objects") else 0
    return FIXED + (1 + document.command) * (8 * size + PER_IMAGE * images)


def small_ones_suffice(server: Server, name: str, document: Document) -> bool:
    """Whether the largest document stays within the limits if memory grows on as from one small
    document to the next, and time with the same power of the size.

    Until faults and warnings are as many as are listed, memory grows faster: then the next two
    decide.
    """
    few, small = read(server, name, document, SMALL[0])
    for size in SMALL[1:]:
        more, large = read(server, name, document, size)
        largest = large * LARGEST // size
        growth = max(more.peak - few.peak, 0) / (large - small)
        peak = more.peak + growth * (largest - large)
        power = math.log(max(more.seconds, 0.01) / max(few.seconds, 0.01), large / small)
        seconds = more.seconds * (largest / large) ** max(power, 1)
        if peak <= most(name, document, largest) and seconds < MINUTE:
            return True
        few, small = more, large
    return False


SAME_READER = {
    "abbyy": "abbyy-line",
    "rects-chars": "rects",
    "icdar-xml": "icdar2003-xml",
    "coco-text-train": "coco-text",
    "page-region": "page",
    "ltrb": "icdar2013-test",
    "quad": "icdar2015",
    "polygon": "totaltext-commas",
    "ctw1500-offsets": "ctw1500",
    "totaltext": "totaltext-brackets",
    "yolo": "dota",
    "dota-results": "dota",
    "icdar2013-seg-chars": "icdar2013-seg",
}
"""Format -> sample, where it has not the format's name."""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def readers() -> list[str]:
    """All formats but other levels of the same files, and .mat, which has a limit of its own."""
    return [
        name
        for name, (module, _) in FORMATS.items()
        if name != "totaltext-mat" and not (".engines." in module and name.endswith("-line"))
    ]


@pytest.mark.parametrize("name", readers())
def test_memory_is_at_most_eight_times_what_is_unpacked(server: Server, name: str) -> None:
    """Of documents in which objects or lines are repeated, which take long, small ones show it; the
    largest one is read if these do not."""
    for document in documents(name):
        if document.repeats and not EVERY and small_ones_suffice(server, name, document):
            continue
        ended, size = read(server, name, document, LARGEST if document.repeats else SIZE)
        limit = most(name, document, size)
        assert ended.peak <= limit, (document.label, ended.peak >> 20, limit >> 20, ended.said)
        assert ended.seconds < MINUTE, (document.label, ended.seconds)


COLUMNS = (
    "level page_num block_num par_num line_num word_num left top width height conf text".replace(
        " ", "\t"
    )
)
PAGES = {
    "hocr": ("<html><body>", "<i class=ocr_page></i>", "</body></html>"),
    "alto": ("<alto><Layout>", "<Page></Page>", "</Layout></alto>"),
    "abbyy": ("<document>", "<page></page>", "</document>"),
    "tesseract-tsv": (f"{COLUMNS}\n", "1\t{}\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n", ""),
    "document-ai": ('{"pages":[', '{{"tokens":[]}},', "{}]}"),
    "textract": ('{"Blocks":[', '{{"BlockType":"PAGE","Page":{}}},', '{"BlockType":"PAGE"}]}'),
}
"""Documents of many pages: what they begin with, an empty page by its number,
and what they end with.
"""


@pytest.mark.parametrize("name", PAGES)
def test_memory_of_very_many_pages_grows_by_at_most_eight_times_their_size(
    server: Server, name: str
) -> None:
    before, page, after = PAGES[name]
    peaks = []
    for pages in (5_000, 20_000):
        made = (page.format(k).ljust(BYTES_PER_PAGE) for k in range(pages))
        Path("in.any").write_text(f"{before}{''.join(made)}{after}")
        status, peak, _, said = server.run("validate", "in.any", "--gt-format", name)
        assert status == 0, said
        peaks.append(peak)
    assert peaks[1] - peaks[0] <= 8 * 15_000 * BYTES_PER_PAGE, [peak >> 20 for peak in peaks]
    Path("in.any").write_text(f"{before}{''.join(map(page.format, range(30_000)))}{after}")
    status, peak, _, said = server.run("validate", "in.any", "--gt-format", name)
    assert status == 2
    assert f"more than {FEW_PAGES} pages, with fewer than {BYTES_PER_PAGE} bytes for each" in said
    assert peak <= FIXED


def test_pages_of_all_files_of_a_folder_have_a_limit_together() -> None:
    before, page, after = PAGES["hocr"]
    Path("in").mkdir()
    for k in range(3):
        Path(f"in/{k}.hocr").write_text(f"{before}{page * (FEW_PAGES // 2)}{after}")
    faults = FaultLog()
    open_source(Path("in"), "gt", faults, "hocr")
    assert [fault.file for fault in faults.shown] == [str(Path("in/2.hocr"))]


GT = 'img_1\n100,100\n1,1,"a",f,0,0,10,10\n'
DET = 'img_1\n1,"a",0,0,10,10\n'


def test_faults_after_very_many_blank_lines_have_their_line() -> None:
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET + "\n" * 70_000 + '1,"a",nonsense\n')
    with pytest.raises(InputError, match=r"det\.txt:70003: "):
        evaluate("gt.txt", "det.txt")
    Path("gt").mkdir()
    Path("det").mkdir()
    Path("gt/1.txt").write_text("0,0,10,10,a\n")
    Path("det/1.txt").write_text("0,0,10,10\n" + " \r\n" * 70_000 + "0,0,nonsense\n")
    with pytest.raises(InputError, match=r"det/1\.txt:70002: "):
        evaluate("gt", "det")


def test_an_image_has_a_limit_of_objects_and_a_line_one_of_bytes() -> None:
    Path("gt").mkdir()
    Path("det").mkdir()
    Path("gt/1.txt").write_text("0,0,10,10,a\n")
    Path("det/1.txt").write_text("20,20,40,40\n" * (MAX_OBJECTS + 1))
    with pytest.raises(
        InputError, match=rf"det/1\.txt:{MAX_OBJECTS + 1}: more than {MAX_OBJECTS} lines"
    ):
        evaluate("gt", "det")
    Path("det/1.txt").write_text("20,20,40,40\n20,20,40,40," + "1" * MAX_LINE_BYTES)
    with pytest.raises(
        InputError, match=rf"det/1\.txt:2: a line of more than {MAX_LINE_BYTES} bytes"
    ):
        evaluate("gt", "det")
    Path("gt.txt").write_text(GT)
    Path("det.txt").write_text(DET + "a" * MAX_LINE_BYTES * 6 + "\n" + DET)
    with pytest.raises(
        InputError, match=rf"det\.txt:3: a line of more than {MAX_LINE_BYTES} bytes"
    ):
        evaluate("gt.txt", "det.txt")


@pytest.mark.parametrize("length", [MAX_NAME_BYTES, MAX_NAME_BYTES + 1])
@pytest.mark.parametrize("letter", ["a", "!"])
def test_names_have_a_limit(length: int, letter: str) -> None:
    Path("gt.txt").write_text(GT.replace("img_1", letter * length))
    Path("det.txt").write_text(DET.replace("img_1", letter * length))
    image = {"id": 1, "file_name": f"{letter * length}.jpg", "width": 9, "height": 9}
    Path("gt.json").write_text(json.dumps({"images": [image], "annotations": [], "categories": []}))
    with zipfile.ZipFile("gt.zip", "w") as packed:
        packed.writestr(f"{letter * length}.txt", "0,0,9,9,a\n")
    for name in ("gt.txt", "det.txt", "gt.json", "gt.zip"):
        faults = FaultLog()
        format_name = "coco-file" if name == "gt.json" else None
        open_source(Path(name), "det" if name == "det.txt" else "gt", faults, format_name)
        reported = [f"{fault.found}; {fault.expected}" for fault in faults.shown]
        assert faults.count == (length > MAX_NAME_BYTES), (name, reported)
        assert all(
            one.startswith(f"an image name of more than {MAX_NAME_BYTES} bytes") for one in reported
        ), reported


def test_lines_that_are_left_have_their_numbers() -> None:
    text = b"a\n" + b"\n" * 70_000 + b"  b\r\n \t\n\r\nc"
    left, numbers = without_blank_lines(text)
    assert left == b"a\n  b\r\nc\n"
    assert numbers is not None
    assert numbers.tolist() == [0, 70_001, 70_004]
    assert without_blank_lines(b"\na\n") == (b"\na\n", None)


def test_pictures_full_of_runs_are_refused_before_they_take_memory(server: Server) -> None:
    noise = (np.indices((1000, 1000)).sum(axis=0) % 2).astype(np.uint8)
    with pytest.raises(TooManyRunsError):
        find_runs(noise)
    assert len(find_runs(noise[:300, :300]).label) == 300 * 300 // 2 < FEW_STRETCHES
    for side in ("gt", "det"):
        Path(side).mkdir()
        for k in range(8):
            Image.fromarray(noise).save(f"{side}/{k}.png")
    Path("gt.txt").write_text("".join(f'{k}\n1000,1000\n1,1,"",f,0,0,999,999\n' for k in range(8)))
    Path("det.txt").write_text("".join(f'{k}\n1,"",0,0,999,999\n' for k in range(8)))
    status, peak, _, said = server.run("gt.txt", "det.txt", "res", "gt", "det")
    assert status == 2
    assert "gt/0.png: more than" in said
    assert peak < FIXED + 8 * noise.size


def write_stripes(images: int, side: int) -> None:
    """Write label pictures: stripes along x, and wider ones along y, which meet all of them."""
    rows, columns = np.indices((side, side), dtype=np.uint16)
    texts = {"gt": "", "det": ""}
    for name, across, width in (("gt", rows, 1), ("det", columns, 4)):
        Path(name).mkdir()
        labels = np.where(across % (2 * width) < width, across // (2 * width) + 1, 0)
        drawn = Image.fromarray(labels.astype(np.uint16))
        for k in range(images):
            drawn.save(f"{name}/{k}.png")
            texts[name] += f"{k}\n" + f"{side},{side}\n" * (name == "gt")
            for i in range(1, int(labels.max()) + 1):
                number = f'{i},{i},"w",f' if name == "gt" else f'{i},"w"'
                texts[name] += f"{number},0,0,9,9\n"
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text)


def test_memory_of_label_pictures_in_which_very_many_objects_overlap(server: Server) -> None:
    write_stripes(6, 1000)
    status, peak, _, said = server.run("gt.txt", "det.txt", "res", "gt", "det", "-a")
    assert status == 0, said
    assert peak <= FIXED + 8 * 12 * 1000**2, peak >> 20


def test_validation_does_work_in_proportion_to_the_objects_of_an_image() -> None:
    calls = []
    Path("det").mkdir()
    Path("pictures").mkdir()
    Image.new("L", (50, 50)).save("pictures/1.png")
    for count in (100, 5_000, 20_000):  # the first imports what is needed
        # every object is beyond the picture and there twice, a fault is among them
        lines = [f"{k // 2},-5,{k // 2 + 10},-5,{k // 2 + 10},20,{k // 2},20" for k in range(count)]
        Path("det/1.txt").write_text("\n".join([*lines, "1,2,x"]))
        with counting() as counted:
            result = CliRunner().invoke(
                main, ["validate", "det", "--images", "pictures", "--gt-format", "quad"]
            )
        assert result.exit_code == 2, result.output
        calls.append(counted.count)
    assert calls[2] < 4.5 * calls[1], calls


def test_polygons_tangled_below_the_limit_have_a_limit_together() -> None:
    rng = np.random.default_rng(1)
    ring = rng.integers(0, 1000, (40, 2))
    one = ",".join(map(str, ring.ravel().tolist()))
    Path("gt.txt").write_text(GT)
    few, many = (DET + "".join(f'{k},"",{one}\n' for k in range(2, count)) for count in (4, 400))
    Path("det.txt").write_text(few)
    assert evaluate("gt.txt", "det.txt").det.repaired == 2
    Path("det.txt").write_text(many)
    with (
        at_most(calls=1_000_000),
        pytest.raises(
            InputError, match=r"det\.txt:\d+: a polygon of 40 .* and those before it cross"
        ),
    ):
        evaluate("gt.txt", "det.txt")
    bow_tie = DET + "".join(f'{k},"",0,0,9,9,9,0,0,9,0,5\n' for k in range(2, 9000))
    Path("det.txt").write_text(bow_tie)
    assert evaluate("gt.txt", "det.txt").det.repaired == 8998
    assert polygons.FEW_CROSSINGS * 500 == polygons.MAX_CROSSINGS_OF_ALL


def test_memory_of_very_many_tiny_files_is_bounded(server: Server) -> None:
    count, line = 100_000, b"1,2,30,40,w\n"
    with zipfile.ZipFile("in.zip", "w") as packed:
        for k in range(count):
            packed.writestr(zipfile.ZipInfo(f"img_{k}.txt"), line)
    status, peak, seconds, said = server.run("in.zip", "in.zip", "res")
    assert status == 0, said
    assert peak <= FIXED + 2 * count * (8 * len(line) + PER_IMAGE + PER_FILE), peak >> 20
    assert seconds < 60, seconds


def bomb(kind: str, side: int) -> bytes:
    """A picture of black pixels, of which nearly nothing is in the file."""
    packed, stored = zlib.compressobj(9), min(side, 15_000)
    rows = b"\0" * (stored + (kind == "png"))
    data = b"".join(packed.compress(rows) for _ in range(stored)) + packed.flush()
    if kind == "png":

        def chunk(name: bytes, content: bytes) -> bytes:
            return (
                struct.pack(">I", len(content))
                + name
                + content
                + struct.pack(">I", zlib.crc32(name + content))
            )

        head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
        return (
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
        )
    values = {
        256: side,
        257: side,
        258: 8,
        259: 8,
        262: 1,
        273: 8,
        277: 1,
        278: side,
        279: len(data),
    }
    tags = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values.items())
    head = b"II*\0" + struct.pack("<I", 8 + len(data))
    return head + data + struct.pack("<H", len(values)) + tags + bytes(4)


@pytest.mark.parametrize("kind", ["png", "tif"])
@pytest.mark.parametrize("side", [15_000, 2**31 - 1])
def test_pictures_of_huge_dimensions_are_refused_before_they_are_decoded(
    server: Server, kind: str, side: int
) -> None:
    data = bomb(kind, side)
    for folder in ("gt", "det"):
        Path(folder).mkdir()
        Path(f"{folder}/img_1.{kind}").write_bytes(data)
    Path("gt.txt").write_text(GT.replace("100,100", f"{side},{side}"))
    Path("det.txt").write_text(DET)
    status, peak, seconds, said = server.run("gt.txt", "det.txt", "res", "gt", "det")
    assert status == 2
    assert f"{side**2} pixels" in said or "cannot be read" in said, said
    status, sizes_peak, sizes_seconds, said = server.run(
        "validate", "gt.txt", "det.txt", "--images", "gt"
    )
    assert status in (0, 2), said
    assert max(peak, sizes_peak) < FIXED
    assert max(seconds, sizes_seconds) < 10


NAMES: dict[str, Callable[[], list[str]]] = {
    "numbers": lambda: [f"img_{k:05d}.jpg" for k in range(10_000)],
    "one letter": lambda: ["a" * k + "b" + "a" * (253 - k) for k in range(250)] * 40,
    "long": lambda: ["a" * k + "b" + "a" * (3999 - k) for k in range(4000)],
    "two letters": lambda: [
        "".join("ab"[(k * j) % 7 % 2] for j in range(190)) + str(k) for k in range(10_000)
    ],
}


@pytest.mark.parametrize("kind", NAMES)
def test_hints_take_bounded_work_for_names_of_any_likeness(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import difflib

    compared: list[int] = []
    ratio = difflib.SequenceMatcher.ratio

    def counted(matcher: difflib.SequenceMatcher[str]) -> float:
        compared.append(len(matcher.a) * len(matcher.b))
        return ratio(matcher)

    monkeypatch.setattr(difflib.SequenceMatcher, "ratio", counted)
    names = NAMES[kind]()
    hints = Hints(names)
    for name in names[:2000]:
        hints.nearest(name[:3] + "!" + name[4:])
    assert sum(compared) <= 2.2 * HINT_WORK  # a likeness is computed twice
    if kind == "numbers":
        assert Hints(names).nearest("imgg_00017.jpg") == " (did you mean 'img_00017.jpg'?)"


def packed_inputs() -> None:
    Path("gt.txt.gz").write_bytes(gzip.compress(GT.encode()))
    Path("det.txt.gz").write_bytes(gzip.compress(DET.encode()))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_long_lived_process_leaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(Path.cwd()))
    packed_inputs()
    Path("bad.txt.gz").write_bytes(gzip.compress(DET.encode())[:-6])
    for _ in range(20):
        evaluate("gt.txt.gz", "det.txt.gz")
    gc.collect()  # what other tests left open is not closed meanwhile
    descriptors, memory = len(os.listdir("/proc/self/fd")), resident()
    threads = {*threading.enumerate()}  # some of other tests may end
    for _ in range(int(os.environ.get("EVALTEX_EVALUATIONS", "200"))):
        evaluate("gt.txt.gz", "det.txt.gz")
    with pytest.raises(InputError, match="damaged gzip"):
        evaluate("gt.txt.gz", "bad.txt.gz")
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert {*threading.enumerate()} <= threads
    assert not multiprocessing.active_children()
    assert resident() - memory < 8 << 20
    assert not list(Path().glob("evaltex-*.txt"))


def _scores(_: int = 0) -> dict[str, object]:
    return dict(evaluate("gt.txt.gz", "det.txt.gz").scores)


def test_threads_forks_and_event_loops_give_the_same_results() -> None:
    packed_inputs()
    expected = _scores()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(_scores, range(40))) == [expected] * 40
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_scores, range(4)) == [expected] * 4

    async def cell() -> dict[str, object]:
        return _scores()

    assert asyncio.run(cell()) == expected


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


@pytest.mark.parametrize(
    ("protocol", "corners"), [("all", 0), ("all", 4), *((name, 4) for name in PROTOCOLS)]
)
def test_memory_of_as_many_pairs_as_may_overlap(
    server: Server, protocol: str, corners: int
) -> None:
    size = write_crowd(corners)
    arguments = ("gt.txt", "det.txt", "results", "-a", "--force", "--protocol", protocol)
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
