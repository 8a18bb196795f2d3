"""Puts the manual page, which is made from the help, into what is installed;
pyproject.toml has everything else.
"""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent


class BuildWithManual(build):
    """Build, and write share/man/man1/evaltex.1."""

    def run(self) -> None:
        """Make the page by the code that is built, which needs click and nothing else."""
        super().run()
        sys.path.insert(0, str(ROOT))
        from evaltex_cli.cli.manual import page

        place = Path(self.build_base, "evaltex.1")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page(), encoding="utf-8")
        self.distribution.data_files = [("share/man/man1", [str(place)])]


setup(cmdclass={"build": BuildWithManual})
