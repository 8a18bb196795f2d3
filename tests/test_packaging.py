"""What is said of the package outside of it: the citation, the action and the hooks."""

import re
from pathlib import Path

import yaml

from evaltex_cli.version import __version__

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_has_the_version() -> None:
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == __version__


def test_the_changelog_has_the_version_with_the_date_of_the_citation() -> None:
    date = yaml.safe_load(text_of("CITATION.cff"))["date-released"]
    assert f"\n## [{__version__}] - {date}\n" in text_of("CHANGELOG.md")


def test_every_input_of_the_action_is_used_and_every_used_one_declared() -> None:
    action = yaml.safe_load(text_of("action.yml"))
    used = re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", text_of("action.yml"))
    assert set(used) == set(action["inputs"])
    # an input in the text of a command would be run as code
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])


def test_the_hooks_are_commands_of_the_tool() -> None:
    hooks = yaml.safe_load(text_of(".pre-commit-hooks.yaml"))
    assert [hook["entry"] for hook in hooks] == ["evaltex", "evaltex validate"]
