"""The level, words or lines or regions, at which the files of an input are
annotated, decided over all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import counted
from evaltex_cli.old_formats.documents.each_file import Reading, Survey

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


class Level(NamedTuple):
    """A format that reads one level of a document."""

    format: str
    pattern: re.Pattern[bytes]
    """What is in a file, without its comments, that has such objects (`element`)."""
    objects: str
    """What they are, in the plural: the variant that is read."""


class Look(NamedTuple):
    """What is looked for in each file before any is read: which levels it has, and how many of the
    notes apply to it.

    `notes` has a count for each sentence of the survey.
    """

    has: tuple[bool, ...]
    notes: tuple[int, ...] = ()


def without_comments(data: bytes) -> bytes:
    """Return a document in UTF-8 without comments, in which elements can be
    looked for without parsing it.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    return _COMMENT.sub(b"", data) if b"<!--" in data else data


def element(name: str) -> re.Pattern[bytes]:
    """Return the pattern of an element of a name, in whatever namespace."""
    return re.compile(rb"<(?:[\w.-]+:)?" + name.encode() + rb"[\s/>]")


def survey(
    levels: Sequence[Level],
    wanted: int,
    notes: Callable[[bytes], tuple[int, ...]] = lambda _: (),
    *sentences: str,
) -> Survey:
    """Return what decides which of some levels is read, from all files.

    It is the wanted one, or where no file has it the next one that any has, of which a warning is
    given.

    Parameters
    ----------
    levels : sequence of Level
        From the finest to the coarsest.
    wanted : int
        Index of a level.
    notes : callable
        ``notes(data)`` counts what each of the sentences is about in a document without comments.
    *sentences : str
        Warnings, for `counted`.
    """

    def look(data: bytes) -> Look:
        text = without_comments(data)
        return Look(tuple(level.pattern.search(text) is not None for level in levels), notes(text))

    def settle(looks: Sequence[Look]) -> Reading:
        has = [[look.has[k] for look in looks] for k in range(len(levels))]
        read = next((k for k in range(wanted, len(levels)) if any(has[k])), wanted)
        totals = [sum(look.notes[k] for look in looks) for k in range(len(sentences))]
        noted = [
            counted(total, sentence)
            for total, sentence in zip(totals, sentences, strict=True)
            if total
        ]
        return Reading(
            (*_on_others(levels, wanted, read, has), *noted),
            levels[read].objects,
            levels[read].format,
        )

    return Survey(look, settle)


def why(levels: Sequence[Level], wanted: int, mark: str) -> Callable[[Path], str]:
    """Return what says why a level is read that was not named (`Format.why`)."""
    return lambda _: f"recognised by {mark}; no file has {levels[wanted - 1].objects}"


def _on_others(
    levels: Sequence[Level], wanted: int, read: int, has: Sequence[Sequence[bool]]
) -> Iterator[str]:
    """Say what is not read, or not as it was wanted; `has` says of each level
    which files have it.
    """
    level = levels[read]
    if read != wanted:
        yield (
            f"no file has {levels[wanted].objects}, so {level.objects} are read (format"
            f" {level.format})"
        )
    finer = next(
        (one for one, files in zip(levels[:wanted], has, strict=False) if any(files)), None
    )
    if finer and not any(has[read]):
        yield (
            f"no file has {level.objects}, so there are no objects (format {finer.format} reads"
            f" {finer.objects})"
        )
    for coarser, files in zip(levels[read + 1 :], has[read + 1 :], strict=True):
        empty = sum(other and not own for own, other in zip(has[read], files, strict=True))
        if empty:
            sentence = (
                f"{{count}} file[s] [has|have] {coarser.objects} but no {level.objects}, so"
                " no objects"
            )
            yield f"{counted(empty, sentence)} (format {coarser.format} reads {coarser.objects})"
            return
