"""Imports go one way, and start-up stays light."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import evaltex_cli

PACKAGE = Path(__file__).parents[1] / "evaltex_cli"
LEVELS = (
    {"errors", "version"},
    {"display"},
    {"records"},
    {"runtime", "geometry"},
    {"formats", "protocols"},
    {"evaluation", "conversion"},
    {"results"},
    {"comparison", "diagnosis", "ranking", "reconciliation", "validation"},
    {"audit"},
    {"report", "thresholds"},
    {"api"},
    {"cli"},
    {"__init__", "__main__"},
    {"integrations"},
)
"""What is at the package's root, from the bottom up: each imports from lower levels and from itself
only.
"""


def name_of(path: Path) -> str:
    """``formats/base.py`` is ``formats.base``, ``formats/__init__.py`` is ``formats.__init__``."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def module(name: str) -> str:
    """The module of the package that an import names."""
    inner = name.removeprefix("evaltex_cli").removeprefix(".")
    return inner if inner in MODULES else f"{inner}.__init__".removeprefix(".")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports() -> dict[str, set[str]]:
    """Modules of the package that each imports."""
    return {name: imported(path) for name, path in MODULES.items()}


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, inside functions and for type checking too."""
    modules = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            modules |= {
                module(alias.name)
                for alias in node.names
                if alias.name.split(".")[0] == "evaltex_cli"
            }
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            if node.module and node.module.split(".")[0] == "evaltex_cli":
                names = [module(f"{node.module}.{alias.name}") for alias in node.names]
                modules |= {name if name in MODULES else module(node.module) for name in names}
    return modules


def refuse_circle(arrows: dict[str, set[str]], where: str) -> None:
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports {where}: {' <- '.join(error.args[1])}")


def test_levels_import_downwards() -> None:
    """docs/architecture.md draws the levels."""
    level = {name: k for k, names in enumerate(LEVELS) for name in names}
    assert {name.split(".")[0] for name in MODULES} == set(level), (
        "a file or folder at the root has no level"
    )
    upwards = [
        f"{name} imports {other}"
        for name, others in imports().items()
        for other in others
        if level[other.split(".")[0]] >= level[name.split(".")[0]]
        and other.split(".")[0] != name.split(".")[0]
    ]
    assert not upwards, "\n".join(upwards)


def test_the_root_has_six_files_at_most() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_no_circle_of_files() -> None:
    refuse_circle(imports(), "among the files")


def test_no_circle_of_folders() -> None:
    """In every folder, what is in it (files, and each folder as one) imports
    one another without a circle.
    """
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, others in imports().items():
        for other in others:
            ours, theirs = name.split("."), other.split(".")
            shared = next(
                (k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0
            )
            if ours != theirs:
                arrows[".".join(ours[:shared])][ours[shared]].add(theirs[shared])
    for folder, of_folder in arrows.items():
        refuse_circle(of_folder, f"in evaltex_cli.{folder}".rstrip("."))


def many_parameters(path: Path) -> list[str]:
    """Functions with more than six parameters, not counting `self` and ``*``, that
    no decorator of click hands them.
    """
    found = []
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            names = [
                one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            ]
            by_click = any("click." in ast.unparse(decorator) for decorator in node.decorator_list)
            if len([name for name in names if name not in ("self", "cls")]) > 6 and not by_click:
                found.append(node.name)
    return found


def test_functions_have_six_parameters_at_most() -> None:
    """But for commands, and for the public functions, whose options are keywords."""
    public = {(home, function) for function, home in evaltex_cli._HOMES.items()}
    found = {(name, one) for name, path in MODULES.items() for one in many_parameters(path)}
    assert found <= public


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "--help"]])
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys; from evaltex_cli.cli import main\n"
        f"try: main({arguments!r}, prog_name='evaltex')\n"
        "except SystemExit as stop: assert stop.code in (0, None), stop.code\n"
        "heavy = {'numpy', 'shapely', 'PIL', 'tifffile', 'scipy', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_run_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    """The sections of other protocols in ./evaltex.ini import none of these either, apart from what
    old versions of NumPy do.
    """
    unwanted = {
        "shapely",
        "PIL",
        "tifffile",
        "numpy.ma",
        "shutil",
        "zipfile",
        "tempfile",
        "html",
        "multiprocessing",
        "click.shell_completion",
        "decimal",
        "shlex",
    }
    unwanted |= {
        f"evaltex_cli.{name}"
        for name in (
            "protocols.area.deteval",
            "protocols.object_tally",
            "evaluation.coordinate_mixups",
            "evaluation.mask_batches",
            "geometry.picture_runs",
            "formats.picture_folders",
            "results.result_document",
            "conversion",
            "formats.files.archive",
            "cli.compare",
            "runtime.worker_server",
        )
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
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, cwd=PACKAGE.parent
    )


def test_many_files_of_quadrilaterals_import_no_reader_of_documents(tmp_path: Path) -> None:
    """Nor shapely, though some repeat a vertex."""
    for k in range(17):
        (tmp_path / f"img_{k}.txt").write_text("1,1,9,1,9,5,1,6,word\n20,20,30,20,25,30,25,30,#\n")
    arguments = [str(tmp_path), str(tmp_path), "--protocol", "iou"]
    code = (
        "import sys, numpy; given = set(sys.modules); from evaltex_cli.cli import main\n"
        f"try: main({arguments!r}, prog_name='evaltex')\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "unwanted = {'shapely', 'numpy.ma', 'msgspec', 'pyexpat'} & (set(sys.modules) - given)\n"
        "assert not unwanted, unwanted\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
def test_a_run_starts_no_thread(tmp_path: Path) -> None:
    """NumPy starts one for every processor if it is imported before it is set not to."""
    words = PACKAGE.parent / "examples" / "words"
    code = (
        "import os, sys; from evaltex_cli import __main__\n"
        f"sys.argv[1:] = {[str(words / 'gt.txt'), str(words / 'det.txt'), str(tmp_path)]!r}\n"
        "try: __main__.run()\n"
        "finally: print(len(os.listdir('/proc/self/task')), 'numpy' in sys.modules)\n"
    )
    environment = {name: one for name, one in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "1 True"


def test_workers_are_started_before_numpy_is_imported(tmp_path: Path) -> None:
    """So that they import it while this process does."""
    words = PACKAGE.parent / "examples" / "words"
    arguments = [str(words / "gt.txt"), str(words / "det.txt"), str(tmp_path / "res"), "--jobs=2"]
    code = (
        "import sys; from evaltex_cli.cli import main\n"
        "from evaltex_cli.runtime import worker_server\n"
        "worker_server.prepare = lambda modules, **_: sys.exit('numpy' in sys.modules)\n"
        f"main({arguments!r}, prog_name='evaltex')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PACKAGE.parent)
