"""Every check of the project, one session per check; `nox --list` shows them, CI runs them all.

`nox -s lint types fast` is what to run before a commit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "fast"]
nox.options.reuse_existing_virtualenvs = True

SITE_PAGES = (
    "README.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs",
    "examples",
    "fuzz/README.md",
    "fuzz/targets.py",
)
CLUSTER_TESTS = (
    "tests/system/test_runs_on_clusters.py",
    "tests/system/test_cluster_addresses.py",
    "tests/system/test_cluster_joined.py",
    "tests/system/test_cluster_lost.py",
    "tests/system/test_cluster_users.py",
    "tests/system/test_changed.py",
)
TABLE_TESTS = ("tests/integrations", "tests/api", "tests/results/test_object_table.py")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and spelling."""
    session.install("ruff>=0.6", "codespell>=2.3")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package strictly."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session
def fast(session: nox.Session) -> None:
    """Run the tests that need no processes, browsers or large inputs; arguments go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", "-m", "not slow", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests; arguments go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """Run the tests that need the extra `cluster`."""
    session.install("-e", ".[test,cluster]")
    session.run("pytest", "-k", "cluster", *CLUSTER_TESTS, *session.posargs)


@nox.session
def integrations(session: nox.Session) -> None:
    """Run the tests that need data frames or a small library of an adapter; ``-- all`` for those of
    all libraries.

    The others, torch among them, are gigabytes from the registry, unless a build for processors is
    at hand.
    """
    session.install("-e", ".[test,tables]", "wandb>=0.18")
    chosen = "" if "all" in session.posargs else "integrations or tables or parquet"
    if not chosen:
        session.install(
            "torch>=2.2", "torchmetrics>=1.4", "mmengine>=0.10", "mlflow>=2.12", "tensorboard>=2.16"
        )
    session.run("pytest", "-rs", "-k", chosen, *TABLE_TESTS)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions of the dependencies; arguments go to pytest."""
    session.run("bash", ".ci/lowest", *session.posargs, external=True)


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure branch coverage of the tests that can run under it; below the floor is an error."""
    session.install("-e", ".[test]", "coverage>=7.10")
    session.run("coverage", "erase")
    session.run(
        "coverage", "run", "-m", "pytest", "-n", "0", "-m", "not no_coverage", *session.posargs
    )
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def mutation(session: nox.Session) -> None:
    """Change the code of geometry and protocols in small ways, and list the changes that no test
    notices.

    Arguments choose functions: ``nox -s mutation -- "evaltex_cli.geometry.boxes*"``.
    """
    session.install("-e", ".[test]", "mutmut>=3.8")
    session.run("mutmut", "run", "--max-children", "1", *session.posargs)
    session.run("mutmut", "results")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site from the Markdown pages and the docstrings; a warning is an error."""
    session.install("-e", ".[docs]")
    source = Path("build/site-source")
    shutil.rmtree(source, ignore_errors=True)
    for page in map(Path, SITE_PAGES):
        target = source / page
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if page.is_dir() else shutil.copy2)(page, target)
    session.run("mkdocs", "build", "--strict")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run every fuzz target on the same mutations each time; arguments go to
    fuzz: ``-- --seconds 60 --seed 2``.
    """
    session.install("-e", ".[test]")
    session.run(
        "python", "-m", "fuzz", "--plain", *(session.posargs or ["--inputs", "20", "--seed", "1"])
    )


@nox.session
def dist(session: nox.Session) -> None:
    """Build the wheel and the source archive, and check what they say of themselves."""
    session.install("build>=1.2", "twine>=5")
    session.run("python", "-m", "build", "--outdir", *(session.posargs or ["dist"]))
    session.run(
        "twine", "check", "--strict", *map(str, Path(*(session.posargs or ["dist"])).glob("*"))
    )
