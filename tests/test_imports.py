"""Imports go one way, and start-up stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "evaltex_cli"
ORDER = [
    "errors",
    "files",
    "signals",
    "temporary",
    "jobs",
    "cluster_worker",
    "cluster_schedule",
    "cluster",
    "records",
    "geometry.intervals",
    "geometry.rounding",
    "geometry.boxes",
    "geometry.geos",
    "geometry.quads",
    "geometry.crossings",
    "geometry.polygons",
    "geometry.shapes",
    "geometry.picture_runs",
    "geometry.label_runs",
    "geometry.chains",
    "formats",
    "confidence",
    "regions",
    "checks",
    "places",
    "pairing",
    "naming",
    "pictures",
    "overlaps",
    "protocols",
    "config",
    "signature",
    "runs",
    "chunks",
    "evaluation",
    "journal",
    "bootstrap",
    "significance",
    "memory",
    "results",
    "gate",
    "results.junit",
    "compare",
    "results.comparison",
    "merge",
    "mistakes",
    "repair",
    "breakdown",
    "diagnose",
    "results.diagnosis",
    "sides",
    "misreading",
    "problems",
    "inspection",
    "validate",
    "results.validation",
    "report",
    "writers",
    "toys",
    "convert",
    "cli",
]
"""A module imports from the left of itself only; inside formats, protocols and results any order that has no cycle."""


def rank(module: str) -> int:
    """Place in `ORDER` of ``evaltex_cli.<module>``."""
    parts = module.split(".")
    for length in (2, 1):
        if ".".join(parts[:length]) in ORDER:
            return ORDER.index(".".join(parts[:length]))
    return -1


def modules() -> list[str]:
    paths = sorted(PACKAGE.rglob("*.py"))
    names = [path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".") for path in paths]
    return [
        name.removesuffix(".__init__") for name in names if name not in ("__init__", "__main__", "geometry.__init__")
    ]


def imported(module: str) -> set[str]:
    """Modules of the package that a module imports, inside functions too."""
    base = PACKAGE / module.replace(".", "/")
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evaltex_cli"):
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            found |= {name.removeprefix("evaltex_cli").removeprefix(".") for name in names}
    return found


@pytest.mark.parametrize("module", modules())
def test_imports_go_one_way(module: str) -> None:
    """docs/architecture.md draws the order."""
    assert rank(module) >= 0, f"{module} has no place in ORDER"
    for other in imported(module):
        assert rank(other) <= rank(module), f"{module} imports {other}"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "--help"]])
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys; from evaltex_cli.cli import main\n"
        f"try: main({arguments!r}, prog_name='evaltex')\n"
        "except SystemExit as stop: assert stop.code in (0, None), stop.code\n"
        "heavy = {'numpy', 'shapely', 'PIL', 'tifffile'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_run_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    """Nor do the sections of other protocols in ./evaltex.ini import these, but for what old versions of NumPy do."""
    unwanted = {"shapely", "PIL", "tifffile", "numpy.ma", "zipfile", "tempfile", "html", "multiprocessing"}
    unwanted |= {
        f"evaltex_cli.{name}" for name in ("protocols.deteval", "misreading", "formats.archive", "cli.compare")
    }
    words = PACKAGE.parent / "examples" / "words"
    arguments = [str(words / "gt.txt"), str(words / "det.txt"), str(tmp_path / "res"), "-a"]
    code = (
        "import sys, numpy; given = set(sys.modules); from evaltex_cli.cli import main\n"
        f"try: main({arguments!r}, prog_name='evaltex')\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        f"unwanted = {unwanted!r} & (set(sys.modules) - given)\n"
        "assert not unwanted, unwanted\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=PACKAGE.parent)
