"""What a protocol is: a parameters record, a function from images to
evidence, and one from evidence to scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.errors import ConfigError
from evaltex_cli.errors.suggestions import unknown
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.matches import MISSED, Matches
from evaltex_cli.protocols.object_warnings import ObjectWarning
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps

Count: TypeAlias = Any
"""A whole number that adds up.

(images,) int64 in a batch, int for one image or a data set; of a histogram (images, bins), and a
list of int.
"""
Sum: TypeAlias = Any
"""Fractions that add up: as `Count`, of float64 and float."""
Totals: TypeAlias = Mapping[str, Any]
"""A `Tally` of one image or a data set in the form of JSON: name -> number,
or a list of them for a histogram.
"""
Scores: TypeAlias = dict[str, Any]
"""Name -> float, or list of float, or None where undefined."""
_SLACK = 1e-9
"""What rounding may add to a sum, as a share of it and at least."""


class EvidenceError(ValueError):
    """Evidence that contradicts itself: a bug in a protocol, or a result that was edited."""


def require(condition: Any, rule: str) -> None:
    """Refuse evidence that breaks a rule; the condition is a bool, or an array of them."""
    if not (condition if isinstance(condition, bool) else np.all(condition)):
        raise EvidenceError(f"evidence contradicts itself: {rule}")


def at_most(part: Any, whole: Any) -> Any:
    """Whether sums are at most others, but for rounding."""
    return part <= whole * (1 + _SLACK) + _SLACK


class ExactSum(float):
    """A sum of floats, rounded once; ``+`` of two is the rounded exact sum of all, whatever their
    order and grouping.

    Attributes
    ----------
    parts : list of float
        An error-free expansion: a few floats with exactly the same sum, largest first.
    """

    parts: list[float]

    def __new__(cls, values: Iterable[float] = ()) -> Self:
        rest, parts = list(values), []
        while total := math.fsum(rest):
            parts.append(total)
            rest.append(-total)
        result = super().__new__(cls, math.fsum(parts))
        result.parts = parts
        return result

    def __add__(self, other: float) -> ExactSum:
        return ExactSum(self.parts + (other.parts if isinstance(other, ExactSum) else [other]))

    def __reduce__(self) -> tuple[type[ExactSum], tuple[list[float]]]:
        return ExactSum, (self.parts,)


@dataclass(frozen=True, eq=False)
class Tally:
    """Evidence, which adds up: columns of a batch, one image's row of them, or the sums of a data
    set.

    A protocol declares its own, one field per quantity, each a `Count` or a `Sum`. Names and order
    of the fields are those of the results' JSON. An optional field is None where the parameters do
    not ask for it, and not in the JSON.
    """

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse what cannot be; protocols add the rules of their own quantities.

        Raises
        ------
        EvidenceError
        """
        for name in _fields(type(self), "Count"):
            count = getattr(self, name)
            if count is not None:
                require(
                    min(count, default=0) >= 0 if isinstance(count, list) else count >= 0,
                    f"{name} is below 0",
                )

    def as_dict(self) -> dict[str, Any]:
        """Name -> column, number or list, in the order of the JSON; without
        the fields that are None.
        """
        values = ((name, getattr(self, name)) for name in _fields(type(self)))
        return {name: value for name, value in values if value is not None}

    @classmethod
    def of_columns(cls, columns: Mapping[str, ArrayLike]) -> Self:
        """Return columns that were read from results.

        Raises
        ------
        TypeError, ValueError
            When they are not of these names, a count is no whole number, or the evidence
            contradicts itself.
        """
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        for name in _fields(cls, "Count"):
            if name in arrays and arrays[name].dtype.kind != "i" and arrays[name].size:
                raise ValueError(f"{name} is not a whole number")
        sums = {
            name: arrays[name].astype(np.float64) for name in _fields(cls, "Sum") if name in arrays
        }
        return cls(**(arrays | sums))

    def each(self, function: Callable[..., Any], *others: Self) -> Self:
        """Return the results of a function of each field, and of the same field of others."""
        values = self.as_dict().items()
        return type(self)(
            **{name: function(value, *(getattr(o, name) for o in others)) for name, value in values}
        )

    def rows(self) -> Iterator[Self]:
        """Yield the evidence of each image."""
        columns = {name: column.tolist() for name, column in self.as_dict().items()}
        for values in zip(*columns.values(), strict=True):
            row = object.__new__(type(self))  # without `check`, which the columns have passed
            row.__dict__.update(zip(columns, values, strict=True))
            yield row

    def sum(self) -> Self:
        """Return the sums of all images, exactly: in whatever order they come."""
        return self.each(_sum)

    def __add__(self, other: Self) -> Self:
        return self.each(_added, other)

    @classmethod
    def concatenate(cls, tallies: Sequence[Self]) -> Self:
        """Return the columns of several batches as one."""
        return tallies[0].each(lambda *columns: np.concatenate(columns), *tallies[1:])


