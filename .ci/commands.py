"""Run a set of commands in this process and keep everything they write: python .ci/commands.py
EXAMPLES DATA FOLDER.

What two interpreters, or two sets of dependencies, leave in their folders has to be the same, byte
by byte. `.ci/bytes` compares them.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from evaltex_cli.cli import main

EXAMPLES = {
    "words": ["words/gt.txt", "words/det.txt"],
    "icdar": ["icdar/gt.zip", "icdar/det.zip"],
    "polygons": ["polygons/gt.txt", "polygons/det.txt"],
    "masks": ["masks/words/gt.txt", "masks/words/det.txt"],
    "characters": ["masks/characters/gt.txt", "masks/characters/det.txt"],
}
PICTURES = {
    "masks": ["masks/words/gt", "masks/words/det"],
    "characters": ["masks/characters/gt", "masks/characters/det"],
}
REAL = {
    "ic13": ["icdar2013/gt.zip", "icdar2013/overlap/e2e_rand1.zip"],
    "ic15": ["icdar2015/gt.zip", "icdar2015/pixellink.zip"],
    "totaltext": ["totaltext/gt.zip", "totaltext/baseline.zip"],
}
VARIANTS = [
    "evaltex.split_function=paper",
    "evaltex.region=false",
    "evaltex.det_border=0.1",
    "deteval.variant=rrc",
    "deteval.variant=totaltext",
    "deteval.scatter=logarithm",
    "deteval.grid=true",
    "deteval.shape=polygon",
    "icdar2003.match=minbox",
    "icdar2003.shape=polygon",
    "icdar2013.shape=polygon",
    "iou.truncate=false",
    "tiou.truncate=false",
    "tiou.lines=regions",
    "cleval.reference=paper",
]


def of_examples() -> Iterator[list[str]]:
    """Every command, every protocol and form of output, on the examples."""
    for name, sides in EXAMPLES.items():
        inputs = [f"examples/{side}" for side in sides]
        pictures = [f"examples/{folder}" for folder in PICTURES.get(name, [])]
        yield [*inputs, name, *pictures, "--protocol", "all", "-a", "--plots", "--report", "--ci"]
        if pictures:
            continue
        yield from of_variants(name, inputs)
        yield ["toys", inputs[0], f"{name}-toys"]
        yield ["compare", *inputs, second_of(name), "--protocol", "all", "--resamples", "200"]
        yield ["diagnose", *inputs, "--protocol", "all", "--format", "json"]
        yield ["validate", *inputs, "--format", "json"]
        drawn = ["--masks", f"{name}-masks", "--images", "examples/pictures"]
        yield [
            "convert",
            inputs[0],
            f"{name}-gt.txt",
            "--kind",
            "gt",
            *drawn,
            "--mask-format",
            "png",
        ]
        for ending in ("zip", "json"):
            yield [
                "convert",
                inputs[0],
                f"{name}-gt.{ending}",
                "--kind",
                "gt",
                "--regions",
                "lines",
            ]
            yield ["convert", inputs[1], f"{name}-det.{ending}", "--kind", "det"]
    words = [f"examples/{side}" for side in EXAMPLES["words"]]
    for form in ("table", "json", "csv", "markdown", "latex"):
        yield ["compare", *words, second_of("words"), "--format", form]
    for form in ("table", "json", "csv"):
        yield ["diagnose", *words, "--format", form]
    yield [words[0], second_of("words"), "second", "--protocol", "all", "-a"]
    yield ["report", "words", "second", "--output", "both.html"]
    yield ["compare", "words", "second", "--protocol", "all"]


def second_of(name: str) -> str:
    """Detections of another detector: every word cut in two."""
    return f"{name}-toys/split2.{Path(EXAMPLES[name][0]).suffix[1:]}"


def of_variants(name: str, inputs: list[str]) -> Iterator[list[str]]:
    """One run for each variant of a protocol."""
    for number, variant in enumerate(VARIANTS):
        protocol = variant.partition(".")[0]
        yield [*inputs, f"{name}-{number}", "--protocol", protocol, "--set", variant, "-a"]


def of_data(data: Path) -> Iterator[list[str]]:
    """Real data sets, and single files of their formats."""
    for name, sides in REAL.items():
        inputs = [f"data/{side}" for side in sides]
        yield [*inputs, f"real-{name}", "--protocol", "all", "-a", "--ci", "--resamples", "100"]
        yield ["diagnose", *inputs, "--format", "json"]
        yield from of_variants(f"real-{name}", inputs) if name == "totaltext" else ()
    for path in sorted((data / "formats").glob("*/*")):
        yield ["validate", f"data/{path.relative_to(data)}", "--format", "json"]


def run(arguments: list[str]) -> str:
    """Return the exit status of a command, and what it writes to its standard streams."""
    output, errors, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            main(arguments, prog_name="evaltex")
        except SystemExit as end:
            status = int(end.code or 0)
        except Exception:
            traceback.print_exc(limit=0)
    return f"status {status}\n{output.getvalue()}\n{errors.getvalue()}"


def copy_shuffled(source: Path, target: Path) -> None:
    """Copy a folder, its files in any order, so that theirs in the folder is another each time."""
    paths = [path for path in source.rglob("*") if path.is_file()]
    random.shuffle(paths)
    for path in paths:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def work(examples: Path, data: Path, folder: Path) -> int:
    """Run all commands in a folder; return how many."""
    folder.mkdir(parents=True)
    copy_shuffled(examples, folder / "examples")
    commands = list(of_examples())
    if data.is_dir():
        (folder / "data").symlink_to(data)
        commands += of_data(data)
    os.chdir(folder)
    for number, command in enumerate(commands):
        printed = f"evaltex {' '.join(command)}\n{run(command)}"
        Path(f"printed-{number:03}.txt").write_text(printed, encoding="utf-8")
    return len(commands)


if __name__ == "__main__":
    print(work(*(Path(argument).resolve() for argument in sys.argv[1:4])), "commands")
