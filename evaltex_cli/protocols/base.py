"""What a protocol is: a parameters record, a function from images to evidence, and one from evidence to scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, counted, quote, unknown
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps, offsets_of

MATCH_TYPES = (
    "one-to-one",
    "one-to-many",
    "many-to-one",
    "many-to-many",
    "missed",
    "false-positive",
    "ignored",
)
"""Names of `SideMatches.types`; always read from the ground truth to the detections."""
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, MANY_TO_MANY, MISSED, FALSE_POSITIVE, IGNORED = range(7)

Totals: TypeAlias = Mapping[str, Any]
"""Name -> int or float, or a list of them for a histogram: the summed evidence."""
Scores: TypeAlias = dict[str, Any]
"""Name -> float, or list of float, or None where undefined."""
SHOWN_IMAGES = 3


class SideMatches(NamedTuple):
    """What each object of one side was matched with, and as what.

    Attributes
    ----------
    types : (n,) uint8
        Index into `MATCH_TYPES`.
    offsets, partners : (n + 1,), (k,) int64
        Object i's partners are ``partners[offsets[i]:offsets[i + 1]]``, indices into the other side.
    values : dict of (n,) float64
        The protocol's own values; NaN where undefined.
    """

    types: NDArray[np.uint8]
    offsets: Ints
    partners: Ints
    values: Mapping[str, Floats]


class Matches(NamedTuple):
    """Per-object results of a batch."""

    gt: SideMatches
    det: SideMatches


@dataclass(frozen=True, slots=True)
class Remark:
    """What the user should know about some objects; those of one `text` add up, so that batches do not show.

    Attributes
    ----------
    text : str
        As `counted` takes it, and ``{images}`` where the names are told.
    count : int
        Number of objects.
    images : tuple of str
        The names of the first few images that they are in.
    others : int
        Number of further images.
    """

    text: str
    count: int
    images: tuple[str, ...]
    others: int = 0

    def __add__(self, other: Remark) -> Remark:
        names = self.images + other.images
        others = self.others + other.others + len(names[SHOWN_IMAGES:])
        return Remark(self.text, self.count + other.count, names[:SHOWN_IMAGES], others)

    def __str__(self) -> str:
        more = f" and {self.others} more" if self.others else ""
        images = ", ".join(map(quote, self.images)) + more if any(self.images) else "images in memory"
        return counted(self.count, self.text).format(images=images)


def remark(text: str, batch: ImageBatch, objects: Bools) -> tuple[Remark, ...]:
    """Remark on these objects of the ground truth, (G,) bool; nothing where there are none."""
    if not objects.any():
        return ()
    names = [batch.names[k] for k in np.unique(batch.gt.image[objects]).tolist()]
    return (Remark(text, int(objects.sum()), tuple(names[:SHOWN_IMAGES]), len(names[SHOWN_IMAGES:])),)


def image_named(name: str) -> str:
    """Name an image in a message; those in memory have no name."""
    return f"image {quote(name)}" if name else "an image in memory"


class Evidence(NamedTuple):
    """Evidence of a batch: one row an image, one column a summable quantity.

    Attributes
    ----------
    columns : dict of (images,) or (images, bins)
        int64 for counts, float64 for sums.
    matches : Matches or None
        Made only when asked for.
    warnings : tuple of Remark
        What the user should know about single images.
    """

    columns: Mapping[str, NDArray[Any]]
    matches: Matches | None = None
    warnings: tuple[Remark, ...] = ()

    def row(self, image: int) -> dict[str, Any]:
        """One image's evidence, in the form of `Totals`."""
        return {name: column[image].tolist() for name, column in self.columns.items()}


class EvidenceRows(NamedTuple):
    """The evidence of a whole data set: the columns of `Evidence`, and the images they are of."""

    names: Sequence[str]
    columns: Mapping[str, NDArray[Any]]


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
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
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
    scores : callable
        ``scores(totals, parameters) -> Scores``, for the dataset's totals and an image's row alike.
    headline : tuple of str
        Names of the scores shown on stdout.
    convention : callable
        ``convention(parameters)``: how `Overlaps` are measured for it.
    image_scores : callable or None
        As `scores`, for one image's row, where the official program scores an image without objects other than a
        dataset; None where both are the same.
    takes_masks : bool
        Whether it works on labelled masks.
    needs_texts : bool
        Whether it means something only where detections bear transcriptions.
    needs : callable
        ``needs(batch, parameters)`` raises an `InputError` where images do not have what the parameters ask for: sizes,
        confidences.
    decided : callable
        ``decided(parameters, has_polygons)``: the parameters with what they leave to the data set; ``has_polygons()``
        looks whether any object of it, on either side, has other than four vertices (a box has four).
    object_credit : callable
        ``object_credit(types, values)``: how well each ground-truth object was found, in [0, 1], from its match type
        and its own values (as in `SideMatches`); a comparison shows whether it got better or worse.
    plots : callable or None
        ``plots(scores)``: what `--plots` draws of a dataset's scores.
    plot_names : tuple of str
        The names of all plots there may be.
    """

    name: str
    title: str
    version: int
    parameters: type[Any]
    evidence: Callable[[ImageBatch, Overlaps, Any, bool], Evidence]
    scores: Callable[[Totals, Any], Scores]
    headline: tuple[str, ...]
    convention: Callable[[Any], Convention]
    image_scores: Callable[[Totals, Any], Scores] | None = None
    takes_masks: bool = True
    needs_texts: bool = False
    needs: Callable[[ImageBatch, Any], None] = lambda batch, parameters: None
    decided: Callable[[Any, Callable[[], bool]], Any] = lambda parameters, _: parameters
    object_credit: Callable[[NDArray[np.uint8], Mapping[str, Floats]], Floats] = lambda types, _: (
        types != MISSED
    ).astype(np.float64)
    plots: Callable[[Scores], Iterable[Plot]] | None = None
    plot_names: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Callable[[str], Protocol], tuple[str]]:
        """A protocol goes to another process by its name."""
        return load, (self.name,)


def mean_of(*names: str) -> Callable[[NDArray[np.uint8], Mapping[str, Floats]], Floats]:
    """Return a function from objects' values to the mean of some of them, undefined ones as 0."""
    return lambda _, values: sum((defined(values[name]) for name in names), np.zeros(1)) / len(names)


