"""What goes wrong for a user, in one message: where, what was found there, what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from evaltex_cli.errors.wording import counted as counted
from evaltex_cli.errors.wording import escaped
from evaltex_cli.errors.wording import listed as listed
from evaltex_cli.errors.wording import quote as quote

MOST_FAULTS = 10_000
"""Faults that a log records; the others are counted."""
MOST_KINDS = 20
"""Kinds of faults of which a log has the number, the files and the first places; the others are
only counted."""
PLACES = 3
"""Places that are shown of faults of one kind."""
# Patterns that a run without faults needs not are strings: re compiles them at their first use.
_QUOTED = r"'.*?'(?:\.\.\.)?"
_SUGGESTED = r" \(did you mean '.*?'\?\)"
_VARYING = r"(?s)'.*'(?:\.\.\.)?|0x[0-9a-f]+|[-+]?[0-9][0-9.e]*(?: [a-z]+?s?\b)?"
_SEVERAL = r"#(?:, (?:#|\.\.\.))+"


class EvaltexError(Exception):
    """Base of every error that a user can cause or fix; its text is the whole message."""


class ConfigError(EvaltexError):
    """A parameter that is unknown, malformed or out of range."""


class InputError(EvaltexError):
    """Input that cannot be evaluated, or a place that cannot be read or written."""


class EvaltexWarning(UserWarning):
    """What a user of the Python functions should know of a result: repaired
    polygons, images without detections.
    """


Steps: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value of a JSON document."""


