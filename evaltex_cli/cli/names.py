"""Types of the options that are names: in any case, with the nearest one if there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.errors import quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.protocols import plain
from evaltex_cli.protocols.presets import PRESETS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def completion_item(value: str, kind: str = "plain", about: str | None = None) -> CompletionItem:
    """Return what a word may be completed to; `kind` is "file" or "dir" if the shell is to look."""
    from click.shell_completion import CompletionItem  # which only shells need

    return CompletionItem(value, kind, about)


class Name(click.Choice[str]):
    """One of some names.

    Parameters
    ----------
    what : {'protocol', 'format', ...}
        What they are the names of.
    known : sequence of str
        In lower case.
    listed_by : str, optional
        The command that lists them, if a message should not.
    """

    def __init__(self, what: str, known: Sequence[str], listed_by: str = "") -> None:
        super().__init__(known, case_sensitive=False)
        self.name = "format" if what == "format" else "name"
        self.what, self.known, self.listed_by = what, known, listed_by

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name as it is known; upper case and underscores do not matter."""
        name = plain(value)
        if name not in self.known:
            listed = (
                f"`{self.listed_by}` lists them"
                if self.listed_by
                else f"expected {one_of(self.known)}"
            )
            hint = nearest(name, self.known)
            if self.what == "format" and name in PRESETS:
                hint = f", which is a preset (--preset {name})"
            self.fail(
                f"unknown {self.what} {quote(value)}{hint}; {listed}.",
                param,
                ctx,
            )
        return name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return [completion_item(name) for name in self.known if name.startswith(plain(incomplete))]


class Names(Name):
    """Several names with commas between them, as a tuple."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the names as they are known, each once."""
        given = value.split(",") if isinstance(value, str) else value
        return tuple(dict.fromkeys(super(Names, self).convert(one, param, ctx) for one in given))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the list so far, ended by each name that it may go on with."""
        before, comma, last = incomplete.rpartition(",")
        taken = {plain(name) for name in before.split(",")}
        names = super().shell_complete(ctx, param, last)
        return [
            completion_item(f"{before}{comma}{name.value}")
            for name in names
            if name.value not in taken
        ]


def one_of(names: Sequence[str]) -> str:
    """Return the names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
