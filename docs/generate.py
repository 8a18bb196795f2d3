"""Write what follows from the registries: the sections of evaltex.ini, the tables of
docs/formats.md and presets.md.

python docs/generate.py            after a protocol, a parameter, a format or a preset was added or
changed python docs/generate.py --check    write nothing; exit status 1 if something is out of date
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from evaltex_cli.formats import FORMATS
from evaltex_cli.formats import load as load_format
from evaltex_cli.formats.detection import detect
from evaltex_cli.formats.files import open_listing
from evaltex_cli.formats.lines import BY_NAME as LAYOUTS
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load as load_protocol
from evaltex_cli.protocols.presets import PRESETS

ROOT = Path(__file__).resolve().parents[1]
INI_FILE, FORMATS_FILE, PRESETS_FILE = (
    ROOT / "evaltex.ini",
    ROOT / "docs" / "formats.md",
    ROOT / "docs" / "presets.md",
)
SAMPLES = ROOT / "tests" / "samples"
TABLE_MARKS = ("<!-- docs/generate.py writes from here -->\n", "<!-- to here -->\n")
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


def recognised_by(name: str) -> str:
    """Return by what a format's sample is recognised, in words."""
    if name in LAYOUTS:
        return "such lines"
    form, reason, _ = detect(open_listing(SAMPLES / name), "gt")
    return reason.removeprefix("recognised by ") if form.name == name else "by name only"


def formats_page() -> str:
    """Return docs/formats.md with the table of all formats."""
    rows = [
        "| format | files | levels | one object, or what is around it | recognised by |\n",
        "| --- | --- | --- | --- | --- |\n",
    ]
    for name in FORMATS:
        known = load_format(name)
        cells = (
            f"`{name}`",
            known.title,
            ", ".join(known.levels),
            f"`{known.layout}`",
            recognised_by(name),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return _with_table(FORMATS_FILE, rows)


def presets_page() -> str:
    """Return docs/presets.md with the table of all presets."""
    rows = [
        (
            "| preset | data set and task | the same as | official ground truth | official"
            " detections | source |\n"
        ),
        "| --- | --- | --- | --- | --- | --- |\n",
    ]
    for name, preset in PRESETS.items():
        formats = preset.gt_formats, preset.det_formats
        gt, det = (", ".join(map("`{}`".format, names)) for names in formats)
        rows.append(
            f"| `{name}` | {preset.title} | `{preset.options}` | {gt} | {det} | {preset.source} |\n"
        )
    return _with_table(PRESETS_FILE, rows)


def _with_table(file: Path, rows: list[str]) -> str:
    page = file.read_text(encoding="utf-8")
    before, after = page.split(TABLE_MARKS[0])[0], page.split(TABLE_MARKS[1])[1]
    return "".join([before, TABLE_MARKS[0], *rows, TABLE_MARKS[1], after])


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
