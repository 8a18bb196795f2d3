"""What goes wrong for a user, in one message: where, what was found there, what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

SHOWN_KINDS, SHOWN_PLACES = 20, 3
"""Kinds of faults that a message has, and places of each."""
SUGGESTIONS = 20
"""How many unknown names of an input get a suggestion."""
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
    """What a user of the Python functions should know of a result: repaired polygons, images
    without detections.
    """


class FormatError(Exception):
    """Something in an input that does not follow its format; readers catch it and log it with its
    file. `where` is empty if a line is the place; `at` is that line, from 1, if it is known here.
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
    """One fault of the input: in a file, or an archive and its entry, at a line from 1, at what
    leads to a value of a JSON document, or of the file as a whole.
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


class FaultLog(list[Fault]):
    """Faults, so that a user sees all of an input's at once, and equal ones once; and `hints` at
    what was probably meant.
    """

    def __init__(self) -> None:
        self.hints: list[str] = []

    def add(
        self, file: str, line: int | None, found: str, expected: str, where: Steps = ()
    ) -> None:
        """Record one fault."""
        self.append(Fault(file, line, found, expected, where))

    def kinds(self) -> list[list[Fault]]:
        """Return equal faults together, in the order of the first of each kind."""
        kinds: dict[tuple[str, ...], list[Fault]] = {}
        for fault in self:
            kinds.setdefault(fault.kind, []).append(fault)
        return list(kinds.values())

    def paragraphs(self) -> Iterator[str]:
        """Yield each kind of faults, in one or two lines, and how many there are of other kinds."""
        kinds = self.kinds()
        for equal in kinds[:SHOWN_KINDS]:
            more = f"\n  {len(equal)} such faults{others(equal)}" if len(equal) > 1 else ""
            yield f"{equal[0]}{more}"
        if left := sum(map(len, kinds[SHOWN_KINDS:])):
            yield counted(left, "... and {count} more fault[s]")

    def raise_if_any(self) -> None:
        """Raise one `FaultsError` for all faults recorded so far."""
        if self:
            raise FaultsError(self)


def others(equal: Sequence[Any]) -> str:
    """Say of equal faults, or problems, in how many files they are, and the places of the next; or
    what is quoted in these, if they have the place of the first.
    """
    files, following = len({fault.file for fault in equal}), equal[1:SHOWN_PLACES]
    places = " and ".join(fault.place for fault in following if fault.place != equal[0].place)
    quoted = (re.search(r"'.*?'(?:\.\.\.)?", fault.found) for fault in following)
    names = " and ".join(dict.fromkeys(escaped(name[0]) for name in quoted if name))
    also = f", also at {places}" if places else f", also {names}" if names else ""
    return f"{f' in {files} files' if files > 1 else ''}{also}"


class FaultsError(InputError):
    """The faults of an input; its text has equal ones once."""

    def __init__(self, log: FaultLog) -> None:
        super().__init__(log)
        self.log = log

    def __str__(self) -> str:
        return "\n".join([*self.log.paragraphs(), *self.log.hints])


# Wording ------------------------------------------------------------------------------------------


def inside(where: Steps) -> str:
    """Return a place in a JSON document as messages begin with it: ``annotations[3].bbox: ``;
    nothing for the whole.
    """
    steps = [f"[{step}]" if isinstance(step, int) else f".{quote(step)[1:-1]}" for step in where]
    return f"{''.join(steps).removeprefix('.')}: " if steps else ""


def quote(text: str) -> str:
    """Return `text` fit for a message: control characters escaped, long text cut."""
    return f"'{escaped(text if len(text) <= 80 else f'{text[:80]}...')}'"


def escaped(text: str) -> str:
    """Return `text` with its control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def listed(names: Sequence[str]) -> str:
    """Return the first three names in quotes, and how many more there are."""
    return ", ".join(map(quote, names[:3])) + (f" and {len(names) - 3} more" * (len(names) > 3))


def counted(count: int, sentence: str) -> str:
    """Return a sentence with its ``{count}``, and of its ``[one|many]``, or ``[many]``, the words
    that go with that.

    >>> counted(1, "{count} object[s] [is|are] numbered again")
    '1 object is numbered again'
    """
    chosen = re.sub(_FORMS, lambda form: (form[1] or "") if count == 1 else form[2], sentence)
    return chosen.replace("{count}", str(count))


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message that a name is none of those known: the one most like it, and all."""
    return f"unknown {what} {quote(name)}{nearest(name, known)}; known: {', '.join(known)}"


def nearest(name: str, candidates: Sequence[str]) -> str:
    """Return ` (did you mean 'x'?)` for the candidate most like `name`, or nothing."""
    import difflib  # which a run without a fault does without

    known = [each for each in candidates[:1000] if len(each) <= 80]  # the others take too long
    close = difflib.get_close_matches(name[:81], known, n=1)
    return f" (did you mean {quote(close[0])}?)" if close else ""
