"""What the README shows is what runs."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from evaltex_cli import evaluate

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = "evaltex "


def blocks(page: str, kind: str) -> list[str]:
    """The fenced blocks of a page, of a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


SHELL = "".join(blocks("README.md", "sh")).splitlines()
FIRST = SHELL[0].split(" .venv/bin/evaltex ")[-1]
TASKS = re.findall(r"`evaltex (gt[^`]*|[a-z]+ gt[^`]*)`", README)
PYTHON = blocks("README.md", "python")


@pytest.fixture
def in_project_copy(tmp_path, monkeypatch):
    """A folder that holds the examples, as a user's clone does."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_try(in_project_copy, monkeypatch):
    """The folder that the README's list of tasks begins with."""
    (in_project_copy / "try").mkdir()
    monkeypatch.chdir("try")
    for name in ("icdar/gt.zip", "icdar/det.zip", "pictures"):
        Path(Path(name).name).symlink_to(ROOT / "examples" / name)


def test_what_the_first_command_prints_is_shown(in_project_copy, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert blocks("README.md", "text")[0] == run(*shlex.split(FIRST)).stdout


def test_tasks_run_one_after_the_other(in_try):
    assert len(TASKS) >= 10
    known = "only 4 images: ", "deteval, icdar2013, icdar2003: 3 rotated "
    for command in TASKS:
        output = run(*shlex.split(command)).output
        warnings = re.findall("^evaltex: warning: (.*)$", output, re.MULTILINE)
        assert all(line.startswith(known) for line in warnings), command


def test_the_tutorial_runs(in_project_copy):
    lines = "".join(blocks("docs/tutorial.md", "sh")).splitlines()
    assert len(lines) >= 9
    printed = {line: run(*shlex.split(line.removeprefix(START))).output for line in lines}
    assert (in_project_copy / "tutorial" / "before" / "comparison.html").is_file()
    (diagnosis,) = (
        output
        for line, output in printed.items()
        if " diagnose " in line and "--output" not in line
    )
    kinds = "missed|split|merged|loose|tight|false|duplicate"
    counts = re.findall(rf"^({kinds}) +(\d+)", diagnosis, re.MULTILINE)
    assert [kind for kind, count in counts if count != "0"] == ["tight"]
    gated = shlex.split(lines[-1].removeprefix(START))
    run(gated[0], "tutorial/toys/crop40.zip", *gated[2:], status=1)


@pytest.mark.parametrize("code", PYTHON)
def test_python_runs(code, in_try, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert re.search(r"0\.\d+|1\.0", capsys.readouterr().out)


def test_the_commands_and_the_python_of_how_to_run(in_project_copy, capsys):
    """In the order of the page, up to the pipe of a line that has one."""
    text = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
    lines = "".join(blocks("docs/how-to.md", "sh")).splitlines()
    ours = [line for line in lines if line.startswith(START)]
    lists = re.findall(r"^printf '(.*)' > (\S+)$", text, re.MULTILINE)
    assert len(ours) >= 20
    assert len(lines) == len(ours) + len(lists)
    for names, file in lists:
        Path(file).write_text(names.replace("\\n", "\n"), encoding="utf-8")
    for kind, block in re.findall(r"```(sh|python)\n(.*?)```", text, re.DOTALL):
        if kind == "python":
            exec(compile(block, "how-to.md", "exec"), {})
            assert capsys.readouterr().out
        for line in block.splitlines():
            if line in ours:
                run(*shlex.split(line.split(" | ")[0].removeprefix(START)))
    whole = json.loads(Path("how-to/whole/evaltex.json").read_text(encoding="utf-8"))
    assert whole["scores"] == dict(
        evaluate("examples/icdar/gt.zip", "examples/icdar/det.zip").scores
    )


@pytest.mark.parametrize("page", ["python.md", "diagnose.md"])
def test_the_python_of_a_page_runs(page, in_project_copy, capsys):
    """Its blocks one after the other, as a reader types them."""
    names: dict[str, Any] = {}
    for code in blocks(f"docs/{page}", "python"):
        exec(compile(code, page, "exec"), names)
    printed = capsys.readouterr().out
    assert "recall" in printed
    if page == "python.md":
        assert printed.startswith(blocks("docs/python.md", "text")[0])


def test_the_notebook_runs_and_shows_nothing_of_a_machine(in_project_copy):
    """Its cells one after the other; what each ends with has a text and, if it is a record, HTML."""
    notebook = json.loads((ROOT / "examples" / "python.ipynb").read_text(encoding="utf-8"))
    names, shown = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "python.ipynb", "exec"), names)
            if last is not None:
                value = compile(ast.Expression(last.value), "python.ipynb", "eval")
                shown.append(eval(value, names))
    assert len(shown) >= 6
    assert all(len(repr(one)) <= 2000 for one in shown)
    assert "<table" in shown[0]._repr_html_()
    assert shown[-1].scores[0].differences[1] < 0
    assert len(json.dumps(notebook)) < 10_000


def test_install_and_test_commands_are_those_of_the_project():
    assert "python3 -m venv .venv && .venv/bin/pip install ." in SHELL[0]
    assert "pip install -e '.[test]' && .venv/bin/python -m pytest" in SHELL[1]
    assert "test = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target
