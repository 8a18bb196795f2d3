"""Write what follows from the registries: evaltex.ini, and lists of the docs.

python docs/generate.py            after a protocol, parameter, format or preset changed
python docs/generate.py --check    write nothing; exit status 1 if something is out of date
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from evaltex_cli.formats import FORMATS
from evaltex_cli.formats import load as load_format
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load as load_protocol
from evaltex_cli.protocols.presets import PRESETS

ROOT = Path(__file__).resolve().parents[1]
INI_FILE, FORMATS_FILE, PRESETS_FILE = (
    ROOT / "evaltex.ini",
    ROOT / "docs" / "formats.md",
    ROOT / "docs" / "presets.md",
)
MARKS = ("<!-- docs/generate.py writes from here -->\n", "<!-- to here -->\n")
INI_HEAD = """\
# Parameters of evaltex, with their defaults. This file is read if it is in the current folder,
# or is named by --config FILE; --set KEY=VALUE overrides one parameter for one run. A section is
# checked when its protocol is run. Written by docs/generate.py.
"""


def ini() -> str:
    """Return evaltex.ini: one section for each protocol, with the help and
    range of each parameter.
    """
    sections = [INI_HEAD]
    for name in PROTOCOLS:
        lines = [f"[{name}]"]
        for field in fields(load_protocol(name).parameters):
            value = (
                str(field.default).lower()
                if field.type == "bool"
                else str(field.default).removesuffix(".0")
            )
            lines += [
                f"# {field.metadata['help']}; {config.allowed(field)}",
                f"{field.name}={value}",
            ]
        sections.append("".join(f"{line}\n" for line in lines))
    return "\n".join(sections)


def formats_page() -> str:
    """Return docs/formats.md with the list of all formats."""
    lines = []
    for name in FORMATS:
        known = load_format(name)
        levels = f" ({', '.join(known.levels)})" if known.levels else ""
        lines.append(f"- `{name}`: {known.title}{levels}. `{known.layout}`\n")
    return _with_list(FORMATS_FILE, lines)


def presets_page() -> str:
    """Return docs/presets.md with the list of all presets."""
    lines = []
    for name, preset in PRESETS.items():
        gt, det = (
            ", ".join(map("`{}`".format, names))
            for names in (preset.gt_formats, preset.det_formats)
        )
        files = f" Files: {gt}." if gt == det else f" Ground truth: {gt}; detections: {det}."
        files = files if gt else ""
        lines.append(
            f"- `{name}`: {preset.title}. `{preset.options}`.{files} Source: {preset.source}.\n"
        )
    return _with_list(PRESETS_FILE, lines)


def _with_list(file: Path, lines: list[str]) -> str:
    page = file.read_text(encoding="utf-8")
    before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
    return "".join([before, MARKS[0], *lines, MARKS[1], after])


def main() -> None:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit status 1 if something is out of date",
    )
    check = parser.parse_args().check
    for path, content in (
        (INI_FILE, ini()),
        (FORMATS_FILE, formats_page()),
        (PRESETS_FILE, presets_page()),
    ):
        if check and path.read_text(encoding="utf-8") != content:
            sys.exit(f"{path.relative_to(ROOT)} is out of date; run python docs/generate.py")
        if not check:
            path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
