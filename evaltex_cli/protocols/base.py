"""What a protocol is: a parameters record, a function from images to
evidence, and one from evidence to scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.errors.suggestions import unknown
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.matches import MISSED, Matched, Matches
from evaltex_cli.protocols.object_warnings import ObjectWarning
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps

Scores: TypeAlias = dict[str, Any]
"""Name -> float, or list of float, or None where undefined."""


class Evidence(NamedTuple):
    """Evidence of a batch."""

    tally: Tally
    """Columns with one row per image."""
    matches: Matches | None = None
    """Made only when asked for."""
    warnings: tuple[ObjectWarning, ...] = ()
    """What the user should know about single images."""


class EvidenceRows(NamedTuple):
    """The evidence of a whole data set: columns, and the images they are of."""

    names: Sequence[str]
    tally: Tally

    @property
    def has_objects(self) -> Bools:
        """(images,) Whether each image has an object or a detection; others have no part in any
        score.
        """
        columns = self.tally.as_dict()
        has_objects: Bools = (columns["gt_objects"] > 0) | (columns["detections"] > 0)
        return has_objects


class Mark(NamedTuple):
    """A point of a plot with its label."""

    x: float
    y: float
    label: str


class Plot(NamedTuple):
    """Lines over a common axis, drawn by `--plots`."""

    name: str
    """Of the file, after the protocol's name."""
    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    """Label -> one y for each x, in [0, 1]."""
    marks: Sequence[Mark] = ()
    band: tuple[float, float] | None = None
    """The ends of a shaded stretch of the x axis."""


class Protocol(NamedTuple):
    """An evaluation protocol."""

    name: str
    title: str
    """`name` and `title`: what the user types, and one line about it."""
    parameters: type[Any]
    """Frozen dataclass, each field a `parameter`, which `config` reads."""
    tally: type[Tally]
    """The protocol's `Tally`."""
    evidence: Callable[[ImageBatch, Overlaps, Any, bool], Evidence]
    """``evidence(batch, overlaps, parameters, with_matches) -> Evidence``."""
    scores: Callable[[Any, Any], Scores]
    """``scores(tally, parameters) -> Scores``, for the sums of a data set, an image's row, and
    `Tally.columns` alike: each score is a number, or a column.
    """
    series: Callable[[Any, Any], Scores] | None = None
    """``series(tally, parameters) -> Scores``: curves and tables of the sums of a data set."""
    version: int = 1
    """Raised whenever the same input and parameters give other scores than before."""
    headline: tuple[str, ...] = ("recall", "precision", "hmean")
    main_score: str = "hmean"
    unbounded: tuple[str, ...] = ()
    """Names of the scores shown on stdout; of the one by which levels and detectors are chosen,
    compared and ranked; and of those that are not in [0, 1], such as counts."""
    convention: Callable[[Any], Convention] = lambda parameters: Convention()
    """``convention(parameters)``: how `Overlaps` are measured for it."""
    image_scores: Callable[[Any, Any], Scores] | None = None
    """As `scores`, for images, where the official program scores an image without objects
    other than a dataset; None where both are the same."""
    takes_masks: bool = True
    """Whether it works on labelled masks."""
    needs_texts: bool = False
    """Whether it means something only if detections have transcriptions."""
    needs: Callable[[ImageBatch, Any], None] = lambda batch, parameters: None
    """``needs(batch, parameters)`` raises an `InputError` where images do not have what the
    parameters ask for: sizes, confidences."""
    resolve: Callable[[Any, Callable[[], bool]], Any] = lambda parameters, _: parameters
    """``resolve(parameters, has_polygons)``: the parameters with what they leave to the data set;
    ``has_polygons()`` looks whether any object of it, on either side, has other than four vertices
    (a box has four)."""
    object_credit: Callable[[NDArray[np.uint8], Mapping[str, Floats]], Floats] = lambda types, _: (
        types != MISSED
    ).astype(np.float64)
    """``object_credit(types, values)``: how well each ground-truth object was found, in [0, 1],
    from its match type and its own values (as in `SideMatches`); a comparison shows whether it got
    better or worse."""
    recount: Callable[[Matched, Matched, Any], Tally] | None = None
    """``recount(gt, det, parameters) -> Tally``: of both sides with their matches, which may have
    been made before some objects became don't-care; recall is of `gt` alone. None if that changes
    matches; or if those of an object depend on more than what hangs together with it by overlaps
    (in an image with regions of several objects: on more than the image)."""
    by_level: Callable[[ImageBatch, Overlaps, Any, Any], Tally | None] | None = None
    """``by_level(batch, overlaps, parameters, states) -> Tally or None``: one row for each of some
    `LevelStates` of the images, the same as `evidence` has of the kept detections, with less work;
    None if not with these parameters. Without it `evidence` is used."""
    plots: Callable[[Scores], Iterable[Plot]] | None = None
    plot_names: tuple[str, ...] = ()
    """``plots(scores)``: what `--plots` draws of a dataset's scores; and the names of all plots
    there may be."""
    measures: str = ""
    """What it measures, in a few words, if the title does not say it."""

    def all_scores(self, tally: Tally, parameters: Any) -> Scores:
        """Return the scores of the sums of a data set, with its curves and tables."""
        more = self.series(tally, parameters) if self.series else {}
        return self.scores(tally, parameters) | more

    def __repr__(self) -> str:
        return f"Protocol({self.name!r}, {self.title!r})"

    def __reduce__(self) -> tuple[Callable[[str], Protocol], tuple[str]]:
        """A protocol goes to another process by its name."""
        return load, (self.name,)


def parameter(default: Any, text: str, **limits: Any) -> Any:
    """Return the field of a parameter.

    Parameters
    ----------
    default : bool, int, float or str
    text : str
        Its help.
    **limits
        ``min`` and ``max`` of a number, or what it is ``below``; the ``choices`` of a text; or the
        function that reads a ``file``.
    """
    return field(default=default, metadata={"help": text, **limits})


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
    if name in PRESETS and name not in PROTOCOLS:
        raise ConfigError(f"{quote(name)} is a preset, not a protocol; give it as preset={name!r}")
    if name not in PROTOCOLS:
        raise ConfigError(unknown("protocol", name, list(PROTOCOLS)))
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol
