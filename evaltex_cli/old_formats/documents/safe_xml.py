"""XML without its dangers: no document types, so no entities; every fault with its line."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT, NUMBER

LONGEST_NUMBER = 400
"""Characters of the longest number: the decimals of any double; matching takes the square of it."""
_NO_MEMORY = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]


class _Tree:
    """The elements of a document as columns, in the order of their start tags, 20 bytes for each
    and its text.

    Element k has the attributes ``strings[starts[k]:texts[k]]``, names and values each with a null
    after it, and the text ``strings[texts[k]:starts[k + 1]]``. Its descendants are the elements
    from k + 1 to before ``ends[k]``.
    """

    def __init__(self) -> None:
        self.known: list[str] = []
        self.number_of: dict[str, int] = {}
        self.names, self.lines, self.ends = array("i"), array("i"), array("i")
        self.starts, self.texts, self.strings = array("I"), array("I"), bytearray()

    def named(self, names: Iterable[str], start: int, stop: int) -> Iterator[Element]:
        """Yield the elements of these names among some."""
        wanted = {self.number_of[name] for name in names if name in self.number_of}
        return (Element(self, k) for k in range(start, stop) if self.names[k] in wanted)


@dataclass(frozen=True, slots=True)
class Element:
    """One element; names are without namespaces."""

    _tree: _Tree
    _index: int

    @property
    def name(self) -> str:
        """Its name."""
        return self._tree.known[self._tree.names[self._index]]

    @property
    def attributes(self) -> dict[str, str]:
        """Its attributes by name."""
        listed = self._string(self._tree.starts[self._index], self._tree.texts[self._index]).split(
            "\0"
        )
        return dict(zip(listed[:-1:2], listed[1::2], strict=True))

    @property
    def text(self) -> str:
        """What is in it before its first child."""
        starts = self._tree.starts
        stop = starts[self._index + 1] if self._index + 1 < len(starts) else len(self._tree.strings)
        return self._string(self._tree.texts[self._index], stop)

    @property
    def at(self) -> int:
        """The line where it begins."""
        return self._tree.lines[self._index]

    def __iter__(self) -> Iterator[Element]:
        """Iterate over the children."""
        tree, k = self._tree, self._index + 1
        while k < tree.ends[self._index]:
            yield Element(tree, k)
            k = tree.ends[k]

    def all(self, *names: str) -> Iterator[Element]:
        """Yield the elements of these names at any depth, in the order of the document."""
        return self._tree.named(names, self._index + 1, self._tree.ends[self._index])

    def _string(self, start: int, stop: int) -> str:
        return self._tree.strings[start:stop].decode()

    def child(self, name: str) -> Element | None:
        """Return the first child of a name."""
        number = self._tree.number_of.get(name)
        names, ends, k = self._tree.names, self._tree.ends, self._index + 1
        while k < ends[self._index]:
            if names[k] == number:
                return Element(self._tree, k)
            k = ends[k]
        return None

    def needed(self, name: str) -> Element:
        """Return the first child of a name; raises `FormatError` where there is none."""
        child = self.child(name)
        if child is None:
            raise FormatError(
                f"{self.name} without {name}", f"one {name} in each {self.name}", at=self.at
            )
        return child

    def number(self, attribute: str, default: float | None = None) -> float:
        """Return an attribute's number; raises `FormatError` where it is
        none, or is missing without a default.
        """
        if attribute not in self.attributes:
            if default is None:
                raise FormatError(
                    f"{self.name} without attribute {attribute}", "a number there", at=self.at
                )
            return default
        return number(self.attributes[attribute], attribute, self)

    def confidence(self, attribute: str) -> float:
        """Return an attribute's number in [0, 1]; raises `FormatError` where it is none."""
        value = self.number(attribute)
        if not 0 <= value <= 1:
            found = f"{attribute} = {quote(self.attributes[attribute])}"
            raise FormatError(found, "a confidence in [0, 1]", at=self.at)
        return value


@contextmanager
def about(element: Element) -> Iterator[None]:
    """Say of any `FormatError` raised inside that it is about this element."""
    try:
        yield
    except FormatError as error:
        error.at = element.at
        raise


def points(element: Element, attribute: str) -> list[float]:
    """Return x1, y1, x2, y2, ... of an attribute ``x1,y1 x2,y2 ...``; raises
    `FormatError` for anything else.
    """
    if attribute not in element.attributes:
        raise FormatError(
            f"{element.name} without {attribute}", "x1,y1 x2,y2 ... there", at=element.at
        )
    return numbers(element.attributes[attribute], attribute, element)


def numbers(text: str, what: str, element: Element) -> list[float]:
    """Return an element's finite numbers divided by commas or blanks; raises
    `FormatError` for anything else.
    """
    return [number(field, what, element) for field in text.replace(",", " ").split()]


def number(text: str, what: str, element: Element) -> float:
    """Return an element's finite number of at most 1e12 in magnitude; raises
    `FormatError` for anything else.
    """
    value = float(text) if len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text) else float("nan")
    if not abs(value) <= COORDINATE_LIMIT:
        raise FormatError(
            f"{what} = {quote(text)}", "a finite number (at most 1e12 in magnitude)", at=element.at
        )
    return value


def new_parser() -> expat.XMLParserType:
    """Return an expat parser that refuses document types; for `parse`."""
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        expected = "none (entities are not read): remove it"
        raise FormatError("a document type declaration", expected, at=parser.CurrentLineNumber)

    parser.StartDoctypeDeclHandler = refuse
    return parser


def parse(parser: expat.XMLParserType, data: bytes) -> None:
    """Parse a whole document by handlers that were set.

    Raises
    ------
    FormatError
        When it is no well-formed XML, is in an unknown encoding, or declares a document type.
    """
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        if error.code == _NO_MEMORY:
            raise MemoryError from error
        raise FormatError(
            expat.ErrorString(error.code),
            "well-formed XML",
            at=error.lineno,
        ) from error
    except (LookupError, ValueError) as error:
        raise FormatError(
            f"an encoding that cannot be read ({error})", "XML in UTF-8", at=1
        ) from error


def tree(data: bytes, first: str | None = None) -> Element:
    """Parse a whole document into elements; raises as `parse`.

    The first element must have a name, if one is given.
    """
    made = _Tree()
    open_elements: list[int] = []
    parser = new_parser()

    def start(name: str, attributes: list[str]) -> None:
        bare = name.rpartition(":")[2]
        open_elements.append(len(made.names))
        number = made.number_of.setdefault(bare, len(made.known))
        if number == len(made.known):
            made.known.append(bare)
        made.names.append(number)
        made.lines.append(parser.CurrentLineNumber)
        made.ends.append(0)
        made.starts.append(len(made.strings))
        if attributes:
            made.strings.extend("\0".join((*attributes, "")).encode())
        made.texts.append(len(made.strings))

    def end(_: str) -> None:
        made.ends[open_elements.pop()] = len(made.names)

    def characters(text: str) -> None:
        if open_elements[-1] == len(made.names) - 1:  # no child yet
            made.strings.extend(text.encode())

    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parse(parser, data)
    root = Element(made, 0)
    if first not in (None, root.name):
        raise FormatError(f"root {quote(root.name)}", f"root {first}", at=root.at)
    return root


def root_name(head: bytes) -> str | None:
    """Return the name, without namespace, of the first element in a file's
    first bytes; None where there is none.
    """
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, _: names.append(name.rpartition(":")[2])
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(head, False)
    return names[0] if names else None
