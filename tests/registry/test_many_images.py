"""Documents of very many tiny images, and of tiny words: what a reader takes grows by at most eight
times their size.
"""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import pytest

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats import open_source

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage]

SMALL, *LARGE = 60_000, 260_000, 1_000_000
"""Bytes of documents."""
AT_ONCE = 1 << 24
"""Bytes that would hide how memory grows if they were taken for a document of any size."""
MOST = 8
"""Bytes of memory for each byte of a document."""
TRIANGLE = "[[0,0],[9,0],[9,9]]"


class Document(NamedTuple):
    """What a document begins and ends with, and its images, by their number; `between` divides
    them. `again` is a second list, for documents that list objects apart.
    """

    before: str
    image: str
    after: str = ""
    between: str = ","
    again: tuple[str, str] | None = None

    def text(self, count: int) -> str:
        """Return the document with so many images."""
        images = (self.image.replace("#", f"{k:x}").replace("%", str(k)) for k in range(count))
        listed = self.between.join(images)
        if self.again is None:
            return f"{self.before}{listed}{self.after}"
        begin, item = self.again
        more = ",".join(item.replace("#", f"{k:x}").replace("%", str(k)) for k in range(count))
        return f"{self.before}{listed}{begin}{more}{self.after}"


DOCUMENTS = {
    "art": Document("{", f'"#":[{{"points":{TRIANGLE}}}]', "}"),
    "coco": Document(
        '{"images":[',
        '{"id":"#"}',
        "]}",
        again=('],"annotations":[', '{"id":%,"image_id":"#","bbox":[1,1,2,2]}'),
    ),
    "coco with files": Document(
        '{"images":[',
        '{"id":"#","file_name":"#"}',
        "]}",
        again=('],"annotations":[', '{"id":%,"image_id":"#","bbox":[1,1,2,2]}'),
    ),
    "coco without objects": Document('{"images":[', '{"id":%}', '],"annotations":[]}'),
    "coco with files, without objects": Document(
        '{"images":[', '{"id":%,"file_name":"#"}', '],"annotations":[]}'
    ),
    "coco-res": Document("[", '{"image_id":"#","bbox":[1,1,2,2]}', "]"),
    "coco-text": Document(
        '{"imgs":{',
        '"#":{"set":"val"}',
        "}}",
        again=('},"anns":{', '"%":{"image_id":"#","bbox":[1,1,2,2]}'),
    ),
    "textocr": Document(
        '{"imgs":{',
        '"#":{}',
        "}}",
        again=('},"anns":{', '"#_1":{"image_id":"#","points":[0,0,9,0,9,9]}'),
    ),
    "hiertext": Document(
        '{"annotations":[',
        f'{{"image_id":"#","paragraphs":[{{"lines":[{{"words":[{{"vertices":{TRIANGLE}}}]}}]}}]}}',
        "]}",
    ),
    "label-studio": Document(
        "[",
        '{"data":{"image":"#"},"annotations":[{"result":[{"original_width":9,"original_height":9,"value":{"x":1,"y":1,"width":9,"height":9}}]}]}',
        "]",
    ),
    "mmocr": Document('{"data_list":[', '{"img_path":"#","instances":[{"bbox":[1,1,2,2]}]}', "]}"),
    "mmocr-lines": Document(
        "", '{"file_name":"#","annotations":[{"bbox":[1,1,2,2]}]}\n', between=""
    ),
    "paddleocr": Document("", f"#\t[{TRIANGLE}]\n", between=""),
    "surya-line": Document("{", f'"#":[{{"text_lines":[{{"polygon":{TRIANGLE}}}]}}]', "}"),
    "ufo": Document('{"images":{', f'"#":{{"words":{{"1":{{"points":{TRIANGLE}}}}}}}', "}}"),
    "via": Document(
        "{",
        '"#":{"filename":"#","regions":[{"shape_attributes":{"name":"rect","x":1,"y":1,"width":2,"height":2}}]}',
        "}",
    ),
    "via-csv": Document(
        "filename,region_shape_attributes,region_attributes\n",
        '#,"{""name"":""rect"",""x"":1,""y"":1,""width"":2,""height"":2}",\n',
        between="",
    ),
    "cvat": Document(
        "<annotations>",
        '<image name="#"><box xtl="1" ytl="1" xbr="2" ybr="2"/></image>',
        "</annotations>",
        "",
    ),
    "icdar-xml": Document(
        "<tagset>",
        '<image><imageName>#</imageName><taggedRectangle x="1" y="1" width="9" height="9"/></image>',
        "</tagset>",
        "",
    ),
    "dota-results": Document("", "# 0.5 1 1 9 1 9 9 1 9\n", between=""),
    "table": Document("image,x0,y0,x1,y1\n", "#,1,1,9,9\n", between=""),
    "ufo words": Document('{"images":{"a":{"words":{', f'"%":{{"points":{TRIANGLE}}}', "}}}}"),
    "hocr": Document(
        "<html><body><div class=ocr_page>",
        "<i class=ocrx_word title='bbox 0 0 9 9'>#</i>",
        "</div></body></html>",
        "",
    ),
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def peak(name: str, count: int) -> tuple[int, int]:
    """Return the bytes of a document of so many images, and of the memory that its index takes."""
    text = DOCUMENTS[name].text(count)
    Path("in.any").write_text(text)
    size = len(text)
    del text
    gc.collect()
    tracemalloc.start()
    try:
        faults = FaultLog()
        source = open_source(Path("in.any"), "gt", faults, name.split(maxsplit=1)[0])
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not faults.count, faults.shown
    assert len(source.names) == (1 if name in ("hocr", "ufo words") else count)
    return size, taken


@pytest.mark.parametrize("name", DOCUMENTS)
def test_memory_grows_by_at_most_eight_times_the_document(name: str) -> None:
    """Tables grow by doubling: if one just did, a larger document decides."""
    peak(name, 10)
    each = len(DOCUMENTS[name].text(1_000)) / 1_000
    small, before = peak(name, int(SMALL / each))
    assert before < AT_ONCE
    for size in LARGE:
        large, after = peak(name, int(size / each))
        growth = (after - before) / (large - small)
        if growth <= MOST:
            break
    assert growth <= MOST