def defined(values: Floats) -> Floats:
    """The values, undefined ones as 0."""
    return np.where(np.isnan(values), 0.0, values)


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
        return np.bincount(image, weights=values, minlength=images).astype(np.float64)  # int64 where empty
    if values.dtype.kind == "b":
        return np.bincount(image[values], minlength=images)
    return np.bincount(image, weights=values, minlength=images).astype(np.int64)


def object_counts(batch: ImageBatch, gt_counts: Bools, det_counts: Bools) -> dict[str, NDArray[Any]]:
    """Columns of evidence: all objects and detections, and those that count, (G,) and (D,) bool."""
    images = len(batch.names)
    return {
        "gt_objects": np.diff(batch.gt.offsets),
        "counted_gt_objects": per_image(gt_counts, batch.gt.image, images),
        "detections": np.diff(batch.det.offsets),
        "counted_detections": per_image(det_counts, batch.det.image, images),
    }


def group_by(key: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return offsets (groups + 1,) and the values sorted by (key, value)."""
    order = np.lexsort((values, key))
    offsets = offsets_of(np.bincount(key, minlength=groups))
    return offsets, values[order]


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient; 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0)


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise `quotient` within [0, 1]."""
    return np.clip(quotient(numerator, denominator), 0.0, 1.0)


def ratio(numerator: float, denominator: float) -> float:
    """Ratio within [0, 1]; 0/0 is 0."""
    return min(max(numerator / denominator, 0.0), 1.0) if denominator > 0 else 0.0


def natural_log(counts: Ints) -> Floats:
    """Natural logarithms of counts above 0, rounded correctly: numpy's last bit depends on its version."""
    from decimal import Decimal

    times = np.bincount(counts.ravel())
    logarithms = np.zeros(len(times))
    for count in np.flatnonzero(times).tolist():
        logarithms[count] = float(Decimal(count).ln())
    return logarithms[counts]


def harmonic_mean(a: float, b: float) -> float:
    """2ab / (a + b); 0 where both are 0."""
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


class ExactSums:
    """Column sums of evidence that do not depend on the order or grouping of the rows.

    Counts are added as integers. Sums of floats are kept as an error-free expansion: a few floats whose exact sum is
    the exact sum of everything added, rounded once, when read.
    """

    def __init__(self) -> None:
        self._sums: dict[str, list[Any]] = {}
        self._is_list: dict[str, bool] = {}

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add all rows of an evidence table."""
        for name, column in columns.items():
            self._is_list[name] = column.ndim == 2
            flat = column.reshape(len(column), math.prod(column.shape[1:]))
            if column.dtype.kind == "f":
                cells: list[Any] = [_expansion(values) for values in flat.T.tolist()]
            else:
                cells = flat.sum(axis=0).tolist()
            self._merge(name, cells)

    def merge(self, other: ExactSums) -> None:
        """Add everything another accumulator has added."""
        for name, cells in other._sums.items():
            self._is_list[name] = other._is_list[name]
            self._merge(name, cells)

    def _merge(self, name: str, cells: list[Any]) -> None:
        held = self._sums.get(name)
        if held is None:
            self._sums[name] = list(cells)
        elif isinstance(cells[0], list):
            self._sums[name] = [_expansion(a + b) for a, b in zip(held, cells, strict=True)]
        else:
            self._sums[name] = [a + b for a, b in zip(held, cells, strict=True)]

    def parts(self) -> dict[str, tuple[bool, list[Any]]]:
        """Everything that is held, in what JSON keeps exactly: name -> whether it is a histogram, and its cells."""
        return {name: (self._is_list[name], cells) for name, cells in self._sums.items()}

    @classmethod
    def of_parts(cls, parts: Mapping[str, Sequence[Any]]) -> ExactSums:
        """Return the sums that gave these `parts`."""
        sums = cls()
        for name, (is_list, cells) in parts.items():
            sums._is_list[name], sums._sums[name] = is_list, cells
        return sums

    def totals(self) -> dict[str, Any]:
        """The sums: int, float, or a list of them for a histogram."""
        read = {
            name: [math.fsum(cell) if isinstance(cell, list) else cell for cell in cells]
            for name, cells in self._sums.items()
        }
        return {name: cells if self._is_list[name] else cells[0] for name, cells in read.items()}


def _expansion(values: list[float]) -> list[float]:
    """A few floats with exactly the same sum, largest first."""
    values = list(values)
    parts: list[float] = []
    while total := math.fsum(values):
        parts.append(total)
        values.append(-total)
    return parts


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