def joined(one: Tally | None, other: Tally | None) -> Tally | None:
    """Return the sums of both, either of which may be missing."""
    return other if one is None else one if other is None else one + other


def _sum(column: NDArray[Any]) -> Any:
    if column.dtype.kind != "f":
        return column.sum(axis=0).tolist()
    return [*map(ExactSum, column.T.tolist())] if column.ndim > 1 else ExactSum(column.tolist())


def _added(one: Any, other: Any) -> Any:
    return (
        [a + b for a, b in zip(one, other, strict=True)] if isinstance(one, list) else one + other
    )


def _fields(kind: type[Tally], of: str = "") -> tuple[str, ...]:
    """The names of a tally's fields, of all or of those that are a `Count` or a `Sum`."""
    return tuple(field.name for field in fields(kind) if str(field.type).startswith(of))


@dataclass(frozen=True, eq=False)
class ObjectTally(Tally):
    """Objects and detections, and those that count: what most protocols begin
    with (`object_counts`).
    """

    gt_objects: Count
    counted_gt_objects: Count
    detections: Count
    counted_detections: Count

    def check(self) -> None:
        super().check()
        require(self.counted_gt_objects <= self.gt_objects, "more objects count than there are")
        require(self.counted_detections <= self.detections, "more detections count than there are")


@dataclass(frozen=True, eq=False)
class CreditTally(ObjectTally):
    """Summed credits, at most 1 each, of objects towards recall and of
    detections towards precision.
    """

    recall_credit: Sum
    precision_credit: Sum

    def check(self) -> None:
        super().check()
        require(at_most(self.recall_credit, self.counted_gt_objects), "more recall than objects")
        require(
            at_most(self.precision_credit, self.counted_detections),
            "more precision than detections",
        )


class Evidence(NamedTuple):
    """Evidence of a batch.

    Attributes
    ----------
    tally : Tally
        Columns with one row per image.
    matches : Matches or None
        Made only when asked for.
    warnings : tuple of ObjectWarning
        What the user should know about single images.
    """

    tally: Tally
    matches: Matches | None = None
    warnings: tuple[ObjectWarning, ...] = ()


class EvidenceRows(NamedTuple):
    """The evidence of a whole data set: columns, and the images they are of."""

    names: Sequence[str]
    tally: Tally


