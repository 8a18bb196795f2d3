"""What all tests need."""

import os
import random
import signal
from collections import defaultdict
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

# A shell that starts the tests in the background, and nohup, make them ignore signals; every
# process that a test starts would ignore them too. A process that is started does not inherit a
# handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# With it, as in many containers, nothing is left in a buffer that a full disk did not take.
os.environ.pop("PYTHONUNBUFFERED", None)

settings.register_profile(  # a busy machine proves nothing, and the same examples are taken everywhere
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")

SYSTEM = Path(__file__).parent / "system"
BROWSER = "tab"
"""The fixture of a browser."""
FEWER = 10
"""The share of a property's examples that the fast run takes is one of so many."""


def pytest_configure(config: pytest.Config) -> None:
    """Take fewer examples of each property in the fast run, ``-m "not
    slow"``; tests import `settings` after this.
    """
    if "not slow" in config.option.markexpr:
        settings.register_profile("fewer", settings.default, max_examples=100 // FEWER)
        settings.load_profile("fewer")
        hypothesis.settings = Fewer  # type: ignore[misc]


class Fewer(settings):
    """Settings of a fraction of the examples that are asked for."""

    def __init__(self, *given: settings, max_examples: int = 100, **options: Any) -> None:
        super().__init__(*given, max_examples=max(max_examples // FEWER, 5), **options)


_folders = count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder; pytest's own fixture also renews a link for each, which takes longer."""
    return tmp_path_factory.mktemp(f"test-{next(_folders)}", numbered=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts processes and browsers, and all cases of a test but those that
    ``few_fast`` leaves, any of them. Slow tests begin first.

    So the last ones are short, and no core waits long for another.
    """
    cases = defaultdict(list)
    for item in items:
        if SYSTEM in item.path.parents or BROWSER in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("few_fast"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for test, of_test in cases.items():
        (few,) = of_test[0].get_closest_marker("few_fast").args  # type: ignore[union-attr]
        random.Random(test).shuffle(of_test)
        for item in of_test[few:]:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
