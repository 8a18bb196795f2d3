"""Records as tables in a prompt and a notebook, as plain values, and as data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from reprlib import Repr
from typing import Any, TypeVar

from evaltex_cli.errors import ConfigError
from evaltex_cli.tables import Cell, Column, DataFrame, Table, below, frame, in_html, in_text

Item = TypeVar("Item")
LONGEST_REPR = 2000
MOST_ROWS, MOST_HTML_ROWS = 12, 60
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist = 3, 8, 4
_SHORT.maxstring, _SHORT.maxother = 80, 120


class Record:
    """A record that shows itself by `tables`, and gives its figures by `to_dict` and `data`."""

    __slots__ = ()

    def tables(self) -> Sequence[Table]:
        """Return the record as tables for reading; by default one line of its fields."""
        values = (f"{name}={_SHORT.repr(getattr(self, name))}" for name in self._field_names())
        return [Table(f"{type(self).__name__}({', '.join(values)})")]

    def summary(self) -> str:
        """Return the record in a line."""
        return self.tables()[0].title

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return name -> what makes a table of raw values; the first is that of CSV."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the record as dictionaries, lists, strings, numbers and None, as JSON has them."""
        return {name: plain(getattr(self, name)) for name in self._field_names()}

    def to_pandas(self, table: str = "") -> DataFrame:
        """Return one of the tables of `data` as a data frame, the first by default; raises
        `ConfigError` if there is no such table, or pandas (extra ``tables``) is not installed.
        """
        known = self.data()
        name = table or next(iter(known), "")
        if name not in known:
            expected = ", ".join(map(repr, known))
            raise ConfigError(f"to_pandas({table!r}): expected one of {expected}")
        return frame(known[name]())

    def __repr__(self) -> str:
        return in_text(table.first(MOST_ROWS) for table in self.tables())[:LONGEST_REPR].rstrip()

    def _repr_html_(self) -> str:
        return in_html(table.first(MOST_HTML_ROWS) for table in self.tables())

    def _field_names(self) -> list[str]:
        return [field.name for field in fields(self) if field.repr]  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, repr=False)
class Several(Record):
    """Results of a command by several protocols, one below the other."""

    results: Sequence[Record]

    def tables(self) -> Sequence[Table]:
        """Return the tables of all results."""
        return [table for result in self.results for table in result.tables()]

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of the same name of all results as one each."""

        def joined(name: str) -> Table:
            return below([result.data()[name]() for result in self.results])

        return {name: partial(joined, name) for name in self.results[0].data()}

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON."""
        return {"protocols": [result.to_dict() for result in self.results]}


def raw(names: Sequence[str], rows: Iterable[tuple[Mapping[str, Cell], Any]]) -> Table:
    """Return a table of raw values for `Record.data`.

    A row is a mapping of columns to cells, and a record whose fields are the other columns. A
    column is an interval if its name says so.
    """
    kinds = ("interval" if name.endswith("interval") else "text" for name in names)
    cells = [
        [known[name] if name in known else getattr(record, name) for name in names]
        for known, record in rows
    ]
    return Table("", [Column(*both) for both in zip(names, kinds, strict=True)], cells)


class Rows(tuple[Item, ...]):
    """Records of one kind, of which a `repr` shows the first few."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "[]"
        lines = [f"{len(self)} of {type(self[0]).__name__}:"]
        lines += [f"  {repr(record)[:200]}" for record in self[:4]]
        return "\n".join(lines + ["  ..."] * (len(self) > 4))


def plain(value: Any) -> Any:
    """Return a value with its records as dictionaries, and its sequences as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, str | int | float) or value is None:
        return value
    return list(map(plain, value)) if isinstance(value, Sequence) else str(value)
