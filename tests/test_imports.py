"""Imports go one way, and a help page loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "evaltex_cli"
LEVELS = (
    {"errors", "version"},
    {"tables"},
    {"records"},
    {"runtime", "geometry"},
    {"formats", "protocols"},
    {"evaluation"},
    {"results"},
    {"comparison", "diagnosis", "reconciliation", "validation"},
    {"ranking"},
    {"audit"},
    {"report", "thresholds", "conversion"},
    {"api"},
    {"cli"},
    {"__init__", "__main__"},
    {"integrations"},
)
"""What is at the package's root, from the bottom up: each imports from lower levels and from itself
only.
"""


MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def module(name: str) -> str:
    """The module of the package that an import names."""
    inner = name.removeprefix("evaltex_cli").removeprefix(".")
    return inner if inner in MODULES else f"{inner}.__init__".removeprefix(".")


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, inside functions and for type checking too."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {one.name for one in node.names if one.name.startswith("evaltex_cli")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evaltex_cli"):
            named = [f"{node.module}.{one.name}" for one in node.names]
            modules |= {one if module(one) in MODULES else str(node.module) for one in named}
    return set(map(module, modules))


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Modules of the package that each imports."""
    return {name: imported(path) for name, path in MODULES.items()}


def test_levels_import_downwards(imports: dict[str, set[str]]) -> None:
    """docs/architecture.md draws the levels."""
    level = {name: k for k, names in enumerate(LEVELS) for name in names}
    assert {name.split(".")[0] for name in MODULES} == set(level), "no level"
    upwards = [
        f"{name} imports {other}"
        for name, others in imports.items()
        for other in others
        if level[other.split(".")[0]] >= level[name.split(".")[0]]
        and other.split(".")[0] != name.split(".")[0]
    ]
    assert not upwards, "\n".join(upwards)


def test_no_circle_of_files_and_folders(imports: dict[str, set[str]]) -> None:
    """In every folder, what is in it (files, and each folder as one) imports one another without a
    circle.
    """
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    arrows["any folder"].update(imports)
    for name, others in imports.items():
        for other in others - {name}:
            ours, theirs = name.split("."), other.split(".")
            same = next(
                (k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0
            )
            arrows[".".join(ours[:same])][ours[same]].add(theirs[same])
    for folder, inside in arrows.items():
        try:
            TopologicalSorter(inside).prepare()
        except CycleError as error:
            pytest.fail(f"a circle of imports in {folder}: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("arguments", [[], ["--version"], ["convert", "--help"], ["gt.txt"]])
def test_help_and_wrong_usage_load_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys; from evaltex_cli.cli import main\n"
        f"try: main({arguments!r}, prog_name='evaltex')\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'shapely', 'PIL', 'tifffile', 'scipy', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
