"""The words and the lines of the pages, and of the package's names,
docstrings, comments and messages.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs/glossary.md"
COLUMNS = 120
CODE = re.compile(r"`[^`]*`")


def files(*patterns: str) -> list[Path]:
    """The files of the repository that match; in an unpacked archive, all that are there."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    found = [ROOT / name for name in listed.splitlines()] or [
        path for each in patterns for path in ROOT.rglob(each)
    ]
    return [path for path in found if path.is_file()]


PAGES = files("*.md")
SOURCES = [
    path for path in files("*.py", "*.js", "*.html") if path.is_relative_to(ROOT / "evaltex_cli")
]


def avoided() -> list[str]:
    """The words in the first column of the glossary's last table."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Words that are not used")[2]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[2:]
    return [word for row in rows for word in row.split(", ")]


def lines_of(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Number, text and whether it is code, of each line of a page."""
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_code ^= is_fence
        yield number, line, is_code or is_fence or line.startswith("    ")


def test_words_that_the_glossary_excludes_are_not_used() -> None:
    """A name is cut at its underscores, so ``told_errors`` is found too."""
    words = avoided()
    assert len(words) > 5
    pattern = re.compile(
        rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z]|\(\))", re.IGNORECASE
    )  # not file.tell()
    texts = [(path, path.read_text(encoding="utf-8").splitlines()) for path in SOURCES]
    texts += [
        (path, ["" if code else CODE.sub("", line) for _, line, code in lines_of(path)])
        for path in PAGES
    ]
    excluded = range(*_rows_of_the_table())
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path, lines in texts
        for number, line in enumerate(lines, 1)
        if pattern.search(line) and not (path == GLOSSARY and number in excluded)
    ]
    assert found == []


def _rows_of_the_table() -> tuple[int, int]:
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    return lines.index("## Words that are not used") + 1, len(lines) + 1


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_prose_are_at_most_120_columns_long(path: Path) -> None:
    """So a diff shows what changed. Tables and code have one line for each
    row, and a link has no place to break.
    """
    found = [
        f"{number}: {line}"
        for number, line, is_code in lines_of(path)
        if len(line) > COLUMNS
        and not is_code
        and not line.startswith("|")
        and " " in re.sub(r"\[[^]]*\]\([^)]*\)", "", line)
    ]
    assert found == []
