"""Reports that tests write, and what they read of a page, in its data or in a browser."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from chromium import Chromium
from click.testing import CliRunner

from evaltex_cli import diagnose
from evaltex_cli.cli import main
from evaltex_cli.diagnosis.diagnosis import Diagnosis
from evaltex_cli.diagnosis.error_types import ERROR_TYPES
from evaltex_cli.report import Made, Pictures, make, read

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = (
    '</script><img src="https://example.org/x.png"'
    " onerror=\"document.title='taken'\"><!--<script>&amp;\u202e"
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


def evaluated(gt: Path, det: Path, res_dir: Path, *options: str) -> Path:
    """Run the command line."""
    done = CliRunner().invoke(main, [str(gt), str(det), str(res_dir), "--quiet", *options])
    assert done.exit_code == 0, done.output
    return res_dir


def islands(file: Path) -> dict[str, Any]:
    """The data of a page, by the element's name; images one by one, and columns as lists."""
    found = re.findall(
        r'<script type="application/json" id="([\w-]+)">(.*?)</script>',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    data = {name: json.loads(text) for name, text in found}
    for name, value in data.items():
        if name.startswith("images-"):
            data[name] = images_of(value)
        elif name.startswith("protocol-"):
            for system in value["images"] or ():
                system["scores"] = {
                    one: numbers(packed) for one, packed in system["scores"].items()
                }
                system["counts"] = [*map(numbers, system["counts"])]
    return data


def numbers(packed: Sequence[Any] | None) -> list[Any]:
    """What `image_columns.packed_numbers` has packed, None for what is undefined; none of a column
    that is left out.
    """
    kind, scale, content, *repeated = packed or ("i1", 1, "")
    read = np.frombuffer(base64.b64decode(content, validate=True), f"<{kind}")
    undefined = np.isnan(read) if kind == "f8" else read == np.iinfo(kind).min
    shown = [value if scale == 1 else value / scale for value in read.tolist()]
    values = [None if un else value for value, un in zip(shown, undefined.tolist(), strict=True)]
    return values * repeated[0] if repeated else values


def cut(values: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    """Values in lists of as many as each count says."""
    assert sum(counts) == len(values)
    ends = list(accumulate(counts, initial=0))
    return [values[start:stop] for start, stop in pairwise(ends)]


def by_image(columns: dict[str, list[Any]], counts: Sequence[int]) -> list[dict[str, Any]]:
    lists = {name: cut(values, counts) for name, values in columns.items()}
    return [{name: of[k] for name, of in lists.items()} for k in range(len(counts))]


def drawn(side: dict[str, Any], has_shapes: bool) -> list[dict[str, Any]]:
    """The objects of one side of each image of a chunk."""
    columns = {"id": numbers(side.get("id"))}
    if has_shapes:
        lengths = numbers(side.get("numbers"))
        columns["shape"] = cut(numbers(side.get("shape")), lengths)
        columns["text"] = side.get("text", [])
        columns["confidence"] = numbers(side.get("confidence"))
    found = by_image(columns, numbers(side["count"]))
    for one in found:
        if has_shapes and set(one["confidence"]) <= {None}:
            del one["confidence"]
    return found


def matches(side: dict[str, Any], counts: Sequence[int]) -> list[dict[str, Any]]:
    """What is said of one side of each image of a chunk."""
    partners = cut(numbers(side.get("partners")), numbers(side.get("links")))
    found = by_image({"type": numbers(side.get("type")), "partners": partners}, counts)
    values = by_image({name: numbers(one) for name, one in side["values"].items()}, counts)
    return [
        {**one, "values": own if one["type"] else {}}
        for one, own in zip(found, values, strict=True)
    ]


def images_of(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """The images of a chunk, as the page reads them."""
    objects = chunk["objects"]
    has_shapes = "size" in objects[0]
    counts = [
        {"gt": numbers(objects[0]["gt"]["count"]), "det": numbers(one["det"]["count"])}
        for one in objects
    ]
    gt = drawn(objects[0]["gt"], has_shapes)
    det = [drawn(one["det"], has_shapes) for one in objects]
    said = [
        [
            one and {name: matches(one[name], of[name]) for name in ("gt", "det")}
            for one, of in zip(row, counts, strict=True)
        ]
        for row in chunk["matches"]
    ]
    images = [
        {
            "gt": gt[k],
            "det": [side[k] for side in det],
            "matches": [
                [one and {name: of[k] for name, of in one.items()} for one in row] for row in said
            ],
            "picture": picture,
        }
        for k, picture in enumerate(chunk["picture"])
    ]
    if has_shapes:
        sizes = cut(numbers(objects[0]["size"]), [2] * len(images))
        for image, size in zip(images, sizes, strict=True):
            image["size"] = None if None in size else size
    return images


def write(
    file: Path,
    results: list[Path],
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    embed: bool = False,
) -> Made:
    """Write a report of results with everything that it may have."""
    return make(file, read(results, None, gt, det).with_losses(), Pictures(pictures, embed))


def sources(example: str) -> dict[str, Any]:
    return {"gt": EXAMPLES / example / "gt.txt", "det": [EXAMPLES / example / "det.txt"]}


LOSS_PARTS = (*ERROR_TYPES, "interaction", "unexplained")


def words_diagnoses(protocols: list[str], **parameters: Any) -> list[Diagnosis]:
    example = sources("words")
    return [diagnose(example["gt"], example["det"][0], name, **parameters) for name in protocols]


def names(tab: Chromium) -> list[str]:
    shown: list[str] = tab.run(
        "[...document.querySelectorAll('#images tbody a')].map((a) => a.textContent)"
    )
    return shown


def column(tab: Chromium, at: int) -> list[float]:
    cells: list[str] = tab.run(
        f"[...document.querySelectorAll('#images tbody tr td:nth-child({at})')].map((cell) =>"
        " cell.textContent)"
    )
    return [float(cell) for cell in cells]


def by_errors(results: Path) -> list[str]:
    """Names of the images, those with most missed objects and false positives
    first, then by the score.
    """
    images = json.loads((results / "evaltex.json").read_bytes())["images"]

    def errors(image: dict[str, Any]) -> int:
        sides = [*image["objects"], *image["detections"]]
        return sum(one["match"] in ("missed", "false-positive") for one in sides)

    return [
        image["name"]
        for image in sorted(images, key=lambda image: (-errors(image), image["scores"]["fscore"]))
    ]


def unfold(tab: Chromium) -> None:
    tab.run(
        "document.querySelectorAll('#losses details').forEach((folded) => { folded.open = true; })"
    )
    tab.wait(
        "[...document.querySelectorAll('#losses details')].every((folded) =>"
        " folded.childElementCount > 1)"
    )


def cells(tab: Chromium, table: str) -> list[list[str]]:
    """The body of a table, by rows."""
    rows: list[list[str]] = tab.run(
        f"[...document.querySelectorAll('{table} tbody tr')].map((row) => [...row.cells].map((c) =>"
        " c.textContent))"
    )
    return rows


def number(text: str) -> float:
    return float(text.replace("−", "-"))


ERRORS = "[...document.querySelectorAll('.object')].filter((one) => one.style.display !== 'none')"
