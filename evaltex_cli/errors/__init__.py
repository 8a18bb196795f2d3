"""What goes wrong for a user, in one message: where, what was found there, what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

SHOWN_KINDS, SHOWN_PLACES = 20, 3
"""Kinds of faults that a message has, and places of each."""
_QUOTED = r"'.*?'(?:\.\.\.)?"
_SUGGESTED = r" \(did you mean '.*?'\?\)"
_VARYING = r"(?s)'.*'(?:\.\.\.)?|0x[0-9a-f]+|[-+]?[0-9][0-9.e]*(?: [a-z]+?s?\b)?"
_SEVERAL = r"#(?:, (?:#|\.\.\.))+"
_FORMS = r"\[(?:([a-z' ]*)\|)?([a-z' ]*)\]"
Steps: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value of a JSON document."""


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


def not_utf8(error: UnicodeDecodeError) -> FormatError:
    """Return what is wrong with a file that is not UTF-8, or what its head says it is."""
    encoding = error.encoding.upper()
    line = error.object.count(b"\n", 0, error.start) + 1
    found = f"byte 0x{error.object[error.start]:02x}"
    return FormatError(found, f"text in {encoding}: save the file as {encoding}", at=line)


# Faults of an input -------------------------------------------------------------------------------


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
        keys = (re.sub(r"[0-9]+", "#", step) for step in self.where if isinstance(step, str))
        return (kind_of(self.found), kind_of(self.expected), *keys)


@lru_cache(maxsize=16)  # the faults of one list after another are of few sentences
def kind_of(sentence: str) -> str:
    """Return a sentence without what it quotes, its numbers, and the name that it suggests."""
    return re.sub(_SEVERAL, "#", re.sub(_VARYING, "#", re.sub(_SUGGESTED, "", sentence)))


class FaultLog:
    """Collects faults, so that a user sees all of an input's at once, and equal ones once.

    Attributes
    ----------
    faults : list of Fault
    hints : list of str
        What was probably meant.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.hints: list[str] = []

    @property
    def count(self) -> int:
        """How many faults there are."""
        return len(self.faults)

    def add(
        self, file: str, line: int | None, found: str, expected: str, where: Steps = ()
    ) -> None:
        """Record one fault."""
        self.faults.append(Fault(file, line, found, expected, where))

    def extend(self, *others: FaultLog) -> None:
        """Record the faults of other logs after its own."""
        for other in others:
            self.faults += other.faults

    def kinds(self) -> list[list[Fault]]:
        """Return equal faults together, in the order of the first of each kind."""
        kinds: dict[tuple[str, ...], list[Fault]] = {}
        for fault in self.faults:
            kinds.setdefault(fault.kind, []).append(fault)
        return list(kinds.values())

    def paragraphs(self) -> Iterator[str]:
        """Yield each kind of faults, in one or two lines, and last how many there are of other
        kinds.
        """
        kinds = self.kinds()
        for equal in kinds[:SHOWN_KINDS]:
            yield str(equal[0]) + (_more(equal) if len(equal) > 1 else "")
        others = sum(map(len, kinds[SHOWN_KINDS:]))
        if others:
            yield counted(others, "... and {count} more fault[s]")

    def raise_if_any(self) -> None:
        """Raise one error for all faults recorded so far.

        Raises
        ------
        FaultsError
            When there is at least one fault.
        """
        if self.faults:
            raise FaultsError(self)


def _more(equal: Sequence[Fault]) -> str:
    """How many equal faults there are, in how many files, and the places of the next; or what is
    quoted in these, if they have the place of the first.
    """
    count, first, following = len({fault.file for fault in equal}), equal[0], equal[1:SHOWN_PLACES]
    files = f" in {count} files" if count > 1 else ""
    places = [fault.place for fault in following if fault.place != first.place]
    quoted = (re.search(_QUOTED, fault.found) for fault in following)
    names = dict.fromkeys(escaped(name[0]) for name in quoted if name)
    also = f"at {' and '.join(places)}" if places else " and ".join(names)
    return f"\n  {len(equal)} such faults{files}" + (f", also {also}" if also else "")


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


# Wording ------------------------------------------------------------------------------------------


def inside(where: Steps) -> str:
    """Return a place in a JSON document as messages begin with it:
    ``annotations[3].bbox: ``; nothing for the whole.
    """
    steps = [f"[{step}]" if isinstance(step, int) else f".{quote(step)[1:-1]}" for step in where]
    return f"{''.join(steps).removeprefix('.')}: " if steps else ""


def quote(text: str, limit: int = 80) -> str:
    """Return `text` fit for a message: control characters escaped, long text cut."""
    return f"'{escaped(text if len(text) <= limit else text[:limit] + '...')}'"


def escaped(text: str) -> str:
    """Return `text` with its control characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return some names in quotes, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quote, names[:most])) + more


def counted(count: int, sentence: str) -> str:
    """Return a sentence with its ``{count}``, and of its ``[one|many]``, or ``[many]``, the words
    that go with that.

    >>> counted(1, "{count} object[s] [is|are] numbered again")
    '1 object is numbered again'
    """
    chosen = re.sub(_FORMS, lambda form: (form[1] or "") if count == 1 else form[2], sentence)
    return chosen.replace("{count}", str(count))
