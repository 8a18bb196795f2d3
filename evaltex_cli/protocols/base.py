"""What a protocol is: a record of parameters, a function from images to evidence that adds up, and
a function from the sums of evidence to scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import ConfigError, quote, unknown
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.matching import MISSED, Matches, Types
from evaltex_cli.protocols.object_warnings import ObjectWarning
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints

Scores: TypeAlias = dict[str, Any]
"""Name -> float, or list, or None where undefined."""


class Evidence(NamedTuple):
    """Evidence of a batch."""

    tally: Tally
    """Columns with one row per image."""
    matches: Matches
    warnings: tuple[ObjectWarning, ...] = ()


class EvidenceRows(NamedTuple):
    """The evidence of a whole data set, one row per image, and the names of the images."""

    names: Sequence[str]
    tally: Tally

    def take(self, images: Ints) -> EvidenceRows:
        """Return the evidence of some images."""
        return EvidenceRows([self.names[k] for k in images.tolist()], self.tally.take(images))

    @property
    def has_objects(self) -> Bools:
        """(images,) Whether each image has an object or a detection; others do not matter."""
        columns = self.tally.as_dict()
        return np.asarray((columns["gt_objects"] > 0) | (columns["detections"] > 0))


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
    mark: tuple[float, float, str] | None = None
    """A point with its label."""
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
    """What adds up over images."""
    evidence: Callable[[ImageBatch, Any, Any], Evidence]
    """``evidence(batch, overlaps, parameters)`` matches a batch; raises `InputError` where images
    do not have what the parameters ask for: sizes, confidences, outlines."""
    scores: Callable[[Any, Any], Scores]
    """``scores(tally, parameters)``, for the sums of a data set, an image's row, and columns alike:
    each score is a number, or a column. Sums may give lists, too: histograms and curves."""
    version: int = 1
    """Raised whenever the same input and parameters give other scores than before."""
    convention: Callable[[Any], Convention | None] = lambda parameters: Convention()
    """``convention(parameters)``: how shapes are taken for its overlaps; None if it measures for
    itself, and `evidence` gets no overlaps."""
    headline: tuple[str, ...] = ("recall", "precision", "hmean")
    """The scores shown on stdout; the last is the `main_score`."""
    also_shown: tuple[str, ...] = ()
    """Scores shown after the headline, if the parameters ask for them."""
    image_scores: Callable[[Any, Any], Scores] | None = None
    """As `scores`, for images, where the official program scores an image without objects
    other than a dataset; None where both are the same."""
    needs: frozenset[str] = frozenset()
    """``"texts"``: it means something only if detections have transcriptions; ``"outlines"``: it
    does not work on label pictures."""
    object_credit: Callable[[Types, Mapping[str, Floats]], Floats] = lambda types, values: (
        types != MISSED
    ).astype(np.float64)
    """``object_credit(types, values)``: how well each ground-truth object was found, in [0, 1],
    from its match type and its own values; a comparison shows whether it got better or worse."""
    resolve: Callable[[Any, Callable[[], bool]], Any] = lambda parameters, has_polygons: parameters
    """``resolve(parameters, has_polygons)``: the parameters with what they leave to the data set;
    ``has_polygons()`` looks whether any object of it has other than four vertices."""
    plots: Callable[[Scores], Iterable[Plot]] | None = None
    """``plots(scores)``: what `--plots` draws of a dataset's scores."""

    @property
    def main_score(self) -> str:
        """The score by which levels and detectors are chosen, compared and ranked."""
        return self.headline[-1]

    def __repr__(self) -> str:
        return f"Protocol({self.name!r}, {self.title!r})"

    def __reduce__(self) -> tuple[Callable[[str], Protocol], tuple[str]]:
        """A protocol goes to another process by its name."""
        return load, (self.name,)


def parameter(default: Any, text: str, **limits: Any) -> Any:
    """Return the field of a parameter, a bool, int, float or str, with its help.

    Limits are ``min`` and ``max`` of a number, or what it is ``below``; the ``choices`` of a text;
    or the function that reads a ``file``.
    """
    return field(default=default, metadata={"help": text, **limits})


def load(name: str) -> Protocol:
    """Return a protocol by name; raises `ConfigError` when the registry has none of that name."""
    if name in PRESETS and name not in PROTOCOLS:
        raise ConfigError(f"{quote(name)} is a preset, not a protocol; give it as preset={name!r}")
    if name not in PROTOCOLS:
        raise ConfigError(unknown("protocol", name, list(PROTOCOLS)))
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol
