"""``evaltex protocols``."""

from __future__ import annotations

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Listing, Output
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.tables import Column, Table

EXAMPLES = ("evaltex protocols", "evaltex protocols --format csv")


@opt.output_options("protocols")
def command(out: Output) -> None:
    """List the protocols, and the presets: the official rules of data sets, and ocr.

    JSON and CSV also have the options that a preset stands for, and the formats of its official
    files, which decide where lines of numbers can be read as several formats. --protocol, --set and
    --invalid must not contradict a preset.
    """
    from evaltex_cli.protocols.base import load

    titles = {name: load(name).title for name in PROTOCOLS}
    rows = [["protocol", name, title, "", "", ""] for name, title in titles.items()]
    for name, preset in PRESETS.items():
        official = [", ".join(names) for names in (preset.gt_formats, preset.det_formats)]
        rows.append(["preset", name, preset.title, preset.options, *official])
    names = ("kind", "name", "title", "is the same as", "GT", "DET")
    tables = [
        Table(
            f"{kind.title()}s (--{kind} NAME), described in docs/{page}",
            [Column(kind), Column("title")],
            [row[1:3] for row in rows if row[0] == kind],
        )
        for kind, page in (("protocol", "protocols/NAME.md"), ("preset", "presets.md"))
    ]
    presets = {name: preset._asdict() for name, preset in PRESETS.items()}
    document = {"protocols": titles, "presets": presets}
    out.show(Listing(tables, Table("", [*map(Column, names)], rows), document))
