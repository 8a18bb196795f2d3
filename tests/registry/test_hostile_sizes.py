"""Documents that are hard to read for their size, by every format's reader: memory and time."""

from __future__ import annotations

import gzip
import math
import os
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from forked import Ended, Server
from memory_limits import FIXED, MINUTE, PER_IMAGE
from stretched_samples import Make, sample_of, stretched, stretched_file

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats import FORMATS, open_source
from evaltex_cli.formats.documents.each_file import BYTES_PER_PAGE, FEW_PAGES

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage, pytest.mark.usefixtures("here")]

EVERY = os.environ.get("EVALTEX_HOSTILE") == "all"
SIZE, LARGEST = 4 << 20, 8 << 20
"""Bytes of a document, and of one in which objects are repeated, which readers have most work
with."""
SMALL = (1 << 17, 1 << 19, 1 << 20, 1 << 21)
"""Bytes of such documents, from one to the next of which memory grows."""
LINES_AGAIN = ("blank lines", "lines of blanks", "no objects")
"""The documents of lines that are repeated, by their labels."""
PER_FILE = 512
"""Bytes for each file of a folder or archive."""


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
        return self.largest == LARGEST or self.label.startswith(LINES_AGAIN)

    @property
    def largest(self) -> int:
        """The most bytes that are read."""
        return LARGEST if " again" in self.label else SIZE


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
    decide. If it takes too long, only a limit that the largest one meets can end it earlier.
    """
    few, small = read(server, name, document, SMALL[0])
    for size in SMALL[1:]:
        more, large = read(server, name, document, size)
        largest = large * document.largest // size
        growth = max(more.peak - few.peak, 0) / (large - small)
        peak = more.peak + growth * (largest - large)
        power = math.log(max(more.seconds, 0.01) / max(few.seconds, 0.01), large / small)
        seconds = more.seconds * (largest / large) ** max(power, 1)
        if seconds >= MINUTE:
            return False
        if peak <= most(name, document, largest):
            return True
        few, small = more, large
    return False


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
        ended, size = read(server, name, document, document.largest)
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


def test_memory_of_very_many_tiny_files_is_bounded(server: Server) -> None:
    count, line = 100_000, b"1,2,30,40,w\n"
    with zipfile.ZipFile("in.zip", "w") as packed:
        for k in range(count):
            packed.writestr(zipfile.ZipInfo(f"img_{k}.txt"), line)
    status, peak, seconds, said = server.run("in.zip", "in.zip", "res")
    assert status == 0, said
    assert peak <= FIXED + 2 * count * (8 * len(line) + PER_IMAGE + PER_FILE), peak >> 20
    assert seconds < 60, seconds