class Fault(NamedTuple):
    """One fault of the input.

    Parameters
    ----------
    file : str
        The file, or the archive and its entry, as the user would write it.
    line : int or None
        Line number from 1; None where the fault is of the file as a whole.
    found, expected : str
        What is there, and what should be.
    where : tuple of str and int
        What leads to the value in a JSON document; then there is no line.
    """

    file: str
    line: int | None
    found: str
    expected: str
    where: Steps = ()

    @property
    def place(self) -> str:
        """Its file and line, or its file and the way to the value in a JSON document."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return escaped(f"{place}: {inside(self.where)}".removesuffix(": "))

    def __str__(self) -> str:
        return f"{self.place}: {escaped(f'{self.found}; expected {self.expected}')}"

    @property
    def kind(self) -> tuple[str, ...]:
        """What equal faults have in common: all but places, names and numbers."""
        return (
            kind_of(self.found),
            kind_of(self.expected),
            *(re.sub(r"[0-9]+", "#", step) for step in self.where if isinstance(step, str)),
        )


@lru_cache(maxsize=16)  # the faults of one list after another are of few sentences
def kind_of(sentence: str) -> str:
    """Return a sentence without what it quotes, its numbers, and the name that it suggests."""
    return re.sub(_SEVERAL, "#", re.sub(_VARYING, "#", re.sub(_SUGGESTED, "", sentence)))


@dataclass(eq=False, repr=False)
class EqualFaults:
    """Faults that differ only in their places, and in the names and numbers they contain."""

    first: list[Fault] = field(default_factory=list)
    """The first `PLACES`."""
    count: int = 0
    files: set[str] = field(default_factory=set)

    def add(self, first: Sequence[Fault], count: int, files: set[str]) -> None:
        """Add some faults of this kind."""
        self.first += first[: PLACES - len(self.first)]
        self.count += count
        self.files |= files

    def __str__(self) -> str:
        """The first fault; in a second line how many there are, in how many
        files, and the next ones' places.
        """
        if self.count == 1:
            return str(self.first[0])
        files = f" in {len(self.files)} files" if len(self.files) > 1 else ""
        also = f", also {' and '.join(self._next())}" if self._next() else ""
        return f"{self.first[0]}\n  {self.count} such faults{files}{also}"

    def _next(self) -> list[str]:
        """The places of the next faults; or what is quoted in them, if they
        have the place of the first.
        """
        first, *others = self.first
        places = [fault.place for fault in others if fault.place != first.place]
        if places:
            return [f"at {places[0]}", *places[1:]]
        named = [quoted[0] for fault in others if (quoted := re.search(_QUOTED, fault.found))]
        return list(dict.fromkeys(map(escaped, named)))


class FaultLog:
    """Collects faults, so that a user sees all of a file's at once, and equal ones once.

    Parameters
    ----------
    most : int
        How many are stored; beyond them only their kinds' counts grow.

    Attributes
    ----------
    shown : list of Fault
        Those that are stored.
    count : int
    kinds : dict
        What equal faults have in common -> these faults, `MOST_KINDS` at most.
    hints : list of str
        What was probably meant.
    """

    def __init__(self, most: int = MOST_FAULTS) -> None:
        self.shown: list[Fault] = []
        self.count = 0
        self.kinds: dict[tuple[str, ...], EqualFaults] = {}
        self.hints: list[str] = []
        self._most = most

    def add(
        self,
        file: str,
        line: int | None,
        found: str,
        expected: str,
        where: Steps = (),
    ) -> None:
        """Record one fault."""
        fault = Fault(file, line, found, expected, where)
        self.count += 1
        if len(self.shown) < self._most:
            self.shown.append(fault)
        self._add_kind(fault.kind, [fault], 1, {file})

    def _add_kind(
        self, kind: tuple[str, ...], first: Sequence[Fault], count: int, files: set[str]
    ) -> None:
        if kind in self.kinds or len(self.kinds) < MOST_KINDS:
            self.kinds.setdefault(kind, EqualFaults()).add(first, count, files)

    def extend(self, *others: FaultLog) -> None:
        """Record the faults of other logs after its own."""
        for other in others:
            self.count += other.count
            self.shown += other.shown[: self._most - len(self.shown)]
            for kind, same in other.kinds.items():
                self._add_kind(kind, same.first, same.count, same.files)

    def raise_if_any(self) -> None:
        """Raise one error for all faults recorded so far.

        Raises
        ------
        FaultsError
            When there is at least one fault.
        """
        if self.count:
            raise FaultsError(self)

    def paragraphs(self) -> Iterator[str]:
        """Yield each kind of faults, of one or two lines, and last how many
        there are of other kinds.
        """
        yield from map(str, self.kinds.values())
        others = self.count - sum(same.count for same in self.kinds.values())
        if others:
            yield counted(others, "... and {count} more fault[s]")

    def every(self) -> Iterator[str]:
        """Yield each fault that is stored, and last how many more there are."""
        yield from map(str, self.shown)
        if self.count > len(self.shown):
            yield counted(self.count - len(self.shown), "... and {count} more fault[s]")


class FaultsError(InputError):
    """Faults of the input; its text has equal ones once.

    Parameters
    ----------
    log : FaultLog
        Has every fault with its place.
    """

    def __init__(self, log: FaultLog) -> None:
        super().__init__("\n".join([*log.paragraphs(), *log.hints]))
        self.log = log

    def __reduce__(self) -> tuple[type[FaultsError], tuple[FaultLog]]:
        return FaultsError, (self.log,)


class FormatError(Exception):
    """Something in an input that does not follow its format; readers catch it and log it with its
    file.

    Attributes
    ----------
    found, expected : str
    where : tuple of str and int
        Keys and indices that lead there, in JSON; empty if a line is the place.
    at : int or None
        Its line, from 1; None if only the code that logs it knows the line, or nobody does.
    """

    def __init__(self, found: str, expected: str, where: Steps = (), at: int | None = None) -> None:
        super().__init__(found, expected, where, at)
        self.found, self.expected, self.where, self.at = found, expected, where, at

    @property
    def line(self) -> int:
        """Its line, from 1; the first if it has no place."""
        return self.at or 1


def inside(where: Steps) -> str:
    """Return a place in a JSON document as messages begin with it:
    ``annotations[3].bbox: ``; nothing for the whole.
    """
    steps = [f"[{step}]" if isinstance(step, int) else f".{quote(step)[1:-1]}" for step in where]
    return f"{''.join(steps).removeprefix('.')}: " if steps else ""


def not_utf8(error: UnicodeDecodeError) -> FormatError:
    """Return what is wrong with a file that is not UTF-8, or what its head says it is."""
    encoding = error.encoding.upper()
    line = error.object.count(b"\n", 0, error.start) + 1
    found = f"byte 0x{error.object[error.start]:02x}"
    return FormatError(found, f"text in {encoding}: save the file as {encoding}", at=line)
