"""How records look: a line or a small table in a prompt, a table in a
notebook, and a data frame of pandas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from reprlib import Repr
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from evaltex_cli.errors import ConfigError

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"
Item = TypeVar("Item")
LONGEST_REPR, LONGEST_CELL = 2000, 60
"""Characters of the longest `repr` of a record, and of the longest cell of a table."""
MOST_ROWS, MOST_HTML_ROWS = 12, 60
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist = 3, 8, 4
_SHORT.maxstring, _SHORT.maxother = 80, 120


class Table(NamedTuple):
    """What a record shows of itself."""

    title: str
    rows: Sequence[Sequence[str]] = ()
    """The first has the heads of the columns; empty for a title alone."""
    note: str = ""
    """A line below."""

    def text(self) -> str:
        """Return it as lines of text, of at most `LONGEST_REPR` characters."""
        shown = [[_cut(cell) for cell in row] for row in self.rows[: MOST_ROWS + 1]]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in shown]
        room = LONGEST_REPR - len(self.title) - len(self.note) - 100
        while lines and sum(map(len, lines)) + len(lines) > room:
            lines.pop()
        left_out = len(self.rows) - len(lines)
        lines += [f"... and {left_out} more"] if left_out else []
        return "\n".join(filter(None, [self.title, *lines, self.note]))[:LONGEST_REPR]

    def html(self) -> str:
        """Return it as HTML, all text escaped, in the style that notebooks give to data frames."""
        from html import escape  # a run needs none

        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        parts = [f"<p>{escape(self.title)}</p>"]
        if self.rows:
            head, *body = self.rows[: MOST_HTML_ROWS + 1]
            parts.append(f'<table border="1" class="dataframe"><thead>{row(head, "th")}</thead>')
            parts += ["<tbody>", *(row(cells, "td") for cells in body), "</tbody></table>"]
        left_out = len(self.rows) - 1 - MOST_HTML_ROWS
        parts += [f"<p>... and {left_out} more</p>"] if left_out > 0 else []
        parts += [f"<p>{escape(self.note)}</p>"] if self.note else []
        return "\n".join(parts)


class Record:
    """A record that shows itself as a `Table`; by default as one line of its fields."""

    __slots__ = ()

    def shown(self) -> Table:
        """Return what the record shows of itself."""
        values = (f"{name}={_SHORT.repr(getattr(self, name))}" for name in self._field_names())
        return Table(f"{type(self).__name__}({', '.join(values)})")

    def summary(self) -> str:
        """Return the record in a line, without the name of its protocol."""
        return self.shown().title

    def __repr__(self) -> str:
        return self.shown().text()

    def _repr_html_(self) -> str:
        return self.shown().html()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as dictionaries, lists, strings, numbers and None, as JSON has them."""
        return {name: plain(getattr(self, name)) for name in self._field_names()}

    def _field_names(self) -> list[str]:
        return [field.name for field in fields(self) if field.repr]  # type: ignore[arg-type]


class Rows(tuple[Item, ...]):
    """Records of one kind, of which a `repr` shows the first few."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "[]"
        title = f"{len(self)} of {type(self[0]).__name__}:"
        lines = [title, *(f"  {_cut(repr(one), 200)}" for one in islice(self, 4))]
        return "\n".join([*lines, *(["  ..."] if len(self) > 4 else [])])


def plain(value: Any) -> Any:
    """Return a value with its records as dictionaries, and its sequences as lists."""
    if isinstance(value, Record):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else str(value)


def number(value: float | None, sign: str = "") -> str:
    """Return a score for reading; a dash if it is undefined."""
    if value is None:
        return "–"
    return f"{value:{sign}.4f}" if abs(value) <= 1 else f"{value:{sign}g}"


def _cut(text: str, most: int = LONGEST_CELL) -> str:
    shown = text if text.isprintable() else " ".join(text.split())
    return shown if len(shown) <= most else shown[: most - 3] + "..."


# Data frames --------------------------------------------------------------------------------------


def frame(columns: Mapping[str, Sequence[Any]]) -> DataFrame:
    """Return columns of one length as a data frame.

    Raises
    ------
    ConfigError
        When pandas is not installed.
    """
    return _pandas().DataFrame(dict(columns))


def frame_of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Return rows as a data frame with columns of these names; raises as `frame`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return frame({name: list(column) for name, column in zip(names, columns, strict=True)})


def frames_below(frames: Sequence[DataFrame]) -> DataFrame:
    """Return data frames one below the other; raises as `frame`."""
    return _pandas().concat(frames, ignore_index=True) if frames else frame({})


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ConfigError(
            "pandas is not installed; to_pandas() needs it: pip install 'evaltex[tables]'"
        ) from error
    return pandas


def unknown_table(what: str, known: Sequence[str]) -> ConfigError:
    """Return the error that a record has no table of this name."""
    return ConfigError(f"to_pandas({what!r}): expected one of {', '.join(map(repr, known))}")