class Mark(NamedTuple):
    """A point of a plot with its label."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over a common axis, drawn by `--plots`.

    Attributes
    ----------
    name : str
        Of the file, after the protocol's name.
    title, x_label, y_label : str
    x : sequence of float
    lines : mapping
        Label -> one y for each x, in [0, 1].
    marks : sequence of Mark
    band : (float, float) or None
        The ends of a shaded stretch of the x axis.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    marks: Sequence[Mark] = ()
    band: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Protocol:
    """An evaluation protocol.

    Attributes
    ----------
    name, title : str
        What the user types, and one line about it.
    version : int
        Raised whenever the same input and parameters give other scores than before.
    parameters : type
        Frozen dataclass; `config` reads ranges and help from the fields' metadata.
    evidence : callable
        ``evidence(batch, overlaps, parameters, with_matches) -> Evidence``.
    tally : type
        The protocol's `Tally`.
    scores : callable
        ``scores(tally, parameters) -> Scores``, for the sums of a data set and an image's row
        alike.
    headline, unbounded : tuple of str
        Names of the scores shown on stdout; and of those that are not in [0, 1], such as counts.
    convention : callable
        ``convention(parameters)``: how `Overlaps` are measured for it.
    image_scores : callable or None
        As `scores`, for one image's row, where the official program scores an image without objects
        other than a dataset; None where both are the same.
    takes_masks : bool
        Whether it works on labelled masks.
    needs_texts : bool
        Whether it means something only if detections have transcriptions.
    needs : callable
        ``needs(batch, parameters)`` raises an `InputError` where images do not have what the
        parameters ask for: sizes, confidences.
    resolve : callable
        ``resolve(parameters, has_polygons)``: the parameters with what they leave to the data set;
        ``has_polygons()`` looks whether any object of it, on either side, has other than four
        vertices (a box has four).
    object_credit : callable
        ``object_credit(types, values)``: how well each ground-truth object was found, in [0, 1],
        from its match type and its own values (as in `SideMatches`); a comparison shows whether it
        got better or worse.
    recount : callable or None
        ``recount(batch, matches, parameters) -> Tally``: of matches that were made before some of
        their objects became don't-care; None if that changes matches.
    by_level : callable or None
        ``by_level(batch, overlaps, parameters, states) -> Tally or None``: one row for each of some
        `LevelStates` of the images, the same as `evidence` has of the kept detections, with less
        work; None if not with these parameters. Without it `evidence` is used.
    measures : str
        What it measures, in a few words, if the title does not say it.
    plots, plot_names : callable or None, tuple of str
        ``plots(scores)``: what `--plots` draws of a dataset's scores; and the names of all plots
        there may be.
    """

    name: str
    title: str
    parameters: type[Any]
    tally: type[Tally]
    evidence: Callable[[ImageBatch, Overlaps, Any, bool], Evidence]
    scores: Callable[[Any, Any], Scores]
    version: int = 1
    headline: tuple[str, ...] = ("recall", "precision", "hmean")
    unbounded: tuple[str, ...] = ()
    convention: Callable[[Any], Convention] = lambda parameters: Convention()
    image_scores: Callable[[Any, Any], Scores] | None = None
    takes_masks: bool = True
    needs_texts: bool = False
    needs: Callable[[ImageBatch, Any], None] = lambda batch, parameters: None
    resolve: Callable[[Any, Callable[[], bool]], Any] = lambda parameters, _: parameters
    object_credit: Callable[[NDArray[np.uint8], Mapping[str, Floats]], Floats] = lambda types, _: (
        types != MISSED
    ).astype(np.float64)
    recount: Callable[[ImageBatch, Matches, Any], Tally] | None = None
    by_level: Callable[[ImageBatch, Overlaps, Any, Any], Tally | None] | None = None
    plots: Callable[[Scores], Iterable[Plot]] | None = None
    plot_names: tuple[str, ...] = ()
    measures: str = ""

    def __repr__(self) -> str:
        return f"Protocol({self.name!r}, {self.title!r})"

    def __reduce__(self) -> tuple[Callable[[str], Protocol], tuple[str]]:
        """A protocol goes to another process by its name."""
        return load, (self.name,)


def per_image(values: NDArray[Any], image: Ints, images: int) -> NDArray[Any]:
    """Sum values of objects by image.

    Parameters
    ----------
    values : (n,) bool, int64 or float64
        Booleans and integers give int64 counts, floats float64 sums, added in the objects' order.
    image : (n,) int64
        Image index of each object.
    """
    if values.dtype.kind == "f":
        return np.bincount(image, weights=values, minlength=images).astype(
            np.float64
        )  # int64 where empty
    if values.dtype.kind == "b":
        return np.bincount(image[values], minlength=images)
    return np.bincount(image, weights=values, minlength=images).astype(np.int64)


def object_counts(
    batch: ImageBatch, gt_counts: Bools, det_counts: Bools
) -> tuple[Ints, Ints, Ints, Ints]:
    """(images,) each, the first fields of an `ObjectTally`; gt_counts,
    det_counts are (G,), (D,) bool: which count.
    """
    images = len(batch.names)
    return (
        np.diff(batch.gt.offsets),
        per_image(gt_counts, batch.gt.image, images),
        np.diff(batch.det.offsets),
        per_image(det_counts, batch.det.image, images),
    )


def load(name: str) -> Protocol:
    """Return a protocol by name.

    Raises
    ------
    ConfigError
        When the registry has none of that name.
    """
    if name not in PROTOCOLS:
        raise ConfigError(unknown("protocol", name, list(PROTOCOLS)))
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol
