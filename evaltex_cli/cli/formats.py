"""``evaltex formats``."""

from __future__ import annotations

from evaltex_cli import formats
from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Listing, Output
from evaltex_cli.tables import Column, Table

EXAMPLES = ("evaltex formats", "evaltex formats --format json")


@opt.output_options("formats")
def command(out: Output) -> None:
    """List the formats that are read, by their names for --gt-format, --det-format and --from."""
    titles = {name: formats.load(name).title for name in formats.FORMATS}
    table = Table(
        "Formats (--gt-format, --det-format, --from), described in docs/formats.md",
        [Column("format"), Column("title")],
        [*titles.items()],
    )
    out.show(Listing([table], table, {"formats": titles}))
